// gpq snapshot --compare DIR...: prints the tables of repeated runs
// (common/snapshot/run_compare.h).
#include "cmd/snapshot/snapshot.h"

#define ROW run_compare_proc
static const struct out_col run_cols[] = {
	COL(run_name, "SNAPSHOT", "snapshot", STR, D, "snapshot"),
	COL(program, "PROGRAM", "program", STR, D | T, "what makes it the same one: --match"),
	COL(worker, "WORKER", "worker", U64, D, "which process of the program, by GPU, from 0"),
	COL(pid, "PID", "pid", I64, D, "process in this run"),
	COL(comm, "COMMAND", "command", STR, M, "name of the process"),
	COL(has.gpus_text.data, "GPUS", "gpus", LIST, D, "indices of the GPUs it has queues on"),
	COL(queues, "QUEUES", "queues", U64, D, "its queues"),
	COL(compute, "COMPUTE", "compute", U64, M, "compute queues of them"),
	COL(sdma, "SDMA", "sdma", U64, M, "SDMA queues of them"),
	COL(has.ids_text.data, "QIDS", "queue_ids", STR, D, "queue ids"),
	COL(has.prios_text.data, "PRIOS", "priorities", LIST, D,
	    "priorities of its compute queues; levels where these are unknown"),
	COL(slots.data, "SLOTS_BY_QID", "slots_by_qid", LIST, M,
	    "slot of each compute queue, by queue id"),
	COL(same[SAME_IDS], "SAME_IDS", "same_ids", BOOL, D | S,
	    "the same ids as in its first run"),
	COL(same[SAME_COUNT], "SAME_COUNT", "same_count", BOOL, D | S, "as many of each type"),
	COL(same[SAME_SLOTS], "SAME_SLOTS", "same_slots", BOOL, D | S, "in the same slots"),
	COL(same[SAME_PRIOS], "SAME_PRIOS", "same_prios", BOOL, D | S, "the same priorities"),
	COL(overlap, "ID_OVERLAP", "id_overlap", F64, D,
	    "ids that this and its first run have, as a share of those that either has"),
};
#undef ROW

#define ROW run_compare_program
static const struct out_col program_cols[] = {
	COL(program, "PROGRAM", "program", STR, D | T, "program"),
	COL(worker, "WORKER", "worker", U64, D, "which of its processes, by GPU, from 0"),
	COL(comm, "COMMAND", "command", STR, M, "name of the process"),
	COL(seen, "RUNS", "runs", U64, D, "runs that have it"),
	COL(missing, "MISSING", "missing", U64, M, "runs that have it not"),
	COL(queues_min, "QUEUES_MIN", "queues_min", U64, D, "fewest queues"),
	COL(queues_max, "QUEUES_MAX", "queues_max", U64, D, "most queues"),
	COL(always_text.data, "ALWAYS", "ids_always", STR, D, "ids in all of its runs"),
	COL(ever.ids_text.data, "EVER", "ids_ever", STR, D, "ids in any of its runs"),
	COL(ever.prios_text.data, "PRIOS", "priorities", LIST, D,
	    "priorities of its compute queues in any run; levels where these are unknown"),
	COL(same[SAME_IDS], "SAME_IDS", "same_ids", BOOL, D | S, "the same ids in all of its runs"),
	COL(same[SAME_COUNT], "SAME_COUNT", "same_count", BOOL, D | S, "as many of each type"),
	COL(same[SAME_SLOTS], "SAME_SLOTS", "same_slots", BOOL, D | S, "in the same slots"),
	COL(same[SAME_PRIOS], "SAME_PRIOS", "same_prios", BOOL, D | S, "the same priorities"),
	COL(consistency, "CONSISTENCY", "consistency", F64, D,
	    "of ids: mean over all pairs of its runs of what both have of what either has"),
};
#undef ROW

#define ROW run_compare_pair
static const struct out_col pair_cols[] = {
	COL(a, "PROGRAM", "program", STR, D | T, "a program"),
	COL(b, "BESIDE", "beside", STR, D | T,
	    "one that ran at the same time; the same name: another process of it"),
	COL(runs, "RUNS", "runs", U64, D, "runs that have both"),
	COL(both.gpus_text.data, "GPUS", "gpus_shared", LIST, D, "GPUs that both have queues on"),
	COL(both.ids_text.data, "QIDS", "ids_shared", STR, D,
	    "queue ids that both have in one run"),
	COL(both.prios_text.data, "PRIOS", "priorities_shared", LIST, D,
	    "priorities, or levels, that both have in one run"),
	COL(overlap, "ID_OVERLAP", "id_overlap", F64, D,
	    "ids that both have as a share of those that either has"),
};
#undef ROW

#define ROW run_compare_strategy
static const struct out_col strategy_cols[] = {
	COL(name, "STRATEGY", "strategy", STR, D,
	    "how to find a program's queues again: fixed-ids, priority, pid"),
	COL(works, "WORKS", "works", BOOL, D | S, "would it, by these runs"),
	COL(chosen, "USE", "use", BOOL, D, "the first that works"),
	COL(evidence.data, "EVIDENCE", "evidence", STR, D, "why"),
};
#undef ROW

const struct out_table run_compare_tables[RUN_TABLES] = {
	[RUN_PROCESSES] = {"runs", "run", OUT_COLS(run_cols)},
	[RUN_PROGRAMS] = {"programs", "program", OUT_COLS(program_cols)},
	[RUN_OVERLAPS] = {"overlaps", "overlap", OUT_COLS(pair_cols)},
	[RUN_STRATEGIES] = {"strategies", "strategy", OUT_COLS(strategy_cols)},
};
const struct schema snapshot_compare_schema = {
	"gpq.snapshot.compare", 1,
	SCHEMA_TABLES(&run_compare_tables[RUN_PROCESSES], &run_compare_tables[RUN_PROGRAMS],
		      &run_compare_tables[RUN_OVERLAPS], &run_compare_tables[RUN_STRATEGIES]),
	NULL};

int run_compare_print(struct out *o, const struct run_compare *r, int table)
{
	const struct {
		const void *rows;
		size_t n, size;
	} all[RUN_TABLES] = {
		[RUN_PROCESSES] = {r->procs, r->nprocs, sizeof(*r->procs)},
		[RUN_PROGRAMS] = {r->programs, r->nprograms, sizeof(*r->programs)},
		[RUN_OVERLAPS] = {r->pairs, r->npairs, sizeof(*r->pairs)},
		[RUN_STRATEGIES] = {r->strategies, QRUNS_STRATEGIES, sizeof(*r->strategies)},
	};
	int status = out_begin(o, &run_compare_tables[table], false);
	for (size_t i = 0; !status && i < all[table].n; i++)
		out_row(o, (const char *)all[table].rows + i * all[table].size);
	if (!status)
		out_end(o);
	return status;
}

static const char *const titles[RUN_TABLES] = {"Processes, run by run", "Programs over all runs",
					       "Programs side by side",
					       "How to find their queues again"};

static int print_comparison(struct cmd *c, const struct run_compare *r)
{
	c->out.schema = &snapshot_compare_schema;
	struct out *o = out_open(&c->out);
	int status = GPQ_OK;
	for (int i = 0; i < RUN_TABLES && !status; i++) {
		out_title(o, "%s", titles[i]);
		status = run_compare_print(o, r, i);
	}
	return out_finish(o, status);
}

// Loads, of each run, the queues that the options choose.
static int load_runs(const struct cmd *c, struct host_state *runs, const struct words *paths)
{
	const struct host_choice by = snapshot_choice(c->opts);
	struct pids found = {0};
	int status = GPQ_OK;
	for (size_t i = 0; i < paths->n && !status; i++) {
		status = host_state_load(&runs[i], paths->v[i], &by);
		if (!status && runs[i].by_doorbell)
			status = err_fail(GPQ_UNSUPPORTED, "--diff compares two of them",
					  "%s has dumps alone, in which queues have no ids",
					  paths->v[i]);
		host_chosen(&runs[i].list, &found);
		host_state_drop_hidden(&runs[i]);
	}
	if (!status)
		status = host_choice_found(&by, &found, "these runs");
	free(found.v);
	return status;
}

static int compare_runs(struct cmd *c, const struct words *paths)
{
	const struct snapshot_opts *opt = c->opts;
	const unsigned n = (unsigned)paths->n;
	struct run_compare r;
	if (n < 2)
		return err_fail(GPQ_USAGE, "gpq snapshot --compare RUN1 RUN2 ...",
				"--compare takes a snapshot of each of two runs or more");
	SCOPED(free_at) struct host_state *runs = xcalloc(n, sizeof(*runs));
	const int found = load_runs(c, runs, paths);
	int status = found == GPQ_PARTIAL ? GPQ_OK : found;
	if (!status) {
		run_compare_compare(&r, runs, n, (enum run_compare_by)opt->match);
		if (r.nprograms && !run_compare_repeated(&r))
			err_warn("--match comm compares programs by name alone",
				 "no program is in two of the %u runs", n);
		status = print_comparison(c, &r);
		run_compare_fini(&r);
	}
	for (unsigned i = 0; i < n; i++)
		host_state_fini(&runs[i]);
	return status ? status : found;
}

int snapshot_compare(struct cmd *c)
{
	SCOPED(words_fini) struct words paths = {0};
	int status = snapshot_expand(&paths, c);
	return status ? status : compare_runs(c, &paths);
}
