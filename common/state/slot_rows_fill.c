// The rows of slot_rows.h: what a slot, or an MQD in memory, holds and whose it is.
#include "common/state/slot_rows.h"

#include "common/debugfs/regs.h"
#include "common/host/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HQ_STATUS0 = 160, QUEUE_IDLE = 1u << 30 };

// --- where ---

static void fill_place(struct hqd_row *r, const struct hqd *s)
{
	static const char *const kinds[] = {
		[HQD_CP] = "compute", [HQD_HIQ] = "hiq", [HQD_SDMA] = "sdma"};
	r->q.type = kinds[s->kind];
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
			    : mqd_get(m, &m->queues[r->q.mqd], r->gen,
				      r->xcc == KFD_UNKNOWN ? 0 : (unsigned)r->xcc, what, &v);
	return known ? v : KFD_UNKNOWN;
}

static int fill_error(struct hqd_row *r)
{
	char text[REG_ERROR_TEXT];
	const uint64_t error = r->q.v[MQD_V_ERROR];
	if (error == MQD_UNKNOWN)
		return 0;
	r->errors = "none";
	if (!error)
		return 0;
	r->errors = r->errors_text = strdup(reg_error_text(text, (uint32_t)error));
	return r->errors ? 0 : -1;
}

static int fill_values(const struct slot_rows *l, struct hqd_row *r)
{
	const struct mqds *m = &l->queues.mqds;
	const bool sdma = queue_row_is_sdma(&r->q);
	uint64_t *v = r->q.v;
	uint32_t status;
	for (int i = 0; i < MQD_VALUES; i++)
		v[i] = value(l, r, (enum mqd_value)i);
	if (!l->has_prios)
		v[MQD_V_QUEUE_PRIO] = MQD_UNKNOWN;
	queue_row_name_values(&r->q);
	if (strcmp(r->q.type, "compute") != 0)
		r->q.level = NULL;
	if (!sdma &&
	    (r->hqd ? hqd_word(&l->hqds, r->hqd, r->gen, HQ_STATUS0, &status)
		    : mqd_word(m, &m->queues[r->q.mqd], (unsigned)r->xcc, HQ_STATUS0, &status)))
		r->idle = (status & QUEUE_IDLE) != 0;
	v[MQD_D_BACKLOG] = queue_row_waiting(&r->q, v[MQD_V_RPTR], v[MQD_V_WPTR]);
	if (v[MQD_D_BACKLOG] != MQD_UNKNOWN && queue_row_is_aql(&r->q))
		v[MQD_D_BACKLOG] /= AQL_PACKET_DWORDS;
	return fill_error(r);
}

// --- whose ---

static int fill_owner(const struct slot_rows *l, struct queue_row *r)
{
	const struct queue_row *q = slot_rows_queue(l, r->mqd);
	if (q) {
		r->qid = q->qid;
		r->context = q->context;
		r->holder = q->holder;
	}
	return queue_row_set_process(&l->queues, r, slot_rows_pid(l, r->mqd));
}

int slot_rows_set_mqd(const struct slot_rows *l, struct queue_row *r, uint32_t mqd)
{
	queue_row_set_mqd(&l->queues, r, mqd);
	return fill_owner(l, r);
}

// Rings are addresses of a process, which another may use too; a doorbell is one queue's alone on
// its GPU.
static uint32_t find_by_ring(const struct slot_rows *l, const struct queue_row *r)
{
	const struct mqds *m = &l->queues.mqds;
	const uint64_t ring = r->v[MQD_V_RING], doorbell = r->v[MQD_V_DOORBELL];
	enum mqd_kind kind = queue_row_is_sdma(r) ? MQD_SDMA : MQD_COMPUTE;
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const uint64_t *v = l->queues.summaries[i].v;
		if (m->queues[i].kind == kind && m->queues[i].gpu_id == r->gpu_id &&
		    v[MQD_V_RING] == ring && v[MQD_V_DOORBELL] == doorbell && ring != MQD_UNKNOWN &&
		    doorbell != MQD_UNKNOWN)
			return i;
	}
	return UINT32_MAX;
}

// An MQD's memory is given out again: its address alone, with another ring in it, names an earlier
// or later queue.
int slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r)
{
	const uint64_t base = r->q.v[MQD_V_BASE];
	uint32_t at = base == MQD_UNKNOWN || r->q.gpu_id == KFD_UNKNOWN
			      ? UINT32_MAX
			      : slot_rows_mqd_at(l, (uint32_t)r->q.gpu_id, base);
	r->q.mqd = UINT32_MAX;
	if (at == UINT32_MAX) {
		r->q.mqd = find_by_ring(l, &r->q);
		r->match = r->q.mqd == UINT32_MAX ? NULL : "ring";
	} else if (l->queues.summaries[at].v[MQD_V_RING] == r->q.v[MQD_V_RING]) {
		r->q.mqd = at;
		r->match = "mqd";
	} else {
		l->torn++;
	}
	return r->q.mqd == UINT32_MAX ? 0 : fill_owner(l, &r->q);
}

// --- rows ---

static void clear(struct hqd_row *r, enum gfx_gen gen)
{
	*r = (struct hqd_row){.xcc = KFD_UNKNOWN,
			      .mec = KFD_UNKNOWN,
			      .pipe = KFD_UNKNOWN,
			      .queue = KFD_UNKNOWN,
			      .active = -1,
			      .idle = -1,
			      .gen = gen};
	queue_row_clear(&r->q);
}

// An SDMA slot keeps ring and doorbell, enabled or not, when its queue is taken off.
static bool is_left_over(const struct slot_rows *l, const struct hqd_row *slot)
{
	struct queue_row r = slot->q;
	if (slot->hqd->kind != HQD_SDMA || !l->has_mqds)
		return false;
	r.v[MQD_V_RING] = value(l, slot, MQD_V_RING);
	r.v[MQD_V_DOORBELL] = value(l, slot, MQD_V_DOORBELL);
	return find_by_ring(l, &r) == UINT32_MAX;
}

static int fill_slot(struct slot_rows *l, struct hqd_row *r, const struct hqd *s)
{
	const struct hqds_node *node = &l->hqds.nodes[s->node];
	clear(r, l->gens[s->node]);
	r->hqd = s;
	queue_row_set_gpu(&l->queues, &r->q, node->gpu_id);
	if (r->q.node == KFD_UNKNOWN && node->node != UINT32_MAX)
		r->q.node = node->node;
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
	int err = slot_rows_find_owner(l, r);
	l->ownerless += r->q.mqd == UINT32_MAX;
	return err;
}

static int fill_mqd(struct slot_rows *l, struct hqd_row *r, uint32_t index, unsigned xcc)
{
	const struct mqd *q = &l->queues.mqds.queues[index];
	uint64_t active;
	clear(r, slot_rows_gen(l, q->gpu_id));
	if (slot_rows_set_mqd(l, &r->q, index))
		return -1;
	if (q->kind == MQD_SDMA) {
		r->pipe = value(l, r, MQD_V_SDMA_ENGINE);
		r->queue = value(l, r, MQD_V_SDMA_RLC);
	} else {
		r->xcc = xcc;
	}
	if (mqd_get(&l->queues.mqds, q, r->gen, xcc, MQD_V_ACTIVE, &active))
		r->active = (int8_t)active;
	return fill_values(l, r);
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
