// On hardware or off; see onhw.h.
#include "common/kfd/onhw.h"

#include "common/debugfs/mqd_value.h"
#include "common/host/array.h"

#include <stdlib.h>

const char *onhw_text(enum onhw o)
{
	switch (o) {
	case ONHW_UNKNOWN: return "neither the runlist nor the MQD tells";
	case ONHW_SILENT:
		return "no MQD on its GPU has dword 130 set: its firmware may not write it, and "
		       "there is no runlist";
	case ONHW_TURNS: return "mapped, but the GPU is over-subscribed and queues take turns";
	case ONHW_CONTRADICT:
		return "runlist and MQD contradict each other: it changed while it was read";
	default: return NULL;
	}
}

// Dword 130 on all XCCs: 0, 1, or -1 when they differ or it is missing. A PM4 queue runs on one of
// them alone.
static int active(const struct mqds *m, const struct mqd *q, enum gfx_gen gen)
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

static bool has_gpu(const struct onhw_host *h, uint32_t gpu_id)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->gpus[i] == gpu_id)
			return true;
	return false;
}

int onhw_init(struct onhw_host *h, const struct mqds *m, const enum gfx_gen *gens,
	      const struct rls *rls)
{
	*h = (struct onhw_host){.mqds = m, .rls = rls};
	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];

		if (has_gpu(h, q->gpu_id) || active(m, q, gens[i]) != 1)
			continue;
		if (ARRAY_GROW(h->gpus, h->cap, h->n))
			return -1;
		h->gpus[h->n++] = q->gpu_id;
	}
	return 0;
}

void onhw_fini(struct onhw_host *h)
{
	free(h->gpus);
	*h = (struct onhw_host){0};
}

static enum onhw judge_dword(const struct onhw_host *h, const struct mqd *q, enum gfx_gen gen)
{
	int on = active(h->mqds, q, gen);

	if (on < 0)
		return ONHW_UNKNOWN;
	if (on)
		return ONHW_ON;
	return gen == GFX940 || has_gpu(h, q->gpu_id) ? ONHW_OFF : ONHW_SILENT;
}

// By the runlist, where it tells something about this queue.
static enum onhw judge_list(const struct onhw_host *h, const struct mqd *q, enum gfx_gen gen,
			    enum onhw by_dword)
{
	const struct rls_node *node = rls_find(h->rls, q->gpu_id);
	uint64_t doorbell;

	if (!node || node->damaged || node->state == RLS_UNKNOWN)
		return by_dword;
	// MES has no runlists. Before it, none means that no queue of the GPU is active.
	if (node->state == RLS_NONE)
		return by_dword != ONHW_ON && (gen == GFX9 || gen == GFX940 || gen == GFX10)
			       ? ONHW_OFF
			       : by_dword;
	if (!mqd_get(h->mqds, q, gen, 0, MQD_V_DOORBELL, &doorbell))
		return by_dword;
	if (!rls_maps(h->rls, node, (uint32_t)doorbell))
		return by_dword == ONHW_ON ? ONHW_CONTRADICT : ONHW_OFF;
	if (!node->chained)
		return ONHW_ON;
	return by_dword == ONHW_ON || by_dword == ONHW_OFF ? by_dword : ONHW_TURNS;
}

enum onhw onhw_judge(const struct onhw_host *h, const struct mqd *q, enum gfx_gen gen)
{
	return judge_list(h, q, gen, judge_dword(h, q, gen));
}
