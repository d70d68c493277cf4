// PTRACE_SEIZE of a target, and handling of its stops. Facts: [kfd.ptrace].
#include "common/holder/ptrace.h"

#include "common/kfd/abi.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define DYING_HOLDER_MS 3000
#define HOLD_YIELDS     50 // yields before the first nap: a stop takes some us, a nap 100
#define NAP_NS          50000
#define HOLD_NAPS       10000 // naps of 50 us, which the timer's slack doubles: about a second

int tracee_explain_holder(pid_t holder, struct kfd_failure *f)
{
	struct proc p;
	if (geteuid() != 0 && proc_read(&p, holder) == 0 && p.uid != geteuid())
		return kfd_fail(f, KFD_FAULT_HELD, (int)holder);
	return kfd_fail(f, KFD_FAULT_HELD_APART, (int)holder);
}

// Sets *f to the likeliest of the reasons for EPERM of PTRACE_SEIZE. Returns -1.
static int explain_refusal(pid_t pid, struct kfd_failure *f)
{
	static const enum kfd_fault by_scope[] = {KFD_FAULT_NOT_DUMPABLE, KFD_FAULT_YAMA_CHILD,
						  KFD_FAULT_YAMA_ADMIN, KFD_FAULT_YAMA_OFF};
	struct proc p, tracer;
	uint64_t scope = 0; // stays 0 if Yama is off or missing
	host_read_u64("/proc/sys/kernel/yama/ptrace_scope", &scope);
	if (proc_read(&p, pid) < 0)
		return kfd_fail(f, KFD_FAULT_NO_PROCESS);
	if (pid == getpid())
		return kfd_fail(f, KFD_FAULT_SELF);
	if (p.state == 'Z' || p.state == 'X')
		return kfd_fail(f, KFD_FAULT_NO_LEADER);
	if (!p.memory)
		return kfd_fail(f, KFD_FAULT_NOT_KFD);
	if (kfd_holder_of(pid))
		return tracee_explain_holder(p.tracer, f);
	if (p.tracer > 0)
		return kfd_fail(f, KFD_FAULT_TRACED, (int)p.tracer,
				proc_read(&tracer, p.tracer) == 0 ? tracer.comm : "?");
	if (geteuid() != 0 && p.uid != geteuid())
		return kfd_fail(f, KFD_FAULT_OTHER_USER, (unsigned)p.uid);
	return kfd_fail(f, by_scope[scope <= 3 ? scope : 0]);
}

int tracee_seize(pid_t pid, struct kfd_failure *f)
{
	pid_t holder;
	do {
		if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC) == 0)
			return 0;
		if (errno != EPERM)
			return kfd_fail_errno(f, KFD_STEP_SEIZE, errno);
		holder = kfd_holder_of(pid);
	} while (holder && kfd_wait_death(holder, DYING_HOLDER_MS));
	return explain_refusal(pid, f);
}

static bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

// Continues a stopped tracee as if it were not traced.
static void pass_on(pid_t pid, int sig, int event)
{
	// A group stop stays one: PTRACE_LISTEN leaves it stopped and lets SIGCONT wake it.
	if (event == PTRACE_EVENT_STOP && is_stop_signal(sig))
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0 : sig);
}

// Is the tracee in a stop? Sets *sig and *event to the stop's; *gone if the tracee ended, or is not
// traced.
//
// Stops are not taken (WNOWAIT): the kernel forgets the signal of a stop that was taken, and the
// target would never get it if we were killed before PTRACE_CONT.
static bool find_stop(pid_t pid, bool *gone, int *sig, int *event)
{
	siginfo_t stop = {0};
	int r;
	do
		r = waitid(P_PID, (id_t)pid, &stop,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
	while (r < 0 && errno == EINTR);
	*gone = r < 0 || (stop.si_pid && stop.si_code != CLD_TRAPPED);
	*sig = stop.si_status & 0xff;
	*event = stop.si_status >> 8;
	return !*gone && stop.si_pid;
}

bool tracee_serve(pid_t pid)
{
	int sig, event;
	bool gone;
	while (find_stop(pid, &gone, &sig, &event))
		pass_on(pid, sig, event);
	return !gone;
}

// The stop must be PTRACE_EVENT_STOP: from there SIGKILL leads to the stop of PTRACE_O_TRACEEXIT,
// before exit gives the address space up, and further SIGKILLs are dropped there (get_signal(),
// do_exit(), prepare_signal()). From the stop of a signal SIGKILL may not lead there.
int tracee_hold(pid_t pid)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	bool interrupted = false, execed = false, gone;
	int sig, event;
	for (unsigned i = 0; i < HOLD_NAPS;) {
		if (find_stop(pid, &gone, &sig, &event)) {
			if (event == PTRACE_EVENT_STOP)
				return ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXIT)
					       ? -ESRCH
					       : execed;
			execed |= event == PTRACE_EVENT_EXEC;
			pass_on(pid, sig, event);
			interrupted = false; // this stop replaces the one of PTRACE_INTERRUPT
		} else if (gone) {
			return -ESRCH;
		} else if (!interrupted) {
			ptrace(PTRACE_INTERRUPT, pid, 0, 0);
			interrupted = true;
		} else {
			if (++i < HOLD_YIELDS)
				sched_yield();
			else
				nanosleep(&nap, NULL);
		}
	}
	return -ETIME;
}

// tracee_serve() at a later SIGCHLD ends the stop of a target that was killed meanwhile.
void tracee_release(pid_t pid)
{
	ptrace(PTRACE_SETOPTIONS, pid, 0, 0);
	tracee_serve(pid);
}

// Does thread `tid` of `pid` sleep in ioctl(RUNTIME_ENABLE)? /proc has "NUMBER 0xFD 0xREQUEST ...".
static bool waits_for_debugger(pid_t pid, pid_t tid)
{
	SCOPED(buf_fini) struct buf b = {0};
	unsigned long nr = 0, request = 0;
	if (host_read(&b, PATH("/proc/%d/task/%d/syscall", (int)pid, (int)tid)) > 0) {
		char *p = b.data;
		nr = strtoul(p, &p, 10);
		strtoul(p, &p, 16);
		request = strtoul(p, &p, 16);
	}
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
	SCOPED(closedir_at) DIR *tasks = host_opendir(PATH("/proc/%d/task", (int)pid));
	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		pid_t tid;
		if (proc_parse_pid(e->d_name, &tid) && waits_for_debugger(pid, tid))
			nudge(tid);
	}
}
