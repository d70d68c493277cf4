// Streams over time; see streams.h.
#include "common/amdlog/model/streams.h"
#include "common/amdlog/model/summary_priv.h"

static void period_add(struct stream_period *to, const struct stream_period *from)
{
	to->created += from->created;
	to->packets += from->packets;
	to->dispatches += from->dispatches;
	span_merge(&to->span, &from->span);
}

void amdlog_streams_put(struct amdlog_streams *s, const struct stream_period *add)
{
	uint32_t n = pair_value(&s->latest, add->process, add->stream);
	if (n == INTERN_NONE || s->v[n].queue != add->queue) {
		if (s->n >= STREAMS_MAX) {
			s->left_out += add->created + add->packets;
			return;
		}
		ARRAY_GROW(s->v, s->cap, s->n);
		s->v[s->n] = (struct stream_period){.process = add->process,
						    .stream = add->stream,
						    .queue = add->queue,
						    .before = n == INTERN_NONE ? AMDLOG_NONE : n,
						    .span = SPAN_NONE};
		n = s->n++;
		pair_set(&s->latest, add->process, add->stream, n);
	}
	period_add(&s->v[n], add);
}

bool amdlog_streams_put_head(struct amdlog_streams *s, const struct stream_head *h)
{
	if (s->nheads >= STREAMS_MAX)
		return false;
	ARRAY_GROW(s->heads, s->head_cap, s->nheads);
	s->heads[s->nheads++] = *h;
	return true;
}

static struct amdlog_span span_of(const struct amdlog_record *r)
{
	if (r->time_us == AMDLOG_UNKNOWN)
		return SPAN_NONE;
	return (struct amdlog_span){r->time_us, r->time_us};
}

// Adds a record to the stream_head of its thread, queue and kind of record.
static void add_head(struct amdlog_streams *s, const struct amdlog_summary *sum,
		     const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	struct stream_head h = {.thread = r->thread,
				.queue = e->queue,
				.stream = AMDLOG_UNKNOWN,
				.n = 1,
				.span = span_of(r)};
	uint64_t key[3];
	if (sum->threads[r->thread].head.made != AMDLOG_UNKNOWN && r->kind == AMDLOG_API_RETURN &&
	    amdlog_api_begins(r, "hipStreamCreate")) {
		h.what = STREAM_HEAD_MADE;
		h.stream = sum->threads[r->thread].head.made;
	} else if (sum->threads[r->thread].knows_stream || e->queue == AMDLOG_NONE ||
		   r->kind == AMDLOG_QUEUE_RELEASED || r->kind == AMDLOG_QUEUE_DELETED) {
		return;
	} else {
		h.what = r->kind == AMDLOG_DISPATCH ? STREAM_HEAD_DISPATCH
			 : e->packet                ? STREAM_HEAD_PACKET
						    : STREAM_HEAD_LINE;
	}
	memcpy(key, (uint64_t[]){h.thread, h.what, h.queue}, sizeof(key));
	uint32_t n = intern_value(&s->head_keys, key, sizeof(key));
	if (n != INTERN_NONE && h.what == STREAM_HEAD_MADE)
		return; // a thread has one creation that began in an earlier part
	if (n != INTERN_NONE) {
		s->heads[n].n++;
		span_merge(&s->heads[n].span, &h.span);
	} else if (amdlog_streams_put_head(s, &h)) {
		intern_set(&s->head_keys, key, sizeof(key), s->nheads - 1);
	} else {
		s->left_out++;
	}
}

void amdlog_streams_add(struct amdlog_streams *s, const struct amdlog_summary *sum,
			const struct amdlog_event *e)
{
	if (e->stream == AMDLOG_UNKNOWN || e->stream_queue == AMDLOG_NONE) {
		if (sum->part.resumed && e->stream == AMDLOG_UNKNOWN)
			add_head(s, sum, e);
		return;
	}
	amdlog_streams_put(s, &(struct stream_period){
				      .process = sum->threads[e->record->thread].process,
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
		period_add(p, b);
		p->before = b->before;
		b->created = b->packets = b->dispatches = 0;
		b->span = SPAN_NONE;
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
