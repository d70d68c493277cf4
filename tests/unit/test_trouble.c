// Verdicts about queues, common/why/verdict.c and words.c: what the kernel's log and the interrupts
// of a GPU say of a queue that stands, or is off; and how bad that is.
#include "tests/unit/why_rig.h"

enum { KERNEL_AT = 32 };

static void kernel(unsigned q, uint64_t index, uint8_t object, uint64_t completion)
{
	dispatch(q, index, completion);
	my.memory[RING * (q + 1) + index % 64 * 64 + KERNEL_AT] = object;
}

#define LOG(us, text) "3,1," us ",-;amdgpu 0000:c0:00.0: amdgpu: " text "\n"

// What the kernel's log has about the GPU since the process began, 10 s after the boot.
static void test_log(void **state)
{
	const uint64_t tick = (uint64_t)sysconf(_SC_CLK_TCK);
	(void)state;
	my.rows[0].gpu.bdf = my.rows[1].gpu.bdf = "0000:c0:00.0";
	my.ticks = 10 * tick;
	my.log = LOG("9999999", "GPU reset begin!");
	kernel(1, 5, 0, 0);
	indices(1, 5, 6);
	assert_verdict(0, "idle: ");
	assert_int_equal(my.logs_read, 1); // queue 1 may be hung
	indices(1, 5, 5);
	assert_verdict(0, "idle: ");
	assert_int_equal(my.logs_read, 1);
	my.rows[0].on_hw = my.rows[1].on_hw = my.rows[2].on_hw = 0;
	my.tracer = 88;
	assert_verdict(0,
		       "suspended-or-evicted: by gdb, process 88, or evicted by the driver: these "
		       "look the same");
	my.log = LOG("10000000", "qcm fence wait loop timeout expired");
	assert_verdict(
		0, "lost: the GPU did not let it go: [   10.000000] qcm fence wait loop timeout "
		   "expired: the HWS did not take queues off in time");
	assert_int_equal(strncmp(my.why.v[0].remedy, "gpq hang keeps", 14), 0);
	assert_true(my.why.v[0].stuck);
	my.log = LOG("10000000", "qcm fence wait loop timeout expired")
		LOG("12000345", "GPU reset begin!");
	assert_verdict(0, "reset: its GPU was reset: [   12.000345] GPU reset begin!");
	my.log = LOG("12000345", "GPU reset begin!")
		LOG("12000999", "Failed to evict process queues");
	assert_verdict(0, "reset: its GPU was reset: [   12.000345] GPU reset begin!");
	assert_true(my.why.v[0].stuck);
	my.log = LOG("9999999", "GPU reset begin!")
		LOG("10000001", "Failed to evict process queues"); // of those before the process
	assert_verdict(0,
		       "suspended-or-evicted: by gdb, process 88, or evicted by the driver: these "
		       "look the same");
	my.log = LOG("12000345", "GPU reset begin!");
	my.ticks = 0;
	assert_verdict(0,
		       "suspended-or-evicted: by gdb, process 88, or evicted by the driver: these "
		       "look the same");
	my.ticks = 10 * tick;
	my.rows[0].gpu.bdf = "0000:c1:00.0";
	assert_verdict(0,
		       "suspended-or-evicted: by gdb, process 88, or evicted by the driver: these "
		       "look the same");
	my.rows[0].gpu.bdf = "0000:c0:00.0";
	my.rows[0].on_hw = my.rows[1].on_hw = my.rows[2].on_hw = 1;
	my.log = LOG("11000000", "page fault (src_id:0 ring:24)");
	kernel(0, 5, 0, 0);
	indices(0, 5, 6);
	assert_verdict(
		0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not ended in "
		   "250ms; the kernel's log has [   11.000000] page fault (src_id:0 ring:24)");
	my.rows[0].now.holder = 77; // who holds it is known
	my.rows[0].on_hw = 0;
	my.log = LOG("11000000", "GPU reset begin!");
	assert_verdict(0, "suspended: by gdb, process 77");
}

// What drivers log without saying of whom is evidence of a verdict only where there is one GPU.
static void test_vague_log(void **state)
{
	(void)state;
	my.rows[0].gpu.bdf = "0000:c0:00.0";
	my.ticks = 1;
	my.log = "3,1,11000000,-;amdgpu: qcm fence wait loop timeout expired\n";
	my.rings.from.rows.gpus.n = 2;
	kernel(0, 5, 0, 0);
	indices(0, 5, 6);
	assert_verdict(
		0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not ended in "
		   "250ms; the kernel's log has [   11.000000] qcm fence wait loop timeout "
		   "expired, which does not say of whom: the HWS did not take queues off in time");
	assert_int_equal(strncmp(my.why.v[0].remedy, "gpq why -p 40", 13), 0);
	my.rings.from.rows.gpus.n = 1;
	assert_verdict(
		0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not ended in "
		   "250ms; the kernel's log has [   11.000000] qcm fence wait loop timeout "
		   "expired: the HWS did not take queues off in time");
	assert_int_equal(strncmp(my.why.v[0].remedy, "gpq hang keeps", 14), 0);
	assert_false(my.why.v[0].stuck);
	my.rows[0].on_hw = my.rows[1].on_hw = my.rows[2].on_hw = 0;
	assert_verdict(
		0, "lost: the GPU did not let it go: [   11.000000] qcm fence wait loop timeout "
		   "expired: the HWS did not take queues off in time");
	my.rings.from.rows.gpus.n = 2;
	my.comm = NULL;
	assert_verdict(0, "suspended-or-evicted: by a debugger that does not trace it, or evicted "
			  "by the driver: these look the same");
	my.log = "4,1,11000000,-;amdgpu: Freeing queue vital buffer 0x7f00, queue evicted\n";
	assert_verdict(0,
		       "suspended-or-evicted: by a debugger that does not trace it, or evicted "
		       "by the driver: these look the same; the kernel's log has [   11.000000] "
		       "Freeing queue vital buffer 0x7f00, queue evicted, which does not say "
		       "of whom: a process freed memory that its queues need, and they stay off");
}

// A queue that stands on a GPU whose reset failed is lost, until a later reset succeeds. A log of
// the caller's is asked instead of the host's.
static void test_dead_log(void **state)
{
	static const char dead[] =
		"3,1,11000000,-;amdgpu 0000:c0:00.0: amdgpu: GPU reset begin!\n"
		"3,1,11000001,-;amdgpu 0000:c0:00.0: amdgpu: GPU reset(1) failed\n";
	struct klog log;
	(void)state;
	my.rows[0].gpu.bdf = my.rows[1].gpu.bdf = "0000:c0:00.0";
	my.ticks = 1;
	my.log = "";
	kernel(0, 5, 0, 0);
	indices(0, 5, 6);
	klog_parse(&log, dead, strlen(dead));
	my.how.log = &log;
	assert_verdict(0, "lost: the GPU did not let it go: [   11.000001] GPU reset(1) failed: "
			  "the reset failed: the GPU is of no use until the host is started anew");
	assert_true(my.why.v[0].stuck);
	assert_int_equal(my.logs_read, 0);
	assert_string_equal(my.why.v[0].remedy, "gpq hang keeps the evidence; then reboot");
	assert_verdict(1, "idle: ");
	klog_fini(&log);
	klog_parse(&log, "", 0);
	assert_verdict(0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not "
			  "ended in 250ms");
	my.how.log = NULL;
	klog_fini(&log);
}

// Interrupts of the GPU of queue 0: none between the looks, and none since an earlier look.
static void test_interrupts(void **state)
{
	struct why_heads heads = {0};
	(void)state;
	my.rows[0].gpu.bdf = "0000:c0:00.0";
	kernel(0, 5, 0, 0);
	indices(0, 5, 6);
	my.irqs[0] = my.irqs[1] = 7;
	static const char quiet[] = "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and "
				    "has not ended in 250ms; no interrupt of this GPU in 250ms";
	assert_verdict(0, quiet);
	my.irqs[1] = 8;
	assert_verdict(0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not "
			  "ended in 250ms");
	my.irqs[0] = my.irqs[1] = UINT64_MAX;
	assert_verdict(0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not "
			  "ended in 250ms");
	my.how.heads = &heads;
	my.irqs[0] = 7;
	my.irqs[1] = 8;
	verdict(0);
	my.irqs[0] = 8;
	verdict(0);
	assert_verdict(0, "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not "
			  "ended in 750ms; no interrupt of this GPU in 500ms");
	my.how.heads = NULL;
	why_heads_fini(&heads);
}

// How bad each state is, and for which there is something to do.
static void test_ranks(void **state)
{
	static const struct {
		const char *word;
		unsigned rank;
	} ranks[WHY_STATES] = {{"deadlock", 0},
			       {"not-published", 0},
			       {"doorbell-lost", 0},
			       {"error", 0},
			       {"reset", 0},
			       {"lost", 0},
			       {"hung-or-long", 1},
			       {"suspended-or-reset", 1},
			       {"waits-barrier", 2},
			       {"waits-external", 2},
			       {"waits-slot", 2},
			       {"behind", 2},
			       {"stopped", 2},
			       {"unknown", 3},
			       {"suspended", 3},
			       {"evicted", 3},
			       {"suspended-or-evicted", 3},
			       {"running", 4},
			       {"idle-or-running", 4},
			       {"idle", 5}};
	(void)state;
	for (enum why_state s = WHY_UNKNOWN; s < WHY_STATES; s++) {
		unsigned i = 0;
		while (strcmp(ranks[i].word, why_state_word(s)) != 0)
			assert_true(++i < WHY_STATES);
		assert_int_equal(why_rank(s), ranks[i].rank);
		// What runs, ends or is just waited for needs nobody.
		assert_int_equal(why_remedy(s) != NULL,
				 ranks[i].rank < 4 && s != WHY_WAITS_BARRIER);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {TEST(test_log), TEST(test_vague_log),
						  TEST(test_dead_log), TEST(test_interrupts),
						  TEST(test_ranks)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
