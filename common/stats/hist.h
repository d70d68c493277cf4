// A histogram that can be added to others without loss: log-linear buckets at fixed places.
//
// The bucket rule "loglin32" never changes, so that results of all versions and hosts can be
// merged: values 0 to 63 have a bucket each; above, each power of two is divided into 32 buckets of
// equal width. A bucket is at most 1/32 (3.125 %) as wide as its smallest value.
//
//   value v < 64:  index v
//   otherwise:     e = floor(log2 v), index = 32 (e - 5) + floor(v / 2^(e - 5))
//
// Merging adds counters, so it is associative and commutative, exactly.
#pragma once

#include "common/cli/json.h"
#include "common/stats/samples.h"

#define HIST_BUCKETS 1920
#define HIST_RULE    "loglin32"

struct hist {
	uint64_t count;
	uint64_t sum; // sum of the values; UINT64_MAX: that much or more
	uint64_t min; // UINT64_MAX while empty
	uint64_t max;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
void hist_merge(struct hist *to, const struct hist *from);

unsigned hist_index(uint64_t value);
uint64_t hist_lower(unsigned index); // smallest value of the bucket
uint64_t hist_upper(unsigned index); // largest value of the bucket

// The value that at least the share `p` (0 to 1) of all values does not exceed: the upper end of
// the bucket that holds the exact percentile (samples.h), or the maximum. Never too small, at
// most 3.2 % too large. UINT64_MAX: there are no values, or too few for a percentile between the
// median and the maximum (samples_carry()).
uint64_t hist_percentile(const struct hist *h, double p);

// A histogram for drawing: buckets are joined into bars, at most 8 for a power of two.
enum { BARS_MAX = 120 };

struct hist_bars {
	unsigned n;
	struct {
		uint64_t lower, upper; // smallest and largest value of the bar
		uint64_t count;        // may be 0
		double share;
	} v[BARS_MAX];
};

// Makes at most `most` bars (1 to BARS_MAX); the first and the last are not empty. Samples are cut
// to whole numbers.
void hist_bars(struct hist_bars *b, const struct hist *h, unsigned most);
void hist_bars_of_samples(struct hist_bars *b, const struct samples *s, unsigned most);

// Writes, on one line, {"rule": "loglin32", "count": N, "sum": S, "min": A, "max": B, "buckets":
// [[lower, count], ...]} with the buckets that are not empty, ascending.
void hist_json(const struct hist *h, struct json *j, const char *key);

// Reads what hist_json wrote. If the text has another form or rule, or contradicts itself, returns
// false and leaves *h empty.
bool hist_read(struct hist *h, const char *text, size_t len);
