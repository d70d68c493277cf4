// The report on the experiment; report.h.
#include "common/bench/report.h"
#include "common/stats/maths.h"

#include <inttypes.h>
#include <stdio.h>

static void online(struct doc *d, struct ab_result *a)
{
	doc_table(d, "ms|runs|n|mean|sd|p50|p95|p99|max|ratio");
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct summary s = samples_summary(&a->mode[m].latency);
		const double cells[] = {s.mean, s.sd, s.p50, s.p95, s.p99, s.max};
		double ratio = ab_judge(a, (enum ab_mode)m).ratio;
		if (!a->mode[m].runs)
			continue;
		doc_cell(d, "%s", ab_mode_name[m]);
		doc_cell(d, "%llu", (unsigned long long)a->mode[m].runs);
		doc_cell(d, "%zu", s.n);
		for (unsigned i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
			report_ms(d, cells[i]);
		isnan(ratio) ? doc_cell(d, "-") : doc_cell(d, "%.3f", ratio);
		doc_row_end(d);
	}
	doc_table_end(d);
	doc_say(d, "Latency of online requests; ratio: median against alone.");
}

static void offline(struct doc *d, struct ab_result *a)
{
	doc_table(d,
		  "mode|runs|rate|sd|holds|suspend p50, ms|p99|resume p50, ms|p99|held %|loss %");
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct summary s = samples_summary(&a->mode[m].rate);
		struct ab_verdict v = ab_judge(a, (enum ab_mode)m);
		if (!a->mode[m].runs)
			continue;
		doc_cell(d, "%s", ab_mode_name[m]);
		doc_cell(d, "%llu", (unsigned long long)a->mode[m].runs);
		isnan(s.mean) ? doc_cell(d, "-") : doc_cell(d, "%.1f", s.mean);
		isnan(s.sd) ? doc_cell(d, "-") : doc_cell(d, "%.1f", s.sd);
		doc_cell(d, "%llu", (unsigned long long)a->mode[m].holds);
		report_ms(d, samples_percentile(&a->mode[m].suspend, 0.5));
		report_ms(d, samples_percentile(&a->mode[m].suspend, 0.99));
		report_ms(d, samples_percentile(&a->mode[m].resume, 0.5));
		report_ms(d, samples_percentile(&a->mode[m].resume, 0.99));
		report_per_cent(d, v.held);
		report_per_cent(d, v.loss);
		doc_row_end(d);
	}
	doc_table_end(d);
	doc_say(d, "Suspend and resume: from the request until all queues of all processes were "
		   "off, or on. Offline work a second while the online work ran, with a lead "
		   "before and after "
		   "it; loss: against alone.");
}

static void verdict(struct doc *d, const char *goal, double value, double limit)
{
	doc_cell(d, "%s", goal);
	report_per_cent(d, value);
	report_per_cent(d, limit);
	doc_cell(d, "%s", isnan(value) ? "unknown" : value <= limit ? "ok" : "failed");
	doc_row_end(d);
}

static void goals_table(struct doc *d, struct ab_result *a, const struct result_goals *g)
{
	struct ab_verdict v = ab_judge(a, AB_PREEMPT);
	doc_table(d, "goal|measured %|limit %|result");
	verdict(d, "online median above alone", v.ratio - 1, g->online);
	verdict(d, "offline loss beyond the share held", v.loss - v.held, g->effect);
	doc_table_end(d);
}

static void latency_plot(struct doc *d, struct ab_result *a)
{
	double min = INFINITY, max = 0, top = 0;
	char title[96];
	struct plot p;
	for (unsigned m = 0; m < AB_MODES; m++) {
		if (!a->mode[m].latency.n)
			continue;
		min = maths()->fmin(min, samples_percentile(&a->mode[m].latency, 0));
		max = maths()->fmax(max, samples_percentile(&a->mode[m].latency, 1));
	}
	if (!(max > 0))
		return;
	plot_open(&p, doc_svg(d),
		  report_title(title, &a->context,
			       "Share of online requests that took at most so long"),
		  (struct plot_axis){"latency", PLOT_NS, maths()->fmax(min, 1),
				     maths()->fmax(max, 1), true},
		  (struct plot_axis){"share of requests", PLOT_SHARE, 0, 1, false});
	for (unsigned m = 0; m < AB_MODES; m++)
		if (a->mode[m].latency.n)
			report_cdf(&p, &a->mode[m].latency, ab_mode_name[m]);
	plot_close(&p);
	for (unsigned m = 0; m < AB_MODES; m++)
		top = maths()->fmax(top, report_highest_bar(&a->mode[m].latency));
	plot_open(&p, doc_svg(d), report_title(title, &a->context, "How long online requests took"),
		  (struct plot_axis){"latency", PLOT_NS, maths()->fmax(min, 1),
				     maths()->fmax(max, 1), true},
		  (struct plot_axis){"share of requests", PLOT_SHARE, 0, top, false});
	for (unsigned m = 0; m < AB_MODES; m++)
		if (a->mode[m].latency.n)
			report_bars(&p, &a->mode[m].latency, ab_mode_name[m]);
	plot_close(&p);
}

static const char *answer(int8_t same)
{
	return same < 0 ? "-" : same ? "yes" : "no";
}

static void programs(struct doc *d, const struct run_compare *r)
{
	doc_table(d,
		  "side|process|seen|queues|ids|same ids|same number|same slots|same priorities");
	for (size_t i = 0; i < r->nprograms; i++) {
		const struct run_compare_program *g = &r->programs[i];
		doc_cell(d, "%s", g->program);
		doc_cell(d, "%" PRIu64, g->worker);
		doc_cell(d, "%" PRIu64, g->seen);
		g->queues_min == g->queues_max
			? doc_cell(d, "%" PRIu64, g->queues_min)
			: doc_cell(d, "%" PRIu64 " to %" PRIu64, g->queues_min, g->queues_max);
		doc_cell(d, "%s", g->ever.ids_text.len ? g->ever.ids_text.data : "");
		for (unsigned k = 0; k < SAMES; k++)
			doc_cell(d, "%s", answer(g->same[k]));
		doc_row_end(d);
	}
	doc_table_end(d);
}

static void pairs(struct doc *d, const struct run_compare *r)
{
	doc_table(d, "side|beside|runs|ids of both|overlap %");
	for (size_t i = 0; i < r->npairs; i++) {
		const struct run_compare_pair *p = &r->pairs[i];
		doc_cell(d, "%s", p->a);
		doc_cell(d, "%s", p->b);
		doc_cell(d, "%" PRIu64, p->runs);
		doc_cell(d, "%s", p->both.ids_text.len ? p->both.ids_text.data : "");
		report_per_cent(d, p->overlap);
		doc_row_end(d);
	}
	doc_table_end(d);
}

static void strategies(struct doc *d, const struct run_compare *r)
{
	static const char *const names[QRUNS_STRATEGIES] = {"fixed ids", "priority", "PID"};
	doc_table(d, "find a side's queues by|works|use|why");
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		const struct run_compare_strategy *s = &r->strategies[i];
		doc_cell(d, "%s", names[i]);
		doc_cell(d, "%s", answer(s->works));
		doc_cell(d, "%s", s->chosen ? "yes" : "no");
		doc_cell(d, "%s", s->evidence.data);
		doc_row_end(d);
	}
	doc_table_end(d);
}

static void queues(struct doc *d, const struct ab_result *a)
{
	struct lineups c;
	if (queue_sets_compare(&c, a->queue_set, a->nqueue_sets))
		return;
	programs(d, &c.runs);
	size_t suspended = queue_sets_suspended(a->queue_set, a->nqueue_sets);
	doc_say(d, "Over all runs, by GPU and age of a side's processes.");
	if (suspended)
		doc_say(d,
			"In %zu of %zu looks the offline queues were suspended, and so in no slot: "
			"whether slots are the same is then not known.",
			suspended, a->nqueue_sets);
	pairs(d, &c.runs);
	strategies(d, &c.runs);
	queue_sets_fini(&c);
}

void report_ab(struct doc *d, struct ab_result *a, const struct result_goals *goals)
{
	report_context(d, &a->context);
	doc_heading(d, "Goals");
	goals_table(d, a, goals);
	doc_heading(d, "Online: alone, shared, preempted");
	latency_plot(d, a);
	online(d, a);
	doc_heading(d, "Offline");
	offline(d, a);
	doc_heading(d, "Queues: ids, slots, priorities");
	queues(d, a);
}
