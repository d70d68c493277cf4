// Percentiles, mean, Student's t; definitions in samples.h.
#include "common/stats/samples.h"

#include "common/host/maths.h"

void samples_add(struct samples *s, double value)
{
	if (isnan(value))
		return;
	ARRAY_GROW(s->v, s->cap, s->n);
	s->v[s->n++] = value;
	s->sorted = false;
}

void samples_add_all(struct samples *to, const struct samples *from, double factor)
{
	for (size_t i = 0; i < from->n; i++)
		samples_add(to, factor * from->v[i]);
}

void samples_fini(struct samples *s)
{
	free(s->v);
	*s = (struct samples){0};
}

COMPARE_VALUES(ascending, double)

void samples_sort(struct samples *s)
{
	if (!s->sorted && s->n)
		qsort(s->v, s->n, sizeof(*s->v), ascending);
	s->sorted = true;
}

uint64_t stats_rank(uint64_t n, double p)
{
	// 0.999 is not a binary fraction: 0.999 * 1000 must have rank 999, not 1000.
	double exact = p * (double)n;
	double rank = ceil(exact - 1e-9 * (exact + 1));
	if (!n)
		return 0;
	return rank < 1 ? 1 : rank >= (double)n ? n : (uint64_t)rank;
}

bool samples_carry(uint64_t n, double p)
{
	return stats_rank(n, p) < n;
}

double samples_percentile(struct samples *s, double p)
{
	samples_sort(s);
	return s->n ? s->v[stats_rank(s->n, p) - 1] : NAN;
}

double samples_mean(const struct samples *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i];
	return s->n ? sum / (double)s->n : NAN;
}

double samples_sd(const struct samples *s)
{
	const double mean = samples_mean(s);
	double squares = 0;
	for (size_t i = 0; i < s->n; i++)
		squares += (s->v[i] - mean) * (s->v[i] - mean);
	return s->n > 1 ? maths()->sqrt(squares / (double)(s->n - 1)) : NAN;
}

static double carried(struct samples *s, double p)
{
	return samples_carry(s->n, p) ? samples_percentile(s, p) : NAN;
}

struct summary samples_summary(struct samples *s)
{
	struct summary r = {.n = s->n};
	samples_sort(s);
	r.min = samples_percentile(s, 0);
	r.max = samples_percentile(s, 1);
	r.mean = samples_mean(s);
	r.sd = samples_sd(s);
	r.p50 = samples_percentile(s, 0.5);
	r.p90 = carried(s, 0.9);
	r.p95 = carried(s, 0.95);
	r.p99 = carried(s, 0.99);
	r.p999 = carried(s, 0.999);
	return r;
}

static double log_factorial(size_t n)
{
	int sign;
	return maths()->lgamma_r((double)n + 1, &sign);
}

// Terms further than 10 deviations from the mean add nothing that a double could hold beside the
// rest, and are left out.
double stats_binomial_tail(size_t n, size_t k, double p)
{
	double lp = maths()->log(p), lq = maths()->log1p(-p), at = (double)n * p, sum = 0;
	double reach = 10 * maths()->sqrt(at * (1 - p)) + 10;
	size_t first = at - reach > (double)k ? (size_t)(at - reach) : k;
	size_t last = at + reach < (double)n ? (size_t)(at + reach) : n;
	for (size_t i = first; i <= last; i++)
		sum += maths()->exp(log_factorial(n) - log_factorial(i) - log_factorial(n - i) +
				    (double)i * lp + (double)(n - i) * lq);
	return sum < 1 ? sum : 1;
}

// The regularized incomplete beta function, by the continued fraction 8.17.22 of
// DLMF, from its far end on; y: 1 - x. It needs x below (a + 1) / (a + b + 2).
static double beta_share(double x, double y, double a, double b)
{
	const struct maths *m = maths();
	double f = 1;
	int sign;
	for (unsigned i = 60 + 5 * (unsigned)m->sqrt(a + b); i; i--) {
		const double k = i, end = a + 2 * k - 1;
		f = 1 + k * (b - k) * x / (end * (end + 1)) / f;
		f = 1 - (a + k - 1) * (a + b + k - 1) * x / ((end - 1) * end) / f;
	}
	return m->exp(a * m->log(x) + b * m->log(y) + m->lgamma_r(a + b, &sign) -
		      m->lgamma_r(a + 1, &sign) - m->lgamma_r(b, &sign)) /
	       f;
}

double stats_student_tails(double t, double n)
{
	const double a = (n < 1e5 ? n : 1e5) / 2; // beyond that it is as good as normal
	const double x = 2 * a / (2 * a + t * t), y = t * t / (2 * a + t * t);
	if (!(t > 0))
		return 1;
	return x * (a + 2.5) < a + 1 ? beta_share(x, y, a, 0.5) : 1 - beta_share(y, x, 0.5, a);
}

double stats_student_t(double p, double n)
{
	double low = 0, high = 1;
	while (stats_student_tails(high, n) > p)
		high *= 2;
	for (unsigned i = 0; i < 50; i++) {
		const double middle = low + (high - low) / 2;
		*(stats_student_tails(middle, n) > p ? &low : &high) = middle;
	}
	return high;
}

// --- a line through samples ---

struct line_fit stats_line(const double *x, const struct samples *const *y, size_t n)
{
	double count = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
	for (size_t i = 0; i < n; i++) {
		count += (double)y[i]->n;
		mean_x += x[i] * (double)y[i]->n;
		for (size_t k = 0; k < y[i]->n; k++)
			mean_y += y[i]->v[k];
	}
	mean_x /= count;
	mean_y /= count;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < y[i]->n; k++) {
			const double dx = x[i] - mean_x, dy = y[i]->v[k] - mean_y;
			xx += dx * dx;
			xy += dx * dy;
			yy += dy * dy;
		}
	if (count < 5 || !(xx > 0))
		return (struct line_fit){NAN, NAN, NAN, NAN, NAN};
	const double slope = xy / xx, rest = maths()->fmax(yy - slope * xy, 0) / (count - 2);
	const double reach = stats_student_t(0.05, count - 2) * maths()->sqrt(rest / xx);
	return (struct line_fit){slope, slope - reach, slope + reach, mean_y - slope * mean_x,
				 mean_y};
}

// --- the latest numbers of a series ---

void moving_add(struct moving *m, double value)
{
	m->v[m->next] = value;
	m->next = (m->next + 1) % MOVING_MAX;
	m->n += m->n < MOVING_MAX;
}

double moving_percentile(const struct moving *m, double p)
{
	double sorted[MOVING_MAX];
	memcpy(sorted, m->v, m->n * sizeof(*sorted));
	qsort(sorted, m->n, sizeof(*sorted), ascending);
	return m->n ? sorted[stats_rank(m->n, p) - 1] : 0;
}
