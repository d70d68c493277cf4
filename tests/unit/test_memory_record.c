// Records of memory, common/reader/memory_record.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/reader/memory_record.h"

static void look(struct memory_record *r, uint64_t ns)
{
	memory_record_look(r, &ns);
}

static const char *get(const struct memory_record *r, uint64_t at, size_t size)
{
	static char text[16];
	memset(text, 0, sizeof(text));
	return memory_record_read(r, at, text, size) ? text : NULL;
}

static void record(struct memory_record *r)
{
	*r = (struct memory_record){0};
	look(r, 100);
	memory_record_add(r, 0x1000, "abcdef", 6);
	memory_record_add(r, 0x1006, "ghi", 3);
	memory_record_add(r, 0x1000, "abcdef", 6); // no new piece: its bytes are those of the last
	look(r, 250);
	memory_record_add(r, 0x1002, "XY", 2);
	memory_record_add(r, 0x2000, "z", 1);
}

static const char text[] = "look 100\n1000 616263646566\n1006 676869\n"
			   "look 250\n1002 5859\n2000 7a\n";

static void test_text(void **state)
{
	(void)state;
	struct memory_record r;
	struct buf b = {0};
	record(&r);
	memory_record_text(&r, &b);
	assert_string_equal(b.data, text);
	assert_string_equal(get(&r, 0x1000, 9), "abXYefghi");
	assert_false(memory_record_goes_on(&r));
	buf_fini(&b);
	memory_record_fini(&r);
}

// Each look gives what was read until it, and of what was read later only, that.
static void test_looks(void **state)
{
	(void)state;
	struct memory_record r;
	uint64_t ns = 7;
	assert_true(memory_record_parse(&r, text, sizeof(text) - 1));
	assert_string_equal(get(&r, 0x1000, 9), "abXYefghi"); // the last look
	memory_record_rewind(&r);
	assert_true(memory_record_goes_on(&r));
	memory_record_look(&r, &ns);
	assert_int_equal(ns, 100);
	assert_string_equal(get(&r, 0x1000, 9), "abcdefghi");
	assert_string_equal(get(&r, 0x1003, 4), "defg");
	assert_string_equal(get(&r, 0x2000, 1), "z");
	assert_true(memory_record_goes_on(&r));
	memory_record_look(&r, &ns);
	assert_int_equal(ns, 250);
	assert_string_equal(get(&r, 0x1000, 9), "abXYefghi");
	assert_string_equal(get(&r, 0x1003, 1), "Y");
	assert_false(memory_record_goes_on(&r));
	ns = 7;
	memory_record_look(&r, &ns);
	assert_int_equal(ns, 250);
	memory_record_fini(&r);
	ns = 7;
	assert_true(memory_record_parse(&r, "", 0));
	memory_record_look(&r, &ns);
	assert_int_equal(ns, 7);
}

static void test_ends(void **state)
{
	(void)state;
	struct memory_record r;
	record(&r);
	assert_string_equal(get(&r, 0x1008, 1), "i");
	assert_null(get(&r, 0x1008, 2));
	assert_null(get(&r, 0xfff, 2));
	assert_null(get(&r, 0x2001, 1));
	assert_null(get(&r, UINT64_MAX - 1, 4));
	memory_record_add(&r, UINT64_MAX - 3, "last", 4); // no memory ends there
	assert_null(get(&r, UINT64_MAX - 3, 1));
	memory_record_add(&r, UINT64_MAX - 3, "las", 3);
	assert_string_equal(get(&r, UINT64_MAX - 3, 3), "las");
	assert_null(get(&r, UINT64_MAX - 3, 4));
	memory_record_fini(&r);
}

// What is beyond the limit is left out; a text that has more is refused.
static void test_limit(void **state)
{
	(void)state;
	static char bytes[MEMORY_RECORD_MOST + 1];
	struct memory_record r = {0};
	uint64_t ns = 0;
	memory_record_look(&r, &ns);
	memory_record_add(&r, 0, bytes, MEMORY_RECORD_MOST + 1);
	assert_null(get(&r, 0, 1));
	memory_record_add(&r, 0, bytes, MEMORY_RECORD_MOST);
	assert_non_null(get(&r, MEMORY_RECORD_MOST - 1, 1));
	memory_record_add(&r, MEMORY_RECORD_MOST, "x", 1);
	assert_null(get(&r, MEMORY_RECORD_MOST, 1));
	memory_record_fini(&r);

	struct buf b = {0};
	buf_puts(&b, "0 ");
	buf_fill(&b, '0', 2 * (size_t)MEMORY_RECORD_MOST);
	buf_puts(&b, "\n");
	assert_true(memory_record_parse(&r, b.data, b.len));
	memory_record_fini(&r);
	buf_puts(&b, "0 00\n");
	assert_false(memory_record_parse(&r, b.data, b.len));
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
