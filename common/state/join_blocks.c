// Which "Process" block of mqds is which context's.
//
// The driver prints a block for each context, with the same pid. All have the same address space,
// so they are in one bucket of its hash table, where each is added in front: the newest comes
// first, the primary one last (kernel: create_process(), kfd_debugfs_mqds_by_process() in
// kfd_process.c of Linux 7.3).
//
// The order of creation is that of sysfs, and the order of ids as long as none was given out again.
// Two threads that create contexts at one moment may enter sysfs the other way round, since that
// happens behind the lock. So where the two orders differ, PASIDs must confirm: the runlist has
// that of a block's queues, debugfs that of a context (procs.h).
#include "common/state/join.h"

#include "common/debugfs/mqd_value.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX, MAX_CONTEXTS = 1024 };

struct pairing {
	const struct join_sides *s;
	const struct kfd_proc *proc;
	uint32_t n;          // contexts, and blocks
	uint32_t *contexts;  // of the process, newest first, the primary one last: 0 .. n-1
	uint32_t *printed;   // its blocks in the order of the text
	uint32_t *confirmed; // the context that PASIDs say each of these is; NONE
	bool ordered;        // the order of creation is known
};

static const struct kfd_context *context_at(const struct pairing *x, uint32_t i)
{
	return &x->s->p->contexts[x->proc->context + i];
}

// --- order ---

// Not known ones by id, the last given out first: the likelier order.
static bool is_newer(const struct kfd_context *a, const struct kfd_context *b)
{
	return a->created != b->created ? a->created > b->created : a->id > b->id;
}

static void sort_contexts(struct pairing *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t at = i;

		for (; at && is_newer(context_at(x, i), context_at(x, x->contexts[at - 1])); at--)
			x->contexts[at] = x->contexts[at - 1];
		x->contexts[at] = i;
	}
}

// Is it known, and the order of ids as well? A single secondary context needs neither.
static bool is_ordered(const struct pairing *x)
{
	bool same = true;

	for (uint32_t i = 1; i < x->n; i++)
		if (context_at(x, i)->created == KFD_UNKNOWN)
			return x->n == 2;
	// By id from 1 on, so that the last one is the first of the others.
	for (uint32_t i = 0; i + 1 < x->n; i++)
		same &= x->contexts[i] == x->n - 1 - i;
	return same;
}

// --- PASIDs ---

// That of the runlist's packet that maps this queue; KFD_UNKNOWN.
static uint64_t pasid_of_queue(const struct join_sides *s, const struct mqd *q)
{
	const struct rls_node *node = s->rls ? rls_find(s->rls, q->gpu_id) : NULL;
	uint64_t doorbell;

	if (!node || node->damaged ||
	    !mqd_get(s->m, q, join_gen_of(s, q), 0, MQD_V_DOORBELL, &doorbell))
		return KFD_UNKNOWN;
	for (uint32_t i = node->process; i < node->process + node->processes; i++) {
		const struct rls_process *p = &s->rls->processes[i];

		for (uint32_t k = p->queue; k < p->queue + p->queues; k++)
			if (s->rls->queues[k].doorbell == doorbell)
				return p->pasid;
	}
	return KFD_UNKNOWN;
}

static uint32_t context_of(const struct pairing *x, uint32_t gpu_id, uint64_t pasid)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct kfd_usage *u = kfd_procs_usage(x->s->p, context_at(x, i), gpu_id);

		// The packet has room for 16 bits.
		if (u && u->pasid != KFD_UNKNOWN && (u->pasid & 0xffff) == pasid)
			return i;
	}
	return NONE;
}

static uint32_t confirm_block(const struct pairing *x, const struct mqds_proc *block)
{
	for (uint32_t i = block->first; i < block->first + block->queues; i++) {
		const struct mqd *q = &x->s->m->queues[i];
		uint64_t pasid = pasid_of_queue(x->s, q);
		uint32_t context = pasid == KFD_UNKNOWN ? NONE : context_of(x, q->gpu_id, pasid);

		if (context != NONE)
			return context;
	}
	return NONE;
}

// --- pairs ---

static bool contradicts_order(const struct pairing *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->confirmed[i] != NONE && x->confirmed[i] != x->contexts[i])
			return true;
	return false;
}

// What PASIDs say, and of one block that is left over the rest.
static bool pair_confirmed(struct pairing *x)
{
	uint32_t left = NONE, sum = 0;

	x->confirmed[x->n - 1] = 0; // the primary one
	for (uint32_t i = 0; i < x->n; i++) {
		for (uint32_t k = 0; k < i; k++)
			if (x->confirmed[i] != NONE && x->confirmed[k] == x->confirmed[i])
				return false;
		if (x->confirmed[i] != NONE)
			sum += x->confirmed[i];
		else if (left == NONE)
			left = i;
		else
			return false;
	}
	if (left != NONE)
		x->confirmed[left] = x->n * (x->n - 1) / 2 - sum;
	for (uint32_t i = 0; i < x->n; i++)
		x->contexts[i] = x->confirmed[i];
	return true;
}

static bool pair(struct pairing *x)
{
	const uint32_t last = x->n - 1;

	sort_contexts(x);
	x->ordered = is_ordered(x);
	for (uint32_t i = 0; i < x->n; i++)
		x->confirmed[i] = confirm_block(x, &x->s->m->procs[x->printed[i]]);
	if (x->confirmed[last] != NONE && x->confirmed[last] != 0)
		return false;
	return x->ordered ? !contradicts_order(x) : pair_confirmed(x);
}

static bool find_printed(struct pairing *x)
{
	const struct mqds *m = x->s->m;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->nprocs; i++)
		if (m->procs[i].pid == x->proc->pid && n++ < x->n)
			x->printed[n - 1] = i;
	return n == x->n;
}

bool join_blocks(const struct join_sides *s, const struct kfd_proc *proc, uint32_t *blocks)
{
	struct pairing x = {.s = s, .proc = proc, .n = proc->contexts};
	uint32_t *room;
	bool found = false;

	if (!x.n || x.n > MAX_CONTEXTS || proc->changed)
		return false;
	room = calloc(x.n, 3 * sizeof(*room));
	if (room) {
		x.contexts = room;
		x.printed = room + x.n;
		x.confirmed = room + 2 * x.n;
		found = find_printed(&x) && pair(&x);
	}
	for (uint32_t i = 0; found && i < x.n; i++)
		blocks[x.contexts[i]] = x.printed[i];
	free(room);
	return found;
}
