// Verdicts about queues, common/why/why.c: rings in a memory of the test's own, that the GPU
// changes between the two looks; the clock, processes, evictions and hardware slots are as each
// case says. Packets by [aql.dispatch] and [aql.barrier].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/why/why.h"

#include "common/cli/stop.h"
#include "common/debugfs/regs.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"

enum {
	RING = 0x1000, // of queue i at (i + 1) * RING, 64 slots
	INDICES = 0x8000,
	SIGNALS = 0x9000,
	QUEUES = 4
};
enum { INVALID = 1, DISPATCH = 2, AND = 3, OR = 5 };

static struct {
	uint8_t memory[0xa000];
	uint64_t hole;   // these 64 bytes cannot be read; 0: none
	uint64_t signal; // reading it moves queue 0 to `moved`
	uint64_t moved;
	void (*gpu)(void); // what happens between the looks
	uint64_t clock, slot_write, slot_error;
	unsigned slots; // how often hardware slots were read
	pid_t tracer;
	const char *trigger, *comm; // comm: of every process; NULL: there is none
	struct queue_row rows[QUEUES];
	struct ring_queue queues[QUEUES];
	struct ring_process processes[2];
	struct rings rings;
	struct why why;
} my;

static void poke(uint64_t at, uint64_t value)
{
	memcpy(my.memory + at, &value, sizeof(value));
}

static void indices(unsigned q, uint64_t read, uint64_t write)
{
	poke(INDICES + 16 * q, read);
	poke(INDICES + 16 * q + 8, write);
}

static bool read_target(void *arg, uint64_t at, void *to, size_t size)
{
	(void)arg;
	if (at > sizeof(my.memory) || size > sizeof(my.memory) - at ||
	    (my.hole && at < my.hole + 64 && at + size > my.hole))
		return false;
	memcpy(to, my.memory + at, size);
	if (my.signal && at == my.signal)
		poke(INDICES, my.moved);
	return true;
}

static bool fake_is_live(void)
{
	return true;
}

static void fake_sleep(uint64_t until)
{
	my.clock = until;
	if (my.gpu)
		my.gpu();
}

static uint64_t fake_clock_ns(void)
{
	return my.clock;
}

static void fake_read_slots(struct rings *r)
{
	my.slots++;
	r->v[0].slot_write = my.slot_write;
	r->v[0].slot_error = my.slot_error;
}

static int fake_proc_read(struct proc *p, pid_t pid)
{
	*p = (struct proc){.pid = pid, .tracer = my.tracer};
	if (my.comm)
		strcpy(p->comm, my.comm);
	return my.comm ? 0 : -1;
}

static const char *fake_trigger(const struct evictions *e, const struct queue_rows *all,
				const struct queue_row *q)
{
	return !e && all == &my.rings.from.rows && q == &my.rows[0] ? my.trigger : NULL;
}

static int fake_read_u64(const char *path, uint64_t *v)
{
	assert_string_equal(path, "/sys/module/amdgpu/parameters/hws_max_conc_proc");
	*v = 8;
	return 0;
}

#define host_is_live      fake_is_live
#define stop_sleep        fake_sleep
#define clock_ns          fake_clock_ns
#define rings_read_slots  fake_read_slots
#define proc_read         fake_proc_read
#define evictions_trigger fake_trigger
#define host_read_u64     fake_read_u64
#include "common/why/why.c" // NOLINT(bugprone-suspicious-include)

static uint64_t signal_of(unsigned number, int64_t value)
{
	const uint64_t at = SIGNALS + 64 * number;
	poke(at, 1);
	poke(at + 8, (uint64_t)value);
	return at;
}

static uint8_t *put(unsigned q, uint64_t index, uint8_t type)
{
	uint8_t *p = my.memory + RING * (q + 1) + index % 64 * 64;
	memset(p, 0, 64);
	p[0] = type;
	return p;
}

static void dispatch(unsigned q, uint64_t index, uint64_t completion)
{
	uint8_t *p = put(q, index, DISPATCH);
	memcpy(p + 2, (const uint16_t[]){1, 64, 1, 1}, 8);
	memcpy(p + 12, (const uint32_t[]){64, 1, 1}, 12);
	p[33] = 5;
	memcpy(p + 56, &completion, 8);
}

static void barrier(unsigned q, uint64_t index, uint8_t type, uint64_t a, uint64_t b)
{
	uint8_t *p = put(q, index, type);
	memcpy(p + 8, (const uint64_t[]){a, b}, 16);
}

// Four queues, 0 to 3, that are idle at index 5; the last is of another process.
static int setup(void **state)
{
	(void)state;
	why_fini(&my.why);
	memset(&my, 0, sizeof(my));
	my.comm = "gdb";
	my.clock = 1000;
	my.slot_write = my.slot_error = KFD_UNKNOWN;
	for (unsigned i = 0; i < QUEUES; i++) {
		queue_row_clear(&my.rows[i]);
		my.rows[i].pid = i < 3 ? 40 : 50;
		my.rows[i].gpu_id = 7;
		my.rows[i].qid = i;
		my.rows[i].type = "compute";
		my.rows[i].packets = "aql";
		my.rows[i].on_hw = 1;
		my.queues[i] = (struct ring_queue){.row = &my.rows[i],
						   .process = i / 3,
						   .slot_write = KFD_UNKNOWN,
						   .slot_error = KFD_UNKNOWN,
						   .ring = {.base = RING * (i + 1),
							    .bytes = RING,
							    .read_at = INDICES + 16 * i,
							    .write_at = INDICES + 16 * i + 8,
							    .kind = RING_AQL}};
		indices(i, 5, 5);
		for (unsigned k = 0; k < 64; k++)
			put(i, k, INVALID);
	}
	for (unsigned i = 0; i < 2; i++)
		my.processes[i].memory = (struct memory){.fd = -1, .read = read_target};
	my.rings.processes = my.processes;
	my.rings.nprocesses = 2;
	my.rings.v = my.queues;
	my.rings.n = QUEUES;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	why_fini(&my.why);
	return 0;
}

// "STATE: DETAIL" of a queue, after two looks a quarter of a second apart.
static const char *verdict(unsigned q)
{
	static char text[512];
	why_fini(&my.why);
	why_look(&my.why, &my.rings, NULL, 250000000);
	assert_int_equal(my.why.over_ns, 250000000);
	snprintf(text, sizeof(text), "%s: %s", why_state_word(my.why.v[q].state),
		 my.why.v[q].detail ? my.why.v[q].detail : "");
	return text;
}

#define assert_verdict(q, text) assert_string_equal(verdict(q), text)

#define HUNG                                                                              \
	"computing-or-hung: the next packet waits for nothing, and is not taken: a long " \
	"kernel, or one that hangs"

static void take_two(void)
{
	indices(0, 7, 9);
}

static void take_all(void)
{
	indices(0, 9, 9);
}

static void take_across(void) // dwords of PM4
{
	indices(0, 2, 100);
}

static void test_moves(void **state)
{
	(void)state;
	assert_verdict(0, "idle: ");
	for (unsigned i = 5; i < 9; i++)
		dispatch(0, i, 0);
	indices(0, 5, 9);
	my.gpu = take_two;
	assert_verdict(0, "computing: 2 packets taken in 250 ms");
	indices(0, 5, 9);
	my.gpu = take_all;
	assert_verdict(0, "computing: 4 packets taken in 250 ms");
	assert_int_equal(why_taken(&my.why.v[0]), 4);
	my.queues[0].ring.kind = RING_SDMA;
	indices(0, 4, 8);
	assert_verdict(0, "computing: 5 bytes taken in 250 ms");
	my.queues[0].ring.kind = RING_PM4; // of 1024 dwords
	indices(0, 1020, 100);
	my.gpu = take_across;
	assert_verdict(0, "computing: 6 dwords taken in 250 ms");
	assert_int_equal(my.slots, 0); // none of these may be hung
}

// What the packet that was taken last tells once the queue is empty.
static void test_last(void **state)
{
	(void)state;
	const uint64_t one = signal_of(1, 1);
	dispatch(0, 4, one);
	assert_verdict(0, "computing: packet 4 is taken, and its signal 0x9040 is 1");
	dispatch(0, 3, one); // an older one of the same queue: the signal is still the last's
	assert_verdict(0, "computing: packet 4 is taken, and its signal 0x9040 is 1");
	dispatch(3, 5, one); // of another process: another signal
	indices(3, 5, 6);
	assert_verdict(0, "computing: packet 4 is taken, and its signal 0x9040 is 1");
	dispatch(1, 5, one);
	indices(1, 5, 6);
	assert_verdict(0, "idle: all packets are taken; the signal of the last cannot be read, or "
			  "is another packet's by now");
	setup(NULL);
	dispatch(0, 4, signal_of(2, 0));
	assert_verdict(0, "idle: ");
	dispatch(0, 4, 0);
	assert_verdict(0, "idle: all packets are taken; whether the last kernel still runs no "
			  "signal tells");
	dispatch(0, 4, 0xf00000); // nothing is there
	assert_verdict(0, "idle: all packets are taken; the signal of the last cannot be read, or "
			  "is another packet's by now");
	dispatch(0, 4, signal_of(1, 1)); // the next packet has it, too
	dispatch(0, 5, signal_of(1, 1));
	indices(0, 5, 6);
	assert_verdict(0, HUNG);
}

static void publish_index(void)
{
	indices(0, 5, 7);
}

static void test_next(void **state)
{
	(void)state;
	indices(0, 5, 7);
	assert_verdict(0, "not-published: packet 5 is not written, and the write index is 7");
	indices(0, 5, 5); // it was free to be written a moment ago
	my.gpu = publish_index;
	assert_verdict(0, "unknown: the next packet could not be read");
	my.gpu = NULL;
	dispatch(0, 5, 0);
	my.hole = RING + 5 * 64;
	assert_verdict(0, "unknown: the next packet could not be read");
	my.hole = 0;
	barrier(0, 5, AND, 0xf00000, 0);
	assert_verdict(0, "unknown: a signal that the next packet waits for cannot be read");
	indices(0, 9, 5);
	assert_verdict(0, "unknown: its indices do not fit its ring");
	my.processes[1].error = EACCES;
	assert_verdict(0, "unknown: its indices do not fit its ring");
	my.processes[0].error = EACCES;
	assert_verdict(0, "unknown: the memory of the process cannot be read");
}

// What the hardware slot has seen of the write index 9 at read index 7, and its errors.
static void test_slots(void **state)
{
	static const struct {
		uint64_t write, error;
		enum ring_kind kind;
		const char *verdict;
	} cases[] = {
		{KFD_UNKNOWN, KFD_UNKNOWN, RING_AQL, HUNG},
		{KFD_UNKNOWN, 0, RING_AQL, HUNG},
		{9, 0, RING_AQL, HUNG},
		{8, 0, RING_AQL, HUNG},
		{7, 0, RING_AQL, "doorbell-lost: the write index is 9, and its slot has seen 7"},
		{6, 0, RING_AQL, "doorbell-lost: the write index is 9, and its slot has seen 6"},
		{7, 0, RING_PM4, HUNG},
		{8, 0, RING_PM4, HUNG},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		setup(NULL);
		indices(0, 7, 9);
		dispatch(0, 7, 0);
		dispatch(0, 8, 0);
		memcpy(my.memory + RING + 28, &(uint32_t){0xc0001000}, 4); // PM4: dword 7
		my.queues[0].ring.kind = cases[i].kind;
		my.slot_write = cases[i].write;
		my.slot_error = cases[i].error;
		assert_verdict(0, cases[i].verdict);
		assert_int_equal(my.slots, 1);
	}
	my.slot_error = 1 << 5 | 1 << 8; // [debugfs.hqd-error]
	my.slot_write = KFD_UNKNOWN;
	assert_verdict(0, HUNG "; its slot notes AQL_ERROR PQ_UTCL1_ERROR");
}

// Verdicts about a barrier with two signals, in both orders. Signal 1 is set by a packet of queue
// 1, which goes on; 2 by no queue of this process; 3 by a packet of queue 2, which waits for this
// queue. Signal 4 is 0, and what stands at the address of 5 is no signal.
#define INSIDE "signal 0x9040 is 1, set by packet 5 (dispatch) of queue 1"
#define OUTSIDE                                                                            \
	"signal 0x9080 is 1, and no packet of this process sets it: the host, or another " \
	"process"
#define UNSURE "unknown: a signal that the next packet waits for cannot be read"
#define DEAD   "signal 0x90c0 is 1, set by packet 6 (dispatch) of queue 2"
static const struct {
	uint8_t type;
	unsigned a, b; // numbers of signals; 0: none
	const char *verdict;
} blocked_cases[] = {
	{AND, 1, 0, "waits-barrier: " INSIDE},
	{OR, 1, 0, "waits-barrier: " INSIDE},
	{AND, 2, 0, "waits-external: " OUTSIDE},
	{OR, 2, 0, "waits-external: " OUTSIDE},
	{AND, 3, 0, "deadlock: " DEAD},
	{OR, 3, 0, "deadlock: " DEAD},
	{AND, 1, 2, "waits-external: " OUTSIDE},
	{AND, 2, 1, "waits-external: " OUTSIDE},
	{OR, 1, 2, "waits-barrier: " INSIDE},
	{OR, 2, 1, "waits-barrier: " INSIDE},
	{AND, 1, 3, "deadlock: " DEAD},
	{AND, 3, 1, "deadlock: " DEAD},
	{OR, 1, 3, "waits-barrier: " INSIDE},
	{OR, 3, 1, "waits-barrier: " DEAD},
	{AND, 2, 3, "deadlock: " DEAD},
	{AND, 3, 2, "deadlock: " DEAD},
	{OR, 2, 3, "waits-barrier: " DEAD},
	{OR, 3, 2, "waits-barrier: " DEAD},
	{AND, 4, 0, HUNG},
	{AND, 0, 4, HUNG},
	{OR, 4, 3, HUNG},
	{OR, 3, 4, HUNG},
	{AND, 4, 2, "waits-external: " OUTSIDE},
	{AND, 2, 4, "waits-external: " OUTSIDE},
	{AND, 5, 1, "waits-barrier: " INSIDE},
	{AND, 1, 5, "waits-barrier: " INSIDE},
	{OR, 5, 1, UNSURE},
	{OR, 1, 5, UNSURE},
	{AND, 4, 5, UNSURE},
	{OR, 5, 4, HUNG},
};

static void test_blocked(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(blocked_cases); i++) {
		const unsigned a = blocked_cases[i].a, b = blocked_cases[i].b;
		setup(NULL);
		for (unsigned k = 1; k < 6; k++)
			signal_of(k, k < 4);
		poke(SIGNALS + 5 * 64, 0); // it is none
		const uint64_t x = a ? SIGNALS + 64 * a : 0, y = b ? SIGNALS + 64 * b : 0;
		barrier(0, 5, blocked_cases[i].type, x, y);
		poke(RING + 5 * 64 + 56, signal_of(6, 1));
		indices(0, 5, 6);
		dispatch(1, 5, SIGNALS + 64);
		indices(1, 5, 6);
		barrier(2, 5, AND, SIGNALS + 6 * 64, 0);
		dispatch(2, 6, SIGNALS + 3 * 64);
		indices(2, 5, 7);
		dispatch(3, 5, SIGNALS + 2 * 64); // another process
		indices(3, 5, 6);
		assert_verdict(0, blocked_cases[i].verdict);
		const bool waits = my.why.v[0].blocked;
		assert_int_equal(my.why.v[0].because != NULL, waits);
		assert_int_equal(my.why.v[0].goes_on, my.why.v[0].state != WHY_DEADLOCK);
		assert_int_equal(my.why.v[2].goes_on, my.why.v[0].state != WHY_DEADLOCK);
	}
}

// Of which queue the packet is that sets the signal.
static void test_setters(void **state)
{
	(void)state;
	const uint64_t one = signal_of(1, 1);
	barrier(0, 5, AND, one, 0);
	dispatch(0, 6, one);
	indices(0, 5, 7);
	assert_verdict(0, "deadlock: signal 0x9040 is 1, set by packet 6 (dispatch) of this queue");
	dispatch(0, 6, 0);
	dispatch(1, 5, one);
	dispatch(1, 4, one); // one to come is preferred to one that was taken
	indices(1, 5, 6);
	assert_verdict(0,
		       "waits-barrier: signal 0x9040 is 1, set by packet 5 (dispatch) of queue 1");
	my.rows[1].qid = KFD_UNKNOWN;
	assert_verdict(0,
		       "waits-barrier: signal 0x9040 is 1, set by packet 5 (dispatch) of another "
		       "queue");
	my.rows[1].gpu_id = KFD_UNKNOWN;
	my.rows[1].qid = 1;
	indices(1, 5, 5);
	assert_verdict(0, "waits-barrier: signal 0x9040 is 1, set by packet 4 (dispatch) of queue "
			  "1, which is taken");
	put(1, 4, INVALID);
	my.queues[2].ring.kind = RING_NONE; // this ring's packets cannot be read
	assert_verdict(0,
		       "waits-external: signal 0x9040 is 1, and no packet that could be read sets "
		       "it");
	assert_true(my.why.v[0].unread);
	my.queues[2].ring.kind = RING_AQL;
	my.signal = one; // the GPU takes the barrier while its signal is read
	my.moved = 6;
	assert_verdict(0, "computing: 1 packets taken in 250 ms");
	assert_false(my.why.v[0].blocked);
}

static void test_turns(void **state)
{
	struct mqd mqds[] = {{.proc = 0, .gpu_id = 7, .kind = MQD_COMPUTE},
			     {.proc = 0, .gpu_id = 7, .kind = MQD_SDMA},
			     {.proc = 1, .gpu_id = 7, .kind = MQD_COMPUTE},
			     {.proc = 1, .gpu_id = 8, .kind = MQD_COMPUTE},
			     {.proc = 2, .gpu_id = 8, .kind = MQD_COMPUTE},
			     {.proc = 1, .gpu_id = 7, .kind = MQD_COMPUTE}};
	struct kfd_gpu gpu = {.gpu_id = 7, .cp_queues = 24};
	struct rls_node node = {.gpu_id = 7, .chained = true};
	static const char shared[] = "takes-turns: 3 compute queues of 2 processes share the GPU",
			  most[] = "; amdgpu.hws_max_conc_proc is 8";
	char wanted[256];
	(void)state;
	my.rings.from.rows.mqds.queues = mqds;
	my.rings.from.rows.mqds.nqueues = COUNT(mqds);
	dispatch(0, 5, 0);
	indices(0, 5, 6);
	assert_verdict(0, HUNG);
	my.rows[0].mqd.turns = true;
	snprintf(wanted, sizeof(wanted), "%s%s", shared, most);
	assert_verdict(0, wanted);
	my.rings.from.rows.gpus.gpus = &gpu;
	my.rings.from.rows.gpus.n = 1;
	snprintf(wanted, sizeof(wanted), "%s, which has 24 slots%s", shared, most);
	assert_verdict(0, wanted);
	my.rows[0].mqd.turns = false;
	my.rings.from.rows.rls.nodes = &node;
	my.rings.from.rows.rls.nnodes = 1;
	assert_verdict(0, wanted);
	my.rows[0].type = "sdma";
	assert_verdict(0, HUNG);
	my.rows[0].type = "compute";
	node.gpu_id = 8;
	assert_verdict(0, HUNG);
	node.gpu_id = 7;
	my.rings.from.rows.gpus.gpus = NULL;
	my.rings.from.rows.gpus.n = 0;
	indices(0, 5, 5);
	assert_verdict(0, "idle: ");
}

#define SAME_EVICTED ", or evicted by the driver: these look the same"
#define SAME_RESET   ", or reset by the driver after a hang: these look the same"

static void test_off(void **state)
{
	(void)state;
	my.rows[0].now.holder = 77;
	assert_verdict(0, "suspended: by gdb, process 77");
	assert_int_equal(my.why.v[0].by_pid, 77);
	my.comm = NULL;
	assert_verdict(0, "suspended: by a process, process 77");
	my.comm = "gdb";
	my.rows[0].now.holder = 0;
	assert_verdict(0, "suspended: by a debugger that does not trace it");
	assert_string_equal(my.why.v[0].by_name, "");
	my.rows[0].now.holder = INT64_MIN;
	assert_verdict(0, "idle: ");
	my.trigger = "userptr";
	assert_verdict(0, "idle: "); // it is on hardware
	my.rows[0].on_hw = 0;
	assert_verdict(0, "evicted: by the driver, with all queues of the process on this GPU: "
			  "userptr");
	my.trigger = NULL;
	my.rows[0].state = "evicted";
	assert_verdict(0, "evicted: by the driver, with all queues of the process on this GPU");
	my.rows[0].state = "off-hardware";
	// Another queue of the same process, GPU and context is on the GPU: none was evicted.
	assert_verdict(0, "suspended-or-reset: by a debugger that does not trace it" SAME_RESET);
	my.tracer = 88;
	assert_verdict(0, "suspended: by gdb, process 88");
	my.rows[1].on_hw = -1;
	assert_verdict(0, "suspended: by gdb, process 88"); // queue 2 is
	my.rows[2].on_hw = 0;
	assert_verdict(0, "suspended-or-evicted: by gdb, process 88" SAME_EVICTED);
	my.rows[2].on_hw = 1;
	my.rows[2].gpu_id = 8;
	assert_verdict(0, "suspended-or-evicted: by gdb, process 88" SAME_EVICTED);
	my.rows[2].gpu_id = 7;
	my.rows[2].context = 3;
	my.tracer = 0;
	assert_verdict(0,
		       "suspended-or-evicted: by a debugger that does not trace it" SAME_EVICTED);
	assert_int_equal(my.why.v[0].by_pid, 0);
	my.rows[0].on_hw = -1;
	assert_verdict(0, "idle: ");
}

static void test_stuck(void **state)
{
	(void)state;
	for (enum why_state s = WHY_UNKNOWN; s < WHY_STATES; s++) {
		const char *word = why_state_word(s);
		const bool stuck = !strcmp(word, "deadlock") || !strcmp(word, "not-published") ||
				   !strcmp(word, "doorbell-lost") || !strcmp(word, "error");
		assert_int_equal(why_is_stuck(s), stuck);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_moves), TEST(test_last),    TEST(test_next),
		TEST(test_slots), TEST(test_blocked), TEST(test_setters),
		TEST(test_turns), TEST(test_off),     TEST(test_stuck),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
