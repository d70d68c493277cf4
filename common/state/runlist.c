// Runlists with their owners; see runlist.h.
#include "common/state/runlist.h"

#include "common/host/buf.h"
#include "common/state/slot_rows_priv.h"

#include <stdlib.h>

static const struct runlist_row unknown_row = {
	.gpu = KFD_UNKNOWN,
	.gpu_id = KFD_UNKNOWN,
	.node = KFD_UNKNOWN,
	.pid = INT64_MIN,
	.pasid = KFD_UNKNOWN,
	.qid = KFD_UNKNOWN,
	.context = KFD_UNKNOWN,
	.engine = KFD_UNKNOWN,
	.announced = KFD_UNKNOWN,
	.mapped = KFD_UNKNOWN,
	.quantum = KFD_UNKNOWN,
	.gws = KFD_UNKNOWN,
	.page_table = KFD_UNKNOWN,
	.sdma = -1,
	.doorbell = KFD_UNKNOWN,
	.mqd_addr = KFD_UNKNOWN,
	.wptr_addr = KFD_UNKNOWN,
	.ring_addr = KFD_UNKNOWN,
	.prio = KFD_UNKNOWN,
};

struct maker {
	struct runlist *r;
	const struct slot_rows *l;
	const struct rls_node *node;
	bool *listed; // of each MQD: a row has it, or will have
};

enum { NONE = UINT32_MAX };

static struct runlist_row *add_row(struct maker *m, const char *packet)
{
	const struct kfd_gpu *g = kfd_topology_find(&m->l->queues.gpus, m->node->gpu_id);
	if (ARRAY_GROW(m->r->rows, m->r->cap, m->r->n))
		return NULL;
	struct runlist_row *row = &m->r->rows[m->r->n++];
	*row = unknown_row;
	row->packet = packet;
	row->gpu_id = m->node->gpu_id;
	row->node = m->node->node;
	row->gpu = g ? g->index : KFD_UNKNOWN;
	return row;
}

static void set_pid(const struct maker *m, struct runlist_row *row, int64_t pid)
{
	const struct slot_rows *l = m->l;
	if (pid < 0)
		return;
	row->pid = pid;
	if (l->captured || l->queues.foreign)
		return;
	const struct process_info *who =
		process_cache_get(l->processes, (pid_t)pid, PROCESS_STATUS);
	if (who && !who->error && *who->proc.comm)
		row->comm = who->proc.comm;
}

// --- queues ---

static uint32_t mqd_of(const struct maker *m, const struct rls_queue *q)
{
	const struct mqds *mqds = &m->l->queues.mqds;
	uint32_t at = slot_rows_mqd_at(m->l, m->node->gpu_id, q->mqd);
	// SDMA MQDs do not hold their address; doorbells are one queue's alone on a GPU.
	for (uint32_t i = 0; at == UINT32_MAX && i < mqds->nqueues; i++)
		if (mqds->queues[i].gpu_id == m->node->gpu_id &&
		    m->l->queues.summaries[i].v[MQD_V_DOORBELL] == q->doorbell)
			at = i;
	return at;
}

static void fill_queue(const struct maker *m, struct runlist_row *row, uint32_t mqd)
{
	const struct queue_row *q = slot_rows_queue(m->l, mqd);
	const uint64_t *v = m->l->queues.summaries[mqd].v;
	set_pid(m, row, slot_rows_pid(m->l, mqd));
	row->qid = q ? q->qid : KFD_UNKNOWN;
	row->context = q ? q->context : KFD_UNKNOWN;
	row->ring_addr = v[MQD_V_RING];
	row->prio = v[MQD_V_QUEUE_PRIO];
	row->level = prio_level_name(v[MQD_V_PIPE_PRIO]);
}

// Bits 28:26 are the engine: 0 compute, 2 and 3 SDMA 0 and 1; or, where bits 3:2 say so, the number
// of an SDMA engine from 0 or from 8 on (kfd_pm4_headers_ai.h, kfd_pm4_headers_aldebaran.h).
static void fill_engine(struct runlist_row *row, uint32_t control)
{
	uint32_t sel = control >> 26 & 7, extended = control >> 2 & 3;
	row->kind = !extended && sel < 2 ? "compute" : "sdma";
	if (extended)
		row->engine = sel + 8 * (extended - 1);
	else if (sel >= 2)
		row->engine = sel - 2;
}

static int add_queue(struct maker *m, const struct rls_queue *q)
{
	struct runlist_row *row = add_row(m, "MAP_QUEUES");
	if (!row)
		return -1;
	uint32_t mqd = mqd_of(m, q);
	fill_engine(row, q->control);
	row->doorbell = q->doorbell;
	row->mqd_addr = q->mqd;
	row->wptr_addr = q->wptr;
	if (mqd == UINT32_MAX)
		return 0;
	fill_queue(m, row, mqd);
	return 0;
}

// Whatever the list maps is not missing, wherever in the list it is.
static void mark_mapped(struct maker *m)
{
	const struct rls *rls = &m->l->queues.rls;
	for (uint32_t i = m->node->queue; i < m->node->queue + m->node->queues; i++) {
		uint32_t mqd = mqd_of(m, &rls->queues[i]);
		if (mqd != NONE)
			m->listed[mqd] = true;
	}
}

// A queue that has no packet.
static int add_unmapped(struct maker *m, uint32_t mqd)
{
	const struct mqd *q = &m->l->queues.mqds.queues[mqd];
	const uint64_t *v = m->l->queues.summaries[mqd].v;
	struct runlist_row *row = add_row(m, "none");
	if (!row)
		return -1;
	row->kind = q->kind == MQD_SDMA ? "sdma" : "compute";
	row->engine = v[MQD_V_SDMA_ENGINE];
	row->doorbell = v[MQD_V_DOORBELL];
	row->mqd_addr = v[MQD_V_BASE];
	row->wptr_addr = v[MQD_V_WPTR_ADDR];
	m->listed[mqd] = true;
	fill_queue(m, row, mqd);
	return 0;
}

// Those of this block of mqds that are not in the list; NONE: of any.
static int add_missing(struct maker *m, uint32_t block)
{
	const struct mqds *mqds = &m->l->queues.mqds;
	for (uint32_t i = 0; i < mqds->nqueues; i++) {
		const struct mqd *q = &mqds->queues[i];
		if (q->gpu_id != m->node->gpu_id || m->listed[i] ||
		    (q->kind != MQD_COMPUTE && q->kind != MQD_SDMA) ||
		    (block != NONE && q->proc != block))
			continue;
		if (add_unmapped(m, i))
			return -1;
	}
	return 0;
}

// --- processes ---

// A packet's owner: a context of a process, which has a block in mqds.
struct owner {
	int64_t pid;      // INT64_MIN: unknown
	uint64_t context; // KFD_UNKNOWN: the primary one, or unknown
	uint32_t block;   // index in mqds.procs, NONE
};

static const struct owner nobody = {INT64_MIN, KFD_UNKNOWN, NONE};

static struct owner owner_by_mqd(const struct maker *m, uint32_t mqd)
{
	const struct queue_row *q = slot_rows_queue(m->l, mqd);
	return (struct owner){slot_rows_pid(m->l, mqd), q ? q->context : KFD_UNKNOWN,
			      m->l->queues.mqds.queues[mqd].proc};
}

static struct owner owner_by_mqds(const struct maker *m, uint32_t pasid)
{
	const struct mqds *mqds = &m->l->queues.mqds;
	for (uint32_t i = 0; i < mqds->nprocs; i++)
		if (mqds->procs[i].pasid == (int64_t)pasid)
			return (struct owner){mqds->procs[i].pid, KFD_UNKNOWN, i};
	return nobody;
}

// The block of a context, by its queues; else that of its process if it has but one.
static uint32_t block_of(const struct maker *m, const struct kfd_context *c, int64_t pid)
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

// Kernels from 6.15 on have no PASID of a process but one for each context and GPU.
static struct owner owner_by_host(const struct maker *m, uint32_t pasid)
{
	const struct kfd_procs *p = &m->l->queues.procs;
	for (size_t i = 0; !m->l->captured && pasid && i < p->ncontexts; i++) {
		const struct kfd_context *c = &p->contexts[i];
		const struct kfd_usage *u = kfd_procs_usage(p, c, m->node->gpu_id);
		const struct kfd_proc *proc = &p->procs[c->proc];
		if ((u ? u->pasid : proc->pasid) != pasid)
			continue;
		return (struct owner){proc->pid, c->id < 0 ? KFD_UNKNOWN : (uint64_t)c->id,
				      block_of(m, c, proc->pid)};
	}
	return nobody;
}

static struct owner owner_of(const struct maker *m, const struct rls_process *p)
{
	const struct rls *rls = &m->l->queues.rls;
	for (uint32_t i = p->queue; i < p->queue + p->queues; i++) {
		uint32_t mqd = mqd_of(m, &rls->queues[i]);
		if (mqd != NONE)
			return owner_by_mqd(m, mqd);
	}
	struct owner o = owner_by_mqds(m, p->pasid);
	return o.pid == INT64_MIN ? owner_by_host(m, p->pasid) : o;
}

static int add_process(struct maker *m, const struct rls_process *p)
{
	const struct rls *rls = &m->l->queues.rls;
	struct runlist_row *row = add_row(m, "MAP_PROCESS");
	if (!row)
		return -1;
	const struct owner o = owner_of(m, p);
	set_pid(m, row, o.pid);
	row->context = o.context;
	row->pasid = p->pasid;
	row->announced = p->announced;
	row->mapped = p->queues;
	row->quantum = p->quantum;
	row->gws = p->gws;
	row->sdma = p->sdma;
	row->page_table = p->page_table;
	for (uint32_t i = p->queue; i < p->queue + p->queues; i++)
		if (add_queue(m, &rls->queues[i]))
			return -1;
	return o.block == NONE ? 0 : add_missing(m, o.block);
}

// --- lists ---

static int add_node(struct maker *m)
{
	const struct rls *rls = &m->l->queues.rls;
	const struct rls_node *n = m->node;
	mark_mapped(m);
	uint32_t first = n->processes ? rls->processes[n->process].queue : n->queue + n->queues;
	// A list that begins in the middle has queues before its first process.
	for (uint32_t i = n->queue; i < first; i++)
		if (add_queue(m, &rls->queues[i]))
			return -1;
	for (uint32_t i = n->process; i < n->process + n->processes; i++)
		if (add_process(m, &rls->processes[i]))
			return -1;
	if (n->chained && !add_row(m, "RUN_LIST"))
		return -1;
	m->r->damaged += n->damaged;
	// MES never has a list; and a damaged one leaves open what it had.
	if (n->damaged || n->state == RLS_UNKNOWN || gfx_caps(slot_rows_gen(m->l, n->gpu_id))->mes)
		return 0;
	return add_missing(m, NONE);
}

int runlist_make(struct runlist *r, const struct slot_rows *l)
{
	struct maker m = {.r = r, .l = l};
	int err = 0;
	*r = (struct runlist){0};
	m.listed = calloc(l->queues.mqds.nqueues + 1, sizeof(*m.listed));
	if (!m.listed)
		return -1;
	for (size_t i = 0; !err && i < l->queues.rls.nnodes; i++) {
		m.node = &l->queues.rls.nodes[i];
		err = add_node(&m);
	}
	free(m.listed);
	return err;
}

void runlist_fini(struct runlist *r)
{
	free(r->rows);
	*r = (struct runlist){0};
}
