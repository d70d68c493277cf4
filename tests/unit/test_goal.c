// The part of the time that a goal leaves to lower classes: common/sched/goal.h. Requests are of a
// generator whose times are known.
#include "common/sched/goal.c" // NOLINT(bugprone-suspicious-include)

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void words(void **state)
{
	static const struct {
		const char *text;
		double percent; // 0: refused
		uint64_t ns;
	} cases[] = {{"p99 < 50ms", 99, 50 * MS},
		     {"p50<1us", 50, 1000},
		     {"p99.9 <  2s", 99.9, 2000 * MS},
		     {"p99.999 < 1ms", 0, 0},
		     {"p49 < 1ms", 0, 0},
		     {"p99 > 1ms", 0, 0},
		     {"99 < 1ms", 0, 0},
		     {"p99 < 0ms", 0, 0},
		     {"p99 < 1", 0, 0},
		     {"p99 < 1ms x", 0, 0},
		     {"p-99 < 1ms", 0, 0},
		     {"", 0, 0},
		     {"pnan < 1ms", 0, 0},
		     {"p99", 0, 0},
		     {"mean < 1ms", 0, 0},
		     {"p0x5f < 1ms", 0, 0},
		     {"p9e1 < 1ms", 0, 0},
		     {"p9.9.9 < 1ms", 0, 0}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct goal g = {0};
		const bool right = goal_parse(&g, cases[i].text);
		assert_int_equal(right, cases[i].percent > 0);
		if (right)
			assert_true(g.percent == cases[i].percent && g.limit_ns == cases[i].ns);
	}
}

static uint64_t now_ns;

// A request after the others.
static void request(struct goal *g, struct policy *p, uint64_t ns)
{
	now_ns += ns;
	goal_count(g, p, now_ns, ns);
}

// 200 requests of which two may be late; the third late one halves the part at once.
static void windows(void **state)
{
	struct goal g = {.percent = 99, .limit_ns = 50 * MS};
	struct policy p = {.kind = POLICY_STRICT};
	(void)state;
	for (unsigned i = 0; i < 199; i++)
		request(&g, &p, i == 7 || i == 9 ? 50 * MS + 1 : 50 * MS);
	assert_int_equal(p.kind, POLICY_STRICT);
	request(&g, &p, 1);
	assert_int_equal(p.kind, POLICY_GOAL);
	assert_true(p.part == 0.0025);
	for (unsigned i = 0; i < 200; i++)
		request(&g, &p, 1);
	assert_true(p.part == 0.003125);
	for (unsigned i = 0; i < 2; i++)
		request(&g, &p, 60 * MS);
	assert_true(p.part == 0.003125);
	request(&g, &p, 60 * MS); // half of it is less than a quarter of 1 %
	assert_true(p.part == 0 && p.kind == POLICY_STRICT);
	for (unsigned i = 0; i < 200 * 40; i++)
		request(&g, &p, 1);
	assert_true(p.part == 0.9);
	for (unsigned i = 0; i < 3; i++)
		request(&g, &p, 60 * MS);
	assert_true(p.part == 0.45 && p.kind == POLICY_GOAL);
}

// Late requests that end at the same time halve the part once.
static void late_together(void **state)
{
	struct goal g = {.percent = 90, .limit_ns = 50 * MS};
	struct policy p = {.kind = POLICY_GOAL, .part = 0.4};
	(void)state;
	for (unsigned i = 0; i < 20; i++)
		goal_count(&g, &p, 1000 * MS, 60 * MS);
	assert_true(p.part == 0.2);
	for (unsigned i = 0; i < 20; i++)
		goal_count(&g, &p, 1060 * MS, 60 * MS);
	assert_true(p.part == 0.1);
}

static unsigned seed = 4711;

static double any(void) // 0 to 1
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) / (double)(1 << 24);
}

// A request beside offline work takes 80 ms, alone 20 ms; so many of 100 are beside it as the part
// says. What is found keeps the goal but for what finding it costs, and is most of what there is.
static void found_from_below(void **state)
{
	static const double percents[] = {50, 90, 95, 99};
	(void)state;
	for (size_t i = 0; i < COUNT(percents); i++) {
		const double may = (100 - percents[i]) / 100;
		struct goal g = {.percent = percents[i], .limit_ns = 50 * MS};
		struct policy p = {.kind = POLICY_STRICT};
		double parts = 0, late = 0;
		enum { N = 200000 };
		for (unsigned k = 0; k < N; k++) {
			const uint64_t ns = any() < p.part ? 80 * MS : 20 * MS;
			request(&g, &p, ns);
			parts += p.part;
			late += ns > g.limit_ns;
		}
		assert_true(late / N < may);
		assert_true(parts / N > may * 0.65);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(windows),
		cmocka_unit_test(late_together),
		cmocka_unit_test(found_from_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
