// What differs between drivers, by kernel release and KFD interface version. Expected:
// [kfd.priority], [kfd.suspend-crash], [kfd.tracer], [kfd.smi-pids], [kfd.smi].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kfd/driver.h"

static void test_releases(void **state)
{
	static const struct {
		struct kfd_driver d;
		enum kfd_answer3 priority, crash;
	} cases[] = {
		{{6, 12, 0, false, 0}, KFD_ANSWER_YES, KFD_ANSWER_NO},
		{{6, 19, 0, false, 0}, KFD_ANSWER_YES, KFD_ANSWER_NO},
		{{7, 0, 0, false, 0}, KFD_ANSWER_NO, KFD_ANSWER_NO},
		{{7, 1, 23, false, 0}, KFD_ANSWER_NO, KFD_ANSWER_NO},
		{{7, 2, 0, false, 0}, KFD_ANSWER_NO, KFD_ANSWER_YES},
		{{7, 3, 23, false, 0}, KFD_ANSWER_NO, KFD_ANSWER_YES},
		{{8, 0, 0, false, 0}, KFD_ANSWER_NO, KFD_ANSWER_YES}, // until a row says otherwise
		// Out of tree, and recorded without a release: the interface version decides.
		{{7, 3, 17, true, 0}, KFD_ANSWER_YES, KFD_ANSWER_NO},
		{{6, 8, 23, true, 0}, KFD_ANSWER_NO, KFD_ANSWER_YES},
		{{6, 8, 20, true, 0}, KFD_ANSWER_UNKNOWN, KFD_ANSWER_UNKNOWN},
		{{6, 8, 0, true, 0}, KFD_ANSWER_UNKNOWN, KFD_ANSWER_UNKNOWN},
		{{0, 0, 0, false, 0}, KFD_ANSWER_UNKNOWN, KFD_ANSWER_UNKNOWN},
		{{0, 0, 17, false, 0}, KFD_ANSWER_YES, KFD_ANSWER_NO},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kfd_driver *d = &cases[i].d;
		assert_int_equal(kfd_driver_fact(d, KFD_FACT_QUEUE_PRIORITY), cases[i].priority);
		assert_int_equal(kfd_driver_fact(d, KFD_FACT_SUSPEND_CRASH), cases[i].crash);
	}
}

// 6.12.95 refuses, 6.12.107, 7.2.12 and 7.3.4 allow it [kfd.tracer]; between them is unknown.
static void test_untraced_debugger(void **state)
{
	static const struct {
		struct kfd_driver d;
		enum kfd_answer3 may;
	} cases[] = {
		{{6, 5, 0, false, 0}, KFD_ANSWER_NO},
		{{6, 12, 0, false, 95}, KFD_ANSWER_NO},
		{{6, 12, 17, false, 95}, KFD_ANSWER_NO},
		{{6, 12, 0, false, 96}, KFD_ANSWER_UNKNOWN},
		{{6, 12, 0, false, 107}, KFD_ANSWER_UNKNOWN},
		{{6, 13, 0, false, 0}, KFD_ANSWER_UNKNOWN},
		{{7, 1, 0, false, 3}, KFD_ANSWER_UNKNOWN},
		{{7, 2, 0, false, 0}, KFD_ANSWER_YES},
		{{7, 3, 0, false, 4}, KFD_ANSWER_YES},
		{{6, 12, 17, true, 95}, KFD_ANSWER_UNKNOWN},
		{{6, 12, 23, true, 95}, KFD_ANSWER_YES},
		{{0, 0, 0, false, 0}, KFD_ANSWER_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(kfd_driver_fact(&cases[i].d, KFD_FACT_UNTRACED_DEBUGGER),
				 cases[i].may);
}

// Read in 6.12.95 and 7.3.4, seen in the VM (tests/kernel/gpq/events.sh).
static void test_events(void **state)
{
	static const struct {
		struct kfd_driver d;
		enum kfd_answer3 is;
	} cases[] = {
		{{6, 12, 0, false, 95}, KFD_ANSWER_NO},
		{{6, 8, 0, false, 0}, KFD_ANSWER_NO},
		{{6, 12, 0, false, 96}, KFD_ANSWER_UNKNOWN},
		{{7, 2, 0, false, 12}, KFD_ANSWER_UNKNOWN},
		{{7, 3, 0, false, 4}, KFD_ANSWER_YES},
		{{7, 3, 23, true, 4}, KFD_ANSWER_UNKNOWN},
		{{0, 0, 0, false, 0}, KFD_ANSWER_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kfd_driver_fact(&cases[i].d, KFD_FACT_SMI_NS_PID), cases[i].is);
		assert_int_equal(kfd_driver_fact(&cases[i].d, KFD_FACT_SMI_LARGE), cases[i].is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_releases),
					   cmocka_unit_test(test_events),
					   cmocka_unit_test(test_untraced_debugger)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
