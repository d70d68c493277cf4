// Is a queue in a hardware slot? By runlist and MQD dword 130; see queue_rows.h.
#include "common/rows/queue_rows.h"

struct residency_gpu {
	uint32_t gpu_id;
	bool written;    // some MQD has 1 in dword 130: the firmware writes that dword
	uint32_t queues; // compute queues that have MQDs
	uint32_t owners; // processes and contexts with compute queues
	uint32_t last;   // while counting: the owner of the last queue
	uint64_t slots;  // compute slots of an XCC; UINT64_MAX: unknown
};

// The sources of all verdicts, and the counts of each GPU.
struct residency_host {
	const struct mqds *mqds;
	const struct rls *rls;
	const struct kfd_topology *topology;
	struct residency_gpu *gpus; // owned
	size_t n, cap;
};

const char *residency_text(enum residency o)
{
	switch (o) {
	case RESIDENCY_UNKNOWN: return "neither the runlist nor the MQD tells";
	case RESIDENCY_SILENT:
		return "no MQD on its GPU has dword 130 set: its firmware may not write it, and "
		       "there is no runlist";
	case RESIDENCY_TURNS: return "mapped, but the GPU is over-subscribed and queues take turns";
	case RESIDENCY_MAY_TURN:
		return "off hardware, or waiting for its turn: the GPU has more processes or "
		       "queues "
		       "than it can run at a time";
	case RESIDENCY_CONTRADICT:
		return "runlist and MQD contradict each other: it changed while it was read";
	default: return NULL;
	}
}

// Returns dword 130 of an MQD on all XCCs, 0 or 1, or -1: the XCCs differ, or the dword is missing.
// A PM4 queue runs on a single XCC, so for it a 1 on any XCC counts.
static int active_dword(const struct mqds *m, const struct mqd *q, enum gfx_gen gen)
{
	uint64_t first, v, aql = 1;
	bool any;
	if (!mqd_get(m, q, gen, 0, MQD_V_ACTIVE, &first))
		return -1;
	any = mqd_get(m, q, gen, 0, MQD_V_AQL, &aql) && !aql;
	for (unsigned x = 1; x < q->dumps; x++) {
		if (!mqd_get(m, q, gen, x, MQD_V_ACTIVE, &v) || (!any && v != first))
			return -1;
		first |= v;
	}
	return (int)first;
}

static struct residency_gpu *residency_gpu_of(struct residency_host *h, uint32_t gpu_id)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->gpus[i].gpu_id == gpu_id)
			return &h->gpus[i];
	const struct kfd_gpu *g = kfd_topology_find(h->topology, gpu_id);
	ARRAY_GROW(h->gpus, h->cap, h->n);
	h->gpus[h->n] = (struct residency_gpu){
		.gpu_id = gpu_id, .last = UINT32_MAX, .slots = g ? g->cp_queues : KFD_UNKNOWN};
	return &h->gpus[h->n++];
}

static void count_queues(struct residency_host *h, const enum gfx_gen *gens)
{
	for (size_t i = 0; i < h->mqds->nqueues; i++) {
		const struct mqd *q = &h->mqds->queues[i];
		if (q->kind != MQD_COMPUTE)
			continue;
		struct residency_gpu *g = residency_gpu_of(h, q->gpu_id);
		g->written |= active_dword(h->mqds, q, gens[i]) == 1;
		g->queues++;
		g->owners += g->last != q->proc; // a process's queues are contiguous
		g->last = q->proc;
	}
}

static enum residency judge_dword(const struct mqds *m, const struct mqd *q, enum gfx_gen gen,
				  const struct residency_gpu *g)
{
	const int on = active_dword(m, q, gen);
	if (on)
		return on < 0 ? RESIDENCY_UNKNOWN : RESIDENCY_ON;
	return gfx_caps(gen)->active_written || g->written ? RESIDENCY_OFF : RESIDENCY_SILENT;
}

// The verdict without a runlist: on an over-subscribed GPU, a queue that is off may wait for its
// turn.
static enum residency without_list(const struct residency_gpu *g, enum residency by_dword)
{
	bool over = g->owners > KFD_VMIDS || (g->slots && g->queues > g->slots);
	return by_dword == RESIDENCY_OFF && over ? RESIDENCY_MAY_TURN : by_dword;
}

// The verdict of a queue, by the runlist where that covers its GPU.
static enum residency judge_list(const struct residency_host *h, const struct mqd *q,
				 enum gfx_gen gen, const struct residency_gpu *g)
{
	const enum residency by_dword = judge_dword(h->mqds, q, gen, g);
	const struct rls_node *node = rls_find(h->rls, q->gpu_id);
	uint64_t doorbell;
	if (!node || node->damaged || node->state == RLS_UNKNOWN)
		return without_list(g, by_dword);
	// MES has no runlists. Without MES, no runlist means that no queue of the GPU is active.
	if (node->state == RLS_NONE)
		return by_dword != RESIDENCY_ON && gfx_caps(gen)->runlist
			       ? RESIDENCY_OFF
			       : without_list(g, by_dword);
	if (!mqd_get(h->mqds, q, gen, 0, MQD_V_DOORBELL, &doorbell))
		return by_dword;
	if (!rls_maps(h->rls, node, (uint32_t)doorbell))
		return by_dword == RESIDENCY_ON ? RESIDENCY_CONTRADICT : RESIDENCY_OFF;
	if (!node->chained)
		return RESIDENCY_ON;
	return by_dword == RESIDENCY_ON ? RESIDENCY_ON : RESIDENCY_TURNS;
}

void residency_judge(uint8_t *verdicts, const struct mqds *m, const enum gfx_gen *gens,
		     const struct rls *rls, const struct kfd_topology *gpus)
{
	struct residency_host h = {.mqds = m, .rls = rls, .topology = gpus};
	count_queues(&h, gens);
	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		verdicts[i] = (uint8_t)judge_list(&h, q, gens[i], residency_gpu_of(&h, q->gpu_id));
	}
	free(h.gpus);
}
