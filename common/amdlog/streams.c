// Streams over time; see streams.h.
#include "common/amdlog/streams.h"

#include <stdlib.h>

struct pair {
	uint64_t a, b;
};

static uint32_t period_new(struct amdlog_streams *s, uint32_t process, uint64_t stream,
			   uint32_t queue, uint32_t before)
{
	uint32_t cap = s->cap ? s->cap * 2 : 16;
	struct stream_period *bigger;

	if (s->n >= STREAMS_MAX)
		return AMDLOG_NONE;
	if (s->n >= s->cap) {
		bigger = realloc(s->v, cap * sizeof(*bigger));
		if (!bigger)
			return AMDLOG_NONE;
		s->v = bigger;
		s->cap = cap;
	}
	s->v[s->n] = (struct stream_period){
		.process = process,
		.stream = stream,
		.queue = queue,
		.before = before,
		.span = {AMDLOG_UNKNOWN, 0},
	};
	return s->n++;
}

static void span_add(struct amdlog_span *to, uint64_t first_us, uint64_t last_us)
{
	to->first_us = first_us < to->first_us ? first_us : to->first_us;
	to->last_us = last_us > to->last_us ? last_us : to->last_us;
}

void amdlog_streams_add(struct amdlog_streams *s, const struct amdlog_summary *sum,
			const struct amdlog_event *e)
{
	uint32_t process = sum->threads[e->record->who].process, n;
	struct pair key = {process, e->stream};
	struct stream_period *p;

	if (e->stream == AMDLOG_UNKNOWN || e->stream_queue == AMDLOG_NONE)
		return;
	n = intern_value(&s->latest, &key, sizeof(key));
	if (n == INTERN_NONE || s->v[n].queue != e->stream_queue) {
		n = period_new(s, process, e->stream, e->stream_queue,
			       n == INTERN_NONE ? AMDLOG_NONE : n);
		if (n == AMDLOG_NONE || !intern_set(&s->latest, &key, sizeof(key), n)) {
			s->left_out++;
			return;
		}
	}
	p = &s->v[n];
	p->created += e->packet == NULL;
	p->packets += e->packet != NULL;
	p->dispatches += e->record->kind == AMDLOG_DISPATCH;
	if (e->record->time_us != AMDLOG_UNKNOWN)
		span_add(&p->span, e->record->time_us, e->record->time_us);
}

void amdlog_streams_join(struct amdlog_streams *s, const struct amdlog_summary *sum)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct stream_period *p = &s->v[i], *b;

		if (sum->queues[p->queue].merged != AMDLOG_NONE)
			p->queue = sum->queues[p->queue].merged;
		if (p->before == AMDLOG_NONE || s->v[p->before].queue != p->queue)
			continue;
		b = &s->v[p->before];
		p->created += b->created;
		p->packets += b->packets;
		p->dispatches += b->dispatches;
		span_add(&p->span, b->span.first_us, b->span.last_us);
		p->before = b->before;
		b->created = b->packets = b->dispatches = 0;
		b->span = (struct amdlog_span){AMDLOG_UNKNOWN, 0};
	}
}

void amdlog_streams_fini(struct amdlog_streams *s)
{
	intern_fini(&s->latest);
	free(s->v);
	*s = (struct amdlog_streams){0};
}
