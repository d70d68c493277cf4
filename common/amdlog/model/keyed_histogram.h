// Distributions by key, for keys by the thousand: durations of API functions, latencies of kernels,
// times between the dispatches of a queue. Only buckets that occur take room; the bucket rule is
// that of common/stats/hist.h, so what comes out can be merged like any other.
#ifndef GPQ_AMDLOG_MODEL_KEYED_HISTOGRAM_H
#define GPQ_AMDLOG_MODEL_KEYED_HISTOGRAM_H

#include "common/amdlog/read/intern.h"
#include "common/stats/hist.h"

struct keyed_histogram_sum {
	uint64_t count, sum; // sum stays at UINT64_MAX when that is exceeded
	uint64_t min, max;   // min is UINT64_MAX while empty
};

// Starts as zeros.
struct keyed_histogram {
	struct intern cells; // pairs of key and bucket
	uint64_t *counts;    // of each cell
	uint32_t counts_cap;
	struct keyed_histogram_sum *sums; // by key
	uint32_t nsums, sums_cap;
	uint32_t *order; // cells by key, once asked for
	uint32_t norder;
	bool incomplete; // something was left out for want of room
};

// Keys are small dense numbers.
void keyed_histogram_add(struct keyed_histogram *s, uint32_t key, uint64_t value);

// Adds all of a histogram to a key.
void keyed_histogram_put(struct keyed_histogram *s, uint32_t key, const struct hist *h);

// Not for several threads at a time: the order of the cells is kept. All of one key; false, and an
// empty histogram, when there is nothing.
bool keyed_histogram_get(const struct keyed_histogram *s, uint32_t key, struct hist *h);

void keyed_histogram_fini(struct keyed_histogram *s);

#endif
