// Kernel traces (common/ftrace): lines of both kernels and of trace-cmd, pairs, damage; processes,
// queues, holds, suspensions, events, and a log's processes and queues among them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/amdlog/model/summary.h"
#include "common/ftrace/ftrace.h"
#include "common/ftrace/live.h"
#include "common/host/root.h"

#include <sys/mman.h>
#include <unistd.h>

static struct ftrace_record r;

static bool line(const char *text)
{
	return ftrace_line(text, strlen(text), &r);
}

static void assert_text(struct ftrace_text t, const char *expected)
{
	assert_int_equal(t.len, strlen(expected));
	assert_memory_equal(t.at, expected, t.len);
}

static void test_entry(void **state)
{
	(void)state;
	assert_true(
		line("         mkqueue-163     (    161) [001] .....     5.993034: created: "
		     "(kfd_ioctl_create_queue+0x4/0x790 [amdgpu]) ring=0x7ffff7fe7000 gpu=21385"));
	assert_int_equal(r.kind, FTRACE_ENTRY);
	assert_int_equal(r.tid, 163);
	assert_int_equal(r.tgid, 161);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.time_ns, 5993034000);
	assert_text(r.comm, "mkqueue");
	assert_text(r.name, "kfd_ioctl_create_queue");
	assert_text(r.args, "ring=0x7ffff7fe7000 gpu=21385");
	assert_int_equal(ftrace_arg(&r, "ring"), 0x7ffff7fe7000);
	assert_int_equal(ftrace_arg(&r, "gpu"), 21385);
	assert_int_equal(ftrace_arg(&r, "gp"), FTRACE_NO_ARG);
	assert_int_equal(ftrace_arg(&r, "u"), FTRACE_NO_ARG);
}

static void test_return(void **state)
{
	(void)state;
	assert_true(line("             dbg-169   [000] d..1.     8.186803: x_ret: "
			 "(unmap_queues_cpsch+0x115/0x2f0 "
			 "[amdgpu] <- amdkfd_fence_wait_timeout) ret=-62"));
	assert_int_equal(r.kind, FTRACE_RETURN);
	assert_int_equal(r.tgid, -1);
	assert_text(r.name, "amdkfd_fence_wait_timeout");
	assert_int_equal(ftrace_arg(&r, "ret"), -62);
	// trace-cmd has addresses: the event's name tells the function.
	assert_true(line("             dbg-236   [000]    16.338647: map_queues_cpsch_ret: "
			 "(ffffffffc03d0210 <- "
			 "ffffffffc03d79db) ret=0"));
	assert_int_equal(r.kind, FTRACE_RETURN);
	assert_text(r.name, "map_queues_cpsch");
	assert_true(line("             dbg-236   [000]    16.338647: p_map_queues_cpsch_0: "
			 "(ffffffffc03d0210)"));
	assert_int_equal(r.kind, FTRACE_ENTRY);
	assert_text(r.name, "map_queues_cpsch");
	assert_text(r.args, "");
	assert_true(
		line("             dbg-236   [000]    16.338647: evict__return: (a <- ) ret=0"));
	assert_int_equal(r.kind, FTRACE_RETURN);
	assert_text(r.name, "evict");
}

static void test_other(void **state)
{
	(void)state;
	assert_true(line(
		"           <...>-12    [003] .....    11.394190: barrier_open <-sg_aql_consume"));
	assert_int_equal(r.kind, FTRACE_FUNCTION);
	assert_int_equal(r.comm.len, 0);
	assert_text(r.name, "barrier_open");
	assert_text(r.args, "sg_aql_consume");
	assert_true(line("          <idle>-0     [003] 1.123456789: function:             a_b <-- "
			 "c.part.0"));
	assert_int_equal(r.kind, FTRACE_FUNCTION);
	assert_int_equal(r.time_ns, 1123456789);
	assert_text(r.name, "a_b");
	assert_text(r.args, "c.part.0");
	assert_true(line("             X:1-99    (-------) [000] d.h2. 7.000001: amdgpu_bo_move: "
			 "bo=0x1, from:2 to:3"));
	assert_int_equal(r.kind, FTRACE_EVENT);
	assert_int_equal(r.tgid, -1);
	assert_text(r.args, "bo=0x1, from:2 to:3");
	// Inside of a function, not at its begin.
	assert_true(line("             dbg-9     [000] ..... 7.000001: p: (kfd_ioctl+0x1cc/0x5c0 "
			 "[amdgpu]) a=1"));
	assert_int_equal(r.kind, FTRACE_EVENT);
	assert_true(line("             dbg-9     [000] 25769081297: function: a <-- b"));
	assert_true(r.time_ns == FTRACE_UNKNOWN);
}

static void test_lost(void **state)
{
	(void)state;
	assert_true(line("CPU:1 [LOST 30740 EVENTS]"));
	assert_int_equal(r.kind, FTRACE_LOST);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.lost, 30740);
	assert_true(line("CPU:0 [12 EVENTS DROPPED]") && r.lost == 12);
	assert_true(line("CPU:0 [LOST EVENTS]") && r.lost == FTRACE_UNKNOWN);
	assert_true(line("CPU:0 [EVENTS DROPPED]") && r.lost == FTRACE_UNKNOWN);
	assert_false(line("CPU:0 [LOST 12 EVENTS"));
	assert_false(line("CPU:x [LOST 12 EVENTS]"));
}

// A task's name may look like the rest of a line: the column tells where it ends.
static void test_names(void **state)
{
	(void)state;
	assert_true(line(" a-1 [000] 1.0: -77    [002] .....    3.000000: f <-g"));
	assert_text(r.comm, "a-1 [000] 1.0: ");
	assert_int_equal(r.tid, 77);
	assert_int_equal(r.cpu, 2);
	assert_true(line("x-y-5 [002] 3.5: f <-g")); // the blanks in front are gone
	assert_text(r.comm, "x-y");
	assert_int_equal(r.tid, 5);
	assert_int_equal(r.time_ns, 3500000000);
}

static void test_no_record(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"cpus=2",
		"-",
		"a-1",
		"a-1 [0]",
		"a-1 [0] 1.0",
		"a-1 [0] 1.0:",
		"a-1 [0] 1.0: ",
		"a-1 [0] 1.0: f",
		"a-1 [0] 1.0: f <",
		"a-1 [99999999] 1.0: f <-g",
		"a-99999999999 [0] 1.0: f <-g",
		"a-1 [0] 1.0000000001: f <-g",
		"a-1 (5 [0] 1.0: f <-g",
		"     softgpu0-     softgpu0-cp-159     [000] ..... 1.0: f <-g",
		"a-1 [0] 1234567890123456789.0: f <-g",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (line(lines[i]))
			fail_msg("a record: %s", lines[i]);
	}
}

static struct ftrace read_text(const char *text)
{
	struct ftrace f = {0};
	ftrace_read(&f, text, strlen(text));
	return f;
}

#define T(tid, cpu, time, rest) \
	"            task-" tid "     [00" cpu "] ..... " time ": " rest "\n"
#define IN(f)  "e: (" f "+0x0/0x9)"
#define OUT(f) "x: (caller+0x1/0x9 <- " f ") ret=0"

static void test_pairs(void **state)
{
	struct ftrace f = read_text(
		"# clock: mono\n"
		// as trace_pipe prints: each CPU in order, not all of them
		T("1", "0", "1.000100", IN("a")) T("1", "0", "1.000200", IN("b"))
			T("1", "0", "1.000500", OUT("b")) T("2", "1", "1.000150", IN("a"))
				T("1", "0", "1.000900", OUT("a")) T("2", "1", "1.000160", OUT("a"))
		// another begins inside, and its return is not there
		T("1", "0", "2.000000", IN("a")) T("1", "0", "2.000001", IN("c"))
			T("1", "1", "2.000010", OUT("a")) T("1", "1", "2.000020", OUT("c")));
	(void)state;
	assert_string_equal(f.clock, "mono");
	assert_int_equal(f.n, 10);
	assert_int_equal(f.epochs, 0);
	assert_int_equal(f.v[1].tid, 2); // by time
	assert_int_equal(f.v[2].inside_ns, 10000);
	assert_int_equal(f.v[4].inside_ns, 300000);
	assert_int_equal(f.v[5].inside_ns, 800000);
	assert_true(f.v[0].joined && f.v[1].joined && f.v[3].joined);
	assert_int_equal(f.v[8].inside_ns, 10000);
	assert_true(f.v[9].inside_ns == FTRACE_UNKNOWN);
	assert_true(f.v[6].joined && !f.v[7].joined);
	assert_int_equal(f.unpaired, 1);
	ftrace_fini(&f);
}

// What is lost may be a return and an entry: calls across it have no length.
static void test_across(void **state)
{
	struct ftrace f = read_text(T("1", "0", "1.000100", IN("a")) "CPU:1 [LOST 3 EVENTS]\n" T(
		"2", "1", "1.000200", IN("b")) T("1", "0", "1.000300", OUT("a"))
					    T("2", "1", "1.000400", OUT("b")));
	(void)state;
	assert_int_equal(f.losses, 1);
	assert_int_equal(f.lost, 3);
	assert_int_equal(f.v[1].kind, FTRACE_LOST);
	assert_int_equal(f.v[1].time_ns, 1000200000);
	assert_true(f.v[3].inside_ns == FTRACE_UNKNOWN);
	assert_int_equal(f.v[4].inside_ns, 200000);
	ftrace_fini(&f);
	// What the kernel did not count adds nothing, behind and before what it did.
	f = read_text("CPU:0 [LOST EVENTS]\nCPU:1 [LOST 3 EVENTS]\nCPU:0 [LOST EVENTS]\n");
	assert_int_equal(f.losses, 3);
	assert_int_equal(f.lost, 3);
	ftrace_fini(&f);
	f = read_text(T("1", "0", "5.000000", IN("a")) T("1", "0", "1.000000", OUT("a"))
			      T("1", "0", "6.000000", OUT("a")));
	assert_int_equal(f.epochs, 1);
	assert_int_equal(f.v[0].time_ns, 5000000000);
	assert_true(f.v[1].inside_ns == FTRACE_UNKNOWN && f.v[2].inside_ns == FTRACE_UNKNOWN);
	ftrace_fini(&f);
}

static void test_processes(void **state)
{
	struct ftrace f = read_text("            task-7     (-------) [000] ..... 1.0: f <-g\n"
				    "            task-7     (      5) [000] ..... 1.1: f <-g\n"
				    "            task-8     (      5) [000] ..... 1.2: f <-g\n"
				    "            task-8     (      6) [000] ..... 1.3: f <-g\n"
				    "            task-8     (-------) [000] ..... 1.4: f <-g\n"
				    "# entries-in-buffer/entries-written: 5/17   #P:2\n"
				    "            task-9     [000] ..... 1.5: f <-g\n"
				    "# task: 9 5 1\n# task: 8 5 1\n# task: x\n"
				    "nonsense\n");
	(void)state;
	assert_int_equal(f.v[0].tgid, 5);
	assert_int_equal(f.v[2].tgid, 5);
	assert_int_equal(f.v[3].tgid, 6);
	assert_int_equal(f.v[4].tgid, -1); // of which of them?
	assert_int_equal(f.overwritten, 12);
	assert_int_equal(f.v[5].tgid, 5);
	assert_int_equal(f.ntasks, 2);
	assert_int_equal(f.tasks[0].tid, 8);
	assert_int_equal(f.lines, 7);
	assert_int_equal(f.odd, 1);
	ftrace_fini(&f);
}

// A call of a function by a thread of its own process, in milliseconds: its entry and its return.
#define AT(pid, ms, rest) \
	"            task-" #pid "     (     " #pid ") [000] ..... 1." #ms ": " rest "\n"
#define IN_(pid, ms, f, args)  AT(pid, ms, "e: (" f "+0x0/0x9) " args)
#define OUT_(pid, ms, f, args) AT(pid, ms, "x: (caller+0x1/0x9 <- " f ") " args)
#define CREATED(pid, ms, ring, qid) \
	OUT_(pid, ms, "kfd_ioctl_create_queue", "ret=0 ring=" ring " gpu=5 queue=" #qid)
#define TRAP "kfd_ioctl_set_debug_trap"

static void assert_process(const struct ftrace *f, uint32_t log, int64_t pid, const char *matched)
{
	const struct ftrace_process *p = ftrace_of_log(f, log);
	if (!matched) {
		assert_null(p);
		return;
	}
	assert_non_null(p);
	assert_int_equal(ftrace_pid(p), pid);
	assert_string_equal(p->matched, matched);
}

// Of the log: by the ring of a queue, by the number in the namespace, by the same number.
static void test_match(void **state)
{
	struct ftrace f = read_text(CREATED(20, 001, "0x7000", 3) CREATED(20, 002, "0x8000", 4)
					    CREATED(30, 003, "0x8000", 1)
						    AT(40, 004, "f <-g") "# task: 30 30 9\n");
	struct amdlog_process processes[] = {{.pid = 7}, {.pid = 9}, {.pid = 40}, {.pid = 30}};
	struct amdlog_queue queues[] = {{.process = 0, .hwq = 0x7000},
					{.process = 0, .hwq = 0x8000},
					{.process = 1, .hwq = 0x8000},
					{.process = 0, .hwq = 0x9000},
					{.process = 0, .hwq = AMDLOG_UNKNOWN}};
	struct amdlog_summary log = {
		.processes = processes, .nprocesses = 4, .queues = queues, .nqueues = 5};
	(void)state;
	assert_int_equal(f.nprocesses, 3);
	assert_int_equal(f.nqueues, 3);
	assert_int_equal(f.queues[0].ring, 0x7000);
	assert_int_equal(f.queues[0].created_ns, 1001000000);
	ftrace_match(&f, &log);
	assert_process(&f, 0, 20, "queue");
	assert_process(&f, 1, 30, "namespace");
	assert_process(&f, 2, 40, "number");
	assert_process(&f, 3, 0, NULL); // 30 is the process of the log's 9
	assert_int_equal(ftrace_queue_of(&f, 0)->qid, 3);
	assert_int_equal(ftrace_queue_of(&f, 1)->qid, 4);
	assert_int_equal(ftrace_queue_of(&f, 2)->qid, 1);
	assert_null(ftrace_queue_of(&f, 3));
	assert_null(ftrace_queue_of(&f, 4));
	assert_int_equal(ftrace_numbered(&f, 41), FTRACE_NONE);
	ftrace_fini(&f);
}

// A ring that two processes used tells nothing of a process; two queues of one process at one ring
// tell nothing of a queue.
static void test_conflicts(void **state)
{
	struct ftrace f = read_text(CREATED(20, 001, "0x7000", 3) CREATED(
		30, 002, "0x7000", 1) CREATED(40, 003, "0x8000", 1) CREATED(40, 004, "0x8000", 2));
	struct amdlog_process processes[] = {{.pid = 1}, {.pid = 2}};
	struct amdlog_queue queues[] = {{.process = 0, .hwq = 0x7000},
					{.process = 1, .hwq = 0x8000}};
	struct amdlog_summary log = {
		.processes = processes, .nprocesses = 2, .queues = queues, .nqueues = 2};
	(void)state;
	ftrace_match(&f, &log);
	assert_process(&f, 0, 0, NULL);
	assert_process(&f, 1, 40, "queue");
	assert_null(ftrace_queue_of(&f, 0));
	assert_null(ftrace_queue_of(&f, 1));
	ftrace_fini(&f);
}

// What is matched once stays so; what two say differently is not matched by it.
static void test_doubts(void **state)
{
	struct ftrace f = read_text(
		CREATED(20, 001, "0x7000", 3) CREATED(30, 002, "0x8000", 1) CREATED(
			20, 003, "0x9000", 4) CREATED(70, 004, "0xa000", 7)
			CREATED(90, 005, "0xb000", 8) AT(80, 006, "f <-g") AT(40, 007, "f <-g") AT(
				50, 010, "f <-g") AT(60, 011, "f <-g")
				AT(0, 012,
				   "f <-g") "# task: 40 40 9\n# task: 50 50 9\n# task: 60 60 11\n");
	struct amdlog_process processes[] = {{.pid = 11}, {.pid = 9},  {.pid = 6},
					     {.pid = 70}, {.pid = 80}, {.pid = 20}};
	struct amdlog_queue queues[] = {{.process = 0, .hwq = 0x7000},
					{.process = 0, .hwq = 0x8000},
					{.process = 0, .hwq = 0x9000},
					{.process = 2, .hwq = 0xa000},
					{.process = 4, .hwq = 0xb000}};
	struct amdlog_summary log = {
		.processes = processes, .nprocesses = 6, .queues = queues, .nqueues = 5};
	(void)state;
	ftrace_match(&f, &log);
	assert_process(&f, 0, 60, "namespace"); // its rings are of 20 and 30
	assert_process(&f, 1, 0, NULL);         // two have this number
	assert_process(&f, 2, 70, "queue");
	assert_process(&f, 3, 0, NULL); // 70 is the log's 6
	assert_process(&f, 4, 90, "queue");
	assert_process(&f, 5, 20, "number");
	assert_null(ftrace_queue_of(&f, 0));
	assert_int_equal(f.processes[ftrace_numbered(&f, 80)].log, FTRACE_NONE);
	assert_int_equal(f.processes[ftrace_numbered(&f, 0)].records, 1); // of an idle CPU
	ftrace_fini(&f);
}

// A queue at a ring that had others before: of another number or GPU it could be either, else it is
// the last one. A creation that failed, or whose GPU is missing, is none.
static void test_rings(void **state)
{
	struct ftrace f = read_text(
		CREATED(70, 002, "0xc000", 1) CREATED(70, 001, "0xc000", 1) CREATED(
			70, 003, "0xd000", 2) OUT_(70, 004, "kfd_ioctl_create_queue",
						   "ret=0 ring=0xd000 gpu=6 queue=2")
			OUT_(70, 005, "kfd_ioctl_create_queue", "ret=-12 ring=0xe000 gpu=5 queue=3")
				OUT_(70, 006, "kfd_ioctl_create_queue", "ret=0 ring=0xf000 queue=4")
					OUT_(70, 007, "kfd_ioctl_create_queue",
					     "ret=0 ring=0xf100 gpu=5")
						IN_(70, 010, "kfd_ioctl_create_queue",
						    "ret=0 ring=0xf200 gpu=5 queue=5")
							CREATED(70, 012, "0x1000", 9));
	struct amdlog_process process = {.pid = 70};
	struct amdlog_queue queues[] = {{.hwq = 0xc000}, {.hwq = 0xd000}, {.hwq = 0x1000}};
	struct amdlog_summary log = {
		.processes = &process, .nprocesses = 1, .queues = queues, .nqueues = 3};
	(void)state;
	assert_int_equal(f.nqueues, 6);
	assert_true(f.queues[5].ring == 0xf100 && f.queues[5].qid == FTRACE_NO_ARG);
	ftrace_match(&f, &log);
	assert_int_equal(ftrace_queue_of(&f, 0)->created_ns, 1002000000);
	assert_null(ftrace_queue_of(&f, 1));
	assert_int_equal(ftrace_queue_of(&f, 2)->qid, 9); // the last, at a lower address
	ftrace_fini(&f);
}

// A patched driver's own text names hardware slots, and queues by queue_id= or qid=.
static void test_driver_text(void **state)
{
	static const struct {
		const char *rest;
		int64_t qid;
	} lines[] = {
		{"kgd_hqd_load: load hqd queue_id=924 pipe=0 queue=0", 924},
		{"kgd_hqd_load: load hqd pipe=0 queue=5 qid=7, done", 7},
		{"kgd_hqd_load: load hqd pipe=0 queue=5", FTRACE_NO_ARG},
		{"kgd_hqd_load: load hqd queue=5", FTRACE_NO_ARG},
		{"p: (kgd_hqd_load+0x0/0x9 [amdgpu]) pipe=1 queue=5", FTRACE_NO_ARG},
		{"p: (kgd_hqd_load+0x0/0x9 [amdgpu]) queue=5", 5},
	};
	char text[256];
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "          python-3934101 [012] .... 1.000001: %s",
			 lines[i].rest);
		assert_true(line(text));
		assert_int_equal(ftrace_qid(&r), lines[i].qid);
	}
}

// Before Linux 6.9 a return has its result alone: ring, GPU and queue are those of its entry, that
// of the same thread and function.
static void test_arguments_of_entry(void **state)
{
	struct ftrace f = read_text(
		IN_(70, 001, "kfd_ioctl_create_queue",
		    "ring=0x7000 gpu=5") IN_(71, 002, "kfd_ioctl_create_queue", "ring=0x8000 gpu=6")
			IN_(70, 003, "pqm_destroy_queue", "queue=4")
				OUT_(70, 004, "pqm_destroy_queue", "ret=0")
					OUT_(70, 005, "kfd_ioctl_create_queue", "ret=0")
						OUT_(71, 006, "kfd_ioctl_create_queue", "ret=-12"));
	struct amdlog_process process = {.pid = 7};
	struct amdlog_queue queue = {.hwq = 0x7000};
	struct amdlog_summary log = {
		.processes = &process, .nprocesses = 1, .queues = &queue, .nqueues = 1};
	(void)state;
	assert_int_equal(ftrace_qid(&f.v[3]), 4);
	assert_int_equal(ftrace_call_arg(&f.v[4], "ring"), 0x7000);
	assert_int_equal(ftrace_call_arg(&f.v[5], "gpu"), 6);
	assert_int_equal(f.nqueues, 1);
	ftrace_match(&f, &log);
	assert_process(&f, 0, 70, "queue");
	assert_int_equal(ftrace_queue_of(&f, 0)->gpu, 5);
	assert_true(ftrace_queue_of(&f, 0)->qid == FTRACE_NO_ARG);
	ftrace_fini(&f);
}

#define CREATES(pid, ms) AT(pid, ms, "kfd_ioctl_create_queue <-kfd_ioctl")

// Several processes create queues: the intervals between them tell which is which, and how far the
// clocks are apart. What fits two processes equally well is not guessed.
static void test_ties(void **state)
{
	static const char text[] = CREATES(20, 100) CREATES(20, 150) CREATES(30, 210)
		CREATES(30, 290) CREATES(40, 600) CREATES(50, 700) AT(60, 800, "kfd_open <-a");
	struct amdlog_process processes[] = {
		{.pid = 7, .records = 1}, {.pid = 8, .records = 1}, {.pid = 9, .records = 1}};
	struct amdlog_queue queues[] = {
		{.process = 0, .created_us = 5290000}, // 30, 4 s ahead
		{.process = 0, .created_us = 5210000},
		{.process = 1, .created_us = 5100000}, // 20
		{.process = 1, .created_us = 5151000},
		{.process = 2, .created_us = 5600000}, // 40, once the offset is known
		{.process = 2, .created_us = AMDLOG_UNKNOWN}};
	struct amdlog_summary log = {
		.processes = processes, .nprocesses = 3, .queues = queues, .nqueues = 6};
	(void)state;
	for (unsigned i = 0; i < COUNT(queues); i++)
		queues[i].hwq = AMDLOG_UNKNOWN, queues[i].merged = AMDLOG_NONE;
	struct ftrace f = read_text(text);
	ftrace_match(&f, &log);
	assert_true(ftrace_tie(&f, &log, false));
	assert_process(&f, 0, 30, "guess");
	assert_process(&f, 1, 20, "guess");
	assert_process(&f, 2, 40, "guess");
	assert_int_equal(f.offset_ns, 4000000000);
	ftrace_move(&f, f.offset_ns);
	assert_int_equal(f.v[0].time_ns, 5100000000);
	ftrace_move(&f, -5200000000);
	assert_int_equal(f.v[0].time_ns, 0);
	ftrace_fini(&f);
	// By one clock one creation is enough, but nothing is near it.
	f = read_text(text);
	ftrace_match(&f, &log);
	assert_false(ftrace_tie(&f, &log, true));
	assert_process(&f, 0, 0, NULL);
	assert_process(&f, 2, 0, NULL);
	ftrace_fini(&f);
	// One creation each: any of them may be any. Those that are known already tell the offset.
	f = read_text(CREATES(20, 100) CREATES(30, 200));
	log.nprocesses = 1;
	queues[1].created_us = AMDLOG_UNKNOWN;
	assert_false(ftrace_give(&f, &log, 6, 20));
	assert_false(ftrace_give(&f, &log, 7, 21));
	ftrace_match(&f, &log);
	assert_false(ftrace_tie(&f, &log, false));
	assert_process(&f, 0, 0, NULL);
	assert_true(ftrace_give(&f, &log, 7, 20));
	assert_true(ftrace_tie(&f, &log, false));
	assert_process(&f, 0, 20, "given");
	assert_int_equal(f.offset_ns, 4190000000);
	ftrace_fini(&f);
}

#define CALL(pid, from, to, target, op, f, count, ret)  \
	IN_(pid, from, TRAP, "pid=" #target " op=" #op) \
	IN_(pid, from, f, "count=" #count " queue=2")   \
	OUT_(pid, to, f, "ret=" #ret) OUT_(pid, to, TRAP, "ret=" #ret)
#define ENDS(pid, from, to, ret) \
	IN_(pid, from, "resume_queues", "count=0") OUT_(pid, to, "resume_queues", "ret=" #ret)

static void assert_hold(const struct ftrace *f, size_t i, int64_t target, int64_t most,
			uint64_t begin_ms, uint64_t end_ms, const char *ended)
{
	const struct ftrace_hold *h = &f->holds[i];
	assert_int_equal(ftrace_pid(&f->processes[h->target]), target);
	assert_int_equal(h->most, most);
	assert_int_equal(h->begin_ns, begin_ms * 1000000);
	assert_int_equal(h->end_ns, end_ms * 1000000);
	if (ended)
		assert_string_equal(h->ended, ended);
	else
		assert_null(h->ended);
}

static void test_holds(void **state)
{
	struct ftrace f = read_text(
		// 20 suspends 2 and 1 more of 10, and resumes 2 and 1
		CALL(20, 100, 110, 10, 6, "suspend_queues", 2, 2)
			CALL(20, 120, 130, 10, 6, "suspend_queues", 1, 1)
				CALL(20, 140, 150, 10, 7, "resume_queues", 2, 2)
					CALL(20, 160, 170, 10, 7, "resume_queues", 1, 1)
		// it suspends again and detaches
		CALL(20, 200, 210, 10, 6, "suspend_queues", 3, 3)
			CALL(20, 220, 230, 10, 1, "resume_queues", 0, 3)
		// a failed call holds nothing; the target 11 ends while it is held
		CALL(20, 300, 310, 11, 6, "suspend_queues", 1, -22)
			CALL(20, 320, 330, 11, 6, "suspend_queues", 1, 1) ENDS(11, 340, 350, 1)
		// the holder 21 of two processes ends
		CALL(21, 400, 410, 12, 6, "suspend_queues", 1, 1)
			CALL(21, 420, 430, 13, 6, "suspend_queues", 1, 1) ENDS(21, 440, 450, 2)
		// the end of this one is not in the trace
		CALL(22, 500, 510, 14, 6, "suspend_queues", 1, 1));
	(void)state;
	assert_int_equal(f.nholds, 6);
	assert_hold(&f, 0, 10, 3, 1110, 1170, "resume");
	assert_hold(&f, 1, 10, 3, 1210, 1230, "detach");
	assert_hold(&f, 2, 11, 1, 1330, 1350, "exit");
	assert_hold(&f, 3, 12, 1, 1410, 1450, "exit");
	assert_hold(&f, 4, 13, 1, 1430, 1450, "exit");
	assert_hold(&f, 5, 14, 1, 1510, 0, NULL);
	assert_int_equal(ftrace_pid(&f.processes[f.holds[0].holder]), 20);
	assert_int_equal(f.nmarks, 11);
	assert_true(!f.marks[0].end && f.marks[1].end && f.marks[1].hold == 0);
	ftrace_fini(&f);
}

// In milliseconds: the ioctl from 0 to 90, of it suspend_queues from 10 to 80: unmapping takes 40,
// of which 30 are the wait, mapping 5.
static void test_suspensions(void **state)
{
	struct ftrace f = read_text(
		IN_(20, 000, TRAP, "pid=10 op=6") IN_(20, 010, "suspend_queues", "count=2 queue=4")
			IN_(20, 020, "unmap_queues_cpsch",
			    "") IN_(20, 025, "amdkfd_fence_wait_timeout",
				    "") OUT_(20, 055, "amdkfd_fence_wait_timeout", "ret=0")
				OUT_(20, 060, "unmap_queues_cpsch.isra.0",
				     "ret=0") OUT_(20, 060, "unmap_queues_cpsch", "ret=0")
					IN_(20, 070, "map_queues_cpsch", "")
						OUT_(20, 075, "map_queues_cpsch", "ret=0")
							OUT_(20, 080, "suspend_queues", "ret=2")
								OUT_(20, 090, TRAP, "ret=2")
		// an ioctl that is not traced; another thread's work is none of it
		IN_(21, 100, "suspend_queues", "count=1 queue=7")
			IN_(22, 100, "map_queues_cpsch", "")
				OUT_(22, 105, "map_queues_cpsch", "ret=0")
					OUT_(21, 110, "suspend_queues", "ret=-22")
		// one that begins before it and returns after it, an ioctl with two calls, and one
		// with none
		IN_(23, 095, "suspend_queues", "count=3 queue=8")
			OUT_(23, 120, "suspend_queues", "ret=3") IN_(20, 200, TRAP, "pid=11 op=6")
				IN_(20, 210, "suspend_queues",
				    "count=1 queue=5") OUT_(20, 220, "suspend_queues", "ret=1")
					IN_(20, 230, "suspend_queues", "count=1 queue=6")
						OUT_(20, 240, "suspend_queues",
						     "ret=1") OUT_(20, 260, TRAP, "ret=1")
							CALL(20, 300, 310, 11, 5, "other", 0, 0));
	static const uint64_t ms[STEPS] = {10, 10, 30, 5, 25, 10, 90};
	struct ftrace_suspensions all = ftrace_suspensions(&f);
	(void)state;
	assert_int_equal(all.n, 5);
	for (int i = 0; i < STEPS; i++)
		assert_int_equal(all.v[0].ns[i], ms[i] * 1000000);
	assert_int_equal(all.v[0].target, 10);
	assert_int_equal(all.v[0].queue, 4);
	assert_int_equal(all.v[0].count, 2);
	assert_int_equal(all.v[0].result, 2);
	assert_int_equal(all.v[2].target, FTRACE_NO_ARG);
	assert_int_equal(all.v[2].result, -22);
	assert_true(all.v[2].ns[STEP_ENTER] == FTRACE_UNKNOWN);
	assert_true(all.v[2].ns[STEP_TOTAL] == FTRACE_UNKNOWN);
	assert_int_equal(all.v[2].ns[STEP_MAP], 0);
	assert_int_equal(all.v[2].ns[STEP_REST], 10000000);
	static const struct {
		int64_t pid;
		uint64_t begin_ms, end_ms;
	} calls[] = {{20, 1000, 1090},
		     {23, 1095, 1120},
		     {21, 1100, 1110},
		     {20, 1200, 1220},
		     {20, 1200, 1260}};
	for (int i = 0; i < 5; i++) {
		assert_int_equal(ftrace_pid(&f.processes[all.v[i].process]), calls[i].pid);
		assert_int_equal(all.v[i].begin_ns, calls[i].begin_ms * 1000000);
		assert_int_equal(all.v[i].end_ns, calls[i].end_ms * 1000000);
	}
	assert_int_equal(all.v[3].queue, 5);
	assert_true(all.v[3].ns[STEP_LEAVE] == FTRACE_UNKNOWN);
	assert_int_equal(all.v[4].ns[STEP_LEAVE], 20000000);
	free(all.v);
	ftrace_fini(&f);
}

// Who holds is told by the latest suspension; what one process ends is its own.
static void test_holders(void **state)
{
	struct ftrace f = read_text(
		// of 10, 20 holds two queues, then one, then two
		CALL(20, 100, 110, 10, 6, "suspend_queues", 2, 2)
			CALL(20, 120, 130, 10, 7, "resume_queues", 1, 1)
				CALL(20, 140, 150, 10, 6, "suspend_queues", 1, 1)
		// 21 holds 11, which 22 then holds
		CALL(21, 200, 210, 11, 6, "suspend_queues", 1, 1)
			CALL(22, 220, 230, 11, 6, "suspend_queues", 1, 1)
		// 21 ends twice, which ends none of others
		ENDS(21, 240, 250, 1) ENDS(21, 260, 270, 1)
		// more than are held are resumed
		CALL(22, 280, 290, 11, 7, "resume_queues", 2, 2));
	(void)state;
	assert_int_equal(f.nholds, 3);
	assert_hold(&f, 0, 10, 2, 1110, 0, NULL);
	assert_hold(&f, 1, 11, 1, 1210, 0, NULL);
	assert_hold(&f, 2, 11, 1, 1230, 1290, "resume");
	assert_int_equal(f.holds[0].queues, 2);
	ftrace_fini(&f);
}

// A line is an event if it has a name and a time, and what it has is of the right type.
static void test_event_lines(void **state)
{
#define EVENT(more) "{\"event\":\"a\",\"time_ns\":5" more "}"
	static const struct {
		const char *line;
		bool is;
	} rows[] = {
		{EVENT(""), true},
		{EVENT(",\"pid\":7"), true},
		{EVENT(",\"pid\":null"), true},
		{EVENT(",\"pid\":\"7\""), false},
		{EVENT(",\"pid\":-7"), false},
		{EVENT(",\"ns_pid\":\"x\""), false},
		{EVENT(",\"gpu_id\":{}"), false},
		{EVENT(",\"qid\":\"1\""), false},
		{EVENT(",\"command\":7"), false},
		{EVENT(",\"clock\":7"), false},
		{EVENT(",\"detail\":[]"), false},
		{EVENT(",\"source\":7"), false},
		{EVENT(",\"other\":[7]"), true},
		{"{\"time_ns\":\"5\",\"event\":\"a\"}", false},
		{"{\"time_ns\":5,\"event\":7}", false},
		{"{\"time_ns\":5,\"event\":\"\"}", false},
		{"{\"time_ns\":5}", false},
		{"{\"event\":\"a\"}", false},
		{"{\"event\":\"a\",\"time_ns\":5", false},
		{"[" EVENT("") "]", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ftrace f = read_text(AT(20, 001, "f <-g"));
		ftrace_read_events(&f, rows[i].line, strlen(rows[i].line));
		if (f.nevents != rows[i].is || f.odd_events != !rows[i].is)
			fail_msg("row %zu: %zu events", i, f.nevents);
		ftrace_fini(&f);
	}
#undef EVENT
}

static void test_events(void **state)
{
	static const char text[] =
		"{\"event\":\"queue-restore\",\"pid\":30,\"ns_pid\":2,\"command\":\"train\","
		"\"time_ns\":500}\n"
		"{\"event\":\"queue-eviction\",\"pid\":20,\"ns_pid\":7,\"gpu_id\":5,\"qid\":null,"
		"\"clock\":\"driver\",\"detail\":\"userptr\",\"source\":\"driver\",\"time_ns\":400}"
		"\n"
		"{\"event\":\"no-time\",\"pid\":20}\n"
		"{\"event\":\"gpu-reset\",\"pid\":null,\"time_ns\":600}\n"
		"nonsense\n"
		"{\"event\":\"queue-created\",\"pid\":20,\"time_ns\":400}"; // no newline
	struct ftrace f = read_text(AT(20, 001, "f <-g"));
	(void)state;
	ftrace_read_events(&f, text, strlen(text));
	assert_int_equal(f.odd_events, 2);
	assert_int_equal(f.nevents, 4);
	assert_string_equal(f.events[0].name, "queue-eviction"); // by time, then as in the text
	assert_string_equal(f.events[0].detail, "userptr");
	assert_int_equal(f.events[0].gpu, 5);
	assert_true(f.events[0].qid == UINT64_MAX);
	assert_string_equal(f.events[1].name, "queue-created");
	assert_int_equal(f.events[1].process, f.events[0].process);
	assert_string_equal(f.events[2].name, "queue-restore");
	assert_int_equal(f.events[3].process, FTRACE_NONE);
	assert_int_equal(f.nprocesses, 2);
	assert_text(f.processes[0].comm, "task");
	assert_int_equal(f.processes[0].ns_pid, 7);
	assert_text(f.processes[1].comm, "train");
	assert_int_equal(f.processes[1].ns_pid, 2);
	ftrace_fini(&f);
}

static char root[] = "/tmp/gpq-test-XXXXXX";

static void run(const char *command)
{
	struct buf b = {0};
	buf_printf(&b, command, root, root, root);
	assert_int_equal(system(b.data), 0);
	buf_fini(&b);
}

// The lines of a recording, a row each: is it kept, and with which "# task:" before it?
struct live_line {
	bool kept;
	const char *text, *tasks;
};

static void assert_kept(struct live_threads *t, const struct live_line *rows, size_t n)
{
	struct buf tasks = {0};
	for (size_t i = 0; i < n; i++) {
		tasks.len = 0;
		buf_puts(&tasks, "");
		if (live_threads_keep(t, rows[i].text, strlen(rows[i].text), &tasks) !=
		    rows[i].kept)
			fail_msg("%s: not as wanted", rows[i].text);
		assert_string_equal(tasks.data, rows[i].tasks);
	}
	buf_fini(&tasks);
}

// Ends it, and says on standard error how many records were of processes that are not known.
static void end_live(struct live_threads *t)
{
	char said[200] = "", wanted[200] = "";
	const int err = dup(2), text = memfd_create("said", MFD_CLOEXEC);
	if (t->unknown)
		snprintf(wanted, sizeof(wanted),
			 "gpq: %llu records of processes that are not known were left out; without "
			 "-p and the like they are there\n",
			 (unsigned long long)t->unknown);
	dup2(text, 2);
	live_threads_fini(t);
	dup2(err, 2);
	assert_true(pread(text, said, sizeof(said) - 1, 0) >= 0);
	assert_string_equal(said, wanted);
	close(text);
	close(err);
}

#define KEPT(pick, gpus, rows)                                                 \
	do {                                                                   \
		struct live_threads live;                                      \
		assert_int_equal(live_threads_init(&live, (pick), (gpus)), 0); \
		assert_kept(&live, rows, sizeof(rows) / sizeof((rows)[0]));    \
		unknown = live.unknown;                                        \
		end_live(&live);                                               \
	} while (0)

#define TRAP_IN(pid) "p: (kfd_ioctl_set_debug_trap+0x0/0x9) pid=" pid " op=1"
#define TRAP_OUT     "x: (kfd_ioctl+0x1/0x9 <- kfd_ioctl_set_debug_trap) ret=0"

// Host: 41207 (31 in its container) and 52880 (7 there); 41300 is a thread of 41207.
static void test_live_processes(void **state)
{
	struct pick_opts of_pid = {.pids = {.v = (pid_t[]){41207}, .n = 1, .given = true}},
			 all = {0};
	const struct words gpus = {0};
	char own[64];
	unsigned long long unknown;
	snprintf(own, sizeof(own), "gpq-5    (%7d) [000] ..... 1.0: f <-g", (int)getpid());
	const struct live_line chosen[] = {
		{true, "cpus=2", ""},
		{true, "CPU:1 [LOST 3 EVENTS]", ""},
		{true, "swapper-0 [000] 1.0: f <-g", ""},
		{true, "python3-41300 [000] 1.0: f <-g", "# task: 41300 41207 31\n"},
		{true, "python3-41300 [000] 1.0: f <-g", ""},
		{true, "python3-41207 [000] 1.0: f <-g", "# task: 41207 41207 31\n"},
		{false, "vllm-52880 [000] 1.0: f <-g", ""},
		// A debugger, as long as it works for a chosen process.
		{false, "vllm-52880 [000] 1.1: " TRAP_IN("52880"), ""},
		{false, "vllm-52880 [000] 1.2: " TRAP_OUT, ""},
		{true, "vllm-52880 [000] 1.3: " TRAP_IN("41207"), "# task: 52880 52880 7\n"},
		{true, "vllm-52880 [000] 1.4: f <-g", ""},
		{true, "vllm-52880 [000] 1.5: " TRAP_OUT, ""},
		{false, "vllm-52880 [000] 1.6: f <-g", ""},
		{false, "vllm-52880 [000] 1.7: " TRAP_OUT, ""},
		{true, "vllm-52880 [000] 1.8: " TRAP_IN("41207"), ""},
		{false, "vllm-52880 [000] 1.9: " TRAP_IN("-1"), ""},
		{false, "vllm-52880 [000] 2.0: f <-g", ""},
		// A tid that another process has now, by the column of tracefs.
		{true, "other-77    (  41207) [000] ..... 1.0: f <-g", "# task: 77 41207 31\n"},
		{false, "other-77    (  52880) [000] ..... 1.1: f <-g", ""},
		{true, "other-77    (  41207) [000] ..... 1.2: f <-g", "# task: 77 41207 31\n"},
		{true, "other-77    (  41207) [000] ..... 1.3: f <-g", ""},
		{true, "gone-78    (  41207) [000] ..... 1.2: f <-g", "# task: 78 41207 31\n"},
		{false, "gone-79    (     99) [000] ..... 1.2: f <-g",
		 ""}, // not chosen, whoever it was
		{false, "gone-80 [000] 1.0: f <-g", ""},
		{false, "gone-80 [000] 1.1: f <-g", ""},
		{false, own, ""},
	};
	const struct live_line any[] = {
		{true, "vllm-52880 [000] 1.0: f <-g", "# task: 52880 52880 7\n"},
		{true, "gone-80 [000] 1.0: f <-g", ""},
		{true, "gone-81    (     99) [000] ..... 1.2: f <-g", "# task: 81 99 0\n"},
		{false, own, ""},
	};
	(void)state;
	run("cp -r tests/hosts/gfx90a-k6.12/* %s && mkdir %s/proc/41300 && "
	    "sed 's/Pid:.*/Pid: 41300/' tests/hosts/gfx90a-k6.12/proc/41207/status "
	    ">%s/proc/41300/status");
	assert_int_equal(host_set_root(root), 0);
	KEPT(&of_pid, &gpus, chosen);
	assert_int_equal(unknown, 2);
	KEPT(&all, &gpus, any);
	assert_int_equal(unknown, 0);
}

// A process is looked at again when its thread has another name, as after exec; once chosen it
// stays.
static void test_live_names(void **state)
{
	char name[] = "^train", index[] = "0";
	struct pick_opts by_name = {.comms = {.v = (char *[]){name}, .n = 1}};
	const struct words gpus = {.v = (char *[]){index}, .n = 1}, none = {0};
	struct live_threads t;
	unsigned long long unknown;
	static const struct live_line before[] = {
		{false, "abcdefghijklmno-52880 [000] 1.0: f <-g", ""},
		{false, "gone-80 [000] 1.0: f <-g", ""},
		{false, "gone-82    (     99) [000] ..... 1.2: f <-g", ""},
	};
	static const struct live_line after[] = {
		{true, "abcdefghijklmnp-52880 [000] 1.0: f <-g", "# task: 52880 52880 7\n"},
		{true, "other-52880 [000] 1.0: f <-g", ""}};
	// Where a record names a GPU it must be this one: gpu_id 41460.
	static const struct live_line of_gpu[] = {
		{true, "a-52880 [000] 1.0: p: (kfd_ioctl_create_queue+0x0/0x9) gpu=41460",
		 "# task: 52880 52880 7\n"},
		{false, "a-52880 [000] 1.0: p: (kfd_ioctl_create_queue+0x0/0x9) gpu=41461", ""},
		{true, "a-52880 [000] 1.0: p: (kfd_ioctl_create_queue+0x0/0x9) queue=1", ""},
	};
	(void)state;
	assert_int_equal(live_threads_init(&t, &by_name, &none), 0);
	assert_kept(&t, before, 3);
	assert_int_equal(t.unknown, 2); // of which process, or of which name?
	run("sed -i 's/^Name:.*/Name: trainer/' %s/proc/52880/status");
	assert_kept(&t, after, 2);
	end_live(&t);
	KEPT(&(struct pick_opts){0}, &gpus, of_gpu);
	assert_int_equal(unknown, 0);
	run("rm -rf %s");
	assert_int_equal(host_set_root(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry),       cmocka_unit_test(test_return),
		cmocka_unit_test(test_other),       cmocka_unit_test(test_lost),
		cmocka_unit_test(test_names),       cmocka_unit_test(test_no_record),
		cmocka_unit_test(test_pairs),       cmocka_unit_test(test_across),
		cmocka_unit_test(test_processes),   cmocka_unit_test(test_match),
		cmocka_unit_test(test_conflicts),   cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_rings),       cmocka_unit_test(test_ties),
		cmocka_unit_test(test_driver_text), cmocka_unit_test(test_arguments_of_entry),
		cmocka_unit_test(test_holds),       cmocka_unit_test(test_suspensions),
		cmocka_unit_test(test_holders),     cmocka_unit_test(test_events),
		cmocka_unit_test(test_event_lines), cmocka_unit_test(test_live_processes),
		cmocka_unit_test(test_live_names),
	};
	return mkdtemp(root) ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
