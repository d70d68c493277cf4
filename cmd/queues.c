// gpq queues: options, columns, filters. The rows come from common/rows/queue_rows.h.
#include "cmd/command.h"

#include "common/pick/host_choice.h"

struct queues_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	const char *mqds;
	bool all;
	bool likely;
	uint64_t watch;         // ns, WATCH_OFF without --watch
	uint64_t wait, timeout; // wait: rows; timeout: ns; WATCH_OFF without the option
};

static const struct queues_opts defaults = {
	.watch = WATCH_OFF, .wait = WATCH_OFF, .timeout = WATCH_OFF};

static const struct opt opts[] = {
	PICK_OPTS(queues_opts),
	PICK_QUEUES_OPTS(queues_opts),
	OPT(queues_opts, all, "all", 'a', OPT_FLAG, "",
	    "also processes that opened KFD but own no queue"),
	OPT(queues_opts, likely, "likely", 0, OPT_FLAG, "",
	    "\nshow the likeliest MQD of a queue\nwhere it is not certain which is its"),
	OPT(queues_opts, mqds, "mqds", 0, OPT_STR, "FILE",
	    "\nlist a copy of debugfs mqds alone;\n- is standard input"),
	WATCH_OPT(queues_opts),
	OPT(queues_opts, wait, "wait", 0, OPT_U64, "N",
	    "list when at least N rows match, 0: none;\nwith --filter for any condition"),
	OPT(queues_opts, timeout, "timeout", 0, OPT_NS, "T",
	    "\nof --wait: then list what there is, exit status 124"),
	{0},
};

// Rows of COLUMNS: member, heading, JSON key, type, flags, READ_ bits that it needs, help.
#define F  (1u << 31) // shown by default with --mqds, whose file knows nothing of processes
#define DF (D | F)
#define MF (M | F)
#define COLUMNS(X)                                                                                 \
	X(pid, "PID", "pid", I64, DF, 0, "process, as the host numbers it")                        \
	X(process.ns_pid, "NSPID", "ns_pid", I64, D | W, READ_STATUS,                              \
	  "its PID inside its container; elsewhere the same as PID")                               \
	X(process.comm, "COMMAND", "command", STR, D | T, READ_STATUS,                             \
	  "command name, up to 15 bytes")                                                          \
	X(process.user, "USER", "user", STR, D | W, READ_STATUS, "effective user")                 \
	X(process.state, "PROCESS", "process", STR, D | W | S, READ_STATUS,                        \
	  "alive, zombie, or gone: ended, while somebody holds its KFD open")                      \
	X(process.container, "CONTAINER", "container", STR, D | T, READ_CONTAINER,                 \
	  "container: first 12 digits of its id, or its name")                                     \
	X(gpu_id, "GPU", "gpu_id", U64, DF, READ_GPU, "GPU as KFD numbers it (its gpu_id)")        \
	X(gpu.bdf, "BDF", "bdf", STR, D | W, READ_GPU | READ_BDF, "PCI address of the GPU")        \
	X(qid, "QID", "qid", U64, D, 0, "queue id, within the process")                            \
	X(context, "CONTEXT", "context", U64, M | OUT_RARE, 0,                                     \
	  "secondary KFD context that owns the queue; null: the process itself")                   \
	X(type, "TYPE", "type", STR, DF, READ_TYPE, "compute, sdma or sdma-xgmi")                  \
	X(v[MQD_V_RING_BYTES], "RING", "ring_bytes", SIZE, DF, READ_SIZE, "size of the ring")      \
	X(v[MQD_V_QUEUE_PRIO], "PRIO", "prio", U64, DF, READ_MQD, "priority, 0 to 15 (MQD)")       \
	X(level, "LEVEL", "level", STR, M | OUT_RARE, READ_MQD,                                    \
	  "level of its priority: low (0 to 6), medium (7 to 10), high (11 to 15) (MQD)")          \
	X(state, "STATE", "state", STR, D | S,                                                     \
	  READ_MQD | READ_INDICES | READ_HOLDER | READ_GPU | READ_STATUS,                          \
	  "running, idle, mapped (work unknown), turns (over-subscribed), suspended (by gpq), "    \
	  "evicted, off-hardware, unknown")                                                        \
	X(on_hw, "ON_HW", "on_hw", BOOL, MF | S, READ_MQD,                                         \
	  "in a hardware slot, by the runlist and MQD dword 130")                                  \
	X(v[MQD_D_BACKLOG], "BACKLOG", "backlog", U64, DF, READ_MQD | READ_INDICES,                \
	  "AQL packets, SDMA bytes or PM4 dwords not consumed: now if readable, else when taken "  \
	  "off")                                                                                   \
	X(usage.evicted_ns, "EVICTED", "evicted_ns", NS, D | W, READ_EVICTED,                      \
	  "time the process was evicted from the GPU, without an eviction going on")               \
	X(usage.cu_occupancy, "CUS", "cu_occupancy", U64, D | W, READ_CU,                          \
	  "compute units the process occupies on the GPU (gfx9 family)")                           \
	X(usage.vram_bytes, "VRAM", "vram_bytes", SIZE, D | W, READ_VRAM,                          \
	  "memory of the process on the GPU")                                                      \
	X(gpu.gfx, "GFX", "gfx", STR, 0, READ_GPU, "instruction set of the GPU")                   \
	X(process.cmdline, "CMDLINE", "cmdline", STR, T, READ_CMDLINE, "command line")             \
	X(process.container_id, "CONTAINER_ID", "container_id", STR, M, READ_CONTAINER,            \
	  "container in full")                                                                     \
	X(process.runtime, "RUNTIME", "runtime", STR, 0, READ_CONTAINER,                           \
	  "what runs the container: docker, podman, kubernetes ...")                               \
	X(process.container_name, "CONTAINER_NAME", "container_name", STR, 0, READ_CONTAINER_NAME, \
	  "name given to the container (docker, podman; root only)")                               \
	X(gpu.index, "INDEX", "gpu_index", U64, M, READ_GPU, "index of the GPU, as in gpq gpus")   \
	X(usage.pasid, "PASID", "pasid", U64, 0, READ_PASID, "address space id of the process")    \
	X(usage.sdma_ns, "SDMA_BUSY", "sdma_busy_ns", NS, 0, READ_SDMA,                            \
	  "time the process kept the GPU's SDMA engines busy")                                     \
	X(packets, "PACKETS", "packets", STR, 0, READ_MQD,                                         \
	  "aql or pm4; null of SDMA queues (MQD)")                                                 \
	X(v[MQD_V_RING], "RING_ADDR", "ring_addr", HEX, MF | W, READ_MQD,                          \
	  "address of the ring in the process (MQD)")                                              \
	X(v[MQD_V_RPTR], "RPTR", "rptr", U64, MF | W, READ_MQD,                                    \
	  "read pointer at the last unmap: dword in the ring; SDMA: bytes (MQD)")                  \
	X(v[MQD_V_WPTR], "WPTR", "wptr", U64, MF | W, READ_MQD,                                    \
	  "write pointer at the last unmap: dwords in all; SDMA: bytes (MQD)")                     \
	X(v[MQD_V_DOORBELL], "DOORBELL", "doorbell", HEX, MF | W, READ_MQD,                        \
	  "byte offset of the doorbell in its PCI region (MQD)")                                   \
	X(v[MQD_D_XCCS], "XCCS", "xccs", U64, MF | W, READ_MQD, "XCCs the queue runs on (MQD)")    \
	X(v[MQD_V_CTX_BYTES], "CTX", "ctx_bytes", SIZE, MF | W, READ_MQD,                          \
	  "area to save waves in, for each XCC (MQD)")                                             \
	X(v[MQD_D_SAVED_BYTES], "SAVED", "saved_bytes", SIZE, M, READ_MQD,                         \
	  "wave state parked in it, of a queue off hardware, all XCCs (MQD)")                      \
	X(now.read, "READ_NOW", "read_now", U64, M, READ_MQD | READ_INDICES,                       \
	  "read index now, from the process: AQL packets, SDMA bytes")                             \
	X(now.write, "WRITE_NOW", "write_now", U64, M, READ_MQD | READ_INDICES,                    \
	  "write index now, from the process")                                                     \
	X(now.holder, "HOLDER", "holder", I64, M, READ_HOLDER,                                     \
	  "pid of the gpq holder that has it suspended")                                           \
	X(mqd.match, "MATCH", "match", STR, M, READ_MQD,                                           \
	  "how its MQD was found: order of creation, only candidate, likely; null: not found")     \
	X(v[MQD_V_PIPE_PRIO], "PIPE_PRIO", "pipe_prio", U64, 0, READ_MQD,                          \
	  "pipe priority, 0 to 2 (MQD)")                                                           \
	X(v[MQD_V_VMID], "VMID", "vmid", U64, 0, READ_MQD, "VMID at the last unmap (MQD)")         \
	X(v[MQD_V_READ_INDEX], "READ_INDEX", "read_index", U64, 0, READ_MQD,                       \
	  "AQL packets consumed up to the last unmap (MQD)")                                       \
	X(v[MQD_V_RPTR_ADDR], "RPTR_ADDR", "rptr_addr", HEX, 0, READ_MQD,                          \
	  "address of the read index in the process (MQD)")                                        \
	X(v[MQD_V_WPTR_ADDR], "WPTR_ADDR", "wptr_addr", HEX, 0, READ_MQD,                          \
	  "address of the write index in the process (MQD)")                                       \
	X(v[MQD_V_CTX_BASE], "CTX_ADDR", "ctx_addr", HEX, 0, READ_MQD,                             \
	  "address of the save area in the process, first XCC (MQD)")                              \
	X(v[MQD_V_BASE], "MQD_ADDR", "mqd_addr", HEX, 0, READ_MQD, "GPU address of the MQD")       \
	X(v[MQD_V_ERROR], "ERROR", "error", HEX, 0, READ_MQD, "cp_hqd_error (MQD)")                \
	X(v[MQD_V_SDMA_ENGINE], "ENGINE", "sdma_engine", U64, 0, READ_MQD, "SDMA engine (MQD)")    \
	X(v[MQD_V_SDMA_RLC], "RLC", "sdma_rlc", U64, 0, READ_MQD, "queue of the SDMA engine (MQD)")

#define ROW queue_row
#define COLUMN(member, name, key, type, flags, reads, help) \
	COL(member, name, key, type, (flags) & ~F, help),
static const struct out_col cols[] = {COLUMNS(COLUMN)};
// NOLINTBEGIN(misc-redundant-expression): flags that are 0 in some rows
#define CAPTURED(member, name, key, type, flags, reads, help) \
	COL(member, name, key, type,                          \
	    (flags)&F   ? ((flags) & ~F) | D                  \
	    : (flags)&D ? (flags) ^ (D | M)                   \
			: (flags),                            \
	    help),
static const struct out_col captured_cols[] = {COLUMNS(CAPTURED)};
// NOLINTEND(misc-redundant-expression)
#define READS(member, name, key, type, flags, reads, help) (reads),
static const unsigned col_reads[] = {COLUMNS(READS)};

static const struct out_table queues_table = {"queues", "queue", OUT_COLS(cols)};
static const struct out_table captured_table = {"queues", "queue", OUT_COLS(captured_cols)};
static const struct out_table *const tables[] = {&queues_table, NULL};
static const struct schema schema = {"gpq.queues", 1, tables, NULL};

// --- messages for PIDs of -p that have no row ---

static bool pid_has_row(const struct queue_rows *q, pid_t pid, bool hidden)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->rows[i].pid == pid && q->rows[i].hidden == hidden)
			return true;
	return false;
}

static int no_such_process(pid_t pid)
{
	pid_t *found;
	ssize_t n = proc_find_ns_pid(pid, &found);
	pid_t first = n > 0 ? found[0] : 0;
	free(found);
	if (first)
		return err_fail(GPQ_NOTFOUND, "use the host's PID, or --ns-pid",
				"pid %d: in another PID namespace: it is pid %d of this host",
				(int)pid, (int)first);
	return err_fail(GPQ_NOTFOUND, "without -p all are listed", "pid %d: no such process",
			(int)pid);
}

static int explain_pid_without_row(const struct queue_rows *q, const struct pick *pick, pid_t pid)
{
	struct proc p;
	bool alive = proc_read(&p, pid) == 0;
	if (pid_has_row(q, pid, true))
		return err_fail(GPQ_NOTFOUND, NULL,
				"pid %d: the other options choose none of its queues", (int)pid);
	if (q->how->mqds_file)
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: owns no queue in %s", (int)pid,
				q->how->mqds_file);
	const struct kfd_proc *kfd = kfd_procs_find(&q->procs, pid);
	if (kfd && kfd->error)
		return err_sys(kfd->error, NULL, "pid %d: its queues in sysfs", (int)pid);
	if (kfd)
		return err_fail(GPQ_NOTFOUND, "-a shows it",
				alive ? "pid %d: owns no queue, it only has KFD open"
				      : "pid %d: ended, and owns no queue, but something holds its "
					"KFD open",
				(int)pid);
	if (alive && !pids_are_host())
		return err_fail(
			GPQ_NOTFOUND, "run gpq on the host",
			"pid %d: in another PID namespace than KFD's PIDs, which are the host's",
			(int)pid);
	if (alive && !pick_keeps(pick, pid))
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: the other options do not choose it",
				(int)pid);
	if (alive)
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: owns no queue, it never opened KFD",
				(int)pid);
	return no_such_process(pid);
}

// Warns of processes whose queues cannot be read, since they are missing from the list.
static bool warn_unreadable(const struct queue_rows *q)
{
	bool any = false;
	for (size_t i = 0; i < q->procs.nprocs; i++) {
		const struct kfd_proc *p = &q->procs.procs[i];
		if (p->error == EACCES || p->error == EPERM) {
			any = true;
			err_warn(NULL, "pid %d: its queues in sysfs: %s", (int)p->pid,
				 strerror(p->error));
		}
	}
	return any;
}

// Reports processes that the options choose and that have no row. Returns GPQ_OK if there are none;
// GPQ_PARTIAL if some rows are shown; else the exit status after the last message.
static int check_pids_found(const struct queue_rows *q, const struct pick *pick, size_t shown)
{
	const struct pick_opts *o = pick->opts;
	int status = GPQ_OK;
	if (!pick_asks(pick->opts))
		return warn_unreadable(q) ? GPQ_PARTIAL : GPQ_OK;
	enum { MESSAGES = 20 };
	size_t missing = 0;
	// With --tree and --ns-pid rows have other PIDs than -p. Then no PID counts as missing if
	// any row is shown.
	for (size_t i = 0; i < o->pids.n && !(shown && (o->tree || o->ns_pid)); i++) {
		pid_t pid = o->ns_pid && i < pick->pids.n ? pick->pids.v[i] : o->pids.v[i];
		if (!pid_has_row(q, pid, false) && ++missing <= MESSAGES)
			status = explain_pid_without_row(q, pick, pid);
	}
	if (missing > MESSAGES)
		err_warn(NULL, "%zu more PIDs own no queue", missing - MESSAGES);
	if (status)
		return shown ? GPQ_PARTIAL : status;
	if (!shown && o->containers.n && !o->pids.given && !o->comms.n && !o->cmdlines.n)
		return err_fail(GPQ_NOTFOUND, "gpq queues -a -o +CONTAINER_NAME shows them",
				"no process in such a container owns a queue");
	if (!shown)
		return err_fail(GPQ_NOTFOUND, "-a also shows processes without queues",
				"no process that was asked for owns a queue");
	return GPQ_OK;
}

// --- why columns are empty ---

struct reason {
	const char *why, *next;
};

// Returns why values of MQDs are unknown; `why` is NULL if MQDs were read, or not wanted.
static struct reason no_mqds(const struct queue_rows *q)
{
	const int error = q->mqds_error;
	if (!error || error == ENODATA || q->how->mqds_file)
		return (struct reason){0};
	if (error == EACCES || error == EPERM)
		return (struct reason){"debugfs is for root", "use sudo"};
	if (error != ENOENT)
		return (struct reason){strerror(error), NULL};
	if (!host_is_live())
		return (struct reason){"the recorded host has no debugfs",
				       "gpq snapshot records it as root"};
	if (!needs_has_debugfs())
		return (struct reason){"debugfs is not mounted", NEXT_MOUNT_DEBUGFS};
	return (struct reason){"debugfs has no kfd/mqds", NULL};
}

// Returns why PID namespaces or rights hide this row's process in /proc; `why` NULL: they do not.
static struct reason no_process(const struct queue_rows *q, const struct queue_row *r)
{
	if (q->foreign)
		return (struct reason){"KFD has PIDs of the host, and /proc those of a container",
				       "run gpq on the host"};
	if (!(q->how->want & READ_STATUS) || r->process.state || r->pid < 0 || q->how->mqds_file)
		return (struct reason){0};
	const int error = process_cache_get(q->processes, (pid_t)r->pid, PROCESS_STATUS)->error;
	if (error != EACCES && error != EPERM)
		return (struct reason){0};
	return (struct reason){"/proc hides the processes of others", "use sudo"};
}

static bool is_unknown(const struct out_col *c, const struct queue_row *r)
{
	return out_is_null(c, r) ||
	       (c->offset == offsetof(struct queue_row, state) && strcmp(r->state, "unknown") == 0);
}

static bool all_unknown(const struct queue_rows *q, const struct out_col *c)
{
	for (size_t i = 0; i < q->n; i++)
		if (!q->rows[i].hidden && !is_unknown(c, &q->rows[i]))
			return false;
	return true;
}

// Prints a hint with the reason and the names of the empty columns that need one of `reads`, and no
// READ_ bits but those of `reads` and `also`. Columns that are not shown by default are named only
// if -o chose them (`asked`).
static void tell_reason(const struct queue_rows *q, const struct out *o, bool asked, unsigned reads,
			unsigned also, struct reason because)
{
	SCOPED(buf_fini) struct buf names = {0};
	size_t n = 0;
	for (unsigned i = 0; because.why && i < queues_table.ncols; i++) {
		const struct out_col *c = &cols[i];
		if (!out_wants(o, i) || !(asked || c->flags & D) || !(col_reads[i] & reads) ||
		    col_reads[i] & ~(reads | also) || !all_unknown(q, c))
			continue;
		buf_printf(&names, "%s%s", names.len ? ", " : "", c->name);
		n++;
	}
	if (n)
		err_hint(because.next, "%s: unknown: %s", names.data, because.why);
}

// Explains why columns are empty, with --watch only once.
static void explain_empty(const struct queue_rows *q, const struct out *o, const char *columns)
{
	static bool told;
	const bool asked = columns && *columns != '+';
	const struct queue_row *first = NULL;
	for (size_t i = 0; i < q->n && !first; i++)
		first = q->rows[i].hidden ? NULL : &q->rows[i];
	if (!first || told)
		return;
	told = true;
	tell_reason(q, o, asked, READ_MQD, ~0u, no_mqds(q));
	tell_reason(q, o, asked, READ_STATUS | READ_CONTAINER | READ_CMDLINE, 0,
		    no_process(q, first));
}

// --- listing queues ---

static unsigned wanted_reads(const struct out *o, const struct queues_opts *opt)
{
	unsigned want = host_choice_reads(&(struct host_choice){&opt->pick, &opt->queues});
	for (unsigned i = 0; i < queues_table.ncols; i++)
		if (out_wants(o, i))
			want |= col_reads[i];
	return want;
}

// Leaves out the columns CONTEXT and LEVEL, as on most hosts, if no row needs them.
static void leave_out_columns(const struct queue_rows *q, struct out *o)
{
	bool context = false, level = false;
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_row *r = &q->rows[i];
		context |= !r->hidden && r->context != KFD_UNKNOWN;
		level |= !r->hidden && r->level && r->v[MQD_V_QUEUE_PRIO] == MQD_UNKNOWN;
	}
	if (!context)
		out_leave_out(o, "CONTEXT");
	if (!level)
		out_leave_out(o, "LEVEL");
}

static int print_queues(struct picked *p, struct out *o, const char *columns)
{
	struct queue_rows *q = &p->rows;
	size_t shown = 0, unknown_prio = 0;
	for (size_t i = 0; i < q->n; i++) {
		const enum kfd_answer3 keeps = picked_keeps(p, &q->rows[i]);
		q->rows[i].hidden = keeps != KFD_ANSWER_YES;
		shown += !q->rows[i].hidden;
		unknown_prio += keeps == KFD_ANSWER_UNKNOWN;
	}
	leave_out_columns(q, o);
	for (size_t i = 0; i < q->n; i++)
		if (!q->rows[i].hidden)
			out_row(o, &q->rows[i]);
	if (unknown_prio)
		err_note("--prio: %zu queues of unknown priority are left out", unknown_prio);
	explain_empty(q, o, columns);
	const bool damaged = queue_rows_explain(q);
	int status = check_pids_found(q, &p->pick, shown);
	if (!status && !shown && p->queues.n)
		status = err_fail(GPQ_NOTFOUND, "without -Q all are listed",
				  "no queue that was asked for is there");
	return !status && damaged ? GPQ_PARTIAL : status;
}

// Reads the host and prints its queues, once.
static int list_queues_once(struct cmd *cmd)
{
	const struct queues_opts *opt = cmd->opts;
	struct picked p = {0};
	int status = picked_init(&p, (struct host_choice){&opt->pick, &opt->queues});
	if (status)
		return status;
	struct out *o = out_open(&cmd->out);
	status = out_begin(o, opt->mqds ? &captured_table : &queues_table, false);
	const struct queue_rows_how how = {.want = wanted_reads(o, opt),
					   .mqds_file = opt->mqds,
					   .idle = opt->all,
					   .likely = opt->likely};
	if (!status)
		status = picked_load(&p, &how);
	if (!status)
		status = picked_check_ids(&p);
	if (!status)
		status = pick_queues_check_prio(&p.queues, &p.rows);
	if (!status)
		status = print_queues(&p, o, cmd->out.columns);
	out_end(o);
	const int written = out_close(o);
	picked_fini(&p);
	return written ? written : status;
}

static const struct opt_rule rules[] = {
	RULE_EXCLUDES(PICK_HOST_NAMES, "mqds", "leave it out, or --mqds",
		      "only -p chooses processes of a file: the other options need a host"),
	RULE_EXCLUDES("watch wait", "mqds", "",
		      "--%1 and --mqds exclude each other: a file does not change"),
	RULE_CHOOSE("wait watch"),
	RULE_NEEDS("timeout", "wait", "for example --wait 1", "--timeout says how long to --wait"),
	{0},
};

// Have all processes of -p ended, so that --wait waits in vain?
static bool queues_hopeless(const struct cmd *c)
{
	const struct pick_opts *p = &((const struct queues_opts *)c->opts)->pick;
	struct proc one;
	for (size_t i = 0; i < p->pids.n; i++)
		if (p->ns_pid || proc_read(&one, p->pids.v[i]) == 0)
			return false;
	return p->pids.n;
}

static unsigned queues_needs(const struct cmd *c)
{
	const struct queues_opts *o = c->opts;
	return o->mqds ? 0 : NEED_KFD;
}

static int run_queues(struct cmd *c)
{
	const struct queues_opts *o = c->opts;
	if (o->wait == WATCH_OFF)
		return watch_run(c, o->watch, list_queues_once);
	return wait_run(c, o->wait, o->timeout, list_queues_once, queues_hopeless);
}

const struct cmd_spec queues_spec = {
	.synopsis = "[-p PID[,PID...]] [--tree] [--ns-pid] [--container ID|NAME] [--comm REGEX]\n"
		    "[--gpu GPU] [--type TYPE] [--prio LEVEL|MIN[:MAX]] [-a] [--watch SEC]\n"
		    "--mqds FILE|-",
	.description = "Lists the queues of processes that use KFD, with whose they are and what "
		       "the driver\n"
		       "and, where debugfs can be read, their MQDs say about them.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct queues_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&schema),
	.needs = queues_needs,
	.run = run_queues,
};
