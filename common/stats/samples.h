// A list of measured numbers, all kept, and exact statistics of them.
//
// Percentiles use one definition everywhere: the p-th percentile of n values is the smallest of
// them that at least p n of them do not exceed, that is the value of rank ceil(p n) (1 to n) in
// ascending order. It is always a value that was measured; nothing is interpolated. The median is
// the 50th percentile in this sense.
#pragma once

#include "common/host/std.h"

struct samples {
	double *v; // owned; ascending after samples_sort()
	size_t n, cap;
	bool sorted;
};

// Values in the unit of the samples; NaN: not known.
struct summary {
	size_t n;
	double min, max, mean;
	double sd; // standard deviation, divided by n - 1; NaN for one value
	double p50;
	double p90, p95, p99, p999; // NaN where the samples are too few: samples_carry()
};

// Adds a value, or all values of a list times `factor`. NaN is left out: it means "not measured".
void samples_add(struct samples *s, double value);
void samples_add_all(struct samples *to, const struct samples *from, double factor);
void samples_fini(struct samples *s);
void samples_sort(struct samples *s);

// Rank of the percentile p (0 to 1) among n values: 1 to n; 0 when n is 0.
uint64_t stats_rank(uint64_t n, double p);

// True if n values are enough for the percentile p: at least one lies beyond it. p90 needs
// 10 values, p95 20, p99 100, p99.9 1000.
bool samples_carry(uint64_t n, double p);

// Statistics of the samples; NaN: there are no values.
double samples_percentile(struct samples *s, double p);
double samples_mean(const struct samples *s);
double samples_sd(const struct samples *s); // divided by n - 1; NaN for one value
struct summary samples_summary(struct samples *s);

// P(X >= k) for X binomial of n and p, 0 < p < 1.
double stats_binomial_tail(size_t n, size_t k, double p);

// P(|X| > t) for Student's t with `n` degrees of freedom, t >= 0, n >= 1 (a fraction, too), and the
// t for which it is p.
double stats_student_tails(double t, double n);
double stats_student_t(double p, double n);

// A line y = constant + slope x through samples, by least squares: those of y[i] are at x[i].
// `low`, `high`: 95 % interval of the slope by Student's t, which takes the spread to be the same
// at each x. All NaN with fewer than 5 samples, or if all are at one x.
struct line_fit {
	double slope, low, high, constant;
	double mean; // of all samples
};
struct line_fit stats_line(const double *x, const struct samples *const *y, size_t n);

// The latest MOVING_MAX numbers of a series.
enum { MOVING_MAX = 64 };

struct moving {
	double v[MOVING_MAX]; // a ring
	unsigned n, next;     // numbers in the ring, index of the next one
};

void moving_add(struct moving *m, double value);

// A percentile of the numbers in the ring; 0: there are none.
double moving_percentile(const struct moving *m, double p);
