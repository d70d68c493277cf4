// Tables and plots of a run; report.h.
#include "common/bench/report.h"

#include "common/bench/plot.h"
#include "common/stats/hist.h"
#include "common/stats/maths.h"

#include <inttypes.h>
#include <stdio.h>

enum { BARS = 60, CDF_POINTS = 300, PLOT_SETTINGS = 3, TIMELINE_CYCLES = 20 };

static void report_context(struct doc *d, const struct bench_context *c)
{
	const char *name = c->text[CONTEXT_run];
	doc_heading(d, *name ? name : "a run without a name");
	if (!bench_context_is_gpu(c))
		doc_warn(d, "Not measured on a GPU: the real driver over a software GPU in a VM. "
			    "These times say nothing about hardware.");
	doc_table(d, "context|value");
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++) {
		doc_cell(d, bench_context_label[i]);
		doc_cell(d, c->text[i]);
	}
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
	doc_table(d, "setting|untouched /s|gap /s|held /s|held %|loss %|effect %");
	for (unsigned i = 0; i < r->n; i++) {
		struct result_rates v = result_rates(r->of[i]);
		doc_cells(d, "%s|%.1f|%.1f|%.1f|%.2f|%.2f|%.2f", r->of[i]->name, v.untouched, v.gap,
			  v.held, 100 * v.held_share, 100 * v.loss, 100 * v.effect);
	}
	doc_say(d, "AQL packets that the target's queues took in a second: in windows in which "
		   "nothing was done, between cycles, and while suspended. Loss is of the "
		   "throughput over whole cycles against untouched; the effect is the loss beyond "
		   "the share of time it was suspended.");
}

static void verdicts(struct doc *d, struct result *r, const struct result_goals *g)
{
	doc_table(d, "goal|setting|measured|limit|result");
	for (unsigned i = 0; i < r->n; i++) {
		struct result_verdict v[RESULT_GOALS];
		result_judge(r->of[i], g, v);
		for (unsigned k = 0; k < RESULT_GOALS; k++) {
			const struct result_verdict *p = &v[k];
			doc_cells(d,
				  p->share ? "%s, %%|%s|%.2f|%.2f|%s"
					   : "%s at p99, ms|%s|%.3f|%.3f|%s",
				  p->goal, r->of[i]->name,
				  p->share ? 100 * p->value : p->value / 1e6,
				  p->share ? 100 * p->limit : p->limit / 1e6, p->result);
		}
	}
}

static void saved(struct doc *d, const struct result *r)
{
	bool any = false;
	for (unsigned i = 0; i < r->n; i++)
		any |= r->of[i]->xccs > 0;
	if (!any)
		return;
	doc_heading(d, "Wave state saved");
	doc_table(d, "setting|XCC|mean bytes|most bytes");
	for (unsigned i = 0; i < r->n; i++) {
		const struct result_setting *s = r->of[i];
		for (unsigned x = 0; x < s->xccs; x++)
			doc_cells(d, "%s|%u|%.1f|%llu", s->name, x,
				  (double)s->saved_sum[x] / (double)s->saved_cycles,
				  (unsigned long long)s->saved_max[x]);
	}
}

// Plots

// Times of one kind, as a line in plots.
struct report_times {
	struct samples *s;
	char name[128];
};

static void cdf_line(struct plot *p, const struct report_times *t)
{
	struct samples *s = t->s;
	double x[CDF_POINTS + 1], y[CDF_POINTS + 1];
	size_t n = s->n < CDF_POINTS ? s->n : CDF_POINTS;
	samples_sort(s);
	for (size_t i = 0; i < n; i++) {
		size_t rank = (i + 1) * s->n / n;
		x[i] = s->v[rank - 1] > 1 ? s->v[rank - 1] : 1;
		y[i] = (double)rank / (double)s->n;
	}
	plot_line(p, x, y, n, t->name);
}

// Returns the highest bar's share; draws them where there is a plot.
static double bars(struct plot *p, const struct report_times *t)
{
	double x[BARS + 1], y[BARS], top = 0;
	struct hist_bars b;
	hist_bars_of_samples(&b, t->s, BARS);
	for (unsigned i = 0; i < b.n; i++) {
		x[i] = maths()->fmax((double)b.v[i].lower, 1);
		x[i + 1] = (double)b.v[i].upper + 1;
		y[i] = b.v[i].share;
		top = maths()->fmax(top, y[i]);
	}
	if (p)
		plot_bars(p, x, y, b.n, t->name);
	return top;
}

// Plots are copied out of reports, so the title of each has "(software GPU)" where it applies.
static const char *title_of(char title[96], const struct bench_context *c, const char *begin,
			    const char *what, const char *end)
{
	snprintf(title, 96, "%s%s%s%s", begin, what, end,
		 bench_context_is_gpu(c) ? "" : " (software GPU)");
	return title;
}

// Two plots: the share of `what` that took at most so long, and a histogram. `mark`: a time to mark
// as the goal; 0: none. False, and nothing drawn, without samples.
static bool report_plots(struct doc *d, const struct bench_context *c, const char *what,
			 const char *x_label, const char *y_label, const struct report_times *t,
			 unsigned n, double mark)
{
	struct plot_axis x = {x_label, PLOT_NS, INFINITY, 0, true},
			 y = {y_label, PLOT_SHARE, 0, 1, false};
	double top = 0;
	char title[96];
	struct plot p;
	for (unsigned i = 0; i < n; i++) { // fmin and fmax pass over the NaN of none
		x.min = maths()->fmin(x.min, samples_percentile(t[i].s, 0));
		x.max = maths()->fmax(x.max, samples_percentile(t[i].s, 1));
		top = maths()->fmax(top, bars(NULL, &t[i]));
	}
	if (!(x.max > 0))
		return false;
	x.min = maths()->fmax(x.min, 1);
	x.max = maths()->fmax(x.max, 1);
	plot_open(&p, doc_svg(d),
		  title_of(title, c, "Share of ", what, " that took at most so long"), x, y);
	for (unsigned i = 0; i < n; i++)
		cdf_line(&p, &t[i]);
	plot_mark(&p, mark, "goal");
	plot_close(&p);
	y.max = top;
	plot_open(&p, doc_svg(d), title_of(title, c, "How long ", what, " took"), x, y);
	for (unsigned i = 0; i < n; i++)
		bars(&p, &t[i]);
	plot_mark(&p, mark, "goal");
	plot_close(&p);
	return true;
}

static void latency_plots(struct doc *d, const struct load_run *run, const struct result_goals *g)
{
	static const enum result_metric shown[] = {METRIC_suspend, METRIC_resume};
	struct report_times t[2 * PLOT_SETTINGS];
	const struct result *r = &run->result;
	unsigned n = 0;
	for (unsigned i = 0; i < r->n && i < PLOT_SETTINGS; i++)
		for (unsigned k = 0; k < 2; k++, n++) { // "suspend", "resume, queues=3"
			t[n].s = &r->of[i]->metric[shown[k]];
			snprintf(t[n].name, sizeof(t[n].name), "%s%s%s",
				 result_metric_name[shown[k]], r->n > 1 ? ", " : "",
				 r->n > 1 ? r->of[i]->name : "");
		}
	if (report_plots(d, &run->context, "the calls", "request until return", "share of calls", t,
			 n, g->suspend_ns) &&
	    r->n > PLOT_SETTINGS)
		doc_say(d, "The plots show the first %d settings of %u.", PLOT_SETTINGS, r->n);
}

struct timeline {
	const struct cycle *c;
	size_t n;
};

// Indices can be compared while the same queues are watched: those that went away take their
// packets with them.
static bool follows(const struct cycle *a, const struct cycle *b)
{
	return b->number == a->number + 1 && b->set.queues == a->set.queues &&
	       b->queues == a->queues && b->read_sum >= a->read_sum;
}

// The first cycles behind the warm-up that are whole and follow each other.
static struct timeline choose_timeline(const struct load_run *run)
{
	struct timeline t = {0};
	for (size_t i = 0; i < run->ntimeline && t.n < TIMELINE_CYCLES; i++) {
		const struct cycle *c = &run->timeline[i];
		bool complete = c->gap_packets != CYCLE_NONE && c->suspend_packets != CYCLE_NONE &&
				c->read_sum != CYCLE_NONE;
		bool fits = !c->warmup && complete && (!t.n || follows(&t.c[t.n - 1], c));
		if (t.n && !fits)
			break;
		t.c = t.n ? t.c : c;
		t.n += fits;
	}
	return t;
}

static double seconds(const struct timeline *t, uint64_t at)
{
	return ((double)at - (double)t->c[0].at_ns) / 1e9;
}

// Two levels a cycle: from the request to resume (of the cycle before) until suspend has returned,
// and the hold after it. Packets are counted exactly at these moments.
static size_t timeline_steps(const struct timeline *t, double *x, double *y)
{
	size_t n = 0;
	for (size_t i = 0; i + 1 < t->n; i++) {
		const struct cycle *c = &t->c[i], *next = &t->c[i + 1];
		uint64_t off = c->at_ns + c->suspend_ns, on = off + c->held_ns;
		uint64_t next_off = next->at_ns + next->suspend_ns;
		uint64_t ran = next->read_sum + next->suspend_packets - c->read_sum -
			       c->suspend_packets - c->held_packets;
		x[n] = seconds(t, off);
		y[n++] = c->held_ns ? (double)c->held_packets / ((double)c->held_ns / 1e9) : 0;
		x[n] = seconds(t, on);
		y[n++] = (double)ran / ((double)(next_off - on) / 1e9);
	}
	return n;
}

static void timeline_plot(struct doc *d, const struct load_run *run)
{
	struct timeline t = choose_timeline(run);
	double x[2 * TIMELINE_CYCLES], y[2 * TIMELINE_CYCLES], top = 0;
	char title[96];
	struct plot p;
	size_t n = t.n > 2 ? timeline_steps(&t, x, y) : 0;
	if (!n) {
		doc_say(d,
			"No plot over time: hardly two cycles in a row watched the same queues.");
		return;
	}
	for (size_t i = 0; i < n; i++)
		top = maths()->fmax(top, y[i]);
	plot_open(&p, doc_svg(d),
		  title_of(title, &run->context, "The target's dispatch rate; shaded: suspended",
			   "", ""),
		  (struct plot_axis){"time", PLOT_SECONDS, 0, x[n - 1], false},
		  (struct plot_axis){"AQL packets a second", PLOT_RATE, 0, top, false});
	for (size_t i = 0; i < n; i += 2)
		plot_band(&p, x[i], x[i + 1]);
	plot_line(&p, x, y, n, "packets taken");
	plot_close(&p);
	doc_say(d,
		"The plot shows the %zu cycles after warm-up. Packets are counted whenever a "
		"call is made or returns, so the rate is a mean between these moments.",
		t.n);
}

void report_run(struct doc *d, struct load_run *run, const struct result_goals *goals)
{
	struct result *r = &run->result;
	report_context(d, &run->context);
	doc_heading(d, "Goals");
	verdicts(d, r, goals);
	doc_heading(d, "Latencies");
	latency_plots(d, run, goals);
	latencies(d, r);
	doc_heading(d, "Throughput of the target");
	timeline_plot(d, run);
	effects(d, r);
	saved(d, r);
	doc_heading(d, "Cycles");
	cycles(d, r);
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

static void goals_table(struct doc *d, struct ab_result *a, const struct result_goals *g)
{
	struct result_verdict v[AB_GOALS];
	ab_judge_goals(a, g, v);
	doc_table(d, "goal|measured %|limit %|result");
	for (unsigned i = 0; i < AB_GOALS; i++)
		doc_cells(d, "%s|%.2f|%.2f|%s", v[i].goal, 100 * v[i].value, 100 * v[i].limit,
			  v[i].result);
}

static void request_plots(struct doc *d, struct ab_result *a, const struct bench_context *c)
{
	struct report_times t[AB_MODES];
	for (unsigned m = 0; m < AB_MODES; m++) {
		t[m].s = &a->mode[m].latency;
		snprintf(t[m].name, sizeof(t[m].name), "%s", ab_mode_name[m]);
	}
	report_plots(d, c, "online requests", "latency", "share of requests", t, AB_MODES, 0);
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

void report_ab(struct doc *d, struct load_run *run, const struct result_goals *goals)
{
	struct ab_result *a = &run->ab;
	report_context(d, &run->context);
	doc_heading(d, "Goals");
	goals_table(d, a, goals);
	doc_heading(d, "Online: alone, shared, preempted");
	request_plots(d, a, &run->context);
	online(d, a);
	doc_heading(d, "Offline");
	offline(d, a);
	doc_heading(d, "Queues: ids, slots, priorities");
	queues(d, a);
}
