// The selector in one word: common/pick/spec_set.h.
#include "common/pick/spec_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void conditions_are_the_options(void **state)
{
	struct pick_spec s;
	(void)state;
	assert_int_equal(pick_spec_parse(&s, "--offline",
					 "tree,pid=4711,12,container=a,b,container=c,"
					 "cmdline=x\\,y=z,{1,2},--lr=1,gpu=0,queue=4711:3"),
			 0);
	assert_true(s.pick.tree);
	assert_false(s.pick.ns_pid);
	assert_int_equal(s.pick.pids.n, 2);
	assert_int_equal(s.pick.pids.v[0], 4711);
	assert_int_equal(s.pick.containers.n, 3);
	assert_string_equal(s.pick.containers.v[2], "c");
	assert_int_equal(s.pick.cmdlines.n, 1);
	assert_string_equal(s.pick.cmdlines.v[0], "x,y=z,{1,2},--lr=1");
	assert_int_equal(s.pick.comms.n, 0);
	assert_string_equal(s.queues.gpus.v[0], "0");
	assert_string_equal(s.queues.ids.v[0], "4711:3");
	pick_spec_fini(&s);
}

static void a_key_again_adds_up_or_is_refused(void **state)
{
	struct pick_spec s;
	struct buf text = {0};
	(void)state;
	assert_int_equal(pick_spec_parse(&s, "--offline", "comm=a,cmdline=b,comm=c"), 0);
	pick_text(&text, &s.pick);
	assert_string_equal(text.data, " --comm a --comm c --cmdline b");
	buf_fini(&text);
	pick_spec_fini(&s);
	assert_int_equal(pick_spec_parse(&s, "--offline", "prio=low,prio=high"), 2);
	pick_spec_fini(&s);
}

static void wrong_ones_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",       "comm",  "comm=", "tree=1",        "tree,",       ",comm=a", "tree,pid",
		"nope=1", "pid=x", "pid=0", "comm=a,nope=1", "pid=1,tree=", "4711",    "comm =a",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct pick_spec s;
		assert_int_equal(pick_spec_parse(&s, "--offline", wrong[i]), 2);
		pick_spec_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_are_the_options),
		cmocka_unit_test(a_key_again_adds_up_or_is_refused),
		cmocka_unit_test(wrong_ones_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
