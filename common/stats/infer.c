// Confidence bounds, and how many samples a verdict needs; definitions in infer.h.
#include "common/stats/infer.h"

#include "common/host/maths.h"
#include "common/host/number.h"

// 95th and 99th percentiles of the normal distribution.
#define NORMAL_95 1.644854
#define NORMAL_99 2.326348

enum { MORE_MAX = 1000000000 };

// Smallest n from `low` on for which `enough` is true, which then stays true; MORE_MAX: none below.
static uint64_t first_enough(uint64_t low, bool (*enough)(uint64_t n, const double *of),
			     const double *of)
{
	uint64_t high = low;
	while (high < MORE_MAX && !enough(high, of)) {
		low = high + 1;
		high *= 2;
	}
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (enough(middle, of))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// Is the sample of rank `r` at or above the percentile p with probability of[1]? of: p, level, n.
static bool is_upper_rank(uint64_t r, const double *of)
{
	return r > (uint64_t)of[2] || stats_binomial_tail((size_t)of[2], r, of[0]) <= 1 - of[1];
}

// Is the sample of rank `r` above the percentile so often that it is no lower bound?
static bool is_no_lower_rank(uint64_t r, const double *of)
{
	return r > (uint64_t)of[2] || stats_binomial_tail((size_t)of[2], r, of[0]) < of[1];
}

struct bounds stats_percentile_bounds(struct samples *s, double p, double level)
{
	const double of[] = {p, level, (double)s->n};
	const uint64_t above = first_enough(1, is_no_lower_rank, of);
	const uint64_t high = first_enough(1, is_upper_rank, of);
	samples_sort(s);
	return (struct bounds){above > 1 ? s->v[above - 2] : -INFINITY,
			       high <= s->n ? s->v[high - 1] : INFINITY};
}

// Of n samples, of[1] of which are beyond the limit: is an upper bound among those within? of[0]: p
static bool is_within(uint64_t n, const double *of)
{
	return n > (uint64_t)of[1] &&
	       is_upper_rank(n - (uint64_t)of[1], (const double[]){of[0], STATS_LEVEL, (double)n});
}

uint64_t stats_percentile_more(uint64_t n, uint64_t beyond, double p)
{
	const double of[] = {p, (double)beyond};
	return first_enough(n ? n : 1, is_within, of) - n;
}

struct bounds stats_mean_bounds(const struct samples *s)
{
	const double mean = samples_mean(s), n = (double)s->n;
	double squares = 0;
	if (s->n < 2)
		return (struct bounds){-INFINITY, INFINITY};
	for (size_t i = 0; i < s->n; i++)
		squares += (s->v[i] - mean) * (s->v[i] - mean);
	const double reach =
		stats_student_t(NORMAL_95, n - 1) * maths()->sqrt(squares / (n * (n - 1)));
	return (struct bounds){mean - reach, mean + reach};
}

struct bounds stats_jackknife(double value, const double *without, size_t n)
{
	struct samples parts = {0};
	for (size_t i = 0; i < n; i++)
		samples_add(&parts, (double)n * value - (double)(n - 1) * without[i]);
	const double mean = samples_mean(&parts);
	struct bounds b = stats_mean_bounds(&parts);
	samples_fini(&parts);
	b.low += value - mean;
	b.high += value - mean;
	return n < 2 ? (struct bounds){-INFINITY, INFINITY} : b;
}

struct bounds stats_ratio_bounds(double a, struct bounds of_a, double b, struct bounds of_b)
{
	const struct maths *m = maths();
	const double ratio = a / b, up = m->log(of_a.high / a), down = m->log(b / of_b.low);
	const double under = m->log(a / of_a.low), over = m->log(of_b.high / b);
	struct bounds r = {-INFINITY, INFINITY};
	if (of_a.high < INFINITY && of_b.low > 0)
		r.high = ratio * m->exp(m->sqrt(up * up + down * down));
	if (of_a.low > 0 && of_b.high < INFINITY)
		r.low = ratio / m->exp(m->sqrt(under * under + over * over));
	return r;
}

// Does a value tell from a limit with n parts? of: standard deviation of a part, distance.
static bool tells(uint64_t n, const double *of)
{
	const double t = stats_student_t(NORMAL_95, (double)(n - 1));
	return (t + NORMAL_99) * of[0] <= of[1] * maths()->sqrt((double)n);
}

uint64_t stats_more(double value, struct bounds b, size_t n, double limit)
{
	if (n < 2)
		return 2 - n;
	const double distance = fabs(limit - value);
	const double reach = limit > value ? b.high - value : value - b.low;
	const double of[] = {reach * maths()->sqrt((double)n) /
				     stats_student_t(NORMAL_95, (double)(n - 1)),
			     distance};
	if (!(distance > 0) || !(reach < INFINITY))
		return 0;
	return lesser(first_enough(n + 1, tells, of) - n, 9 * n);
}
