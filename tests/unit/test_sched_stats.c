// Statistics of the scheduler as lines, and back: common/sched/stats.h. Expected values by hand.
#include "common/sched/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

static void lines_come_back(void **state)
{
	struct sched_class_row classes[2] = {{.name = "online",
					      .processes = 1,
					      .bursts = 17,
					      .holds = 0,
					      .off_p50_ns = UINT64_MAX,
					      .ran_percent = NAN},
					     {.name = "offline",
					      .processes = 8,
					      .bursts = UINT64_MAX,
					      .holds = 3,
					      .calls = 48,
					      .off_p50_ns = 250000,
					      .ran_percent = 20.5}};
	struct sched_member_row member = {.pid = 4711,
					  .name = "offline",
					  .comm = "a\033b\n\"c",
					  .state = "missed",
					  .reason = "another debugger"};
	struct sched_stats t = {.total = {.policy = "share 80:20", .pid = 7, .hints = 2},
				.classes = classes,
				.members = &member,
				.nclasses = 2,
				.nmembers = 1};
	struct sched_stats back;
	struct buf b = {0};
	(void)state;
	sched_stats_write(&b, &t);
	assert_true(sched_stats_read(&back, b.data));
	assert_string_equal(back.total.policy, "share 80:20");
	assert_int_equal(back.total.pid, 7);
	assert_int_equal(back.total.hints, 2);
	assert_int_equal(back.nclasses, 2);
	assert_string_equal(back.classes[0].name, "online");
	assert_int_equal(back.classes[0].bursts, 17);
	assert_int_equal(back.classes[0].holds, 0);
	assert_true(back.classes[0].off_p50_ns == UINT64_MAX);
	assert_true(isnan(back.classes[0].ran_percent));
	assert_string_equal(back.classes[1].name, "offline");
	assert_true(back.classes[1].bursts == UINT64_MAX);
	assert_int_equal(back.classes[1].calls, 48);
	assert_int_equal(back.classes[1].off_p50_ns, 250000);
	assert_true(back.classes[1].ran_percent > 20.49 && back.classes[1].ran_percent < 20.51);
	assert_int_equal(back.nmembers, 1);
	assert_int_equal(back.members[0].pid, 4711);
	assert_string_equal(back.members[0].comm, "a\033b\n\"c");
	assert_string_equal(back.members[0].state, "missed");
	assert_string_equal(back.members[0].reason, "another debugger");
	sched_stats_fini(&back);
	buf_fini(&b);
}

// Another version may say less, or more.
static void what_is_not_said_is_unknown(void **state)
{
	struct sched_stats t;
	(void)state;
	assert_true(sched_stats_read(&t, "{\"record\":\"scheduler\",\"schema\":1,\"later\":[1]}\n"
					 "{\"record\":\"class\",\"schema\":1,\"class\":\"x\"}"));
	assert_true(t.total.cpu_ns == UINT64_MAX);
	assert_true(t.classes[0].holds == UINT64_MAX);
	assert_true(isnan(t.classes[0].ran_percent));
	sched_stats_fini(&t);
}

static void other_lines_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"ok\n",
		"{\"record\":\"scheduler\",\"schema\":1",
		"{\"record\":\"scheduler\",\"schema\":2}",
		"{\"record\":\"other\",\"schema\":1}",
		"{\"record\":\"class\",\"schema\":1}",
		"{\"record\":\"scheduler\",\"schema\":1,\"pid\":-1}",
		"{\"record\":\"scheduler\",\"schema\":1}\n{\"record\":\"scheduler\",\"schema\":1}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct sched_stats t;
		assert_false(sched_stats_read(&t, wrong[i]));
		sched_stats_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_back),
		cmocka_unit_test(what_is_not_said_is_unknown),
		cmocka_unit_test(other_lines_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
