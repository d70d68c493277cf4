// What samples show: confidence bounds of percentiles, means, shares and ratios, and how many
// more samples a limit needs.
//
// Each bound is one-sided and right in 95 of 100 measurements (STATS_LEVEL): a value is shown to be
// below a limit if its upper bound is, and refuted if its lower bound is above it.
#pragma once

#include "common/stats/samples.h"

#define STATS_LEVEL 0.95

struct bounds {
	double low, high; // -INFINITY, INFINITY: too few samples for this bound
};

// Bounds of the percentile p (between 0 and 1) of what the samples were drawn from: two of the
// samples, by the binomial distribution of how many lie below it. Nothing is assumed about the
// distribution of the values. p99 has an upper bound from 299 samples on, p99.9 from 2995 on.
struct bounds stats_percentile_bounds(struct samples *s, double p, double level);

// How many samples are missing until the upper bound of the percentile p is within a limit, if
// `beyond` of the `n` samples are beyond it, and none of the missing ones will be.
uint64_t stats_percentile_more(uint64_t n, uint64_t beyond, double p);

// Bounds of a mean, by Student's t. None with fewer than 2 samples.
struct bounds stats_mean_bounds(const struct samples *s);

// Bounds of a value that is computed from `n` parts, such as a ratio of sums over pairs, by the
// jackknife: without[i] is the value without part i. None with fewer than 2 parts.
struct bounds stats_jackknife(double value, const double *without, size_t n);

// Bounds of a / b of two independent positive values whose bounds are known: the distances of the
// logarithms are added as the legs of a right triangle (MOVER, Zou and Donner 2008).
struct bounds stats_ratio_bounds(double a, struct bounds of_a, double b, struct bounds of_b);

// How many parts are missing until a value with these bounds, from `n` parts, tells from a limit
// in 99 of 100 measurements, if value and spread stay as they are; at most 9 n, as few parts say
// little about that. 0: it is not known.
uint64_t stats_more(double value, struct bounds b, size_t n, double limit);
