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
void report_ab(struct doc *d, struct ab_result *a, const struct result_goals *goals);

// Both have these.
void report_context(struct doc *d, const struct bench_context *c);
void report_cdf(struct plot *p, struct samples *s, const char *name);
// Bars of a set of samples as shares of them, in a plot of times.
void report_bars(struct plot *p, struct samples *s, const char *name);
double report_highest_bar(struct samples *s); // share
const char *report_title(char title[96], const struct bench_context *c, const char *text);
void report_ms(struct doc *d, double ns);
void report_per_cent(struct doc *d, double share);

#endif
