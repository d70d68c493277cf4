// Threads of processes, and frozen control groups, common/host/threads.c and container.c: on hosts
// that a case writes down as files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/host/container.h"
#include "common/host/root.h"
#include "common/host/threads.h"

static char root[] = "/tmp/gpq-threads-XXXXXX";

static void put(const char *path, const char *text)
{
	char command[512];
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s%s)\" && printf '%s' >%s%s",
		 root, path, text, root, path);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

static int setup(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) && host_set_root(root) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command); // NOLINT(cert-env33-c)
}

static struct proc_threads threads_of(pid_t pid)
{
	struct proc_threads t;
	proc_threads_read(&t, pid);
	return t;
}

static void test_states(void **state)
{
	(void)state;
	struct proc_threads t = threads_of(7);
	assert_int_equal(t.n, 0);
	assert_false(proc_threads_stand(&t));
	put("/proc/7/status", "Name:\\tx\\nState:\\tT (stopped)\\n");
	t = threads_of(7); // recorded without threads
	assert_int_equal(t.n, 1);
	assert_int_equal(t.stopped, 1);
	assert_true(proc_threads_stand(&t));
	put("/proc/7/task/7/stat", "7 (a) R) S 1 7\\n"); // the name has a parenthesis
	put("/proc/7/task/8/stat", "8 (b) R 1 7\\n");
	put("/proc/7/task/9/stat", "9 (c) T 1 7\\n");
	put("/proc/7/task/10/stat", "10 (c) t 1 7\\n");
	put("/proc/7/task/11/stat", "no stat");
	put("/proc/7/task/12/stat", "12 (x)");
	put("/proc/7/task/x/stat", "13 (x) R 1\\n");
	t = threads_of(7);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.running, 1);
	assert_int_equal(t.stopped, 2);
	assert_int_equal(t.traced, 1);
	assert_false(t.frozen);
	assert_false(proc_threads_stand(&t));
	put("/proc/7/task/7/stat", "7 (a) T 1 7\\n");
	put("/proc/7/task/8/stat", "8 (b) t 1 7\\n");
	t = threads_of(7);
	assert_true(proc_threads_stand(&t));
	put("/proc/7/task/8/stat", "8 (b) S 1 7\\n");
	put("/proc/7/cgroup", "0::/a/b\\n");
	put("/sys/fs/cgroup/a/b/cgroup.events", "populated 1\\nfrozen 1\\n");
	t = threads_of(7);
	assert_true(t.frozen);
	assert_true(proc_threads_stand(&t));
	assert_false(threads_of(5).frozen);
	put("/proc/5/frozen", ""); // as recorded
	assert_true(threads_of(5).frozen);
}

static void assert_told(pid_t pid, const char *wanted)
{
	struct buf b = {0};
	proc_threads_tell(&b, pid);
	assert_string_equal(b.data ? b.data : "", wanted);
	buf_fini(&b);
}

static void thread(unsigned tid, char state, const char *place)
{
	char path[64], stat[32];
	snprintf(path, sizeof(path), "/proc/8/task/%u/stat", tid);
	snprintf(stat, sizeof(stat), "%u (x) %c 1", tid, state);
	put(path, stat);
	snprintf(path, sizeof(path), "/proc/8/task/%u/wchan", tid);
	if (place)
		put(path, place);
}

static void test_places(void **state)
{
	(void)state;
	assert_told(8, "");
	thread(9, 'S', "futex_wait_queue");
	assert_told(8, "1: futex_wait_queue"); // the first one ended
	thread(8, 'S', "kfd_wait_on_events");
	assert_told(8, "the first thread: kfd_wait_on_events, 1 other: futex_wait_queue");
	thread(10, 'S', "futex_wait_queue");
	thread(11, 'R', "0");
	thread(12, 'S', "0");
	thread(13, 'D', "0");
	thread(14, 't', "0");
	assert_told(8,
		    "the first thread: kfd_wait_on_events, 2 others: futex_wait_queue, 1: in the "
		    "kernel, 1: run, 1: sleep, 1: stopped");
	thread(15, 'S', "a_place");
	thread(16, 'S', NULL);
	assert_told(
		8, "the first thread: kfd_wait_on_events, 2 others: futex_wait_queue, 2: sleep, 1: "
		   "a_place, 1: in the kernel, 1: run, ...");
}

static void stack_of(unsigned tid, const char *frames)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/8/task/%u/stack", tid);
	put(path, frames);
}

// The function of the driver from which a thread sleeps, for those who may see it.
static void test_driver(void **state)
{
	(void)state;
	thread(8, 'S', "msleep");
	stack_of(8, "[<0>] msleep+0x2d/0x40\\n[<0>] pqm_destroy_queue+0x1a3/0x2c0 [amdgpu]\\n"
		    "[<0>] kfd_ioctl_destroy_queue+0x5f/0x90 [amdgpu]\\n[<0>] "
		    "do_syscall_64+0x5/0x9\\n");
	assert_told(8, "the first thread: msleep in pqm_destroy_queue");
	stack_of(8, "[<0>] kfd_wait_on_events+0x1/0x2 [amdgpu]\\n");
	assert_told(8, "the first thread: msleep in kfd_wait_on_events");
	thread(8, 'S', "kfd_wait_on_events");
	assert_told(8, "the first thread: kfd_wait_on_events");
	stack_of(8, "[<0>] kfd_wait_on_events_and_more+0x1/0x2 [amdgpu]\\n");
	assert_told(8, "the first thread: kfd_wait_on_events in kfd_wait_on_events_and_more");
	thread(8, 'S', "futex_wait_queue");
	assert_told(8, "the first thread: futex_wait_queue");
	thread(8, 'D', "msleep");
	for (const char *const *s =
		     (const char *const[]){" [amdgpu]", "\\n [amdgpu]\\n", "x [other]\\n", NULL};
	     *s; s++) {
		stack_of(8, *s);
		assert_told(8, "the first thread: msleep");
	}
	stack_of(8, "a_function_whose_name_is_longer_than_any_that_the_driver_has_or_will_have_for_"
		    "as_long_as_it_lives "
		    "[amdgpu]\\n");
	assert_told(8, "the first thread: msleep in "
		       "a_function_whose_name_is_longer_than_any_that_the_driver_has_or_will_have_"
		       "for_as_long");
	thread(8, 'S', "0");
	assert_told(8, "the first thread: sleep");
}

static void test_frozen(void **state)
{
	(void)state;
	assert_false(cgroup_is_frozen("0::/a\n"));
	put("/sys/fs/cgroup/a/cgroup.events", "populated 1\\nfrozen 0\\n");
	put("/sys/fs/cgroup/b/cgroup.events", "populated 1\\nfrozen 1\\n");
	put("/sys/fs/cgroup/freezer/b/freezer.state", "THAWED\\n");
	put("/sys/fs/cgroup/freezer/c/freezer.state", "FROZEN\\n");
	assert_false(cgroup_is_frozen(""));
	assert_false(cgroup_is_frozen("0::/a\n"));
	assert_true(cgroup_is_frozen("0::/b\n"));
	assert_true(cgroup_is_frozen("4:memory:/a\n0::/b\n"));
	assert_false(cgroup_is_frozen("4:memory:/b\n"));
	assert_true(cgroup_is_frozen("5:freezer:/c\n0::/a\n"));
	assert_false(cgroup_is_frozen("5:freezer:/b\n"));
	assert_false(cgroup_is_frozen("5:memory:/c:freezer:\n"));
	assert_false(cgroup_is_frozen("10::/b\n"));
	assert_false(cgroup_is_frozen("0::/a/../b\n")); // of another control group namespace
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {TEST(test_states), TEST(test_places),
						  TEST(test_driver), TEST(test_frozen)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
