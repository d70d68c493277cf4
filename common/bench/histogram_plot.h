// A histogram coarse enough to be looked at: the log-linear buckets of stats/hist.h, joined so that
// a power of two has 8 of them, or fewer, and all fit.
#ifndef GPQ_BENCH_HISTOGRAM_PLOT_H
#define GPQ_BENCH_HISTOGRAM_PLOT_H

#include "common/stats/hist.h"
#include "common/stats/samples.h"

enum { BARS_MAX = 120 };

struct histogram_plot {
	unsigned n;
	uint64_t total;
	struct bar {
		uint64_t lower, upper; // smallest and largest value that counts here
		uint64_t count;        // may be 0 between others
	} v[BARS_MAX];
};

// At most `most` bars (1 to BARS_MAX), from the first to the last that is not empty.
void histogram_plot_of(struct histogram_plot *b, const struct hist *h, unsigned most);

// The same of samples, ns.
void histogram_plot_of_samples(struct histogram_plot *b, const struct samples *s, unsigned most);

#endif
