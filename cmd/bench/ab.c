// gpq bench ab: the whole experiment by one command.
#include "cmd/bench/bench.h"

#include "cmd/snapshot/run_tables.h"
#include "common/bench/ab.h"
#include "common/bench/raw.h"
#include "common/bench/report.h"
#include "common/cli/progress.h"
#include "common/stats/maths.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct online_row {
	const char *mode;
	uint64_t runs, n, mean, sd, p50, p95, p99, max;
	double ratio;
};

static const struct out_col online_cols[] = {
	OUT_COL(online_row, mode, "MODE", "mode", OUT_STR, OUT_DEFAULT,
		"alone, shared with the offline work, or with it preempted"),
	OUT_COL(online_row, runs, "RUNS", "runs", OUT_U64, OUT_DEFAULT, "runs"),
	OUT_COL(online_row, n, "N", "n", OUT_U64, OUT_DEFAULT, "online requests"),
	OUT_COL(online_row, mean, "MEAN", "mean_ns", OUT_NS, OUT_DEFAULT, "mean latency"),
	OUT_COL(online_row, sd, "SD", "sd_ns", OUT_NS, OUT_DEFAULT, "standard deviation"),
	OUT_COL(online_row, p50, "P50", "p50_ns", OUT_NS, OUT_DEFAULT, "median"),
	OUT_COL(online_row, p95, "P95", "p95_ns", OUT_NS, OUT_DEFAULT, "95th percentile"),
	OUT_COL(online_row, p99, "P99", "p99_ns", OUT_NS, OUT_DEFAULT, "99th percentile"),
	OUT_COL(online_row, max, "MAX", "max_ns", OUT_NS, OUT_DEFAULT, "greatest"),
	OUT_COL(online_row, ratio, "RATIO", "ratio", OUT_F64, OUT_DEFAULT,
		"median against that of alone"),
};
const struct out_table bench_online_table = {"online", "online", online_cols,
					     sizeof(online_cols) / sizeof(online_cols[0])};

struct offline_row {
	const char *mode;
	uint64_t runs, holds, suspend, resume;
	double rate, sd, held, loss;
};

static const struct out_col offline_cols[] = {
	OUT_COL(offline_row, mode, "MODE", "mode", OUT_STR, OUT_DEFAULT, "as above"),
	OUT_COL(offline_row, runs, "RUNS", "runs", OUT_U64, OUT_DEFAULT, "runs"),
	OUT_COL(offline_row, rate, "RATE", "rate_per_s", OUT_F64, OUT_DEFAULT,
		"AQL packets a second, or what --offline-metric found; mean over runs"),
	OUT_COL(offline_row, sd, "SD", "rate_sd", OUT_F64, OUT_DEFAULT, "its standard deviation"),
	OUT_COL(offline_row, holds, "HOLDS", "holds", OUT_U64, OUT_DEFAULT,
		"times it was suspended"),
	OUT_COL(offline_row, suspend, "SUSPEND", "suspend_p50_ns", OUT_NS, OUT_DEFAULT,
		"median time from the request until all queues of all its processes were off"),
	OUT_COL(offline_row, resume, "RESUME", "resume_p50_ns", OUT_NS, OUT_DEFAULT,
		"likewise until they were back"),
	OUT_COL(offline_row, held, "HELD%", "held_percent", OUT_F64, OUT_DEFAULT,
		"share of the time it was suspended"),
	OUT_COL(offline_row, loss, "LOSS%", "loss_percent", OUT_F64, OUT_DEFAULT,
		"of its rate against alone"),
};
const struct out_table bench_offline_table = {"offline", "offline", offline_cols,
					      sizeof(offline_cols) / sizeof(offline_cols[0])};

static uint64_t ns(double v)
{
	return isnan(v) ? U64_NULL : (uint64_t)maths()->llround(v);
}

static void print_online(struct out *o, struct ab_result *a)
{
	out_begin(o, &bench_online_table, false);
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct summary s = samples_summary(&a->mode[m].latency);
		struct online_row row = {ab_mode_name[m],
					 a->mode[m].runs,
					 s.n,
					 ns(s.mean),
					 ns(s.sd),
					 ns(s.p50),
					 ns(s.p95),
					 ns(s.p99),
					 ns(s.max),
					 ab_judge(a, (enum ab_mode)m).ratio};
		if (row.runs)
			out_row(o, &row);
	}
	out_end(o);
}

static uint64_t median(struct samples *s)
{
	return ns(samples_percentile(s, 0.5));
}

static void print_offline(struct out *o, struct ab_result *a)
{
	out_begin(o, &bench_offline_table, false);
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct summary s = samples_summary(&a->mode[m].rate);
		struct ab_verdict v = ab_judge(a, (enum ab_mode)m);
		struct offline_row row = {.mode = ab_mode_name[m],
					  .runs = a->mode[m].runs,
					  .holds = a->mode[m].holds,
					  .suspend = median(&a->mode[m].suspend),
					  .resume = median(&a->mode[m].resume),
					  .rate = s.mean,
					  .sd = s.sd,
					  .held = 100 * v.held,
					  .loss = 100 * v.loss};
		if (row.runs)
			out_row(o, &row);
	}
	out_end(o);
}

// Why slots may be unknown.
static void print_looks(struct out *o, const struct ab_result *a)
{
	size_t suspended = queue_sets_suspended(a->queue_set, a->nqueue_sets);
	if (suspended)
		out_title(o,
			  "SLOT: in %zu of %zu looks the offline queues were suspended, and so in "
			  "no slot.",
			  suspended, a->nqueue_sets);
	if (out_json(o)) {
		json_u64(out_json(o), "looks", a->nqueue_sets);
		json_u64(out_json(o), "looks_suspended", suspended);
	}
}

// Whose queues are which, over all runs; as gpq snapshot --compare tells it.
static void print_ids(struct out *o, const struct ab_result *a)
{
	struct lineups c;
	if (queue_sets_compare(&c, a->queue_set, a->nqueue_sets))
		return;
	out_title(o, "Queues over all runs");
	run_compare_print(o, &c.runs, RUN_PROGRAMS);
	print_looks(o, a);
	out_title(o, "Queues side by side");
	run_compare_print(o, &c.runs, RUN_OVERLAPS);
	out_title(o, "How to find them again");
	run_compare_print(o, &c.runs, RUN_STRATEGIES);
	queue_sets_fini(&c);
}

static void print_histograms(struct out *o, const struct ab_result *a)
{
	if (out_mode(o) != OUT_TABLE)
		return;
	out_title(o, "Histograms");
	out_begin(o, &bench_histogram_table, false);
	for (unsigned m = 0; m < AB_MODES; m++)
		bench_print_bars(o, ab_mode_name[m], "online", &a->mode[m].latency);
	out_end(o);
}

struct ab_goal_row {
	const char *goal, *value, *limit, *result;
};

static const struct out_col ab_goal_cols[] = {
	OUT_COL(ab_goal_row, goal, "GOAL", "goal", OUT_STR, OUT_DEFAULT, "what is judged"),
	OUT_COL(ab_goal_row, value, "VALUE", "value", OUT_STR, OUT_DEFAULT, "measured"),
	OUT_COL(ab_goal_row, limit, "LIMIT", "limit", OUT_STR, OUT_DEFAULT, "must not be above"),
	OUT_COL(ab_goal_row, result, "RESULT", "result", OUT_STR, OUT_DEFAULT | OUT_STATUS,
		"ok, failed, or unknown"),
};
const struct out_table bench_ab_goals_table = {"ab_goals", "ab_goal", ab_goal_cols, 4};

static void goal_row(struct out *o, const char *goal, double value, double limit)
{
	char v[32], l[32];
	snprintf(v, sizeof(v), isnan(value) ? "-" : "%.2f%%", 100 * value);
	snprintf(l, sizeof(l), "%.2f%%", 100 * limit);
	struct ab_goal_row row = {goal, v, l,
				  isnan(value)     ? "unknown"
				  : value <= limit ? "ok"
						   : "failed"};
	out_row(o, &row);
}

static void print_ab_goals(struct out *o, struct ab_result *a, const struct result_goals *g)
{
	struct ab_verdict v = ab_judge(a, AB_PREEMPT);
	if (!a->mode[AB_PREEMPT].runs)
		return;
	out_begin(o, &bench_ab_goals_table, false);
	goal_row(o, "online median above alone", v.ratio - 1, g->online);
	goal_row(o, "offline loss beyond the share held", v.loss - v.held, g->effect);
	out_end(o);
}

static int print(struct cmd *c, struct ab_result *a)
{
	const struct bench_opts *opts = c->opts;
	struct result_goals goals;
	bench_goals(&opts->goals, &goals);
	struct out *o = out_open(&c->out);
	if (!o)
		return err_fail(GPQ_FAILED, NULL, "out of memory");
	if (c->out.columns) { // what was asked for by name, alone
		print_online(o, a);
		return out_close(o);
	}
	bench_print_context(o, &a->context);
	out_title(o, "Latency of online requests");
	print_online(o, a);
	print_histograms(o, a);
	out_title(o, "Throughput of the offline work");
	print_offline(o, a);
	print_ids(o, a);
	out_title(o, "Goals");
	print_ab_goals(o, a, &goals);
	return out_close(o);
}

struct ab {
	const struct bench_opts *opts;
	struct ab_plan plan;
	bool mode[AB_MODES];
	struct bench_context context;
	struct ab_result result;
	struct raw_file raw;
	bool has_raw;
	struct buf line;
	struct progress progress;
	uint64_t done, total; // runs
	enum ab_mode now;
};

static void draw(void *arg)
{
	struct ab *b = arg;
	progress_show(&b->progress, (double)b->done / (double)b->total,
		      "run %" PRIu64 " of %" PRIu64 ", %s", b->done + 1, b->total,
		      ab_mode_name[b->now]);
}

static int choose_modes(struct ab *b)
{
	const struct words *w = &b->opts->modes;
	for (size_t i = 0; i < w->n; i++) {
		bool known = false;
		for (unsigned m = 0; m < AB_MODES; m++)
			if (strcmp(w->v[i], ab_mode_name[m]) == 0)
				b->mode[m] = known = true;
		if (!known)
			return err_fail(GPQ_USAGE, "modes are alone, shared and preempt",
					"--modes: %s is none", w->v[i]);
	}
	for (unsigned m = 0; m < AB_MODES && !w->n; m++)
		b->mode[m] = true;
	return GPQ_OK;
}

static int make_log_dir(const struct bench_opts *o)
{
	if (o->log && (o->online_log || o->offline_log))
		return err_fail(GPQ_USAGE, NULL, "--log says where both logs are already");
	if (o->log && mkdir(o->log, 0777) && errno != EEXIST)
		return err_sys(errno, NULL, "--log %s", o->log);
	return GPQ_OK;
}

static int prepare(struct ab *b, struct cmd *c)
{
	static const double units[] = {1, 1e3, 1e6, 1e9};
	const struct bench_opts *o = b->opts;
	struct result_goals goals;
	int status = bench_goals(&o->goals, &goals);
	status = status ? status : out_check(&c->out, &bench_online_table);
	if (status)
		return status;
	if (c->argc > 1)
		return err_fail(GPQ_USAGE, "quote the commands", "%s: ab takes no operand",
				c->argv[1]);
	if (!o->online || !o->offline)
		return err_fail(GPQ_USAGE, "gpq bench ab --online CMD --offline CMD",
				"ab needs both commands");
	if (o->grace > KFD_GRACE_MAX)
		return err_fail(GPQ_USAGE, NULL, "--grace: %" PRIu64 " is not 0 to 255", o->grace);
	if (!o->runs)
		return err_fail(GPQ_USAGE, "leave it out for 3", "--runs: 0 measures nothing");
	b->plan = (struct ab_plan){.online = o->online,
				   .offline = o->offline,
				   .metric = o->metric,
				   .metric_ns = units[o->metric_unit],
				   .offline_metric = o->offline_metric,
				   .offline_ready = o->offline_ready,
				   .log_dir = o->log,
				   .online_log = o->online_log,
				   .offline_log = o->offline_log,
				   .hold = (enum ab_hold)o->burst_on,
				   .grace = (unsigned)o->grace,
				   .lead_ns = o->lead_ns,
				   .idle_ns = o->idle_ns,
				   .ready_ns = o->ready_ns,
				   .tick = draw,
				   .tick_arg = b};
	bench_context_host(&b->context);
	bench_context_driver(&b->context);
	status = status ? status : choose_modes(b);
	status = status ? status : make_log_dir(o);
	if (status || !o->raw)
		return status;
	b->has_raw = raw_file_open(&b->raw, o->raw) == 0;
	return b->has_raw ? GPQ_OK : err_sys(errno, NULL, "--raw %s", o->raw);
}

static int keep(struct ab *b, struct ab_run *r)
{
	int status = GPQ_OK;
	b->line.len = 0;
	ab_write(&b->line, &b->context, r);
	if (b->has_raw && raw_file_line(&b->raw, &b->line))
		status = err_sys(errno, "what was measured up to here follows", "--raw %s",
				 b->opts->raw);
	if (ab_result_add(&b->result, r))
		return err_fail(GPQ_FAILED, NULL, "out of memory");
	return status;
}

static int run_one(struct ab *b, enum ab_mode mode, uint64_t number)
{
	struct ab_run r;
	bool stopped = false;
	char why[400];
	err_note("run %" PRIu64 ", %s", number + 1, ab_mode_name[mode]);
	b->now = mode;
	int failed = ab_run_mode(&b->plan, mode, number, &r, &stopped, why);
	int status = failed ? failed : keep(b, &r);
	if (r.unreached)
		err_warn("gpq queues -o +CONTEXT shows them",
			 "run %" PRIu64
			 ", %s: %zu offline queues of secondary contexts ran on: the "
			 "debug interface does not reach them",
			 number + 1, ab_mode_name[mode], r.unreached);
	ab_run_fini(&r);
	b->done++;
	if (stopped) {
		err_warn("nothing is held; what was measured follows", "stopped in run %" PRIu64,
			 number + 1);
		return GPQ_PARTIAL;
	}
	if (failed)
		err_fail(failed, "nothing is held", "run %" PRIu64 ", %s: %s", number + 1,
			 ab_mode_name[mode], why);
	return status;
}

static int run_all(struct ab *b, bool wanted)
{
	int status = GPQ_OK;
	for (unsigned m = 0; m < AB_MODES; m++)
		b->total += b->mode[m] ? b->opts->runs : 0;
	progress_init(&b->progress, wanted, false);
	for (uint64_t i = 0; i < b->opts->runs && !status; i++)
		for (unsigned m = 0; m < AB_MODES && !status; m++)
			if (b->mode[m])
				status = run_one(b, (enum ab_mode)m, i);
	progress_end(&b->progress);
	return status;
}

static bool any_run(const struct ab_result *a)
{
	return a->mode[AB_ALONE].runs || a->mode[AB_SHARED].runs || a->mode[AB_PREEMPT].runs;
}

int bench_ab(struct cmd *c)
{
	struct ab b = {.opts = c->opts};
	signal(SIGPIPE, SIG_IGN); // a reader of --raw that went away: what was measured is told
	int status = prepare(&b, c);
	if (!status) {
		b.result.context = b.context;
		if (!bench_context_is_gpu(&b.context))
			err_warn(NULL, "this is a software GPU: times here are not a GPU's");
		status = run_all(&b, c->out.progress);
	}
	if (any_run(&b.result)) {
		int printed = print(c, &b.result);
		status = status ? status : printed;
	}
	if (b.has_raw && raw_file_close(&b.raw) && !status)
		status = err_sys(errno, NULL, "--raw %s", b.opts->raw);
	ab_result_fini(&b.result);
	buf_fini(&b.line);
	return status;
}
