// Whose evictions the driver tells of, common/rows/evictions.c: streams of the test's own, and
// drivers that write one or the other number of a process. Facts: [kfd.smi-pids].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rows/evictions.h"

#include "common/host/root.h"

#include <fcntl.h>
#include <signal.h>

static int to[2]; // writing ends of the streams of two GPUs

static size_t fake_open_all(uint64_t mask, int **fds)
{
	assert_int_equal(mask, UINT64_C(1) << 8 | UINT64_C(1) << 9);
	*fds = xcalloc(2, sizeof(**fds));
	for (unsigned i = 0; i < 2; i++) {
		int ends[2];
		assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
		(*fds)[i] = ends[0];
		to[i] = ends[1];
	}
	return 2;
}

#define kfd_smi_open_all fake_open_all
#include "common/rows/evictions.c" // NOLINT(bugprone-suspicious-include)

static char top[] = "/tmp/gpq-evictions-XXXXXX";

static void run(const char *command)
{
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

static void set_release(const char *release)
{
	run(PATH("mkdir -p %s/proc/sys/kernel && echo %s >%s/proc/sys/kernel/osrelease", top,
		 release, top));
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(top) ? host_set_root(top) : -1;
}

static int teardown(void **state)
{
	(void)state;
	run(PATH("rm -r %s", top));
	return 0;
}

// Releases before 6.12.96 write the host's PID, from 7.3 on that of the process's namespace, those
// between one or the other: a number that may be of two processes is of none.
static void test_numbers(void **state)
{
	static const struct {
		const char *release;
		unsigned told, of; // PID that is told; that of the process that is meant, 0: none
	} cases[] = {
		{"6.12.95", 7, 7}, {"6.12.95", 9, 9}, {"6.12.95", 5, 0}, {"7.3.4", 7, 9},
		{"7.3.4", 5, 7},   {"7.3.4", 9, 0},   {"6.12.96", 5, 7}, {"6.12.96", 7, 0},
		{"6.12.96", 9, 9}, {"6.12.96", 1, 0},
	};
	struct queue_row rows[] = {{.pid = 7, .gpu_id = 0xa1, .process.ns_pid = 5},
				   {.pid = 9, .gpu_id = 0xa1, .process.ns_pid = 7},
				   {.pid = 7, .gpu_id = 0xa2, .process.ns_pid = 5},
				   {.pid = 9, .gpu_id = 0xa2, .process.ns_pid = 7}};
	const struct queue_rows all = {.rows = rows, .n = COUNT(rows)};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		set_release(cases[i].release);
		struct evictions *e = evictions_open();
		assert_non_null(e);
		dprintf(to[0], "9 5 -%u a1 0\n", cases[i].told);
		dprintf(to[1], "9 6 -%u a2 1\n", cases[i].told);
		evictions_read(e);
		for (size_t k = 0; k < all.n; k++) {
			const char *got = evictions_trigger(e, &all, &rows[k]);
			assert_string_equal(got ? got : "none", rows[k].pid != cases[i].of ? "none"
								: k < 2                    ? "svm"
									: "userptr");
		}
		evictions_close(e);
		for (unsigned k = 0; k < 2; k++) {
			assert_int_equal(write(to[k], "x", 1), -1); // nobody reads it any more
			close(to[k]);
		}
	}
	assert_null(evictions_trigger(NULL, &all, rows));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers)};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, setup, teardown);
}
