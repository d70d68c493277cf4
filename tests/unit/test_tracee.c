// common/holder/ptrace.c: signals of a traced process are handed on whatever becomes of the tracer,
// which is killed here at the moment it is about to hand one on. Three processes: the victim counts
// signals, the tracer serves it, and this one drives the tracer from system call to system call.
// And common/holder/session_untraced.c: when a target counts as let go.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/holder/ptrace.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/abi.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// arm64 has epoll_pwait() alone, which epoll_wait(3) is there.
#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif

// What the kernel says of the target, one answer after the other.
struct seen {
	int status; // of proc_read()
	pid_t tracer;
};
static const struct seen *next_seen;
static unsigned naps;

static int fake_proc_read(struct proc *p, pid_t pid)
{
	assert_int_equal(pid, 7);
	p->tracer = next_seen->tracer;
	return next_seen++->status;
}

#define proc_read(p, pid)  fake_proc_read(p, pid)
#define nanosleep(t, rest) ((void)(t), naps++)
#include "common/holder/session_untraced.c" // NOLINT(bugprone-suspicious-include)
#undef nanosleep

#define PATIENCE_MS 20000

static int got[2]; // the victim writes a byte for each signal

static void count(int sig)
{
	char byte = (char)sig;
	if (write(got[1], &byte, 1) != 1)
		_exit(1);
}

static pid_t start_victim(void)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // Yama would want an ancestor
	signal(SIGUSR1, count);
	count(0);
	for (;;)
		pause();
}

static pid_t start_tracer(pid_t victim)
{
	pid_t pid = fork();
	struct kfd_failure f;
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tracee_seize(victim, &f) < 0)
		_exit(1);
	count(1);
	while (tracee_serve(victim))
		poll(NULL, 0, 1);
	_exit(0);
}

// The next byte of the victim, or -1 when none came.
static int next_byte(int patience_ms)
{
	struct pollfd p = {.fd = got[0], .events = POLLIN};
	char byte;
	return poll(&p, 1, patience_ms) == 1 && read(got[0], &byte, 1) == 1 ? byte : -1;
}

static void wait_stop(pid_t tracer)
{
	int status;
	assert_int_equal(waitpid(tracer, &status, __WALL), tracer);
	assert_true(WIFSTOPPED(status));
}

// Stops the tracer wherever it is.
static void stop(pid_t tracer)
{
	assert_int_equal(ptrace(PTRACE_SEIZE, tracer, 0, PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, tracer, 0, 0), 0);
	wait_stop(tracer);
}

// Lets the stopped tracer go on until it is about to make the ptrace call `request`.
static void run_until(pid_t tracer, uint64_t request)
{
	struct __ptrace_syscall_info info = {0};
	while (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_ptrace ||
	       info.entry.args[0] != request) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, tracer, 0, 0), 0);
		wait_stop(tracer);
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, tracer, sizeof(info), &info) > 0);
	}
}

static void test_killed_tracer(void **state)
{
	pid_t victim = start_victim(), tracer;
	(void)state;
	alarm(600); // whatever goes wrong, it ends
	assert_int_equal(next_byte(PATIENCE_MS), 0);
	for (int i = 0; i < 20; i++) {
		tracer = start_tracer(victim);
		assert_int_equal(next_byte(PATIENCE_MS), 1);
		stop(tracer); // before there is a signal that it could hand on unseen
		kill(victim, SIGUSR1);
		run_until(tracer, PTRACE_CONT);
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, __WALL);
		assert_int_equal(next_byte(PATIENCE_MS), SIGUSR1); // it came
		assert_int_equal(next_byte(20), -1);               // and only once
	}
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
}

// Holds the victim and stops itself meanwhile.
static pid_t start_keeper(pid_t victim)
{
	pid_t pid = fork();
	struct kfd_failure f;
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tracee_seize(victim, &f) < 0 || tracee_hold(victim) != 0)
		_exit(1);
	count(1);
	raise(SIGSTOP);
	tracee_release(victim);
	count(2);
	while (tracee_serve(victim))
		poll(NULL, 0, 1);
	_exit(0);
}

// Its memory is there: a process that has left its address space has none.
static bool has_memory(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *file;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return text[0] != '0';
}

// A held victim keeps its memory when it is killed, twice, and gets a signal when it is released.
// When the tracer is killed instead, it runs on. Its real parent sees how it ended.
static void test_held(void **state)
{
	static const int how[] = {0, SIGKILL, SIGUSR1}; // 0: the tracer is killed, nothing is sent
	(void)state;
	alarm(600);
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		pid_t victim = start_victim(), keeper;
		int status;
		assert_int_equal(next_byte(PATIENCE_MS), 0);
		keeper = start_keeper(victim);
		assert_int_equal(next_byte(PATIENCE_MS), 1);
		if (how[i])
			kill(victim, how[i]);
		if (how[i] == SIGKILL)
			kill(victim, SIGKILL); // once more
		assert_int_equal(next_byte(50), -1);
		assert_true(has_memory(victim));
		kill(keeper, how[i] ? SIGCONT : SIGKILL);
		if (how[i] == SIGUSR1) { // in either order
			int one = next_byte(PATIENCE_MS), two = next_byte(PATIENCE_MS);

			assert_int_equal(one + two, SIGUSR1 + 2);
		} else if (how[i]) {
			assert_int_equal(next_byte(PATIENCE_MS), 2);
		} else {
			kill(victim, SIGUSR1); // it runs on
			assert_int_equal(next_byte(PATIENCE_MS), SIGUSR1);
		}
		if (how[i] != SIGKILL)
			kill(victim, SIGTERM);
		assert_int_equal(waitpid(victim, &status, 0), victim);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), how[i] == SIGKILL ? SIGKILL : SIGTERM);
		waitpid(keeper, &status, 0);
	}
}

// Whether a process called exec between the beginning of tracing and the stop.
static void test_exec_is_seen(void **state)
{
	(void)state;
	alarm(600);
	for (int execs = 0; execs <= 1; execs++) {
		struct kfd_failure f;
		siginfo_t stop;
		int go[2];
		char byte;
		assert_int_equal(pipe(go), 0);
		pid_t victim = fork();
		if (!victim) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			count(0);
			if (read(go[0], &byte, 1) == 1)
				execl("/bin/sleep", "sleep", "60", (char *)NULL);
			_exit(1);
		}
		assert_int_equal(next_byte(PATIENCE_MS), 0);
		assert_int_equal(tracee_seize(victim, &f), 0);
		if (execs) {
			assert_int_equal(write(go[1], "", 1), 1);
			assert_int_equal(waitid(P_PID, (id_t)victim, &stop, WSTOPPED | WNOWAIT), 0);
		}
		assert_int_equal(tracee_hold(victim), execs);
		tracee_release(victim);
		kill(victim, SIGKILL);
		assert_int_equal(waitpid(victim, NULL, __WALL), victim);
		close(go[0]);
		close(go[1]);
	}
}

// A process that is no more cannot be traced, and that is said.
static void test_seize_nobody(void **state)
{
	struct kfd_failure f;
	(void)state;
	const pid_t pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(tracee_seize(pid, &f), -1);
	assert_non_null(strstr(f.text, "no such process"));
}

static long syscall_of(const char *path)
{
	char text[256];
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return *text == 'r' ? -1 : strtol(text, NULL, 10); // "running"
}

// Waits for nothing, and tells when that is interrupted.
static void *wait_for_nothing(void *tid)
{
	struct epoll_event event;
	const int none = epoll_create1(EPOLL_CLOEXEC);
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	count(3);
	while (epoll_wait(none, &event, 1, -1) < 0)
		count(*(pid_t *)tid & 0x7f);
	return NULL;
}

// Of the threads whose system calls a made-up /proc tells, only one that waits for its debugger is
// interrupted.
static void test_rescue(void **state)
{
	static const struct {
		unsigned call, request;
	} threads[] = {{SYS_ioctl + 1, KFD_RUNTIME_ENABLE},
		       {SYS_ioctl, KFD_DBG_TRAP},
		       {SYS_ioctl, KFD_RUNTIME_ENABLE}};
	enum { N = COUNT(threads) };
	char dir[] = "/tmp/test_tracee.XXXXXX", path[100];
	pid_t *tids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	(void)state;
	alarm(600);
	const pid_t victim = fork();
	if (!victim) {
		pthread_t t;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		for (unsigned i = 0; i < N; i++)
			pthread_create(&t, NULL, wait_for_nothing, &tids[i]);
		for (;;)
			pause();
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(next_byte(PATIENCE_MS), 3);
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "mkdir -p %s/proc/%d/task/%d", dir, victim, tids[i]);
		assert_int_equal(system(path), 0);
		snprintf(path, sizeof(path), "%s/proc/%d/task/%d/syscall", dir, victim, tids[i]);
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		fprintf(file, "%u 0x3 0x%x 0x7ffc1000 0x0 0x0 0x0 0x7ffc0000 0x7f00\n",
			threads[i].call, threads[i].request);
		fclose(file);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", victim, tids[i]);
		while (syscall_of(path) != SYS_epoll_wait)
			sched_yield();
	}
	assert_int_equal(host_set_root(dir), 0);
	tracee_rescue(victim);
	assert_int_equal(host_set_root("/"), 0);
	assert_int_equal(next_byte(PATIENCE_MS), tids[N - 1] & 0x7f);
	assert_int_equal(next_byte(20), -1);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	munmap(tids, 4096);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

// The target is waited for until it is gone, or the thread no longer traces it.
static void test_let_go(void **state)
{
	enum { THREAD = 8, OTHER = 9 };
	static const struct {
		struct seen seen[3];
		unsigned naps;
	} rows[] = {
		{{{0, 0}}, 0},
		{{{0, OTHER}}, 0},
		{{{-1, THREAD}}, 0},
		{{{0, THREAD}, {0, 0}}, 1},
		{{{0, THREAD}, {0, THREAD}, {0, OTHER}}, 2},
		{{{0, THREAD}, {0, THREAD}, {-1, THREAD}}, 2},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		next_seen = rows[i].seen;
		naps = 0;
		wait_until_let_go(7, THREAD);
		assert_int_equal(naps, rows[i].naps);
		assert_ptr_equal(next_seen, &rows[i].seen[naps + 1]);
	}
}

static int setup(void **state)
{
	(void)state;
	return pipe(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_tracer), cmocka_unit_test(test_held),
		cmocka_unit_test(test_exec_is_seen),  cmocka_unit_test(test_seize_nobody),
		cmocka_unit_test(test_rescue),        cmocka_unit_test(test_let_go)};
	return cmocka_run_group_tests(tests, setup, NULL);
}
