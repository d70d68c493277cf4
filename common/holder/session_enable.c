// ENABLE of a debug session without running into a fault of the driver.
//
// Facts: [kfd.enable-race]. So ENABLE names a thread that is not the leader. A process that has
// only its leader is stopped meanwhile, and thus cannot leave its mm (tracee_hold()).
#include "common/holder/session_priv.h"

#include "common/holder/ptrace.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <sys/stat.h>

// Threads may end, and others begin, while their list is read.
#define ATTEMPTS 100

// The n-th thread of `pid` that is not its leader; 0: there is none.
static pid_t other_thread(pid_t pid, unsigned n)
{
	SCOPED(closedir_at) DIR *tasks = host_opendir(PATH("/proc/%d/task", (int)pid));
	pid_t tid = 0, found = 0;
	for (struct dirent *e; tasks && !found && (e = readdir(tasks));)
		if (proc_parse_pid(e->d_name, &tid) && tid != pid && !n--)
			found = tid;
	return found;
}

// Has the process further threads? proc_task_getattr() in fs/proc/base.c counts them as links.
static bool has_others(pid_t pid)
{
	struct stat st;
	return stat(PATH("/proc/%d/task", (int)pid), &st) == 0 && st.st_nlink > 3;
}

int session_try(int kfd, pid_t target)
{
	struct kfd_dbg a = {.snapshot = {.entry_size = sizeof(struct kfd_queue_entry)}};
	return session_call(kfd, target, KFD_DBG_GET_QUEUE_SNAPSHOT, &a);
}

// Calls ENABLE while the target's only thread is stopped. Returns -EAGAIN if it has a second thread
// by now. A probed target stays a KFD process unless it calls exec; only then is it probed again,
// as each probe costs a line in the kernel log.
static int enable_stopped(int kfd, pid_t target, struct kfd_dbg *a, bool probed)
{
	int r = tracee_hold(target);
	if (r < 0)
		return r;
	kfd_step(12);
	if (has_others(target))
		r = -EAGAIN;
	else if ((r > 0 || !probed) &&
		 session_try(kfd, target) == -ESRCH) // ENABLE would make the target a KFD process
		r = -ESRCH;
	else
		r = session_call(kfd, target, KFD_DBG_ENABLE, a);
	tracee_release(target);
	return r;
}

int session_enable(int kfd, pid_t target, struct kfd_dbg *a, bool probed)
{
	int r = -EAGAIN;
	pid_t tid;
	for (unsigned i = 0; i < ATTEMPTS && r == -EAGAIN; i++) {
		unsigned n = 0;
		for (bool others = has_others(target);
		     others && r == -EAGAIN && (tid = other_thread(target, n)); n++) {
			r = session_call(kfd, tid, KFD_DBG_ENABLE, a);
			r = r == -ESRCH ? -EAGAIN : r; // thread `tid` has ended
		}
		if (!n)
			r = enable_stopped(kfd, target, a, probed);
		probed = false; // tracee_release() may have let an exec pass
	}
	return r == -EAGAIN ? -ESRCH : r;
}
