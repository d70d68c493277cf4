// Seizing a process and keeping its life going. Facts: ptrace(2), kfd-facts.md 2.2 and 2.5.
#include "common/holder/ptrace.h"

#include "common/kfd/abi.h"
#include "common/holder/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DYING_HOLDER_MS 3000

// Yama's ptrace_scope, 0 when there is no Yama.
static int yama_scope(void)
{
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char c = '0';

	if (fd < 0)
		return 0;
	if (read(fd, &c, 1) != 1)
		c = '0';
	close(fd);
	return c - '0';
}

int tracee_explain_holder(pid_t holder, struct kfd_failure *f)
{
	struct kfd_ptrace_facts facts;

	if (geteuid() != 0 && kfd_ptrace_facts(holder, &facts) == 0 && facts.uid != geteuid())
		return kfd_fail(f, KFD_FAULT_HELD, (int)holder);
	return kfd_fail(f, KFD_FAULT_HELD_APART, (int)holder, (int)holder);
}

// Why PTRACE_SEIZE said EPERM. The kernel does not tell; the likeliest cause is named.
static int explain_refusal(pid_t pid, struct kfd_failure *f)
{
	static const enum kfd_fault by_scope[] = {KFD_FAULT_NOT_DUMPABLE, KFD_FAULT_YAMA_CHILD,
						  KFD_FAULT_YAMA_ADMIN, KFD_FAULT_YAMA_OFF};
	struct kfd_ptrace_facts facts;
	int scope = yama_scope();

	if (kfd_ptrace_facts(pid, &facts) < 0)
		return kfd_fail(f, KFD_FAULT_NO_PROCESS);
	if (pid == getpid())
		return kfd_fail(f, KFD_FAULT_SELF);
	if (facts.state == 'Z' || facts.state == 'X')
		return kfd_fail(f, KFD_FAULT_NO_LEADER);
	if (!facts.has_memory)
		return kfd_fail(f, KFD_FAULT_NOT_KFD);
	if (facts.tracer && strcmp(facts.tracer_name, KFD_HOLDER_COMM) == 0)
		return tracee_explain_holder(facts.tracer, f);
	if (facts.tracer)
		return kfd_fail(f, KFD_FAULT_TRACED, (int)facts.tracer, facts.tracer_name);
	if (geteuid() != 0 && facts.uid != geteuid())
		return kfd_fail(f, KFD_FAULT_OTHER_USER, (unsigned)facts.uid);
	return kfd_fail(f, by_scope[scope >= 0 && scope <= 3 ? scope : 0]);
}

// Waits for a holder that is on its way out. True when there was one and it ended.
static bool wait_for_dying_holder(pid_t pid)
{
	struct kfd_ptrace_facts facts;
	struct pollfd p = {.events = POLLIN};
	int r;

	if (kfd_ptrace_facts(pid, &facts) < 0 || strcmp(facts.tracer_name, KFD_HOLDER_COMM) != 0)
		return false;
	p.fd = (int)syscall(SYS_pidfd_open, facts.tracer, 0);
	if (p.fd < 0)
		return errno == ESRCH;
	r = poll(&p, 1, DYING_HOLDER_MS);
	close(p.fd);
	return r == 1;
}

int tracee_seize(pid_t pid, struct kfd_failure *f)
{
	do {
		if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0)
			return 0;
		if (errno != EPERM)
			return kfd_fail_errno(f, KFD_STEP_SEIZE, errno);
	} while (wait_for_dying_holder(pid));
	return explain_refusal(pid, f);
}

static bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

// Lets a stopped tracee go on as if nobody watched.
static void pass_on(pid_t pid, int sig, int event)
{
	// A group stop stays one: PTRACE_LISTEN leaves it stopped and lets SIGCONT wake it.
	if (event == PTRACE_EVENT_STOP && is_stop_signal(sig))
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0 : sig);
}

// Stops are looked at and not taken (WNOWAIT): the kernel forgets the signal of a stop that was
// taken, and if we were killed before PTRACE_CONT, the target would never get it.
enum tracee_state tracee_serve(pid_t pid)
{
	for (;;) {
		siginfo_t stop = {0};
		int r = waitid(P_PID, (id_t)pid, &stop,
			       WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0 && stop.si_pid == 0)
			return TRACEE_RUNS;
		if (r < 0 || stop.si_code != CLD_TRAPPED)
			return TRACEE_GONE;
		pass_on(pid, stop.si_status & 0xff, stop.si_status >> 8);
	}
}

// Does thread `tid` of `pid` sleep in ioctl(RUNTIME_ENABLE)? /proc says "NUMBER 0xFD 0xREQUEST
// ...".
static bool waits_for_debugger(pid_t pid, pid_t tid)
{
	char path[64], text[256], *p = text;
	unsigned long nr, request;
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	n = read(file, text, sizeof(text) - 1);
	close(file);
	text[n > 0 ? n : 0] = '\0';
	nr = strtoul(p, &p, 10);
	strtoul(p, &p, 16);
	request = strtoul(p, &p, 16);
	return nr == SYS_ioctl && request == KFD_RUNTIME_ENABLE;
}

// Interrupts one thread's system call, which no signal handler or parent can notice.
static void nudge(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0)
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && waitpid(tid, &status, __WALL) == tid &&
	    WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, tid, 0, status >> 16 ? 0 : WSTOPSIG(status));
}

void tracee_rescue(pid_t pid)
{
	struct dirent *e;
	char path[48];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	while ((e = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid > 0 && waits_for_debugger(pid, tid))
			nudge(tid);
	}
	closedir(tasks);
}
