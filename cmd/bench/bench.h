// Shared by the kinds of gpq bench: one options struct for all, one run function each.
#pragma once

#include "cmd/command.h"
#include "common/bench/require.h"
#include "common/cli/progress.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"

struct bench_opts {
	bool dry;
	// options of preempt
	struct pick_opts pick;
	struct pick_queues_opts queues;
	struct words sweep, goals, require;
	uint64_t cycles, warmup, hold_ns, gap_ns, grace, duration_ns, settle_ns, patience_ns;
	uint64_t baseline_every, seed;
	uint64_t runs, pause_ns;
	bool breakdown, until_shown;
	const char *raw;
	// options of ab
	struct ab_plan ab;
	const char *decisions;
	struct pids pids[2];   // --online-pid, --offline-pid
	struct words specs[2]; // --online, --offline
	struct words modes, sweep_env;
	// options of report
	const char *html, *svg;
	bool compare;
};

#define BENCH_GRACE_RULE RULE_RANGE("grace", 0, KFD_GRACE_MAX, "", "--grace: %v is not 0 to 255")
extern const struct opt_rule bench_preempt_rules[], bench_ab_rules[], bench_report_rules[];

int bench_check_preempt(struct cmd *c);
int bench_check_ab(struct cmd *c);
int bench_preempt(struct cmd *c);
int bench_report(struct cmd *c);
int bench_ab(struct cmd *c);

// Checks --goal and --require for runs of these kinds (enum require_kind). Returns GPQ_OK, or
// GPQ_USAGE after a message.
int bench_check_limits(const struct bench_opts *o, unsigned kinds);

// What gpq bench preempt or ab writes and prints. Zeroed before measurement_begin().
struct measurement {
	struct load_run *run; // the first of `all`
	struct load all;      // of gpq bench ab a run for each setting of --sweep-env
	struct raw_file raw;
	struct requirements limits;
	struct progress progress;
};

// Reads the limits. Returns the exit status. Call measurement_end() even after a failure.
int measurement_begin(struct measurement *m, struct cmd *c, bool is_ab);

// Prints the results of each run that has some, and frees them. Returns `status` if that is a
// failure.
int measurement_end(struct measurement *m, const struct cmd *c, int status);

// --until-shown: returns whether all runs may end at this look, one of at most `looks`, and says
// so. See require_decided().
bool bench_may_end(struct measurement *m, const struct bench_opts *o, uint64_t looks);

// Returns --seed, or else a random number, and notes the seed in the context.
uint64_t bench_seed(const struct bench_opts *o, struct bench_context *c);

// Reports requirements that are not shown to be met. Returns GPQ_FAILED if one is refuted or
// unknown, else GPQ_UNSHOWN if there are any. Limits of the other kind of run (preempt or ab) do
// not count. `name`: name of the run if there are several, else "".
int bench_required(const struct requirements *limits, const char *name, struct load_run *run);

// Of two exit statuses the one to end with: a failure before GPQ_UNSHOWN, else the first.
int bench_worse(int a, int b);

// The name of the judged setting, or "" if there is only one.
const char *bench_setting_name(const struct judged *j);

// Returns the tables that bench_print() prints, the main one first, ended by NULL.
const struct out_table *const *bench_run_tables(bool ab);

#define BENCH_PREEMPT_TABLES                                                                   \
	&bench_latencies_table, &bench_effects_table, &bench_cycles_table, &bench_saved_table, \
		&bench_growth_table
#define BENCH_AB_TABLES                                                               \
	&bench_online_table, &bench_offline_table, &run_compare_tables[RUN_PROGRAMS], \
		&run_compare_tables[RUN_OVERLAPS], &run_compare_tables[RUN_STRATEGIES]
#define BENCH_SHARED_TABLES &bench_runs_table, &bench_goals_table, &bench_histogram_table
extern const struct out_table bench_latencies_table, bench_effects_table, bench_goals_table,
	bench_cycles_table, bench_runs_table, bench_saved_table, bench_histogram_table,
	bench_growth_table, bench_online_table, bench_offline_table, bench_context_table,
	bench_changes_table, bench_sides_table;
extern const struct schema bench_preempt_schema, bench_ab_schema, bench_changes_schema,
	bench_runs_schema, bench_sides_schema;

// The times in struct summary.
#define SUMMARY_TIMES(X) X(min) X(max) X(mean) X(sd) X(p50) X(p90) X(p95) X(p99) X(p999)

// The times of struct summary, rounded to ns, as a row of a table.
struct times_row {
	const char *setting, *metric;
	uint64_t n;
#define FIELD(name) uint64_t name;
	SUMMARY_TIMES(FIELD)
#undef FIELD
	uint64_t ci_low, ci_high; // 95 % interval of the median
	uint64_t runs;            // it and the ratios: only for gpq bench ab
	double ratio, p99_ratio, achieved, offered;
	uint64_t p99_corrected;
};
struct times_row bench_times(const char *setting, const char *metric, struct samples *s);

// If `n` samples are too few for P99 or P99.9, tells people how many are needed. `cycles`: the
// samples are cycles of gpq bench preempt.
void bench_say_few(struct out *o, uint64_t n, bool cycles);

// Prints samples as rows of bench_histogram_table.
void bench_print_histogram(struct out *o, const char *setting, const char *metric,
			   const struct samples *s);

// Begins a table; one without rows (`any` false) is shown in JSON only. True if it was begun.
bool bench_begin_table(struct out *o, const struct out_table *t, bool any, const char *title);

// Prints how times grow with the number of queues, if that was varied; not on a screen
// (out_fits()).
void bench_print_growth(struct out *o, const struct result *r);

// Prints all of a run: tables and the verdict, in an HTML page also plots. On a screen (out_fits())
// the latencies and the verdict.
void bench_print_run(struct out *o, struct load_run *run, const struct requirements *limits);
void bench_print_ab(struct out *o, struct load_run *run); // tables that only gpq bench ab has

// Draw plots, only in an HTML page: how long suspend and resume, or online requests, took, with
// limits, and these over time; medians and 99th percentiles of all settings, if there are several;
// and the dispatch rate of the first cycles.
void run_plot_times(struct out *o, struct load_run *run, const struct requirements *limits);
void run_plot_over_time(struct out *o, const struct load_run *run);
void run_plot_rate(struct out *o, const struct load_run *run);

// Prints a row for each of the --runs, setting and time of these runs; to people, if there are
// several, and of suspend, resume and online requests only.
void bench_print_runs(struct out *o, struct load_run *const *run, size_t n);

// Compares what both sides, old and new, have, and writes the table, the page, or both.
int bench_compare(struct cmd *c, const struct load *side);

// Appends what makes the item of `of` differ in these runs: of parameters, those that not all of
// the runs have, else all of it. Nothing: it is unknown.
void bench_tell_apart(struct buf *b, const struct bench_context *of, unsigned item,
		      const struct bench_context *const *all, size_t n);

// A time of which gpq bench report --compare has samples on both sides.
struct bench_change {
	const char *setting, *metric;
	struct samples *side[2]; // old, new
};
// Draws the old and the new times of the first 4 settings, a group for each of at most 3 metrics.
void run_plot_changes(struct out *o, const struct bench_context *c, const struct bench_change *v,
		      size_t n);

// Prints the results of one run; with -o only the first table. Returns the exit status, also of
// requirements: bench_required().
int bench_print(const struct out_opts *opts, struct load_run *run,
		const struct requirements *limits);

// Prints the results of each run that has some. Of several runs, -o, -J and other forms for
// programs print the table of runs instead: bench_print_runs(). Returns the worst exit status.
int bench_print_all(const struct out_opts *opts, const struct load *l,
		    const struct requirements *limits);
