// Pinning a process by pidfd and start time. Facts: proc(5), pidfd_open(2).
#include "common/holder/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Reads a small /proc file into a NUL-terminated buffer. Bytes, or -1 with errno.
static ssize_t read_small(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0) {
		if (errno == ENOENT)
			errno = ESRCH;
		return -1;
	}
	n = read(fd, to, size - 1);
	close(fd);
	if (n >= 0)
		to[n] = '\0';
	return n;
}

uint64_t kfd_target_start(pid_t pid)
{
	char path[48], text[1024], *p;
	int field;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (read_small(path, text, sizeof(text)) < 0)
		return 0;
	p = strrchr(text, ')'); // the name may hold anything, blanks and parentheses included
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p) {
		errno = EINVAL;
		return 0;
	}
	return strtoull(p + 1, NULL, 10);
}

static int unpin_and_fail(struct kfd_target *t, struct kfd_failure *f, enum kfd_fault fault)
{
	kfd_target_unpin(t);
	return kfd_fail(f, fault);
}

// Otherwise pids mean one process to the kernel and another in /proc.
static bool proc_is_ours(void)
{
	char self[16];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	return n <= 0 || (pid_t)strtol(self, NULL, 10) == getpid();
}

// The pidfd first: what is alive after its start time was read was not another process meanwhile.
int kfd_target_pin(struct kfd_target *t, pid_t pid, uint64_t start, struct kfd_failure *f)
{
	t->pid = pid;
	t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	// EINVAL, in newer kernels ENOENT: a thread that leads no group; it names no process.
	if (t->pidfd < 0)
		return kfd_fail_errno(f, KFD_STEP_SEIZE,
				      errno == EINVAL || errno == ENOENT ? ESRCH : errno);
	if (!proc_is_ours()) {
		kfd_target_unpin(t);
		return kfd_fail(f, KFD_FAULT_OTHER_PROC, (int)pid);
	}
	t->start = kfd_target_start(pid);
	if (!t->start || !kfd_target_alive(t)) // a zombie, or gone
		return unpin_and_fail(t, f, KFD_FAULT_NO_PROCESS);
	if (start && start != t->start)
		return unpin_and_fail(t, f, KFD_FAULT_PID_REUSED);
	return 0;
}

void kfd_target_unpin(struct kfd_target *t)
{
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pidfd = -1;
}

bool kfd_target_alive(const struct kfd_target *t)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

// Finds "NAME:\t" at the start of a line of /proc/PID/status.
static const char *status_field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, name, len) == 0 && p[len] == ':')
			return p + len + 1 + strspn(p + len + 1, "\t");
	}
	return NULL;
}

int kfd_ptrace_facts(pid_t pid, struct kfd_ptrace_facts *facts)
{
	char path[48], text[4096];
	const char *name, *tracer, *uid, *state;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (read_small(path, text, sizeof(text)) < 0)
		return -1;
	tracer = status_field(text, "TracerPid");
	name = status_field(text, "Name");
	uid = status_field(text, "Uid");
	state = status_field(text, "State");
	facts->name[0] = '\0';
	if (name)
		snprintf(facts->name, sizeof(facts->name), "%.*s", (int)strcspn(name, "\n"), name);
	facts->has_memory = status_field(text, "VmSize") != NULL;
	facts->state = state ? state[strspn(state, " \t")] : '\0';
	facts->tracer = tracer ? (pid_t)strtol(tracer, NULL, 10) : 0;
	facts->uid = uid ? (uid_t)strtoul(uid, NULL, 10) : 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)facts->tracer);
	n = facts->tracer ? read_small(path, facts->tracer_name, sizeof(facts->tracer_name)) : -1;
	if (n <= 0)
		strcpy(facts->tracer_name, "?");
	else
		facts->tracer_name[strcspn(facts->tracer_name, "\n")] = '\0';
	return 0;
}
