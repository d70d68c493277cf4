// Drops the privileges that a holder does not need: new privileges, all capabilities but
// CAP_SYS_PTRACE, and every system call that its loop does not use.
//
// A holder parses only lines of its own user, but it may run as root, for days. A system call that
// holder code newly needs must be added to `allowed`. Facts: capabilities(7), prctl(2), seccomp(2).
#include "common/holder/holder_priv.h"

#include "common/host/confine.h"

#include <linux/capability.h>
#include <seccomp.h>

static const int allowed[] = {
	// For the loop: clients, timers, events.
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_ctl), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(accept4), SCMP_SYS(getsockopt), SCMP_SYS(recvfrom),
	SCMP_SYS(sendto), SCMP_SYS(shutdown), SCMP_SYS(timer_create), SCMP_SYS(timer_settime),
	SCMP_SYS(timer_delete), SCMP_SYS(timerfd_settime), SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	// For calls of the driver, and to trace the target (also kfd_session_take_back()).
	SCMP_SYS(ioctl), SCMP_SYS(ptrace), SCMP_SYS(pidfd_open), SCMP_SYS(wait4), SCMP_SYS(waitid),
	// For the child that reads the target's memory (reader/reader.h).
	SCMP_SYS(clone), SCMP_SYS(clone3), SCMP_SYS(set_robust_list), SCMP_SYS(socketpair),
	SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(kill), SCMP_SYS(getppid), SCMP_SYS(prctl),
	SCMP_SYS(close_range), SCMP_SYS(chdir), SCMP_SYS(capget), SCMP_SYS(capset),
#ifdef GPQ_TESTING
	SCMP_SYS(tgkill), // kfd_step() stops the holder
#endif
	// For files of /proc and debugfs, and the holder's socket.
	SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write),
	SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fcntl),
	SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(unlinkat),
	SCMP_SYS(flock),
	// For the C library: memory, threads, ids, signals, exit.
	SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
	SCMP_SYS(getrandom), SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(geteuid), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

void holder_lock_down(void)
{
	confine_rights(UINT32_C(1) << CAP_SYS_PTRACE);
	confine_calls(allowed, COUNT(allowed));
}
