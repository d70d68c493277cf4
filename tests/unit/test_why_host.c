// What a process and its host tell of queues, common/why: when a kernel began, and where threads of
// the host wait.
#include "tests/unit/why_rig.h"

#define HUNG "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not ended in 250ms"
#define RUNS                                                                                \
	"hung-or-long: kernel 0x500 (packet 4) was taken, and has not ended in 250ms: its " \
	"signal 0x9040 is 1"
#define REUSED                                                                             \
	"idle-or-running: all packets are taken; the signal of the last kernel cannot be " \
	"read, or is another packet's by now"
#define LONG_AGO                                                                            \
	"hung-or-long: kernel 0x500 (packet 4) was taken, and has not ended in 3m12s: its " \
	"signal 0x9040 is 1"

// A kernel began long before the looks, as its signal has it.
static void test_began(void **state)
{
	struct kfd_gpu gpu = {.gpu_id = 7, .render_minor = 130};
	const uint64_t one = signal_of(1, 1);
	(void)state;
	my.rings.from.rows.gpus = (struct kfd_topology){.gpus = &gpu, .n = 1};
	my.boot_ns = 300000000000;
	my.ticks = 10 * (uint64_t)sysconf(_SC_CLK_TCK); // so the process runs for 290 s
	dispatch(0, 4, one);
	poke(one + 32, 5000);
	my.ticks_now = 5000 + 192ull * 100000000;
	assert_verdict(0, LONG_AGO);
	assert_true(my.why.v[0].stood_ns == 192000000000);
	poke(one + 40, 5000); // both are of the packet that had the signal before
	assert_verdict(0, RUNS);
	poke(one + 40, 4999);
	assert_verdict(0, LONG_AGO);
	my.boot_ns = 201000000000; // the process began 191 s ago: no kernel of it runs for 192 s
	assert_verdict(0, RUNS);
	my.ticks = 0; // when the process began is not known
	assert_verdict(0, RUNS);
	my.boot_ns = 300000000000;
	my.ticks = 10 * (uint64_t)sysconf(_SC_CLK_TCK);
	my.ticks_now = 6000; // the kernel began 10 us ago, and the looks are 250 ms apart
	assert_verdict(0, RUNS);
	my.ticks_now = 4999; // the counter has begun anew
	assert_verdict(0, RUNS);
	my.ticks_now = 0;
	assert_verdict(0, RUNS);
	my.ticks_now = 5000 + 192ull * 100000000;
	gpu.gpu_id = 8;
	assert_verdict(0, RUNS);
	gpu.gpu_id = 7;
	poke(one, 2); // no signal of the host's
	assert_verdict(0, REUSED);
	poke(one, 1);
	dispatch(1, 5, one); // a packet of another queue has it, too
	indices(1, 5, 6);
	assert_verdict(0, REUSED);
	setup(NULL);
	my.rings.from.rows.gpus = (struct kfd_topology){.gpus = &gpu, .n = 1};
	my.boot_ns = 300000000000;
	my.ticks_now = 5000 + 192ull * 100000000;
	dispatch(0, 5, signal_of(1, 1)); // not taken yet
	poke(one + 32, 5000);
	dispatch(0, 4, signal_of(2, 0));
	indices(0, 5, 6);
	assert_verdict(0, HUNG);
}

#define FIRST  "thread 40: f (libhsa-runtime64.so.1) < main (train)\n"
#define BOTH   "threads 41, 42: ioctl (libc.so.6) < g (libhsa-runtime64.so.1) < main (train)\n"
#define SHORT  "thread 45: g (libhsa-runtime64.so.1) < main (train)\n"
#define LONGER "thread 145: g (libhsa-runtime64.so.1) < main (train)\n"
#define CALC   "thread 44: poll (libc.so.6) < main (train)\n"

// Threads that wait for a signal of ROCr's at both of two looks.
static void test_waits(void **state)
{
	pid_t pid = 0;
	(void)state;
	dispatch(0, 4, signal_of(1, 1));
	assert_verdict(0, RUNS);
	my.stacks[0] = FIRST BOTH CALC SHORT "thread 43: f (x) < main (train)\n";
	my.stacks[1] = CALC BOTH LONGER FIRST "thread 43: g (x) < main (train)\n";
	my.waits = "\ng\ng\nf\ng\n";
	const uint64_t began = my.clock;
	assert_int_equal(why_read_stacks(&my.why, &pid), 0);
	assert_int_equal(my.clock, began + 200000000);
	assert_string_equal(my.why.processes[0].stacks, my.stacks[1]);
	assert_string_equal(my.why.processes[0].host,
			    "threads of 40, threads 41, 42 in g at two looks 200ms apart, "
			    "thread 40 in f at two looks 200ms apart");
	assert_null(my.why.processes[1].host);
}

// Reads the stacks, of which those of the first look are kept, after `ns`.
static void assert_first(uint64_t ns, const char *host)
{
	const uint64_t began = my.clock;
	pid_t pid = 0;
	free(my.why.processes[0].stacks);
	my.stack_looks = 0;
	assert_int_equal(why_read_stacks(&my.why, &pid), 0);
	assert_int_equal(my.clock, began + ns);
	assert_string_equal(my.why.processes[0].stacks, FIRST);
	assert_int_equal(!my.why.processes[0].host, !host);
	if (host)
		assert_string_equal(my.why.processes[0].host, host);
}

// What of two looks at stacks cannot be had, or is not needed.
static void test_stacks(void **state)
{
	pid_t pid = 0;
	(void)state;
	my.waits = "f\n";
	my.stacks[0] = my.stacks[1] = FIRST;
	assert_verdict(0, "idle: ");
	assert_first(0, NULL); // nothing is wrong: no half of the host is told, and none compared
	assert_int_equal(my.stack_looks, 1);
	dispatch(0, 4, signal_of(1, 1));
	assert_verdict(0, RUNS);
	my.stacks[1] = NULL; // the process ended between the looks, or now runs as another user
	assert_first(200000000, "threads of 40");
	my.stacks[1] = FIRST;
	my.stopped = true; // Ctrl-C ends the time between the looks
	assert_first(200000000, "threads of 40");
	my.stopped = false;
	my.recorded = true; // stacks were recorded at one moment
	assert_first(0, "threads of 40");
	my.recorded = false;
	my.stacks[0] = NULL;
	my.stack_looks = 0;
	assert_verdict(0, RUNS);
	const uint64_t now = my.clock;
	assert_int_equal(why_read_stacks(&my.why, &pid), EACCES);
	assert_int_equal(pid, 40);
	assert_int_equal(my.clock, now); // there is nothing to compare
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {TEST(test_began), TEST(test_waits),
						  TEST(test_stacks)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
