// Which times of gpq bench preempt grow with the number of queues that are suspended: a line
// through the samples of --sweep queues=, as a table and in one sentence.
#include "cmd/bench/bench.h"

#include "common/host/maths.h"

struct growth_row {
	const char *setting, *metric, *verdict;
	uint64_t n;
	int64_t slope, low, high, constant;
};

#define ROW growth_row
static const struct out_col growth_cols[] = {
	COL(setting, "SETTING", "setting", STR, D,
	    "what differs from the other settings compared, but queues"),
	COL(metric, "METRIC", "metric", STR, D, "which time"),
	COL(slope, "SLOPE_NS", "slope_ns", I64, D, "what each further queue adds, ns"),
	COL(low, "LOW_NS", "slope_low_ns", I64, D, "lower end of its 95 % interval"),
	COL(high, "HIGH_NS", "slope_high_ns", I64, D, "upper end of it"),
	COL(constant, "CONSTANT_NS", "constant_ns", I64, D, "what does not depend on their number"),
	COL(n, "N", "n", U64, D, "samples, of all numbers of queues"),
	COL(verdict, "VERDICT", "verdict", STR, D,
	    "grows, shrinks, same (the interval has 0), unknown"),
};
#undef ROW
const struct out_table bench_growth_table = {"growth", "growth", OUT_COLS(growth_cols)};

// Settings that differ in the number of queues alone.
struct growth {
	struct result_setting *of[PLAN_SETTINGS_MAX];
	double queues[PLAN_SETTINGS_MAX]; // how many each suspended: the mean of its cycles
	double least, most;               // of `queues`
	size_t n;
	char name[96]; // as plan_name() names them without queues
};

static bool differs_in_queues(const struct cycle_setting *a, const struct cycle_setting *b)
{
	struct cycle_setting as_b = *a;
	as_b.queues = b->queues;
	return plan_compare(a, b) != 0 && plan_compare(&as_b, b) == 0;
}

// Takes the settings like number `first`. False: the number of queues was not varied there, or an
// earlier setting has taken it.
static bool growth_collect(struct growth *g, const struct result *r, unsigned first)
{
	static struct plan others; // static, as it is large
	struct cycle_setting set = r->of[first]->set;
	g->n = 0;
	for (unsigned i = 0; i < r->n && RESULT_IS_WHOLE(&set); i++) {
		struct result_setting *s = r->of[i];
		if (i != first && !differs_in_queues(&s->set, &set))
			continue;
		if (i < first)
			return false;
		const double queues = (double)s->queues / (double)s->metric[METRIC_suspend].n;
		if (isnan(queues))
			continue;
		g->least = g->n && g->least < queues ? g->least : queues;
		g->most = g->n && g->most > queues ? g->most : queues;
		g->queues[g->n] = queues;
		g->of[g->n++] = s;
	}
	others = r->settings;
	for (unsigned i = 0; i < others.n; i++)
		others.setting[i].queues = 0;
	plan_name(&others, &set, g->name);
	return g->n > 1;
}

static struct line_fit growth_fit(const struct growth *g, unsigned metric)
{
	const struct samples *y[PLAN_SETTINGS_MAX];
	for (size_t i = 0; i < g->n; i++)
		y[i] = &g->of[i]->metric[metric];
	return stats_line(g->queues, y, g->n);
}

static const char *growth_verdict(const struct line_fit *f)
{
	return isnan(f->slope) ? "unknown"
	       : f->low > 0    ? "grows"
	       : f->high < 0   ? "shrinks"
			       : "same";
}

static int64_t signed_ns(double v)
{
	return isnan(v) ? I64_NULL : (int64_t)maths()->llround(v);
}

static void growth_rows(struct out *o, const struct growth *g)
{
	for (unsigned m = 0; m < METRICS; m++) {
		const struct line_fit f = growth_fit(g, m);
		struct growth_row row = {g->name,
					 result_metric_name[m],
					 growth_verdict(&f),
					 0,
					 signed_ns(f.slope),
					 signed_ns(f.low),
					 signed_ns(f.high),
					 signed_ns(f.constant)};
		for (size_t i = 0; i < g->n; i++)
			row.n += g->of[i]->metric[m].n;
		if (row.n)
			out_row(o, &row);
	}
}

// Appends "suspend grows by 0.210ms for each queue (95 %: 0.150 to 0.270), 1.400ms do not depend on
// it".
static void growth_clause(struct buf *b, const char *metric, const struct line_fit *f)
{
	if (isnan(f->slope))
		buf_printf(b, "%s: too few samples to tell", metric);
	else if (f->low <= 0 && f->high >= 0)
		buf_printf(b,
			   "%s does not grow within the interval (95 %%: %.3fms to %.3fms for each "
			   "queue) and takes %.3fms",
			   metric, f->low / 1e6, f->high / 1e6, f->mean / 1e6);
	else
		buf_printf(b, "%s %s by %.3fms for each queue (95 %%: %.3f to %.3f)", metric,
			   growth_verdict(f), fabs(f->slope) / 1e6,
			   (f->low > 0 ? f->low : -f->high) / 1e6,
			   (f->low > 0 ? f->high : -f->low) / 1e6);
	if (f->low > 0 && f->constant > 0)
		buf_printf(b, ", %.3fms do not depend on it", f->constant / 1e6);
}

static void growth_say(struct out *o, const struct growth *g)
{
	static const enum result_metric told[] = {METRIC_suspend, METRIC_unmap, METRIC_save,
						  METRIC_map,     METRIC_rest,  METRIC_resume};
	const bool named = strcmp(g->name, "all") != 0;
	SCOPED(buf_fini) struct buf b = {0};
	if (!(g->most > g->least))
		buf_puts(&b,
			 ": not known what grows with their number: choose a process with more");
	for (size_t i = 0; i < COUNT(told) && g->most > g->least; i++) {
		const struct line_fit f = growth_fit(g, told[i]);
		if (!g->of[0]->metric[told[i]].n)
			continue;
		buf_puts(&b, b.len ? "; " : ": ");
		growth_clause(&b, result_metric_name[told[i]], &f);
	}
	out_say(o, out_is_document(o) ? OUT_NOTE : OUT_HEADING, "With %.3g to %.3g queues%s%s%s.",
		g->least, g->most, named ? ", " : "", named ? g->name : "", b.data);
}

void bench_print_growth(struct out *o, const struct result *r)
{
	static struct growth g;
	bool any = false;
	if (out_fits(o))
		return;
	for (unsigned i = 0; i < r->n; i++)
		any |= growth_collect(&g, r, i);
	if (bench_begin_table(o, &bench_growth_table, any, "Growth with queues")) {
		for (unsigned i = 0; i < r->n; i++)
			if (growth_collect(&g, r, i))
				growth_rows(o, &g);
		out_end(o);
	}
	for (unsigned i = 0; i < r->n; i++)
		if (growth_collect(&g, r, i))
			growth_say(o, &g);
}
