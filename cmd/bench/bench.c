// gpq bench: options of its kinds, which are in preempt.c, ab.c and report.c, and what they share.
// common/bench measures and computes results.
#include "cmd/bench/bench.h"

#include "cmd/snapshot/snapshot.h"
#include "cmd/suspend/suspend.h"
#include "common/host/clock.h"

#include <math.h>
#include <signal.h>
#include <sys/random.h>

// Options that more than one kind of gpq bench has.
#define GOAL                                                           \
	OPT(bench_opts, goals, "goal", 0, OPT_WORDS, "NAME=VALUE,...", \
	    "limits to judge by\n(default suspend=10ms, resume=10ms, effect=5, online=10)")
#define REQUIRE(example)                                          \
	OPT(bench_opts, require, "require", 0, OPT_LIST, "LIMIT", \
	    "a limit that decides the exit status,\nsuch as '" example "'; may be repeated")
#define GRACE                                            \
	OPT(bench_opts, grace, "grace", 0, OPT_U64, "N", \
	    "\ngrace period, in 1000 GPU clocks,\n0 to 255 (default 32)")
#define PAUSE                                                 \
	OPT(bench_opts, pause_ns, "pause", 0, OPT_NS, "TIME", \
	    "\nrest this long between runs (default 0)")
#define SEED(what)                                     \
	OPT(bench_opts, seed, "seed", 0, OPT_U64, "N", \
	    "\norder of the " what "\n(default: drawn, and printed)")
#define UNTIL_SHOWN                                                  \
	OPT(bench_opts, until_shown, "until-shown", 0, OPT_FLAG, "", \
	    "\nend when each --require is shown or refuted; if\nthere is none, when each goal is")
#define RAW(what)                                           \
	OPT(bench_opts, raw, "samples", 0, OPT_STR, "FILE", \
	    "write each " what " to FILE,\none JSON object a line")

static const struct opt preempt_opts[] = {
	PICK_OPTS(bench_opts),
	PICK_QUEUES_OPTS(bench_opts),
	OPT(bench_opts, dry, "dry-run", 0, OPT_FLAG, "",
	    "show which queues would be held, and hold none"),
	OPT(bench_opts, cycles, "cycles", 0, OPT_U64, "N",
	    "cycles of each setting\n(default 300, or as many as --for allows)"),
	OPT(bench_opts, duration_ns, "for", 0, OPT_SEC, "SEC", "\nend after this time"),
	OPT(bench_opts, hold_ns, "hold", 0, OPT_NS, "TIME",
	    "how long queues stay suspended (default 10ms)"),
	OPT(bench_opts, gap_ns, "gap", 0, OPT_NS, "TIME",
	    "\nhow long they run between cycles (default 10ms,\nor more: see LEAST_PERIOD in "
	    "gpq-bench(1))"),
	GRACE,
	OPT(bench_opts, sweep, "sweep", 0, OPT_WORDS, "NAME=VALUE,...",
	    "\ncompare settings of grace, queues, prio, hold,\ngap;\nmay be repeated"),
	SEED("settings"),
	OPT(bench_opts, runs, "runs", 0, OPT_U64, "N", "\nall of it so many times (default 1)"),
	PAUSE,
	OPT(bench_opts, warmup, "warmup", 0, OPT_U64, "N",
	    "\ncycles of each setting that count for nothing,\nbefore the others (default 3)"),
	OPT(bench_opts, baseline_every, "baseline-every", 0, OPT_U64, "N",
	    "\nundisturbed window after every Nth cycle\nof a setting (default 10)"),
	OPT(bench_opts, settle_ns, "settle", 0, OPT_NS, "TIME",
	    "\nhow long stillness is watched\nwithout a break (default 1ms)"),
	OPT(bench_opts, patience_ns, "patience", 0, OPT_NS, "TIME",
	    "\ngive up after so long without progress\n(default 10s)"),
	OPT(bench_opts, breakdown, "breakdown", 0, OPT_FLAG, "",
	    "also unmap, save, map and rest of each suspension,\nfrom a trace of the kernel "
	    "(root)"),
	RAW("cycle"),
	UNTIL_SHOWN,
	GOAL,
	REQUIRE("suspend p99 < 10ms"),
	{0},
};

static const struct opt ab_opts[] = {
	OPT(bench_opts, dry, "dry-run", 0, OPT_FLAG, "",
	    "\nshow who belongs to which side now, and run nothing"),
	OPT(bench_opts, ab.command[0], "online-cmd", 0, OPT_STR, "CMD",
	    "the online work, for sh -c"),
	OPT(bench_opts, ab.command[1], "offline-cmd", 0, OPT_STR, "CMD",
	    "the offline work, likewise"),
	OPT(bench_opts, pids[0], "online-pid", 0, OPT_PIDS, "PID[,PID...]",
	    "\nonline work that runs already"),
	OPT(bench_opts, pids[1], "offline-pid", 0, OPT_PIDS, "PID[,PID...]",
	    "\noffline work that runs already"),
	OPT(bench_opts, specs[0], "online", 0, OPT_LIST, "SPEC",
	    "online processes, as 'container=serve,user=ml',\nthat run already, or that CMD has "
	    "others "
	    "start;\nmay be repeated"),
	OPT(bench_opts, specs[1], "offline", 0, OPT_LIST, "SPEC", "the offline work, likewise"),
	OPT(bench_opts, ab.for_ns, "for", 0, OPT_SEC, "SEC",
	    "\nhow long online work without a command is watched\n(default 10s)"),
	OPT(bench_opts, modes, "modes", 0, OPT_WORDS, "MODE,...",
	    "alone, shared, preempt (default: all)"),
	OPT(bench_opts, runs, "runs", 0, OPT_U64, "N", "runs in each mode (default 3)"),
	PAUSE,
	SEED("modes in each round"),
	OPT_ONE_OF(bench_opts, ab.hold, "burst-on", 0, "WHAT",
		   "when to suspend: command (default) or progress:\nwhile the online "
		   "command runs, or while its queues make progress",
		   "command\0progress"),
	OPT(bench_opts, ab.idle_ns, "idle", 0, OPT_NS, "TIME",
	    "\na burst is over when the queues were empty\nfor so long (default 5ms)"),
	GRACE,
	OPT(bench_opts, ab.pattern[AB_METRIC], "metric", 0, OPT_EXPR, "REGEX",
	    "latencies from the online command's output:\nthe number in ( ); in a second ( ): "
	    "since when"),
	OPT_ONE_OF(bench_opts, ab.metric_unit, "metric-unit", 0, "UNIT",
		   "\nits unit: ns, us, ms or s (default ms)", "ns\0us\0ms\0s"),
	OPT(bench_opts, ab.pattern[AB_OFFLINE_METRIC], "offline-metric", 0, OPT_EXPR, "REGEX",
	    "\nthe offline work's rate from its output,\ninstead of its packets"),
	OPT(bench_opts, ab.log_dir, "log-dir", 0, OPT_STR, "DIR",
	    "\nHIP of both commands is to log there,\nand latencies and rate are taken from that"),
	OPT(bench_opts, decisions, "log-decisions", 0, OPT_STR, "FILE",
	    "\nlog the online work and the holds for gpq sched --replay"),
	OPT(bench_opts, ab.online_log, "online-log", 0, OPT_STR, "FILE",
	    "\nlatencies from the online command's AMD log:\nFILE, or FILE_PID"),
	OPT(bench_opts, ab.offline_log, "offline-log", 0, OPT_STR, "FILE",
	    "\nlikewise the offline work's rate"),
	OPT(bench_opts, ab.lead_ns, "lead", 0, OPT_NS, "TIME",
	    "\noffline runs so long before and after online\n(default 1s)"),
	OPT(bench_opts, ab.ready_ns, "ready", 0, OPT_NS, "TIME",
	    "\nhow long to wait for the commands' queues\n(default 60s)"),
	OPT(bench_opts, ab.pattern[AB_OFFLINE_READY], "offline-ready", 0, OPT_EXPR, "REGEX",
	    "\noffline has begun when it prints such a line\n(default: when its queues take "
	    "packets)"),
	OPT(bench_opts, sweep_env, "sweep-env", 0, OPT_LIST, "NAME=VALUE,...",
	    "\ncompare settings of this environment variable\nof the commands"),
	RAW("run"),
	UNTIL_SHOWN,
	GOAL,
	REQUIRE("online p99 < 50ms"),
	{0},
};

static const struct opt report_opts[] = {
	OPT(bench_opts, html, "html", 0, OPT_STR, "FILE", "also write a page with plots"),
	OPT(bench_opts, svg, "svg-dir", 0, OPT_STR, "DIR",
	    "also write each plot to a file,\nDIR/plot-1.svg and so on"),
	OPT(bench_opts, compare, "compare", 0, OPT_FLAG, "",
	    "compare two files or folders, the old one first"),
	GOAL,
	REQUIRE("offline loss < 20%"),
	{0},
};

static const struct bench_opts defaults = {
	.cycles = U64_NULL,
	.hold_ns = 10000000,
	.gap_ns = U64_NULL,
	.grace = 32,
	.warmup = 3,
	.baseline_every = 10,
	.settle_ns = 1000000,
	.patience_ns = 10000000000,
	.seed = U64_NULL,
	.runs = U64_NULL,
	.ab = {.idle_ns = 5000000,
	       .metric_unit = 2,
	       .for_ns = 10000000000,
	       .lead_ns = 1000000000,
	       .ready_ns = 60000000000},
};

int measurement_begin(struct measurement *m, struct cmd *c, bool is_ab)
{
	const struct bench_opts *o = c->opts;
	m->run = load_new_run(&m->all, is_ab, &(struct bench_context){0});
	m->raw.fd = m->raw.part = -1;
	// Results are printed even if the reader of --samples is gone, or a limit of size is met.
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return require_parse(&m->limits, &o->goals, &o->require,
			     is_ab ? REQUIRE_AB : REQUIRE_PREEMPT);
}

int bench_check_limits(const struct bench_opts *o, unsigned kinds)
{
	struct requirements limits = {0};
	const int status = require_parse(&limits, &o->goals, &o->require, kinds);
	require_fini(&limits);
	return status;
}

int measurement_end(struct measurement *m, const struct cmd *c, int status)
{
	if (raw_file_close(&m->raw) && !status)
		status = err_sys(errno, NULL, "--samples %s", m->raw.path);
	const int printed = bench_print_all(&c->out, &m->all, &m->limits);
	require_fini(&m->limits);
	load_fini(&m->all);
	return status ? status : printed;
}

bool bench_may_end(struct measurement *m, const struct bench_opts *o, uint64_t looks)
{
	for (size_t i = 0; i < m->all.n; i++)
		if (!o->until_shown || !require_decided(&m->limits, m->all.run[i], looks))
			return false;
	err_note("--until-shown: each limit is shown or refuted");
	return true;
}

uint64_t bench_seed(const struct bench_opts *o, struct bench_context *c)
{
	uint32_t drawn; // 32 bits only, so that the seed is short enough to type again
	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		drawn = (uint32_t)clock_ns();
	uint64_t seed = o->seed == U64_NULL ? drawn : o->seed;
	snprintf(c->text[CONTEXT_seed], sizeof(c->text[0]), "%" PRIu64, seed);
	return seed;
}

const char *bench_setting_name(const struct judged *j)
{
	return j->setting && strcmp(j->setting, "all") != 0 ? j->setting : "";
}

int bench_worse(int a, int b)
{
	return !a || (a == GPQ_UNSHOWN && b) ? b : a;
}

int bench_required(const struct requirements *limits, const char *name, struct load_run *run)
{
	struct judged *v;
	const size_t n = require_judge(limits, run, &v);
	int status = GPQ_OK;
	for (size_t i = 0; i < n; i++) {
		const struct judged *j = &v[i];
		const char *setting = bench_setting_name(j);
		if (!j->of->text || j->verdict == VERDICT_SHOWN)
			continue;
		const bool unshown = j->verdict == VERDICT_NOT_SHOWN;
		const int bad = err_fail(
			unshown ? GPQ_UNSHOWN : GPQ_FAILED, NULL, "%s%srequired: %s: %s%s%s%s%s%s",
			name, *name ? ": " : "", j->of->text, isnan(j->value) ? "" : j->shown.text,
			*setting ? " with " : "", setting, unshown ? ", not shown" : "",
			*j->reason && !isnan(j->value) ? ", " : "", j->reason);
		status = bench_worse(status, bad);
	}
	free(v);
	return status;
}

#define ALL_TABLES BENCH_PREEMPT_TABLES, BENCH_AB_TABLES, BENCH_SHARED_TABLES, &bench_changes_table

static const struct cmd_kind kinds[] = {
	{.name = "preempt",
	 .title = "bench preempt",
	 .summary = "suspend a process, or several at once, watch their queues stand still, hold, "
		    "resume, watch them go on; many times",
	 .synopsis =
		 "-p PID[,PID...] [--cycles N] [--hold TIME] [--gap TIME] [--sweep NAME=VALUE,...] "
		 "[--samples FILE]",
	 .opts = preempt_opts,
	 .rules = bench_preempt_rules,
	 .tables = SCHEMA_TABLES(BENCH_PREEMPT_TABLES, BENCH_SHARED_TABLES),
	 .check = bench_check_preempt,
	 .run = bench_preempt},
	{.name = "ab",
	 .title = "bench ab",
	 .summary = "run online and offline work alone, together, and with the offline work "
		    "suspended while the online work needs the GPU",
	 .synopsis = "--online-cmd CMD|--online SPEC --offline-cmd CMD|--offline "
		     "SPEC\n[--modes MODE,...] [--runs N] [--burst-on WHAT]",
	 .opts = ab_opts,
	 .rules = bench_ab_rules,
	 .tables = SCHEMA_TABLES(BENCH_AB_TABLES, BENCH_SHARED_TABLES, &bench_sides_table),
	 .check = bench_check_ab,
	 .run = bench_ab},
	{.name = "report",
	 .title = "bench report",
	 .summary = "what raw samples of one or more runs say, as Markdown and as a page with "
		    "plots",
	 .synopsis = "[--html FILE] [--svg-dir DIR] FILE|DIR...\n--compare [--html FILE] OLD NEW",
	 .operands = "FILE...",
	 .opts = report_opts,
	 .rules = bench_report_rules,
	 .tables = SCHEMA_TABLES(ALL_TABLES),
	 .run = bench_report},
	{0},
};

static unsigned bench_needs(const struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	return c->kind->run == bench_report ? 0
	       : o->dry                     ? NEED_KFD
					    : NEED_LIVE | NEED_KFD | NEED_DEV_KFD | HAS_DRY_RUN;
}

const struct out_table *const *bench_run_tables(bool ab)
{
	static const struct out_table *const preempt[] = {BENCH_PREEMPT_TABLES, BENCH_SHARED_TABLES,
							  &bench_context_table, NULL};
	static const struct out_table *const both[] = {BENCH_AB_TABLES, BENCH_SHARED_TABLES,
						       &bench_context_table, NULL};
	return ab ? both : preempt;
}

static const struct out_table *const *bench_prints(const struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	static const struct out_table *const any[] = {BENCH_PREEMPT_TABLES, BENCH_AB_TABLES,
						      BENCH_SHARED_TABLES, &bench_context_table,
						      NULL};
	const bool ab = c->kind->run == bench_ab;
	if (c->kind->run == bench_report)
		return o->compare ? bench_changes_schema.tables : any;
	if (o->dry)
		return ab ? bench_sides_schema.tables : suspend_schema.tables;
	return o->sweep_env.n && strchr(*o->sweep_env.v, ',') ? bench_runs_schema.tables
							      : bench_run_tables(ab);
}

const struct cmd_spec bench_spec = {
	.kinds = kinds,
	.description = "Measure what suspending and resuming the queues of a process costs.",
	.opts_size = sizeof(struct bench_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(ALL_TABLES, &bench_sides_table),
	.schemas = SCHEMAS(&bench_preempt_schema, &bench_ab_schema, &bench_changes_schema,
			   &bench_runs_schema, &bench_sides_schema),
	.needs = bench_needs,
	.prints = bench_prints,
};
