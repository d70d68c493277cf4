// Pausing a process by AMDKFD_IOC_CRIU_OP. Facts: [kfd.criu], [kfd.lifetime].
#include "common/holder/holder.h"

#include "common/kfd/driver.h"
#include "common/holder/rundir.h"
#include "common/holder/ptrace.h"
#include "common/host/root.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define RECORD_NAME_SIZE (sizeof(KFD_CRIU_PREFIX) + KFD_SOCKET_NAME_SIZE)

enum record { RECORD_NONE, RECORD_INTENT, RECORD_PAUSED };

static void record_name(char name[RECORD_NAME_SIZE], const struct kfd_target *t)
{
	memcpy(name, KFD_CRIU_PREFIX, sizeof(KFD_CRIU_PREFIX));
	kfd_socket_name(name + strlen(KFD_CRIU_PREFIX), t->pid, t->start);
}

// Writes and syncs a record, which must survive whatever ends this process.
static int write_record(int dir, const char *name, const char *text, struct kfd_failure *f)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool ok =
		fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
	int error = errno;
	close_quietly(fd);
	return ok ? 0
		  : kfd_fail(f, KFD_FAULT_SYSTEM, "write the record of the pause", strerror(error));
}

static enum record read_record(int dir, const char *name)
{
	SCOPED(close_at) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char first = 0;
	if (fd < 0)
		return RECORD_NONE;
	if (read(fd, &first, 1) != 1)
		first = 0;
	return first == 'p' ? RECORD_PAUSED : RECORD_INTENT;
}

// Returns a duplicate of the target's descriptor of /dev/kfd, or -1 and sets *f. While the
// duplicate is open, the queues would outlive the target.
static int steal_device(const struct kfd_target *t, struct kfd_failure *f)
{
	SCOPED(closedir_at) DIR *d = opendir(PATH("/proc/%d/fd", (int)t->pid));
	char to[16];
	struct dirent *e;
	int fd = -1;
	while (d && fd < 0 && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to));
		if (n == (ssize_t)strlen(KFD_DEVICE_PATH) &&
		    memcmp(to, KFD_DEVICE_PATH, (size_t)n) == 0)
			fd = (int)syscall(SYS_pidfd_getfd, t->pidfd,
					  (int)strtol(e->d_name, NULL, 10), 0);
	}
	return fd >= 0 ? fd : kfd_fail(f, KFD_FAULT_NOT_KFD);
}

static int criu_op(const struct kfd_target *t, enum kfd_criu_command op, struct kfd_failure *f)
{
	struct kfd_criu a = {.op = op};
	int fd, r;
	if (tracee_seize(t->pid, f) < 0 || (fd = steal_device(t, f)) < 0)
		return -1;
	r = kfd_ioctl(fd, KFD_CRIU_OP, &a);
	close(fd);
	if (r == -EACCES)
		return kfd_fail(f, KFD_FAULT_CRIU_CAPABILITY);
	// EINVAL from UNPAUSE: the process is not paused, so there is nothing to undo.
	if (r < 0 && !(op == KFD_CRIU_UNPAUSE && r == -EINVAL))
		return kfd_fail(f, KFD_FAULT_SYSTEM, "checkpoint interface", strerror(-r));
	return 0;
}

// Makes the CRIU call in a child that traces the target: when a tracer ends, the target is let go
// without a stop.
static int criu_op_in_child(const struct kfd_target *t, enum kfd_criu_command op,
			    struct kfd_failure *f)
{
	int answer[2], status = 0;
	ssize_t n = 0;
	f->status = 0;
	if (pipe2(answer, O_CLOEXEC) < 0)
		return kfd_fail(f, KFD_FAULT_SYSTEM, "pipe", strerror(errno));
	const pid_t pid = fork();
	if (pid == 0) {
		criu_op(t, op, f);
		n = write(answer[1], f, sizeof(*f));
		_exit(n != sizeof(*f));
	}
	close(answer[1]);
	if (pid > 0) {
		n = read(answer[0], f, sizeof(*f));
		waitpid(pid, &status, 0);
	}
	close(answer[0]);
	if (n != sizeof(*f))
		return kfd_fail(f, KFD_FAULT_HOLDER_LOST);
	return f->status ? -1 : 0;
}

static int pause_locked(int dir, const char *name, const struct kfd_target *t, bool *already,
			struct kfd_failure *f)
{
	enum record before = read_record(dir, name);
	*already = before == RECORD_PAUSED;
	if (*already)
		return 0;
	// A gpq that died after writing the intent may have paused the process.
	if (before == RECORD_INTENT && criu_op_in_child(t, KFD_CRIU_UNPAUSE, f) < 0)
		return -1;
	if (write_record(dir, name, "intent\n", f) < 0)
		return -1;
	if (criu_op_in_child(t, KFD_CRIU_PROCESS_INFO, f) < 0) {
		// A call that failed paused nothing, but a child that was killed may have paused
		// the process.
		struct kfd_failure undo;
		if (criu_op_in_child(t, KFD_CRIU_UNPAUSE, &undo) == 0)
			unlinkat(dir, name, 0);
		else
			*f = undo;
		return -1;
	}
	return write_record(dir, name, "paused\n", f);
}

int kfd_criu_pause(const struct kfd_target *t, bool *already, struct kfd_failure *f)
{
	char name[RECORD_NAME_SIZE];
	int dir = kfd_rundir_open(f), r;
	if (dir < 0)
		return -1;
	record_name(name, t);
	r = kfd_rundir_lock(dir, f);
	if (r == 0)
		r = pause_locked(dir, name, t, already, f);
	kfd_rundir_unlock(dir);
	close(dir);
	return r < 0 ? -1 : 0;
}

struct undo {
	const struct kfd_target *t;
	struct kfd_failure *f;
	int result;
};

static bool resume_in(int dir, void *arg)
{
	struct undo *u = arg;
	char name[RECORD_NAME_SIZE];
	record_name(name, u->t);
	if (read_record(dir, name) == RECORD_NONE)
		return false;
	if (kfd_rundir_lock(dir, u->f) < 0)
		return true;
	u->result = criu_op_in_child(u->t, KFD_CRIU_UNPAUSE, u->f);
	if (u->result == 0)
		unlinkat(dir, name, 0);
	kfd_rundir_unlock(dir);
	return true;
}

int kfd_criu_resume(const struct kfd_target *t, struct kfd_failure *f)
{
	struct undo u = {.t = t, .f = f, .result = -1};
	return kfd_rundir_each(resume_in, &u) ? u.result : kfd_fail(f, KFD_FAULT_NOT_HELD);
}
