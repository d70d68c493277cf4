// Rows of queues from sysfs, /proc, indices and holders; see queue_rows.h.
#include "common/rows/queue_rows.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/holder/measure.h"
#include "common/host/root.h"

void queue_row_clear(struct queue_row *r)
{
	static const struct queue_row unknown = {
		.pid = INT64_MIN,
		.gpu_id = KFD_UNKNOWN,
		.qid = KFD_UNKNOWN,
		.context = KFD_UNKNOWN,
		.gpu = {.index = KFD_UNKNOWN, .node = KFD_UNKNOWN},
		.process = {.ns_pid = INT64_MIN, .traced = -1},
		.usage = {0, 0, KFD_UNKNOWN, KFD_UNKNOWN, KFD_UNKNOWN, KFD_UNKNOWN, KFD_UNKNOWN},
		.now = {.read = KFD_UNKNOWN, .write = KFD_UNKNOWN, .holder = INT64_MIN},
		.v = {[0 ... MQD_SUMMARY - 1] = MQD_UNKNOWN},
		.on_hw = -1,
		.mqd = {.index = UINT32_MAX},
	};
	*r = unknown;
}

// --- what gpq snapshot adds to a recorded host ---

bool recorded_chosen(struct pids *to)
{
	enum { MOST = 1 << 16 }; // limit in bytes of the list: pids_add() takes quadratic time
	SCOPED(buf_fini) struct buf b = {0};
	char bad[32];
	const char *line = !host_is_live() && host_read(&b, "/MANIFEST") > 0
				   ? strstr(b.data, "\n" RECORDED_CHOSEN)
				   : NULL;
	const char *end = b.data ? strstr(b.data, "\n\n") : NULL; // end of the head of /MANIFEST
	const bool chosen = line && line < end;
	if (chosen) {
		line += strlen("\n" RECORDED_CHOSEN);
		char *text = xasprintf("%.*s", (int)strcspn(line, "\n"), line);
		text[strnlen(text, MOST)] = '\0';
		pids_add(to, text, bad);
		free(text);
	}
	return chosen;
}

// --- members about the process ---

static void fill_proc_status(struct queue_row *r, const struct process_info *who)
{
	if (who->error) {
		if (who->error == ENOENT || who->error == ESRCH) // other errors: state unknown
			r->process.state = "gone";
		return;
	}
	r->process.state = who->proc.state == 'Z' || who->proc.state == 'X' ? "zombie" : "alive";
	r->process.traced = who->proc.tracer < 0 ? -1 : who->proc.tracer != 0;
	if (who->proc.ns_pid)
		r->process.ns_pid = who->proc.ns_pid;
	if (*who->proc.comm)
		r->process.comm = who->proc.comm;
	if (who->proc.uid != UINT64_MAX)
		r->process.user = proc_user(who->proc.uid);
}

static void fill_proc_container(const struct queue_rows *q, struct queue_row *r,
				const struct process_info *who)
{
	char name[128];
	r->process.job = *who->container.job ? who->container.job : NULL;
	if (!*who->container.id)
		return;
	r->process.container_id = who->container.id;
	r->process.container = who->short_id;
	r->process.pod = *who->container.pod ? who->container.pod : NULL;
	r->process.runtime = *who->container.runtime ? who->container.runtime : NULL;
	if ((q->how->want & READ_CONTAINER_NAME) &&
	    container_name(&who->container, name, sizeof(name)))
		r->process.container_name = xstrdup(name);
}

void queue_row_set_process(const struct queue_rows *q, struct queue_row *r, pid_t pid)
{
	unsigned want = q->how->want;
	if (want & READ_CONTAINER_NAME)
		want |= READ_CONTAINER;
	want = want >> 8 & (PROCESS_STATUS | PROCESS_CONTAINER | PROCESS_CMDLINE);
	if (pid < 0)
		return;
	r->pid = pid;
	if (!want || q->foreign || q->how->mqds_file)
		return;
	const struct process_info *who = process_cache_get(q->processes, pid, want);
	if (want & PROCESS_STATUS)
		fill_proc_status(r, who);
	if (want & PROCESS_CONTAINER)
		fill_proc_container(q, r, who);
	if ((want & PROCESS_CMDLINE) && *who->cmdline)
		r->process.cmdline = who->cmdline;
}

// --- members about the GPU ---

void queue_row_set_gpu(const struct queue_rows *q, struct queue_row *r, uint32_t gpu_id)
{
	if (!gpu_id)
		return;
	const struct kfd_gpu *g = kfd_topology_find(&q->gpus, gpu_id);
	r->gpu_id = gpu_id;
	if (!g)
		return;
	r->gpu.index = g->index;
	r->gpu.node = g->node;
	r->gpu.gfx = *g->gfx ? g->gfx : NULL;
	r->gpu.bdf = *g->bdf ? g->bdf : NULL;
}

// --- what only a running host shows: indices now, and the holder of a suspended queue ---

// Facts: [kfd.indices], [kfd.suspend-invisible].

static const struct kfd_holding *holding_of(const struct queue_rows *q, const struct queue_row *r)
{
	const struct kfd_holding *h = kfd_holding_of(q->holdings, q->nholdings, (pid_t)r->pid);
	// Queue ids of a secondary context start at 0 again, and no debugger can suspend its
	// queues.
	if (r->context != KFD_UNKNOWN)
		return NULL;
	for (size_t i = 0; h && i < h->answer.num; i++)
		if (h->answer.queues[i].queue.queue_id == r->qid)
			return h;
	return NULL;
}

static void set_indices(struct queue_row *r, uint64_t read, uint64_t write)
{
	r->now.read = read;
	r->now.write = write;
	// The GPU may take packets between the reads of the two indices, so `read` can be greater.
	r->v[MQD_D_BACKLOG] = write > read ? write - read : 0;
	r->pointers = "process";
}

// Takes the backlog from the hardware slot of a queue that is, or may be, in one.
static void fill_slot(const struct queue_rows *q, struct queue_row *r)
{
	const struct hqd *s = r->on_hw ? hqds_find(&q->slots, r->gpu_id, r->v[MQD_V_BASE]) : NULL;
	uint64_t rptr, wptr;
	if (!s || !r->packets || !hqd_cp_get(&q->slots, s, MQD_V_RPTR, &rptr) ||
	    !hqd_cp_get(&q->slots, s, MQD_V_WPTR, &wptr))
		return;
	const uint64_t waiting = queue_row_waiting(r, rptr, wptr);
	if (waiting == MQD_UNKNOWN)
		return;
	r->v[MQD_D_BACKLOG] = waiting / queue_row_unit(r);
	r->pointers = "live";
}

// Reads the present indices of an AQL or SDMA queue. Those of a PM4 queue give no backlog: its read
// pointer wraps at the end of the ring, its write index does not.
static void fill_live_indices(struct queue_row *r)
{
	struct kfd_queue_entry where = {.read_pointer_address = r->v[MQD_V_RPTR_ADDR],
					.write_pointer_address = r->v[MQD_V_WPTR_ADDR]};
	struct kfd_quiesce now;
	bool counts = r->packets ? queue_row_is_aql(r) : queue_row_is_sdma(r);
	if (!counts || where.read_pointer_address == MQD_UNKNOWN ||
	    where.write_pointer_address == MQD_UNKNOWN)
		return;
	kfd_quiesce_read((pid_t)r->pid, &where, 0, &now);
	if (now.has_indices)
		set_indices(r, now.read_index, now.write_index);
}

// Takes indices and holder from the file .now, which gpq snapshot adds to each queue in sysfs:
// "READ WRITE HOLDER", each a number or "-".
static void fill_recorded(const struct queue_rows *q, struct queue_row *r)
{
	SCOPED(buf_fini) struct buf b = {0};
	char context[32] = "", word[3][24] = {"-", "-", "-"};
	uint64_t read, write, holder;
	if (r->context != KFD_UNKNOWN)
		snprintf(context, sizeof(context), "context_%u/", (unsigned)r->context);
	if (host_read(&b, PATH("/sys/class/kfd/kfd/proc/%d/%squeues/%u/.now", (int)r->pid, context,
			       (unsigned)r->qid)) > 0)
		sscanf(b.data, "%23s %23s %23s", word[0], word[1], word[2]);
	if (q->how->want & READ_HOLDER && parse_u64(word[2], &holder) && holder <= INT32_MAX)
		r->now.holder = (int64_t)holder;
	if (q->how->want & READ_INDICES && parse_u64(word[0], &read) && parse_u64(word[1], &write))
		set_indices(r, read, write);
}

static const char *row_state(const struct queue_row *r)
{
	if (r->now.holder != INT64_MIN)
		return "suspended";
	if (r->on_hw < 0)
		return r->mqd.turns ? "takes-turns" : "unknown";
	if (!r->on_hw)
		return "off-hardware";
	const uint64_t backlog = r->v[MQD_D_BACKLOG];
	return backlog == MQD_UNKNOWN ? "mapped" : backlog ? "running" : "idle";
}

// Reads what tells where queues are now: the gpq holders of this host, or recorded slots.
static void load_holdings(struct queue_rows *q)
{
	q->live = host_is_live() && pids_are_host() && !q->how->mqds_file;
	bool wanted = q->how->want & (READ_HOLDER | READ_INDICES);
	// Only gpq snapshot, which always writes /MANIFEST, saves indices and holders.
	q->noted = wanted && !host_is_live() && !q->how->mqds_file &&
		   host_access("/MANIFEST", F_OK) == 0;
	if (q->live && (q->how->want & READ_HOLDER))
		q->nholdings = kfd_holdings(&q->holdings, false);
	SCOPED(buf_fini) struct buf text = {0};
	if (q->how->want & READ_INDICES && !host_is_live() && !q->how->mqds_file &&
	    host_read(&text, HQDS_PATH) > 0)
		hqds_parse(&q->slots, text.data, text.len);
}

// Adds the present indices and the holder of a queue, and derives its state.
static void fill_live(const struct queue_rows *q, struct queue_row *r)
{
	const struct kfd_holding *h = holding_of(q, r);
	if (h && h->answer.holder)
		r->now.holder = h->answer.holder;
	if (q->live && (q->how->want & READ_INDICES))
		fill_live_indices(r);
	if (q->noted && r->qid != KFD_UNKNOWN)
		fill_recorded(q, r);
	if (r->v[MQD_D_BACKLOG] == MQD_UNKNOWN)
		fill_slot(q, r);
	else if (!r->pointers)
		r->pointers = "saved";
	r->state = row_state(r);
}

static bool row_is_off(const struct queue_row *r)
{
	return r->state &&
	       (strcmp(r->state, "off-hardware") == 0 || strcmp(r->state, "evicted") == 0);
}

// Is this queue off hardware, along with all others of its context on its GPU?
static bool all_off(const struct queue_rows *q, const struct queue_row *r)
{
	if (!row_is_off(r) || r->gpu_id == KFD_UNKNOWN)
		return false;
	for (const struct queue_row *x = q->rows; x < q->rows + q->n; x++)
		if (x->pid == r->pid && x->gpu_id == r->gpu_id && x->context == r->context &&
		    x->qid != KFD_UNKNOWN && !row_is_off(x))
			return false;
	return true;
}

// Is it impossible that a debugger has suspended the queue? A debugger reaches only the primary
// context, and traces the process, unless the driver lets a detached debugger still hold queues.
static bool cannot_be_held(const struct queue_rows *q, const struct queue_row *r)
{
	return r->context != KFD_UNKNOWN ||
	       (r->process.traced == 0 &&
		kfd_driver_fact(&q->driver, KFD_FACT_UNTRACED_DEBUGGER) == KFD_ANSWER_NO);
}

// Finds evicted queues, once all rows are known: if all queues of a context are off a GPU, and no
// debugger can have suspended them, the driver has evicted them.
static void find_evicted(struct queue_rows *q)
{
	for (size_t i = 0; i < q->n; i++) {
		struct queue_row *r = &q->rows[i];
		if (!all_off(q, r))
			continue;
		if (cannot_be_held(q, r))
			r->state = "evicted";
		else
			r->doubtful = r->process.traced == 0;
	}
}

// --- adding rows ---

// Adds a row in which everything but the process is unknown.
static struct queue_row *add_queue_row(struct queue_rows *q, pid_t pid)
{
	ARRAY_GROW(q->rows, q->cap, q->n);
	struct queue_row *r = &q->rows[q->n++];
	queue_row_clear(r);
	r->seq = (uint32_t)(q->n - 1);
	queue_row_set_process(q, r, pid);
	return r;
}

static void row_of_queue(struct queue_rows *q, const struct kfd_proc *proc, size_t index)
{
	const struct kfd_queue *queue = &q->procs.queues[index];
	struct queue_row *r = add_queue_row(q, proc->pid);
	const struct kfd_usage *u =
		kfd_procs_usage(&q->procs, &q->procs.contexts[queue->owner], queue->gpu_id);
	r->qid = queue->qid;
	r->context = queue->context < 0 ? KFD_UNKNOWN : (uint64_t)queue->context;
	r->type = kfd_queue_type_name(queue->type);
	r->v[MQD_V_RING_BYTES] = queue->bytes;
	queue_row_set_gpu(q, r, queue->gpu_id);
	r->usage.pasid = proc->pasid;
	if (u)
		r->usage = *u;
	if (q->join.queues)
		queue_rows_fill_joined(q, r, index);
	fill_live(q, r);
}

void add_count(uint64_t *sum, uint64_t count)
{
	*sum = *sum == KFD_UNKNOWN || count == KFD_UNKNOWN ? KFD_UNKNOWN : *sum + count;
}

uint64_t queue_rows_usage(const struct queue_rows *q, const struct kfd_proc *proc, size_t member)
{
	uint64_t sum = proc->usages ? 0 : KFD_UNKNOWN, one;
	for (uint32_t i = 0; i < proc->usages; i++) {
		const struct kfd_usage *u = &q->procs.usages[proc->usage + i];
		const struct kfd_gpu *g = kfd_topology_find(&q->gpus, u->gpu_id);
		memcpy(&one, (const char *)u + member, sizeof(one));
		if (!g || g->selected)
			add_count(&sum, one);
	}
	return sum;
}

// Adds a row for a process without queues, with its counters summed over all GPUs.
static void row_of_idle(struct queue_rows *q, const struct kfd_proc *proc)
{
	struct kfd_usage *all = &add_queue_row(q, proc->pid)->usage;
	all->pasid = proc->pasid;
	all->vram_bytes = QUEUE_ROWS_USAGE(q, proc, vram_bytes);
	all->evicted_ns = QUEUE_ROWS_USAGE(q, proc, evicted_ns);
	all->sdma_ns = QUEUE_ROWS_USAGE(q, proc, sdma_ns);
}

// Adds rows for a process that mqds has and sysfs has not: after exec, its directory in sysfs may
// be missing [kfd.proc-life].
static void rows_of_mqds(struct queue_rows *q, const struct mqds_proc *p)
{
	for (uint32_t i = p->first; i < p->first + p->queues; i++) {
		if (!mqd_is_user(&q->mqds.queues[i]))
			continue;
		struct queue_row *r = add_queue_row(q, p->pid);
		r->usage.pasid = p->pasid < 0 ? KFD_UNKNOWN : (uint64_t)p->pasid;
		queue_row_set_mqd(q, r, i);
		fill_live(q, r);
	}
}

// Did gpq snapshot leave out this process? The dumps that it saves have all processes.
static bool is_pid_left_out(const struct queue_rows *q, pid_t pid)
{
	return q->chosen_only && !pids_has(&q->chosen, pid);
}

static void make_queue_rows(struct queue_rows *q)
{
	const struct queue_rows_how *how = q->how;
	q->chosen_only = !how->mqds_file && recorded_chosen(&q->chosen);
	for (size_t i = 0; i < q->procs.nprocs; i++) {
		const struct kfd_proc *proc = &q->procs.procs[i];
		const uint64_t memory = QUEUE_ROWS_USAGE(q, proc, vram_bytes);
		for (uint32_t k = 0; k < proc->queues; k++)
			row_of_queue(q, proc, proc->queue + k);
		if (!proc->queues &&
		    (how->idle || (how->memory && memory && memory != KFD_UNKNOWN)))
			row_of_idle(q, proc);
	}
	for (size_t i = 0; i < q->mqds.nprocs; i++) {
		const struct mqds_proc *p = &q->mqds.procs[i];
		const struct kfd_proc *known = kfd_procs_find(&q->procs, p->pid);
		if ((known && (known->queues || !known->error)) ||
		    (how->keep && !how->keep(how->arg, p->pid)) || is_pid_left_out(q, p->pid))
			continue;
		rows_of_mqds(q, p);
		if (!p->queues && how->idle && how->mqds_file)
			add_queue_row(q, p->pid);
	}
}

// --- loading all rows ---

static int load_host_queues(struct queue_rows *q)
{
	const struct queue_rows_how *how = q->how;
	unsigned want = how->want;
	if (want & READ_MQD)
		want |= READ_GPU | READ_TYPE | READ_SIZE;
	if (want & (READ_VRAM | READ_SDMA | READ_EVICTED | READ_CU | READ_PASID))
		want |= READ_GPU;
	// The low bits are those of enum kfd_want.
	struct kfd_procs_how procs = {.want = (want & 255) |
					      (how->idle || how->memory ? KFD_WANT_IDLE_GPUS : 0) |
					      (want & READ_MQD ? KFD_WANT_JOIN : 0),
				      .keep = how->keep,
				      .arg = how->arg};
	q->foreign = (want & (READ_STATUS | READ_CONTAINER | READ_CMDLINE)) &&
		     (host_only_dumps() || !pids_are_host());
	if (host_only_dumps())
		return GPQ_OK;
	if (kfd_procs_read(&q->procs, &procs))
		return err_sys(errno,
			       host_is_live()
				       ? "it takes Linux 5.8 or later; gpq gpus --check tells more"
				       : "it was not recorded, or the kernel was older than 5.8",
			       "/sys/class/kfd/kfd/proc");
	if (want & (READ_GPU | READ_BDF)) // a missing topology is no error: only GPUs get no names
		kfd_topology_load(&q->gpus, want & READ_BDF ? KFD_TOPOLOGY_BDF : 0);
	return GPQ_OK;
}

COMPARE_BY_BOTH(by_pid_and_place, struct queue_row, pid, seq)

int queue_rows_load(struct queue_rows *q, struct process_cache *processes,
		    const struct queue_rows_how *how)
{
	q->how = how;
	q->processes = processes;
	q->mqds_error = ENODATA;
	if (!how->mqds_file)
		kfd_driver_read(&q->driver, 0);
	int status = how->mqds_file ? GPQ_OK : load_host_queues(q);
	if (!status && (how->mqds_file || how->want & READ_MQD || host_only_dumps()))
		status = queue_rows_load_mqds(q);
	if (status)
		return status;
	load_holdings(q);
	make_queue_rows(q);
	// Rows of processes that only mqds has were added last: sort them in by PID.
	if (!how->mqds_file && q->n)
		qsort(q->rows, q->n, sizeof(*q->rows), by_pid_and_place);
	find_evicted(q);
	return GPQ_OK;
}

void queue_rows_fini(struct queue_rows *q)
{
	for (size_t i = 0; i < q->n; i++)
		free(q->rows[i].process.container_name);
	free(q->rows);
	free(q->chosen.v);
	for (size_t i = 0; q->cu_masks && i < q->mqds.nqueues; i++)
		free(q->cu_masks[i].mask);
	free(q->cu_masks);
	free(q->summaries);
	free(q->verdicts);
	free(q->gens);
	rls_fini(&q->rls);
	hqds_fini(&q->slots);
	kfd_holdings_free(q->holdings, q->nholdings);
	join_fini(&q->join);
	mqds_fini(&q->mqds);
	buf_fini(&q->text);
	buf_fini(&q->rls_text);
	kfd_procs_fini(&q->procs);
	kfd_topology_fini(&q->gpus);
	*q = (struct queue_rows){0};
}
