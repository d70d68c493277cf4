// Histograms by key, for thousands of keys: durations of API functions, latencies of kernels. Only
// the buckets from a key's smallest to its largest value take memory; common/stats/hist.h has the
// bounds of the buckets.
#pragma once

#include "common/stats/hist.h"

struct keyed_histogram_row {
	uint64_t count, sum; // sum UINT64_MAX: it overflowed
	uint64_t min, max;   // not set while count is 0
	uint64_t *bucket;    // counts of buckets first to first + n - 1
	uint32_t first, n;
};

// Histograms of all keys. The caller zeroes it.
struct keyed_histogram {
	struct keyed_histogram_row *v; // indexed by key
	size_t n, cap, buckets;
	bool incomplete; // values were left out: too many keys or buckets
};

// Adds a value to the histogram of a key. Keys must be small numbers: they index an array.
void keyed_histogram_add(struct keyed_histogram *s, uint32_t key, uint64_t value);

// Adds a histogram to that of a key.
void keyed_histogram_put(struct keyed_histogram *s, uint32_t key, const struct hist *h);

// Sets *h to the histogram of a key. False: the key has no values, and *h is empty.
bool keyed_histogram_get(const struct keyed_histogram *s, uint32_t key, struct hist *h);

// The mean of a key's values; NaN: the key has none.
double keyed_histogram_mean(const struct keyed_histogram *s, uint32_t key);

void keyed_histogram_fini(struct keyed_histogram *s);
