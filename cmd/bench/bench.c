// gpq bench: option table, --goal, choice of the subcommand. The subcommands are in preempt.c, ab.c
// and report.c; common/bench measures and computes results.
#include "cmd/bench/bench.h"

#include "cmd/snapshot/snapshot.h"
#include "common/cli/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const burst_words[] = {"command", "progress", NULL};
static const char *const unit_words[] = {"ns", "us", "ms", "s", NULL};

static const struct opt opts[] = {
	OPT(bench_opts, pids, "pid", 'p', OPT_PIDS, "PID", "preempt: the process to measure"),
	OPT(bench_opts, cycles, "cycles", 0, OPT_U64, "N",
	    "preempt: cycles of each setting (default 100, or as many as --duration allows)"),
	OPT(bench_opts, duration_ns, "duration", 0, OPT_NS, "T", "preempt: stop after this long"),
	OPT(bench_opts, hold_ns, "hold", 0, OPT_NS, "T",
	    "preempt: how long queues stay suspended (default 10ms)"),
	OPT(bench_opts, gap_ns, "gap", 0, OPT_NS, "T",
	    "preempt: how long they run between cycles (default 10ms)"),
	OPT(bench_opts, queues, "queue", 'Q', OPT_WORDS, "ID,...", "preempt: only these queues"),
	OPT(bench_opts, gpus, "gpu", 0, OPT_WORDS, "GPU,...",
	    "preempt: only queues on these GPUs (index, gpu_id or PCI address)"),
	OPT(bench_opts, grace, "grace", 0, OPT_U64, "N",
	    "preempt, ab: grace period, in 1000 GPU clocks, 0 to 255 (default 32)"),
	OPT(bench_opts, sweep, "sweep", 0, OPT_WORDS, "NAME=VALUE,...",
	    "preempt: compare settings of grace, queues, hold, gap; may be repeated"),
	OPT(bench_opts, seed, "seed", 0, OPT_U64, "N",
	    "preempt: order of the settings (default: drawn, and printed)"),
	OPT(bench_opts, warmup, "warmup", 0, OPT_U64, "N",
	    "preempt: cycles of each setting before those that count (default 3)"),
	OPT(bench_opts, untouched_every, "untouched-every", 0, OPT_U64, "N",
	    "preempt: a window of undisturbed running before every Nth cycle of a setting "
	    "(default 10)"),
	OPT(bench_opts, settle_ns, "settle", 0, OPT_NS, "T",
	    "preempt: how long stillness is watched without a break (default 1ms)"),
	OPT(bench_opts, patience_ns, "patience", 0, OPT_NS, "T",
	    "preempt: give up when there is no progress for so long (default 10s)"),
	OPT(bench_opts, raw, "raw", 0, OPT_STR, "FILE",
	    "preempt, ab: write each cycle or run to FILE, one JSON object a line"),
	OPT(bench_opts, overhead, "overhead", 0, OPT_FLAG, NULL,
	    "preempt: measure gpq's own part: suspend calls with an empty list of queues"),
	OPT(bench_opts, goals, "goal", 0, OPT_WORDS, "NAME=VALUE,...",
	    "limits to judge by (default suspend=10ms,resume=10ms,effect=5,online=10)"),
	OPT(bench_opts, ab.online, "online", 0, OPT_STR, "CMD", "ab: the online work, for sh -c"),
	OPT(bench_opts, ab.offline, "offline", 0, OPT_STR, "CMD", "ab: the offline work"),
	OPT(bench_opts, modes, "modes", 0, OPT_WORDS, "MODE,...",
	    "ab: alone, shared, preempt (default: all)"),
	OPT(bench_opts, runs, "runs", 0, OPT_U64, "N", "ab: runs in each mode (default 3)"),
	OPT_ONE_OF(bench_opts, ab.hold, "burst-on", 0, "WHAT",
		   "ab: suspend while the online command runs, or while its queues make progress",
		   burst_words),
	OPT(bench_opts, ab.idle_ns, "idle", 0, OPT_NS, "T",
	    "ab: a burst is over when the queues were empty for so long (default 5ms)"),
	OPT(bench_opts, ab.metric, "metric", 0, OPT_STR, "REGEX",
	    "ab: latencies from what the online command prints: the number in ( )"),
	OPT_ONE_OF(bench_opts, ab.metric_unit, "metric-unit", 0, "UNIT",
		   "ab: its unit: ns, us, ms or s (default ms)", unit_words),
	OPT(bench_opts, ab.offline_metric, "offline-metric", 0, OPT_STR, "REGEX",
	    "ab: the offline work's rate from what it prints, instead of its packets"),
	OPT(bench_opts, ab.log_dir, "log", 0, OPT_STR, "DIR",
	    "ab: HIP of both commands is to log there, and latencies and rate are taken from that"),
	OPT(bench_opts, ab.online_log, "online-log", 0, OPT_STR, "FILE",
	    "ab: latencies from the AMD log that the online command writes, or FILE_PID"),
	OPT(bench_opts, ab.offline_log, "offline-log", 0, OPT_STR, "FILE",
	    "ab: likewise the offline work's rate"),
	OPT(bench_opts, ab.lead_ns, "lead", 0, OPT_NS, "T",
	    "ab: offline runs so long before and after the online command (default 1s)"),
	OPT(bench_opts, ab.ready_ns, "ready", 0, OPT_NS, "T",
	    "ab: how long the commands may take until they have queues (default 60s)"),
	OPT(bench_opts, ab.offline_ready, "offline-ready", 0, OPT_STR, "REGEX",
	    "ab: the offline work has begun when it prints a line that matches (default: when its "
	    "queues take packets)"),
	OPT(bench_opts, html, "html", 0, OPT_STR, "FILE", "report: also write a page with plots"),
	OPT(bench_opts, svg, "svg", 0, OPT_STR, "DIR",
	    "report: also write each plot to a file, DIR/plot-1.svg and so on"),
	OPT(bench_opts, compare, "compare", 0, OPT_FLAG, NULL,
	    "report: compare two files or folders, the old one first"),
	{0},
};

static const struct bench_opts defaults = {
	.cycles = U64_NULL,
	.hold_ns = 10000000,
	.gap_ns = 10000000,
	.grace = 32,
	.warmup = 3,
	.untouched_every = 10,
	.settle_ns = 1000000,
	.patience_ns = 10000000000,
	.seed = U64_NULL,
	.runs = 3,
	.ab = {.idle_ns = 5000000,
	       .metric_unit = 2,
	       .lead_ns = 1000000000,
	       .ready_ns = 60000000000},
};

static const struct kind {
	const char *name; // NULL ends the table
	unsigned needs;
	int (*run)(struct cmd *c);
} kinds[] = {
	{"ab", NEED_LIVE | NEED_KFD | NEED_DEV_KFD, bench_ab},
	{"preempt", NEED_LIVE | NEED_KFD | NEED_DEV_KFD, bench_preempt},
	{"report", 0, bench_report},
	{0},
};

// The subcommand, or NULL.
static const struct kind *find_kind(const struct cmd *c)
{
	for (const struct kind *k = kinds; c->argc && k->name; k++)
		if (strcmp(c->argv[0], k->name) == 0)
			return k;
	return NULL;
}

static unsigned needs(const struct cmd *c)
{
	const struct kind *k = find_kind(c);
	return k ? k->needs : 0;
}

// Size of the option's member.
static size_t size_of(enum opt_kind kind)
{
	return kind == OPT_FLAG     ? sizeof(bool)
	       : kind == OPT_CHOICE ? sizeof(int)
	       : kind == OPT_WORDS  ? sizeof(struct words)
	       : kind == OPT_PIDS   ? sizeof(struct pids)
				    : sizeof(uint64_t);
}

// Options that only tune a measurement are accepted with every kind.
static bool is_tuning(const char *name)
{
	static const char *const names[] = {"seed",        "warmup",   "untouched-every",
					    "settle",      "patience", "idle",
					    "metric-unit", "lead",     "ready"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

// Refuses options of other kinds, which would have no effect. The help of an option begins with the
// kinds that take it ("preempt, ab: grace period"); without a colon, all do.
static int check_options(const struct cmd *c, const char *kind)
{
	for (const struct opt *o = opts; o->name; o++) {
		const char *colon = strchr(o->help, ':');
		if (colon && !memmem(o->help, (size_t)(colon - o->help), kind, strlen(kind)) &&
		    !is_tuning(o->name) &&
		    memcmp((const char *)c->opts + o->offset, (const char *)&defaults + o->offset,
			   size_of(o->kind)) != 0)
			return err_fail(GPQ_USAGE, "gpq bench --help says which option is whose",
					"%s: --%s does not belong to it", kind, o->name);
	}
	return GPQ_OK;
}

static bool per_cent(const char *text, double *share)
{
	char *end;
	double v = strtod(text, &end);
	*share = v / 100;
	return end != text && *end == '\0' && v >= 0 && v <= 100;
}

static bool limit(const char *text, double *ns)
{
	uint64_t v;
	bool ok = parse_duration(text, &v);
	*ns = ok ? (double)v : 0;
	return ok;
}

int bench_goals(const struct words *w, struct result_goals *g)
{
	*g = (struct result_goals){1e7, 1e7, 0.05, 0.1};
	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->v[i];
		bool ok = strncmp(word, "suspend=", 8) == 0  ? limit(word + 8, &g->suspend_ns)
			  : strncmp(word, "resume=", 7) == 0 ? limit(word + 7, &g->resume_ns)
			  : strncmp(word, "effect=", 7) == 0 ? per_cent(word + 7, &g->effect)
			  : strncmp(word, "online=", 7) == 0 ? per_cent(word + 7, &g->online)
							     : false;
		if (!ok)
			return err_fail(GPQ_USAGE, "for example suspend=10ms,resume=10ms,effect=5",
					"--goal: %s is none", word);
	}
	return GPQ_OK;
}

static int run(struct cmd *c)
{
	const struct kind *k = find_kind(c);
	if (!k)
		return err_fail(GPQ_USAGE, "say gpq bench ab, preempt or report",
				c->argc ? "%s is no kind of bench" : "which kind of bench?",
				c->argc ? c->argv[0] : "");
	int status = check_options(c, k->name);
	return status ? status : k->run(c);
}

static const struct out_table *const tables[] = {&bench_latencies_table,
						 &bench_effects_table,
						 &bench_goals_table,
						 &bench_changes_table,
						 &bench_online_table,
						 &bench_offline_table,
						 &run_compare_tables[RUN_PROGRAMS],
						 &run_compare_tables[RUN_OVERLAPS],
						 &run_compare_tables[RUN_STRATEGIES],
						 &bench_ab_goals_table,
						 &bench_histogram_table,
						 NULL};

const struct cmd_spec bench_spec = {
	.synopsis = "preempt -p PID [--cycles N] [--hold T] [--gap T] [--sweep NAME=VALUE,...] "
		    "[--raw FILE]\npreempt -p PID --overhead\nab --online CMD "
		    "--offline CMD [--modes MODE,...] [--runs N] [--burst-on WHAT]\nreport "
		    "[--html FILE] FILE|DIR...\nreport --compare OLD NEW",
	.description =
		"Measure what suspending and resuming the queues of a process costs.\n"
		"preempt: suspends, watches the queues stand still, holds, resumes, watches them "
		"go on; many times.\n"
		"ab: runs online and offline work alone, together, and with the offline work "
		"suspended while the online work needs the GPU.\n"
		"report: what raw samples of one or more runs say, as Markdown and as a page with "
		"plots.",
	.operands = "KIND [FILE...]",
	.opts = opts,
	.opts_size = sizeof(struct bench_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&bench_preempt_schema, &bench_overhead_schema, &bench_ab_schema,
			   &bench_changes_schema),
	.needs = needs,
	.run = run,
};
