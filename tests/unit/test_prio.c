// Priorities of queues: what a dump tells of them, and what --prio chooses. Expected:
// [kfd.priority].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cli/err.h"
#include "common/rows/queue_rows.h"

static const struct kfd_driver linux_612 = {.major = 6, .minor = 12},
			       linux_73 = {.major = 7, .minor = 3}, nothing_known = {0};

// MQDs of two compute queues with these levels (dword 133) and priorities (134).
static enum kfd_answer3 written(unsigned level1, unsigned prio1, unsigned level2, unsigned prio2,
				const struct kfd_driver *d)
{
	char text[1024];
	struct mqds m;
	enum kfd_answer3 answer;
	snprintf(text, sizeof(text),
		 "Process 7 PASID 7:\n"
		 "  Compute queue on device a1f4\n"
		 "    00000200: 013ae000 00000000 00000001 00000808 40005301 %08x %08x 00000111\n"
		 "  Compute queue on device a1f4\n"
		 "    00000200: 013c2000 00000000 00000001 00000808 40005301 %08x %08x 00000111\n"
		 "  SDMA queue on device a1f4\n"
		 "    00000200: 00000000 00000000 00000000 00000000 00000000 00000001 00000000 "
		 "00000000\n",
		 level1, prio1, level2, prio2);
	m = (struct mqds){0};
	mqds_parse(&m, text, strlen(text));
	assert_int_equal(m.nqueues, 3);
	answer = prio_written(&m, d);
	mqds_fini(&m);
	return answer;
}

static void test_written(void **state)
{
	(void)state;
	// The dump tells, whatever the release is said to be.
	assert_int_equal(written(1, 7, 0, 0, &linux_73), KFD_ANSWER_YES);
	assert_int_equal(written(0, 3, 0, 0, NULL), KFD_ANSWER_YES);
	assert_int_equal(written(1, 0, 0, 0, &linux_612), KFD_ANSWER_NO);
	assert_int_equal(written(0, 0, 2, 0, NULL), KFD_ANSWER_NO);
	// It does not: two queues of level low without a number, or contradictory ones.
	assert_int_equal(written(0, 0, 0, 0, &linux_612), KFD_ANSWER_YES);
	assert_int_equal(written(0, 0, 0, 0, &linux_73), KFD_ANSWER_NO);
	assert_int_equal(written(0, 0, 0, 0, &nothing_known), KFD_ANSWER_UNKNOWN);
	assert_int_equal(written(0, 0, 0, 0, NULL), KFD_ANSWER_UNKNOWN);
	assert_int_equal(written(2, 0, 1, 9, NULL), KFD_ANSWER_UNKNOWN);
	assert_int_equal(written(2, 0, 1, 9, &linux_73), KFD_ANSWER_NO);
}

// The same in slots; the second one is not in use.
static enum kfd_answer3 in_slots(unsigned level, unsigned prio)
{
	char text[1024];
	struct hqds h;
	enum kfd_answer3 answer;
	snprintf(text, sizeof(text),
		 "Node 1, gpu_id a1f4:\n"
		 " Inst 0,  CP Pipe 0, Queue 2\n"
		 "    0000c914: 013ae000 00000000 00000001 00000808 40005301 %08x %08x 00000111\n"
		 " Inst 0,  CP Pipe 1, Queue 2\n"
		 "    0000c914: 00000000 00000000 00000000 00000000 00005301 00000001 00000000 "
		 "00000111\n",
		 level, prio);
	h = (struct hqds){0};
	hqds_parse(&h, text, strlen(text));
	assert_int_equal(h.nslots, 2);
	answer = prio_written_slots(&h);
	hqds_fini(&h);
	return answer;
}

static void test_written_slots(void **state)
{
	(void)state;
	assert_int_equal(in_slots(1, 7), KFD_ANSWER_YES);
	assert_int_equal(in_slots(1, 0), KFD_ANSWER_NO);
	assert_int_equal(in_slots(0, 0), KFD_ANSWER_UNKNOWN);
}

static void test_levels(void **state)
{
	(void)state;
	assert_string_equal(prio_level_name(0), "low");
	assert_string_equal(prio_level_name(1), "medium");
	assert_string_equal(prio_level_name(2), "high");
	assert_null(prio_level_name(3));
	assert_null(prio_level_name(UINT64_MAX));
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint16_t prios; // 0: refused
	} cases[] = {
		{"low", 0x007f}, {"medium", 0x0780}, {"high", 0xf800}, {"high,low", 0xf87f},
		{"8", 0xff00},   {"0:7", 0x00ff},    {"0:15", 0xffff}, {"15", 0x8000},
		{"3:3", 0x0008}, {NULL, 0xffff},     {"", 0},          {"9:3", 0},
		{"0:16", 0},     {"16", 0},          {"lo", 0},        {"low,", 0},
		{",low", 0},     {"low,8", 0},       {"low:high", 0},  {":7", 0},
		{"0:", 0},       {"-1", 0},          {"LOW", 0},       {"0:7:9", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct prio_choice c;
		int status = prio_parse(&c, cases[i].text);
		assert_int_equal(status, cases[i].prios ? GPQ_OK : GPQ_USAGE);
		if (cases[i].prios)
			assert_int_equal(c.prios, cases[i].prios);
	}
}

static void test_check(void **state)
{
	static const struct {
		const char *text;
		bool whole;
	} cases[] = {
		{"low", true},  {"medium,high", true}, {"0:6", true},  {"7:10", true},
		{"11", true},   {"0:10", true},        {"7", true},    {"0", true},
		{"0:3", false}, {"8:15", false},       {"0:7", false}, {"12", false},
		{"7:9", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int otherwise = cases[i].whole ? GPQ_OK : GPQ_UNSUPPORTED;
		struct prio_choice c;
		assert_int_equal(prio_parse(&c, cases[i].text), GPQ_OK);
		assert_int_equal(prio_check(&c, KFD_ANSWER_YES), GPQ_OK);
		assert_int_equal(prio_check(&c, KFD_ANSWER_NO), otherwise);
		assert_int_equal(prio_check(&c, KFD_ANSWER_UNKNOWN), otherwise);
	}
}

static void test_fits(void **state)
{
	const uint64_t unknown = UINT64_MAX;
	static const struct {
		const char *text;
		uint64_t prio, level;
		enum kfd_answer3 fits;
	} cases[] = {
		{"0:3", 3, 0, KFD_ANSWER_YES},
		{"0:3", 4, 0, KFD_ANSWER_NO},
		{"0:3", UINT64_MAX, 0, KFD_ANSWER_UNKNOWN},
		{"0:3", UINT64_MAX, 1, KFD_ANSWER_NO},
		{"8:15", UINT64_MAX, 2, KFD_ANSWER_YES},
		{"8:15", UINT64_MAX, 1, KFD_ANSWER_UNKNOWN},
		{"8:15", UINT64_MAX, 0, KFD_ANSWER_NO},
		{"high", UINT64_MAX, 2, KFD_ANSWER_YES},
		{"high", 11, 2, KFD_ANSWER_YES},
		{"high", 10, 1, KFD_ANSWER_NO},
		{"0:6", UINT64_MAX, 0, KFD_ANSWER_YES},
		{"low", UINT64_MAX, UINT64_MAX, KFD_ANSWER_UNKNOWN},
		{"low", UINT64_MAX, 3, KFD_ANSWER_UNKNOWN},
	};
	struct prio_choice all;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct prio_choice c;
		assert_int_equal(prio_parse(&c, cases[i].text), GPQ_OK);
		assert_int_equal(prio_fits(&c, cases[i].prio, cases[i].level), cases[i].fits);
	}
	assert_int_equal(prio_parse(&all, NULL), GPQ_OK);
	assert_int_equal(prio_fits(&all, unknown, unknown), KFD_ANSWER_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written), cmocka_unit_test(test_written_slots),
		cmocka_unit_test(test_levels),  cmocka_unit_test(test_parse),
		cmocka_unit_test(test_check),   cmocka_unit_test(test_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
