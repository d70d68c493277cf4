// The report on the experiment; report.h.
#include "common/bench/report.h"

#include <inttypes.h>
#include <stdio.h>

static void online(struct doc *d, struct ab_result *a)
{
	doc_table(d, "ms|runs|n|mean|sd|p50|p95|p99|max|ratio");
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct summary s = samples_summary(&a->mode[m].latency);
		const double cells[] = {s.mean, s.sd, s.p50, s.p95, s.p99, s.max};
		if (!a->mode[m].runs)
			continue;
		doc_cells(d, "%s|%llu|%zu", ab_mode_name[m], (unsigned long long)a->mode[m].runs,
			  s.n);
		for (unsigned i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
			doc_cells(d, "%.3f", cells[i] / 1e6);
		doc_cells(d, "%.3f", ab_judge(a, (enum ab_mode)m).ratio);
	}
	doc_say(d, "Latency of online requests; ratio: median against alone.");
}

static void offline(struct doc *d, struct ab_result *a)
{
	doc_table(d,
		  "mode|runs|rate|sd|holds|suspend p50, ms|p99|resume p50, ms|p99|held %|loss %");
	for (unsigned i = 0; i < AB_MODES; i++) {
		struct ab_mode_result *m = &a->mode[i];
		struct summary s = samples_summary(&m->rate), off = samples_summary(&m->suspend),
			       on = samples_summary(&m->resume);
		struct ab_verdict v = ab_judge(a, (enum ab_mode)i);
		if (m->runs)
			doc_cells(d, "%s|%llu|%.1f|%.1f|%llu|%.3f|%.3f|%.3f|%.3f|%.2f|%.2f",
				  ab_mode_name[i], (unsigned long long)m->runs, s.mean, s.sd,
				  (unsigned long long)m->holds, off.p50 / 1e6, off.p99 / 1e6,
				  on.p50 / 1e6, on.p99 / 1e6, 100 * v.held, 100 * v.loss);
	}
	doc_say(d, "Suspend and resume: from the request until all queues of all processes were "
		   "off, or on. Offline work a second while the online work ran, with a lead "
		   "before and after "
		   "it; loss: against alone.");
}

static void goals_table(struct doc *d, struct ab_result *a, const struct result_goals *g)
{
	struct result_verdict v[AB_GOALS];
	ab_judge_goals(a, g, v);
	doc_table(d, "goal|measured %|limit %|result");
	for (unsigned i = 0; i < AB_GOALS; i++)
		doc_cells(d, "%s|%.2f|%.2f|%s", v[i].goal, 100 * v[i].value, 100 * v[i].limit,
			  v[i].result);
}

static void latency_plots(struct doc *d, struct ab_result *a, const struct bench_context *c)
{
	static const struct report_words words = {
		.shares = "Share of online requests that took at most so long",
		.histogram = "How long online requests took",
		.x = "latency",
		.y = "share of requests"};
	struct report_times t[AB_MODES];
	for (unsigned m = 0; m < AB_MODES; m++) {
		t[m].s = &a->mode[m].latency;
		snprintf(t[m].name, sizeof(t[m].name), "%s", ab_mode_name[m]);
	}
	report_plots(d, c, &words, t, AB_MODES, 0);
}

static const char *answer(int8_t same)
{
	return same < 0 ? "-" : same ? "yes" : "no";
}

static const char *ids_text(const struct run_compare_traits *ids)
{
	return ids->ids_text.len ? ids->ids_text.data : "-";
}

static void programs(struct doc *d, const struct run_compare *r)
{
	doc_table(d,
		  "side|process|seen|queues|ids|same ids|same number|same slots|same priorities");
	for (size_t i = 0; i < r->nprograms; i++) {
		const struct run_compare_program *g = &r->programs[i];
		doc_cells(d, "%s|%" PRIu64 "|%" PRIu64, g->program, g->worker, g->seen);
		if (g->queues_min == g->queues_max)
			doc_cells(d, "%" PRIu64, g->queues_min);
		else
			doc_cells(d, "%" PRIu64 " to %" PRIu64, g->queues_min, g->queues_max);
		doc_cells(d, "%s", ids_text(&g->ever));
		for (unsigned k = 0; k < SAMES; k++)
			doc_cells(d, "%s", answer(g->same[k]));
	}
}

static void pairs(struct doc *d, const struct run_compare *r)
{
	doc_table(d, "side|beside|runs|ids of both|overlap %");
	for (size_t i = 0; i < r->npairs; i++) {
		const struct run_compare_pair *p = &r->pairs[i];
		doc_cells(d, "%s|%s|%" PRIu64 "|%s|%.2f", p->a, p->b, p->runs, ids_text(&p->both),
			  100 * p->overlap);
	}
}

static void strategies(struct doc *d, const struct run_compare *r)
{
	static const char *const names[QRUNS_STRATEGIES] = {"fixed ids", "priority", "PID"};
	doc_table(d, "find a side's queues by|works|use|why");
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		const struct run_compare_strategy *s = &r->strategies[i];
		doc_cells(d, "%s|%s|%s|%s", names[i], answer(s->works), s->chosen ? "yes" : "no",
			  s->evidence.data);
	}
}

static void queues(struct doc *d, struct ab_result *a)
{
	struct queue_sets c;
	queue_sets_compare(&c, a->queue_set, a->nqueue_sets);
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

void report_ab(struct doc *d, struct load_run *run, const struct result_goals *goals)
{
	struct ab_result *a = &run->ab;
	report_context(d, &run->context);
	doc_heading(d, "Goals");
	goals_table(d, a, goals);
	doc_heading(d, "Online: alone, shared, preempted");
	latency_plots(d, a, &run->context);
	online(d, a);
	doc_heading(d, "Offline");
	offline(d, a);
	doc_heading(d, "Queues: ids, slots, priorities");
	queues(d, a);
}
