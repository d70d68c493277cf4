// common/stats: expected values from exact arithmetic (Python's fractions: the binomial sums) or by
// hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/stats/hist.h"
#include "common/stats/rng.h"
#include "common/stats/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct samples from(const double *v, size_t n)
{
	struct samples s = {0};
	for (size_t i = 0; i < n; i++)
		samples_add(&s, v[i]);
	return s;
}
#define FROM(...) from((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / 8)

static void test_buckets(void **state)
{
	(void)state;
	// By the rule in hist.h, by hand.
	assert_int_equal(hist_index(0), 0);
	assert_int_equal(hist_index(63), 63);
	assert_int_equal(hist_index(64), 64);
	assert_int_equal(hist_index(65), 64);
	assert_int_equal(hist_index(66), 65);
	assert_int_equal(hist_index(1000), 32 * (9 - 5) + 1000 / 16);
	assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		assert_int_equal(hist_index(hist_lower(i)), i);
		assert_int_equal(hist_index(hist_upper(i)), i);
		assert_true(hist_upper(i) - hist_lower(i) <= hist_lower(i) / 32);
		if (i)
			assert_int_equal(hist_lower(i), hist_upper(i - 1) + 1);
	}
}

static void random_hist(struct hist *h, uint64_t seed, unsigned n)
{
	struct rng r = {seed};
	hist_init(h);
	for (unsigned i = 0; i < n; i++)
		hist_add(h, rng_next(&r) >> rng_below(&r, 64));
}

static void test_merge(void **state)
{
	(void)state;
	static struct hist a, b, c, ab_c, a_bc, cba, all;
	for (unsigned round = 0; round < 50; round++) {
		random_hist(&a, round, round % 7); // some are empty
		random_hist(&b, round + 1000, 100);
		random_hist(&c, round + 2000, 3 * round);
		ab_c = a;
		hist_merge(&ab_c, &b);
		hist_merge(&ab_c, &c);
		a_bc = b;
		hist_merge(&a_bc, &c);
		all = a;
		hist_merge(&all, &a_bc);
		cba = c;
		hist_merge(&cba, &b);
		hist_merge(&cba, &a);
		assert_memory_equal(&ab_c, &all, sizeof(all));
		assert_memory_equal(&ab_c, &cba, sizeof(cba));
		assert_int_equal(ab_c.count, a.count + b.count + c.count);
	}
}

static void test_hist_percentile(void **state)
{
	(void)state;
	static struct hist h;
	struct samples s = {0};
	struct rng r = {7};
	const double ps[] = {0, 0.01, 0.5, 0.9, 0.99, 0.999, 1};
	hist_init(&h);
	assert_true(hist_percentile(&h, 0.5) == UINT64_MAX);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t v = rng_below(&r, 1u << (1 + rng_below(&r, 30)));
		hist_add(&h, v);
		samples_add(&s, (double)v);
	}
	for (unsigned i = 0; i < 7; i++) {
		double exact = samples_percentile(&s, ps[i]);
		double rough = (double)hist_percentile(&h, ps[i]);
		assert_true(rough >= exact && rough <= exact * (1 + 1.0 / 32));
	}
	samples_fini(&s);
	hist_init(&h); // no percentile is beyond the greatest value: 1000 is in the bucket 992 to
		       // 1007
	hist_add(&h, 1000);
	assert_int_equal(hist_percentile(&h, 0.5), 1000);
	hist_add(&h, 5000);
	assert_int_equal(hist_percentile(&h, 0.5), 1007);
	// p99 needs 100 values, p90 10; the median one.
	hist_init(&h);
	for (unsigned n = 1; n <= 100; n++) {
		hist_add(&h, 7);
		assert_int_equal(hist_percentile(&h, 0.5), 7);
		assert_int_equal(hist_percentile(&h, 1), 7);
		assert_true(hist_percentile(&h, 0.9) == (n < 10 ? UINT64_MAX : 7));
		assert_true(hist_percentile(&h, 0.99) == (n < 100 ? UINT64_MAX : 7));
	}
}

static void test_hist_json(void **state)
{
	(void)state;
	static struct hist h, back;
	struct buf b = {0};
	struct json j;
	json_init(&j, &b, false);
	hist_init(&h);
	hist_init(&back);
	hist_add(&h, 3);
	hist_add(&h, 3);
	hist_add(&h, 1000); // bucket 992 to 1007
	hist_json(&h, &j, NULL);
	assert_string_equal(b.data, "{\"rule\":\"loglin32\",\"count\":3,\"sum\":1006,\"min\":3,"
				    "\"max\":1000,\"buckets\":[[3,2],[992,1]]}");
	assert_true(hist_read(&back, b.data, b.len));
	assert_memory_equal(&h, &back, sizeof(h));
	for (size_t n = 0; n < b.len; n++)
		assert_false(hist_read(&back, b.data, n));
	static const char *const bad[] = {
		"{\"rule\":\"other\",\"count\":0,\"buckets\":[]}",
		"{\"rule\":\"loglin32\",\"count\":2,\"min\":3,\"max\":3,\"buckets\":[[3,1]]}",
		"{\"rule\":\"loglin32\",\"count\":1,\"min\":2,\"max\":3,\"buckets\":[[3,1]]}",
		"{\"rule\":\"loglin32\",\"count\":1,\"min\":3,\"max\":4,\"buckets\":[[3,1]]}",
		"{\"count\":1,\"min\":3,\"max\":3,\"buckets\":[[3,1]]}",
		"{\"rule\":\"loglin32\",\"count\":1,\"min\":64,\"max\":64,\"buckets\":[[65,1]]}",
		"{\"rule\":\"loglin32\",\"count\":1,\"min\":65,\"max\":65,\"buckets\":[[65,1]]}",
		"{\"rule\":\"loglin32\",\"count\":1,\"min\":3,\"max\":3,\"buckets\":[3,1]}",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(hist_read(&back, bad[i], strlen(bad[i])));
	assert_int_equal(back.count, 0);
	static const char newer[] = "{\"rule\":\"loglin32\",\"mode\":3,\"count\":2,\"sum\":6,"
				    "\"min\":3,\"max\":3,\"buckets\":[[3,2]]}";
	assert_true(hist_read(&back, newer, strlen(newer)));
	assert_int_equal(back.count, 2);
	buf_fini(&b);
}

static void test_saturation(void **state)
{
	(void)state;
	static struct hist a, b;
	hist_init(&a);
	hist_init(&b);
	hist_add(&a, UINT64_MAX);
	hist_add(&b, 5);
	hist_merge(&a, &b);
	assert_true(a.sum == UINT64_MAX);
	struct buf text = {0};
	struct json j;
	hist_init(&a);
	hist_add(&a, UINT64_MAX - 1);
	hist_add(&a, 5);
	json_init(&j, &text, false);
	hist_json(&a, &j, NULL);
	assert_true(hist_read(&b, text.data, text.len));
	assert_memory_equal(&a, &b, sizeof(a)); // it stays saturated, however often it is written
	buf_fini(&text);
	assert_int_equal(a.min, 5);
	assert_int_equal(a.count, 2);
}

static void test_ranks(void **state)
{
	(void)state;
	assert_int_equal(stats_rank(100, 0.07), 7); // 0.07 * 100 is a little more than 7 in binary
	assert_int_equal(stats_rank(0, 0.5), 0);
	assert_int_equal(stats_rank(1, 0), 1);
	assert_int_equal(stats_rank(1, 0.999), 1);
	assert_int_equal(stats_rank(10, 0.5), 5);
	assert_int_equal(stats_rank(11, 0.5), 6);
	assert_int_equal(stats_rank(100, 0.99), 99);
	assert_int_equal(stats_rank(1000, 0.999), 999);
	assert_int_equal(stats_rank(1001, 0.999), 1000);
	assert_int_equal(stats_rank(1000000, 0.999), 999000);
	assert_int_equal(stats_rank(1000000, 1), 1000000);
}

static void test_summary(void **state)
{
	(void)state;
	struct samples s = FROM(9, 4, 2, 5, 4, 7, 4, 5, NAN);
	struct summary r = samples_summary(&s);
	assert_int_equal(r.n, 8); // NaN is no sample
	assert_true(r.min == 2 && r.max == 9 && r.p50 == 4 && isnan(r.p90) && r.mean == 5);
	assert_true(fabs(r.sd - 2.138089935299395) < 1e-12);
	samples_fini(&s);

	s = FROM(3);
	r = samples_summary(&s);
	assert_true(r.mean == 3 && isnan(r.sd) && r.p50 == 3 && isnan(r.p999));
	samples_fini(&s);

	r = samples_summary(&s);
	assert_true(r.n == 0 && isnan(r.p50) && isnan(r.mean) && isnan(r.max));
	samples_fini(&s);
}

// A percentile needs a value beyond it.
static void test_carried(void **state)
{
	static const struct {
		uint64_t n;
		double p;
		bool carried;
	} rows[] = {{9, 0.9, false},     {10, 0.9, true},     {19, 0.95, false},
		    {20, 0.95, true},    {99, 0.99, false},   {100, 0.99, true},
		    {999, 0.999, false}, {1000, 0.999, true}, {0, 0.9, false}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(samples_carry(rows[i].n, rows[i].p), rows[i].carried);
	struct samples s = {0};
	for (unsigned i = 1; i <= 100; i++)
		samples_add(&s, i);
	struct summary r = samples_summary(&s);
	assert_true(r.p90 == 90 && r.p95 == 95 && r.p99 == 99 && isnan(r.p999) && r.max == 100);
	samples_fini(&s);
}

// Slopes, constants and means by exact fractions in Python; Student's t by integrating its density.
static void test_line(void **state)
{
	static const struct {
		double x[3];
		struct {
			size_t n;
			double v[4];
		} y[3];
		double slope, constant, mean, reach; // half the interval
	} rows[] = {
		{{1, 5, 10},
		 {{3, {1.1, 1.3, 1.2}}, {3, {2.0, 2.3, 2.1}}, {4, {3.4, 3.1, 3.3, 3.6}}},
		 0.23926553672316384,
		 0.9522598870056497,
		 2.34,
		 0.030462728483544577},
		{{1, 2, 4}, {{2, {4, 6}}, {1, {5}}, {2, {3, 7}}}, 0, 5, 5, 1.915607566635395},
		{{2, 3, 4}, {{2, {7, 9}}, {2, {4, 6}}, {2, {1, 3}}}, -3, 14, 5, 1.7002184515245158},
		{{2, 3, 4}, {{2, {4, 4}}, {2, {6, 6}}, {2, {8, 8}}}, 2, 0, 6, 0},
		{{1, 2, 3}, {{2, {4, 6}}, {1, {5}}, {1, {3}}}, NAN, NAN, NAN, NAN}, // too few
		{{2, 2, 2}, {{2, {4, 6}}, {2, {5, 5}}, {2, {3, 3}}}, NAN, NAN, NAN, NAN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct samples y[3];
		for (size_t k = 0; k < 3; k++)
			y[k] = from(rows[i].y[k].v, rows[i].y[k].n);
		const struct samples *const list[] = {&y[0], &y[1], &y[2]};
		const struct line_fit f = stats_line(rows[i].x, list, 3);
		const double reach = rows[i].reach;
		for (size_t k = 0; k < 3; k++)
			samples_fini(&y[k]);
		if (isnan(reach)) {
			assert_true(isnan(f.slope) && isnan(f.low) && isnan(f.high));
			assert_true(isnan(f.constant) && isnan(f.mean));
			continue;
		}
		assert_true(fabs(f.slope - rows[i].slope) < 1e-12);
		assert_true(fabs(f.constant - rows[i].constant) < 1e-12);
		assert_true(fabs(f.mean - rows[i].mean) < 1e-12);
		assert_true(fabs(f.slope - f.low - reach) <= 0.0013 * reach + 1e-12);
		assert_true(fabs(f.high - f.slope - reach) <= 0.0013 * reach + 1e-12);
	}
}

static void test_shuffle(void **state)
{
	(void)state;
	// First output of SplitMix64 seeded with 0, as its authors publish it.
	struct rng r = {0};
	assert_true(rng_next(&r) == 0xe220a8397b1dcdafull);
	unsigned v[6], first[6] = {0};
	for (unsigned i = 0; i < 6000; i++) {
		unsigned seen = 0;
		for (unsigned k = 0; k < 6; k++)
			v[k] = k;
		rng_shuffle(&r, v, 6);
		for (unsigned k = 0; k < 6; k++)
			seen |= 1u << v[k];
		assert_int_equal(seen, 63);
		first[v[0]]++;
	}
	for (unsigned k = 0; k < 6; k++)
		assert_in_range(first[k], 880, 1120); // 1000 -+ 4 deviations
}

// The latest 64 of a series alone count.
static void test_moving(void **state)
{
	struct moving m = {0};
	(void)state;
	assert_true(moving_percentile(&m, 0.9) == 0);
	moving_add(&m, 7);
	assert_true(moving_percentile(&m, 0.9) == 7);
	for (unsigned i = 0; i < 10; i++)
		moving_add(&m, 100 - i); // 7, and 91 to 100: rank 10 of 11
	assert_true(moving_percentile(&m, 0.9) == 99);
	for (unsigned i = 1; i <= 64; i++)
		moving_add(&m, i);
	assert_true(moving_percentile(&m, 0.9) == 58); // rank ceil(57.6)
	assert_true(moving_percentile(&m, 0.8) == 52 && moving_percentile(&m, 1) == 64);
	moving_add(&m, 1000); // 1 goes
	assert_true(moving_percentile(&m, 0) == 2 && moving_percentile(&m, 1) == 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_hist_percentile),
		cmocka_unit_test(test_hist_json),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_moving),
		cmocka_unit_test(test_line),
	};
	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
