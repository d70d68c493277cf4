// How long common/reader/reader.c waits for an answer, and whom it does not ask again, by a clock
// and children of the test's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

static uint64_t now_ns = UINT64_C(1000000000000);

static uint64_t fake_clock(void)
{
	return now_ns;
}

static struct {
	bool ended[200]; // by pid
	pid_t killed;
	unsigned waits; // calls that wait for the end
} children;

static int fake_kill(pid_t pid, int sig)
{
	assert_int_equal(sig, SIGKILL);
	children.killed = pid;
	return 0;
}

static pid_t fake_waitpid(pid_t pid, int *status, int flags)
{
	assert_null(status);
	children.waits += flags == 0;
	return flags == 0 || children.ended[pid] ? pid : 0;
}

#define clock_ns fake_clock
#define kill     fake_kill
#define waitpid  fake_waitpid
#include "common/reader/reader.c" // NOLINT(bugprone-suspicious-include)
#undef kill
#undef waitpid

#define MS UINT64_C(1000000)

static unsigned reports;
static char reported[64];

static void note(const char *path, int error)
{
	assert_true(error == ETIMEDOUT || error == EIO);
	reports++;
	snprintf(reported, sizeof(reported), "%s", path);
}

static void wait_for(pid_t whose, unsigned ms, int error)
{
	const struct asked a = {.whose = whose, .since_ns = now_ns};
	now_ns += ms * MS;
	report_silence(&a, error);
}

// Waits without an answer add up, a tenth of the time that passes comes back.
static void test_budget(void **state)
{
	static const struct {
		unsigned ms;
		int error;
		unsigned then; // patience behind it
	} waits[] = {
		{0, ETIMEDOUT, 2000},
		{2000, ETIMEDOUT, 2000}, // 2000 - 200 are spent
		{2000, ETIMEDOUT, 2000}, // 3600
		{2000, ETIMEDOUT, 2000}, // 5400
		{2000, ETIMEDOUT, 50},   // 7200
		{11990, EIO, 50},        // 6001
		{10, 0, 50},             // 6000
		{10, ENOENT, 2000},      // 5999
		{100, ETIMEDOUT, 50},    // 6089
		{60890, EIO, 2000},      // none
		{90000, EIO, 2000},
		{6000, ETIMEDOUT, 2000}, // 5400
	};
	(void)state;
	host_on_trouble(note);
	assert_int_equal(patience_ms(4711), 2000);
	for (size_t i = 0; i < COUNT(waits); i++) {
		wait_for(4711, waits[i].ms, waits[i].error);
		assert_int_equal(patience_ms(4711), waits[i].then);
		assert_int_equal(patience_ms(READER_DRIVER), waits[i].then == 50 ? 50 : 3000);
	}
}

static void test_reports(void **state)
{
	static const struct {
		pid_t whose;
		int error;
		const char *reported;
	} all[] = {{4711, ETIMEDOUT, "pid 4711: its memory"},
		   {4712, EIO, "pid 4712: its memory"},
		   {READER_DRIVER, ETIMEDOUT, "the driver"},
		   {READER_DRIVER, EIO, "the driver"},
		   {READER_NAMES, ETIMEDOUT, ""},
		   {READER_NAMES, EIO, ""},
		   {4711, 0, ""},
		   {4711, EPROTO, ""},
		   {READER_DRIVER, EPROTO, ""}};
	(void)state;
	host_on_trouble(note);
	for (size_t i = 0; i < COUNT(all); i++) {
		reports = 0;
		reported[0] = 0;
		wait_for(all[i].whose, 0, all[i].error);
		assert_string_equal(reported, all[i].reported);
		assert_int_equal(reports, *all[i].reported != 0);
	}
}

// A child that sleeps has 2 s, one that runs, as this process does, 20 s.
static void test_overdue(void **state)
{
	struct asked a = {.whose = 4711, .since_ns = now_ns += 100000 * MS};
	struct reader r = {.v = &a, .n = 1, .child = fork()};
	(void)state;
	if (!r.child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	while (is_running(r.child))
		sched_yield();
	for (unsigned runs = 0; runs < 2; runs++) {
		const pid_t child = r.child;
		a.since_ns = now_ns;
		r.child = runs ? getpid() : child;
		now_ns += (runs ? 20000 : 2000) * MS - 1;
		assert_false(is_overdue(&r));
		now_ns++;
		assert_true(is_overdue(&r));
		r.child = child;
	}
	kill(r.child, SIGKILL);
	waitpid(r.child, NULL, 0);
}

// Whom a child that was left behind is about is silent until that child has ended.
static void test_left(void **state)
{
	(void)state;
	leave_child(101, 4711);
	assert_int_equal(children.killed, 101);
	assert_true(is_silent(4711) && !is_silent(4712));
	leave_child(102, 4712);
	leave_child(103, 4713);
	assert_true(is_silent(4711) && is_silent(4712) && is_silent(4713));
	children.ended[102] = true;
	assert_true(is_silent(4711) && !is_silent(4712) && is_silent(4713));
	assert_int_equal(nleft, 2); // none is waited for twice
	children.ended[104] = true;
	leave_child(104, 4712);
	assert_false(is_silent(4712));
	assert_int_equal(children.waits, 0);
	leave_child(105, READER_NAMES);
	assert_int_equal(children.waits, 1);
	assert_false(is_silent(READER_NAMES));
	children.ended[101] = children.ended[103] = true;
	assert_false(is_silent(4711) || is_silent(4713));
	assert_int_equal(nleft, 0);
}

static void test_freed(void **state)
{
	struct reader *r = reader_new();
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)state;
	children.killed = 0;
	r->child = 106;
	r->fd = fd;
	reader_free(r);
	assert_int_equal(children.killed, 106);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	reader_free(NULL);
}

// The time that a process has used so far, and none of a child that there is not.
static void test_cpu_time(void **state)
{
	const uint64_t before = clock_cpu_ns(), used = cpu_of(getpid()), after = clock_cpu_ns();
	(void)state;
	assert_true(before <= used && used <= after);
	assert_int_equal(cpu_of(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget),  cmocka_unit_test(test_reports),
		cmocka_unit_test(test_overdue), cmocka_unit_test(test_left),
		cmocka_unit_test(test_freed),   cmocka_unit_test(test_cpu_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
