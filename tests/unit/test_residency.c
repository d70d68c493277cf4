// On hardware or off: each combination of what the runlist and dword 130 say [debugfs.off].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/rows/queue_rows.h"

static const struct kfd_topology no_gpus;

// One compute queue of the gfx generation asked for, doorbell 0x4008, on GPU a1f4; beside it
// another one, doorbell 0x4010. `first` and `second` are their dwords 130.
static enum residency judge(enum gfx_gen gen, unsigned first, unsigned second, const char *runlist)
{
	char text[2048];
	struct mqds m;
	struct rls r;
	const enum gfx_gen gens[2] = {gen, gen};
	uint8_t verdicts[2];
	snprintf(text, sizeof(text),
		 "Process 7 PASID 0x1:\n"
		 "  Compute queue on device a1f4\n"
		 "    00000000: c0310800\n    000001e0: 00000000\n"
		 "    00000200: 013ae000 00000000 %08x 00000808 40005301 00000001 00000007 "
		 "00000111\n"
		 "    00000220: 2a402000 0000007f 0000d1b0 5d0b2080 00007f2a 5d0b2038 00007f2a "
		 "6000400a\n"
		 "  Compute queue on device a1f4\n"
		 "    00000000: c0310800\n    000001e0: 00000000\n"
		 "    00000200: 013c2000 00000000 %08x 00000808 40005301 00000001 00000007 "
		 "00000111\n"
		 "    00000220: 2a400000 0000007f 0000d1b0 5d0b2080 00007f2a 5d0b2038 00007f2a "
		 "60004012\n",
		 first, second);
	m = (struct mqds){0};
	r = (struct rls){0};
	mqds_parse(&m, text, strlen(text));
	assert_int_equal(m.nqueues, 2);
	rls_parse(&r, runlist, strlen(runlist));
	residency_judge(verdicts, &m, gens, &r, &no_gpus);
	rls_fini(&r);
	mqds_fini(&m);
	return (enum residency)verdicts[0];
}

#define NODE          "Node 1, gpu_id a1f4:\n"
#define MAP(doorbell) "c005a200 20000010 " doorbell " 013ae000 00000000 5d0b2038 00007f2a"
static const char without[] = "";
static const char none[] = NODE "  No active runlist\n";
static const char listed[] = NODE "  00000000: " MAP("00004008") "\n";
static const char other[] = NODE "  00000000: " MAP("00004010") "\n";
static const char turns[] =
	NODE "  00000000: " MAP("00004008") " c002a500\n  00000020: 00001000 00000000 00800010\n";
static const char torn[] = NODE "  00000000: c005a200 20000010\n";
static const char elsewhere[] = "Node 1, gpu_id beef:\n  00000000: " MAP("00004010") "\n";

static void runlist_decides(void **state)
{
	(void)state;
	assert_int_equal(judge(GFX9, 0, 0, listed),
			 RESIDENCY_ON); // firmware that never writes dword 130
	assert_int_equal(judge(GFX9, 1, 1, listed), RESIDENCY_ON);
	assert_int_equal(judge(GFX9, 0, 0, other), RESIDENCY_OFF);
	assert_int_equal(judge(GFX9, 0, 1, other), RESIDENCY_OFF);
	assert_int_equal(judge(GFX9, 1, 1, other), RESIDENCY_CONTRADICT);
}

static void turns_are_open(void **state)
{
	(void)state;
	assert_int_equal(judge(GFX9, 0, 0, turns), RESIDENCY_TURNS);
	// Written on this GPU; but the next moment it is its turn.
	assert_int_equal(judge(GFX9, 0, 1, turns), RESIDENCY_TURNS);
	assert_int_equal(judge(GFX940, 0, 0, turns), RESIDENCY_TURNS);
	assert_int_equal(judge(GFX9, 1, 0, turns), RESIDENCY_ON);
}

static void without_a_runlist(void **state)
{
	(void)state;
	const char *const texts[] = {without, torn, elsewhere};

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(judge(GFX9, 1, 0, texts[i]), RESIDENCY_ON);
		assert_int_equal(judge(GFX9, 0, 1, texts[i]), RESIDENCY_OFF);
		assert_int_equal(judge(GFX9, 0, 0, texts[i]), RESIDENCY_SILENT);
		assert_int_equal(judge(GFX940, 0, 0, texts[i]),
				 RESIDENCY_OFF); // its firmware is known to write it
	}
	assert_int_equal(judge(GFX_UNKNOWN, 1, 1, without), RESIDENCY_UNKNOWN);
}

// Dword 130 on two XCCs: a PM4 queue runs on one of them, an AQL queue on both or on none.
static enum residency judge_xccs(unsigned first, unsigned second, unsigned aql)
{
	static const char rows[] = "    00000000: c0310800\n"
				   "    00000200: 013ae000 00000000 %08x 00000808 40005301 "
				   "00000001 00000007 00000111\n"
				   "    000002c0: 00000000 00000000 00000000 00000000 00000000 "
				   "%08x 00000000 00000000\n";
	const enum gfx_gen gen = GFX940;
	struct mqds m = {0};
	struct rls r = {0};
	char text[1024];
	uint8_t verdict;
	int n = sprintf(text, "Process 7 PASID 0x1:\n  Compute queue on device a1f4\n");
	n += sprintf(text + n, rows, first, aql);
	sprintf(text + n, rows, second, aql);
	mqds_parse(&m, text, strlen(text));
	assert_int_equal(m.queues[0].dumps, 2);
	residency_judge(&verdict, &m, &gen, &r, &no_gpus);
	mqds_fini(&m);
	return (enum residency)verdict;
}

static void several_xccs(void **state)
{
	(void)state;
	assert_int_equal(judge_xccs(1, 0, 0), RESIDENCY_ON);
	assert_int_equal(judge_xccs(0, 1, 0), RESIDENCY_ON);
	assert_int_equal(judge_xccs(0, 0, 0), RESIDENCY_OFF);
	assert_int_equal(judge_xccs(1, 1, 1), RESIDENCY_ON);
	assert_int_equal(judge_xccs(1, 0, 1), RESIDENCY_UNKNOWN);
	assert_int_equal(judge_xccs(0, 0, 1), RESIDENCY_OFF);
}

// "No active runlist": nothing is mapped on GPUs that have runlists, and says nothing on those that
// never do.
static void no_active_runlist(void **state)
{
	(void)state;
	assert_int_equal(judge(GFX9, 0, 0, none), RESIDENCY_OFF);
	assert_int_equal(judge(GFX10, 0, 0, none), RESIDENCY_OFF);
	assert_int_equal(judge(GFX9, 1, 0, none), RESIDENCY_ON); // set while the list was read
	assert_int_equal(judge(GFX11, 0, 0, none), RESIDENCY_SILENT);
	assert_int_equal(judge(GFX11, 0, 1, none), RESIDENCY_OFF);
	assert_int_equal(judge(GFX12, 1, 0, none), RESIDENCY_ON);
	for (int o = RESIDENCY_UNKNOWN; o <= RESIDENCY_CONTRADICT; o++)
		assert_non_null(residency_text((enum residency)o));
	assert_null(residency_text(RESIDENCY_ON));
}

// `n` processes with a compute queue each, the first one's dword 130 is 0. No runlist; a GPU with
// this many slots.
static enum residency judge_many(enum gfx_gen gen, unsigned n, uint64_t slots)
{
	char text[8192] = "";
	enum gfx_gen gens[16];
	struct kfd_gpu gpu = {.gpu_id = 0xa1f4, .cp_queues = slots};
	const struct kfd_topology gpus = {.gpus = &gpu, .n = 1};
	struct mqds m;
	struct rls r;
	uint8_t verdicts[16];
	assert_in_range(n, 1, 16);
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(text);
		gens[i] = gen;
		snprintf(text + len, sizeof(text) - len,
			 "Process %u PASID %u:\n"
			 "  Compute queue on device a1f4\n"
			 "    00000200: %08x 00000000 %08x 00000808 40005301 00000001 00000007 "
			 "00000111\n",
			 i + 7, i + 7, 0x013ae000 + i * 4096, i > 0);
	}
	m = (struct mqds){0};
	r = (struct rls){0};
	mqds_parse(&m, text, strlen(text));
	residency_judge(verdicts, &m, gens, &r, &gpus);
	mqds_fini(&m);
	return (enum residency)verdicts[0];
}

// Off, or its turn has passed: as long as the GPU can run all at a time it is off.
static void turns_without_a_runlist(void **state)
{
	(void)state;
	assert_int_equal(judge_many(GFX11, 8, 24), RESIDENCY_OFF);
	assert_int_equal(judge_many(GFX11, 9, 24), RESIDENCY_MAY_TURN); // VMIDs 8 to 15 are KFD's
	assert_int_equal(judge_many(GFX940, 9, 24), RESIDENCY_MAY_TURN);
	assert_int_equal(judge_many(GFX11, 4, 4), RESIDENCY_OFF);
	assert_int_equal(judge_many(GFX11, 5, 4), RESIDENCY_MAY_TURN);
	assert_int_equal(judge_many(GFX11, 8, KFD_UNKNOWN), RESIDENCY_OFF);
	assert_int_equal(judge_many(GFX11, 1, 24), RESIDENCY_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runlist_decides),         cmocka_unit_test(turns_are_open),
		cmocka_unit_test(without_a_runlist),       cmocka_unit_test(no_active_runlist),
		cmocka_unit_test(turns_without_a_runlist), cmocka_unit_test(several_xccs),
	};
	return cmocka_run_group_tests_name("on hardware", tests, NULL, NULL);
}
