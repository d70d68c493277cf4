// gpq snapshot --compare DIR...: the queue-id experiment over repeated runs.
#include "cmd/snapshot/run_tables.h"
#include "cmd/snapshot/snapshot.h"

#include "common/state/run_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define D OUT_DEFAULT
#define M OUT_MACHINE

struct run_row {
	const char *run, *program, *comm, *ids, *slots, *prios, *gpus;
	int64_t pid;
	uint64_t worker, queues, compute, sdma;
	double overlap;
	int8_t same_ids, same_count, same_slots, same_prios;
};

#define COL(member, name, key, type, flags, help) \
	OUT_COL(run_row, member, name, key, type, flags, help)
static const struct out_col run_cols[] = {
	COL(run, "RUN", "run", OUT_STR, D, "snapshot"),
	COL(program, "PROGRAM", "program", OUT_STR, D | OUT_TRUNC,
	    "what makes it the same one: --by"),
	COL(worker, "WORKER", "worker", OUT_U64, D, "which process of the program, by GPU, from 0"),
	COL(pid, "PID", "pid", OUT_I64, D, "process in this run"),
	COL(comm, "COMMAND", "command", OUT_STR, M, "name of the process"),
	COL(gpus, "GPUS", "gpus", OUT_LIST, D, "indices of the GPUs it has queues on"),
	COL(queues, "QUEUES", "queues", OUT_U64, D, "its queues"),
	COL(compute, "COMPUTE", "compute", OUT_U64, M, "compute queues of them"),
	COL(sdma, "SDMA", "sdma", OUT_U64, M, "SDMA queues of them"),
	COL(ids, "QIDS", "queue_ids", OUT_STR, D, "queue ids"),
	COL(prios, "PRIOS", "priorities", OUT_LIST, D,
	    "priorities of its compute queues; levels where these are unknown"),
	COL(slots, "SLOTS", "slots", OUT_LIST, M, "slot of each compute queue, by queue id"),
	COL(same_ids, "IDS", "same_ids", OUT_BOOL, D | OUT_STATUS,
	    "the same ids as in its first run"),
	COL(same_count, "COUNT", "same_count", OUT_BOOL, D | OUT_STATUS, "as many of each type"),
	COL(same_slots, "SLOT", "same_slots", OUT_BOOL, D | OUT_STATUS, "in the same slots"),
	COL(same_prios, "PRIO", "same_priorities", OUT_BOOL, D | OUT_STATUS, "the same priorities"),
	COL(overlap, "OVERLAP", "id_overlap", OUT_F64, D,
	    "ids that this and its first run have, as a share of those that either has"),
};
#undef COL

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
const struct out_table snapshot_runs_table = {"runs", "run", run_cols, COUNT(run_cols)};
static const struct out_table *const tables[] = {&snapshot_runs_table, &run_compare_programs_table,
						 &run_compare_overlaps_table,
						 &run_compare_strategies_table};
enum { RUNS, PROGRAMS, OVERLAPS, STRATEGIES, TABLES };
static const char *const titles[] = {"Processes, run by run", "Programs over all runs",
				     "Programs side by side", "How to find their queues again"};

static void print_runs(struct out *o, const struct run_compare *r, char **dirs,
		       struct run_compare_texts *t)
{
	for (size_t i = 0; i < r->nprocs; i++) {
		const struct run_compare_proc *p = &r->procs[i];
		const struct run_row row = {
			.run = dirs[p->run],
			.program = p->program,
			.comm = p->comm,
			.worker = p->worker,
			.pid = p->pid,
			.queues = p->compute + p->sdma + p->other,
			.compute = p->compute,
			.sdma = p->sdma,
			.ids = run_compare_ids_text(&t->ids, &p->ids),
			.slots = p->slots,
			.prios = run_compare_prios_text(&t->prios, r, p->prios),
			.gpus = run_compare_bits_text(&t->gpus, p->gpus),
			.overlap = p->overlap,
			.same_ids = p->same_ids,
			.same_count = p->same_count,
			.same_slots = p->same_slots,
			.same_prios = p->same_prios,
		};
		out_row(o, &row);
	}
}

static int print_table(struct out *o, const struct run_compare *r, char **dirs, int which)
{
	struct run_compare_texts t = {0};
	if (which == RUNS)
		print_runs(o, r, dirs, &t);
	else if (which == PROGRAMS)
		run_compare_print_programs(o, r, &t);
	else if (which == OVERLAPS)
		run_compare_print_overlaps(o, r, &t);
	else
		run_compare_print_strategies(o, r);
	run_compare_texts_fini(&t);
	return GPQ_OK;
}

// -o names columns of one table: of the runs when no other was asked for.
static int only_table(const struct cmd *c)
{
	const struct snapshot_opts *opt = c->opts;
	if (opt->table >= 0)
		return opt->table;
	return c->out.columns || c->out.all ? RUNS : -1;
}

static int print_all(struct cmd *c, const struct run_compare *r)
{
	const int only = only_table(c);
	struct out *o = out_open(&c->out);
	int status = o ? GPQ_OK : err_sys(ENOMEM, NULL, "output");
	for (int i = 0; i < TABLES && !status; i++) {
		if (only >= 0 && i != only)
			continue;
		if (only < 0)
			out_title(o, "%s", titles[i]);
		status = out_begin(o, tables[i], false);
		if (!status) {
			print_table(o, r, c->argv, i);
			out_end(o);
		}
	}
	int closed = o ? out_close(o) : GPQ_OK;
	return status ? status : closed;
}

static void explain(const struct run_compare *r)
{
	bool repeated = false;
	for (size_t i = 0; i < r->nprograms; i++)
		repeated |= r->programs[i].seen > 1;
	if (r->nprograms && !repeated)
		err_warn("--by comm compares programs by name alone",
			 "no program is in two of the %u runs", r->runs);
}

static int compare(struct cmd *c, struct host_state *runs, unsigned n)
{
	const struct snapshot_opts *opt = c->opts;
	struct run_compare r;
	int status;
	if (run_compare_compare(&r, runs, n, (enum run_compare_by)opt->by)) {
		status = err_sys(ENOMEM, NULL, "compare");
	} else {
		explain(&r);
		status = print_all(c, &r);
	}
	run_compare_fini(&r);
	return status;
}

int snapshot_compare(struct cmd *c)
{
	const unsigned n = (unsigned)c->argc;
	if (n < 2)
		return err_fail(GPQ_USAGE, "gpq snapshot --compare RUN1 RUN2 ...",
				"--compare takes a snapshot of each of two runs or more");
	struct host_state *runs = calloc(n, sizeof(*runs));
	int status = runs ? GPQ_OK : err_sys(ENOMEM, NULL, "compare");
	for (unsigned i = 0; i < n && !status; i++)
		status = host_state_load(&runs[i], c->argv[i]);
	if (!status)
		status = compare(c, runs, n);
	for (unsigned i = 0; runs && i < n; i++)
		host_state_fini(&runs[i]);
	free(runs);
	return status;
}
