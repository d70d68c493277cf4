// Rows of queues; see queue_rows.h.
#include "common/state/queue_rows_priv.h"

#include "common/cli/err.h"
#include "common/host/buf.h"
#include "common/host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct queue_row unknown_row = {
	.pid = INT64_MIN,
	.ns_pid = INT64_MIN,
	.gpu = KFD_UNKNOWN,
	.gpu_id = KFD_UNKNOWN,
	.qid = KFD_UNKNOWN,
	.context = KFD_UNKNOWN,
	.ring_bytes = KFD_UNKNOWN,
	.traced = -1,
	.vram_bytes = KFD_UNKNOWN,
	.evicted_ns = KFD_UNKNOWN,
	.sdma_ns = KFD_UNKNOWN,
	.cu_occupancy = KFD_UNKNOWN,
	.pasid = KFD_UNKNOWN,
	.ring_addr = MQD_UNKNOWN,
	.rptr_addr = MQD_UNKNOWN,
	.wptr_addr = MQD_UNKNOWN,
	.mqd_addr = MQD_UNKNOWN,
	.rptr = MQD_UNKNOWN,
	.wptr = MQD_UNKNOWN,
	.backlog = MQD_UNKNOWN,
	.doorbell = MQD_UNKNOWN,
	.prio = MQD_UNKNOWN,
	.pipe_prio = MQD_UNKNOWN,
	.vmid = MQD_UNKNOWN,
	.xccs = MQD_UNKNOWN,
	.ctx_addr = MQD_UNKNOWN,
	.ctx_bytes = MQD_UNKNOWN,
	.saved_bytes = MQD_UNKNOWN,
	.read_index = MQD_UNKNOWN,
	.error = MQD_UNKNOWN,
	.sdma_engine = MQD_UNKNOWN,
	.sdma_rlc = MQD_UNKNOWN,
	.read_now = MQD_UNKNOWN,
	.write_now = MQD_UNKNOWN,
	.holder = INT64_MIN,
	.on_hw = -1,
	.mqd = UINT32_MAX,
};

struct queue_row *queue_rows_add_row(struct queue_rows *q, pid_t pid)
{
	if (ARRAY_GROW(q->rows, q->cap, q->n))
		return NULL;
	struct queue_row *r = &q->rows[q->n++];
	*r = unknown_row;
	r->seq = (uint32_t)(q->n - 1);
	if (pid >= 0)
		r->pid = pid;
	return r;
}

static uint64_t times(uint64_t v, uint64_t factor)
{
	return v > KFD_UNKNOWN / factor ? KFD_UNKNOWN : v * factor;
}

// --- the process ---

static void fill_status(struct queue_row *r, const struct process_info *who)
{
	if (who->error) {
		// Any other reason than that it is no more leaves open whether it lives.
		bool gone = who->error == ENOENT || who->error == ESRCH;
		r->process = gone ? "gone" : NULL;
		return;
	}
	r->process = who->proc.state == 'Z' || who->proc.state == 'X' ? "zombie" : "alive";
	r->traced = who->proc.tracer < 0 ? -1 : who->proc.tracer != 0;
	if (who->proc.ns_pid)
		r->ns_pid = who->proc.ns_pid;
	if (*who->proc.comm)
		r->comm = who->proc.comm;
	if (who->proc.uid != UINT64_MAX)
		r->user = proc_user(who->proc.uid);
}

static void fill_container(struct queue_rows *q, struct queue_row *r,
			   const struct process_info *who)
{
	char name[128];
	if (!*who->container.id)
		return;
	r->container_id = who->container.id;
	r->container = who->short_id;
	r->runtime = *who->container.runtime ? who->container.runtime : NULL;
	if ((q->how->want & READ_CONTAINER_NAME) &&
	    container_name(&who->container, name, sizeof(name)))
		r->container_name = strdup(name);
}

static int fill_process(struct queue_rows *q, struct queue_row *r)
{
	static const struct {
		unsigned want, read;
	} map[] = {{READ_STATUS, PROCESS_STATUS},
		   {READ_CONTAINER | READ_CONTAINER_NAME, PROCESS_CONTAINER},
		   {READ_CMDLINE, PROCESS_CMDLINE}};
	unsigned want = 0;
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		want |= q->how->want & map[i].want ? map[i].read : 0;
	if (!want || q->foreign)
		return 0;
	const struct process_info *who = process_cache_get(q->processes, (pid_t)r->pid, want);
	if (!who)
		return -1;
	if (want & PROCESS_STATUS)
		fill_status(r, who);
	if (want & PROCESS_CONTAINER)
		fill_container(q, r, who);
	if ((want & PROCESS_CMDLINE) && *who->cmdline)
		r->cmdline = who->cmdline;
	return 0;
}

// --- the GPU ---

static void fill_gpu(const struct queue_rows *q, struct queue_row *r, uint32_t gpu_id)
{
	if (!gpu_id)
		return;
	const struct kfd_gpu *g = kfd_topology_find(&q->gpus, gpu_id);
	r->gpu_id = gpu_id;
	if (!g)
		return;
	r->gpu = g->index;
	r->gfx = *g->gfx ? g->gfx : NULL;
	r->bdf = *g->bdf ? g->bdf : NULL;
}

static void fill_usage(struct queue_row *r, const struct kfd_usage *u)
{
	r->vram_bytes = u->vram_bytes;
	r->evicted_ns = times(u->evicted_ms, 1000000);
	r->sdma_ns = times(u->sdma_us, 1000);
	r->cu_occupancy = u->cu_occupancy;
}

// --- rows ---

static int row_of_queue(struct queue_rows *q, const struct kfd_proc *proc, size_t index)
{
	const struct kfd_queue *queue = &q->procs.queues[index];
	struct queue_row *r = queue_rows_add_row(q, proc->pid);
	if (!r || fill_process(q, r))
		return -1;
	const struct kfd_usage *u =
		kfd_procs_usage(&q->procs, &q->procs.contexts[queue->owner], queue->gpu_id);
	r->qid = queue->qid;
	r->context = queue->context < 0 ? KFD_UNKNOWN : (uint64_t)queue->context;
	r->type = kfd_queue_type_name(queue->type);
	r->ring_bytes = queue->bytes;
	r->pasid = u ? u->pasid : proc->pasid;
	fill_gpu(q, r, queue->gpu_id);
	if (u)
		fill_usage(r, u);
	if (q->join.queues)
		queue_rows_fill_joined(q, r, index);
	queue_rows_fill_live(q, r);
	return 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a == KFD_UNKNOWN || b == KFD_UNKNOWN ? KFD_UNKNOWN : a + b;
}

// A process that opened KFD and owns no queue: its counters are summed over all GPUs.
static int row_of_idle(struct queue_rows *q, const struct kfd_proc *proc)
{
	struct kfd_usage all = {.vram_bytes = proc->usages ? 0 : KFD_UNKNOWN};
	struct queue_row *r = queue_rows_add_row(q, proc->pid);
	if (!r || fill_process(q, r))
		return -1;
	all.evicted_ms = all.sdma_us = all.vram_bytes;
	for (uint32_t i = 0; i < proc->usages; i++) {
		const struct kfd_usage *u = &q->procs.usages[proc->usage + i];
		all.vram_bytes = sum(all.vram_bytes, u->vram_bytes);
		all.evicted_ms = sum(all.evicted_ms, u->evicted_ms);
		all.sdma_us = sum(all.sdma_us, u->sdma_us);
	}
	all.cu_occupancy = KFD_UNKNOWN;
	fill_usage(r, &all);
	r->pasid = proc->pasid;
	return 0;
}

// Queues of a process that sysfs does not show: after exec its directory may be missing
// (facts 4.1).
static int rows_of_mqds(struct queue_rows *q, const struct mqds_proc *p)
{
	for (uint32_t i = p->first; i < p->first + p->queues; i++) {
		const struct mqd *m = &q->mqds.queues[i];
		struct queue_row *r = mqd_is_user(m) ? queue_rows_add_row(q, p->pid) : NULL;
		if (!mqd_is_user(m))
			continue;
		if (!r || (!q->how->mqds_file && fill_process(q, r)))
			return -1;
		r->type = m->kind == MQD_COMPUTE ? "compute" : m->kind == MQD_SDMA ? "sdma" : NULL;
		r->pasid = p->pasid < 0 ? KFD_UNKNOWN : (uint64_t)p->pasid;
		fill_gpu(q, r, m->gpu_id);
		queue_rows_fill_mqd(q, r, i);
		queue_rows_fill_live(q, r);
	}
	return 0;
}

static const struct kfd_proc *find_proc(const struct kfd_procs *p, pid_t pid)
{
	for (size_t i = 0; i < p->nprocs; i++)
		if (p->procs[i].pid == pid)
			return &p->procs[i];
	return NULL;
}

static int rows_beside_sysfs(struct queue_rows *q)
{
	const struct queue_rows_how *how = q->how;
	for (size_t i = 0; i < q->mqds.nprocs; i++) {
		const struct mqds_proc *p = &q->mqds.procs[i];
		const struct kfd_proc *known = find_proc(&q->procs, p->pid);
		if (!p->queues || (known && (known->queues || !known->error)))
			continue;
		if (how->keep && !how->keep(how->arg, p->pid))
			continue;
		if (rows_of_mqds(q, p))
			return -1;
	}
	return 0;
}

static int rows_of_host(struct queue_rows *q)
{
	for (size_t i = 0; i < q->procs.nprocs; i++) {
		const struct kfd_proc *proc = &q->procs.procs[i];
		for (uint32_t k = 0; k < proc->queues; k++)
			if (row_of_queue(q, proc, proc->queue + k))
				return -1;
		if (!proc->queues && q->how->idle && row_of_idle(q, proc))
			return -1;
	}
	return rows_beside_sysfs(q);
}

// --- explaining ---

static bool is_null(const struct queue_row *r, size_t member)
{
	uint64_t v;
	memcpy(&v, (const char *)r + member, sizeof(v));
	return v == KFD_UNKNOWN;
}

// sysfs files that were wanted and gave nothing: gone meanwhile, refused, or no number in them.
void queue_rows_explain_sysfs(const struct queue_rows *q)
{
	static const struct {
		unsigned want;
		size_t member;
		const char *what, *file;
	} files[] = {
		{READ_GPU, offsetof(struct queue_row, gpu_id), "GPU", "gpuid"},
		{READ_SIZE, offsetof(struct queue_row, ring_bytes), "RING", "size"},
	};
	if (q->how->mqds_file)
		return;
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		size_t n = 0;
		for (size_t i = 0; i < q->n; i++)
			n += q->rows[i].qid != KFD_UNKNOWN && is_null(&q->rows[i], files[f].member);
		if (n && (q->how->want & files[f].want))
			err_note("%s: unknown for %zu queues: sysfs file %s is missing, unreadable "
				 "or holds no number",
				 files[f].what, n, files[f].file);
	}
	size_t n = 0;
	for (size_t i = 0; i < q->n; i++)
		n += q->rows[i].qid != KFD_UNKNOWN && !q->rows[i].type;
	if (n && (q->how->want & READ_TYPE))
		err_note("TYPE: unknown for %zu queues: sysfs file type is missing, unreadable, or "
			 "a number newer "
			 "than this gpq",
			 n);
}

// --- loading ---

static int load_host(struct queue_rows *q)
{
	const struct queue_rows_how *how = q->how;
	unsigned want = how->want;
	if (want & READ_MQD)
		want |= READ_GPU | READ_TYPE | READ_SIZE;
	if (want & (READ_VRAM | READ_SDMA | READ_EVICTED | READ_CU | READ_PASID))
		want |= READ_GPU;
	// The low bits are those of enum kfd_want.
	struct kfd_procs_how procs = {.want = (want & 255) | (how->idle ? KFD_WANT_IDLE_GPUS : 0) |
					      (want & READ_MQD ? KFD_WANT_JOIN : 0),
				      .keep = how->keep,
				      .arg = how->arg};
	q->foreign = (want & (READ_STATUS | READ_CONTAINER | READ_CMDLINE)) && !pids_are_host();
	if (kfd_procs_read(&q->procs, &procs))
		return err_sys(errno,
			       host_is_live()
				       ? "it takes Linux 5.8 or later; gpq gpus --check tells more"
				       : "it was not recorded, or the kernel was older than 5.8",
			       "/sys/class/kfd/kfd/proc");
	if (want & (READ_GPU | READ_BDF)) {
		int error = kfd_topology_load(&q->gpus, want & READ_BDF ? KFD_TOPOLOGY_BDF : 0);
		if (error == -ENOMEM)
			return err_sys(ENOMEM, NULL, "topology");
	}
	return GPQ_OK;
}

static int by_place(const void *a, const void *b)
{
	const struct queue_row *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

// Rows that only mqds has come last; among the others they belong with their pid.
static void sort_rows(struct queue_rows *q)
{
	bool sorted = true;
	for (size_t i = 1; sorted && i < q->n; i++)
		sorted = q->rows[i - 1].pid <= q->rows[i].pid;
	if (!sorted)
		qsort(q->rows, q->n, sizeof(*q->rows), by_place);
}

int queue_rows_load(struct queue_rows *q, struct process_cache *processes,
		    const struct queue_rows_how *how)
{
	q->how = how;
	q->processes = processes;
	q->mqds_error = ENODATA;
	mqds_init(&q->mqds);
	rls_init(&q->rls);
	if (!how->mqds_file)
		kfd_driver_read(&q->driver, 0);
	int status = how->mqds_file ? GPQ_OK : load_host(q);
	if (!status && (how->mqds_file || how->want & READ_MQD))
		status = queue_rows_load_mqds(q);
	if (!status)
		status = queue_rows_load_holdings(q);
	if (status)
		return status;
	int err = 0;
	if (!how->mqds_file) {
		err = rows_of_host(q);
		sort_rows(q);
	}
	for (size_t i = 0; how->mqds_file && !err && i < q->mqds.nprocs; i++) {
		const struct mqds_proc *p = &q->mqds.procs[i];
		if (how->keep && !how->keep(how->arg, p->pid))
			continue;
		if (!p->queues && how->idle)
			err = queue_rows_add_row(q, p->pid) ? 0 : -1;
		else
			err = rows_of_mqds(q, p);
	}
	queue_rows_find_evicted(q);
	return err ? err_sys(ENOMEM, NULL, "list of queues") : GPQ_OK;
}

void queue_rows_fini(struct queue_rows *q)
{
	for (size_t i = 0; i < q->n; i++)
		free(q->rows[i].container_name);
	free(q->rows);
	free(q->summaries);
	free(q->verdicts);
	free(q->gens);
	rls_fini(&q->rls);
	kfd_holdings_free(q->holdings, q->nholdings);
	join_fini(&q->join);
	mqds_fini(&q->mqds);
	buf_fini(&q->text);
	buf_fini(&q->rls_text);
	kfd_procs_fini(&q->procs);
	kfd_topology_fini(&q->gpus);
	*q = (struct queue_rows){0};
}
