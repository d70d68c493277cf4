// Plots of a run, in the page of a report: how long calls or requests took, dispatch rate over
// time. Where `o` writes no page they do nothing.
#ifndef GPQ_BENCH_RUN_PLOTS_H
#define GPQ_BENCH_RUN_PLOTS_H

#include "common/bench/require.h"
#include "common/cli/out.h"

// How suspend and resume, or online requests, are distributed, with medians, p99 (or the greatest)
// and limits. Nothing without samples.
void run_plot_times(struct out *o, struct load_run *run, const struct requirements *limits);

// The first cycles behind the warm-up of a run of gpq bench preempt.
void run_plot_rate(struct out *o, const struct load_run *run);

#endif
