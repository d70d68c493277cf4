// Comparison of two logs; see compare.h.
#include "common/host/xalloc.h"
#include "common/amdlog/analysis/compare.h"

#include <math.h>
#include <stdlib.h>

void amdlog_side_add(struct amdlog_side *s, const struct amdlog_event *e)
{
	if (!e->packet)
		return;
	uint64_t backlog = amdlog_packet_backlog(e->packet);
	if (backlog != AMDLOG_UNKNOWN)
		keyed_histogram_add(&s->backlogs, 0, backlog);
	if (e->record->kind != AMDLOG_DISPATCH)
		return;
	amdlog_gaps_add(&s->gaps, e->queue == AMDLOG_NONE ? GAPS_ALL : e->queue, e->record->time_us,
			backlog);
	uint64_t items = amdlog_items(e->packet->grid);
	if (items != AMDLOG_UNKNOWN)
		keyed_histogram_add(&s->grids, 0, items);
}

void amdlog_side_fini(struct amdlog_side *s)
{
	amdlog_gaps_fini(&s->gaps);
	keyed_histogram_fini(&s->grids);
	keyed_histogram_fini(&s->backlogs);
}

bool amdlog_queue_used(const struct amdlog_comparison *c, unsigned which, uint32_t q)
{
	const struct amdlog_queue *queue = &c->side[which].sum->queues[q];
	if (queue->merged != AMDLOG_NONE)
		return false;
	return c->by_launches ? queue->records > 0 : queue->dispatches > 0;
}

// A queue's addresses, by process and without: keys of struct amdlog_comparison.addresses.
struct address {
	int64_t pid; // -1: the log does not say; ANY_PID: of any
	uint64_t address;
	uint64_t is_handle;
};
#define ANY_PID INT64_MIN

// The ring of a queue, or its handle.
static struct address address_of(const struct amdlog_summary *s, uint32_t q, bool is_handle)
{
	const struct amdlog_queue *queue = &s->queues[q];
	return (struct address){s->processes[queue->process].pid,
				is_handle ? queue->swq : queue->hwq, is_handle};
}

static void note_addresses(struct amdlog_comparison *c, unsigned which)
{
	for (uint32_t i = 0; i < c->side[which].sum->nqueues; i++) {
		for (int handle = 0; amdlog_queue_used(c, which, i) && handle < 2; handle++) {
			struct address a = address_of(c->side[which].sum, i, handle);
			if (a.address == AMDLOG_UNKNOWN)
				continue;
			intern_put(&c->addresses[which], &a, sizeof(a));
			a.pid = ANY_PID;
			intern_put(&c->addresses[which], &a, sizeof(a));
		}
	}
}

enum amdlog_same amdlog_queue_in_other(const struct amdlog_comparison *c, unsigned which,
				       uint32_t q)
{
	const struct intern *set = &c->addresses[!which];
	enum amdlog_same same = AMDLOG_DIFFERENT;
	for (int handle = 0; handle < 2; handle++) {
		struct address a = address_of(c->side[which].sum, q, handle);
		if (a.address == AMDLOG_UNKNOWN)
			continue;
		if (a.pid >= 0 && intern_find(set, &a, sizeof(a)) != INTERN_NONE)
			return AMDLOG_SAME;
		a.pid = a.pid < 0 ? ANY_PID : -1;
		if (intern_find(set, &a, sizeof(a)) != INTERN_NONE)
			same = AMDLOG_MAYBE_SAME;
	}
	return same;
}

uint64_t amdlog_kernel_uses(const struct amdlog_comparison *c, unsigned which, uint32_t kernel)
{
	if (kernel == AMDLOG_NONE)
		return 0;
	const struct amdlog_kernel *k = &c->side[which].sum->kernels[kernel];
	return c->by_launches ? k->launches : k->dispatches;
}

// The other log's number of a kernel, if it was used there.
static uint32_t kernel_in_other(const struct amdlog_comparison *c, unsigned which, uint32_t kernel)
{
	const struct amdlog_kernel *k = &c->side[which].sum->kernels[kernel];
	uint32_t n = intern_find(&c->side[!which].sum->keys.kernels, k->name, k->len);
	return amdlog_kernel_uses(c, !which, n) ? n : AMDLOG_NONE;
}

static void match_kernels(struct amdlog_comparison *c, unsigned which)
{
	for (uint32_t i = 0; i < c->side[which].sum->nkernels; i++) {
		struct amdlog_match m;
		if (!amdlog_kernel_uses(c, which, i))
			continue;
		m.in[which] = i;
		m.in[!which] = kernel_in_other(c, which, i);
		c->only[which] += m.in[!which] == AMDLOG_NONE;
		c->both += !which && m.in[1] != AMDLOG_NONE;
		if (!which || m.in[0] == AMDLOG_NONE)
			c->kernels[c->nkernels++] = m;
	}
}

static void match_queues(struct amdlog_comparison *c, unsigned which)
{
	for (uint32_t i = 0; i < c->side[which].sum->nqueues; i++) {
		if (!amdlog_queue_used(c, which, i))
			continue;
		c->queues[which]++;
		enum amdlog_same same = which ? AMDLOG_DIFFERENT : amdlog_queue_in_other(c, 0, i);
		c->shared += same == AMDLOG_SAME;
		c->unsure += same == AMDLOG_MAYBE_SAME;
	}
}

void amdlog_compare(struct amdlog_comparison *c, struct amdlog_side side[2])
{
	size_t most = (size_t)side[0].sum->nkernels + side[1].sum->nkernels;
	*c = (struct amdlog_comparison){.side = side};
	c->by_launches = !amdlog_has_packets(side[0].sum) || !amdlog_has_packets(side[1].sum);
	c->kernels = xcalloc(most, sizeof(*c->kernels));
	note_addresses(c, 0);
	note_addresses(c, 1);
	for (unsigned which = 0; which < 2; which++) {
		match_kernels(c, which);
		match_queues(c, which);
	}
}

void amdlog_compare_fini(struct amdlog_comparison *c)
{
	free(c->kernels);
	intern_fini(&c->addresses[0]);
	intern_fini(&c->addresses[1]);
	*c = (struct amdlog_comparison){0};
}

double amdlog_per_second(uint64_t events, const struct amdlog_span *span)
{
	if (span->first_us >= span->last_us)
		return NAN;
	return (double)events * 1e6 / (double)(span->last_us - span->first_us);
}
