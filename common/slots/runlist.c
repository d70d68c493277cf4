// Runlist packets, and the queue and process of each; see slot_rows.h.
#include "common/slots/slot_rows.h"

struct maker {
	struct runlist *r;
	const struct slot_rows *l;
	const struct rls_node *node;
	bool *listed; // for each MQD: it has a row, or a packet for which a row will be made
};

enum { NONE = UINT32_MAX };

static struct runlist_row *add_packet_row(struct maker *m, const char *packet)
{
	struct runlist_row *row = ARRAY_ADD(m->r->rows, m->r->cap, m->r->n);
	memset(row, 0xff, sizeof(*row)); // all unknown: numbers KFD_UNKNOWN, flags -1
	row->packet = packet;
	queue_row_clear(&row->q);
	queue_row_set_gpu(&m->l->queues, &row->q, m->node->gpu_id);
	row->q.gpu.node = m->node->node;
	return row;
}

// --- rows of queues ---

static uint32_t mqd_of_packet(const struct maker *m, const struct rls_queue *q)
{
	const struct mqds *mqds = &m->l->queues.mqds;
	uint32_t at = slot_rows_mqd_at(m->l, m->node->gpu_id, q->mqd);
	// SDMA MQDs do not hold their address, but a doorbell is of one queue alone on a GPU.
	for (uint32_t i = 0; at == NONE && i < mqds->nqueues; i++)
		if (mqds->queues[i].gpu_id == m->node->gpu_id &&
		    m->l->queues.summaries[i].v[MQD_V_DOORBELL] == q->doorbell)
			at = i;
	return at;
}

// Bits 28:26 of dword 1 are the engine: 0 compute, 2 SDMA 0, 3 SDMA 1. With bits 3:2 being 1 or 2,
// 28:26 are an SDMA engine counted from 0 or 8 (kfd_pm4_headers_ai.h, kfd_pm4_headers_aldebaran.h).
static void set_engine(const struct queue_rows *q, struct queue_row *r, uint32_t control)
{
	uint32_t sel = control >> 26 & 7, extended = control >> 2 & 3;
	const uint64_t engine = extended   ? sel + 8 * (extended - 1)
				: sel >= 2 ? sel - 2
					   : MQD_UNKNOWN;
	r->type = engine == MQD_UNKNOWN ? "compute"
					: queue_rows_sdma_type(q, (uint32_t)r->gpu_id, engine);
	r->v[MQD_V_SDMA_ENGINE] = engine;
}

static void add_map_queues(struct maker *m, const struct rls_queue *q)
{
	struct runlist_row *row = add_packet_row(m, "MAP_QUEUES");
	uint32_t mqd = mqd_of_packet(m, q);
	if (mqd != NONE)
		slot_rows_set_mqd(m->l, &row->q, mqd);
	set_engine(&m->l->queues, &row->q, q->control);
	row->q.v[MQD_V_DOORBELL] = q->doorbell;
	row->q.v[MQD_V_BASE] = q->mqd;
	row->q.v[MQD_V_WPTR_ADDR] = q->wptr;
}

// Adds rows for MQDs that the runlist does not map: all (NONE), or those of one block of mqds.
static void add_missing(struct maker *m, uint32_t block)
{
	const struct mqds *mqds = &m->l->queues.mqds;
	for (uint32_t i = 0; i < mqds->nqueues; i++) {
		const struct mqd *q = &mqds->queues[i];
		if (q->gpu_id != m->node->gpu_id || m->listed[i] ||
		    (q->kind != MQD_COMPUTE && q->kind != MQD_SDMA) ||
		    (block != NONE && q->proc != block))
			continue;
		slot_rows_set_mqd(m->l, &add_packet_row(m, "none")->q, i);
		m->listed[i] = true;
	}
}

// --- rows of processes ---

// The block of a context in mqds, found by its queues; else the only block of its process; or NONE.
static uint32_t block_of_context(const struct maker *m, const struct kfd_context *c, pid_t pid)
{
	const struct queue_rows *q = &m->l->queues;
	uint32_t block = NONE;
	for (uint32_t i = c->queue; q->join.queues && i < c->queue + c->queues; i++) {
		const struct join_queue *j = &q->join.queues[i];
		if (j->count == 1)
			return q->mqds.queues[q->join.candidates[j->first]].proc;
	}
	for (uint32_t i = 0; i < q->mqds.nprocs; i++) {
		if (q->mqds.procs[i].pid != pid)
			continue;
		if (block != NONE)
			return NONE;
		block = i;
	}
	return block;
}

// Finds the context that a MAP_PROCESS maps, by its queues or PASID. Sets its PID and its id
// (unknown for the primary one). Returns its block in mqds, or NONE.
static uint32_t find_packet_owner(const struct maker *m, const struct rls_process *p, pid_t *pid,
				  uint64_t *context)
{
	const struct queue_rows *rows = &m->l->queues;
	const struct mqds *mqds = &rows->mqds;
	for (uint32_t i = p->queue; i < p->queue + p->queues; i++) {
		const uint32_t mqd = mqd_of_packet(m, &rows->rls.queues[i]);
		if (mqd == NONE)
			continue;
		const struct queue_row *q = slot_rows_queue(m->l, mqd);
		*pid = slot_rows_pid(m->l, mqd);
		*context = q ? q->context : KFD_UNKNOWN;
		return mqds->queues[mqd].proc;
	}
	for (uint32_t i = 0; i < mqds->nprocs; i++)
		if (mqds->procs[i].pasid == (int64_t)p->pasid) {
			*pid = mqds->procs[i].pid;
			return i;
		}
	// From Linux 6.15 on each context has its own PASID on each GPU, and a process none.
	for (size_t i = 0; p->pasid && i < rows->procs.ncontexts; i++) {
		const struct kfd_context *c = &rows->procs.contexts[i];
		const struct kfd_usage *u = kfd_procs_usage(&rows->procs, c, m->node->gpu_id);
		const struct kfd_proc *proc = &rows->procs.procs[c->proc];
		if ((u ? u->pasid : proc->pasid) != p->pasid)
			continue;
		*pid = proc->pid;
		*context = c->id < 0 ? KFD_UNKNOWN : (uint64_t)c->id;
		return block_of_context(m, c, proc->pid);
	}
	return NONE;
}

static void add_map_process(struct maker *m, const struct rls_process *p)
{
	const struct rls *rls = &m->l->queues.rls;
	struct runlist_row *row = add_packet_row(m, "MAP_PROCESS");
	pid_t pid = -1;
	const uint32_t block = find_packet_owner(m, p, &pid, &row->q.context);
	queue_row_set_process(&m->l->queues, &row->q, pid);
	row->q.usage.pasid = p->pasid;
	row->announced = p->announced;
	row->mapped = p->queues;
	row->quantum = p->quantum;
	row->gws = p->gws;
	row->sdma = p->sdma;
	row->page_table = p->page_table;
	for (uint32_t i = p->queue; i < p->queue + p->queues; i++)
		add_map_queues(m, &rls->queues[i]);
	if (block != NONE)
		add_missing(m, block);
}

// --- rows of runlists ---

static void add_runlist(struct maker *m)
{
	const struct rls *rls = &m->l->queues.rls;
	const struct rls_node *n = m->node;
	for (uint32_t i = n->queue; i < n->queue + n->queues; i++) {
		uint32_t mqd = mqd_of_packet(m, &rls->queues[i]);
		if (mqd != NONE)
			m->listed[mqd] = true;
	}
	uint32_t first = n->processes ? rls->processes[n->process].queue : n->queue + n->queues;
	// A runlist whose dump begins in its middle has queues before the first process.
	for (uint32_t i = n->queue; i < first; i++)
		add_map_queues(m, &rls->queues[i]);
	for (uint32_t i = n->process; i < n->process + n->processes; i++)
		add_map_process(m, &rls->processes[i]);
	if (n->chained)
		add_packet_row(m, "RUN_LIST");
	m->r->damaged += n->damaged;
	// With MES there is never a runlist, and a damaged one may map more than was read.
	if (!n->damaged && n->state != RLS_UNKNOWN &&
	    !gfx_caps(slot_rows_gen(m->l, n->gpu_id))->mes)
		add_missing(m, NONE);
}

void runlist_make(struct runlist *r, const struct slot_rows *l)
{
	struct maker m = {.r = r, .l = l};
	*r = (struct runlist){0};
	m.listed = xcalloc(l->queues.mqds.nqueues + 1, sizeof(*m.listed));
	for (size_t i = 0; i < l->queues.rls.nnodes; i++) {
		m.node = &l->queues.rls.nodes[i];
		add_runlist(&m);
	}
	free(m.listed);
}

void runlist_fini(struct runlist *r)
{
	free(r->rows);
	*r = (struct runlist){0};
}
