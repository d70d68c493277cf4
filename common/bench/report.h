// The report on runs of gpq bench preempt.
#ifndef GPQ_BENCH_REPORT_H
#define GPQ_BENCH_REPORT_H

#include "common/bench/doc.h"
#include "common/bench/load.h"

// Times in milliseconds with three digits, shares in per cent with two: what a reader recomputes
// from the samples must round to the same.
void report_run(struct doc *d, struct load_run *run, const struct result_goals *goals);

// The report on a run of gpq bench ab.
void report_ab(struct doc *d, struct load_run *run, const struct result_goals *goals);

#endif
