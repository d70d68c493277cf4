// gpq queues: options, columns, filters. The rows come from common/rows/queue_rows.h.
#include "cmd/command.h"
#include "cmd/listing.h"

struct queues_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	const char *mqds;
	bool all, likely, summary, only_new;
	int by;                 // 0: a row a queue, 1: a process
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
	OPT(queues_opts, summary, "summary", 0, OPT_FLAG, "",
	    "\nhow many processes and queues each GPU has,\nand how many slots; no root is needed"),
	OPT_ONE_OF(queues_opts, by, "by", 0, "WHAT", "\na row a queue, or as gpq ps a process",
		   "queue\0process"),
	OPT(queues_opts, mqds, "mqds", 0, OPT_STR, "FILE",
	    "\nlist a copy of debugfs mqds alone;\n- is standard input"),
	WATCH_OPT(queues_opts),
	OPT(queues_opts, wait, "wait", 0, OPT_U64, "N",
	    "list when at least N rows match, 0: none;\nwith --filter for any condition"),
	OPT(queues_opts, only_new, "new", 0, OPT_FLAG, "",
	    "\nof --wait: only queues that were not there\nat its start"),
	OPT(queues_opts, timeout, "timeout", 0, OPT_SEC, "SEC",
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
	  "container: first 12 digits of its id; of LXC and nspawn its name")                      \
	X(process.pod, "POD", "pod", STR, M | OUT_RARE | T, READ_CONTAINER,                        \
	  "kubernetes pod, as NAMESPACE/NAME")                                                     \
	X(process.job, "JOB", "job", STR, M | OUT_RARE, READ_CONTAINER, "job of Slurm")            \
	X(gpu_id, "GPU", "gpu_id", U64, DF, READ_GPU, "GPU as KFD numbers it (its gpu_id)")        \
	X(gpu.bdf, "BDF", "bdf", STR, D | W, READ_GPU | READ_BDF, "PCI address of the GPU")        \
	X(qid, "QID", "qid", U64, D, 0, "queue id, within the process")                            \
	X(context, "CONTEXT_ID", "context_id", U64, M | OUT_RARE, 0,                               \
	  "secondary KFD context that owns the queue; null: the process itself")                   \
	X(type, "TYPE", "type", STR, DF, READ_TYPE, "compute, sdma or sdma-xgmi")                  \
	X(v[MQD_V_RING_BYTES], "RING", "ring_bytes", SIZE, DF, READ_SIZE, "size of the ring")      \
	X(v[MQD_V_QUEUE_PRIO], "PRIO", "prio", U64, DF, READ_MQD, "priority, 0 to 15 (MQD)")       \
	X(level, "LEVEL", "level", STR, M | OUT_RARE, READ_MQD,                                    \
	  "level of its priority: low (0 to 6), medium (7 to 10), high (11 to 15) (MQD)")          \
	X(cu_mask, "CU_MASK", "cu_mask", STR, OUT_RARE, READ_MQD | READ_GPU,                       \
	  "CUs it may use: all, or a hex word for each shader engine; / between XCCs (MQD)")       \
	X(cus_on, "CUS_ON", "cus_on", STR, OUT_RARE, READ_MQD | READ_GPU,                          \
	  "how many CUs these are, of how many: 52/104 (MQD)")                                     \
	X(state, "STATE", "state", STR, D | S,                                                     \
	  READ_MQD | READ_INDICES | READ_HOLDER | READ_GPU | READ_STATUS,                          \
	  "running, idle, mapped (work unknown), takes-turns (over-subscribed), suspended (by "    \
	  "gpq), evicted, off-hardware, unknown")                                                  \
	X(on_hw, "ON_HW", "on_hw", BOOL, MF | S, READ_MQD,                                         \
	  "in a hardware slot, by the runlist and MQD dword 130")                                  \
	X(v[MQD_D_BACKLOG], "BACKLOG", "backlog", U64, DF, READ_MQD | READ_INDICES,                \
	  "AQL packets, SDMA bytes or PM4 dwords not consumed: now if readable, else when taken "  \
	  "off")                                                                                   \
	X(pointers, "POINTERS", "pointers", STR, M, READ_MQD | READ_INDICES,                       \
	  "where BACKLOG is from: process (its memory), live (recorded slots), saved (its MQD)")   \
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
	X(packets, "PACKET_FORMAT", "packet_format", STR, 0, READ_MQD,                             \
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
	X(v[MQD_V_CTX_BYTES], "CWSR", "cwsr_bytes", SIZE, MF | W, READ_MQD,                        \
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
	X(v[MQD_V_CTX_BASE], "CWSR_ADDR", "cwsr_addr", HEX, 0, READ_MQD,                           \
	  "address of the save area in the process, first XCC (MQD)")                              \
	X(v[MQD_V_BASE], "MQD_ADDR", "mqd_addr", HEX, 0, READ_MQD, "GPU address of the MQD")       \
	X(v[MQD_V_ERROR], "ERROR_BITS", "error_bits", HEX, 0, READ_MQD, "cp_hqd_error (MQD)")      \
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
static const struct out_table *const tables[] = {&queues_table, &processes_table, &totals_table,
						 NULL};
static const struct schema schema = {"gpq.queues", 1, SCHEMA_TABLES(&queues_table), NULL};

// --- listing queues ---

// Leaves out the columns CONTEXT_ID, LEVEL, POD, JOB and those of CU masks, as on most hosts, if no
// row needs them.
static void leave_out_columns(const struct listing *l)
{
	bool context = false, level = false, pod = false, job = false, mask = false;
	for (size_t i = 0; i < l->n; i++) {
		const struct queue_row *r = l->rows[i];
		context |= r->context != KFD_UNKNOWN;
		level |= r->level && r->v[MQD_V_QUEUE_PRIO] == MQD_UNKNOWN;
		pod |= r->process.pod != NULL;
		job |= r->process.job != NULL;
		mask |= queue_row_is_masked(r);
	}
	if (!context)
		out_leave_out(l->out, "CONTEXT_ID");
	if (!level)
		out_leave_out(l->out, "LEVEL");
	if (!pod)
		out_leave_out(l->out, "POD");
	if (!job)
		out_leave_out(l->out, "JOB");
	if (!mask) {
		out_leave_out(l->out, "CU_MASK");
		out_leave_out(l->out, "CUS_ON");
	}
}

// With --new: the queues that every listing has had since the start. An id that was missing from
// one listing and comes back is a new queue. NULL: without --new, or before the first listing.
static struct old_queue {
	int64_t pid;
	uint64_t context, qid;
} * old_queues;
static size_t num_old;

static bool take_old(struct old_queue *still, size_t *n, const struct queue_row *r)
{
	const struct old_queue q = {r->pid, r->context, r->qid};
	bool old = !old_queues;
	for (size_t i = 0; i < num_old && !old; i++)
		old = memcmp(&old_queues[i], &q, sizeof(q)) == 0;
	if (old)
		still[(*n)++] = q;
	return old;
}

static int print_queues(struct listing *l, const struct picked *p)
{
	struct old_queue *still = l->only_new ? xcalloc(p->rows.n + 1, sizeof(*still)) : NULL;
	size_t n = 0;
	for (size_t i = 0; i < p->rows.n; i++)
		if (!p->rows.rows[i].hidden && !(still && take_old(still, &n, &p->rows.rows[i])))
			listing_add(l, &p->rows.rows[i]);
	free(old_queues);
	old_queues = still;
	num_old = n;
	leave_out_columns(l);
	return listing_print(l, p);
}

// Reads the host and prints its queues, once.
static int list_queues_once(struct cmd *cmd)
{
	const struct queues_opts *opt = cmd->opts;
	const struct queue_rows_how how = {.want = opt->summary ? READ_TYPE | READ_GPU : 0,
					   .mqds_file = opt->mqds,
					   .idle = opt->all,
					   .likely = opt->likely};
	const struct host_choice by = {&opt->pick, &opt->queues};
	struct out_opts out = cmd->out;
	struct listing l = {.table = opt->mqds || host_only_dumps() ? &captured_table
								    : &queues_table,
			    .reads = col_reads,
			    .by = by,
			    .print = print_queues,
			    .only_new = opt->only_new};
	if (opt->by)
		out.schema = &processes_schema;
	if (opt->by)
		return list_processes(&out, by, opt->all);
	if (opt->summary) {
		static const unsigned no_reads[16];
		l.table = &totals_table;
		l.reads = no_reads;
		l.print = totals_print;
		out.schema = &totals_schema;
	}
	return listing_run(&l, &out, &how);
}

static const struct out_table *const *queues_prints(const struct cmd *c)
{
	const struct queues_opts *o = c->opts;
	static const struct out_table *const of[][2] = {
		{&queues_table}, {&processes_table}, {&totals_table}, {&captured_table}};
	return of[o->mqds || host_only_dumps() ? 3 : o->summary ? 2 : o->by];
}

static const struct opt_rule rules[] = {
	RULE_EXCLUDES(PICK_HOST_NAMES, "mqds", "leave it out, or --mqds",
		      "only -p chooses processes of a file: the other options need a host"),
	RULE_EXCLUDES("summary by", "mqds", "leave it out, or --mqds",
		      "--%1 needs a host: --mqds lists a file"),
	RULE_CHOOSE("summary by"),
	RULE_EXCLUDES("watch wait", "mqds", "",
		      "--%1 and --mqds exclude each other: a file does not change"),
	RULE_CHOOSE("wait watch"),
	RULE_NEEDS("new", "wait", "for example --wait 1 --new", "--new is of --wait"),
	RULE_EXCLUDES("new", "summary by", "leave it out", "--new waits for queues"),
	RULE_NEEDS("timeout", "wait", "for example --wait 1", "--timeout says how long to --wait"),
	WATCH_RULES,
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
	return o->mqds || (host_only_dumps() && !o->summary && !o->by) ? 0 : NEED_KFD;
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
	.schemas = SCHEMAS(&schema, &processes_schema, &totals_schema),
	.prints = queues_prints,
	.needs = queues_needs,
	.run = run_queues,
};
