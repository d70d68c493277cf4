// Times without a dispatch; see gaps.h.
#include "common/amdlog/analysis/gaps.h"

#include <stdlib.h>
#include <string.h>

static uint64_t length(const struct amdlog_gap *g)
{
	return g->end_us - g->begin_us;
}

// Of two as long as each other the earlier one stays.
static bool is_less(const struct amdlog_gap *a, const struct amdlog_gap *b)
{
	return length(a) != length(b) ? length(a) < length(b) : a->begin_us > b->begin_us;
}

static void sink(struct amdlog_gap *heap, uint32_t n, uint32_t at)
{
	for (;;) {
		uint32_t least = at, child = 2 * at + 1;

		for (uint32_t i = child; i < n && i < child + 2; i++)
			least = is_less(&heap[i], &heap[least]) ? i : least;
		if (least == at)
			return;
		struct amdlog_gap moved = heap[at];
		heap[at] = heap[least];
		heap[least] = moved;
		at = least;
	}
}

static void rise(struct amdlog_gap *heap, uint32_t at)
{
	while (at && is_less(&heap[at], &heap[(at - 1) / 2])) {
		struct amdlog_gap moved = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = moved;
		at = (at - 1) / 2;
	}
}

static void keep_longest(struct amdlog_gaps *g, struct gaps_queue *q, struct amdlog_gap gap)
{
	if (!g->keep || !length(&gap))
		return;
	if (!q->worst)
		q->worst = calloc(g->keep, sizeof(*q->worst));
	if (!q->worst) {
		g->incomplete = true;
	} else if (q->nworst < g->keep) {
		q->worst[q->nworst] = gap;
		rise(q->worst, q->nworst++);
	} else if (is_less(&q->worst[0], &gap)) {
		q->worst[0] = gap;
		sink(q->worst, q->nworst, 0);
	}
}

static void add(struct amdlog_gaps *g, struct gaps_queue *q, struct keyed_histogram *lengths,
		uint32_t key, uint64_t us, uint64_t backlog)
{
	if (q->count++ && us >= q->last_us) {
		keyed_histogram_add(lengths, key, us - q->last_us);
		keep_longest(g, q, (struct amdlog_gap){q->last_us, us, q->backlog});
	}
	if (q->count == 1 || us >= q->last_us) {
		q->last_us = us;
		q->backlog = backlog;
	}
}

static struct gaps_queue *queue_of(struct amdlog_gaps *g, uint32_t n)
{
	uint32_t cap = g->cap ? g->cap : 16;
	struct gaps_queue *bigger;

	while (cap <= n)
		cap *= 2;
	if (cap != g->cap) {
		bigger = realloc(g->queues, cap * sizeof(*bigger));
		if (!bigger)
			return NULL;
		memset(bigger + g->cap, 0, (cap - g->cap) * sizeof(*bigger));
		g->queues = bigger;
		g->cap = cap;
	}
	g->nqueues = n >= g->nqueues ? n + 1 : g->nqueues;
	return &g->queues[n];
}

void amdlog_gaps_add(struct amdlog_gaps *g, uint32_t queue, uint64_t us, uint64_t backlog)
{
	struct gaps_queue *q;

	if (us == AMDLOG_UNKNOWN)
		return;
	add(g, &g->all, &g->all_lengths, 0, us, backlog);
	if (queue == GAPS_ALL)
		return;
	q = queue_of(g, queue);
	if (q)
		add(g, q, &g->lengths, queue, us, backlog);
	else
		g->incomplete = true;
}

const struct gaps_queue *amdlog_gaps_of(const struct amdlog_gaps *g, uint32_t queue)
{
	const struct gaps_queue *q = queue == GAPS_ALL    ? &g->all
				     : queue < g->nqueues ? &g->queues[queue]
							  : NULL;

	return q && q->count ? q : NULL;
}

bool amdlog_gaps_lengths(struct amdlog_gaps *g, uint32_t queue, struct hist *h)
{
	return queue == GAPS_ALL ? keyed_histogram_get(&g->all_lengths, 0, h)
				 : keyed_histogram_get(&g->lengths, queue, h);
}

void amdlog_gaps_fini(struct amdlog_gaps *g)
{
	for (uint32_t i = 0; i < g->nqueues; i++)
		free(g->queues[i].worst);
	free(g->all.worst);
	free(g->queues);
	keyed_histogram_fini(&g->lengths);
	keyed_histogram_fini(&g->all_lengths);
	*g = (struct amdlog_gaps){0};
}
