// Histograms by key, for thousands of keys: durations of API functions, latencies of kernels. Only
// the buckets from a key's smallest to its largest value take memory; the bucket rule is that of
// common/stats/hist.h.
#ifndef GPQ_AMDLOG_MODEL_KEYED_HISTOGRAM_H
#define GPQ_AMDLOG_MODEL_KEYED_HISTOGRAM_H

#include "common/stats/hist.h"

#include <stddef.h>

struct keyed_histogram_row {
	uint64_t count, sum; // sum stays at UINT64_MAX when that is exceeded
	uint64_t min, max;   // not set while count is 0
	uint64_t *bucket;    // counts of buckets first to first + n - 1
	uint32_t first, n;
};

// Starts as zeros.
struct keyed_histogram {
	struct keyed_histogram_row *v; // by key
	size_t n, cap, buckets;
	bool incomplete; // something was left out: too many keys or buckets
};

// Keys are small dense numbers.
void keyed_histogram_add(struct keyed_histogram *s, uint32_t key, uint64_t value);

// Adds all of a histogram to a key.
void keyed_histogram_put(struct keyed_histogram *s, uint32_t key, const struct hist *h);

// The histogram of a key; false, and an empty one: the key has no values.
bool keyed_histogram_get(const struct keyed_histogram *s, uint32_t key, struct hist *h);

// NaN: the key has no values.
double keyed_histogram_mean(const struct keyed_histogram *s, uint32_t key);

void keyed_histogram_fini(struct keyed_histogram *s);

#endif
