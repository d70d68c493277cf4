// common/stats/infer: ranks, counts and bounds by exact fractions of another program or by hand,
// and how often bounds cover the truth of samples from a generator of the test's own, with a fixed
// seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/maths.h"
#include "common/stats/infer.h"

#include <math.h>

// Marsaglia's xorshift64*.
static uint64_t state_of_draws;

static void seed(uint64_t n) // with about as many bits set as not
{
	state_of_draws = n * 0x9e3779b97f4a7c15;
}

static double uniform(void) // above 0, below 1
{
	state_of_draws ^= state_of_draws >> 12;
	state_of_draws ^= state_of_draws << 25;
	state_of_draws ^= state_of_draws >> 27;
	return ((double)(state_of_draws * 0x2545f4914f6cdd1d >> 12) + 0.5) * 0x1p-52;
}

// Normal with mean 0 and standard deviation 1, but for the fourth moment: a sum of 12 numbers.
static double normal(void)
{
	double sum = -6;
	for (unsigned i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

static void test_ranks(void **state)
{
	// n, 1000 p, ranks of the lower and the upper bound; 0: none.
	static const unsigned known[][4] = {
		{4, 500, 0, 0},      {5, 500, 1, 5},       {11, 500, 3, 9},     {100, 500, 42, 59},
		{200, 500, 88, 113}, {28, 900, 22, 0},     {29, 900, 23, 29},   {100, 900, 85, 96},
		{58, 950, 52, 0},    {59, 950, 53, 59},    {100, 950, 91, 99},  {1, 990, 1, 0},
		{298, 990, 292, 0},  {299, 990, 293, 299}, {400, 990, 392, 400}};
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const unsigned *k = known[i];
		struct samples s = {0};
		for (unsigned v = k[0]; v; v--)
			samples_add(&s, v);
		const struct bounds b = stats_percentile_bounds(&s, k[1] / 1000.0, STATS_LEVEL);
		if (b.low != (k[2] ? k[2] : -INFINITY) || b.high != (k[3] ? k[3] : INFINITY))
			fail_msg("n %u, p %u: %g to %g", k[0], k[1], b.low, b.high);
		samples_fini(&s);
	}
	struct samples none = {0};
	const struct bounds b = stats_percentile_bounds(&none, 0.5, STATS_LEVEL);
	assert_true(b.low == -INFINITY && b.high == INFINITY);
}

static void test_more(void **state)
{
	static const struct {
		uint64_t n, beyond;
		double p;
		uint64_t more;
	} known[] = {{3, 0, 0.99, 296},  {0, 0, 0.95, 59}, {0, 0, 0.999, 2995}, {3, 1, 0.99, 470},
		     {40, 1, 0.99, 433}, {10, 2, 0.9, 51}, {58, 0, 0.95, 1},    {59, 0, 0.95, 0},
		     {60, 0, 0.95, 0},   {1, 1, 0.5, 7}};
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(stats_percentile_more(known[i].n, known[i].beyond, known[i].p),
				 known[i].more);
}

static void test_means(void **state)
{
	(void)state;
	struct samples s = {0};
	samples_add(&s, 1);
	assert_true(stats_mean_bounds(&s, STATS_LEVEL).high == INFINITY);
	samples_add(&s, 3); // 2 -+ 6.313752 * sqrt(2) / sqrt(2)
	assert_true(fabs(stats_mean_bounds(&s, STATS_LEVEL).low - (2 - 6.313752)) < 1e-6);
	samples_add(&s, 2); // 2 -+ 2.919986 / sqrt(3)
	assert_true(fabs(stats_mean_bounds(&s, STATS_LEVEL).high - 3.685854) < 1e-6);
	samples_add(&s, 2); // 2 -+ 2.353363 * sqrt(2 / 3) / 2
	assert_true(fabs(stats_mean_bounds(&s, STATS_LEVEL).high - 2.960756) < 1e-3);
	samples_fini(&s);
	// The mean of 1, 3, 2 by the jackknife is the same.
	const struct bounds b = stats_jackknife(2, (const double[]){2.5, 1.5, 2}, 3, STATS_LEVEL);
	assert_true(fabs(b.high - 3.685854) < 1e-6 && fabs(b.low - 0.314146) < 1e-6);
	assert_true(stats_jackknife(2, (const double[]){2}, 1, STATS_LEVEL).high == INFINITY);
	// Of 8 / 2, with 4 and 16, and 1 and 4: a factor of exp(sqrt(2) log 2) = 2.665144.
	const struct bounds r =
		stats_ratio_bounds(8, (struct bounds){4, 16}, 2, (struct bounds){1, 4});
	assert_true(fabs(r.high - 10.660577) < 1e-5 && fabs(r.low - 1.500857) < 1e-5);
	const struct bounds half =
		stats_ratio_bounds(8, (struct bounds){4, INFINITY}, 2, (struct bounds){1, 4});
	assert_true(half.high == INFINITY && fabs(half.low - r.low) < 1e-12);
	// Two parts at least. With 100: the standard error is 1, of a part 10, and (t + 2.326348)
	// 10 / sqrt(n) = 2 for n about 395. So few parts ask for no more than nine times as many.
	assert_int_equal(stats_more(1, (struct bounds){-INFINITY, INFINITY}, 0, 2), 2);
	assert_int_equal(stats_more(1, (struct bounds){-INFINITY, INFINITY}, 1, 2), 1);
	const struct bounds wide = {1 - 1.660391, 1 + 1.660391};
	assert_in_range(stats_more(1, wide, 100, 3), 293, 298);
	assert_in_range(stats_more(1, wide, 100, -1), 293, 298);
	assert_int_equal(stats_more(1, wide, 100, 2), 900);
	assert_int_equal(stats_more(1, (struct bounds){0, 2}, 100, 1), 0);
}

// Counts how often bounds cover the truth, for the lower and for the upper one.
struct covered {
	unsigned low, high;
};

static void count(struct covered *c, struct bounds b, double truth)
{
	c->low += b.low <= truth;
	c->high += truth <= b.high;
}

static void is_covered(const struct covered *c, const char *what)
{
	if (c->low < 930 || c->low > 970 || c->high < 930 || c->high > 970)
		fail_msg("%s: %u and %u of 1000", what, c->low, c->high);
}

static void test_covered_percentiles(void **state)
{
	(void)state;
	struct covered median = {0}, tail = {0}, ratio = {0};
	seed(1);
	for (unsigned i = 0; i < 1000; i++) {
		struct samples s = {0}, same = {0}, more = {0};
		for (unsigned k = 0; k < 119; k++) { // long tails: median 1
			samples_add(&s, 1 / uniform() - 1);
			samples_add(&same, 3 * (1 / uniform() - 1));
		}
		const struct bounds a = stats_percentile_bounds(&s, 0.5, STATS_LEVEL);
		const struct bounds b = stats_percentile_bounds(&same, 0.5, STATS_LEVEL);
		count(&median, a, 1);
		count(&ratio,
		      stats_ratio_bounds(samples_percentile(&same, 0.5), b,
					 samples_percentile(&s, 0.5), a),
		      3);
		for (unsigned k = 0; k < 299; k++)
			samples_add(&more, 1 / uniform());
		tail.high += stats_percentile_bounds(&more, 0.99, STATS_LEVEL).high >= 100;
		samples_fini(&s);
		samples_fini(&same);
		samples_fini(&more);
	}
	tail.low = tail.high; // of p99, ranks leave the lower bound at 96.8 %
	is_covered(&median, "median");
	is_covered(&ratio, "ratio of medians");
	is_covered(&tail, "p99");
}

static void test_covered_means(void **state)
{
	(void)state;
	struct covered mean = {0}, ratio = {0};
	seed(2);
	for (unsigned i = 0; i < 1000; i++) {
		enum { N = 8 };
		struct samples s = {0};
		double sum[2] = {0}, v[2][N], without[N];
		for (unsigned k = 0; k < N; k++) { // 4 / 5, of parts that drift together
			const double drift = 1 + 0.2 * normal();
			v[0][k] = 4 * drift + 0.2 * normal();
			v[1][k] = 5 * drift + 0.2 * normal();
			sum[0] += v[0][k];
			sum[1] += v[1][k];
			samples_add(&s, 7 + normal());
		}
		for (unsigned k = 0; k < N; k++)
			without[k] = (sum[0] - v[0][k]) / (sum[1] - v[1][k]);
		count(&mean, stats_mean_bounds(&s, STATS_LEVEL), 7);
		count(&ratio, stats_jackknife(sum[0] / sum[1], without, N, STATS_LEVEL), 0.8);
		samples_fini(&s);
	}
	is_covered(&mean, "mean");
	is_covered(&ratio, "ratio of sums");
}

// From tables of Student's t, two-sided; of 2 degrees of freedom the tail is 1 - t / sqrt(2 + t^2).
static void test_student(void **state)
{
	static const double known[][3] = {// p, degrees of freedom, t
					  {0.1, 1, 6.313752},    {0.05, 1, 12.706205},
					  {0.01, 4, 4.604095},   {0.05, 8, 2.306004},
					  {0.001, 10, 4.586894}, {0.01, 30, 2.749996},
					  {0.05, 1e7, 1.959964}, {0.1, 120, 1.657651}};
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const double t = stats_student_t(known[i][0], known[i][1]);
		if (fabs(t / known[i][2] - 1) > 2e-5)
			fail_msg("p %g of %g: %g", known[i][0], known[i][1], t);
	}
	for (double t = 0.01; t < 100; t *= 3)
		assert_true(fabs(stats_student_tails(t, 2) - (1 - t / sqrt(2 + t * t))) < 1e-12);
}

static struct samples list(const double *v, size_t n)
{
	struct samples s = {0};
	for (size_t i = 0; i < n; i++)
		samples_add(&s, v[i]);
	return s;
}

// Means 0 and 1, variances 1 and 4 of 3 and 4 values: the error is sqrt(1/3 + 1), the degrees of
// freedom of the spread (4/3)^2 / ((1/3)^2 / 2 + 1^2 / 3) = 32/7, of the test those of 3 runs.
static void test_change(void **state)
{
	const double a[] = {-1, 0, 1}, b[] = {1 - sqrt(6), 1, 1, 1 + sqrt(6)};
	struct samples old = list(a, 3), new = list(b, 4), one = list(b, 1), none = {0};
	(void)state;
	const struct change c = stats_change(&old, &new);
	assert_true(fabs(c.ratio - maths()->exp(1)) < 1e-12 &&
		    fabs(c.error - sqrt(4 / 3.0)) < 1e-12);
	assert_true(fabs(c.of_spread - 32 / 7.0) < 1e-12 && fabs(c.spread - sqrt(5)) < 1e-12);
	struct change few = c; // t is sqrt(3/4)
	stats_judge_changes(&few, 1);
	assert_true(fabs(few.p - (1 - sqrt(0.75 / 2.75))) < 1e-9);
	// One run tells of no change, whatever it is; so does none.
	struct change v[] = {stats_change(&one, &new), stats_change(&old, &one),
			     stats_change(&none, &new)};
	stats_judge_changes(v, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(v[i].verdict, CHANGE_NOT_SHOWN);
		assert_true(isnan(v[i].p) && v[i].b.low == -INFINITY && v[i].b.high == INFINITY);
		assert_int_equal(v[i].more, i < 2 ? 4 : 5);
	}
	assert_true(isnan(v[2].ratio));
	// Holm: 0.001, 0.004, 0.006, 0.5 become 4 * 0.001, 3 * 0.004, 2 * 0.006, 0.5. With 2
	// degrees of freedom, t is (1 - p) sqrt(2 / (p (2 - p))).
	static const double p[] = {0.006, 0.001, 0.5, 0.004}, right[] = {0.012, 0.004, 0.5, 0.012};
	struct change tests[4];
	for (unsigned i = 0; i < 4; i++) {
		const double t = (1 - p[i]) * sqrt(2 / (p[i] * (2 - p[i])));
		tests[i] = (struct change){.ratio = maths()->exp(-t),
					   .error = 1,
					   .freedom = 2,
					   .spread = 1,
					   .of_spread = 2,
					   .n = 9};
	}
	stats_judge_changes(tests, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(fabs(tests[i].p - right[i]) < 1e-9);
		assert_int_equal(tests[i].verdict, i == 1 ? CHANGE_FASTER : CHANGE_NOT_SHOWN);
		assert_int_equal(tests[i].more, i == 1 ? 0 : 81); // nine times as many at most
	}
	// Runs without any spread, as with a clock of great steps: of five on each side, equal ones
	// are shown to be equal, and 5 % longer ones to be slower; of four nothing is shown.
	for (size_t n = 4; n < 6; n++) {
		struct samples same = list((const double[]){2, 2, 2, 2, 2}, n);
		struct samples longer = list((const double[]){2.1, 2.1, 2.1, 2.1, 2.1}, n);
		struct change sure[] = {stats_change(&same, &same), stats_change(&same, &longer)};
		stats_judge_changes(sure, 2);
		assert_int_equal(sure[0].verdict, n < 5 ? CHANGE_NOT_SHOWN : CHANGE_EQUAL);
		assert_int_equal(sure[1].verdict, n < 5 ? CHANGE_NOT_SHOWN : CHANGE_SLOWER);
		assert_int_equal(sure[1].more, n < 5 ? 1 : 0);
		samples_fini(&same);
		samples_fini(&longer);
	}
	samples_fini(&old);
	samples_fini(&new);
	samples_fini(&one);
}

// Adds runs until each side has `n`: medians of samples within a run, whose level differs from run
// to run by 3 % and is `factor` times as high for new runs.
static void add_runs(struct samples side[2], size_t n, double factor)
{
	for (unsigned i = 0; i < 2; i++)
		while (side[i].n < n) {
			struct samples run = {0};
			const double level = 5e6 * maths()->exp(0.03 * normal()) * (i ? factor : 1);
			for (unsigned k = 0; k < 25; k++)
				samples_add(&run, level * (1 + 0.1 * uniform()));
			samples_add(&side[i], maths()->log(samples_percentile(&run, 0.5)));
			samples_fini(&run);
		}
}

enum { TIMES = 6, REPORTS = 150 };

// Compares TIMES times until each has a verdict, with as many runs as the report asks for. The true
// change of the first time is `factor`, of the others 1. Counts reports in which the verdict of the
// first time is not `wanted`; *claimed: in which the verdict of another one is not "equal".
static unsigned ask_reports(double factor, unsigned wanted, unsigned *claimed, size_t *most)
{
	unsigned wrong = 0;
	*claimed = 0;
	for (unsigned i = 0; i < REPORTS; i++) {
		struct samples side[TIMES][2] = {{{0}}};
		struct change v[TIMES];
		size_t n = 1;
		for (uint64_t more = 1; more;) {
			for (unsigned k = 0; k < TIMES; k++) {
				add_runs(side[k], n, k ? 1 : factor);
				v[k] = stats_change(&side[k][0], &side[k][1]);
			}
			stats_judge_changes(v, TIMES);
			more = 0;
			for (unsigned k = 0; k < TIMES; k++)
				more = v[k].more > more ? v[k].more : more;
			n += more;
		}
		bool bad = (unsigned)v[0].verdict != wanted, claims = false;
		for (unsigned k = 0; k < TIMES; k++) {
			claims |= (k || factor == 1) && v[k].verdict != CHANGE_EQUAL;
			samples_fini(&side[k][0]);
			samples_fini(&side[k][1]);
		}
		wrong += bad;
		*claimed += claims;
		*most = n > *most ? n : *most;
	}
	return wrong;
}

// Reports of runs that differ in nothing claim no change in 98 of 100 at least, also if it is asked
// again with each run that the last one asked for; a change of 5 % is found in 95 of 100.
static void test_reports(void **state)
{
	static const struct {
		double factor;
		unsigned verdict;
	} truth[] = {{1, CHANGE_EQUAL}, {1.05, CHANGE_SLOWER}, {1 / 1.05, CHANGE_FASTER}};
	(void)state;
	seed(3);
	for (unsigned i = 0; i < 3; i++) {
		unsigned claimed;
		size_t most = 0;
		const unsigned wrong =
			ask_reports(truth[i].factor, truth[i].verdict, &claimed, &most);
		if (wrong * 100 > (i ? 5 : 2) * REPORTS || claimed * 100 > 2 * REPORTS || most > 60)
			fail_msg("factor %g: %u wrong, %u claimed, %zu runs", truth[i].factor,
				 wrong, claimed, most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),         cmocka_unit_test(test_more),
		cmocka_unit_test(test_means),         cmocka_unit_test(test_covered_percentiles),
		cmocka_unit_test(test_covered_means), cmocka_unit_test(test_student),
		cmocka_unit_test(test_change),        cmocka_unit_test(test_reports),
	};
	return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
