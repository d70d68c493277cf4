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
struct bounds stats_mean_bounds(const struct samples *s, double level);

// Bounds of a value that is computed from `n` parts, such as a ratio of sums over pairs, by the
// jackknife: without[i] is the value without part i. None with fewer than 2 parts.
struct bounds stats_jackknife(double value, const double *without, size_t n, double level);

// Bounds of a / b of two independent positive values whose bounds are known: the distances of the
// logarithms are added as the legs of a right triangle (MOVER, Zou and Donner 2008).
struct bounds stats_ratio_bounds(double a, struct bounds of_a, double b, struct bounds of_b);

// How many parts are missing until a value with these bounds, from `n` parts, tells from a limit
// in 99 of 100 measurements, if value and spread stay as they are; at most 9 n, as few parts say
// little about that. 0: it is not known.
uint64_t stats_more(double value, struct bounds b, size_t n, double limit);

// ---- what changed between two sets of runs
//
// Each run is one number, whatever the number of its samples: samples of a run are alike in what
// differs from run to run (placement in memory, clocks, neighbours), so they are not independent.

// The change from old to new runs, by the t-test of the logarithms of their values. The sides may
// differ in spread, so the error is that of Welch (1947). The degrees of freedom are those of the
// side with fewer runs, which is right for any spreads (Hajek 1962): with the usual ones (Welch and
// Satterthwaite) 2 runs against 20 would show a change of nothing in 7 of 100 tests, not in 1.
struct change {
	double ratio;    // of the geometric means, new / old; NaN: a side has no run
	struct bounds b; // of `ratio`
	// Of no change. NaN: a side has fewer than 2 runs. Or it has fewer than RUNS_LEAST, and
	// neither side any spread, as with a clock of great steps: what the spread is, is not
	// known.
	double p;
	enum { CHANGE_NOT_SHOWN, CHANGE_EQUAL, CHANGE_SLOWER, CHANGE_FASTER } verdict;
	uint64_t more;    // not shown: runs to add until both sides have n + more
	size_t n;         // number of runs, of the side that has fewer
	double error;     // standard error of the logarithm of `ratio`
	double freedom;   // degrees of freedom of Student's t for `p` and `b`: n - 1
	double spread;    // what `error` would be if either side were one run
	double of_spread; // degrees of freedom of `spread` (Welch and Satterthwaite)
};

// Compares two sets of runs by the logarithms of their values. Fills in `ratio` and what follows
// `more`; the rest depends on all changes of a report: stats_judge_changes().
struct change stats_change(const struct samples *old, const struct samples *new);

// Judges the changes of one report, together:
// - A change is shown if p < CHANGE_ERROR. `p` is corrected for the number of tests (Holm 1979), so
//   that a report without any change claims one in at most 1 of 100 measurements.
// - Equal within CHANGE_MARGIN, if two one-sided tests (Schuirmann 1987) refute a greater change
//   both ways; these are corrected likewise.
// - The bounds hold all together in 99 of 100 measurements (Bonferroni).
// - Else it is not shown, and `more` runs tell a change by the margin from none in 95 of 100
//   measurements, and at most 9 n. With fewer than RUNS_LEAST those up to that number are asked
//   for, as fewer say little about the spread. That the spread is itself uncertain, the
//   degrees of freedom make up for (Stein 1945). Where n should have done, the change lies in
//   between: then as many as tell it from the farther of no change and the margin.
#define CHANGE_ERROR  0.01
#define CHANGE_MARGIN 0.05
enum { RUNS_LEAST = 5 };
void stats_judge_changes(struct change *v, size_t n);
