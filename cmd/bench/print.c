// Results of gpq bench as tables, JSON and verdicts.
#include "cmd/bench/bench.h"

#include "common/bench/histogram_plot.h"
#include "common/stats/maths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct latency_row {
	const char *setting, *metric;
	uint64_t n, p50, ci_low, ci_high, p90, p95, p99, p999, max, min, mean, sd;
};

static const struct out_col latency_cols[] = {
	OUT_COL(latency_row, setting, "SETTING", "setting", OUT_STR, OUT_DEFAULT,
		"what differs from the other settings compared"),
	OUT_COL(latency_row, metric, "METRIC", "metric", OUT_STR, OUT_DEFAULT,
		"which time, see gpq-bench(1)"),
	OUT_COL(latency_row, n, "N", "n", OUT_U64, OUT_DEFAULT, "samples, warm-up left out"),
	OUT_COL(latency_row, p50, "P50", "p50_ns", OUT_NS, OUT_DEFAULT, "median"),
	OUT_COL(latency_row, ci_low, "CI_LOW", "ci_low_ns", OUT_NS, OUT_DEFAULT,
		"lower end of the median's 95 % bootstrap interval"),
	OUT_COL(latency_row, ci_high, "CI_HIGH", "ci_high_ns", OUT_NS, OUT_DEFAULT,
		"upper end of it"),
	OUT_COL(latency_row, p90, "P90", "p90_ns", OUT_NS, OUT_DEFAULT, "90th percentile"),
	OUT_COL(latency_row, p95, "P95", "p95_ns", OUT_NS, OUT_MACHINE, "95th percentile"),
	OUT_COL(latency_row, p99, "P99", "p99_ns", OUT_NS, OUT_DEFAULT, "99th percentile"),
	OUT_COL(latency_row, p999, "P99.9", "p999_ns", OUT_NS, OUT_DEFAULT, "99.9th percentile"),
	OUT_COL(latency_row, max, "MAX", "max_ns", OUT_NS, OUT_DEFAULT, "greatest sample"),
	OUT_COL(latency_row, min, "MIN", "min_ns", OUT_NS, OUT_MACHINE, "smallest sample"),
	OUT_COL(latency_row, mean, "MEAN", "mean_ns", OUT_NS, OUT_MACHINE, "mean"),
	OUT_COL(latency_row, sd, "SD", "sd_ns", OUT_NS, OUT_MACHINE, "standard deviation"),
};
const struct out_table bench_latencies_table = {"latencies", "latency", latency_cols,
						sizeof(latency_cols) / sizeof(latency_cols[0])};

struct effect_row {
	const char *setting;
	uint64_t cycles;
	double untouched, gap, held, held_share, loss, effect;
};

static const struct out_col effect_cols[] = {
	OUT_COL(effect_row, setting, "SETTING", "setting", OUT_STR, OUT_DEFAULT, "as above"),
	OUT_COL(effect_row, cycles, "CYCLES", "cycles", OUT_U64, OUT_DEFAULT,
		"cycles, warm-up left out"),
	OUT_COL(effect_row, untouched, "UNTOUCHED/S", "untouched_per_s", OUT_F64, OUT_DEFAULT,
		"AQL packets a second while nothing was done"),
	OUT_COL(effect_row, gap, "GAP/S", "gap_per_s", OUT_F64, OUT_DEFAULT,
		"between resume and the next cycle"),
	OUT_COL(effect_row, held, "HELD/S", "held_per_s", OUT_F64, OUT_DEFAULT,
		"while it was suspended"),
	OUT_COL(effect_row, held_share, "HELD%", "held_percent", OUT_F64, OUT_DEFAULT,
		"share of the time it was suspended"),
	OUT_COL(effect_row, loss, "LOSS%", "loss_percent", OUT_F64, OUT_DEFAULT,
		"of its throughput, against untouched"),
	OUT_COL(effect_row, effect, "EFFECT%", "effect_percent", OUT_F64, OUT_DEFAULT,
		"loss beyond the share of time it was suspended"),
};
const struct out_table bench_effects_table = {"effects", "effect", effect_cols,
					      sizeof(effect_cols) / sizeof(effect_cols[0])};

struct goal_row {
	const char *setting, *goal, *value, *limit, *result;
};

static const struct out_col goal_cols[] = {
	OUT_COL(goal_row, setting, "SETTING", "setting", OUT_STR, OUT_DEFAULT, "as above"),
	OUT_COL(goal_row, goal, "GOAL", "goal", OUT_STR, OUT_DEFAULT, "what is judged"),
	OUT_COL(goal_row, value, "VALUE", "value", OUT_STR, OUT_DEFAULT, "measured"),
	OUT_COL(goal_row, limit, "LIMIT", "limit", OUT_STR, OUT_DEFAULT, "must be below"),
	OUT_COL(goal_row, result, "RESULT", "result", OUT_STR, OUT_DEFAULT | OUT_STATUS,
		"ok, failed, or unknown"),
};
const struct out_table bench_goals_table = {"goals", "goal", goal_cols, 5};

struct histogram_row {
	const char *setting, *metric, *bar;
	uint64_t from, to, n;
	double share;
};

static const struct out_col histogram_cols[] = {
	OUT_COL(histogram_row, setting, "SETTING", "setting", OUT_STR, OUT_DEFAULT, "as above"),
	OUT_COL(histogram_row, metric, "METRIC", "metric", OUT_STR, OUT_DEFAULT, "which time"),
	OUT_COL(histogram_row, from, "FROM", "from_ns", OUT_NS, OUT_DEFAULT,
		"smallest value that counts here"),
	OUT_COL(histogram_row, to, "TO", "to_ns", OUT_NS, OUT_DEFAULT, "largest"),
	OUT_COL(histogram_row, n, "N", "n", OUT_U64, OUT_DEFAULT, "samples"),
	OUT_COL(histogram_row, share, "SHARE%", "share_percent", OUT_F64, OUT_DEFAULT, "of all"),
	OUT_COL(histogram_row, bar, "BAR", "bar", OUT_STR, OUT_DEFAULT,
		"that, drawn: the longest is the most frequent"),
};
const struct out_table bench_histogram_table = {"histogram", "bar", histogram_cols,
						sizeof(histogram_cols) / sizeof(histogram_cols[0])};

void bench_print_bars(struct out *o, const char *setting, const char *metric,
		      const struct samples *s)
{
	enum { LINES = 16, LONGEST = 40 };
	static const char full[] = "########################################";
	struct histogram_plot b;
	uint64_t most = 1;
	histogram_plot_of_samples(&b, s, LINES);
	for (unsigned i = 0; i < b.n; i++)
		most = b.v[i].count > most ? b.v[i].count : most;
	for (unsigned i = 0; i < b.n; i++) {
		uint64_t len = (b.v[i].count * LONGEST + most - 1) / most;
		struct histogram_row row = {setting,
					    metric,
					    full + LONGEST - len,
					    b.v[i].lower,
					    b.v[i].upper,
					    b.v[i].count,
					    100 * (double)b.v[i].count / (double)b.total};
		out_row(o, &row);
	}
}

static uint64_t ns(double v)
{
	return isnan(v) ? U64_NULL : (uint64_t)maths()->llround(v);
}

static void latency_row(struct out *o, const char *setting, const char *metric, struct samples *s)
{
	struct summary m = samples_summary(s);
	struct latency_row row = {
		.setting = setting,
		.metric = metric,
		.n = m.n,
		.p50 = ns(m.p50),
		.ci_low = ns(m.ci_low),
		.ci_high = ns(m.ci_high),
		.p90 = ns(m.p90),
		.p95 = ns(m.p95),
		.p99 = ns(m.p99),
		.p999 = ns(m.p999),
		.max = ns(m.max),
		.min = ns(m.min),
		.mean = ns(m.mean),
		.sd = ns(m.sd),
	};
	out_row(o, &row);
}

static int print_latencies(struct out *o, struct result *r)
{
	char name[96];
	int status = out_begin(o, &bench_latencies_table, false);
	if (status)
		return status;
	for (unsigned i = 0; i < r->n; i++) {
		plan_name(&r->settings, &r->of[i]->set, name);
		for (unsigned m = 0; m < METRICS; m++)
			latency_row(o, name, result_metric_name[m], &r->of[i]->metric[m]);
	}
	out_end(o);
	return GPQ_OK;
}

static void print_effects(struct out *o, struct result *r)
{
	char name[96];
	out_begin(o, &bench_effects_table, false);
	for (unsigned i = 0; i < r->n; i++) {
		struct result_setting *s = r->of[i];
		struct result_rates v = result_rates(s);
		struct effect_row row = {name,         0,
					 v.untouched,  v.gap,
					 v.held,       100 * v.held_share,
					 100 * v.loss, 100 * v.effect};
		plan_name(&r->settings, &s->set, name);
		for (unsigned k = 0; k <= CYCLE_STOPPED; k++)
			row.cycles += s->count[k];
		out_row(o, &row);
	}
	out_end(o);
}

// Programs take the histograms of the JSON document, which are finer.
static void print_histograms(struct out *o, struct result *r)
{
	static const enum result_metric shown[] = {METRIC_suspend, METRIC_resume};
	char name[96];
	if (out_mode(o) != OUT_TABLE)
		return;
	out_title(o, "Histograms");
	out_begin(o, &bench_histogram_table, false);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < r->n; i++) {
			plan_name(&r->settings, &r->of[i]->set, name);
			bench_print_bars(o, name, result_metric_name[shown[k]],
					 &r->of[i]->metric[shown[k]]);
		}
	out_end(o);
}

static void goal_text(char text[32], const char *goal, double v)
{
	if (isnan(v))
		snprintf(text, 32, "-");
	else if (strcmp(goal, "effect") == 0)
		snprintf(text, 32, "%.2f%%", 100 * v);
	else
		snprintf(text, 32, "%.3fms", v / 1e6);
}

static void print_goals(struct out *o, struct result *r, const struct result_goals *g)
{
	struct result_verdict v[RESULT_GOALS];
	char name[96], value[32], limit[32];
	out_begin(o, &bench_goals_table, false);
	for (unsigned i = 0; i < r->n; i++) {
		plan_name(&r->settings, &r->of[i]->set, name);
		result_judge(r->of[i], g, v);
		for (unsigned k = 0; k < RESULT_GOALS; k++) {
			goal_text(value, v[k].goal, v[k].value);
			goal_text(limit, v[k].goal, v[k].limit);
			struct goal_row row = {name, v[k].goal, value, limit,
					       v[k].pass < 0 ? "unknown"
					       : v[k].pass   ? "ok"
							     : "failed"};
			out_row(o, &row);
		}
	}
	out_end(o);
}

static void json_setting(struct json *j, struct result *r, struct result_setting *s)
{
	static struct hist h; // 15 KB, and nothing runs beside us
	char name[96];
	plan_name(&r->settings, &s->set, name);
	json_begin(j, NULL, '{');
	json_str(j, "setting", name);
	json_u64(j, "grace", s->set.grace);
	json_u64(j, "queues", s->set.queues);
	json_u64(j, "hold_ns", s->set.hold_ns);
	json_u64(j, "gap_ns", s->set.gap_ns);
	json_begin_flat(j, "cycles", '{');
	for (unsigned k = 0; k <= CYCLE_STOPPED; k++)
		json_u64(j, cycle_result_name((enum cycle_result)k), s->count[k]);
	json_end(j, '}');
	json_begin_flat(j, "saved_bytes_xcc_mean", '[');
	for (unsigned x = 0; x < s->xccs; x++)
		json_f64(j, NULL, (double)s->saved_sum[x] / (double)s->saved_cycles);
	json_end(j, ']');
	json_begin(j, "histograms_ns", '{');
	for (unsigned m = 0; m < METRICS; m++) {
		result_hist(&s->metric[m], &h);
		hist_json(&h, j, result_metric_name[m]);
	}
	json_end(j, '}');
	json_end(j, '}');
}

static void print_json(struct json *j, struct result *r)
{
	json_begin(j, "settings", '[');
	for (unsigned i = 0; i < r->n; i++)
		json_setting(j, r, r->of[i]);
	json_end(j, ']');
}

struct context_row {
	const char *text[CONTEXT_ITEMS];
};

#define CONTEXT_COL(key, label)                                                                  \
	{(label), #key, OUT_STR, OUT_DEFAULT, offsetof(struct context_row, text[CONTEXT_##key]), \
	 (label), 0},
static const struct out_col context_cols[] = {BENCH_CONTEXT(CONTEXT_COL)};
static const struct out_table context_table = {"context", "context", context_cols, CONTEXT_ITEMS};

void bench_print_context(struct out *o, const struct bench_context *c)
{
	struct context_row row;
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++)
		row.text[i] = *c->text[i] ? c->text[i] : NULL;
	out_object(o, &context_table, &row);
	if (!bench_context_is_gpu(c))
		out_title(o, "Not a GPU: a software GPU in a VM. These times say nothing about "
			     "hardware.");
}

struct cycles_row {
	uint64_t count[CYCLE_STOPPED + 1], warmup, xccs, saved;
};

#define COUNT_COL(name, key, result, help) \
	OUT_COL(cycles_row, count[result], name, key, OUT_U64, OUT_DEFAULT, help)
static const struct out_col cycles_cols[] = {
	COUNT_COL("cycles ok", "ok", CYCLE_OK, "all was as it should"),
	COUNT_COL("idle", "idle", CYCLE_IDLE, "the target had nothing to do"),
	COUNT_COL("moved", "moved", CYCLE_MOVED, "a read index moved while held"),
	COUNT_COL("partly", "partly", CYCLE_PARTLY, "not all queues were suspended"),
	COUNT_COL("failed", "failed", CYCLE_FAILED, "none was"),
	COUNT_COL("stuck", "stuck", CYCLE_STUCK, "no progress after resume"),
	COUNT_COL("stopped", "stopped", CYCLE_STOPPED, "ended in the middle"),
	OUT_COL(cycles_row, warmup, "warm-up", "warmup", OUT_U64, OUT_DEFAULT,
		"cycles that count for nothing"),
	OUT_COL(cycles_row, xccs, "XCCs", "xccs", OUT_U64, OUT_DEFAULT, "that waves were saved of"),
	OUT_COL(cycles_row, saved, "most wave state saved on an XCC", "saved_max_bytes", OUT_SIZE,
		OUT_DEFAULT, "bytes"),
};
static const struct out_table cycles_table = {"cycles", "cycles", cycles_cols,
					      sizeof(cycles_cols) / sizeof(cycles_cols[0])};

static void print_cycles(struct out *o, const struct result *r)
{
	struct cycles_row row = {.warmup = r->warmup, .xccs = U64_NULL, .saved = U64_NULL};
	for (unsigned i = 0; i < r->n; i++) {
		const struct result_setting *s = r->of[i];
		for (unsigned k = 0; k <= CYCLE_STOPPED; k++)
			row.count[k] += s->count[k];
		for (unsigned x = 0; x < s->xccs; x++) {
			uint64_t most = row.saved == U64_NULL ? 0 : row.saved;
			row.saved = s->saved_max[x] > most ? s->saved_max[x] : most;
			row.xccs = s->xccs;
		}
	}
	out_object(o, &cycles_table, &row);
}

int bench_print(struct out *o, const struct out_opts *opts, struct result *r,
		const struct result_goals *g)
{
	if (opts->columns) // what was asked for by name, alone
		return print_latencies(o, r);
	if (out_json(o))
		print_json(out_json(o), r);
	bench_print_context(o, &r->context);
	out_title(o, "Cycles");
	print_cycles(o, r);
	out_title(o, "Latencies");
	int status = print_latencies(o, r);
	print_histograms(o, r);
	out_title(o, "Throughput of the target");
	print_effects(o, r);
	out_title(o, "Goals");
	print_goals(o, r, g);
	return status;
}
