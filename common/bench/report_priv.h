// What report.c and report_plots.c share.
#ifndef GPQ_BENCH_REPORT_PRIV_H
#define GPQ_BENCH_REPORT_PRIV_H

#include "common/bench/report.h"

enum { PLOT_SETTINGS = 8 };

// Times of one kind: a group of rows, and the time that is their goal.
struct report_times {
	const char *heading, *goal_label;
	double goal;
	struct samples *s[PLOT_SETTINGS];
	const char *name[PLOT_SETTINGS];
	unsigned n;
};

// How the times are distributed, with medians, p99 (or the greatest) and goals. Nothing without
// samples.
void report_times_plot(struct doc *d, const struct bench_context *c, const char *title,
		       const struct report_times *t, unsigned n);

// That of suspend and resume; the dispatch rate over time.
void report_latency_plot(struct doc *d, const struct load_run *run, const struct result_goals *g);
void report_timeline_plot(struct doc *d, const struct load_run *run);

#endif
