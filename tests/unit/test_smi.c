// common/kfd/smi.c: the driver's event text. Expected values by hand from the formats of
// uapi/linux/kfd_ioctl.h (KFD_EVENT_FMT_...) of Linux 6.12.95 and 7.3.4, what older drivers print
// from [kfd.smi-formats].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/std.h"
#include "common/kfd/smi.h"
#include "common/kfd/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kfd_smi_event parsed(const char *line)
{
	struct kfd_smi_event e;
	kfd_smi_parse(&e, line, strlen(line));
	return e;
}

#define TEXT_IS(e, wanted)                                             \
	do {                                                           \
		assert_int_equal((e).text_len, strlen(wanted));        \
		assert_memory_equal((e).text, wanted, strlen(wanted)); \
	} while (0)

static void test_eviction(void **state)
{
	struct kfd_smi_event e = parsed("9 184467230912 -41207 a1f4 2");
	(void)state;
	assert_true(e.readable);
	assert_string_equal(e.name, "queue-eviction");
	assert_int_equal(e.number, 9);
	assert_int_equal(e.boot_ns, 184467230912);
	assert_int_equal(e.pid, 41207);
	assert_int_equal(e.tid, KFD_UNKNOWN);
	assert_int_equal(e.gpu_id, 0xa1f4);
	assert_int_equal(e.trigger, 2);
	assert_string_equal(kfd_smi_trigger(&e), "ttm");
	assert_int_equal(e.name_of, KFD_UNKNOWN);
	TEXT_IS(e, "184467230912 -41207 a1f4 2");
	e = parsed("9 184467230912 -41207 a1f4 6"); // a reason of later drivers
	assert_true(e.readable && e.trigger == 6);
	assert_null(kfd_smi_trigger(&e));
}

// 6.12.95 and 7.3.4 print 0 or R; older drivers nothing, with or without the blank, or a NUL.
static void test_restore(void **state)
{
	static const struct {
		const char *line;
		size_t len;
		char mark;
	} cases[] = {{"a 184569110233 -41207 a1f4 0", 28, '0'},
		     {"a 184569110233 -41207 a1f4 R", 28, 'R'},
		     {"a 184569110233 -41207 a1f4", 26, 0},
		     {"a 184569110233 -41207 a1f4 ", 27, 0},
		     {"a 184569110233 -41207 a1f4 \0", 28, 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct kfd_smi_event e;
		kfd_smi_parse(&e, cases[i].line, cases[i].len);
		assert_true(e.readable);
		assert_string_equal(e.name, "queue-restore");
		assert_int_equal(e.boot_ns, 184569110233);
		assert_int_equal(e.pid, 41207);
		assert_int_equal(e.gpu_id, 0xa1f4);
		assert_int_equal(e.mark, cases[i].mark);
	}
}

static void test_memory(void **state)
{
	struct kfd_smi_event e = parsed("5 100 -7 @7f00aa(200) 0->a1f4 a1f4:ffffffff 1");
	(void)state;
	assert_true(e.readable);
	assert_string_equal(e.name, "migrate-start");
	assert_int_equal(e.page, 0x7f00aa);
	assert_int_equal(e.pages, 0x200);
	assert_int_equal(e.from, 0);
	assert_int_equal(e.to, 0xa1f4);
	assert_int_equal(e.prefetch, 0xa1f4);
	assert_int_equal(e.preferred, 0xffffffff);
	assert_string_equal(kfd_smi_trigger(&e), "gpu-fault");
	e = parsed("6 100 -7 @7f00aa(200) 0->a1f4 3"); // 6.12
	assert_true(e.readable && e.error == INT64_MIN);
	assert_string_equal(kfd_smi_trigger(&e), "ttm");
	e = parsed("6 100 -7 @7f00aa(200) 0->a1f4 3 -1"); // 7.3
	assert_true(e.readable);
	assert_int_equal(e.error, -1);
	e = parsed("6 100 -7 @7f00aa(200) 0->a1f4 3 0");
	assert_true(e.readable);
	assert_int_equal(e.error, 0);
	e = parsed("7 100 -7 @7f00aa(a1f4) W");
	assert_true(e.readable && e.mark == 'W' && e.gpu_id == 0xa1f4 && e.page == 0x7f00aa);
	assert_string_equal(e.name, "page-fault-start");
	e = parsed("8 100 -7 @7f00aa(a1f4) M");
	assert_true(e.readable && e.mark == 'M');
	assert_string_equal(e.name, "page-fault-end");
	e = parsed("b 100 -7 @7f00aa(10) a1f4 2");
	assert_true(e.readable && e.pages == 0x10 && e.gpu_id == 0xa1f4);
	assert_string_equal(e.name, "unmap-from-gpu");
	assert_string_equal(kfd_smi_trigger(&e), "cpu-unmap");
}

// Without a time.
static void test_others(void **state)
{
	struct kfd_smi_event e = parsed("1 a0f7:my prog: x");
	(void)state;
	assert_true(e.readable && e.tid == 0xa0f7 && e.boot_ns == KFD_UNKNOWN &&
		    e.pid == KFD_UNKNOWN);
	assert_string_equal(e.name, "vmfault");
	TEXT_IS(e, "my prog: x");
	e = parsed("2 8000:1f");
	assert_true(e.readable && e.bits == 0x8000 && e.count == 0x1f);
	assert_string_equal(e.name, "thermal-throttle");
	e = parsed("3 2 ring sdma0 timeout");
	assert_true(e.readable && e.sequence == 2);
	assert_string_equal(e.name, "gpu-pre-reset");
	TEXT_IS(e, "ring sdma0 timeout");
	assert_int_equal(e.line_len, strlen("3 2 ring sdma0 timeout"));
	assert_memory_equal(e.line, "3 2 ring", 8);
	e = parsed("4 2");
	assert_true(e.readable && e.sequence == 2);
	assert_string_equal(e.name, "gpu-post-reset");
	e = parsed("c a0f7 python3");
	assert_true(e.readable && e.number == 12 && e.tid == 0xa0f7);
	assert_string_equal(e.name, "process-start");
	TEXT_IS(e, "python3");
	e = parsed("d a0f7 ");
	assert_true(e.readable);
	assert_string_equal(e.name, "process-end");
	TEXT_IS(e, "");
}

// What is not understood is given as it is, without values.
static void test_not_understood(void **state)
{
	static const struct {
		const char *line;
		uint64_t number;
		const char *name, *text;
	} cases[] = {
		{"e 100 -7 a1f4 2", 14, NULL, "100 -7 a1f4 2"},
		{"ffffffffffffffffff 1", KFD_UNKNOWN, NULL, "ffffffffffffffffff 1"},
		{"", KFD_UNKNOWN, NULL, ""},
		{"9", KFD_UNKNOWN, NULL, "9"},
		{"9 ", 9, "queue-eviction", ""},
		{" 9 100 -7 a1f4 2", KFD_UNKNOWN, NULL, " 9 100 -7 a1f4 2"},
		{"9 100 -7 a1f4", 9, "queue-eviction", "100 -7 a1f4"},
		{"9 100 -7 a1f4 2 ", 9, "queue-eviction", "100 -7 a1f4 2 "},
		{"9 100 7 a1f4 2", 9, "queue-eviction", "100 7 a1f4 2"},
		{"9 99999999999999999999 -7 a1f4 2", 9, "queue-eviction",
		 "99999999999999999999 -7 a1f4 2"},
		{"9 -1 -7 a1f4 2", 9, "queue-eviction", "-1 -7 a1f4 2"},
		{"9 100 -7 A1F4 2", 9, "queue-eviction", "100 -7 A1F4 2"},
		{"7 100 -7 @1(2) WR", 7, "page-fault-start", "100 -7 @1(2) WR"},
		{"6 1 -7 @1(2) 0->1 3 --1", 6, "migrate-end", "1 -7 @1(2) 0->1 3 --1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct kfd_smi_event e = parsed(cases[i].line);
		assert_false(e.readable);
		assert_int_equal(e.number, cases[i].number);
		assert_true(cases[i].name ? e.name && strcmp(e.name, cases[i].name) == 0 : !e.name);
		TEXT_IS(e, cases[i].text);
		assert_true(e.pid == KFD_UNKNOWN && e.boot_ns == KFD_UNKNOWN &&
			    e.gpu_id == KFD_UNKNOWN && e.error == INT64_MIN && !e.mark);
	}
}

// Numbers at their limits: KFD_UNKNOWN (all bits) is none, an errno has 31 bits.
static void test_limits(void **state)
{
	static const struct {
		const char *line;
		bool readable;
		uint64_t bits;
		int64_t error;
	} cases[] = {
		{"2 fffffffffffffffe:1", true, UINT64_MAX - 1, INT64_MIN},
		{"2 ffffffffffffffff:1", false, KFD_UNKNOWN, INT64_MIN},
		{"2 10000000000000000:1", false, KFD_UNKNOWN, INT64_MIN},
		{"2 a:1", true, 10, INT64_MIN},
		{"2 f:1", true, 15, INT64_MIN},
		{"2 A:1", false, KFD_UNKNOWN, INT64_MIN},
		{"2 F:1", false, KFD_UNKNOWN, INT64_MIN},
		{"2 :1", false, KFD_UNKNOWN, INT64_MIN},
		{"2 1:", false, KFD_UNKNOWN, INT64_MIN},
		{"6 1 -7 @1(2) 0->1 3 2147483647", true, KFD_UNKNOWN, 2147483647},
		{"6 1 -7 @1(2) 0->1 3 2147483648", false, KFD_UNKNOWN, INT64_MIN},
		{"6 1 -7 @1(2) 0->1 3 -2147483647", true, KFD_UNKNOWN, -2147483647},
		{"6 1 -7 @1(2) 0->1 3 -2147483648", false, KFD_UNKNOWN, INT64_MIN},
		{"6 1 -7 @1(2) 0->1 3 -", false, KFD_UNKNOWN, INT64_MIN},
		{"6 1 -7 @1(2) 0->1 3 ", true, KFD_UNKNOWN, INT64_MIN},
		{"6 18446744073709551614 -7 @1(2) 0->1 3", true, KFD_UNKNOWN, INT64_MIN},
		{"6 18446744073709551615 -7 @1(2) 0->1 3", false, KFD_UNKNOWN, INT64_MIN},
		{"8 1 -7 @1(2) ", false, KFD_UNKNOWN, INT64_MIN},
		{"0 a0f7 x", false, KFD_UNKNOWN, INT64_MIN},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct kfd_smi_event e = parsed(cases[i].line);
		if (e.readable != cases[i].readable || e.bits != cases[i].bits ||
		    e.error != cases[i].error)
			fail_msg("%s", cases[i].line);
	}
	assert_int_equal(parsed("0 1").number, 0);
	assert_null(parsed("0 1").name);
	// Only one NUL is the driver's, and a cause or name has none.
	struct kfd_smi_event e;
	kfd_smi_parse(&e, "3 2 x\0", 6);
	assert_true(e.readable);
	TEXT_IS(e, "x");
	kfd_smi_parse(&e, "9 1 -7 a 2\0\0", 12);
	assert_false(e.readable);
}

// Names of [kfd.smi-formats], each by its number, and the number behind the last.
static void test_triggers(void **state)
{
	static const struct {
		const char *head, *names[7];
	} cases[] = {
		{"5 1 -7 @1(2) 0->1 0:0 ", {"prefetch", "gpu-fault", "cpu-fault", "ttm"}},
		{"6 1 -7 @1(2) 0->1 ", {"prefetch", "gpu-fault", "cpu-fault", "ttm"}},
		{"9 1 -7 1 ",
		 {"svm", "userptr", "ttm", "suspend", "criu-checkpoint", "criu-restore"}},
		{"b 1 -7 @1(2) 1 ", {"mmu-notify", "mmu-notify-migrate", "cpu-unmap"}},
		{"2 1:", {NULL}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n = 0; n < COUNT(cases[i].names); n++) {
			char line[64];
			snprintf(line, sizeof(line), "%s%u", cases[i].head, n);
			struct kfd_smi_event e = parsed(line);
			const char *got = kfd_smi_trigger(&e), *want = cases[i].names[n];
			assert_true(e.readable);
			if (want ? !got || strcmp(got, want) != 0 : got != NULL)
				fail_msg("%s: %s", line, got ? got : "(null)");
		}
}

struct seen {
	char text[512];
	uint64_t name_of;
	unsigned lines;
};

static void note(void *arg, const struct kfd_smi_event *e)
{
	struct seen *s = arg;
	const size_t n = strlen(s->text);
	s->lines++;
	s->name_of = e->name_of;
	snprintf(s->text + n, sizeof(s->text) - n, "%d:%.*s%s;", (int)e->number, (int)e->text_len,
		 e->text, e->name_of == KFD_UNKNOWN ? "" : "?");
}

static void feed(struct kfd_smi_text *t, struct seen *s, const char *text)
{
	*s = (struct seen){0};
	memcpy(t->data + t->len, text, strlen(text));
	t->len += strlen(text);
	kfd_smi_take(t, note, s);
}

static void test_lines(void **state)
{
	struct kfd_smi_text *t = calloc(1, sizeof(*t));
	struct seen s = {0};
	char lots[601];
	(void)state;
	feed(t, &s, "3 1 a\n3 2 b\n3 3");
	assert_string_equal(s.text, "3:a;3:b;");
	feed(t, &s, " c\n");
	assert_string_equal(s.text, "3:c;");
	assert_int_equal(t->len, 0);
	feed(t, &s, "\n");
	assert_string_equal(s.text, "-1:;");
	// What never ends is no message.
	memset(lots, 'x', 600);
	lots[600] = 0;
	feed(t, &s, lots);
	assert_int_equal(t->len, 0);
	assert_int_equal(strlen(s.text), 511); // cut by note()
	// 512 bytes may still be the beginning of a message.
	lots[512] = 0;
	feed(t, &s, lots);
	assert_int_equal(s.lines, 0);
	assert_int_equal(t->len, 512);
	feed(t, &s, "x3 9 d\n");
	assert_int_equal(s.lines, 1);
	assert_int_equal(t->len, 0);
	feed(t, &s, lots);
	feed(t, &s, "x");
	assert_int_equal(s.lines, 1);
	assert_int_equal(t->len, 0);
	free(t);
}

// A name has 15 bytes, and may have newlines: what follows one is in doubt as long as it fits.
static void test_names_with_newlines(void **state)
{
	struct kfd_smi_text *t = calloc(1, sizeof(*t));
	struct seen s = {0};
	(void)state;
	feed(t, &s, "c 1f a\n3 1 x\n3 2 y\n"); // a\n3 1 x\n3 2 y: 13 bytes
	assert_string_equal(s.text, "12:a;3:x?;3:y?;");
	assert_int_equal(s.name_of, 0x1f);
	feed(t, &s, "c 1f abc\n3 1 xyz\n3 2 yz\n"); // 3+1+7, 3+1+7+1+6 = 18
	assert_string_equal(s.text, "12:abc;3:xyz?;3:yz;");
	feed(t, &s, "c 1f abcd\n3 1 abcdef\n"); // 15
	assert_string_equal(s.text, "12:abcd;3:abcdef?;");
	feed(t, &s, "c 1f abcde\n3 1 abcdef\n"); // 16
	assert_string_equal(s.text, "12:abcde;3:abcdef;");
	feed(t, &s, "c 1f python3\nd 1f2 python3\n");
	assert_string_equal(s.text, "12:python3;13:python3;");
	feed(t, &s, "3 1 a\n3 2 b\n"); // the cause of a reset is the kernel's
	assert_string_equal(s.text, "3:a;3:b;");
	free(t);
}

// 1 KiB or 8 KiB, less a message of 96 bytes [kfd.smi].
static void test_full(void **state)
{
	static const struct {
		size_t n;
		bool small, unknown, large;
	} cases[] = {{1, false, false, false},    {928, false, false, false},
		     {929, true, true, false},    {1024, true, true, false},
		     {1025, false, false, false}, {8096, false, false, false},
		     {8097, false, true, true},   {8192, false, true, true}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(kfd_smi_was_full(cases[i].n, KFD_ANSWER_NO), cases[i].small);
		assert_int_equal(kfd_smi_was_full(cases[i].n, KFD_ANSWER_UNKNOWN),
				 cases[i].unknown);
		assert_int_equal(kfd_smi_was_full(cases[i].n, KFD_ANSWER_YES), cases[i].large);
	}
}

// Two containers with a process 31, and one of the host that is 31 there [kfd.smi-pids].
static void test_whose(void **state)
{
	static const struct kfd_smi_process list[] = {{100, 31},  {200, 31}, {31, 31}, {300, 7},
						      {400, 400}, {500, -1}, {7, 7}};
	static const struct kfd_smi_process hidden[] = {{100, 5}, {200, 0}};
	const size_t n = COUNT(list);
	(void)state;
	// 6.12: the host's numbers
	assert_int_equal(kfd_smi_find(list, n, 31, KFD_ANSWER_NO), 2);
	assert_int_equal(kfd_smi_find(list, n, 200, KFD_ANSWER_NO), 1);
	assert_int_equal(kfd_smi_find(list, n, 5, KFD_ANSWER_NO), -1);
	// 7.3: their own
	assert_int_equal(kfd_smi_find(list, n, 31, KFD_ANSWER_YES), -1);
	assert_int_equal(kfd_smi_find(list, n, 400, KFD_ANSWER_YES), 4);
	assert_int_equal(kfd_smi_find(list, n, 200, KFD_ANSWER_YES), -1);
	assert_int_equal(kfd_smi_find(list, 4, 7, KFD_ANSWER_YES), 3);
	// Not known which: both count.
	assert_int_equal(kfd_smi_find(list, n, 7, KFD_ANSWER_UNKNOWN), -1);
	assert_int_equal(kfd_smi_find(list, n, 200, KFD_ANSWER_UNKNOWN), 1);
	assert_int_equal(kfd_smi_find(list, n, 0, KFD_ANSWER_UNKNOWN), -1);
	// One whose number cannot be read may be it.
	assert_int_equal(kfd_smi_find(hidden, 2, 5, KFD_ANSWER_YES), -1);
	assert_int_equal(kfd_smi_find(hidden, 2, 6, KFD_ANSWER_YES), 1);
	assert_int_equal(kfd_smi_find(hidden, 1, 5, KFD_ANSWER_YES), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_not_understood),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_triggers),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_names_with_newlines),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_whose),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
