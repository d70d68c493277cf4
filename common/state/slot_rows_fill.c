// The rows of slot_rows.h: what a slot, or an MQD in memory, holds and whose it is.
#include "common/state/slot_rows_priv.h"

#include "common/debugfs/regs.h"
#include "common/host/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HQ_STATUS0 = 160, QUEUE_IDLE = 1u << 30 };
enum { AQL_DWORDS = 16 };

static const struct hqd_row unknown_row = {
	.gpu = KFD_UNKNOWN,
	.gpu_id = KFD_UNKNOWN,
	.node = KFD_UNKNOWN,
	.xcc = KFD_UNKNOWN,
	.mec = KFD_UNKNOWN,
	.pipe = KFD_UNKNOWN,
	.queue = KFD_UNKNOWN,
	.active = -1,
	.pid = INT64_MIN,
	.qid = KFD_UNKNOWN,
	.context = KFD_UNKNOWN,
	.vmid = KFD_UNKNOWN,
	.ring_addr = KFD_UNKNOWN,
	.ring_bytes = KFD_UNKNOWN,
	.mqd_addr = KFD_UNKNOWN,
	.doorbell = KFD_UNKNOWN,
	.rptr = KFD_UNKNOWN,
	.wptr = KFD_UNKNOWN,
	.backlog = KFD_UNKNOWN,
	.prio = KFD_UNKNOWN,
	.pipe_prio = KFD_UNKNOWN,
	.error = KFD_UNKNOWN,
	.rptr_addr = KFD_UNKNOWN,
	.wptr_addr = KFD_UNKNOWN,
	.ctx_addr = KFD_UNKNOWN,
	.ctx_bytes = KFD_UNKNOWN,
	.idle = -1,
	.mqd = UINT32_MAX,
};

// --- where ---

static void fill_gpu(const struct slot_rows *l, struct hqd_row *r, uint32_t gpu_id)
{
	const struct kfd_gpu *g = kfd_topology_find(&l->queues.gpus, gpu_id);
	if (gpu_id)
		r->gpu_id = gpu_id;
	if (!g)
		return;
	r->gpu = g->index;
	r->node = g->node;
	r->bdf = *g->bdf ? g->bdf : NULL;
	r->gfx = *g->gfx ? g->gfx : NULL;
}

static void fill_place(struct hqd_row *r, const struct hqd *s)
{
	static const char *const kinds[] = {
		[HQD_CP] = "compute", [HQD_HIQ] = "hiq", [HQD_SDMA] = "sdma"};
	r->kind = kinds[s->kind];
	r->pipe = s->pipe;
	r->queue = s->queue;
	if (s->kind != HQD_SDMA)
		// Kernels up to 6.4 name no XCC, since their GPUs have one.
		r->xcc = s->xcc < 0 ? 0 : (uint64_t)s->xcc;
	if (s->kind == HQD_HIQ)
		r->mec = s->mec;
	else if (s->kind == HQD_CP)
		r->mec = 1; // KFD's queues are all there (kfd-facts 5.2)
	if (s->kind == HQD_HIQ)
		snprintf(r->slot_text, sizeof(r->slot_text), "hiq");
	else
		snprintf(r->slot_text, sizeof(r->slot_text),
			 s->kind == HQD_SDMA ? "e%ur%u" : "p%uq%u", s->pipe, s->queue);
	r->slot = r->slot_text;
}

// --- what ---

// A value of the slot, or of the MQD on its XCC when the row is one in memory.
static uint64_t value(const struct slot_rows *l, const struct hqd_row *r, enum mqd_value what)
{
	const struct mqds *m = &l->queues.mqds;
	uint64_t v;
	bool known = r->hqd ? hqd_get(&l->hqds, r->hqd, r->gen, what, &v)
			    : mqd_get(m, &m->queues[r->mqd], r->gen,
				      r->xcc == KFD_UNKNOWN ? 0 : (unsigned)r->xcc, what, &v);
	return known ? v : KFD_UNKNOWN;
}

static void fill_backlog(struct hqd_row *r)
{
	bool sdma = strcmp(r->kind, "sdma") == 0;
	uint64_t ring = sdma || r->ring_bytes == KFD_UNKNOWN ? r->ring_bytes : r->ring_bytes / 4;
	if (ring == KFD_UNKNOWN || !ring || r->rptr == KFD_UNKNOWN || r->wptr == KFD_UNKNOWN)
		return;
	r->backlog = (r->wptr - r->rptr) & (ring - 1); // sizes are powers of two
	if (r->packets && strcmp(r->packets, "aql") == 0)
		r->backlog /= AQL_DWORDS;
}

static int fill_error(const struct slot_rows *l, struct hqd_row *r)
{
	char text[REG_ERROR_TEXT];
	r->error = value(l, r, MQD_V_ERROR);
	if (r->error == KFD_UNKNOWN)
		return 0;
	r->errors = "none";
	if (!r->error)
		return 0;
	r->errors = r->errors_text = strdup(reg_error_text(text, (uint32_t)r->error));
	return r->errors ? 0 : -1;
}

static int fill_values(const struct slot_rows *l, struct hqd_row *r)
{
	static const struct {
		size_t member;
		enum mqd_value what;
	} map[] = {
		{offsetof(struct hqd_row, mqd_addr), MQD_V_BASE},
		{offsetof(struct hqd_row, vmid), MQD_V_VMID},
		{offsetof(struct hqd_row, ring_addr), MQD_V_RING},
		{offsetof(struct hqd_row, ring_bytes), MQD_V_RING_BYTES},
		{offsetof(struct hqd_row, doorbell), MQD_V_DOORBELL},
		{offsetof(struct hqd_row, rptr), MQD_V_RPTR},
		{offsetof(struct hqd_row, wptr), MQD_V_WPTR},
		{offsetof(struct hqd_row, prio), MQD_V_QUEUE_PRIO},
		{offsetof(struct hqd_row, pipe_prio), MQD_V_PIPE_PRIO},
		{offsetof(struct hqd_row, rptr_addr), MQD_V_RPTR_ADDR},
		{offsetof(struct hqd_row, wptr_addr), MQD_V_WPTR_ADDR},
		{offsetof(struct hqd_row, ctx_addr), MQD_V_CTX_BASE},
		{offsetof(struct hqd_row, ctx_bytes), MQD_V_CTX_BYTES},
	};
	const struct mqds *m = &l->queues.mqds;
	uint32_t status;
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		uint64_t v = value(l, r, map[i].what);
		memcpy((char *)r + map[i].member, &v, sizeof(v));
	}
	if (!l->has_prios)
		r->prio = KFD_UNKNOWN;
	r->level = strcmp(r->kind, "compute") == 0 ? prio_level_name(r->pipe_prio) : NULL;
	uint64_t aql = value(l, r, MQD_V_AQL);
	if (aql != KFD_UNKNOWN)
		r->packets = aql ? "aql" : "pm4";
	bool has_status =
		strcmp(r->kind, "sdma") != 0 &&
		(r->hqd ? hqd_word(&l->hqds, r->hqd, r->gen, HQ_STATUS0, &status)
			: mqd_word(m, &m->queues[r->mqd], (unsigned)r->xcc, HQ_STATUS0, &status));
	if (has_status)
		r->idle = (status & QUEUE_IDLE) != 0;
	fill_backlog(r);
	return fill_error(l, r);
}

// --- whose ---

static int fill_owner(const struct slot_rows *l, struct hqd_row *r)
{
	pid_t pid = slot_rows_pid(l, r->mqd);
	const struct queue_row *q = slot_rows_queue(l, r->mqd);
	if (pid >= 0)
		r->pid = pid;
	if (q) {
		r->qid = q->qid;
		r->context = q->context;
	}
	if (pid < 0 || l->captured || l->queues.foreign)
		return 0;
	const struct process_info *who = process_cache_get(l->processes, pid, PROCESS_STATUS);
	if (!who)
		return -1;
	if (who->error)
		return 0;
	r->comm = *who->proc.comm ? who->proc.comm : NULL;
	r->user = who->proc.uid != UINT64_MAX ? proc_user(who->proc.uid) : NULL;
	return 0;
}

// Rings are addresses of a process, which another may use too; a doorbell is one queue's alone on
// its GPU.
static uint32_t find_by_ring(const struct slot_rows *l, const struct hqd_row *r)
{
	const struct mqds *m = &l->queues.mqds;
	enum mqd_kind kind = strcmp(r->kind, "sdma") == 0 ? MQD_SDMA : MQD_COMPUTE;
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const uint64_t *v = l->queues.summaries[i].v;
		if (m->queues[i].kind == kind && m->queues[i].gpu_id == r->gpu_id &&
		    v[MQD_V_RING] == r->ring_addr && v[MQD_V_DOORBELL] == r->doorbell &&
		    r->ring_addr != KFD_UNKNOWN && r->doorbell != KFD_UNKNOWN)
			return i;
	}
	return UINT32_MAX;
}

// An MQD's memory is given out again: its address alone, with another ring in it, names an earlier
// or later queue.
static void find_mqd(struct slot_rows *l, struct hqd_row *r)
{
	uint32_t at = r->mqd_addr == KFD_UNKNOWN || r->gpu_id == KFD_UNKNOWN
			      ? UINT32_MAX
			      : slot_rows_mqd_at(l, (uint32_t)r->gpu_id, r->mqd_addr);
	if (at == UINT32_MAX) {
		r->mqd = find_by_ring(l, r);
		r->match = r->mqd == UINT32_MAX ? NULL : "ring";
	} else if (l->queues.summaries[at].v[MQD_V_RING] == r->ring_addr) {
		r->mqd = at;
		r->match = "mqd";
	} else {
		l->torn++;
	}
}

int slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r)
{
	r->mqd = UINT32_MAX;
	find_mqd(l, r);
	return r->mqd == UINT32_MAX ? 0 : fill_owner(l, r);
}

// --- rows ---

// An SDMA slot keeps ring and doorbell, enabled or not, when its queue is taken off.
static bool is_left_over(const struct slot_rows *l, const struct hqd_row *slot)
{
	struct hqd_row r = *slot;
	if (slot->hqd->kind != HQD_SDMA || !l->has_mqds)
		return false;
	r.ring_addr = value(l, slot, MQD_V_RING);
	r.doorbell = value(l, slot, MQD_V_DOORBELL);
	return find_by_ring(l, &r) == UINT32_MAX;
}

static int fill_slot(struct slot_rows *l, struct hqd_row *r, const struct hqd *s)
{
	const struct hqds_node *node = &l->hqds.nodes[s->node];
	*r = unknown_row;
	r->hqd = s;
	r->gen = l->gens[s->node];
	fill_gpu(l, r, node->gpu_id);
	if (r->node == KFD_UNKNOWN && node->node != UINT32_MAX)
		r->node = node->node;
	fill_place(r, s);
	// With MES nobody uses the HIQ.
	if (s->kind == HQD_HIQ && gfx_caps(r->gen)->mes)
		return 0;
	r->active = (int8_t)hqd_in_use(&l->hqds, s, r->gen);
	if (r->active == 1 && is_left_over(l, r))
		r->active = 0;
	if (r->active != 1)
		return 0;
	if (fill_values(l, r))
		return -1;
	if (s->kind == HQD_HIQ)
		return 0;
	find_mqd(l, r);
	if (r->mqd != UINT32_MAX)
		return fill_owner(l, r);
	l->ownerless++;
	return 0;
}

static int fill_mqd(struct slot_rows *l, struct hqd_row *r, uint32_t index, unsigned xcc)
{
	const struct mqd *q = &l->queues.mqds.queues[index];
	uint64_t active;
	*r = unknown_row;
	r->mqd = index;
	r->gen = slot_rows_gen(l, q->gpu_id);
	fill_gpu(l, r, q->gpu_id);
	r->kind = q->kind == MQD_SDMA ? "sdma" : q->kind == MQD_DIQ ? "diq" : "compute";
	if (q->kind == MQD_SDMA) {
		r->pipe = value(l, r, MQD_V_SDMA_ENGINE);
		r->queue = value(l, r, MQD_V_SDMA_RLC);
	} else {
		r->xcc = xcc;
	}
	if (mqd_get(&l->queues.mqds, q, r->gen, xcc, MQD_V_ACTIVE, &active))
		r->active = (int8_t)active;
	return fill_values(l, r) ? -1 : fill_owner(l, r);
}

static int fill_memory(struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	l->rows = calloc(m->ndumps + 1, sizeof(*l->rows));
	if (!l->rows)
		return -1;
	for (uint32_t i = 0; i < m->nqueues; i++)
		for (unsigned x = 0; x < m->queues[i].dumps; x++)
			if (fill_mqd(l, &l->rows[l->n++], i, x))
				return -1;
	return 0;
}

int slot_rows_fill(struct slot_rows *l)
{
	if (l->how->memory)
		return fill_memory(l);
	l->rows = calloc(l->hqds.nslots + 1, sizeof(*l->rows));
	if (!l->rows)
		return -1;
	for (size_t i = 0; i < l->hqds.nslots; i++)
		if (fill_slot(l, &l->rows[l->n++], &l->hqds.slots[i]))
			return -1;
	return 0;
}
