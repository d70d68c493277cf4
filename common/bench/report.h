// The report on runs of gpq bench preempt.
#ifndef GPQ_BENCH_REPORT_H
#define GPQ_BENCH_REPORT_H

#include "common/bench/doc.h"
#include "common/bench/load.h"
#include "common/bench/plot.h"

// Times in milliseconds with three digits, shares in per cent with two: what a reader recomputes
// from the samples must round to the same.
void report_run(struct doc *d, struct load_run *run, const struct result_goals *goals);

// The report on a run of gpq bench ab.
void report_ab(struct doc *d, struct load_run *run, const struct result_goals *goals);

// Both have these.
void report_context(struct doc *d, const struct bench_context *c);

// Times of one kind, as a line in plots.
struct report_times {
	struct samples *s;
	char name[128];
};

struct report_words {
	const char *shares, *histogram; // titles
	const char *x, *y;              // of both
};

// Two plots: the share of them that took at most so long, and a histogram. `mark`: a time to mark
// as the goal; 0: none. False, and nothing drawn, without samples.
bool report_plots(struct doc *d, const struct bench_context *c, const struct report_words *w,
		  const struct report_times *t, unsigned n, double mark);

#endif
