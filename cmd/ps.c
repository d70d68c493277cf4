// gpq ps: a row per process, made of the rows of its queues (common/rows/process_rows.h).
#include "cmd/command.h"
#include "cmd/listing.h"

#include "common/rows/process_rows.h"

struct ps_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	bool all;
	uint64_t watch; // ns, WATCH_OFF without --watch
};

static const struct ps_opts defaults = {.watch = WATCH_OFF};

static const struct opt opts[] = {
	PICK_OPTS(ps_opts),
	PICK_QUEUES_OPTS(ps_opts),
	OPT(ps_opts, all, "all", 'a', OPT_FLAG, "",
	    "also processes that opened KFD\nbut have neither queues nor memory"),
	WATCH_OPT(ps_opts),
	{0},
};

static const struct opt_rule rules[] = {WATCH_RULES, {0}};

// Rows of COLUMNS: member, heading, JSON key, type, flags, READ_ bits that it needs, help.
#define STATE_READS (READ_MQD | READ_INDICES | READ_HOLDER | READ_STATUS)
#define COLUMNS(X)                                                                                \
	X(first.pid, "PID", "pid", I64, D, 0, "process, as the host numbers it")                  \
	X(first.process.comm, "COMMAND", "command", STR, D | T, READ_STATUS,                      \
	  "command name, up to 15 bytes")                                                         \
	X(first.process.user, "USER", "user", STR, D | W, READ_STATUS, "effective user")          \
	X(first.process.container, "CONTAINER", "container", STR, D | T, READ_CONTAINER,          \
	  "container: first 12 digits of its id; of LXC and nspawn its name")                     \
	X(first.process.pod, "POD", "pod", STR, M | OUT_RARE | T, READ_CONTAINER,                 \
	  "kubernetes pod, as NAMESPACE/NAME")                                                    \
	X(first.process.job, "JOB", "job", STR, M | OUT_RARE, READ_CONTAINER, "job of Slurm")     \
	X(gpus.data, "GPUS", "gpus", LIST, D, 0,                                                  \
	  "indices of the GPUs it has a queue or memory on, as in gpq gpus")                      \
	X(gpu_ids.data, "GPU_IDS", "gpu_ids", LIST, M, 0,                                         \
	  "the same as KFD numbers them, as GPU of gpq queues")                                   \
	X(compute, "COMPUTE", "compute", U64, D | W, READ_TYPE, "its compute queues")             \
	X(sdma, "SDMA", "sdma", U64, D | W, READ_TYPE, "its SDMA queues, of XGMI, too")           \
	X(state, "STATE", "state", STR, D | S, STATE_READS,                                       \
	  "gone, zombie; else the first of these that a queue is in: suspended, evicted, "        \
	  "off-hardware (partly-suspended, partly-evicted, partly-off: not all its queues are "   \
	  "known to be off), running, takes-turns, mapped, unknown, idle; else no-queues")        \
	X(vram_bytes, "VRAM", "vram_bytes", SIZE, D, 0, "its memory on these GPUs")               \
	X(cus, "CUS", "cu_occupancy", U64, D | W, READ_CU,                                        \
	  "compute units it occupies on these GPUs (gfx9 family)")                                \
	X(backlog, "BACKLOG", "backlog", U64, D | W, READ_MQD | READ_INDICES,                     \
	  "AQL packets not consumed in its compute queues: now if readable, else when taken off") \
	X(off, "OFF", "queues_off", U64, D | W, STATE_READS,                                      \
	  "its queues that are off the hardware: suspended, evicted or off-hardware")             \
	X(holder, "HOLDER", "holder", I64, M | OUT_RARE, READ_HOLDER,                             \
	  "pid of the gpq holder that has queues of it suspended")                                \
	X(first.process.ns_pid, "NSPID", "ns_pid", I64, M, READ_STATUS,                           \
	  "its PID inside its container; elsewhere the same as PID")                              \
	X(first.process.cmdline, "CMDLINE", "cmdline", STR, T, READ_CMDLINE, "command line")      \
	X(first.process.container_id, "CONTAINER_ID", "container_id", STR, M, READ_CONTAINER,     \
	  "container in full")                                                                    \
	X(first.process.runtime, "RUNTIME", "runtime", STR, 0, READ_CONTAINER,                    \
	  "what runs the container: docker, podman, kubernetes ...")                              \
	X(first.process.container_name, "CONTAINER_NAME", "container_name", STR, 0,               \
	  READ_CONTAINER_NAME, "name given to the container (docker, podman; root only)")

#define ROW process_row
#define COLUMN(member, name, key, type, flags, reads, help) \
	COL(member, name, key, type, flags, help),
static const struct out_col cols[] = {COLUMNS(COLUMN)};
#define READS(member, name, key, type, flags, reads, help) (reads),
static const unsigned col_reads[] = {COLUMNS(READS)};

const struct out_table processes_table = {"processes", "process", OUT_COLS(cols)};
static const struct out_table *const tables[] = {&processes_table, NULL};
const struct schema processes_schema = {"gpq.ps", 1, tables, NULL};

static int print_processes(struct listing *l, const struct picked *p)
{
	SCOPED(process_rows_fini) struct process_rows rows = {0};
	const struct pick_queues_opts *o = l->by.queues;
	bool held = false, pods = false, jobs = false;
	process_rows_make(&rows, &p->rows, !o->ids.n && !o->types.n && !o->prio);
	for (size_t i = 0; i < rows.n; i++) {
		held |= rows.rows[i].holder != INT64_MIN;
		pods |= rows.rows[i].first.process.pod != NULL;
		jobs |= rows.rows[i].first.process.job != NULL;
		listing_add(l, &rows.rows[i].first);
	}
	if (!held)
		out_leave_out(l->out, "HOLDER");
	if (!pods)
		out_leave_out(l->out, "POD");
	if (!jobs)
		out_leave_out(l->out, "JOB");
	totals_say(l, &p->rows, rows.n);
	return listing_print(l, p);
}

int list_processes(const struct out_opts *form, struct host_choice by, bool all)
{
	// Which MQD is that of which queue makes no difference to a sum over the queues of a
	// process: the likeliest ones serve, unless -Q chooses queues.
	const struct queue_rows_how how = {
		.want = READ_VRAM, .idle = all, .memory = true, .likely = !by.queues->ids.n};
	struct listing l = {
		.table = &processes_table, .reads = col_reads, .by = by, .print = print_processes};
	return listing_run(&l, form, &how);
}

static int list_processes_once(struct cmd *cmd)
{
	const struct ps_opts *opt = cmd->opts;
	const struct host_choice by = {&opt->pick, &opt->queues};
	return list_processes(&cmd->out, by, opt->all);
}

static int run_ps(struct cmd *c)
{
	return watch_run(c, ((const struct ps_opts *)c->opts)->watch, list_processes_once);
}

const struct cmd_spec ps_spec = {
	.synopsis = "[-p PID[,PID...]] [--tree] [--ns-pid] [--container ID|NAME] [--comm REGEX]\n"
		    "[--gpu GPU] [--type TYPE] [-a] [--watch SEC]",
	.description = "Lists the processes that have queues or memory on GPUs, with whose they "
		       "are, their\n"
		       "queues by type, and what they do in a word.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct ps_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&processes_schema),
	.run = run_ps,
};
