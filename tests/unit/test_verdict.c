// Verdicts about queues and processes, common/why/verdict.c and words.c: the packet at work, waits
// over several queues, the host's side, and what counts as stuck.
#include "tests/unit/why_rig.h"

enum { KERNEL_AT = 32, BARRIER_BIT = 1, SIGNAL_AT = 56 };

static uint8_t *slot(unsigned q, uint64_t index)
{
	return my.memory + RING * (q + 1) + index % 64 * 64;
}

static void kernel(unsigned q, uint64_t index, uint8_t object, uint64_t completion)
{
	dispatch(q, index, completion);
	slot(q, index)[KERNEL_AT] = object;
}

static void with_barrier_bit(unsigned q, uint64_t index)
{
	slot(q, index)[1] |= BARRIER_BIT;
}

static const char *name_of(void *arg, const struct ring_queue *q, uint64_t object)
{
	assert_ptr_equal(arg, &my);
	assert_ptr_equal(q, &my.queues[0]);
	return object == 0x501   ? "add"
	       : object == 0x504 ? "__amd_rocclr_streamOpsWait.kd"
	       : object == 0x502 ? "a_name_of_sixty_one_bytes_which_is_one_more_than_there_is_for"
				 : NULL;
}

// A kernel that was taken, or the next one: which is at work? `last` is packet 4, `next` packet 5.
static void test_work(void **state)
{
	static const struct {
		const char *wanted;
		int64_t last; // value of the last kernel's signal; -1: it has none
		uint8_t next;
		bool bit; // of the next packet
		bool sure;
	} cases[] = {
		{"kernel add (packet 4) was taken, and has not ended in 250ms; or it has, and the "
		 "next one, packet 5, has not",
		 -1, DISPATCH, true, false},
		{"kernel 0x503 (packet 5) waits for nothing, and has not ended in 250ms", 0,
		 DISPATCH, true, true},
		{"kernel add (packet 4) was taken, and has not ended in 250ms: its signal 0x9040 "
		 "is 1",
		 1, DISPATCH, true, true},
		{"kernel 0x503 (packet 5) waits for nothing, and has not ended in 250ms", -1,
		 DISPATCH, false, true},
		{"kernel add (packet 4) was taken, and has not ended in 250ms", -1, AND, true,
		 true},
		{"packet 5 (barrier-and) waits for no signal, and was not taken in 250ms: an "
		 "earlier "
		 "packet has not ended",
		 0, AND, true, false},
		{"kernel add (packet 4) was taken, and has not ended in 250ms: its signal 0x9040 "
		 "is 1",
		 1, AND, true, true},
		{"packet 5 (barrier-and) waits for no signal, and was not taken in 250ms", -1, AND,
		 false, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char wanted[256];
		setup(NULL);
		my.how.name = name_of;
		my.how.arg = &my;
		kernel(0, 4, 1, cases[i].last < 0 ? 0 : signal_of(1, cases[i].last));
		if (cases[i].next == DISPATCH)
			kernel(0, 5, 3, 0);
		else
			barrier(0, 5, cases[i].next, 0, 0);
		if (cases[i].bit)
			with_barrier_bit(0, 5);
		indices(0, 5, 6);
		snprintf(wanted, sizeof(wanted), "hung-or-long: %s", cases[i].wanted);
		assert_verdict(0, wanted);
		const struct why_queue *x = &my.why.v[0];
		const bool has = x->work.queue != SIZE_MAX;
		assert_int_equal(has && x->work_sure, cases[i].sure);
		if (has)
			assert_int_equal(x->work.kernel, x->work.index == 4 ? 0x501 : 0x503);
	}
}

// Names are cut at 60 bytes.
static void test_long_name(void **state)
{
	(void)state;
	my.how.name = name_of;
	my.how.arg = &my;
	kernel(0, 5, 2, 0);
	indices(0, 5, 6);
	assert_verdict(0, "hung-or-long: kernel "
			  "a_name_of_sixty_one_bytes_which_is_one_more_than_there_is_fo... (packet "
			  "5) waits for nothing, and has not ended in 250ms");
	my.recorded = true;
	my.how.name = NULL;
	assert_verdict(0, "hung-or-long: kernel 0x502 (packet 5) waits for nothing, and has not "
			  "ended");
}

// Makes queue `q` wait at index 5 for the completion of packet 6 of queue `for_q`, which is behind
// what that queue does.
static void wait_for(unsigned q, unsigned for_q, unsigned number)
{
	barrier(q, 5, AND, signal_of(number, 1), 0);
	indices(q, 5, 7);
	kernel(for_q, 6, 0, SIGNALS + 64 * number);
}

// A kernel that waits for a word of memory, which nothing in the rings tells.
static void test_stream_wait(void **state)
{
	(void)state;
	my.how.name = name_of;
	my.how.arg = &my;
	kernel(0, 5, 4, 0);
	indices(0, 5, 6);
	wait_for(1, 0, 1);
	indices(0, 5, 7);
	assert_verdict(
		0, "waits-external: kernel __amd_rocclr_streamOpsWait.kd (packet 5) waits for a "
		   "word of memory: hipStreamWaitValue");
	assert_false(my.why.v[0].stuck);
	assert_string_equal(why_state_word(my.why.v[1].state), "behind");
	assert_int_equal(my.why.v[1].root, 0);
	my.threads = (struct proc_threads){.n = 1, .stopped = 1};
	assert_verdict(0, "stopped: packet 5 waits for the process, which is stopped");
}

static void test_not_decoded(void **state)
{
	(void)state;
	put(0, 5, 0)[2] = 9;
	indices(0, 5, 6);
	assert_verdict(0, "unknown: packet 5 is of vendor format 9, which is not decoded");
	put(0, 5, 77);
	assert_verdict(0, "unknown: packet 5 is of no type that there is");
	put(0, 5, 0)[2] = 1; // PM4 in an AQL slot
	assert_verdict(0, "hung-or-long: packet 5 (pm4-buffer) waits for no signal, and was not "
			  "taken in 250ms");
}

#define BEHIND(packet, of, root, number)                                                           \
	"behind: waits for kernel 0x500 (packet " packet ") of " of root ": signal " number " is " \
	"1"

// Two queues in a row behind a third: the root is named, in whatever state it is.
static void test_root(void **state)
{
	(void)state;
	wait_for(0, 1, 1);
	wait_for(1, 2, 2);
	indices(2, 5, 7); // packet 5 is not written
	assert_verdict(1, BEHIND("6", "queue 2", " (not-published)", "0x9080"));
	assert_verdict(0, BEHIND("6", "queue 1", ", behind queue 2 (not-published)", "0x9040"));
	assert_int_equal(my.why.v[0].root, 2);
	assert_int_equal(my.why.v[1].root, 2);
	assert_int_equal(my.why.v[2].root, SIZE_MAX);
	assert_true(my.why.v[0].stuck);
	my.rows[2].now.holder = 77;
	assert_verdict(0, BEHIND("6", "queue 1", ", behind queue 2 (suspended)", "0x9040"));
	assert_false(my.why.v[0].stuck);
	my.rows[2].now.holder = INT64_MIN;
	barrier(2, 5, AND, signal_of(5, 1), 0);
	assert_verdict(0, BEHIND("6", "queue 1", ", behind queue 2 (waits-external)", "0x9040"));
	kernel(2, 5, 0, 0);
	assert_verdict(0, BEHIND("6", "queue 1", ", behind queue 2 (hung-or-long)", "0x9040"));
	my.rows[2].qid = KFD_UNKNOWN;
	assert_verdict(0,
		       BEHIND("6", "queue 1", ", behind another queue (hung-or-long)", "0x9040"));
}

static void run_on(void)
{
	indices(2, 6, 7);
}

// What is being reached is waited for; a queue behind a circle is not part of it.
static void test_reached_and_circle(void **state)
{
	(void)state;
	wait_for(0, 1, 1);
	wait_for(1, 2, 2);
	kernel(2, 5, 0, 0);
	indices(2, 5, 7);
	my.gpu = run_on;
	assert_verdict(0,
		       "waits-barrier: waits for kernel 0x500 (packet 6) of queue 1, behind queue "
		       "2 (running): signal 0x9040 is 1");
	assert_int_equal(my.why.v[0].root, 2);
	setup(NULL);
	wait_for(0, 1, 1);
	wait_for(1, 2, 2);
	wait_for(2, 1, 3);
	kernel(1, 7, 0, SIGNALS + 64); // packet 6 of queue 1 sets signal 3 now
	indices(1, 5, 8);
	assert_verdict(1, "deadlock: waits for kernel 0x500 (packet 6) of queue 2, which waits for "
			  "this queue: signal 0x9080 is 1");
	assert_verdict(0, BEHIND("7", "queue 1", " (deadlock)", "0x9040"));
	assert_true(my.why.v[0].stuck);
	assert_string_equal(
		my.why.processes[0].text,
		"stuck for 250ms: queue 1 (deadlock): waits for kernel 0x500 (packet 6) "
		"of queue 2, which waits for this queue: signal 0x9080 is 1; 1 queue "
		"waits behind it; 3 of 3 queues are stuck: 0, 1, 2");
}

// A queue that waits for a kernel of its own, which was taken; and one that waits for that queue.
static void test_own_kernel(void **state)
{
	(void)state;
	kernel(0, 3, 1, signal_of(1, 1));
	barrier(0, 5, AND, SIGNALS + 64, 0);
	slot(0, 5)[SIGNAL_AT] = 0x80, slot(0, 5)[SIGNAL_AT + 1] = 0x90; // signal 2
	signal_of(2, 1);
	indices(0, 5, 6);
	barrier(1, 5, AND, SIGNALS + 2 * 64, 0);
	indices(1, 5, 6);
	assert_verdict(0, "hung-or-long: kernel 0x501 (packet 3) was taken, and has not ended in "
			  "250ms");
	assert_int_equal(my.why.v[0].root, SIZE_MAX);
	assert_verdict(1, "behind: waits for packet 5 (barrier-and) of queue 0 (hung-or-long): "
			  "signal 0x9080 is 1");
}

// A signal that a packet had which was taken long ago: more than 32 packets before the next one.
static void test_old_setter(void **state)
{
	(void)state;
	for (unsigned q = 0; q < 3; q++)
		indices(q, 60, 60);
	barrier(0, 60, AND, signal_of(1, 1), 0);
	indices(0, 60, 61);
	kernel(1, 27, 0, SIGNALS + 64);
	assert_verdict(0,
		       "waits-external: signal 0x9040 is 1, and no packet of this process sets it: "
		       "the host, or another process; packet 27 of queue 1, taken before, had it");
	kernel(1, 27, 0, 0);
	kernel(1, 28, 0, SIGNALS + 64);
	assert_verdict(
		0, "waits-barrier: waits for kernel 0x500 (packet 28) of queue 1 (idle): signal "
		   "0x9040 is 1");
}

// Two processes that wait for each other's packets, over memory that they share.
static void test_two_processes(void **state)
{
	(void)state;
	my.maps[0] = "9000-a000 rw-s 0 00:1f 77 /dev/shm/signals\n";
	my.maps[1] = "50000-51000 rw-s 0 00:1f 77 /dev/shm/signals\n";
	barrier(0, 5, AND, signal_of(1, 1), 0);
	kernel(0, 6, 0, SIGNALS + 128);
	indices(0, 5, 7);
	signal_of(2, 1);
	barrier(3, 5, AND, SHARED + 128, 0);
	kernel(3, 6, 0, SHARED + 64);
	indices(3, 5, 7);
	assert_verdict(0, "deadlock: waits for kernel 0x500 (packet 6) of queue 3 of process 50, "
			  "which waits for this queue: signal 0x9040 is 1");
	assert_true(my.why.v[0].stuck && my.why.v[3].stuck);
	for (unsigned q = 0; q <= 3; q += 3)
		assert_string_equal(
			my.why.v[q].remedy,
			"end processes 40 and 50: they wait for each other, and nothing on the GPU "
			"ends that");
	// What is to be done about a process that is not shown is told of the one that waits for
	// it.
	kernel(3, 5, 0, SHARED + 64);
	indices(3, 5, 6);
	assert_verdict(0, "behind: waits for kernel 0x500 (packet 5) of queue 3 of process 50 "
			  "(hung-or-long): signal 0x9040 is 1");
	assert_string_equal(my.why.v[0].remedy, "mend what it is behind");
	my.queues[3].chosen = false;
	verdict(0);
	assert_int_equal(strncmp(my.why.v[0].remedy, "gpq why -p 50 --over 10s: ", 26), 0);
	my.maps[1] = NULL;
	assert_verdict(0, "waits-external: signal 0x9040 is 1, in shared memory, and no packet of "
			  "this process sets it: the host, or another process");
	assert_int_equal(strncmp(my.why.v[0].remedy, "look at its threads, as gpq why -p 40 ", 38),
			 0);
}

// Of queues that somebody took off the hardware all are named; eight, where there are more.
static void test_count(void **state)
{
	static struct queue_row rows[10];
	static struct ring_queue queues[10];
	(void)state;
	my.rows[0].now.holder = my.rows[2].now.holder = 77;
	verdict(0);
	assert_string_equal(
		my.why.processes[0].text,
		"suspended: queue 0: by gdb, process 77; 2 of 3 queues are suspended: 0, 2");
	my.queues[2].chosen = false;
	verdict(0);
	assert_string_equal(my.why.processes[0].text, "suspended: queue 0: by gdb, process 77");
	static const char *const ends[] = {"; 2 of 3 queues are suspended-or-reset: 0, 1",
					   "; 3 of 3 queues are suspended-or-evicted: 0, 1, 2",
					   "; 3 of 3 queues are evicted: 0, 1, 2"};
	my.rows[0].now.holder = my.rows[2].now.holder = INT64_MIN;
	my.queues[2].chosen = true;
	for (size_t i = 0; i < COUNT(ends); i++) {
		for (unsigned q = 0; q < 3; q++) {
			my.rows[q].on_hw = i == 0 && q == 2;
			my.rows[q].state = i == 2 ? "evicted" : NULL;
		}
		verdict(0);
		const char *end = strstr(my.why.processes[0].text, "; ");
		assert_non_null(end);
		assert_string_equal(end, ends[i]);
	}
	for (unsigned q = 0; q < 3; q++) {
		my.rows[q].on_hw = 1;
		my.rows[q].state = NULL;
	}
	my.rows[0].now.holder = 77;
	// What stands behind one that is suspended counts as stuck after a time.
	wait_for(1, 0, 1);
	wait_for(2, 0, 2);
	kernel(0, 5, 0, SIGNALS + 64);
	indices(0, 5, 7);
	my.how.stuck_after_ns = 1000;
	verdict(0);
	assert_string_equal(
		my.why.processes[0].text,
		"stuck for 250ms: queue 0 (suspended): by gdb, process 77; 2 queues wait "
		"behind it; 2 of 3 queues are stuck: 1, 2");
	my.how.stuck_after_ns = 0;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		rows[i] = my.rows[0];
		rows[i].qid = i == 1 ? KFD_UNKNOWN : i;
		queues[i] = my.queues[0];
		queues[i].row = &rows[i];
	}
	why_fini(&my.why); // it is of the old rings
	my.rings.v = queues;
	my.rings.n = COUNT(rows);
	my.rings.nprocesses = 1;
	verdict(0);
	assert_string_equal(
		my.why.processes[0].text,
		"suspended: queue 0: by gdb, process 77; 10 of 10 queues are suspended: "
		"0, ?, 2, 3, 4, 5, 6, 7, 2 more");
}

static void ring_doorbell(void)
{
	my.slot_write = 7;
}

static void lose_slots(void)
{
	my.slot_write = KFD_UNKNOWN;
}

static void publish(void)
{
	kernel(0, 5, 0, 0);
}

static void take(void)
{
	indices(0, 6, 7);
}

static void drain(void)
{
	indices(0, 7, 7);
}

static void end_process(void)
{
	my.hole = RING + 5 * 64;
}

// What waits for the host is not stuck because of itself if the process is stopped, or if a thread
// has no processor.
static void test_threads(void **state)
{
	static const struct {
		struct proc_threads threads;
		bool stopped, stuck;
		const char *remedy;
	} cases[] = {
		{{0}, false, true, "look at its threads, as gpq why -p 40 --stacks "},
		{{.n = 2, .stopped = 1}, false, true, "look at its threads, as gpq why -p 40 "},
		{{.n = 2, .stopped = 2}, true, false, "kill -CONT 40 lets it go on"},
		{{.n = 2, .stopped = 2, .traced = 1}, true, false, "let it go on in its debugger"},
		{{.n = 2, .frozen = true, .traced = 1}, true, false, "let its control group go on"},
		{{.frozen = true}, true, false, "let its control group go on"},
		{{.n = 2, .running = 1}, false, false, "look at its threads, as gpq why -p 40 "},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		setup(NULL);
		my.threads = cases[i].threads;
		indices(0, 5, 7); // not published
		barrier(1, 5, AND, signal_of(1, 1), 0);
		indices(1, 5, 6);
		assert_verdict(0,
			       cases[i].stopped
				       ? "stopped: packet 5 waits for the process, which is stopped"
				       : "not-published: packet 5 is not written, and the write "
					 "index is 7");
		assert_int_equal(my.why.v[0].stuck, cases[i].stuck);
		assert_int_equal(
			strncmp(my.why.v[0].remedy, cases[i].remedy, strlen(cases[i].remedy)), 0);
		assert_int_equal(my.looked_at_threads, 1);
		assert_string_equal(why_state_word(my.why.v[1].state),
				    cases[i].stopped ? "stopped" : "waits-external");
		assert_false(my.why.v[1].stuck);
		kernel(0, 5, 0, 0);
		kernel(0, 6, 0, 0);
		my.slot_write = 5;
		assert_verdict(0,
			       cases[i].stopped
				       ? "stopped: packet 5 waits for the process, which is stopped"
				       : "doorbell-lost: the write index is 7, and its hardware "
					 "slot was told 5: the doorbell was not rung, or is "
					 "lost");
		assert_int_equal(my.why.v[0].stuck, cases[i].stuck);
	}
	// The thread went on after the look, and sleeps now; or it has ended, as the process does.
	static const struct {
		void (*meanwhile)(void);
		const char *wanted;
	} later[] = {{publish, "running: a packet was written after the looks"},
		     {take, "running: a packet was written after the looks"},
		     {drain, "running: a packet was written after the looks"},
		     {end_process, "unknown: "}};
	for (size_t i = 0; i < COUNT(later); i++) {
		setup(NULL);
		indices(0, 5, 7);
		my.host = later[i].meanwhile;
		assert_int_equal(strncmp(verdict(0), later[i].wanted, strlen(later[i].wanted)), 0);
		assert_false(my.why.v[0].stuck);
	}
	// The doorbell was rung after the look at slots, or they could not be read again.
	static const struct {
		void (*meanwhile)(void);
		const char *wanted;
	} bell[] = {{ring_doorbell, "running: the doorbell was rung after the looks"},
		    {lose_slots, "unknown: "}};
	for (size_t i = 0; i < COUNT(bell); i++) {
		setup(NULL);
		indices(0, 5, 7);
		kernel(0, 5, 0, 0);
		kernel(0, 6, 0, 0);
		my.slot_write = 5;
		my.host = bell[i].meanwhile;
		assert_int_equal(strncmp(verdict(0), bell[i].wanted, strlen(bell[i].wanted)), 0);
		assert_false(my.why.v[0].stuck);
	}
	setup(NULL);
	assert_verdict(0, "idle: ");
	assert_int_equal(my.looked_at_threads, 0); // nothing waits for the host
}

static void move_on(void)
{
	indices(0, 6, 7);
}

// Since when heads stand, over several looks, and from when on that is stuck.
static void test_stuck_after(void **state)
{
	struct why_heads heads = {0};
	(void)state;
	my.how.heads = &heads;
	my.how.stuck_after_ns = 750000000;
	kernel(0, 5, 0, 0);
	indices(0, 5, 7);
	barrier(1, 5, AND, signal_of(1, 1), 0);
	indices(1, 5, 6);
	my.rows[2].now.holder = 77;
	for (unsigned i = 1; i < 5; i++) {
		verdict(0);
		assert_int_equal(my.why.v[0].stood_ns, i * 250000000ull);
		assert_int_equal(my.why.v[0].stuck, i > 2);
		assert_int_equal(my.why.v[1].stuck, i > 2);
		assert_false(my.why.v[2].stuck); // somebody suspended it
		assert_int_equal(why_may_get_stuck(&my.why), i <= 2);
	}
	assert_string_equal(
		my.why.processes[0].text,
		"stuck for 1s: queue 0 (hung-or-long): kernel 0x500 (packet 5) waits for "
		"nothing, and has not ended in 1s; 2 of 3 queues are stuck: 0, 1");
	my.gpu = move_on; // from now on it stands at 6
	assert_verdict(0, "running: 1 packet taken in 250ms");
	assert_int_equal(my.why.v[0].stood_ns, 0);
	my.gpu = NULL;
	kernel(0, 6, 0, 0);
	verdict(0);
	assert_int_equal(my.why.v[0].stood_ns, 250000000);
	indices(0, 5, 7); // another queue at the same address
	kernel(0, 5, 0, 0);
	verdict(0);
	assert_int_equal(my.why.v[0].stood_ns, 250000000);
	my.rows[0].gpu_id = 8; // and one of another GPU
	verdict(0);
	assert_int_equal(my.why.v[0].stood_ns, 250000000);
	my.how.stuck_after_ns = 0; // not asked for
	for (unsigned i = 0; i < 9; i++)
		verdict(0);
	assert_false(my.why.v[0].stuck);
	why_heads_fini(&heads);
	assert_null(heads.v);
}

// Only chosen queues count, but a root is named though it is not chosen.
static void test_process(void **state)
{
	(void)state;
	assert_verdict(0, "idle: ");
	assert_string_equal(my.why.processes[0].text, "idle: 3 queues");
	assert_null(my.why.processes[0].host);
	assert_string_equal(my.why.processes[1].text, "idle: queue 3");
	assert_int_equal(my.why.processes[0].chosen, 3);
	my.queues[1].chosen = my.queues[2].chosen = my.queues[3].chosen = false;
	verdict(0);
	assert_string_equal(my.why.processes[0].text, "idle: queue 0");
	assert_null(my.why.processes[1].text);
	wait_for(0, 1, 1);
	indices(1, 5, 7); // not published
	verdict(0);
	assert_string_equal(
		my.why.processes[0].text,
		"stuck for 250ms: queue 1 (not-published): packet 5 is not written, and "
		"the write index is 7; 1 queue waits behind it");
	assert_int_equal(my.why.processes[0].stuck, 1);
	assert_int_equal(my.why.processes[0].waiting, 1);
	assert_string_equal(my.why.processes[0].host, "threads of 40");
	my.queues[1].chosen = my.queues[2].chosen = true;
	wait_for(2, 1, 2);
	kernel(1, 7, 0, SIGNALS + 64);
	indices(1, 5, 8);
	my.recorded = true;
	verdict(0);
	assert_string_equal(
		my.why.processes[0].text,
		"stuck: queue 1 (not-published): packet 5 is not written, and the write "
		"index is 8; 2 queues wait behind it; 3 of 3 queues are stuck: 0, 1, 2");
	my.rows[1].qid = KFD_UNKNOWN;
	verdict(0);
	assert_string_equal(
		my.why.processes[0].text,
		"stuck (not-published): packet 5 is not written, and the write index is "
		"8; 2 queues wait behind it; 3 of 3 queues are stuck: 0, ?, 2");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_count),       TEST(test_two_processes),
		TEST(test_work),        TEST(test_long_name),
		TEST(test_not_decoded), TEST(test_stream_wait),
		TEST(test_root),        TEST(test_reached_and_circle),
		TEST(test_own_kernel),  TEST(test_old_setter),
		TEST(test_threads),     TEST(test_stuck_after),
		TEST(test_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
