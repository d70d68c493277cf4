// Verdicts about queues, common/why: states of single queues.
#include "tests/unit/why_rig.h"

#define HUNG     "hung-or-long: kernel 0x500 (packet 5) waits for nothing, and has not ended in 250ms"
#define OPEN(is) "hung-or-long: packet 5 (" is ") waits for no signal, and was not taken in 250ms"

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
	assert_verdict(0, "running: 2 packets taken in 250ms");
	indices(0, 5, 9);
	my.gpu = take_all;
	assert_verdict(0, "running: 4 packets taken in 250ms");
	assert_int_equal(why_taken(&my.why.v[0]), 4);
	my.queues[0].ring.kind = RING_SDMA;
	indices(0, 4, 8);
	assert_verdict(0, "running: 5 bytes taken in 250ms");
	my.queues[0].ring.kind = RING_PM4; // of 1024 dwords
	indices(0, 1020, 100);
	my.gpu = take_across;
	assert_verdict(0, "running: 6 dwords taken in 250ms");
	assert_int_equal(my.slots, 0); // none of these may be hung
}

#define RUNS                                                                                \
	"hung-or-long: kernel 0x500 (packet 4) was taken, and has not ended in 250ms: its " \
	"signal 0x9040 is 1"
#define MUTE                                                                                   \
	"idle-or-running: all packets are taken; no signal tells whether the last kernel has " \
	"ended"
#define REUSED                                                                             \
	"idle-or-running: all packets are taken; the signal of the last kernel cannot be " \
	"read, or is another packet's by now"

// What the packet that was taken last tells once the queue is empty.
static void test_last(void **state)
{
	(void)state;
	const uint64_t one = signal_of(1, 1);
	dispatch(0, 4, one);
	assert_verdict(0, RUNS);
	dispatch(0, 3, one); // an older one of the same queue: the signal is still the last's
	assert_verdict(0, RUNS);
	dispatch(3, 5, one); // of another process: another signal
	indices(3, 5, 6);
	assert_verdict(0, RUNS);
	dispatch(1, 5, one);
	indices(1, 5, 6);
	assert_verdict(0, REUSED);
	setup(NULL);
	dispatch(0, 4, signal_of(2, 0));
	assert_verdict(0, "idle: ");
	dispatch(0, 4, 0);
	assert_verdict(0, MUTE);
	my.rows[0].usage.cu_occupancy = 3;
	assert_verdict(0, MUTE "; the process has work on 3 CUs of the GPU");
	my.rows[0].usage.cu_occupancy = 0;
	assert_verdict(0, "idle: ");
	my.rows[0].usage.cu_occupancy = KFD_UNKNOWN;
	dispatch(0, 4, 0xf00000); // nothing is there
	assert_verdict(0, REUSED);
	dispatch(0, 4, signal_of(1, 1)); // the next packet has it, too
	dispatch(0, 5, signal_of(1, 1));
	indices(0, 5, 6);
	assert_verdict(0, HUNG);
}

#define ON_GPU "its ring is in the GPU's memory, where "

// The ring is in memory of the GPU that the driver does not let others read.
static void test_on_gpu(void **state)
{
	(void)state;
	my.hole = RING + 4 * 64;
	assert_verdict(0, "idle: "); // in a hole of other memory there is nothing known of a kernel
	my.maps[0] = "1000-2000 rw-s 00000000 00:05 9   /dev/dri/renderD128\n";
	assert_verdict(0, "idle-or-running: all packets are taken; " ON_GPU
			  "the last kernel cannot be read");
	my.rows[0].usage.cu_occupancy = 0;
	assert_verdict(0, "idle: ");
	my.hole = RING + 5 * 64;
	indices(0, 5, 8);
	assert_verdict(0, "hung-or-long: stands still for 250ms with 3 packets behind it; " ON_GPU
			  "packets cannot be read");
	my.in_slot = 0;
	assert_memory_equal(verdict(0), "waits-slot: ", 12);
	my.in_slot = 1;
	my.maps[0] = "1000-2000 rw-s 00000000 00:05 9   /dev/shm/x\n";
	assert_verdict(0, "unknown: the next packet could not be read");
	my.gpu = take_two;
	my.maps[0] = "1000-2000 rw-s 00000000 00:05 9   /dev/dri/renderD128\n";
	assert_verdict(0, "running: 2 packets taken in 250ms");
}

#define OLDER "hung-or-long: kernel 0x500 (packet 3) was taken, and has not ended in 250ms"

// Without barrier bits several kernels run at once: the oldest that has not completed is named.
static void test_older(void **state)
{
	(void)state;
	dispatch(0, 2, signal_of(0, 0));
	dispatch(0, 3, signal_of(1, 1));
	dispatch(0, 4, signal_of(2, 0));
	assert_verdict(0, "idle-or-running: all packets are taken; kernel 0x500 (packet 3) may not "
			  "have ended: its signal is not set");
	my.rows[0].usage.cu_occupancy = 3; // gfx9 tells
	assert_verdict(0, OLDER);
	assert_int_equal(my.why.v[0].work.index, 3);
	dispatch(0, 2, signal_of(0, 1)); // as old as they come
	assert_verdict(0, "hung-or-long: kernel 0x500 (packet 2) was taken, and has not ended in "
			  "250ms");
	signal_of(0, 0);
	barrier(0, 5, AND, 0, 0);
	indices(0, 5, 6);
	assert_verdict(0, OLDER);
	indices(0, 5, 5);
	my.rows[0].usage.cu_occupancy = 0;
	assert_verdict(0, "idle: ");
	my.rows[0].usage.cu_occupancy = 3;
	dispatch(1, 4, SIGNALS + 64); // another packet has the signal
	assert_verdict(0, "idle: ");
	dispatch(1, 4, 0);
	assert_verdict(0, OLDER);
	signal_of(2, 1); // the last one runs: those before it may have waited for each other
	assert_verdict(0, "hung-or-long: kernel 0x500 (packet 4) was taken, and has not ended in "
			  "250ms: its signal 0x9080 is 1");
	signal_of(2, 0);
	dispatch(0, 5, 0);
	indices(0, 5, 9);
	my.gpu = take_two;
	assert_verdict(0, "running: 2 packets taken in 250ms");
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

static void slot_takes_four(void)
{
	my.slot_read += 4;
}

// The memory of its process does not tell the indices of queue 0: what its hardware slot tells.
static void test_by_slot(void **state)
{
	static const char still[] = "hung-or-long: stands still for 250ms with 32 packets behind "
				    "it, slot p0q2, ";
	char wanted[128];
	(void)state;
	my.hole = INDICES + 16 - 64; // those of queue 0
	assert_verdict(0, "unknown: its indices cannot be read");
	assert_null(my.why.v[0].pointers);
	assert_string_equal(my.why.v[1].pointers, "process");
	my.slot_read = 12900;
	my.slot_write = 12932;
	my.slot_error = 0;
	my.in_slot = 1;
	snprintf(wanted, sizeof(wanted), "%sno error", still);
	assert_verdict(0, wanted);
	assert_string_equal(my.why.v[0].pointers, "live");
	assert_int_equal(my.why.v[0].now.write - my.why.v[0].now.read, 32);
	my.slot_error = 1 << 5; // [debugfs.hqd-error]
	snprintf(wanted, sizeof(wanted), "%sAQL", still);
	assert_memory_equal(verdict(0), wanted, strlen(still));
	my.slots = 0;
	my.slot_error = KFD_UNKNOWN;
	my.gpu = slot_takes_four;
	assert_verdict(0, "running: 4 packets taken in 250ms");
	assert_int_equal(my.slots, 2); // at each look
	my.gpu = NULL;
	my.slot_read = my.slot_write;
	assert_verdict(0, "idle-or-running: all packets are taken, slot p0q2; whether the last "
			  "kernel has ended is not known");
	my.rows[0].type = "sdma"; // whose engine moves the index at the end
	assert_verdict(0, "idle: ");
	my.rows[0].type = "compute";
	// In no slot, its MQD has what was saved: dwords, the read pointer in the ring.
	my.slot_read = KFD_UNKNOWN;
	my.in_slot = 0;
	my.rows[0].v[MQD_V_RING_BYTES] = RING;
	my.rows[0].v[MQD_V_RPTR] = 16 * 60;
	my.rows[0].v[MQD_V_WPTR] = 16 * (64 * 3 + 4);
	assert_verdict(0, "waits-slot: has 8 packets, and is in no slot; 0 compute queues of 0 "
			  "processes share the GPU; amdgpu.hws_max_conc_proc is 8");
	assert_string_equal(my.why.v[0].pointers, "saved");
	my.in_slot = 1; // the MQD of a queue in a slot is old
	assert_verdict(0, "unknown: its indices cannot be read");
	my.rows[0].on_hw = 0;
	my.tracer = 77;
	assert_verdict(0, "suspended: by gdb, process 77");
}

// Of a recorded host: one moment, and two.
static void test_by_moments(void **state)
{
	struct why_heads heads = {0};
	(void)state;
	my.recorded = true;
	my.hole = INDICES + 16 - 64; // those of queue 0
	my.slot_read = 12900;
	my.slot_write = 12932;
	my.in_slot = 1;
	assert_verdict(0, "unknown: has 32 packets, slot p0q2");
	assert_true(my.why.v[0].once && my.why.v[1].once);
	my.how.heads = &heads;
	my.recorded_ns = 1000000000;
	verdict(0);
	why_fini(&my.why);
	my.recorded_ns = 31000000000;
	why_look(&my.why, &my.rings, &my.how);
	assert_int_equal(my.why.v[0].over_ns, 30000000000);
	assert_string_equal(my.why.v[0].detail,
			    "stands still for 30s with 32 packets behind it, slot p0q2");
	assert_int_equal(my.why.v[0].state, WHY_HUNG_OR_LONG);
	assert_int_equal(my.why.v[0].stood_ns, 30000000000);
	assert_false(my.why.v[0].once);
	why_fini(&my.why);
	my.slot_read += 3;
	indices(1, 6, 6); // whose memory was recorded at both moments
	my.recorded_ns = 33000000000;
	my.rings.n = 2;
	why_look(&my.why, &my.rings, &my.how);
	assert_string_equal(my.why.v[0].detail, "3 packets taken in 2s");
	assert_string_equal(my.why.v[1].detail, "1 packet taken in 2s");
	why_fini(&my.why);
	why_look(&my.why, &my.rings, &my.how); // the same recording once more
	assert_string_equal(my.why.v[0].detail, "3 packets taken in 2s");
	why_fini(&my.why);
	my.rings.n = QUEUES; // queue 2 was not there a moment ago
	my.recorded_ns = 34000000000;
	my.slot_write += 32;
	dispatch(2, 5, 0);
	indices(2, 5, 6);
	why_look(&my.why, &my.rings, &my.how);
	assert_string_equal(my.why.v[0].detail,
			    "stands still for 1s with 61 packets behind it, slot p0q2");
	assert_true(my.why.v[2].once);
	why_heads_fini(&heads);
	my.how.heads = NULL;
}

#define HUNG_7 "hung-or-long: kernel 0x500 (packet 7) waits for nothing, and has not ended in 250ms"
#define NOP_7  "hung-or-long: packet 7 (pm4-nop) waits for no signal, and was not taken in 250ms"

#define NO_BELL "the doorbell was not rung, or is lost"

// What the hardware slot has seen of the write index 9 at read index 7, and its errors.
static void test_slots(void **state)
{
	static const struct {
		uint64_t write, error;
		enum ring_kind kind;
		const char *verdict;
	} cases[] = {
		{KFD_UNKNOWN, KFD_UNKNOWN, RING_AQL, HUNG_7},
		{KFD_UNKNOWN, 0, RING_AQL, HUNG_7},
		{9, 0, RING_AQL, HUNG_7},
		{8, 0, RING_AQL, HUNG_7},
		{7, 0, RING_AQL,
		 "doorbell-lost: the write index is 9, and its hardware slot was told 7: " NO_BELL},
		{6, 0, RING_AQL,
		 "doorbell-lost: the write index is 9, and its hardware slot was told 6: " NO_BELL},
		{7, 0, RING_PM4, NOP_7},
		{8, 0, RING_PM4, NOP_7},
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
		// Once more where the doorbell was not rung, behind the look at threads.
		assert_int_equal(my.slots, strstr(cases[i].verdict, NO_BELL) ? 2 : 1);
	}
	my.slot_error = 1 << 5 | 1 << 8; // [debugfs.hqd-error]
	my.slot_write = KFD_UNKNOWN;
	assert_verdict(0, NOP_7 "; its slot notes AQL_ERROR PQ_UTCL1_ERROR");
}

// Verdicts about a barrier with two signals, in both orders. Signal 1 is set by a packet of queue
// 1, which goes on; 2 by no queue of this process; 3 by a packet of queue 2, which waits for this
// queue. Signal 4 is 0, and what stands at the address of 5 is no signal.
#define INSIDE \
	"behind: waits for kernel 0x500 (packet 5) of queue 1 (hung-or-long): signal 0x9040 is 1"
#define OUTSIDE                                                                                 \
	"waits-external: signal 0x9080 is 1, and no packet of this process sets it: the host, " \
	"or another process"
#define UNSURE "unknown: a signal that the next packet waits for cannot be read"
#define DEAD                                                                                   \
	"deadlock: waits for kernel 0x500 (packet 6) of queue 2, which waits for this queue: " \
	"signal 0x90c0 is 1"
#define MORE ", and 1 more"
static const struct {
	uint8_t type;
	unsigned a, b; // numbers of signals; 0: none
	const char *verdict;
} blocked_cases[] = {
	{AND, 1, 0, INSIDE},
	{OR, 1, 0, INSIDE},
	{AND, 2, 0, OUTSIDE},
	{OR, 2, 0, OUTSIDE},
	{AND, 3, 0, DEAD},
	{OR, 3, 0, DEAD},
	{AND, 1, 2, OUTSIDE},
	{AND, 2, 1, OUTSIDE},
	{OR, 1, 2, INSIDE MORE},
	{OR, 2, 1, INSIDE MORE},
	{AND, 1, 3, DEAD MORE},
	{AND, 3, 1, DEAD MORE},
	{OR, 1, 3, INSIDE MORE},
	{OR, 3, 1, INSIDE MORE},
	{AND, 2, 3, DEAD MORE},
	{AND, 3, 2, DEAD MORE},
	{OR, 2, 3, OUTSIDE},
	{OR, 3, 2, OUTSIDE},
	{AND, 4, 0, OPEN("barrier-and")},
	{AND, 0, 4, OPEN("barrier-and")},
	{OR, 4, 3, OPEN("barrier-or")},
	{OR, 3, 4, OPEN("barrier-or")},
	{AND, 4, 2, OUTSIDE},
	{AND, 2, 4, OUTSIDE},
	{AND, 5, 1, INSIDE},
	{AND, 1, 5, INSIDE},
	{OR, 5, 1, UNSURE},
	{OR, 1, 5, UNSURE},
	{AND, 4, 5, UNSURE},
	{OR, 5, 4, OPEN("barrier-or")},
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
	assert_verdict(0, "deadlock: waits for kernel 0x500 (packet 6) of this queue, which is "
			  "behind it: signal 0x9040 is 1");
	dispatch(0, 6, 0);
	dispatch(1, 5, one);
	dispatch(1, 4, one); // one to come is preferred to one that was taken
	indices(1, 5, 6);
	assert_verdict(0, INSIDE);
	my.rows[1].qid = KFD_UNKNOWN;
	assert_verdict(0, "behind: waits for kernel 0x500 (packet 5) of another queue "
			  "(hung-or-long): signal 0x9040 is 1");
	my.rows[1].qid = 1;
	indices(1, 5, 5);
	assert_verdict(0, "behind: waits for kernel 0x500 (packet 4) of queue 1 (hung-or-long): "
			  "signal 0x9040 is 1");
	put(1, 4, INVALID);
	my.queues[2].ring.kind = RING_NONE; // this ring's packets cannot be read
	assert_verdict(0,
		       "waits-external: signal 0x9040 is 1, and no packet that could be read sets "
		       "it");
	assert_true(my.why.v[0].unread);
	my.queues[2].ring.kind = RING_AQL;
	my.signal = one; // the GPU takes the barrier while its signal is read
	my.moved = 6;
	assert_verdict(0, "running: 1 packet taken in 250ms");
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
	static const char shared[] = "waits-slot: 3 compute queues of 2 processes share the GPU",
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
	my.in_slot = 1; // the slots can be read, and the queue is in one
	assert_verdict(0, HUNG);
	my.rows[0].mqd.turns = false;
	my.in_slot = 0; // as with MES, which has no runlist
	assert_verdict(0, wanted);
	my.in_slot = -1;
	assert_verdict(0, HUNG);
	my.rings.from.rows.rls.nodes = &node;
	my.rings.from.rows.rls.nnodes = 1;
	assert_verdict(0, wanted);
	// What is wrong with a queue is said, however many share the GPU.
	for (my.in_slot = -1; my.in_slot < 2; my.in_slot++) {
		put(0, 5, INVALID);
		assert_verdict(0,
			       "not-published: packet 5 is not written, and the write index is 6");
		dispatch(0, 5, 0);
		dispatch(0, 4, signal_of(1, 1));
		assert_verdict(0, RUNS);
		put(0, 4, INVALID);
	}
	my.in_slot = -1;
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
	assert_string_equal(my.why.v[0].remedy,
			    "end the process that has it suspended, or let that resume it; gpq "
			    "resume puts back only what gpq suspended");
	my.comm = "gpq-holder";
	assert_verdict(0, "suspended: by gpq-holder, process 77");
	assert_string_equal(
		my.why.v[0].remedy,
		"gpq suspend --list tells who holds it; gpq resume -p 40 puts its queues back");
	my.comm = NULL;
	assert_verdict(0, "suspended: by a process, process 77");
	assert_string_equal(my.why.v[0].remedy,
			    "gpq resume, if gpq holds it; else end the debugger");
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_moves),   TEST(test_last),    TEST(test_next),       TEST(test_older),
		TEST(test_on_gpu),  TEST(test_by_slot), TEST(test_by_moments), TEST(test_slots),
		TEST(test_blocked), TEST(test_setters), TEST(test_turns),      TEST(test_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
