// Text and tables of a run; report.h. Its plots are in report_plots.c.
#include "common/bench/report_priv.h"

#include "common/cli/text.h"
#include "common/host/xalloc.h"
#include "common/stats/hist.h"
#include "common/stats/maths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIFFERENCES_MAX = 100 };

static void report_context(struct doc *d, const struct bench_context *c)
{
	doc_heading(d, 3, "Host, driver, target");
	doc_table(d, "context|value");
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++) {
		doc_cell(d, bench_context_label[i]);
		doc_cell(d, c->text[i]);
	}
}

// Who has the same text as run `i`, unless an earlier one has it, too.
static void same_text(struct doc *d, const struct load *l, size_t n, size_t i, unsigned item)
{
	const char *text = l->run[i]->context.text[item];
	struct buf runs = {0};
	for (size_t k = 0; k < n; k++) {
		if (strcmp(l->run[k]->context.text[item], text) != 0)
			continue;
		if (k < i)
			return;
		buf_printf(&runs, "%s%s", runs.len ? ", " : "",
			   l->run[k]->context.text[CONTEXT_run]);
	}
	doc_cell(d, bench_context_label[item]);
	doc_cell(d, text);
	doc_cell(d, runs.data);
	buf_fini(&runs);
}

void report_differences(struct doc *d, const struct load *l)
{
	static const enum bench_context_item items[] = {
		CONTEXT_host,      CONTEXT_source,      CONTEXT_machine,   CONTEXT_kernel,
		CONTEXT_driver,    CONTEXT_kfd_version, CONTEXT_gpus,      CONTEXT_parameters,
		CONTEXT_scheduler, CONTEXT_gpq,         CONTEXT_processors};
	const size_t n = l->n < DIFFERENCES_MAX ? l->n : DIFFERENCES_MAX;
	bool any = false;
	if (n < 2)
		return;
	doc_heading(d, 2, "What differs between the runs");
	for (unsigned k = 0; k < COUNT(items); k++) {
		size_t other = 1;
		while (other < n && strcmp(l->run[other]->context.text[items[k]],
					   l->run[0]->context.text[items[k]]) == 0)
			other++;
		if (other == n)
			continue;
		if (!any)
			doc_table(d, "context|value|runs");
		any = true;
		for (size_t i = 0; i < n; i++)
			same_text(d, l, n, i, items[k]);
	}
	doc_say(d, any ? "All else about host, kernel, driver and GPUs is the same."
		       : "Nothing: host, kernel, driver and GPUs are the same.");
	if (n < l->n)
		doc_say(d, "The first %zu runs of %zu were compared.", n, l->n);
}

// The verdict

// A goal as the sentence names it: of several settings the worst.
struct judged {
	struct result_verdict v;
	const char *setting; // "": there is one only
	bool most;           // the greatest value is judged: too few samples for a percentile
	bool named;          // the statistic is in its name: a requirement
};

static const struct {
	const char *result, *lead;
} groups[] = {{"failed", "not met"}, {"unknown", "unknown"}, {"ok", "met"}};

static unsigned group_of(const struct result_verdict *v)
{
	unsigned g = 0;
	while (strcmp(groups[g].result, v->result) != 0)
		g++;
	return g;
}

static const char *at_which(const struct judged *j)
{
	return j->v.share || j->named ? "" : j->most ? " at most" : " at p99";
}

static void say_goal(struct buf *b, const struct judged *j)
{
	const struct result_verdict *v = &j->v;
	double scale = v->share ? 0.01 : 1e6;
	const char *unit = v->share ? "%" : "ms";
	int digits = v->share ? 2 : 3;
	buf_printf(b, "%s%s", v->goal, at_which(j));
	if (!isnan(v->value))
		buf_printf(b, " %.*f %s", digits, v->value / scale, unit);
	buf_printf(b, " (limit %.*f %s%s%s%s)", digits, v->limit / scale, unit,
		   *j->setting ? ", " : "", j->setting,
		   group_of(v) == 0 && v->value < v->limit ? ", but not all cycles were ok" : "");
}

// First in every report: one sentence with the figures, and where it was measured.
static void verdict(struct doc *d, const struct bench_context *c, const struct judged *j,
		    unsigned n, unsigned settings)
{
	const char *name = c->text[CONTEXT_run], *separator = "Goals ", *worst = NULL;
	struct buf b = {0};
	for (unsigned g = 0; g < sizeof(groups) / sizeof(groups[0]);
	     g++, separator = worst ? "; " : separator) {
		const char *comma = NULL;
		for (unsigned i = 0; i < n; i++) {
			if (group_of(&j[i].v) != g)
				continue;
			buf_printf(&b, "%s%s%s", comma ? comma : separator,
				   comma ? "" : groups[g].lead, comma ? "" : ": ");
			say_goal(&b, &j[i]);
			worst = worst ? worst : groups[g].result;
			comma = ", ";
		}
	}
	if (settings > 1)
		buf_printf(&b, "; the worst of %u settings", settings);
	buf_puts(&b, ".");
	doc_heading(d, 2, *name ? name : "a run without a name");
	doc_verdict(d, worst, b.data);
	buf_fini(&b);
	if (!bench_context_is_gpu(c))
		doc_warn(d, "Not measured on a GPU: the real driver over a software GPU in a VM. "
			    "These times say nothing about hardware.");
}

static void cycles(struct doc *d, const struct result *r)
{
	doc_table(d, "setting|ok|idle|moved|partly|failed|stuck|stopped");
	for (unsigned i = 0; i < r->n; i++) {
		doc_cell(d, r->of[i]->name);
		for (unsigned k = 0; k <= CYCLE_STOPPED; k++)
			doc_cells(d, "%llu", (unsigned long long)r->of[i]->count[k]);
	}
	doc_say(d,
		"Cycles by how they ended; %llu more ran to warm up and count for nothing. No "
		"outlier is left out.",
		(unsigned long long)r->warmup);
}

static void latencies(struct doc *d, struct result *r)
{
	doc_table(d, "ms|setting|n|min|p50|95% from|to|p90|p95|p99|p99.9|max|mean|sd");
	for (unsigned m = 0; m < METRICS; m++)
		for (unsigned i = 0; i < r->n; i++) {
			struct summary v = samples_summary(&r->of[i]->metric[m]);
			const double cells[] = {v.min, v.p50,  v.ci_low, v.ci_high, v.p90, v.p95,
						v.p99, v.p999, v.max,    v.mean,    v.sd};
			if (!v.n) // not measured in this way
				continue;
			doc_cells(d, "%s|%s|%zu", result_metric_name[m], r->of[i]->name, v.n);
			for (unsigned k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
				doc_cells(d, "%.3f", cells[k] / 1e6);
		}
	doc_table(d, "time|what it is");
	for (unsigned m = 0; m < METRICS; m++)
		doc_cells(d, "%s|%s", result_metric_name[m], result_metric_help[m]);
}

static void effects(struct doc *d, const struct result *r)
{
	doc_table(d, "setting|untouched /s|gap /s|held /s|held %|loss %|effect %|cost %|least "
		     "period, ms");
	for (unsigned i = 0; i < r->n; i++) {
		struct result_rates v = result_rates(r->of[i]);
		doc_cells(d, "%s|%.1f|%.1f|%.1f|%.2f|%.2f|%.2f|%.2f|%.3f", r->of[i]->name,
			  v.untouched, v.gap, v.held, 100 * v.held_share, 100 * v.loss,
			  100 * v.effect, 100 * v.cost, result_least_period(r->of[i]) / 1e6);
	}
	doc_say(d,
		"AQL packets that the target's queues took in a second: in windows in which "
		"nothing was done, between cycles, and while suspended. Loss is of the "
		"throughput over whole cycles against untouched; the effect is the loss beyond "
		"the share of time it was suspended. Cost: share of the time within the two "
		"calls, in which the driver takes all queues of these GPUs off and back, those of "
		"others too; no period should be below ten times its 90th percentile, the least "
		"period.");
}

static bool is_worse(const struct result_verdict *a, const struct result_verdict *b)
{
	unsigned x = group_of(a), y = group_of(b);
	return x != y ? x < y : a->value / a->limit > b->value / b->limit;
}

// Judges every setting: the worst of each goal into `worst`, all of them into the table, which is
// written where there is `d`.
static void judge(struct doc *d, struct result *r, const struct result_goals *g,
		  struct judged worst[RESULT_GOALS])
{
	static const enum result_metric judged[RESULT_GOALS] = {METRIC_suspend, METRIC_resume};
	for (unsigned i = 0; i < r->n; i++) {
		struct result_verdict v[RESULT_GOALS];
		result_judge(r->of[i], g, v);
		for (unsigned k = 0; k < RESULT_GOALS; k++) {
			struct judged j = {
				v[k], r->n > 1 ? r->of[i]->name : "",
				!v[k].share && !samples_carry(r->of[i]->metric[judged[k]].n, 0.99),
				false};
			const char *which = at_which(&j);
			if (!i || is_worse(&v[k], &worst[k].v))
				worst[k] = j;
			if (d)
				doc_cells(d,
					  v[k].share ? "%s%s, %%|%s|%.2f|%.2f|%s"
						     : "%s%s, ms|%s|%.3f|%.3f|%s",
					  v[k].goal, which, r->of[i]->name,
					  v[k].value / (v[k].share ? 0.01 : 1e6),
					  v[k].limit / (v[k].share ? 0.01 : 1e6), v[k].result);
		}
	}
}

// The same of the requirements: the worst setting of each is appended to `worst`. Their number.
static unsigned require(struct doc *d, const struct requirements *q, struct load_run *run,
			struct judged *worst)
{
	struct result *r = &run->result;
	unsigned n = 0, settings = run->is_ab ? 1 : r->n;
	for (size_t k = 0; k < q->n; k++) {
		bool first = true;
		for (unsigned i = 0; i < settings && require_is_of(&q->v[k], run->is_ab); i++) {
			struct judged j = {.setting = r->n > 1 ? r->of[i]->name : "",
					   .named = true};
			char value[32], limit[32];
			if (!run->is_ab && !require_applies(&q->v[k], r, i))
				continue;
			j.v = require_judge(&q->v[k], run->is_ab ? NULL : r->of[i], &run->ab);
			if (first || is_worse(&j.v, &worst[n].v))
				worst[n] = j;
			if (d && !n && first)
				doc_table(d, "required|setting|measured|limit|result");
			first = false;
			if (d)
				doc_cells(d, "%s|%s|%s|%s|%s", j.v.goal, j.setting,
					  require_text(value, j.v.share, j.v.value),
					  require_text(limit, j.v.share, j.v.limit), j.v.result);
		}
		n += !first;
	}
	return n;
}

// Where it was repeated: does it drift?
static void repeats(struct doc *d, const struct result *r)
{
	bool any = false;
	for (unsigned i = 0; i < r->n; i++)
		for (size_t k = 1; k < r->of[i]->nrepeats; k++)
			any |= r->of[i]->repeat[k].suspend.n > 0;
	if (!any)
		return;
	doc_heading(d, 3, "Runs, one by one");
	doc_table(d, "run|setting|n|suspend p50, ms|p99|resume p50, ms|p99");
	for (unsigned i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->of[i]->nrepeats; k++) {
			struct summary off = samples_summary(&r->of[i]->repeat[k].suspend),
				       on = samples_summary(&r->of[i]->repeat[k].resume);
			if (off.n)
				doc_cells(d, "%zu|%s|%zu|%.3f|%.3f|%.3f|%.3f", k + 1,
					  r->of[i]->name, off.n, off.p50 / 1e6, off.p99 / 1e6,
					  on.p50 / 1e6, on.p99 / 1e6);
		}
}

static void saved(struct doc *d, const struct result *r)
{
	bool any = false;
	for (unsigned i = 0; i < r->n; i++)
		any |= r->of[i]->xccs > 0;
	if (!any)
		return;
	doc_heading(d, 3, "Wave state saved");
	doc_table(d, "setting|XCC|mean bytes|most bytes");
	for (unsigned i = 0; i < r->n; i++) {
		const struct result_setting *s = r->of[i];
		for (unsigned x = 0; x < s->xccs; x++)
			doc_cells(d, "%s|%u|%.1f|%llu", s->name, x,
				  (double)s->saved_sum[x] / (double)s->saved_cycles,
				  (unsigned long long)s->saved_max[x]);
	}
}

void report_run(struct doc *d, struct load_run *run, const struct result_goals *goals,
		const struct requirements *required)
{
	struct result *r = &run->result;
	struct judged *worst = xcalloc(RESULT_GOALS + required->n, sizeof(*worst));
	judge(NULL, r, goals, worst);
	unsigned n = RESULT_GOALS + require(NULL, required, run, worst + RESULT_GOALS);
	verdict(d, &run->context, worst, n, r->n); // a run has a setting
	report_latency_plot(d, run, goals);
	doc_heading(d, 3, "Goals");
	doc_table(d, "goal|setting|measured|limit|result");
	judge(d, r, goals, worst);
	require(d, required, run, worst);
	free(worst);
	doc_heading(d, 3, "Latencies");
	latencies(d, r);
	repeats(d, r);
	doc_heading(d, 3, "Throughput of the target");
	report_timeline_plot(d, run);
	effects(d, r);
	saved(d, r);
	doc_heading(d, 3, "Cycles");
	cycles(d, r);
	report_context(d, &run->context);
}

// Runs of gpq bench ab

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

static void goals_table(struct doc *d, const struct judged *j)
{
	doc_table(d, "goal|measured %|limit %|result");
	for (unsigned i = 0; i < AB_GOALS; i++)
		doc_cells(d, "%s|%.2f|%.2f|%s", j[i].v.goal, 100 * j[i].v.value, 100 * j[i].v.limit,
			  j[i].v.result);
}

static void request_plot(struct doc *d, struct ab_result *a, const struct bench_context *c,
			 const struct result_goals *g)
{
	struct report_times t = {
		.heading = "", .goal_label = "goal for the preempted median", .n = AB_MODES};
	for (unsigned m = 0; m < AB_MODES; m++) {
		t.s[m] = &a->mode[m].latency;
		t.name[m] = ab_mode_name[m];
	}
	t.goal = samples_percentile(t.s[AB_ALONE], 0.5) * (1 + g->online);
	report_times_plot(d, c, "How long online requests took", &t, 1);
}

static const char *const answers[] = {"-", "no", "yes"}; // of -1, 0, 1

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
		doc_cell(d, g->ever.ids_text.len ? g->ever.ids_text.data : "");
		for (unsigned k = 0; k < SAMES; k++)
			doc_cell(d, answers[g->same[k] + 1]);
	}
}

static void pairs(struct doc *d, const struct run_compare *r)
{
	doc_table(d, "side|beside|runs|ids of both|overlap %");
	for (size_t i = 0; i < r->npairs; i++) {
		const struct run_compare_pair *p = &r->pairs[i];
		doc_cells(d, "%s|%s|%" PRIu64 "|%s|%.2f", p->a, p->b, p->runs,
			  p->both.ids_text.len ? p->both.ids_text.data : "", 100 * p->overlap);
	}
}

static void strategies(struct doc *d, const struct run_compare *r)
{
	static const char *const names[QRUNS_STRATEGIES] = {"fixed ids", "priority", "PID"};
	doc_table(d, "find a side's queues by|works|use|why");
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		const struct run_compare_strategy *s = &r->strategies[i];
		doc_cells(d, "%s|%s|%s|%s", names[i], answers[s->works + 1],
			  s->chosen ? "yes" : "no", s->evidence.data);
	}
}

static void queues(struct doc *d, struct ab_result *a)
{
	struct queue_sets c;
	queue_sets_compare(&c, a->queue_set, a->nqueue_sets);
	programs(d, &c.runs);
	doc_say(d, "Over all runs, by GPU and age of a side's processes.");
	if (c.suspended)
		doc_say(d,
			"In %zu of %zu looks the offline queues were suspended, and so in no slot: "
			"whether slots are the same is then not known.",
			c.suspended, a->nqueue_sets);
	pairs(d, &c.runs);
	strategies(d, &c.runs);
	queue_sets_fini(&c);
}

void report_ab(struct doc *d, struct load_run *run, const struct result_goals *goals,
	       const struct requirements *required)
{
	struct ab_result *a = &run->ab;
	struct result_verdict v[AB_GOALS];
	struct judged *j = xcalloc(AB_GOALS + required->n, sizeof(*j));
	ab_judge_goals(a, goals, v);
	for (unsigned i = 0; i < AB_GOALS; i++)
		j[i] = (struct judged){.v = v[i], .setting = ""};
	verdict(d, &run->context, j, AB_GOALS + require(NULL, required, run, j + AB_GOALS), 1);
	request_plot(d, a, &run->context, goals);
	doc_heading(d, 3, "Goals");
	goals_table(d, j);
	require(d, required, run, j + AB_GOALS);
	free(j);
	doc_heading(d, 3, "Online: alone, shared, preempted");
	online(d, a);
	doc_heading(d, 3, "Offline");
	offline(d, a);
	doc_heading(d, 3, "Queues: ids, slots, priorities");
	queues(d, a);
	report_context(d, &run->context);
}
