// --no-trace: a debug session whose owner no longer traces the target.
//
// Facts: kfd_ioctl_set_debug_trap() in kfd_chardev.c. Linux 6.12.95 takes calls from the tracer
// alone; 7.2 and 7.3 also from the process that called ENABLE, by any thread, whether it traces or
// not. gpq finds that out by trying.
//
// ENABLE itself wants the tracer. A thread seizes the target, enables, and ends: the kernel then
// lets the target go without stopping it. PTRACE_DETACH needs a stop, and so would interrupt a
// system call of the target.
//
// While nobody traces, another debugger can seize the target and call ENABLE. The driver answers
// EALREADY and still records that debugger as the owner; the death of either owner then resumes
// nothing, and the record of a dead one is a dangling pointer. Our next call gets EPERM. Once
// nobody else traces, seizing the target and ENABLE, which fails with EALREADY, makes this process
// the owner again; from then on it traces.
#include "common/holder/session_priv.h"

#include "common/kfd/driver.h"
#include "common/holder/ptrace.h"
#include "common/host/proc.h"

#include <pthread.h>
#include <time.h>

struct opening {
	struct kfd_session *s;
	struct kfd_failure *f;
	pid_t thread;
	int result;
};

static void *open_traced(void *arg)
{
	struct opening *o = arg;
	o->thread = gettid();
	o->result = session_attach(o->s, o->f);
	return NULL;
}

// Waits until Linux lets the target go: as the thread's exit ends, which may be after the join.
static void wait_until_let_go(pid_t target, pid_t thread)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct proc p;
	while (proc_read(&p, target) == 0 && p.tracer == thread)
		nanosleep(&pause, NULL);
}

// Calls ENABLE as the tracer. The driver wants a descriptor (`any_fd`), and uses it for a new
// session only. Returns the result or -errno; -EALREADY: the caller owns an existing session now.
static int become_owner(int kfd, pid_t target, int any_fd)
{
	struct kfd_rinfo info;
	struct kfd_dbg a = {.enable = {.rinfo_ptr = (uintptr_t)&info,
				       .rinfo_size = sizeof(info),
				       .dbg_fd = (uint32_t)any_fd}};
	return session_enable(kfd, target, &a, false);
}

static int disable_session(int kfd, pid_t target)
{
	struct kfd_dbg a = {0};
	return session_call(kfd, target, KFD_DBG_DISABLE, &a);
}

int session_attach_untraced(struct kfd_session *s, struct kfd_failure *f)
{
	struct opening o = {.s = s, .f = f};
	pthread_t thread;
	int r = pthread_create(&thread, NULL, open_traced, &o);
	if (r)
		return kfd_fail(f, KFD_FAULT_SYSTEM, "start a thread", strerror(r));
	pthread_join(thread, NULL);
	if (o.result < 0)
		return -1;
	wait_until_let_go(s->target.pid, o.thread);
	s->untraced = true;
	r = session_try(s->kfd, s->target.pid);
	if (r >= 0)
		return 0;
	return r == -EPERM ? kfd_fail(f, KFD_FAULT_MUST_TRACE)
			   : kfd_fail_errno(f, KFD_STEP_SNAPSHOT, -r);
}

bool kfd_session_take_back(struct kfd_session *s)
{
	pid_t pid = s->target.pid;
	struct kfd_failure f;
	// Calls name a pid, which may be another process's after the target's death.
	if (!kfd_target_alive(&s->target) || session_try(s->kfd, pid) != -EPERM)
		return false;
	s->taken = tracee_seize(pid, &f) < 0;
	if (s->taken || !kfd_target_alive(&s->target))
		return false;
	s->untraced = false;
	if (become_owner(s->kfd, pid, s->events) >= 0) // the old session had ended: end the new one
		disable_session(s->kfd, pid);
	return true;
}

bool kfd_session_recover(const struct kfd_target *t)
{
	struct kfd_failure f;
	int kfd = kfd_open(), r;
	if (kfd < 0)
		return false;
	r = tracee_seize(t->pid, &f) < 0 ? -EPERM : session_try(kfd, t->pid);
	if (r >= 0 && become_owner(kfd, t->pid, kfd) == -EALREADY)
		r = disable_session(kfd, t->pid) == 0 ? -EINVAL : -EPERM;
	close(kfd);
	return r == -EINVAL || r == -ESRCH;
}
