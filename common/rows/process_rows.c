// Rows of queues grouped by process; see process_rows.h.
#include "common/rows/process_rows.h"

// States of queues; the first that a queue of the process is in tells most about the process. Of
// those off the hardware: what to say if not all queues of the process are known to be off.
static const struct {
	const char *all, *partly;
} states[] = {{"suspended", "partly-suspended"},
	      {"evicted", "partly-evicted"},
	      {"off-hardware", "partly-off"},
	      {"running", NULL},
	      {"takes-turns", NULL},
	      {"mapped", NULL},
	      {"unknown", NULL},
	      {"idle", NULL}};

static unsigned state_rank(const char *state)
{
	unsigned i = 0;
	while (i < COUNT(states) && strcmp(state, states[i].all) != 0)
		i++;
	return i;
}

static void add_queue(struct process_row *p, const struct queue_row *r)
{
	const bool sdma = queue_row_is_sdma(r);
	const unsigned rank = state_rank(r->state);
	if (rank < state_rank(p->state))
		p->state = r->state;
	// Queues are in no other states than those of the table.
	const bool known = strcmp(r->state, "unknown") != 0;
	add_count(&p->off, known ? states[rank].partly != NULL : KFD_UNKNOWN);
	if (p->holder == INT64_MIN)
		p->holder = r->now.holder;
	if (!r->type)
		p->compute = p->sdma = KFD_UNKNOWN;
	else if (sdma)
		add_count(&p->sdma, 1);
	else
		add_count(&p->compute, 1);
	if (!sdma)
		add_count(&p->backlog, queue_row_is_aql(r) ? r->v[MQD_D_BACKLOG] : KFD_UNKNOWN);
}

static bool has_queue_on(const struct queue_row *r, size_t n, uint64_t gpu_id)
{
	for (size_t i = 0; i < n; i++)
		if (!r[i].hidden && r[i].gpu_id == gpu_id)
			return true;
	return false;
}

static bool has_memory_on(const struct queue_rows *q, const struct kfd_proc *proc, uint64_t gpu_id)
{
	for (uint32_t i = 0; proc && i < proc->usages; i++) {
		const struct kfd_usage *u = &q->procs.usages[proc->usage + i];
		if (u->gpu_id == gpu_id && u->vram_bytes != KFD_UNKNOWN && u->vram_bytes)
			return true;
	}
	return false;
}

static void add_gpu(struct process_row *p, const struct kfd_gpu *g)
{
	const char *blank = p->gpus.len ? " " : "";
	buf_printf(&p->gpus, "%s%" PRIu64, blank, g->index);
	buf_printf(&p->gpu_ids, "%s%" PRIu64, blank, g->gpu_id);
}

static void list_gpus(struct process_row *p, const struct queue_rows *q,
		      const struct kfd_proc *proc, const struct queue_row *r, size_t n)
{
	for (size_t i = 0; i < q->gpus.n; i++) {
		const struct kfd_gpu *g = &q->gpus.gpus[i];
		if (g->selected && g->index != KFD_UNKNOWN &&
		    (has_queue_on(r, n, g->gpu_id) || has_memory_on(q, proc, g->gpu_id)))
			add_gpu(p, g);
	}
}

// Makes the row of a process from its `n` rows of queues. Returns whether any of them is shown.
static bool make_process_row(struct process_row *p, const struct queue_rows *q,
			     const struct queue_row *r, size_t n)
{
	const struct kfd_proc *proc = kfd_procs_find(&q->procs, (pid_t)r->pid);
	bool shown = false;
	uint64_t queues = 0;
	*p = (struct process_row){
		.first = *r,
		.state = "no-queues",
		.vram_bytes = proc ? QUEUE_ROWS_USAGE(q, proc, vram_bytes) : KFD_UNKNOWN,
		.cus = proc ? QUEUE_ROWS_USAGE(q, proc, cu_occupancy) : KFD_UNKNOWN,
		.holder = INT64_MIN};
	for (size_t i = 0; i < n; i++) {
		shown |= !r[i].hidden;
		if (r[i].hidden || !r[i].state)
			continue;
		add_queue(p, &r[i]);
		queues++;
	}
	if (p->off != queues && states[state_rank(p->state)].partly)
		p->state = states[state_rank(p->state)].partly;
	if (r->process.state && strcmp(r->process.state, "alive") != 0)
		p->state = r->process.state;
	return shown;
}

static int by_memory(const void *a, const void *b)
{
	const struct process_row *x = a, *y = b;
	// Adding 1 turns KFD_UNKNOWN into the least number.
	const int order = ORDER(y->vram_bytes + 1, x->vram_bytes + 1);
	return order ? order : ORDER(x->first.pid, y->first.pid);
}

void process_rows_make(struct process_rows *p, const struct queue_rows *q, bool memory)
{
	for (size_t i = 0, n; i < q->n; i += n) {
		const struct queue_row *r = &q->rows[i];
		struct process_row row;
		for (n = 1; i + n < q->n && r[n].pid == r->pid;)
			n++;
		if (!make_process_row(&row, q, r, n) &&
		    !(memory && row.vram_bytes && row.vram_bytes != KFD_UNKNOWN))
			continue;
		list_gpus(&row, q, kfd_procs_find(&q->procs, (pid_t)r->pid), r, n);
		*ARRAY_ADD(p->rows, p->cap, p->n) = row;
	}
	ARRAY_SORT(p->rows, p->n, by_memory);
}

void process_rows_fini(struct process_rows *p)
{
	for (size_t i = 0; i < p->n; i++) {
		buf_fini(&p->rows[i].gpus);
		buf_fini(&p->rows[i].gpu_ids);
	}
	free(p->rows);
}
