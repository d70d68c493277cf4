// Drops the privileges that a holder does not need: new privileges, all capabilities but
// CAP_SYS_PTRACE, and every system call that its loop does not use.
//
// A holder parses only lines of its own user, but it may run as root, for days. A system call that
// holder code newly needs must be added to `allowed`. Facts: capabilities(7), prctl(2), seccomp(2).
//
// The filter tests system call numbers only: for these the kernel caches the result, runs no
// program (seccomp_cache_prepare in kernel/seccomp.c, since 5.11), so that a resume takes no
// longer. A call that is not allowed fails with EPERM, and is handled like any other failing call.
#include "common/holder/holder_priv.h"

#include "common/host/dlopen.h"

#include <errno.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECCOMP_FUNCTIONS(X) \
	X(seccomp_init) X(seccomp_rule_add_array) X(seccomp_load) X(seccomp_release)
LIB(seccomp, "libseccomp.so.2", SECCOMP_FUNCTIONS, RECOMMENDED, "seccomp",
    "A filter of system calls for the process that holds queues");

static const int allowed[] = {
	// the loop: clients, timers, events
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_ctl), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(accept4), SCMP_SYS(getsockopt), SCMP_SYS(recvfrom),
	SCMP_SYS(sendto), SCMP_SYS(shutdown), SCMP_SYS(timer_create), SCMP_SYS(timer_settime),
	SCMP_SYS(timer_delete), SCMP_SYS(timerfd_settime), SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	// the driver and the target; ptrace also to take a session back
	SCMP_SYS(ioctl), SCMP_SYS(ptrace), SCMP_SYS(pidfd_open), SCMP_SYS(wait4), SCMP_SYS(waitid),
	SCMP_SYS(process_vm_readv),
#ifdef GPQ_TESTING
	SCMP_SYS(tgkill), // kfd_step() stops the holder
#endif
	// files of /proc and debugfs, its own socket
	SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write),
	SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fcntl),
	SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(unlinkat),
	SCMP_SYS(flock),
	// memory, identity, the end
	SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
	SCMP_SYS(getrandom), SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(geteuid), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	const uint32_t keep = UINT32_C(1) << CAP_SYS_PTRACE;

	if (syscall(SYS_capget, &header, caps) < 0)
		return;
	caps[0] = (struct __user_cap_data_struct){.effective = caps[0].effective & keep,
						  .permitted = caps[0].permitted & keep};
	caps[1] = (struct __user_cap_data_struct){0};
	syscall(SYS_capset, &header, caps);
}

void holder_lock_down(void)
{
	const struct seccomp *lib = seccomp_get();
	scmp_filter_ctx rules = lib ? lib->seccomp_init(SCMP_ACT_ERRNO(EPERM)) : NULL;
	int r = rules ? 0 : -1;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_capabilities();
	for (size_t i = 0; i < COUNT(allowed) && r == 0; i++)
		r = lib->seccomp_rule_add_array(rules, SCMP_ACT_ALLOW, allowed[i], 0, NULL);
	if (r == 0)
		lib->seccomp_load(rules);
	if (rules)
		lib->seccomp_release(rules);
}
