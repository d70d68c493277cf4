// Results of gpq bench: tables and verdicts. Tables that only ab has are in print_ab.c.
#include "cmd/bench/bench.h"

#include "common/stats/hist.h"
#include "common/host/maths.h"

#define ROW times_row
static const struct out_col latency_cols[] = {
	COL(setting, "SETTING", "setting", STR, D, "what differs from the other settings compared"),
	COL(metric, "METRIC", "metric", STR, D, "which time, see gpq-bench(1)"),
	COL(n, "N", "n", U64, D, "samples, warm-up left out"),
	COL(p50, "P50", "p50_ns", NS, D, "median"),
	COL(ci_low, "CI_LOW", "ci_low_ns", NS, D | W,
	    "lower end of the median's 95 % interval; 6 samples have one"),
	COL(ci_high, "CI_HIGH", "ci_high_ns", NS, D | W, "upper end of it"),
	COL(p90, "P90", "p90_ns", NS, D, "90th percentile"),
	COL(p95, "P95", "p95_ns", NS, M, "95th percentile"),
	COL(p99, "P99", "p99_ns", NS, D, "99th percentile"),
	COL(p999, "P99.9", "p999_ns", NS, D | W, "99.9th percentile"),
	COL(max, "MAX", "max_ns", NS, D, "greatest sample"),
	COL(min, "MIN", "min_ns", NS, M, "smallest sample"),
	COL(mean, "MEAN", "mean_ns", NS, M, "mean"),
	COL(sd, "SD", "sd_ns", NS, M, "standard deviation"),
};
#undef ROW
const struct out_table bench_latencies_table = {"latencies", "latency", OUT_COLS(latency_cols)};

struct effect_row {
	const char *setting;
	uint64_t cycles;
	struct result_rates v;
	uint64_t least_period;
};

#define ROW effect_row
static const struct out_col effect_cols[] = {
	COL(setting, "SETTING", "setting", STR, D, "as above"),
	COL(cycles, "CYCLES", "cycles", U64, D, "cycles, warm-up left out"),
	COL(v.baseline, "BASELINE/S", "baseline_per_s", F64, D,
	    "AQL packets a second while nothing was done"),
	COL(v.gap, "GAP/S", "gap_per_s", F64, D, "between resume and the next cycle"),
	COL(v.held, "HELD/S", "held_per_s", F64, D, "while it was suspended"),
	COL(v.held_share, "HELD%", "held_percent", F64, D, "share of the time it was suspended"),
	COL(v.loss, "LOSS%", "loss_percent", F64, D, "of its throughput, against the baseline"),
	COL(v.effect, "EFFECT%", "effect_percent", F64, D,
	    "loss beyond the share of time it was suspended"),
	COL(v.cost, "COST%", "cost_percent", F64, D,
	    "share of the time in which the calls kept other queues of the GPU off, too"),
	COL(least_period, "LEAST_PERIOD", "least_period_ns", NS, D,
	    "ten times what a hold costs others (p90): hold no more often"),
};
#undef ROW
const struct out_table bench_effects_table = {"effects", "effect", OUT_COLS(effect_cols)};

#define ROW  judged
#define TWIN (OUT_MACHINE | OUT_TWIN)
static const struct out_col goal_cols[] = {
	COL(name, "GOAL", "goal", STR, D, "what is judged"),
	COL(setting, "SETTING", "setting", STR, D, "as above; null: the experiment"),
	COL(shown.text, "MEASURED", "measured", STR, D | A, "what was found"),
	COL(bounds, "BOUNDS", "bounds", STR, D | A, "each is right in 95 of 100 measurements"),
	COL(limit.text, "LIMIT", "limit", STR, D | A, "what it must be below, or not above"),
	COL(result, "RESULT", "result", STR, D | S, "shown, refuted, not shown, or unknown"),
	COL(reason, "REASON", "reason", STR, D | A, "why it is not shown, and what that needs"),
	COL(more, "MORE", "more", U64, TWIN,
	    "samples, requests, runs or baselines that are missing"),
	COL(shown.ns, "MEASURED_NS", "measured_ns", NS, TWIN, "measured, of a time"),
	COL(low.ns, "BOUND_LOW_NS", "bound_low_ns", NS, TWIN, "its lower bound"),
	COL(high.ns, "BOUND_HIGH_NS", "bound_high_ns", NS, TWIN, "its upper bound"),
	COL(limit.ns, "LIMIT_NS", "limit_ns", NS, TWIN, "its limit"),
	COL(shown.percent, "MEASURED%", "measured_percent", F64, TWIN, "measured, of a share"),
	COL(low.percent, "BOUND_LOW%", "bound_low_percent", F64, TWIN, "its lower bound"),
	COL(high.percent, "BOUND_HIGH%", "bound_high_percent", F64, TWIN, "its upper bound"),
	COL(limit.percent, "LIMIT%", "limit_percent", F64, TWIN, "its limit"),
	COL(required, "REQUIRED", "required", BOOL, TWIN, "does it decide the exit status?"),
};
#undef TWIN
#undef ROW
const struct out_table bench_goals_table = {"goals", "goal", OUT_COLS(goal_cols)};

struct bar_row {
	const char *setting, *metric, *bar;
	uint64_t from, to, n;
	double share;
};

#define ROW bar_row
static const struct out_col histogram_cols[] = {
	COL(setting, "SETTING", "setting", STR, D, "as above, or the mode"),
	COL(metric, "METRIC", "metric", STR, D, "which time"),
	COL(from, "FROM", "from_ns", NS, D, "smallest value that counts here"),
	COL(to, "TO", "to_ns", NS, D, "largest"),
	COL(n, "N", "n", U64, D, "samples"),
	COL(share, "N%", "n_percent", F64, D, "of all"),
	COL(bar, "BAR", "bar", STR, OUT_RARE, "that, drawn: the longest is the most frequent"),
};
#undef ROW
const struct out_table bench_histogram_table = {"histogram", "bar", OUT_COLS(histogram_cols)};

#define ROW result_setting
#define RESULT(name, word, heading, key, label, help) \
	COL(count[CYCLE_##name], heading, key, U64, D, help),
static const struct out_col cycles_cols[] = {
	COL(name, "SETTING", "setting", STR, D | A, "as above"),
	CYCLE_RESULTS(RESULT)
		COL(warmup, "WARMUP", "warmup", U64, D, "that ran first and count for nothing"),
	COL(set.grace, "GRACE", "grace", U64, M, "grace period, 1000 GPU clocks"),
	COL(set.queues, "QUEUES", "queues", U64, M, "how many are suspended; null: all"),
	COL(set.level, "PRIO_LEVEL", "prio_level", U64, M,
	    "of which priority: 0 low, 1 medium, 2 high; null: any"),
	COL(set.hold_ns, "HOLD", "hold_ns", NS, M, "how long they are held"),
	COL(set.gap_ns, "GAP", "gap_ns", NS, M, "how long they run between cycles"),
	COL(set.process, "MEMBER", "member", U64, M,
	    "of a group, 0: all of it; null: one process alone"),
};
#undef ROW
const struct out_table bench_cycles_table = {"cycles", "cycles", OUT_COLS(cycles_cols)};

struct saved_row {
	const char *setting;
	uint64_t xcc, mean, most;
};

#define ROW saved_row
static const struct out_col saved_cols[] = {
	COL(setting, "SETTING", "setting", STR, D, "as above"),
	COL(xcc, "XCC", "xcc", U64, D, "number of the XCC"),
	COL(mean, "SAVED_MEAN", "saved_mean_bytes", SIZE, D,
	    "wave state saved, bytes: mean over cycles"),
	COL(most, "SAVED_MAX", "saved_max_bytes", SIZE, D, "most in a cycle"),
};
#undef ROW
const struct out_table bench_saved_table = {"saved", "saved", OUT_COLS(saved_cols)};

#define ROW                     bench_context
#define CONTEXT_COL(key, label) COL(text[CONTEXT_##key], label, #key, STR, D | A, label),
static const struct out_col context_cols[] = {BENCH_CONTEXT(CONTEXT_COL)};
#undef ROW
const struct out_table bench_context_table = {"context", "context", OUT_COLS(context_cols)};

static const struct schema_member preempt_members[] = {
	{"context", SCHEMA_RECORD, "where it was measured", NULL, &bench_context_table}, {0}};
const struct schema bench_preempt_schema = {
	"gpq.bench.preempt", 1, SCHEMA_TABLES(BENCH_PREEMPT_TABLES, BENCH_SHARED_TABLES),
	preempt_members};

struct times_row bench_times(const char *setting, const char *metric, struct samples *s)
{
	struct summary m = samples_summary(s);
	const struct bounds median = stats_percentile_bounds(s, 0.5, 0.975); // each end
#define ROUNDED(name) .name = bench_ns(m.name),
	return (struct times_row){.setting = setting,
				  .metric = metric,
				  .n = m.n,
				  SUMMARY_TIMES(ROUNDED).ci_low = bench_ns(median.low),
				  .ci_high = bench_ns(median.high)};
}

bool bench_begin_table(struct out *o, const struct out_table *t, bool any, const char *title)
{
	if (!any && !out_json(o)) {
		out_skip(o, t);
		return false;
	}
	out_title(o, "%s", title);
	return !out_begin(o, t, false);
}

static bool is_main(unsigned metric)
{
	return metric == METRIC_suspend || metric == METRIC_resume;
}

static void print_metric(struct out *o, struct result *r, unsigned m)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct times_row row =
			bench_times(r->of[i]->name, result_metric_name[m], &r->of[i]->metric[m]);
		if (row.n)
			out_row(o, &row);
	}
}

// On a screen, which may have no room for all, suspend and resume come first.
static void print_latencies(struct out *o, struct result *r)
{
	const bool screen = out_fits(o);
	out_begin(o, &bench_latencies_table, false); // cannot fail: -o was checked before
	for (unsigned m = 0; screen && m < METRICS; m++)
		if (is_main(m))
			print_metric(o, r, m);
	for (unsigned m = 0; m < METRICS; m++)
		if (!screen || !is_main(m))
			print_metric(o, r, m);
	out_end(o);
}

void bench_say_few(struct out *o, uint64_t n, bool cycles)
{
	const bool p99 = !samples_carry(n, 0.99);
	uint64_t need = n;
	char how[64] = "";
	while (!samples_carry(need, p99 ? 0.99 : 0.999))
		need++;
	if (cycles)
		snprintf(how, sizeof(how), " (gpq bench preempt --cycles %" PRIu64 ")", need);
	if (n && need > n && out_mode(o) == OUT_TABLE)
		out_title(o, "%s needs %" PRIu64 " samples%s, here are %" PRIu64 ".",
			  p99 ? "P99" : "P99.9", need, how, n);
}

static void say_few_cycles(struct out *o, const struct result *r)
{
	uint64_t n = UINT64_MAX;
	for (unsigned i = 0; i < r->n; i++)
		n = r->of[i]->metric[METRIC_suspend].n < n ? r->of[i]->metric[METRIC_suspend].n : n;
	bench_say_few(o, n, true);
}

static void explain_metrics(struct out *o, const struct result *r)
{
	SCOPED(buf_fini) struct buf b = {0};
	for (unsigned m = 0; m < METRICS; m++)
		if (r->of[0]->metric[m].n)
			buf_printf(&b, "%s%s: %s", b.len ? "; " : "", result_metric_name[m],
				   result_metric_help[m]);
	if (b.len)
		out_say(o, OUT_NOTE, "%s.", b.data);
}

void bench_print_histogram(struct out *o, const char *setting, const char *metric,
			   const struct samples *s)
{
	enum { LINES = 16, LONGEST = 40 };
	static const char full[] = "########################################";
	struct hist_bars b;
	uint64_t most = 1;
	hist_bars_of_samples(&b, s, out_mode(o) == OUT_TABLE ? LINES : BARS_MAX);
	for (unsigned i = 0; i < b.n; i++)
		most = b.v[i].count > most ? b.v[i].count : most;
	for (unsigned i = 0; i < b.n; i++) {
		uint64_t len = (b.v[i].count * LONGEST + most - 1) / most;
		struct bar_row row = {setting,           metric,       full + LONGEST - len,
				      b.v[i].lower,      b.v[i].upper, b.v[i].count,
				      100 * b.v[i].share};
		out_row(o, &row);
	}
}

// Prints histograms; documents have plots instead. Tables for people have suspend and resume only.
static void print_preempt_histograms(struct out *o, const struct result *r)
{
	if (out_is_document(o))
		return;
	out_title(o, "Histograms");
	out_begin(o, &bench_histogram_table, false);
	for (unsigned m = 0; m < METRICS; m++)
		for (unsigned i = 0; i < r->n; i++)
			if (m == METRIC_suspend || m == METRIC_resume || out_mode(o) != OUT_TABLE)
				bench_print_histogram(o, r->of[i]->name, result_metric_name[m],
						      &r->of[i]->metric[m]);
	out_end(o);
}

static void print_effects(struct out *o, struct result *r)
{
	out_begin(o, &bench_effects_table, false);
	for (unsigned i = 0; i < r->n; i++) {
		struct result_setting *s = r->of[i];
		struct effect_row row = {s->name, 0, result_rates(s, SIZE_MAX),
					 bench_ns(result_least_period(s))};
		row.v.held_share *= 100;
		row.v.loss *= 100;
		row.v.effect *= 100;
		row.v.cost *= 100;
		for (unsigned k = 0; k <= CYCLE_STOPPED; k++)
			row.cycles += s->count[k];
		out_row(o, &row);
	}
	out_end(o);
	out_say(o, OUT_NOTE,
		"AQL packets that the target's queues took in a second: in windows in which "
		"nothing was done, between cycles, and while suspended. Loss is of the "
		"throughput over whole cycles against the baseline; the effect is the loss beyond "
		"the share of time it was suspended. Cost: share of the time within the two "
		"calls, in which the driver takes all queues of these GPUs off and back, those of "
		"others too; no period should be below ten times its 90th percentile, the least "
		"period.");
}

static void print_saved_waves(struct out *o, const struct result *r)
{
	bool any = false;
	for (unsigned i = 0; i < r->n; i++)
		any |= r->of[i]->xccs > 0;
	if (!bench_begin_table(o, &bench_saved_table, any, "Wave state saved"))
		return;
	for (unsigned i = 0; i < r->n; i++) {
		const struct result_setting *s = r->of[i];
		for (unsigned x = 0; x < s->xccs; x++)
			out_row(o,
				&(struct saved_row){s->name, x, s->saved_sum[x] / s->saved_cycles,
						    s->saved_max[x]});
	}
	out_end(o);
}

static void print_cycle_results(struct out *o, const struct result *r)
{
	out_begin(o, &bench_cycles_table, false);
	for (unsigned i = 0; i < r->n; i++)
		out_row(o, r->of[i]);
	out_end(o);
	out_say(o, OUT_NOTE,
		"Cycles by how they ended; those that ran to warm up count for nothing. No outlier "
		"is left out.");
}

static void print_context(struct out *o, const struct bench_context *c)
{
	const char *setting = c->text[CONTEXT_setting];
	out_title(o, "Host, driver, target%s%s", *setting ? ": " : "", setting);
	out_object(o, &bench_context_table, c);
}

// ---- the verdict: one sentence, with the worst setting for each limit

static const enum out_block block_of[] = {[VERDICT_REFUTED] = OUT_UNMET,
					  [VERDICT_NOT_SHOWN] = OUT_UNKNOWN,
					  [VERDICT_UNKNOWN] = OUT_UNKNOWN,
					  [VERDICT_SHOWN] = OUT_MET};

// Returns the worst of the results of one limit, which begin at `*i`; moves `*i` behind them.
static const struct judged *worst_of(const struct judged *v, size_t n, size_t *i)
{
	const struct judged *worst = &v[*i];
	for (; *i < n && v[*i].of == worst->of; ++*i)
		if (v[*i].verdict < worst->verdict ||
		    (v[*i].verdict == worst->verdict && v[*i].value > worst->value))
			worst = &v[*i];
	return worst;
}

static void say_judged(struct buf *b, const struct judged *j)
{
	const char *setting = bench_setting_name(j);
	buf_printf(b, "%s%s%s (limit %s%s%s%s%s)", j->name, isnan(j->value) ? "" : " ",
		   isnan(j->value) ? "" : j->shown.text, j->limit.text, *setting ? ", " : "",
		   setting, *j->reason ? ", " : "", j->reason);
}

static void print_verdict(struct out *o, struct load_run *run, const struct judged *v, size_t n)
{
	SCOPED(buf_fini) struct buf b = {0};
	enum out_block block = OUT_NOTE;
	const char *separator = run->is_ab ? "Goals for preempt " : "Goals ";
	for (unsigned g = 0; g < COUNT(block_of); g++) {
		const char *comma = NULL;
		for (size_t i = 0; i < n;) {
			const struct judged *j = worst_of(v, n, &i);
			if (j->verdict != (enum verdict)g)
				continue;
			buf_printf(&b, "%s%s%s", comma ? comma : separator, comma ? "" : j->result,
				   comma ? "" : ": ");
			say_judged(&b, j);
			block = block == OUT_NOTE ? block_of[g] : block;
			comma = ", ";
			separator = "; ";
		}
	}
	const struct ab_gain gain = ab_gain(&run->ab);
	if (n && gain.known && !gain.gained) {
		buf_puts(&b, "; no gain of preempting over sharing is shown");
		block = block == OUT_MET ? OUT_UNKNOWN : block;
	}
	if (run->result.n > 1)
		buf_printf(&b, "; the worst of %u settings", run->result.n);
	if (n)
		out_say(o, block, "%s.", b.data);
}

// Prints what was measured as the heading of a run, in documents and on a screen, and the name of
// the run below.
static void say_run(struct out *o, const struct load_run *run)
{
	const char(*text)[sizeof(run->context.text[0])] = run->context.text;
	const char *target = text[CONTEXT_target];
	SCOPED(buf_fini) struct buf b = {0};
	uint64_t n = ab_runs(&run->ab);
	for (unsigned i = 0; i < run->result.n; i++)
		n += run->result.of[i]->metric[METRIC_suspend].n;
	if (run->is_ab)
		buf_printf(&b, "Online requests beside offline work%s%s: %" PRIu64 " runs",
			   *text[CONTEXT_setting] ? ", " : "", text[CONTEXT_setting], n);
	else
		buf_printf(&b, "Suspend and resume of %s%s: %" PRIu64 " cycles",
			   strstr(target, "processes:") ? "" : "process ",
			   *target ? target : "not known", n);
	buf_printf(&b, " on %s, %s", text[CONTEXT_host], text[CONTEXT_started]);
	out_say(o, out_fits(o) ? OUT_HEADING : OUT_SECTION, "%s", b.data);
	out_say(o, OUT_NOTE, "Run %s.", *text[CONTEXT_run] ? text[CONTEXT_run] : "without a name");
}

// Prints the verdict, the goals and the first plot: first in documents, last on a terminal. On a
// screen the verdict has to do.
static void print_head(struct out *o, struct load_run *run, const struct requirements *limits)
{
	struct judged *v;
	const size_t n = require_judge(limits, run, &v);
	if (out_is_document(o))
		print_verdict(o, run, v, n);
	if (!bench_context_is_gpu(&run->context))
		out_say(o, OUT_WARNING,
			"Not measured on a GPU: the real driver over a software GPU in a VM. "
			"These times say nothing about hardware.");
	run_plot_times(o, run, limits);
	run_plot_over_time(o, run);
	if (!out_fits(o) && bench_begin_table(o, &bench_goals_table, n > 0, "Goals")) {
		for (size_t i = 0; i < n; i++)
			out_row(o, &v[i]);
		out_end(o);
	}
	if (!out_is_document(o))
		print_verdict(o, run, v, n);
	free(v);
}

static void print_preempt(struct out *o, struct load_run *run)
{
	struct result *r = &run->result;
	if (!out_fits(o))
		out_title(o, "Latencies");
	print_latencies(o, r);
	explain_metrics(o, r);
	if (r->of[0]->metric[METRIC_rest].n)
		out_say(o, OUT_WARNING,
			"These cycles were traced (--breakdown), which takes time itself: "
			"suspend and resume are longer than without.");
	say_few_cycles(o, r);
	if (out_fits(o))
		return;
	print_preempt_histograms(o, r);
	bench_print_runs(o, &run, 1);
	out_title(o, "Throughput of the target");
	run_plot_rate(o, run);
	print_effects(o, r);
	print_saved_waves(o, r);
	out_title(o, "Cycles");
	print_cycle_results(o, r);
}

void bench_print_run(struct out *o, struct load_run *run, const struct requirements *limits)
{
	const bool document = out_is_document(o);
	say_run(o, run);
	if (document)
		print_head(o, run, limits);
	else if (!out_fits(o))
		print_context(o, &run->context);
	(run->is_ab ? bench_print_ab : print_preempt)(o, run);
	if (document)
		print_context(o, &run->context);
	else
		print_head(o, run, limits);
	if (!run->is_ab)
		bench_print_growth(o, &run->result);
}

int bench_print(const struct out_opts *opts, struct load_run *run,
		const struct requirements *limits)
{
	struct out_opts form = *opts;
	form.schema = run->is_ab ? &bench_ab_schema : &bench_preempt_schema;
	struct out *o = out_open(&form);
	bench_print_run(o, run, limits);
	int status = out_close(o),
	    unmet = bench_required(limits, run->context.text[CONTEXT_setting], run);
	return status ? status : unmet;
}
