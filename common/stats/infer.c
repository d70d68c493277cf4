// Confidence bounds, and how many samples a verdict needs; definitions in infer.h.
#include "common/stats/infer.h"

#include "common/host/maths.h"
#include "common/host/number.h"

#define NORMAL_99 2.326348 // 99th percentile of the normal distribution
#define TAILS_95  0.1      // both tails beyond the 95th percentile

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

struct bounds stats_mean_bounds(const struct samples *s, double level)
{
	const double mean = samples_mean(s), n = (double)s->n;
	if (s->n < 2)
		return (struct bounds){-INFINITY, INFINITY};
	const double reach =
		stats_student_t(2 * (1 - level), n - 1) * samples_sd(s) / maths()->sqrt(n);
	return (struct bounds){mean - reach, mean + reach};
}

struct bounds stats_jackknife(double value, const double *without, size_t n, double level)
{
	struct samples parts = {0};
	for (size_t i = 0; i < n; i++)
		samples_add(&parts, (double)n * value - (double)(n - 1) * without[i]);
	const double mean = samples_mean(&parts);
	struct bounds b = stats_mean_bounds(&parts, level);
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
	const double t = stats_student_t(TAILS_95, (double)(n - 1));
	return (t + NORMAL_99) * of[0] <= of[1] * maths()->sqrt((double)n);
}

uint64_t stats_more(double value, struct bounds b, size_t n, double limit)
{
	if (n < 2)
		return 2 - n;
	const double distance = fabs(limit - value);
	const double reach = limit > value ? b.high - value : value - b.low;
	const double of[] = {reach * maths()->sqrt((double)n) /
				     stats_student_t(TAILS_95, (double)(n - 1)),
			     distance};
	if (!(distance > 0) || !(reach < INFINITY))
		return 0;
	return tells(10 * n, of) ? first_enough(n + 1, tells, of) - n : 9 * n;
}

struct change stats_change(const struct samples *old, const struct samples *new)
{
	const struct samples *of[] = {old, new};
	struct change c = {.ratio = maths()->exp(samples_mean(new) - samples_mean(old)),
			   .n = old->n < new->n ? old->n : new->n,
			   .error = NAN};
	double sum = 0, parts = 0;
	for (unsigned i = 0; i < 2 && c.n > 1; i++) {
		const double sd = samples_sd(of[i]), n = (double)of[i]->n, part = sd * sd / n;
		c.spread += sd * sd;
		sum += part;
		parts += part * part / (n - 1);
	}
	if (c.n < 2 || (c.n < RUNS_LEAST && !(sum > 1e-24)))
		return c;
	c.spread = maths()->sqrt(c.spread);
	c.error = maths()->fmax(maths()->sqrt(sum), 1e-12); // not 0 if all runs are the same
	c.freedom = (double)(c.n - 1);
	c.of_spread = parts > 0 ? sum * sum / parts : (double)(old->n + new->n - 2);
	return c;
}

// Corrects p-values for their number; NaN is no test.
static void correct(double *p, size_t n)
{
	struct samples tests = {0};
	for (size_t i = 0; i < n; i++)
		samples_add(&tests, p[i]);
	samples_sort(&tests);
	for (size_t i = 0; i < n; i++) {
		double most = p[i];
		for (size_t k = 0; k < tests.n && tests.v[k] <= p[i]; k++)
			most = maths()->fmax(most, (double)(tests.n - k) * tests.v[k]);
		p[i] = most > 1 ? 1 : most;
	}
	samples_fini(&tests);
}

// Do n runs tell a change from none? of: spread, its degrees of freedom, distance, level.
static bool runs_tell(uint64_t n, const double *of)
{
	const double freedom = maths()->fmin(of[1], (double)(n - 1));
	const double t = stats_student_t(of[3], freedom) + stats_student_t(TAILS_95, freedom);
	return t * of[0] <= of[2] * maths()->sqrt((double)n);
}

static uint64_t runs_wanted(const struct change *c, double level)
{
	const double margin = maths()->log1p(CHANGE_MARGIN);
	const double change = fabs(maths()->log(c->ratio));
	double of[] = {c->spread, c->of_spread, margin, level};
	if (c->n < RUNS_LEAST)
		return RUNS_LEAST;
	if (runs_tell(c->n, of))
		of[2] = maths()->fmax(change, fabs(margin - change));
	return runs_tell(10 * c->n, of) ? first_enough(c->n + 1, runs_tell, of) : 10 * c->n;
}

void stats_judge_changes(struct change *v, size_t n)
{
	const double margin = maths()->log1p(CHANGE_MARGIN), level = CHANGE_ERROR / (double)n;
	SCOPED(free_at) double *p = xcalloc(2 * n + 1, sizeof(*p));
	double *const equal = p + n;
	for (size_t i = 0; i < n; i++) {
		const struct change *c = &v[i];
		const double change = fabs(maths()->log(c->ratio)), inside = margin - change;
		p[i] = equal[i] = NAN;
		if (isnan(c->error))
			continue;
		p[i] = stats_student_tails(change / c->error, c->freedom);
		const double beyond = stats_student_tails(fabs(inside) / c->error, c->freedom) / 2;
		equal[i] = inside > 0 ? beyond : 1 - beyond;
	}
	correct(p, n);
	correct(equal, n);
	for (size_t i = 0; i < n; i++) {
		struct change *c = &v[i];
		c->p = p[i];
		c->b = (struct bounds){-INFINITY, INFINITY};
		if (!isnan(c->error)) {
			const double reach =
				maths()->exp(stats_student_t(level, c->freedom) * c->error);
			c->b = (struct bounds){c->ratio / reach, c->ratio * reach};
		}
		c->verdict = p[i] < CHANGE_ERROR ? c->ratio > 1 ? CHANGE_SLOWER : CHANGE_FASTER
			     : equal[i] < CHANGE_ERROR ? CHANGE_EQUAL
						       : CHANGE_NOT_SHOWN;
		c->more = c->verdict == CHANGE_NOT_SHOWN ? runs_wanted(c, level) - c->n : 0;
	}
}
