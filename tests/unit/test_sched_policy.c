// When a class is held: common/sched/policy.h. Times are milliseconds here.
#include "common/host/std.h"
#include "common/sched/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static const struct policy strict = {
	.kind = POLICY_STRICT, .idle_ns = 5 * MS, .max_hold_ns = 1000 * MS, .rest_ns = 100 * MS};
static const struct policy share = {.kind = POLICY_SHARE,
				    .part = 0.2,
				    .period_ns = 100 * MS,
				    .idle_ns = 5 * MS,
				    .max_hold_ns = 1000 * MS,
				    .rest_ns = 100 * MS};

// A step at `ms`; the queues follow the decision at once. When the next one is due, in ms.
static uint64_t at(const struct policy *p, struct policy_class *c, uint64_t ms, uint64_t rivals)
{
	const uint64_t next = policy_step(p, c, ms * MS, rivals, c->held, 0);
	c->off = c->held;
	return next == UINT64_MAX ? next : next / MS;
}

static void strict_holds_while_there_is_work_above(void **state)
{
	struct policy_class c = {0};
	(void)state;
	assert_int_equal(at(&strict, &c, 1000, false), UINT64_MAX);
	assert_false(c.held);
	assert_int_equal(at(&strict, &c, 1010, true), 2010);
	assert_true(c.held);
	assert_int_equal(at(&strict, &c, 1020, false), 1025); // --idle
	assert_true(c.held);
	at(&strict, &c, 1023, true); // again within it: the same hold goes on
	assert_int_equal(at(&strict, &c, 1030, false), 1035);
	assert_true(c.held);
	assert_int_equal(at(&strict, &c, 1035, false), UINT64_MAX);
	assert_false(c.held);
	assert_int_equal(c.contended_ns, 17 * MS);
	assert_int_equal(c.contended_off_ns, 17 * MS);
}

static void no_hold_lasts_longer_than_allowed(void **state)
{
	struct policy_class c = {0};
	(void)state;
	assert_int_equal(at(&strict, &c, 1000, true), 2000);
	assert_int_equal(at(&strict, &c, 1999, true), 2000);
	assert_true(c.held);
	assert_int_equal(at(&strict, &c, 2000, true), 2100); // --rest
	assert_false(c.held);
	assert_int_equal(at(&strict, &c, 2050, false), UINT64_MAX);
	assert_int_equal(at(&strict, &c, 2100, true), 3100);
	assert_true(c.held);
	// Both had work from 1000 to 2050; it was off until 2000.
	assert_int_equal(c.contended_ns, 1050 * MS);
	assert_int_equal(c.contended_off_ns, 1000 * MS);
}

static void a_burst_cuts_a_rest_short_once(void **state)
{
	struct policy_class c = {0};
	(void)state;
	at(&strict, &c, 1000, true);
	assert_int_equal(at(&strict, &c, 2000, true), 2100);
	assert_int_equal(at(&strict, &c, 2010, true),
			 2100); // the work that it was held for goes on
	assert_false(c.held);
	at(&strict, &c, 2020, false);
	assert_int_equal(at(&strict, &c, 2030, true), 3030); // 70 ms of the rest are missing
	assert_true(c.held);
	assert_int_equal(at(&strict, &c, 3030, true), 3200); // 100 and 70
	assert_false(c.held);
	at(&strict, &c, 3040, false);
	assert_int_equal(at(&strict, &c, 3050, true), 3200); // that rest is whole
	assert_false(c.held);
	assert_int_equal(at(&strict, &c, 3200, true), 4200);
	assert_int_equal(at(&strict, &c, 4200, true), 4300);
	at(&strict, &c, 4210, false);
	at(&strict, &c, 4220, true); // and the next may be cut again: 80 ms are missing
	assert_true(c.held);
	at(&strict, &c, 4230, false);
	at(&strict, &c, 4235, false); // --idle: it runs
	assert_false(c.held);
	assert_int_equal(at(&strict, &c, 4300, true), 4315); // until 4235 + 80
	assert_int_equal(at(&strict, &c, 4315, true), 5315);
	assert_true(c.held);
}

static void what_a_hold_costs_bounds_their_number(void **state)
{
	struct policy_class c = {0};
	(void)state;
	// 3 ms each: not more often than every 30 ms.
	policy_step(&strict, &c, 1000 * MS, true, false, 3 * MS);
	assert_int_equal(policy_step(&strict, &c, 1001 * MS, false, true, 3 * MS), 1030 * MS);
	assert_int_equal(policy_step(&strict, &c, 1029 * MS, false, true, 3 * MS), 1030 * MS);
	assert_true(c.held);
	policy_step(&strict, &c, 1030 * MS, false, true, 3 * MS);
	assert_false(c.held);
	// The limit of a hold is stronger, and the resuming is within it: 1000 - 1000 / 4.
	assert_int_equal(policy_step(&strict, &c, 2000 * MS, true, false, 900 * MS), 2750 * MS);
	policy_step(&strict, &c, 2750 * MS, false, true, 900 * MS);
	assert_false(c.held);
}

// Work above all the time: 80 ms held, 20 ms run.
static void a_share_is_a_part_of_contended_time(void **state)
{
	struct policy_class c = {0};
	(void)state;
	assert_int_equal(at(&share, &c, 1000, true), 1080);
	assert_true(c.held);
	at(&share, &c, 1079, true);
	assert_true(c.held);
	assert_int_equal(at(&share, &c, 1081, true), 1101);
	assert_false(c.held);
	at(&share, &c, 1090, true);
	assert_false(c.held);
	at(&share, &c, 1102, true);
	assert_true(c.held);
}

// While one class above has work, a burst of another begins with a hold, too.
static void each_class_above_has_bursts(void **state)
{
	struct policy_class c = {0};
	(void)state;
	at(&share, &c, 1000, 2);
	at(&share, &c, 1081, 2);
	assert_false(c.held); // its turn
	at(&share, &c, 1090, 2 | 1);
	assert_true(c.held);
	at(&share, &c, 1091, 2);
	assert_true(c.held);
}

// Bursts of any length and gaps of any length: the part comes out.
static void shares_come_out_in_any_pattern(void **state)
{
	static const struct {
		uint64_t busy, idle;
	} patterns[] = {{30000, 0}, {400, 100}, {90, 10}, {20, 30}, {3, 50}, {70, 7}};

	(void)state;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct policy_class c = {0};
		uint64_t contended = 0, ran = 0, held_since = 0;
		for (uint64_t ms = 1; ms <= 60000; ms++) {
			const uint64_t in = ms % (patterns[i].busy + patterns[i].idle);
			const bool work = in < patterns[i].busy, was = c.held;
			at(&share, &c, ms, work);
			if (work && in == 0 && patterns[i].idle > 5)
				assert_true(c.held); // each burst begins with the queues off
			held_since = c.held && !was ? ms : held_since;
			assert_true(!c.held || ms - held_since <= 1000);
			contended += work;
			ran += work && !c.held;
		}
		assert_in_range(100 * ran / contended, 18, 22);
	}
}

// Bursts of 10 ms, 50 ms apart: four of five hold, and one runs from its beginning to its end
// beside the class. A long one takes turns.
static void by_a_goal_some_bursts_run_beside(void **state)
{
	struct policy goal = share;
	struct policy_class burst = {0}, c = {0};
	unsigned whole = 0, held = 0, off = 0;
	(void)state;
	goal.kind = POLICY_GOAL;
	for (uint64_t ms = 1000; ms < 51000; ms++) {
		at(&goal, &burst, ms, ms % 50 < 10);
		off = burst.held + (ms % 50 ? off : 0);
		held += ms % 50 == 9 && off == 10;
		whole += ms % 50 == 9 && off == 0;
	}
	assert_int_equal(held + whole, 1000);
	assert_true(whole > 190 && whole < 210);
	// The same where queues are off 4 ms after the decision: that time is none beside the
	// class.
	burst = (struct policy_class){0};
	whole = 0;
	for (uint64_t ms = 1000, since = 0; ms < 51000; ms++) {
		policy_step(&goal, &burst, ms * MS, ms % 50 < 10, burst.held && ms >= since + 4, 0);
		since = burst.held ? since : ms + 1;
		off = burst.held + (ms % 50 ? off : 0);
		whole += ms % 50 == 9 && off == 0;
	}
	assert_true(whole > 190 && whole < 210);
	for (uint64_t ms = 1000; ms < 21000; ms++)
		at(&goal, &c, ms, true);
	assert_true(c.contended_off_ns > 15600 * MS && c.contended_off_ns < 16400 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strict_holds_while_there_is_work_above),
		cmocka_unit_test(no_hold_lasts_longer_than_allowed),
		cmocka_unit_test(a_burst_cuts_a_rest_short_once),
		cmocka_unit_test(what_a_hold_costs_bounds_their_number),
		cmocka_unit_test(a_share_is_a_part_of_contended_time),
		cmocka_unit_test(each_class_above_has_bursts),
		cmocka_unit_test(shares_come_out_in_any_pattern),
		cmocka_unit_test(by_a_goal_some_bursts_run_beside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
