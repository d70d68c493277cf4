// Pinning a process by pidfd and start time. Facts: proc(5), pidfd_open(2).
#include "common/holder/target.h"

#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/reader/process_cache.h"

#include <sys/syscall.h>

uint64_t kfd_target_start(pid_t pid)
{
	uint64_t ticks;
	return proc_start_ticks(pid, &ticks) ? 0 : ticks;
}

// The pidfd is opened first: if its process lives after the start time was read, the time is that
// process's.
int kfd_target_pin(struct kfd_target *t, pid_t pid, uint64_t start, struct kfd_failure *f)
{
	pid_t self = pid_of_self();
	t->pid = pid;
	t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	// EINVAL, in newer Linux kernels ENOENT: `pid` is a thread, and no process.
	if (t->pidfd < 0)
		return kfd_fail_errno(f, KFD_STEP_SEIZE,
				      errno == EINVAL || errno == ENOENT ? ESRCH : errno);
	t->start = kfd_target_start(pid);
	if (self && self != getpid()) // /proc is of another PID namespace than getpid()
		kfd_fail(f, KFD_FAULT_OTHER_PROC, (int)pid);
	else if (!t->start || !kfd_target_alive(t)) // the process is a zombie, or gone
		kfd_fail(f, KFD_FAULT_NO_PROCESS);
	else if (start && start != t->start)
		kfd_fail(f, KFD_FAULT_PID_REUSED);
	else
		return 0;
	kfd_target_unpin(t);
	return -1;
}

void kfd_target_unpin(struct kfd_target *t)
{
	close_quietly(t->pidfd);
	t->pidfd = -1;
}

bool kfd_target_alive(const struct kfd_target *t)
{
	return !wait_readable(t->pidfd, LOOP_NOW);
}

bool kfd_is_dead(pid_t pid)
{
	struct proc p;
	return proc_read(&p, pid) < 0 || p.state == 'Z' || p.state == 'X';
}

bool kfd_wait_death(pid_t pid, int timeout_ms)
{
	SCOPED(close_at) const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return errno == ESRCH;
	return wait_readable(pidfd, clock_in_ms((uint64_t)timeout_ms));
}

// A holder differs from other processes by its name alone.
static bool is_holder(pid_t pid)
{
	struct proc p;
	return proc_read(&p, pid) == 0 && strcmp(p.comm, KFD_HOLDER_COMM) == 0;
}

pid_t kfd_holder_of(pid_t pid)
{
	struct proc p;
	return proc_read(&p, pid) == 0 && p.tracer > 0 && is_holder(p.tracer) ? p.tracer : 0;
}
