// Pickles as JSON, common/out/picklein.c: pickles written by hand for each opcode, those that are
// refused, and the limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/out/picklein.h"

#include <fcntl.h>

#define P(bytes) bytes, sizeof(bytes) - 1

static void assert_json(const char *pickle, size_t len, const char *wanted)
{
	SCOPED(buf_fini) struct buf b = {0};
	const bool good = pickle_to_json(&b, pickle, len);
	if (good != (wanted != NULL))
		fail_msg("%s: %s", wanted ? wanted : "refused", good ? b.data : "no");
	if (wanted)
		assert_string_equal(b.data, wanted);
}

static void test_values(void **state)
{
	static const struct {
		const char *pickle;
		size_t len;
		const char *json;
	} cases[] = {
		{P("N."), "null"},
		{P("\x88."), "true"},
		{P("\x89."), "false"},
		{P("\x80\x02N."), "null"},
		{P("\x80\x04\x95\x01\0\0\0\0\0\0\0N."), "null"},
		{P("K\0."), "0"},
		{P("K\xff."), "255"},
		{P("M\x01\x02."), "513"},
		{P("M\xff\xff."), "65535"},
		{P("J\x01\0\0\0."), "1"},
		{P("J\xff\xff\xff\x7f."), "2147483647"},
		{P("J\0\0\0\x80."), "-2147483648"},
		{P("J\xfe\xff\xff\xff."), "-2"},
		{P("\x8a\0."), "0"},
		{P("\x8a\x01\x7f."), "127"},
		{P("\x8a\x01\x80."), "-128"},
		{P("\x8a\x02\xff\0."), "255"},
		{P("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), "9223372036854775807"},
		{P("\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808"},
		{P("G\x3f\xf8\0\0\0\0\0\0."), "1.5"},
		{P("G\x7f\xf0\0\0\0\0\0\0."), "null"}, // infinite
		{P("X\x02\0\0\0a\"."), "\"a\\\"\""},
		{P("X\0\0\0\0."), "\"\""},
		{P("\x8c\x01z."), "\"z\""},
		{P("]."), "[]"},
		{P(")."), "[]"},
		{P("}."), "{}"},
		{P("K\x01\x85."), "[1]"},
		{P("K\x01K\x02\x86."), "[1,2]"},
		{P("K\x01K\x02K\x03\x87."), "[1,2,3]"},
		{P("(K\x01K\x02K\x03K\x04t."), "[1,2,3,4]"},
		{P("(t."), "[]"},
		{P("]K\x01\x61."), "[1]"},
		{P("]K\x01\x61K\x02\x61."), "[1,2]"},
		{P("](K\x01K\x02\x65."), "[1,2]"},
		{P("](K\x01\x65(K\x02K\x03\x65."), "[1,2,3]"},
		{P("](\x65."), "[]"},
		{P("}\x8c\x01kK\x01s."), "{\"k\":1}"},
		{P("}(\x8c\x01kK\x01\x8c\x01lNu."), "{\"k\":1,\"l\":null}"},
		{P("}(\x8c\x01kK\x01u(\x8c\x01l]u."), "{\"k\":1,\"l\":[]}"},
		{P("](](K\x01\x65}\x65."), "[[1],{}]"},
		// Kept and used again: texts, and what is complete.
		{P("](\x8c\x01zq\0h\0\x65."), "[\"z\",\"z\"]"},
		{P("](\x8c\x01zr\0\0\0\0j\0\0\0\0\x65."), "[\"z\",\"z\"]"},
		{P("](\x8c\x01y\x94\x8c\x01z\x94h\x01h\0\x65."), "[\"y\",\"z\",\"z\",\"y\"]"},
		{P("](]K\x01\x61q\0h\0\x65."), "[[1],[1]]"},
		{P("](\x8c\x01yq\0\x8c\x01zq\0h\0\x65."), "[\"y\",\"z\",\"z\"]"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_json(cases[i].pickle, cases[i].len, cases[i].json);
		// Each of its beginnings is refused.
		for (size_t len = 0; len < cases[i].len; len++)
			assert_json(cases[i].pickle, len, NULL);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *pickle;
		size_t len;
	} cases[] = {
		{P("")},
		{P(".")},
		{P("NN.")},
		{P("(.")},
		{P("(N.")},
		{P("cos\nsystem\n.")},
		{P("cos\nsystem\n(\x8c\x01xtR.")},
		{P("\x8f.")},
		{P("a.")},
		{P("Na.")},
		{P("NNa.")},
		{P("}Na.")},
		{P("e.")},
		{P("(e.")},
		{P("N(e.")},
		{P("]e.")},
		{P("s.")},
		{P("NNs.")},
		{P("]\x8c\x01kNs.")},
		{P("}NNs.")},
		{P("}K\x01Ns.")},
		{P("}(\x8c\x01ku.")},
		{P("(\x8c\x01kNu.")},
		{P("](\x8c\x01kNu.")},
		{P("u.")},
		{P("t.")},
		{P("Nt.")},
		{P("\x85.")},
		{P("N\x86.")},
		{P("NN\x87.")},
		{P("(\x85.")},
		{P("](Na.")}, // a list cannot take a mark
		{P("\x8a\x09"
		   "123456789.")},
		{P("X\x05\0\0\0abc.")},
		{P("\x8c\x05"
		   "abc.")},
		{P("h\0.")},
		{P("Nq\0h\x01.")},
		{P("q\0.")},
		{P("\x94.")},
		{P("]q\0h\0\x86.")},        // a list that was empty when it was kept
		{P("Nr\xff\xff\xff\xff.")}, // a place behind the next one
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_json(cases[i].pickle, cases[i].len, NULL);
}

// Lists in lists: 16 levels.
static void test_depth(void **state)
{
	(void)state;
	for (unsigned depth = 15; depth <= 17; depth++) {
		SCOPED(buf_fini) struct buf pickle = {0}, json = {0};
		for (unsigned i = 0; i < depth; i++)
			buf_puts(&pickle, "]");
		for (unsigned i = 1; i < depth; i++)
			buf_puts(&pickle, "a");
		buf_puts(&pickle, ".");
		assert_int_equal(pickle_to_json(&json, pickle.data, pickle.len),
				 depth <= PICKLE_DEPTH);
		if (depth == PICKLE_DEPTH)
			assert_string_equal(json.data, "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]");
	}
}

// A text that is used again and again would fill the memory: 1 MiB, 300 times.
static void test_size(void **state)
{
	enum { TEXT = 1 << 20 };
	(void)state;
	for (unsigned times = 50; times <= 300; times += 250) {
		SCOPED(buf_fini) struct buf pickle = {0}, json = {0};
		buf_append(&pickle, "](X\0\0\x10\0", 7);
		for (unsigned i = 0; i < TEXT; i++)
			buf_append(&pickle, "x", 1);
		buf_append(&pickle, "q\0", 2);
		for (unsigned i = 0; i < times; i++)
			buf_append(&pickle, "h\0", 2);
		buf_puts(&pickle, "e.");
		assert_int_equal(pickle_to_json(&json, pickle.data, pickle.len), times == 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
