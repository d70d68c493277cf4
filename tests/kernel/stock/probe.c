/*
 * probe: what the stock amdkfd without any GPU answers, one "STEP ANSWER" line for each step.
 *
 * The steps are those of a debugger's life: attach, enable, suspend, resume, detach, two debuggers,
 * deaths on either side. ANSWER is 0 or the name of the error, and what else the step gave back.
 * Nothing is judged here: stock/table.sh knows what each kernel has to say.
 * Facts: drivers/gpu/drm/amd/amdkfd/kfd_chardev.c and kfd_debug.c of the kernel in question.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "linux/kfd_ioctl.h"

#define R_DEBUG 0x1234000 /* any address will do: the driver only hands it on */

static int kfd;    /* our own /dev/kfd */
static int pipefd; /* where the driver may report debug events */

static const char *answer(long r)
{
	return r < 0 ? strerrorname_np(errno) : "0";
}

static void say(const char *step, long r)
{
	printf("%s %s\n", step, answer(r));
}

static int open_kfd(void)
{
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		printf("open %s\n", strerrorname_np(errno));
		exit(1);
	}
	return fd;
}

static int trap(pid_t pid, uint32_t op, struct kfd_ioctl_dbg_trap_args *a)
{
	a->op = op;
	a->pid = pid;
	return ioctl(kfd, AMDKFD_IOC_DBG_TRAP, a);
}

static int enable(pid_t pid, int fd, struct kfd_runtime_info *ri)
{
	struct kfd_ioctl_dbg_trap_args a = {0};
	a.enable.rinfo_ptr = (uintptr_t)ri;
	a.enable.rinfo_size = sizeof(*ri);
	a.enable.dbg_fd = fd;
	return trap(pid, KFD_IOC_DBG_TRAP_ENABLE, &a);
}

static int simple(pid_t pid, uint32_t op)
{
	struct kfd_ioctl_dbg_trap_args a = {0};
	return trap(pid, op, &a);
}

static int enable_plain(pid_t pid)
{
	struct kfd_runtime_info ri = {0};
	return enable(pid, pipefd, &ri);
}

static int suspend(pid_t pid, uint32_t *ids, uint32_t n)
{
	struct kfd_ioctl_dbg_trap_args a = {0};
	a.suspend_queues.queue_array_ptr = (uintptr_t)ids;
	a.suspend_queues.num_queues = n;
	return trap(pid, KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &a);
}

static int resume(pid_t pid, uint32_t *ids, uint32_t n)
{
	struct kfd_ioctl_dbg_trap_args a = {0};
	a.resume_queues.queue_array_ptr = (uintptr_t)ids;
	a.resume_queues.num_queues = n;
	return trap(pid, KFD_IOC_DBG_TRAP_RESUME_QUEUES, &a);
}

static void say_ids(const char *step, int (*call)(pid_t, uint32_t *, uint32_t), pid_t pid)
{
	uint32_t ids[4] = {0, 1, 2, 3};
	int r = call(pid, ids, 4);
	if (r < 0)
		say(step, r);
	else
		printf("%s %d %08x %08x %08x %08x\n", step, r, ids[0], ids[1], ids[2], ids[3]);
}

/* A process with /dev/kfd open (and the runtime enabled, when asked) that waits to be killed. */
static pid_t target(int with_kfd, int with_runtime, const char *step, int *fd)
{
	int p[2];
	char note[32] = "";
	pid_t pid;
	if (pipe(p))
		exit(1);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct kfd_ioctl_runtime_enable_args e = {.r_debug = R_DEBUG};
		int f = with_kfd ? open_kfd() : -1;
		e.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
			      KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK;
		dprintf(p[1], "%d %s", f,
			with_runtime ? answer(ioctl(f, AMDKFD_IOC_RUNTIME_ENABLE, &e)) : "0");
		close(p[1]);
		for (;;)
			pause();
	}
	close(p[1]);
	for (ssize_t n, at = 0; (n = read(p[0], note + at, sizeof(note) - 1 - at)) > 0;)
		at += n;
	close(p[0]);
	if (fd)
		*fd = atoi(note);
	if (step)
		printf("%s %s\n", step, strchr(note, ' ') ? strchr(note, ' ') + 1 : "?");
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

static long seize(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, 0, 0);
}

static long detach(pid_t pid)
{
	ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* A line of /proc/PID/status. */
static void say_status(const char *step, pid_t pid, const char *key)
{
	char path[64], line[256];
	FILE *f;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *v = line + strlen(key) + 1;
		if (!strncmp(line, key, strlen(key)))
			printf("%s %.*s\n", step, (int)strcspn(v, " \n"), v);
	}
	if (f)
		fclose(f);
}

static void say_sysfs(const char *step, pid_t pid)
{
	char path[96];
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/pasid", pid);
	printf("%s %s\n", step, access(path, F_OK) ? "absent" : "present");
}

static void one_session(pid_t t)
{
	struct kfd_runtime_info ri = {0};
	struct kfd_ioctl_dbg_trap_args a = {0};
	struct kfd_queue_snapshot_entry qs[8];
	struct kfd_dbg_device_info_entry ds[8];
	uint32_t one = 0;
	say("enable_untraced", enable_plain(t));
	say("seize", seize(t));
	say("suspend_before_enable", suspend(t, &one, 1));
	say("enable_bad_fd", enable(t, -1, &ri));
	if (enable(t, pipefd, &ri) < 0)
		say("enable", -1);
	else
		printf("enable 0 size %zu state %u r_debug %#llx\n", sizeof(ri), ri.runtime_state,
		       (unsigned long long)ri.r_debug);
	say("enable_again", enable_plain(t));
	a.queue_snapshot.snapshot_buf_ptr = (uintptr_t)qs;
	a.queue_snapshot.num_queues = 8;
	a.queue_snapshot.entry_size = sizeof(qs[0]);
	if (trap(t, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &a) < 0)
		say("queue_snapshot", -1);
	else
		printf("queue_snapshot 0 num %u entry %u\n", a.queue_snapshot.num_queues,
		       a.queue_snapshot.entry_size);
	memset(&a, 0, sizeof(a));
	a.device_snapshot.snapshot_buf_ptr = (uintptr_t)ds;
	a.device_snapshot.num_devices = 8;
	a.device_snapshot.entry_size = sizeof(ds[0]);
	if (trap(t, KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT, &a) < 0)
		say("device_snapshot", -1);
	else
		printf("device_snapshot 0 num %u entry %u\n", a.device_snapshot.num_devices,
		       a.device_snapshot.entry_size);
	say_ids("suspend", suspend, t);
	say_ids("resume", resume, t);
	say("suspend_none", suspend(t, &one, 0));
	say("suspend_bad_pointer", suspend(t, (uint32_t *)8, 4));
	say("query_event", simple(t, KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT));
	say("disable", simple(t, KFD_IOC_DBG_TRAP_DISABLE));
	say("disable_again", simple(t, KFD_IOC_DBG_TRAP_DISABLE));
	say("op_99", simple(t, 99));
	enable_plain(t);
	say("detach_running", ptrace(PTRACE_DETACH, t, 0, 0));
	say("detach_stopped", detach(t));
	say("suspend_detached", suspend(t, &one, 1));
	say("disable_detached", simple(t, KFD_IOC_DBG_TRAP_DISABLE));
}

/* A second process holds the target; we are the stranger. */
static void holder_dies(pid_t t)
{
	int p[2];
	char c;
	pid_t h;
	if (pipe(p))
		exit(1);
	fflush(stdout);
	h = fork();
	if (h == 0) {
		kfd = open_kfd();
		if (seize(t) || (enable_plain(t) && errno != ENOTTY))
			_exit(1);
		(void)!write(p[1], "x", 1);
		for (;;)
			pause();
	}
	(void)!read(p[0], &c, 1);
	say("stranger_seize", seize(t));
	say("stranger_enable", enable_plain(t));
	end(h);
	say_status("holder_dead_state", t, "State:");
	say_status("holder_dead_tracer", t, "TracerPid:");
	say("holder_dead_seize", seize(t));
	say("holder_dead_enable", enable_plain(t));
	say("holder_dead_disable", simple(t, KFD_IOC_DBG_TRAP_DISABLE));
	detach(t);
}

static void target_dies(pid_t t)
{
	uint32_t one = 0;
	seize(t);
	enable_plain(t);
	end(t);
	say("target_dead_resume", resume(t, &one, 1));
	say("target_dead_enable", enable_plain(t));
	say("enable_pid_1", enable_plain(1));
}

static void other_targets(void)
{
	struct kfd_ioctl_smi_events_args smi = {.gpuid = 4711};
	struct kfd_ioctl_criu_args c = {.op = KFD_CRIU_OP_PROCESS_INFO};
	uint32_t one = 0;
	int fd;
	pid_t t = target(0, 0, NULL, NULL);
	seize(t);
	say_sysfs("no_kfd_sysfs_before", t);
	say("no_kfd_enable", enable_plain(t));
	say_sysfs("no_kfd_sysfs_after", t);
	say("no_kfd_suspend", suspend(t, &one, 1));
	end(t);
	t = target(1, 0, NULL, &fd);
	say_sysfs("opened_sysfs", t);
	seize(t);
	enable_plain(t);
	say("no_runtime_suspend", suspend(t, &one, 1));
	say("smi_unknown_gpu", ioctl(kfd, AMDKFD_IOC_SMI_EVENTS, &smi));
	fd = syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, t, 0), fd, 0);
	say("criu_process_info", ioctl(fd, AMDKFD_IOC_CRIU_OP, &c));
	c.op = KFD_CRIU_OP_UNPAUSE;
	say("criu_unpause", ioctl(fd, AMDKFD_IOC_CRIU_OP, &c));
	end(t);
}

int main(void)
{
	struct kfd_ioctl_get_version_args v = {0};
	int p[2];
	pid_t t;
	setvbuf(stdout, NULL, _IOLBF, 0);
	kfd = open_kfd();
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return 1;
	pipefd = p[1];
	if (ioctl(kfd, AMDKFD_IOC_GET_VERSION, &v))
		say("version", -1);
	else
		printf("version %u.%u\n", v.major_version, v.minor_version);
	t = target(1, 1, "runtime_enable", NULL);
	one_session(t);
	holder_dies(t);
	target_dies(t);
	other_targets();
	return 0;
}
