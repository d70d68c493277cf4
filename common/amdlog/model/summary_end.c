// The end of a summary: joins queues seen under two addresses, sums up threads and queues.
//
// Facts: [amdlog.queue-address]: ROCm 5.5 to 6.1 print ring and handle in different lines.
#include "common/amdlog/model/summary_priv.h"

#define NAMELESS_MAX 2000

// Marks the queues whose handle another queue claims, too: the handle belongs to neither.
static void drop_disputed(struct amdlog_summary *s)
{
	for (uint32_t i = 0; i < s->nqueues; i++) {
		if (s->queues[i].handle != AMDLOG_NONE)
			s->queues[s->queues[i].handle].claims++;
	}
	for (uint32_t i = 0; i < s->nqueues; i++) {
		struct amdlog_queue *q = &s->queues[i];
		q->handle_unsure |= q->handle != AMDLOG_NONE && s->queues[q->handle].claims > 1;
	}
}

// Up to ROCm 4.5 queue lines have no process id, but the same address as packets: finds the one
// queue of a process with that address.
static void find_nameless(struct amdlog_summary *s, uint32_t handle)
{
	const struct amdlog_queue *h = &s->queues[handle];
	struct amdlog_queue *match = NULL;
	if (h->hwq != AMDLOG_UNKNOWN || s->processes[h->process].pid >= 0)
		return;
	for (uint32_t i = 0; i < s->nqueues; i++) {
		struct amdlog_queue *q = &s->queues[i];
		if (q->hwq != h->swq || s->processes[q->process].pid < 0 ||
		    s->processes[q->process].host != s->processes[h->process].host)
			continue;
		if (match || q->handle != AMDLOG_NONE)
			return; // the address is that of two queues, or of a queue with a handle
		match = q;
	}
	if (match)
		match->handle = handle;
}

static void join_handle(struct amdlog_summary *s, uint32_t ring)
{
	struct amdlog_queue *q = &s->queues[ring], *h;
	if (q->handle == AMDLOG_NONE || q->handle_unsure || q->swq != AMDLOG_UNKNOWN)
		return;
	h = &s->queues[q->handle];
	q->swq = h->swq;
	q->size = h->size;
	q->priority = h->priority >= 0 ? h->priority : q->priority;
	q->created += h->created;
	q->deleted += h->deleted;
	q->records += h->records;
	q->barrier_values += h->barrier_values;
	span_merge(&q->span, &h->span);
	q->created_us = h->created_us;
	q->deleted_us = h->deleted_us;
	h->merged = ring;
}

static void count_streams(struct amdlog_summary *s)
{
	struct intern joined = {.max_entries = s->pairs.queue_streams.max_entries};
	for (uint32_t i = 0; i < s->pairs.queue_streams.n; i++) {
		struct pair p = pair_at(&s->pairs.queue_streams, i);
		uint32_t q = (uint32_t)p.a;
		if (s->queues[q].merged != AMDLOG_NONE)
			q = s->queues[q].merged;
		s->queues[q].streams += pair_is_new(&joined, q, p.b);
	}
	intern_fini(&joined);
}

static void sum_queues(struct amdlog_summary *s)
{
	struct amdlog_totals *sum = &s->totals;
	for (uint32_t i = 0; i < s->nqueues; i++) {
		const struct amdlog_queue *q = &s->queues[i];
		if (!q->records || q->merged != AMDLOG_NONE)
			continue;
		s->processes[q->process].queues++;
		if (!q->backlog_n)
			continue;
		sum->rptr_min = q->rptr_min < sum->rptr_min ? q->rptr_min : sum->rptr_min;
		sum->rptr_max = q->rptr_max > sum->rptr_max ? q->rptr_max : sum->rptr_max;
		sum->wptr_min = q->wptr_min < sum->wptr_min ? q->wptr_min : sum->wptr_min;
		sum->wptr_max = q->wptr_max > sum->wptr_max ? q->wptr_max : sum->wptr_max;
	}
}

void amdlog_summary_finish(struct amdlog_summary *s)
{
	// find_nameless() is quadratic. Releases that need it have a handful of queues.
	for (uint32_t i = 0; i < s->nqueues && s->nqueues < NAMELESS_MAX; i++)
		find_nameless(s, i);
	drop_disputed(s);
	for (uint32_t i = 0; i < s->nqueues; i++)
		join_handle(s, i);
	count_streams(s);
	sum_queues(s);
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct amdlog_thread *t = &s->threads[i];
		struct amdlog_process *p = &s->processes[t->process];
		p->records += t->records;
		p->launches += t->launches;
		p->dispatches += t->dispatches;
		p->barriers += t->barriers;
		p->api_calls += t->api_calls;
		p->api_errors += t->api_errors;
		p->threads += t->records > 0;
		span_merge(&p->span, &t->span);
		span_merge(&s->totals.span, &t->span);
		s->totals.launches += t->launches;
	}
}
