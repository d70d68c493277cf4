// Finds the rings of queues; see rings.h.
#include "common/why/rings.h"

#include "common/cli/err.h"
#include "common/holder/group.h"
#include "common/host/root.h"
#include "common/why/shared.h"

#define NEXT_ROOT \
	"as root; or, for a process of one's own, with --attach, whose help says what it costs"

// --- addresses of rings and indices ---

static enum ring_kind ring_kind_of(const struct queue_row *row)
{
	if (queue_row_is_sdma(row))
		return RING_SDMA;
	if (!row->packets)
		return RING_NONE;
	return queue_row_is_aql(row) ? RING_AQL : RING_PM4;
}

// Returns the length of an SDMA linear copy packet in dwords; 0: unknown. The packet is longer on
// gfx12; generations older than gfx8 were not looked up.
static unsigned copy_dwords(const struct queue_rows *q, const struct queue_row *row)
{
	const enum gfx_gen gen = queue_rows_gen(q, (uint32_t)row->gpu_id);
	return gen >= GFX8 && gen <= GFX11 ? 7 : 0;
}

// Returns the address of the write index. The MQD of an SDMA queue does not have it, but the
// runlist has it for every queue that it maps.
static uint64_t write_address(const struct queue_rows *q, const struct queue_row *row)
{
	const struct rls_node *n = rls_find(&q->rls, (uint32_t)row->gpu_id);
	const uint64_t known = row->v[MQD_V_WPTR_ADDR];
	for (uint32_t i = 0; n && known == MQD_UNKNOWN && i < n->queues; i++)
		if (q->rls.queues[n->queue + i].doorbell == row->v[MQD_V_DOORBELL])
			return q->rls.queues[n->queue + i].wptr;
	return known;
}

static struct ring ring_of_row(const struct queue_rows *q, const struct queue_row *row)
{
	return (struct ring){
		.kind = ring_kind_of(row),
		.base = row->v[MQD_V_RING],
		.bytes = row->v[MQD_V_RING_BYTES],
		.read_at = row->v[MQD_V_RPTR_ADDR],
		.write_at = write_address(q, row),
		.copy_dwords = copy_dwords(q, row),
	};
}

// --- addresses from the debug interface, by a holder ---

static struct queue_row *row_with_id(struct queue_rows *q, pid_t pid, uint32_t id)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->rows[i].pid == pid && q->rows[i].qid == id &&
		    q->rows[i].context == KFD_UNKNOWN)
			return &q->rows[i];
	return NULL;
}

static void take_entry(struct queue_row *row, const struct kfd_queue_entry *e)
{
	row->v[MQD_V_RING] = e->ring_base_address;
	row->v[MQD_V_RING_BYTES] = e->ring_size;
	row->v[MQD_V_RPTR_ADDR] = e->read_pointer_address;
	row->v[MQD_V_WPTR_ADDR] = e->write_pointer_address;
	row->v[MQD_V_CTX_BASE] = e->ctx_save_restore_address;
	row->packets = e->queue_type == KFD_SNAPSHOT_COMPUTE_AQL ? "aql"
		       : e->queue_type == KFD_SNAPSHOT_COMPUTE   ? "pm4"
								 : NULL;
}

// Adds a row for each queue of the driver's answer.
static void add_rows(struct queue_rows *q, const struct group_member *m)
{
	static const char *const types[] = {
		[KFD_SNAPSHOT_COMPUTE] = "compute",
		[KFD_SNAPSHOT_SDMA] = "sdma",
		[KFD_SNAPSHOT_COMPUTE_AQL] = "compute",
		[KFD_SNAPSHOT_SDMA_XGMI] = "sdma-xgmi",
	};
	for (size_t i = 0; i < m->link.answer.num; i++) {
		const struct kfd_outcome *o = &m->link.answer.queues[i];
		struct queue_row *row = ARRAY_ADD(q->rows, q->cap, q->n);
		queue_row_clear(row);
		queue_row_set_process(q, row, m->target.pid);
		queue_row_set_gpu(q, row, o->queue.gpu_id);
		row->qid = o->queue.queue_id;
		if (o->queue.queue_type < COUNT(types))
			row->type = types[o->queue.queue_type];
		if (o->result == KFD_RESULT_SUSPENDED)
			row->now.holder = m->link.answer.holder;
	}
}

static void take_entries(struct queue_rows *q, const struct group_member *m)
{
	for (size_t i = 0; i < m->link.answer.num; i++) {
		const struct kfd_queue_entry *e = &m->link.answer.queues[i].queue;
		struct queue_row *row = row_with_id(q, m->target.pid, e->queue_id);
		if (row)
			take_entry(row, e);
	}
}

// In a PID namespace of its own, gpq's PIDs are those of the debug interface, not those of sysfs
// and debugfs [kfd.pids].
static bool is_in_namespace(void)
{
	return host_is_live() && !pids_are_host();
}

// Asks the holders of the processes for the addresses of their queues. A holder that is started for
// this ends with the connection, and so does its debug session. `pids`: processes whose rows are
// made of the answers; NULL: those of the rows.
static int attach_processes(struct queue_rows *q, const struct pids *pids)
{
	const struct group_talk talk = {.request = "queues addresses", .start = true};
	SCOPED(group_fini) struct group g = {.dry = true};
	int status = GPQ_OK;
	err_hint(NULL, "--attach: the driver takes all queues of the GPUs off the hardware once");
	for (size_t i = 0; i < q->n; i++)
		if (q->rows[i].qid != KFD_UNKNOWN && !group_has(&g, (pid_t)q->rows[i].pid))
			group_add(&g, (pid_t)q->rows[i].pid, NULL);
	for (size_t i = 0; pids && i < pids->n; i++)
		group_add(&g, pids->v[i], NULL);
	group_request(&g, &talk);
	group_answers(&g, &talk);
	for (size_t i = 0; i < g.n; i++) {
		const struct group_member *m = g.v[i];
		if (m->state == MEMBER_FAILED) {
			status = err_fail((enum gpq_exit)m->failure.status, NULL,
					  "pid %d: --attach: %s", (int)m->target.pid,
					  m->failure.text);
			break;
		}
		if (pids)
			add_rows(q, m);
		take_entries(q, m);
	}
	group_release(&g);
	return status;
}

// --- choosing queues ---

static int refuse_rings(const struct queue_rows *q, const struct rings_how *how)
{
	const int error = q->mqds_error;
	if (how->attach && !host_is_live())
		return err_fail(GPQ_USAGE, "leave out --attach, or --sysroot and GPQ_SYSROOT",
				"--attach asks a running driver, and this is a recorded host");
	if (is_in_namespace() && (!how->attach || !how->pick->pids.n || pick_needs_host(how->pick)))
		return err_fail(GPQ_UNSUPPORTED,
				"run gpq on the host; or with --attach and -p PID, and no other "
				"choice of processes: the help of --attach says what it costs",
				"KFD has PIDs of the host, and /proc those of a container");
	// If reading mqds times out, rings are unknown, but the queues are shown.
	if (!error || error == ETIMEDOUT || how->attach)
		return GPQ_OK;
	return err_fail(error == EACCES || error == EPERM ? GPQ_DENIED : GPQ_UNSUPPORTED,
			host_is_live() ? NEXT_ROOT : "gpq snapshot records it as root",
			"where the rings are is in " MQDS_PATH ": %s", strerror(error));
}

static bool pid_owns_row(const struct queue_rows *q, pid_t pid)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->rows[i].pid == pid)
			return true;
	return false;
}

// Reports PIDs of -p that own no queue. Returns GPQ_OK if each owns one; after messages GPQ_PARTIAL
// if some own none, GPQ_NOTFOUND if all own none.
static int check_ring_pids(const struct picked *from)
{
	const struct queue_rows *q = &from->rows;
	const struct pick *pick = &from->pick;
	const struct pick_opts *o = pick->opts;
	size_t missing = 0;
	bool any = false;
	for (size_t i = 0; i < q->n; i++)
		any |= !pids_has(&from->more, (pid_t)q->rows[i].pid);
	for (size_t i = 0; i < o->pids.n; i++) {
		const pid_t pid = o->ns_pid && i < pick->pids.n ? pick->pids.v[i] : o->pids.v[i];
		if (pid_owns_row(q, pid) || (o->tree && any))
			continue;
		if (missing++ < 20)
			err_fail(GPQ_NOTFOUND, "gpq queues lists those that do",
				 "pid %d: owns no queue", (int)pid);
	}
	if (!any && !missing && pick_asks(o))
		return picked_report_none(from);
	return !missing ? GPQ_OK : any ? GPQ_PARTIAL : GPQ_NOTFOUND;
}

// The queues of those who share memory with the chosen processes: they may be what is waited for.
static void find_sharers(struct picked *p)
{
	SCOPED(kfd_procs_fini) struct kfd_procs procs = {0};
	struct pids chosen = {0}, others = {0};
	if (kfd_procs_read(&procs, &(struct kfd_procs_how){0}))
		return;
	for (size_t i = 0; i < procs.nprocs; i++)
		pids_push(pick_keeps(&p->pick, procs.procs[i].pid) ? &chosen : &others,
			  procs.procs[i].pid);
	for (size_t before = SIZE_MAX; before != p->more.n;) { // these share memory with others
		before = p->more.n;
		shared_maps_with(&chosen, &others, &p->more);
		for (size_t i = before; i < p->more.n; i++)
			pids_push(&chosen, p->more.v[i]);
	}
	free(chosen.v);
	free(others.v);
}

static int load_ring_rows(struct rings *r, const struct rings_how *how)
{
	const unsigned foreign = is_in_namespace() ? READ_MQD | READ_HOLDER | READ_CU : 0;
	const struct queue_rows_how rows = {.want = (how->want | READ_MQD | READ_GPU | READ_TYPE |
						     READ_SIZE | READ_STATUS | READ_CONTAINER |
						     READ_BDF) &
						    ~foreign};
	struct queue_rows *q = &r->from.rows;
	int status = picked_init(&r->from, (struct host_choice){how->pick, how->queues});
	if (how->whole && !how->attach && !foreign && pick_asks(how->pick))
		r->from.find_more = find_sharers;
	if (!status)
		status = picked_load(&r->from, &rows);
	if (!status)
		status = refuse_rings(q, how);
	if (!status && foreign) { // what has the same PIDs in sysfs are other processes
		q->n = 0;
		q->foreign = false;
		status = attach_processes(q, &how->pick->pids);
	}
	if (!status)
		status = picked_check_ids(&r->from);
	if (!status && how->queues->prio && !q->mqds_error)
		status = prio_check(&r->from.queues.prio, q->prio_written);
	if (!status && q->mqds_error && how->attach && !foreign)
		status = attach_processes(q, NULL);
	return status;
}

// --- MQDs whose queue is unknown ---

static bool is_joined(const struct queue_rows *q, uint32_t mqd)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->rows[i].mqd.index == mqd)
			return true;
	return false;
}

// Makes rows of MQDs whose queues are unknown: where several MQDs fit several queues of a process,
// their rings are known, and only the queue ids are not.
static void find_spare(struct rings *r)
{
	const struct queue_rows *q = &r->from.rows;
	size_t cap = 0;
	for (size_t p = 0; p < q->mqds.nprocs; p++) {
		const struct mqds_proc *proc = &q->mqds.procs[p];
		if (!pid_owns_row(q, proc->pid))
			continue;
		for (uint32_t i = proc->first; i < proc->first + proc->queues; i++) {
			if (!mqd_is_user(&q->mqds.queues[i]) || is_joined(q, i))
				continue;
			ARRAY_GROW(r->spare, cap, r->nspare);
			struct queue_row *row = &r->spare[r->nspare++];
			queue_row_clear(row);
			queue_row_set_process(q, row, proc->pid);
			queue_row_set_mqd(q, row, i);
		}
	}
}

// --- the list of rings ---

static void add_ring(struct rings *r, const struct queue_row *row)
{
	// Unless -Q names it, a queue without a ring is left out if its process and GPU have a
	// spare row, as that is the row of its MQD.
	const bool ringless = row->v[MQD_V_RING] == MQD_UNKNOWN && row->qid != KFD_UNKNOWN;
	for (size_t i = 0; ringless && !r->from.queues.n && i < r->nspare; i++)
		if (r->spare[i].pid == row->pid && r->spare[i].gpu_id == row->gpu_id)
			return;
	r->v[r->n++] = (struct ring_queue){.row = row,
					   .ring = ring_of_row(&r->from.rows, row),
					   .slot_read = KFD_UNKNOWN,
					   .slot_write = KFD_UNKNOWN,
					   .slot_error = KFD_UNKNOWN,
					   .in_slot = -1,
					   .chosen = picked_keeps(&r->from, row) == KFD_ANSWER_YES};
}

static int by_pid_and_id(const void *a, const void *b)
{
	const struct ring_queue *x = a, *y = b;
	int r = ORDER(x->row->pid, y->row->pid);
	if (!r) // a queue whose id is unknown sorts behind those with one
		r = ORDER(x->row->qid == KFD_UNKNOWN, y->row->qid == KFD_UNKNOWN);
	return r ? r : ORDER(x->row, y->row);
}

static bool process_is_chosen(const struct rings *r, int64_t pid)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].chosen && r->v[i].row->pid == pid)
			return true;
	return false;
}

// Keeps the chosen queues, and with `whole` all other queues of their processes and of those that
// share memory with them.
static void keep_chosen_rings(struct rings *r, bool whole)
{
	size_t n = 0;
	bool any = false;
	for (size_t i = 0; i < r->n; i++)
		any |= r->v[i].chosen;
	for (size_t i = 0; i < r->n && any; i++) {
		const int64_t pid = r->v[i].row->pid;
		if (r->v[i].chosen ||
		    (whole && (process_is_chosen(r, pid) || pids_has(&r->from.more, (pid_t)pid))))
			r->v[n++] = r->v[i];
	}
	r->n = n;
}

static void warn_memory(const struct ring_process *p)
{
	const bool denied = p->error == EACCES || p->error == EPERM;
	if (p->error)
		err_warn(denied           ? "as root"
			 : host_is_live() ? NULL
					  : "gpq snapshot records it as root",
			 "pid %d: its memory: %s", (int)p->pid, strerror(p->error));
}

static void open_memories(struct rings *r)
{
	r->processes = xcalloc(r->n ? r->n : 1, sizeof(*r->processes));
	size_t same = 0;
	for (size_t i = 0; i < r->n; i++) {
		const pid_t pid = (pid_t)r->v[i].row->pid;
		struct ring_process *p = &r->processes[r->nprocesses];
		if (!i || r->v[i - 1].row->pid != pid) {
			p->pid = pid;
			p->error = memory_open(&p->memory, pid) ? errno : 0;
			// What is wrong with all is told once. Dumps alone have no memory.
			if (r->how->before || host_only_dumps())
				;
			else if (r->nprocesses && p->error && p->error == p[-1].error)
				same++;
			else
				warn_memory(p);
			r->nprocesses++;
		}
		r->v[i].process = r->nprocesses - 1;
	}
	if (same)
		err_warn(NULL, "the memory of %zu more processes: the same", same);
}

// --- values from hardware slots ---

// Sets what the slot `s` tells of its queue, unless that of another XCC is further behind.
static void set_slot(struct ring_queue *q, const struct hqd_row *s)
{
	uint64_t read, write;
	queue_row_indices(q->row, s->q.v[MQD_V_RPTR], s->q.v[MQD_V_WPTR], true, &read, &write);
	if (write == MQD_UNKNOWN || (q->slot_read != KFD_UNKNOWN && q->slot_read <= read))
		return;
	q->slot_read = read;
	q->slot_write = write;
	q->slot_error = s->q.v[MQD_V_ERROR];
	memcpy(q->slot, s->slot, sizeof(q->slot));
}

void rings_read_slots(struct rings *r)
{
	SCOPED(process_cache_fini) struct process_cache cache = {0};
	SCOPED(slot_rows_fini) struct slot_rows slots = {0};
	const struct slot_rows_how how = {.likely = false};
	const int status = is_in_namespace() || host_access(HQDS_PATH, R_OK)
				   ? 1
				   : slot_rows_load(&slots, &cache, &how);
	for (size_t i = 0; i < r->n; i++) { // what an earlier reading told
		r->v[i].slot_read = r->v[i].slot_write = r->v[i].slot_error = KFD_UNKNOWN;
		r->v[i].in_slot = -1;
	}
	for (size_t k = 0; k < slots.n && !status; k++)
		for (size_t i = 0; i < r->n; i++) {
			struct ring_queue *q = &r->v[i];
			const struct queue_row *s = &slots.rows[k].q;
			const bool same = s->pid == q->row->pid && s->v[MQD_V_RING] == q->ring.base;
			if (s->gpu_id != q->row->gpu_id)
				continue;
			if (!queue_row_is_sdma(s) && !queue_row_is_sdma(q->row))
				q->in_slot = same || q->in_slot == 1;
			if (same)
				set_slot(q, &slots.rows[k]);
		}
	for (size_t i = 0; i < r->n && !status; i++) {
		struct ring_queue *q = &r->v[i];
		q->inversion = (struct slot_inversion){0};
		if (q->in_slot == 0 && q->row->on_hw != 1)
			slot_rows_find_inversion(&q->inversion, &slots, q->row);
	}
}

// --- loading all rings ---

int rings_load(struct rings *r, const struct rings_how *how)
{
	r->how = how;
	int status = load_ring_rows(r, how);
	if (status)
		return status;
	find_spare(r);
	r->v = xcalloc(r->from.rows.n + r->nspare + 1, sizeof(*r->v));
	for (size_t i = 0; i < r->from.rows.n; i++)
		if (r->from.rows.rows[i].qid != KFD_UNKNOWN ||
		    r->from.rows.rows[i].mqd.index != UINT32_MAX)
			add_ring(r, &r->from.rows.rows[i]);
	for (size_t i = 0; i < r->nspare; i++)
		add_ring(r, &r->spare[i]);
	qsort(r->v, r->n, sizeof(*r->v), by_pid_and_id);
	keep_chosen_rings(r, how->whole);
	status = check_ring_pids(&r->from);
	if (!r->n && !status && pick_queues_asks(how->queues))
		status = err_fail(GPQ_NOTFOUND, "gpq queues lists them",
				  "no queue that was asked for is there");
	if (status && status != GPQ_PARTIAL)
		return status;
	open_memories(r);
	return status;
}

struct memory_record *rings_record(const struct rings *r)
{
	for (size_t i = 0; i < r->nprocesses; i++)
		if (r->processes[i].memory.record)
			return r->processes[i].memory.record;
	return NULL;
}

void rings_fini(struct rings *r)
{
	for (size_t i = 0; i < r->nprocesses; i++)
		memory_close(&r->processes[i].memory);
	free(r->processes);
	free(r->v);
	free(r->spare);
	picked_fini(&r->from);
	*r = (struct rings){0};
}

int rings_unread(const struct rings *r)
{
	int error = 0;
	for (size_t i = 0; i < r->n; i++) {
		const int of = r->processes[r->v[i].process].error;
		if (r->v[i].chosen && !of)
			return GPQ_PARTIAL;
		error = r->v[i].chosen && !error ? of : error;
	}
	return !error                              ? GPQ_PARTIAL
	       : error == EACCES || error == EPERM ? GPQ_DENIED
	       : error == ENOENT || error == ESRCH ? GPQ_NOTFOUND
						   : GPQ_FAILED;
}

void rings_warn(const struct rings *r, const struct ring_queue *q, enum ring_problem p)
{
	char name[32] = "a queue";
	if (q->row->qid != KFD_UNKNOWN)
		snprintf(name, sizeof(name), "queue %u", (unsigned)q->row->qid);
	if (!r->processes[q->process].error)
		err_warn(NULL, "pid %d: %s: %s", (int)q->row->pid, name, ring_problem_text(p));
}
