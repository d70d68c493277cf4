// Times without a dispatch; see gaps.h.
#include "common/amdlog/analysis/gaps.h"

// Sorts gaps, the longest first; of equal ones, the earliest first.
static int gap_order(const void *a, const void *b)
{
	const struct amdlog_gap *x = a, *y = b;
	uint64_t m = x->end_us - x->begin_us, n = y->end_us - y->begin_us;
	if (m != n)
		return m < n ? 1 : -1;
	return x->begin_us < y->begin_us ? -1 : x->begin_us > y->begin_us;
}

static void drop_shorter(struct amdlog_gaps *g, struct gaps_queue *q)
{
	ARRAY_SORT(q->worst, q->nworst, gap_order);
	q->nworst = q->nworst < g->keep ? q->nworst : g->keep;
}

// Keeps up to twice as many gaps as g->keep, so that sorting is rare.
static void keep_longest(struct amdlog_gaps *g, struct gaps_queue *q, struct amdlog_gap gap)
{
	if (!g->keep || gap.end_us == gap.begin_us)
		return;
	ARRAY_GROW(q->worst, q->cap, q->nworst);
	q->worst[q->nworst++] = gap;
	if (q->nworst >= 2 * (size_t)g->keep)
		drop_shorter(g, q);
}

static void gaps_add_to(struct amdlog_gaps *g, uint32_t row, uint64_t us, uint64_t backlog)
{
	ARRAY_REACH(g->queues, g->cap, row, 0);
	struct gaps_queue *q = &g->queues[row];
	if (q->count++ && us >= q->last_us) {
		keyed_histogram_add(&g->lengths, row, us - q->last_us);
		keep_longest(g, q, (struct amdlog_gap){q->last_us, us, q->backlog});
	}
	if (q->count == 1 || us >= q->last_us) {
		q->last_us = us;
		q->backlog = backlog;
	}
}

void amdlog_gaps_add(struct amdlog_gaps *g, uint32_t queue, uint64_t us, uint64_t backlog)
{
	if (us == AMDLOG_UNKNOWN)
		return;
	gaps_add_to(g, GAPS_ALL + 1, us, backlog);
	if (queue != GAPS_ALL)
		gaps_add_to(g, queue + 1, us, backlog);
}

const struct gaps_queue *amdlog_gaps_of(struct amdlog_gaps *g, uint32_t queue)
{
	struct gaps_queue *q = queue + 1 < g->cap ? &g->queues[queue + 1] : NULL;
	if (!q || !q->count)
		return NULL;
	drop_shorter(g, q);
	return q;
}

void amdlog_gaps_fini(struct amdlog_gaps *g)
{
	for (size_t i = 0; i < g->cap; i++)
		free(g->queues[i].worst);
	free(g->queues);
	keyed_histogram_fini(&g->lengths);
	*g = (struct amdlog_gaps){0};
}
