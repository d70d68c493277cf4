// Streams over time; see streams.h.
#include "common/amdlog/model/streams.h"

#include <stdlib.h>
#include <string.h>

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

void amdlog_streams_put(struct amdlog_streams *s, const struct stream_period *add)
{
	struct pair key = {add->process, add->stream};
	uint32_t n = intern_value(&s->latest, &key, sizeof(key));
	struct stream_period *p;

	if (n == INTERN_NONE || s->v[n].queue != add->queue) {
		n = period_new(s, add->process, add->stream, add->queue,
			       n == INTERN_NONE ? AMDLOG_NONE : n);
		if (n == AMDLOG_NONE || !intern_set(&s->latest, &key, sizeof(key), n)) {
			s->left_out += add->created + add->packets;
			return;
		}
	}
	p = &s->v[n];
	p->created += add->created;
	p->packets += add->packets;
	p->dispatches += add->dispatches;
	span_add(&p->span, add->span.first_us, add->span.last_us);
}

bool amdlog_streams_put_head(struct amdlog_streams *s, const struct stream_head *h)
{
	uint32_t cap = s->head_cap ? s->head_cap * 2 : 16;
	struct stream_head *bigger;

	if (s->nheads >= s->head_cap) {
		bigger = s->nheads < STREAMS_MAX ? realloc(s->heads, cap * sizeof(*bigger)) : NULL;
		if (!bigger)
			return false;
		s->heads = bigger;
		s->head_cap = cap;
	}
	s->heads[s->nheads++] = *h;
	return true;
}

static struct amdlog_span span_of(const struct amdlog_record *r)
{
	if (r->time_us == AMDLOG_UNKNOWN)
		return (struct amdlog_span){AMDLOG_UNKNOWN, 0};
	return (struct amdlog_span){r->time_us, r->time_us};
}

static bool makes_stream(const struct amdlog_record *r)
{
	static const char word[] = "hipStreamCreate";
	size_t n = sizeof(word) - 1;

	return r->kind == AMDLOG_API_RETURN && r->name_len >= n && !memcmp(r->msg, word, n);
}

// Of one thread, queue and kind of record one head is kept.
static void add_head(struct amdlog_streams *s, const struct amdlog_summary *sum,
		     const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	struct stream_head h = {.thread = r->who,
				.queue = e->queue,
				.stream = AMDLOG_UNKNOWN,
				.n = 1,
				.span = span_of(r)};
	uint64_t key[3];
	uint32_t n;

	if (sum->threads[r->who].head_made != AMDLOG_UNKNOWN && makes_stream(r)) {
		h.what = STREAM_HEAD_MADE;
		h.stream = sum->threads[r->who].head_made;
	} else if (sum->threads[r->who].knows_stream || e->queue == AMDLOG_NONE ||
		   r->kind == AMDLOG_QUEUE_RELEASED || r->kind == AMDLOG_QUEUE_DELETED) {
		return;
	} else {
		h.what = r->kind == AMDLOG_DISPATCH ? STREAM_HEAD_DISPATCH
			 : e->packet                ? STREAM_HEAD_PACKET
						    : STREAM_HEAD_LINE;
	}
	memcpy(key, (uint64_t[]){h.thread, h.what, h.queue}, sizeof(key));
	n = intern_value(&s->head_keys, key, sizeof(key));
	if (n != INTERN_NONE && h.what == STREAM_HEAD_MADE)
		return; // one creation began before
	if (n != INTERN_NONE) {
		s->heads[n].n++;
		span_add(&s->heads[n].span, h.span.first_us, h.span.last_us);
	} else if (!amdlog_streams_put_head(s, &h) ||
		   !intern_set(&s->head_keys, key, sizeof(key), s->nheads - 1)) {
		s->left_out++;
	}
}

void amdlog_streams_add(struct amdlog_streams *s, const struct amdlog_summary *sum,
			const struct amdlog_event *e)
{
	if (e->stream == AMDLOG_UNKNOWN || e->stream_queue == AMDLOG_NONE) {
		if (sum->resumed && e->stream == AMDLOG_UNKNOWN)
			add_head(s, sum, e);
		return;
	}
	amdlog_streams_put(s, &(struct stream_period){
				      .process = sum->threads[e->record->who].process,
				      .stream = e->stream,
				      .queue = e->stream_queue,
				      .created = e->packet == NULL,
				      .packets = e->packet != NULL,
				      .dispatches = e->record->kind == AMDLOG_DISPATCH,
				      .span = span_of(e->record),
			      });
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
	intern_fini(&s->head_keys);
	free(s->heads);
	free(s->v);
	*s = (struct amdlog_streams){0};
}
