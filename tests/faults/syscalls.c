// syscalls [-m] N REPORT COMMAND...: runs COMMAND, whose system call number N of those below fails;
// exits as it does. -m: only calls between two calls of getpgid(2) count, which COMMAND makes.
//
// Calls are counted over all threads and processes of COMMAND, in the order in which they begin,
// from the end of the dynamic loader's work on. The call is not made: it returns the error of its
// row. "NAME ERROR" goes to the file REPORT, so that the caller knows when N is past the last one.
// From then on COMMAND runs untraced. The end of the first process is the end: what it left behind
// (a holder) goes on, untraced.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "registers of x86-64 only"
#endif
#ifndef SYS_openat2 // glibc before 2.32
#define SYS_openat2 437
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

// Calls that can fail on a healthy machine, with an error that they are documented to have. Those
// whose failure ends every program (exit, signals' return), or that glibc itself does not expect to
// fail (futex, munmap), are left out.
static const struct call {
	long nr;
	const char *name;
	int error;
	const char *text;
} calls[] = {
#define CALL(name, error)                        \
	{                                        \
		SYS_##name, #name, error, #error \
	}
	CALL(openat, EMFILE),
	CALL(openat2, ENOSYS),
	CALL(read, EIO),
	CALL(pread64, EIO),
	CALL(readv, EIO),
	CALL(write, ENOSPC),
	CALL(writev, ENOSPC),
	CALL(pwrite64, ENOSPC),
	CALL(getdents64, EIO),
	CALL(newfstatat, EIO),
	CALL(fstat, EIO),
	CALL(statx, EIO),
	CALL(readlink, EACCES),
	CALL(readlinkat, EACCES),
	CALL(mmap, ENOMEM),
	CALL(clone, EAGAIN),
	CALL(clone3, EAGAIN),
	CALL(dup, EMFILE),
	CALL(dup2, EMFILE),
	CALL(dup3, EMFILE),
	CALL(pipe2, EMFILE),
	CALL(eventfd2, EMFILE),
	CALL(epoll_create1, EMFILE),
	CALL(epoll_ctl, ENOSPC),
	CALL(poll, ENOMEM),
	CALL(ppoll, ENOMEM),
	CALL(socket, EMFILE),
	CALL(connect, EACCES),
	CALL(bind, ENOSPC),
	CALL(listen, EADDRINUSE),
	CALL(accept4, EMFILE),
	CALL(sendto, ENOBUFS),
	CALL(sendmsg, ENOBUFS),
	CALL(recvfrom, ENOBUFS),
	CALL(recvmsg, ENOBUFS),
	CALL(timer_create, EAGAIN),
	CALL(timer_settime, EINVAL),
	CALL(timerfd_create, EMFILE),
	CALL(timerfd_settime, EINVAL),
	CALL(memfd_create, EMFILE),
	CALL(mkdir, ENOSPC),
	CALL(mkdirat, ENOSPC),
	CALL(rename, ENOSPC),
	CALL(renameat2, ENOSPC),
	CALL(unlink, EROFS),
	CALL(unlinkat, EROFS),
	CALL(ftruncate, EIO),
	CALL(fsync, EIO),
	CALL(flock, ENOLCK),
	CALL(ioctl, EIO),
	CALL(ptrace, EPERM),
	CALL(pidfd_open, EMFILE),
	CALL(kill, EPERM),
	CALL(sched_getaffinity, EINVAL),
	CALL(setsid, EPERM),
	CALL(fork, EAGAIN),
	CALL(vfork, EAGAIN),
	CALL(chdir, EACCES),
	CALL(process_vm_readv, EPERM),
	CALL(getcwd, ENOENT),
};

static const struct call *find(long nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

static void die(const char *what)
{
	perror(what);
	exit(125);
}

static void report(const char *file, const struct call *c)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %s\n", c->name, c->text);
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		die(file);
	close(fd);
}

#define OPTIONS                                                                                   \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACEEXEC)

struct run {
	pid_t child;
	long left; // calls until the one that fails
	const char *report;
	bool marks;    // calls count between two calls of getpgid()
	bool counting; // the first of them was made, or without them the dynamic loader has
		       // unmapped its cache, the last that it does before main()
	pid_t failing; // the thread that is in the failing call, 0: none
	int error;
};

// A stop at the entry or at the end of a call. The registers are gone where the thread was killed
// meanwhile.
static void at_call(struct run *r, pid_t tid)
{
	struct __ptrace_syscall_info info;
	struct user_regs_struct regs;
	const struct call *c;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && r->failing == tid) {
		regs.rax = (unsigned long long)-(long long)r->error;
		ptrace(PTRACE_SETREGS, tid, NULL, &regs);
		r->failing = 0;
	}
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY && r->marks)
		r->counting ^= info.entry.nr == SYS_getpgid;
	else if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		r->counting |= info.entry.nr == SYS_munmap;
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !r->counting || r->left <= 0 ||
	    !(c = find((long)info.entry.nr)) || --r->left)
		return;
	report(r->report, c);
	regs.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	r->failing = tid;
	r->error = c->error;
}

static int deliver(int status)
{
	int sig = WSTOPSIG(status) & ~0x80;
	return sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

int main(int argc, char **argv)
{
	struct run r = {0};
	int status;
	if (argc > 1 && strcmp(argv[1], "-m") == 0) {
		r.marks = true;
		argc--, argv++;
	}
	if (argc < 4 || (r.left = strtol(argv[1], NULL, 10)) < 1) {
		fprintf(stderr, "usage: syscalls [-m] N REPORT COMMAND...\n");
		return 125;
	}
	r.report = argv[2];
	r.child = fork();
	if (r.child < 0)
		die("fork");
	if (!r.child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			die("ptrace");
		raise(SIGSTOP);
		execvp(argv[3], argv + 3);
		die(argv[3]);
	}
	if (waitpid(r.child, &status, 0) < 0 || ptrace(PTRACE_SETOPTIONS, r.child, NULL, OPTIONS) ||
	    ptrace(PTRACE_CONT, r.child, NULL, NULL))
		die("start");
	bool started = false; // after exec

	for (pid_t tid; (tid = waitpid(-1, &status, __WALL)) > 0;) {
		if (!WIFSTOPPED(status) && tid == r.child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status))
			continue;
		started |= status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			at_call(&r, tid);
		if (r.left <= 0 && r.failing != tid)
			ptrace(PTRACE_DETACH, tid, NULL, (long)deliver(status));
		else
			ptrace(started ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
			       (long)deliver(status));
	}
	return 125;
}
