// Text of kernel traces (common/ftrace): lines of both kernels and of trace-cmd, pairs, damage.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/ftrace/ftrace.h"

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
	int64_t n;
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
	assert_true(ftrace_arg(&r, "ring", &n) && n == 0x7ffff7fe7000);
	assert_true(ftrace_arg(&r, "gpu", &n) && n == 21385);
	assert_false(ftrace_arg(&r, "gp", &n));
	assert_false(ftrace_arg(&r, "u", &n));
}

static void test_return(void **state)
{
	int64_t n;
	(void)state;
	assert_true(line("             dbg-169   [000] d..1.     8.186803: x_ret: "
			 "(unmap_queues_cpsch+0x115/0x2f0 "
			 "[amdgpu] <- amdkfd_fence_wait_timeout) ret=-62"));
	assert_int_equal(r.kind, FTRACE_RETURN);
	assert_int_equal(r.tgid, -1);
	assert_text(r.name, "amdkfd_fence_wait_timeout");
	assert_true(ftrace_arg(&r, "ret", &n) && n == -62);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry),     cmocka_unit_test(test_return),
		cmocka_unit_test(test_other),     cmocka_unit_test(test_lost),
		cmocka_unit_test(test_names),     cmocka_unit_test(test_no_record),
		cmocka_unit_test(test_pairs),     cmocka_unit_test(test_across),
		cmocka_unit_test(test_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
