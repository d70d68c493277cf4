// Plots in the HTML report of a run: distributions of times, dispatch rate over time.
#include "cmd/bench/bench.h"

#include "common/out/plot.h"
#include "common/host/maths.h"

enum { STEPS = 120, TIMELINE_CYCLES = 20, ROWS = 8, MARKS = PLAN_SETTINGS_MAX };

// A group of rows in a plot of times, and the goal drawn for them.
struct times {
	const char *heading, *goal_label;
	double goal; // NaN: no goal
	struct samples *s[MARKS];
	const char *name[MARKS];
	unsigned n;
	bool marks;  // a flat row each, with two percentiles and their intervals
	bool pooled; // samples of several runs, which are not independent: they have no interval
};

// Draws the share of the samples within each time (their distribution function), at the times of at
// most STEPS ranks, behind it the interval of the median, unless they are pooled.
static void plot_share(struct plot *p, const char *name, struct samples *s, bool pooled)
{
	const unsigned n = s->n < STEPS ? (unsigned)s->n : STEPS;
	const bool p99 = samples_carry(s->n, 0.99);
	const struct bounds of = stats_percentile_bounds(s, 0.5, 0.975);
	const double band[] = {of.low, of.high};
	double x[STEPS + 1], y[STEPS];
	struct plot_tick ticks[2] = {{.x = samples_percentile(s, 0.5)},
				     {.x = samples_percentile(s, p99 ? 0.99 : 1)}};
	char label[128], ns[24];
	for (unsigned i = 0; i < n; i++) {
		y[i] = (i + 1.0) / n;
		x[i] = samples_percentile(s, y[i]);
	}
	x[n] = p->x.max;
	for (unsigned k = 0; n && k < 2; k++) {
		ticks[k].name = !k ? "median" : p99 ? "p99" : "greatest";
		snprintf(ticks[k].text, sizeof(ticks[k].text), "%s %s", ticks[k].name,
			 text_ns(ns, (uint64_t)maths()->llround(ticks[k].x)));
	}
	snprintf(label, sizeof(label), "%s%sn %zu", name, *name ? ", " : "", s->n);
	p->bands = band;
	p->nbands = !pooled && isfinite(of.low) && isfinite(of.high) ? 2 : 0;
	p->band_name = "95 % interval of the median";
	plot_row(p, label, x, y, n, n ? ticks : NULL);
	p->nbands = 0;
}

// Draws the median and, if they have one, the 99th percentile, with their 95 % intervals.
static void plot_percentiles(struct plot *p, const char *name, struct samples *s)
{
	static const char *const names[] = {"median", "p99"};
	struct plot_mark v[2];
	for (unsigned k = 0; k < 2; k++) {
		const double of = k ? 0.99 : 0.5;
		const struct bounds b = stats_percentile_bounds(s, of, 0.975);
		v[k] = (struct plot_mark){b.low, samples_percentile(s, of), b.high, names[k]};
	}
	plot_marks(p, name, v, 1 + samples_carry(s->n, 0.99));
}

// Each plot says "software GPU" where it applies, since plots are copied out of reports.
static void open_plot(struct plot *p, const char *title, const struct bench_context *c,
		      struct plot_axis x)
{
	plot_open(p, title, bench_context_is_gpu(c) ? "" : "software GPU: no times of hardware", x);
}

static void put_plot(struct out *o, struct plot *p)
{
	buf_puts(out_html(o), "<figure>");
	plot_close(p, out_html(o));
	buf_puts(out_html(o), "</figure>\n");
}

static void plot_times(struct out *o, const struct bench_context *c, const char *title,
		       const struct times *t, unsigned n)
{
	struct plot_axis x = {"time, logarithmic scale", PLOT_NS, INFINITY, 0, true};
	char text[64], ns[24];
	struct plot p;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < t[i].n; k++) { // fmin() and fmax() ignore NaN
			x.min = maths()->fmin(x.min, samples_percentile(t[i].s[k], 0));
			x.max = maths()->fmax(x.max, samples_percentile(t[i].s[k], 1));
		}
	if (!(x.max > 0))
		return;
	for (unsigned i = 0; i < n; i++) {
		x.min = maths()->fmin(x.min, t[i].goal);
		x.max = maths()->fmax(x.max, t[i].goal);
	}
	x.min = maths()->fmax(x.min, 1);
	open_plot(&p, title, c, x);
	for (unsigned i = 0; i < n; i++) {
		plot_group(&p, t[i].heading, 1, PLOT_SHARE);
		if (t[i].goal > 0) {
			snprintf(text, sizeof(text), "%s %s", t[i].goal_label,
				 text_ns(ns, (uint64_t)maths()->llround(t[i].goal)));
			plot_goal(&p, t[i].goal, text);
		}
		for (unsigned k = 0; k < t[i].n; k++)
			if (!t[i].marks)
				plot_share(&p, t[i].name[k], t[i].s[k], t[i].pooled);
			else if (t[i].s[k]->n)
				plot_percentiles(&p, t[i].name[k], t[i].s[k]);
	}
	put_plot(o, &p);
}

static void plot_calls(struct out *o, struct load_run *run, const struct requirements *limits)
{
	const struct result *r = &run->result;
	static const char *const heading[2][2] = {
		{"suspend: share of the calls within this time",
		 "suspend: median and 99th percentile, with 95 % intervals"},
		{"resume: share of the calls within this time",
		 "resume: median and 99th percentile, with 95 % intervals"}};
	struct times t[2] = {{.goal_label = "goal"}, {.goal_label = "goal"}};
	t[0].goal = require_limit(limits, "suspend p99");
	t[1].goal = require_limit(limits, "resume p99");
	for (unsigned marks = 0; marks < 1 + (r->n > 1); marks++) {
		for (unsigned k = 0; k < 2; k++) {
			t[k].heading = heading[k][marks];
			t[k].marks = marks;
			t[k].n = marks || r->n < ROWS ? r->n : ROWS;
			for (unsigned i = 0; i < t[k].n; i++) {
				t[k].s[i] = &r->of[i]->metric[k ? METRIC_resume : METRIC_suspend];
				t[k].name[i] = r->n > 1 ? r->of[i]->name : "";
			}
		}
		plot_times(o, &run->context,
			   marks ? "All settings" : "How long suspend and resume took", t, 2);
	}
	if (r->n > ROWS)
		out_say(o, OUT_NOTE, "The first plot shows the first %d settings of %u.", ROWS,
			r->n);
}

static void plot_requests(struct out *o, struct load_run *run, const struct requirements *limits)
{
	struct times t = {.heading = "share of the requests within this time",
			  .goal_label = "goal for the preempted median",
			  .n = AB_MODES};
	for (unsigned m = 0; m < AB_MODES; m++) {
		t.s[m] = &run->ab.mode[m].latency;
		t.name[m] = ab_mode_name[m];
	}
	t.goal = samples_percentile(t.s[AB_ALONE], 0.5) *
		 (1 + require_limit(limits, "online slowdown"));
	plot_times(o, &run->context, "How long online requests took", &t, 1);
}

void run_plot_times(struct out *o, struct load_run *run, const struct requirements *limits)
{
	if (out_html(o))
		(run->is_ab ? plot_requests : plot_calls)(o, run, limits);
}

void run_plot_changes(struct out *o, const struct bench_context *c, const struct bench_change *v,
		      size_t n)
{
	static const char *const side[] = {"old", "new"};
	enum { GROUPS = 3 }; // suspend, resume, online
	struct times t[GROUPS] = {{0}};
	const char *metric[GROUPS];
	char heading[GROUPS][64], name[GROUPS][ROWS][160];
	unsigned groups = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned g = 0;
		while (g < groups && strcmp(metric[g], v[i].metric) != 0)
			g++;
		if (g == groups) {
			metric[groups++] = v[i].metric;
			snprintf(heading[g], sizeof(heading[g]),
				 "%s: share of the samples within this time", v[i].metric);
			t[g] = (struct times){.heading = heading[g], .goal = NAN, .pooled = true};
		}
		for (unsigned k = 0; k < 2 && t[g].n < ROWS; k++, t[g].n++) {
			char *to = name[g][t[g].n];
			snprintf(to, sizeof(name[g][0]), "%s, %s", side[k], v[i].setting);
			t[g].name[t[g].n] = to;
			t[g].s[t[g].n] = v[i].side[k];
		}
	}
	plot_times(o, c, "How long it took, old and new", t, groups);
}

// ---- over time

enum { MOMENTS = 300 }; // requests, holds or cycles that are drawn

// Levels over time, from x[i] to x[i + 1], and spans in which offline work was held.
struct over_time {
	double x[2 * MOMENTS + 1], y[2 * MOMENTS], held[2 * MOMENTS];
	size_t n, nheld;
	double begin; // what is 0 on the axis, ns
	double top;   // the highest level
};

// Adds a level of `ns` from `at` on, for so long. Where the one before ends later, as that of
// another client, this one begins when that ends.
static void add_moment(struct over_time *t, double at, double ns, double lasts)
{
	t->begin = t->n ? t->begin : at;
	const double from = (at - t->begin) / 1e9, to = from + lasts / 1e9;
	if (t->n + 2 > 2 * MOMENTS || !(to > t->x[t->n]))
		return;
	if (from > t->x[t->n])
		t->y[t->n++] = NAN;
	t->x[t->n] = maths()->fmax(from, t->x[t->n]);
	t->y[t->n++] = ns;
	t->x[t->n] = to;
	t->top = maths()->fmax(t->top, ns);
}

// Draws the levels of some groups, which have one scale. `cut`: they lack what came later.
static void plot_over_time(struct out *o, const struct bench_context *c, const char *title,
			   const char *const *heading, const struct over_time *t, unsigned n,
			   bool cut)
{
	struct plot p;
	double end = 0, top = 0;
	for (unsigned i = 0; i < n; i++) {
		cut |= t[i].n + 2 > 2 * MOMENTS;
		end = maths()->fmax(end, t[i].x[t[i].n]);
		top = maths()->fmax(top, t[i].top);
	}
	if (!(top > 0))
		return;
	open_plot(&p, title, c, (struct plot_axis){"time", PLOT_SECONDS, 0, end, false});
	for (unsigned i = 0; i < n; i++) {
		if (!t[i].n)
			continue;
		plot_group(&p, heading[i], top, PLOT_NS);
		p.bands = t[i].held;
		p.nbands = t[i].nheld;
		p.band_name = "offline work held";
		plot_row(&p, "", t[i].x, t[i].y, t[i].n, NULL);
	}
	put_plot(o, &p);
	if (cut)
		out_say(o, OUT_NOTE, "The plot over time shows the beginning alone.");
}

// The first run of each mode: each request, and each hold.
static void plot_requests_over_time(struct out *o, const struct load_run *run)
{
	static const char *const heading[AB_MODES] = {"alone: latency of each request",
						      "shared: latency of each request",
						      "preempt: latency of each request"};
	SCOPED(free_at) struct over_time *all = xcalloc(AB_MODES, sizeof(*all));
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct over_time *t = &all[m];
		if (!run->ab.mode[m].runs)
			continue;
		const struct ab_times *r = &run->ab.mode[m].run->times;
		const size_t holds = lesser(r->holds_at.n, lesser(r->suspend.n, r->resumes_at.n));
		for (size_t i = 0; i < r->starts.n && i < r->latency.n; i++)
			add_moment(t, r->starts.v[i], r->latency.v[i], r->latency.v[i]);
		for (size_t i = 0; i < holds && i < MOMENTS && t->n; i++) {
			t->held[2 * i] = (r->holds_at.v[i] + r->suspend.v[i] - t->begin) / 1e9;
			t->held[2 * i + 1] = (r->resumes_at.v[i] - t->begin) / 1e9;
			if (t->held[2 * i] < t->x[t->n])
				t->nheld = 2 * i + 2;
		}
	}
	plot_over_time(o, &run->context, "Requests over time, the first run of each mode", heading,
		       all, AB_MODES, false);
}

// The calls of the first cycles, each drawn until the cycle ends.
static void plot_calls_over_time(struct out *o, const struct load_run *run)
{
	static const char *const heading[] = {"suspend: how long each call took",
					      "resume: how long each call took"};
	SCOPED(free_at) struct over_time *t = xcalloc(2, sizeof(*t));
	for (size_t i = 0; i < run->ntimeline; i++) {
		const struct cycle *c = &run->timeline[i];
		const double at = (double)c->at_ns, off = result_metric(c, METRIC_suspend);
		const double on = result_metric(c, METRIC_resume);
		const double lasts = off + (double)c->held_ns + on + (double)c->gap_ns;
		if (!RESULT_IS_WHOLE(&c->set) || c->warmup || c->result != CYCLE_OK ||
		    c->at_ns == CYCLE_NONE || c->held_ns == CYCLE_NONE || c->gap_ns == CYCLE_NONE)
			continue;
		add_moment(&t[0], at, off, lasts);
		add_moment(&t[1], at, on, lasts);
	}
	plot_over_time(o, &run->context, "Suspend and resume over time, all settings", heading, t,
		       2, run->ntimeline == LOAD_TIMELINE);
}

void run_plot_over_time(struct out *o, const struct load_run *run)
{
	if (out_html(o))
		(run->is_ab ? plot_requests_over_time : plot_calls_over_time)(o, run);
}

// ---- the dispatch rate

struct timeline {
	const struct cycle *c;
	size_t n;
};

// Does `b` follow `a` with the same queues? Read indices of other queues cannot be compared.
static bool cycle_follows(const struct cycle *a, const struct cycle *b)
{
	return b->number == a->number + 1 && b->set.queues == a->set.queues &&
	       b->set.level == a->set.level && b->queues == a->queues && b->read_sum >= a->read_sum;
}

// Chooses the first complete cycles in a row after the warm-up.
static struct timeline choose_timeline(const struct load_run *run)
{
	struct timeline t = {0};
	for (size_t i = 0; i < run->ntimeline && t.n < TIMELINE_CYCLES; i++) {
		const struct cycle *c = &run->timeline[i];
		bool complete = c->gap_packets != CYCLE_NONE && c->suspend_packets != CYCLE_NONE &&
				c->read_sum != CYCLE_NONE;
		bool fits = !c->warmup && complete && (!t.n || cycle_follows(&t.c[t.n - 1], c));
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

// Makes two steps for each cycle: while the queues are held, and from the request to resume until
// the next suspend has returned. Packets are counted at these moments.
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

void run_plot_rate(struct out *o, const struct load_run *run)
{
	struct timeline t = choose_timeline(run);
	double x[2 * TIMELINE_CYCLES], y[2 * TIMELINE_CYCLES], top = 0;
	double bands[2 * TIMELINE_CYCLES];
	struct plot p;
	size_t n = t.n > 2 ? timeline_steps(&t, x, y) : 0;
	if (!out_html(o))
		return;
	if (!n) {
		out_say(o, OUT_NOTE,
			"No plot over time: hardly two cycles in a row watched the same queues.");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		top = maths()->fmax(top, y[i]);
		bands[i] = x[i];
	}
	open_plot(&p, "Dispatch rate", &run->context,
		  (struct plot_axis){"time", PLOT_SECONDS, 0, x[n - 1], false});
	p.bands = bands;
	p.nbands = n;
	p.band_name = "suspended";
	plot_group(&p, "AQL packets per second", top, PLOT_RATE);
	plot_row(&p, "", x, y, n - 1, NULL);
	put_plot(o, &p);
	out_say(o, OUT_NOTE,
		"The plot shows the %zu cycles after warm-up. Packets are counted whenever a "
		"call is made or returns, so the rate is a mean between these moments.",
		t.n);
}
