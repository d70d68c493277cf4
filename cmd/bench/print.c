// Results of gpq bench as tables, JSON and verdicts.
#include "cmd/bench/bench.h"

#include "common/stats/hist.h"
#include "common/stats/maths.h"

#include <stdio.h>

#define M OUT_MACHINE

#define COL(member, name, key, type, flags, help) \
	OUT_COL(times_row, member, name, key, type, flags, help)
static const struct out_col latency_cols[] = {
	COL(setting, "SETTING", "setting", OUT_STR, D,
	    "what differs from the other settings compared"),
	COL(metric, "METRIC", "metric", OUT_STR, D, "which time, see gpq-bench(1)"),
	COL(n, "N", "n", OUT_U64, D, "samples, warm-up left out"),
	COL(p50, "P50", "p50_ns", OUT_NS, D, "median"),
	COL(ci_low, "CI_LOW", "ci_low_ns", OUT_NS, D,
	    "lower end of the median's 95 % bootstrap interval"),
	COL(ci_high, "CI_HIGH", "ci_high_ns", OUT_NS, D, "upper end of it"),
	COL(p90, "P90", "p90_ns", OUT_NS, D, "90th percentile"),
	COL(p95, "P95", "p95_ns", OUT_NS, M, "95th percentile"),
	COL(p99, "P99", "p99_ns", OUT_NS, D, "99th percentile"),
	COL(p999, "P99.9", "p999_ns", OUT_NS, D, "99.9th percentile"),
	COL(max, "MAX", "max_ns", OUT_NS, D, "greatest sample"),
	COL(min, "MIN", "min_ns", OUT_NS, M, "smallest sample"),
	COL(mean, "MEAN", "mean_ns", OUT_NS, M, "mean"),
	COL(sd, "SD", "sd_ns", OUT_NS, M, "standard deviation"),
};
#undef COL
const struct out_table bench_latencies_table = {"latencies", "latency", OUT_COLS(latency_cols)};

struct effect_row {
	const char *setting;
	uint64_t cycles;
	struct result_rates v;
	uint64_t least_period;
};

#define COL(member, name, key, type, help) OUT_COL(effect_row, member, name, key, type, D, help)
static const struct out_col effect_cols[] = {
	COL(setting, "SETTING", "setting", OUT_STR, "as above"),
	COL(cycles, "CYCLES", "cycles", OUT_U64, "cycles, warm-up left out"),
	COL(v.untouched, "UNTOUCHED/S", "untouched_per_s", OUT_F64,
	    "AQL packets a second while nothing was done"),
	COL(v.gap, "GAP/S", "gap_per_s", OUT_F64, "between resume and the next cycle"),
	COL(v.held, "HELD/S", "held_per_s", OUT_F64, "while it was suspended"),
	COL(v.held_share, "HELD%", "held_percent", OUT_F64, "share of the time it was suspended"),
	COL(v.loss, "LOSS%", "loss_percent", OUT_F64, "of its throughput, against untouched"),
	COL(v.effect, "EFFECT%", "effect_percent", OUT_F64,
	    "loss beyond the share of time it was suspended"),
	COL(v.cost, "COST%", "cost_percent", OUT_F64,
	    "share of the time in which the calls kept other queues of the GPU off, too"),
	COL(least_period, "LEAST_PERIOD", "least_period_ns", OUT_NS,
	    "ten times what a hold costs others (p90): hold no more often"),
};
#undef COL
const struct out_table bench_effects_table = {"effects", "effect", OUT_COLS(effect_cols)};

struct goal_row {
	const char *setting, *goal, *value, *limit, *result;
};

#define COL(member, name, key, flags, help) \
	OUT_COL(goal_row, member, name, key, OUT_STR, flags, help)
static const struct out_col goal_cols[] = {
	COL(setting, "SETTING", "setting", D, "as above"),
	COL(goal, "GOAL", "goal", D, "what is judged"),
	COL(value, "VALUE", "value", D, "measured"),
	COL(limit, "LIMIT", "limit", D, "must be below; of ab, not above"),
	COL(result, "RESULT", "result", D | OUT_STATUS, "ok, failed, or unknown"),
};
#undef COL
const struct out_table bench_goals_table = {"goals", "goal", goal_cols, 5};
const struct out_table bench_ab_goals_table = {"ab_goals", "ab_goal", goal_cols + 1, 4};

struct histogram_row {
	const char *setting, *metric, *bar;
	uint64_t from, to, n;
	double share;
};

#define COL(member, name, key, type, help) OUT_COL(histogram_row, member, name, key, type, D, help)
static const struct out_col histogram_cols[] = {
	COL(setting, "SETTING", "setting", OUT_STR, "as above"),
	COL(metric, "METRIC", "metric", OUT_STR, "which time"),
	COL(from, "FROM", "from_ns", OUT_NS, "smallest value that counts here"),
	COL(to, "TO", "to_ns", OUT_NS, "largest"),
	COL(n, "N", "n", OUT_U64, "samples"),
	COL(share, "SHARE%", "share_percent", OUT_F64, "of all"),
	COL(bar, "BAR", "bar", OUT_STR, "that, drawn: the longest is the most frequent"),
};
#undef COL
const struct out_table bench_histogram_table = {"histogram", "bar", OUT_COLS(histogram_cols)};

void bench_print_bars(struct out *o, const char *setting, const char *metric,
		      const struct samples *s)
{
	enum { LINES = 16, LONGEST = 40 };
	static const char full[] = "########################################";
	struct hist_bars b;
	uint64_t most = 1;
	hist_bars_of_samples(&b, s, LINES);
	for (unsigned i = 0; i < b.n; i++)
		most = b.v[i].count > most ? b.v[i].count : most;
	for (unsigned i = 0; i < b.n; i++) {
		uint64_t len = (b.v[i].count * LONGEST + most - 1) / most;
		struct histogram_row row = {setting,           metric,       full + LONGEST - len,
					    b.v[i].lower,      b.v[i].upper, b.v[i].count,
					    100 * b.v[i].share};
		out_row(o, &row);
	}
}

uint64_t bench_ns(double v)
{
	return isnan(v) ? U64_NULL : (uint64_t)maths()->llround(v);
}

struct times_row bench_times(const char *setting, const char *metric, struct samples *s)
{
	struct summary m = samples_summary(s);
#define ROUNDED(name) .name = bench_ns(m.name),
	return (struct times_row){
		.setting = setting, .metric = metric, .n = m.n, SUMMARY_TIMES(ROUNDED)};
}

static void print_latencies(struct out *o, struct result *r)
{
	out_begin(o, &bench_latencies_table,
		  false); // its -o was checked before anything was measured
	for (unsigned i = 0; i < r->n; i++) {
		for (unsigned m = 0; m < METRICS; m++) {
			struct times_row row = bench_times(r->of[i]->name, result_metric_name[m],
							   &r->of[i]->metric[m]);
			if (row.n) // else it is not measured in this way
				out_row(o, &row);
		}
	}
	out_end(o);
}

static void print_effects(struct out *o, struct result *r)
{
	out_begin(o, &bench_effects_table, false);
	for (unsigned i = 0; i < r->n; i++) {
		struct result_setting *s = r->of[i];
		struct effect_row row = {s->name, 0, result_rates(s),
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
}

// Programs take the histograms of the JSON document, which are finer.
static void print_histograms(struct out *o, struct result *r)
{
	static const enum result_metric shown[] = {METRIC_suspend, METRIC_resume};
	if (out_mode(o) != OUT_TABLE)
		return;
	out_title(o, "Histograms");
	out_begin(o, &bench_histogram_table, false);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < r->n; i++) {
			bench_print_bars(o, r->of[i]->name, result_metric_name[shown[k]],
					 &r->of[i]->metric[shown[k]]);
		}
	out_end(o);
}

void bench_print_goal(struct out *o, const char *setting, const struct result_verdict *v)
{
	char value[32], limit[32];
	struct goal_row row = {setting, v->goal, require_text(value, v->share, v->value),
			       require_text(limit, v->share, v->limit), v->result};
	out_row(o, &row);
}

static void print_goals(struct out *o, struct result *r, const struct result_goals *g,
			const struct requirements *q)
{
	struct result_verdict v[RESULT_GOALS];
	out_begin(o, &bench_goals_table, false);
	for (unsigned i = 0; i < r->n; i++) {
		result_judge(r->of[i], g, v);
		for (unsigned k = 0; k < RESULT_GOALS; k++)
			bench_print_goal(o, r->of[i]->name, &v[k]);
	}
	for (size_t k = 0; k < q->n; k++)
		for (unsigned i = 0; i < r->n; i++) {
			if (!require_applies(&q->v[k], r, i))
				continue;
			v[0] = require_judge(&q->v[k], r->of[i], NULL);
			bench_print_goal(o, r->of[i]->name, &v[0]);
		}
	out_end(o);
}

static void json_setting(struct json *j, struct result_setting *s)
{
	static struct hist h; // 15 KB, and nothing runs beside us
	json_begin(j, NULL, '{');
	json_str(j, "setting", s->name);
	json_u64(j, "grace", s->set.grace);
	json_u64(j, "queues", s->set.queues);
	json_u64(j, "hold_ns", s->set.hold_ns);
	json_u64(j, "gap_ns", s->set.gap_ns);
	json_u64(j, "process", s->set.process);
	json_begin_flat(j, "cycles", '{');
	for (unsigned k = 0; k <= CYCLE_STOPPED; k++)
		json_u64(j, cycle_result_name[k], s->count[k]);
	json_end(j, '}');
	json_begin_flat(j, "saved_bytes_xcc_mean", '[');
	for (unsigned x = 0; x < s->xccs; x++)
		json_f64(j, NULL, (double)s->saved_sum[x] / (double)s->saved_cycles);
	json_end(j, ']');
	json_begin(j, "histograms_ns", '{');
	for (unsigned m = 0; m < METRICS; m++) {
		hist_of_samples(&h, &s->metric[m]);
		hist_json(&h, j, result_metric_name[m]);
	}
	json_end(j, '}');
	json_end(j, '}');
}

struct context_row {
	const char *text[CONTEXT_ITEMS];
};

#define CONTEXT_COL(key, label)                                                                  \
	{(label), #key, OUT_STR, OUT_DEFAULT, offsetof(struct context_row, text[CONTEXT_##key]), \
	 (label), 0},
static const struct out_col context_cols[] = {BENCH_CONTEXT(CONTEXT_COL)};
const struct out_table bench_context_table = {"context", "context", context_cols, CONTEXT_ITEMS};

void bench_print_context(struct out *o, const struct bench_context *c)
{
	struct context_row row;
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++)
		row.text[i] = *c->text[i] ? c->text[i] : NULL;
	out_object(o, &bench_context_table, &row);
	if (!bench_context_is_gpu(c))
		out_title(o, "Not a GPU: a software GPU in a VM. These times say nothing about "
			     "hardware.");
}

struct cycles_row {
	uint64_t count[CYCLE_STOPPED + 1], warmup, xccs, saved;
};

#define COL(member, name, key, type, help) OUT_COL(cycles_row, member, name, key, type, D, help)
#define RESULT(name, word, label, help)    COL(count[CYCLE_##name], label, #word, OUT_U64, help),
static const struct out_col cycles_cols[] = {
	CYCLE_RESULTS(RESULT)
		COL(warmup, "warm-up", "warmup", OUT_U64, "cycles that count for nothing"),
	COL(xccs, "XCCs", "xccs", OUT_U64, "that waves were saved of"),
	COL(saved, "most wave state saved on an XCC", "saved_max_bytes", OUT_SIZE, "bytes"),
};
#undef COL
static const struct out_table cycles_table = {"cycles", "cycles", OUT_COLS(cycles_cols)};

// What json_setting() writes.
#define COUNTED(key, help)                              \
	{                                               \
		(key), SCHEMA_COUNT, (help), NULL, NULL \
	}
static const struct schema_member a_count = {.type = SCHEMA_COUNT},
				  a_number = {.type = SCHEMA_NUMBER},
				  a_bucket = {.type = SCHEMA_LIST,
					      .help = "its least value, its samples",
					      .members = &a_count};
static const struct schema_member hist_members[] = {
	{"rule", SCHEMA_TEXT, "how values are put into buckets", NULL, NULL},
	COUNTED("count", "samples"),
	COUNTED("sum", "of all samples"),
	COUNTED("min", "smallest"),
	COUNTED("max", "greatest"),
	{"buckets", SCHEMA_LIST, "those that have samples", &a_bucket, NULL},
	{0}};
#define METRIC(name, value, help) {#name, SCHEMA_OBJECT, (help), hist_members, NULL},
static const struct schema_member metric_members[] = {RESULT_METRICS(METRIC){0}};
#undef METRIC
#undef RESULT
#define RESULT(name, word, label, help) COUNTED(#word, help),
static const struct schema_member count_members[] = {CYCLE_RESULTS(RESULT){0}};
static const struct schema_member setting_members[] = {
	{"setting", SCHEMA_TEXT, "what differs from the others", NULL, NULL},
	COUNTED("grace", "grace period"),
	COUNTED("queues", "how many were suspended, null: all"),
	COUNTED("hold_ns", "how long they were held"),
	COUNTED("gap_ns", "how long they ran between cycles"),
	COUNTED("process", "of a group, 0: all of it; null: one process alone"),
	{"cycles", SCHEMA_OBJECT, "by how they ended", count_members, NULL},
	{"saved_bytes_xcc_mean", SCHEMA_LIST, "of each XCC", &a_number, NULL},
	{"histograms_ns", SCHEMA_OBJECT, "of each time", metric_members, NULL},
	{0}};
static const struct schema_member a_setting = {.type = SCHEMA_OBJECT, .members = setting_members};
static const struct schema_member preempt_members[] = {
	{"settings", SCHEMA_LIST, "of each setting, what is exact", &a_setting, NULL},
	{"context", SCHEMA_RECORD, "where it was measured", NULL, &bench_context_table},
	{"cycles", SCHEMA_RECORD, "of all settings", NULL, &cycles_table},
	{0}};
const struct schema bench_preempt_schema = {
	"gpq.bench.preempt", 1,
	SCHEMA_TABLES(&bench_latencies_table, &bench_effects_table, &bench_goals_table),
	preempt_members};

static void print_cycles(struct out *o, const struct result *r)
{
	struct cycles_row row = {.warmup = r->warmup, .xccs = U64_NULL, .saved = U64_NULL};
	for (unsigned i = 0; i < r->n; i++) {
		const struct result_setting *s = r->of[i];
		for (unsigned k = 0; k <= CYCLE_STOPPED && RESULT_IS_WHOLE(&s->set); k++)
			row.count[k] += s->count[k];
		for (unsigned x = 0; x < s->xccs; x++) {
			uint64_t most = row.saved == U64_NULL ? 0 : row.saved;
			row.saved = s->saved_max[x] > most ? s->saved_max[x] : most;
			row.xccs = s->xccs;
		}
	}
	out_object(o, &cycles_table, &row);
}

int bench_print(const struct out_opts *opts, const struct bench_context *c, struct result *r,
		const struct result_goals *g, const struct requirements *q)
{
	struct out *o = out_open(opts);
	struct json *j = out_json(o);
	if (opts->columns) { // -o: that table alone
		print_latencies(o, r);
		return out_close(o);
	}
	if (j) {
		json_begin(j, "settings", '[');
		for (unsigned i = 0; i < r->n; i++)
			json_setting(j, r->of[i]);
		json_end(j, ']');
	}
	bench_print_context(o, c);
	out_title(o, "Cycles");
	print_cycles(o, r);
	out_title(o, "Latencies");
	print_latencies(o, r);
	print_histograms(o, r);
	out_title(o, "Throughput of the target");
	print_effects(o, r);
	out_title(o, "Goals");
	print_goals(o, r, g, q);
	return out_close(o);
}
