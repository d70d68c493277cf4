// Verdicts of gpq bench on samples whose truth is known, from a generator of the test's own with a
// fixed seed: how often equal sides are called equal, how often a loss is told with as many samples
// as were asked for. The bounds themselves: test_infer.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/bench/require.h"

#include <stdlib.h>

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

// Sharing and preempting from the same distribution: no gain, and no loss.
static void test_equal_sides(void **state)
{
	(void)state;
	unsigned equal = 0;
	seed(3);
	for (unsigned i = 0; i < 100; i++) {
		struct ab_result a = {0};
		for (unsigned k = 0; k < 2000; k++)
			samples_add(&a.mode[k % 2 ? AB_SHARED : AB_PREEMPT].latency,
				    30 + 1 / uniform());
		const struct ab_gain g = ab_gain(&a);
		assert_true(g.known);
		equal += !g.gained && !g.longer;
		ab_result_fini(&a);
	}
	assert_in_range(equal, 98, 100);
}

static void test_gain(void **state)
{
	(void)state;
	struct ab_result a = {0};
	assert_false(ab_gain(&a).known);
	seed(4);
	for (unsigned k = 0; k < 1200; k++) { // a median of 2, then of 1; tails of 100, then of 800
		const double v = 1 / uniform();
		samples_add(&a.mode[AB_SHARED].latency, v);
		samples_add(&a.mode[AB_PREEMPT].latency, v > 20 ? 8 * v : v / 2);
	}
	struct ab_gain g = ab_gain(&a);
	assert_true(g.known && g.gained && g.longer);
	for (unsigned k = 0; k < 1200; k++)
		a.mode[AB_PREEMPT].latency.v[k] *= 2;
	g = ab_gain(&a);
	assert_true(g.known && !g.gained && g.longer);
	ab_result_fini(&a);
}

// Cycles in which 30 % are held and 5 % more are lost, each with a window of its length.
static void draw_cycles(struct load_run *run, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct cycle c = {.set = {32, 2, 1, 10, 20, CYCLE_NONE}};
		cycle_clear(&c);
		const double drift = 1 + 0.1 * normal();
		c.suspend_ns = c.resume_ns = c.suspend_ioctl_ns = c.resume_ioctl_ns = 0;
		c.suspend_packets = c.held_packets = c.resume_packets = c.backlog_packets = 0;
		c.held_ns = 30000000;
		c.gap_ns = 70000000;
		c.baseline_ns = 100000000;
		c.baseline_packets = (uint64_t)(10000 * drift * (1 + 0.03 * normal()) + 0.5);
		c.gap_packets = (uint64_t)(6500 * drift * (1 + 0.03 * normal()) + 0.5);
		result_add(&run->result, &c);
	}
}

static struct judged judge_cycles(struct load_run *run, char *limit)
{
	struct requirements r = {0};
	struct judged *v;
	char *require[] = {limit};
	assert_int_equal(require_parse(&r, &(struct words){0},
				       &(struct words){.v = require, .n = 1}, REQUIRE_PREEMPT),
			 0);
	const size_t n = require_judge(&r, run, &v);
	const struct judged *j = &v[n - 1];
	for (size_t i = 0; i < n; i++)
		j = v[i].required ? &v[i] : j;
	const struct judged found = *j;
	free(v);
	require_fini(&r);
	return found;
}

// Measures eight windows, and as many more as the verdict asks for, until there is one.
static enum verdict measure_until_told(char *limit, unsigned *asked)
{
	static struct load_run run;
	struct judged j = {.verdict = VERDICT_NOT_SHOWN, .more = 8};
	for (*asked = 0; j.verdict == VERDICT_NOT_SHOWN && *asked < 6; ++*asked) {
		assert_in_range(j.more, 1, 1000000);
		draw_cycles(&run, j.more);
		j = judge_cycles(&run, limit);
	}
	result_fini(&run.result);
	return j.verdict;
}

// An effect of 5 % is above 4 % and below 6 %.
static void test_loss_is_told(void **state)
{
	static char below[] = "effect < 4%", above[] = "effect < 6%";
	unsigned refuted = 0, shown = 0, asked, most = 0;
	(void)state;
	seed(5);
	for (unsigned i = 0; i < 100; i++) {
		refuted += measure_until_told(below, &asked) == VERDICT_REFUTED;
		most = asked > most ? asked : most;
		shown += measure_until_told(above, &asked) == VERDICT_SHOWN;
		most = asked > most ? asked : most;
	}
	if (refuted < 95 || shown < 95 || most < 2)
		fail_msg("refuted %u, shown %u of 100", refuted, shown);
}

// Cycles whose median is 100 ns, of which gpq looks at 20, 40, ... 1280, and which end when it
// decides; at the latest they are 2560. Returns how many ran.
static unsigned cycles_until_decided(struct load_run *run, const struct requirements *r)
{
	unsigned n = 0, look = 20;
	for (bool decided = false; n < 2560 && !decided; n++) {
		struct cycle c = {.set = {32, 2, 1, 10, 20, CYCLE_NONE}};
		cycle_clear(&c);
		c.suspend_ns = (uint64_t)(200 * uniform() + 0.5);
		result_add(&run->result, &c);
		if (n + 1 == look) {
			decided = require_decided(r, run, 7);
			look *= 2;
		}
	}
	return n;
}

// That the median is below 100 may not be shown, although there are eight occasions; that it is
// below 120 or not below 80 is shown long before the end.
static void test_ends_when_decided(void **state)
{
	static char limit[3][32] = {"suspend p50 < 100ns", "suspend p50 < 120ns",
				    "suspend p50 < 80ns"};
	static struct load_run run;
	enum { RUNS = 200 };
	unsigned of[3][VERDICT_SHOWN + 1] = {{0}}, early[3] = {0};
	(void)state;
	seed(6);
	for (unsigned k = 0; k < 3; k++) {
		char *require[] = {limit[k]};
		struct requirements r = {0};
		require_parse(&r, &(struct words){0}, &(struct words){.v = require, .n = 1},
			      REQUIRE_PREEMPT);
		for (unsigned i = 0; i < RUNS; i++) {
			const bool ended = cycles_until_decided(&run, &r) <= 1280;
			const enum verdict v = judge_cycles(&run, limit[k]).verdict;
			early[k] += ended && (k || v == VERDICT_SHOWN);
			of[k][v]++;
			result_fini(&run.result);
		}
		require_fini(&r);
	}
	assert_in_range(of[0][VERDICT_SHOWN], 0, RUNS * 6 / 100);
	assert_in_range(early[0], 0, RUNS / 100);
	assert_in_range(of[1][VERDICT_SHOWN], RUNS * 95 / 100, RUNS);
	assert_in_range(early[1], RUNS * 95 / 100, RUNS);
	assert_in_range(of[2][VERDICT_REFUTED], RUNS * 95 / 100, RUNS);
	assert_in_range(early[2], RUNS * 95 / 100, RUNS);
}

// Goals count only where nothing is required; what is not measured is not decided.
static void test_decided_by_requirements(void **state)
{
	static char limit[] = "suspend max < 1s", other[] = "progress max < 1s";
	static struct load_run run;
	(void)state;
	seed(7);
	for (unsigned k = 0; k < 3; k++) {
		char *require[] = {limit, other};
		struct requirements r = {0};
		require_parse(&r, &(struct words){0}, &(struct words){.v = require, .n = k},
			      REQUIRE_PREEMPT);
		draw_cycles(&run, 8); // too few for the goals
		assert_int_equal(require_decided(&r, &run, 1), k == 1);
		result_fini(&run.result);
		require_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_sides),
		cmocka_unit_test(test_gain),
		cmocka_unit_test(test_loss_is_told),
		cmocka_unit_test(test_ends_when_decided),
		cmocka_unit_test(test_decided_by_requirements),
	};
	return cmocka_run_group_tests_name("bench_verdict", tests, NULL, NULL);
}
