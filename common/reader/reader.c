// The child process that reads for gpq; see reader.h.
//
// A question is one message of a SOCK_SEQPACKET socket, with its descriptor. The answer is one or
// more messages; the last one has the task's result.
#include "common/reader/reader.h"

#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/host/confine.h"
#include "common/host/dlopen.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define RUNNING_TIMES 10    // a child that runs has this many times the deadline of one that sleeps
#define NOBODY        65534 // the kernel's default overflow user and group

struct asked {
	pid_t whose;
	void *tag;
	uint64_t since_ns;
};

struct reader {
	pid_t child;     // 0: none
	pid_t owner;     // the child's parent; a fork of gpq, such as a holder, must start its own
	int fd;          // socket to the child
	unsigned libs;   // lib_count() when the child was started
	struct asked *v; // questions on their way, in order
	size_t n, cap;
};

enum { PART_MORE = -1, PART_ALIVE = -2 };
struct part_head {
	int32_t end; // last part: the task's result (0 or errno); others: PART_MORE or PART_ALIVE
};

static struct part {
	struct part_head head;
	char data[READER_PART];
} part; // in the child: the part to be sent; in gpq: what reader_next() returned

// ---- the child

static int socket_to_parent = -1; // in the child; -1 in gpq
static size_t unsent;             // bytes of part.data that are not sent yet

static void send_part(int32_t end)
{
	part.head.end = end;
	if (send(socket_to_parent, &part, sizeof(part.head) + unsent, MSG_NOSIGNAL) < 0)
		_exit(0);
	unsent = 0;
}

void reader_give(const void *data, size_t len)
{
	if (len > sizeof(part.data) - unsent)
		send_part(PART_MORE);
	memcpy(part.data + unsent, data, len);
	unsent += len;
}

void reader_alive(void)
{
	const struct part_head alive = {.end = PART_ALIVE};
	if (unsent)
		send_part(PART_MORE);
	else if (socket_to_parent >= 0 &&
		 send(socket_to_parent, &alive, sizeof(alive), MSG_NOSIGNAL) < 0)
		_exit(0);
}

// Receives a message, and in *fd the descriptor that came with it, or -1. Returns the message's
// length; 0: the other side is gone or, with errno EAGAIN, there is no message yet.
static size_t receive_message(int from, void *to, size_t size, int flags, int *fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = {to, size};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n;
	do {
		errno = 0; // stays 0 when the other side is gone
		n = recvmsg(from, &m, MSG_CMSG_CLOEXEC | flags);
	} while (n < 0 && errno == EINTR);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (fd)
		*fd = -1;
	if (fd && c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n > 0 ? (size_t)n : 0;
}

// System calls left to the child: for its socket, the descriptors it is given, memory and a timer.
static const int allowed[] = {SCMP_SYS(recvmsg),      SCMP_SYS(sendto),
			      SCMP_SYS(read),         SCMP_SYS(pread64),
			      SCMP_SYS(lseek),        SCMP_SYS(close),
			      SCMP_SYS(fstat),        SCMP_SYS(newfstatat),
			      SCMP_SYS(mmap),         SCMP_SYS(munmap),
			      SCMP_SYS(mremap),       SCMP_SYS(mprotect),
			      SCMP_SYS(madvise),      SCMP_SYS(brk),
			      SCMP_SYS(futex),        SCMP_SYS(getrandom),
			      SCMP_SYS(setitimer),    SCMP_SYS(clock_gettime),
			      SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
			      SCMP_SYS(getpid),       SCMP_SYS(gettid),
			      SCMP_SYS(tgkill),       SCMP_SYS(restart_syscall),
			      SCMP_SYS(exit),         SCMP_SYS(exit_group)};

// The child ignores signals of the terminal, as it ends when gpq does. Faults and the limit of
// processor time end it.
static void set_signals(void)
{
	static const int end[] = {SIGPROF, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	static const int ignore[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	sigset_t none;
	for (size_t i = 0; i < COUNT(end); i++)
		signal(end[i], SIG_DFL);
	for (size_t i = 0; i < COUNT(ignore); i++)
		signal(ignore[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void child_begin(int fd, pid_t parent)
{
	int keep[] = {fd, host_root_fd()};
	socket_to_parent = fd;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "gpq-reader");
	set_signals();
	confine_fds(0, keep, COUNT(keep));
	if (chdir("/"))
		_exit(0);
}

// The child of a holder that has given up its rights cannot change its user, and keeps the
// holder's.
static void give_up_rights(pid_t parent)
{
	const struct rlimit none = {0}, stack = {8 << 20, 8 << 20};
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_STACK, &stack);
	if (geteuid() == 0 && setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	    setresuid(NOBODY, NOBODY, NOBODY) == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL); // a change of user clears this setting
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	confine_rights(0);
	confine_calls(allowed, COUNT(allowed));
}

void reader_limit(uint64_t bytes, unsigned seconds)
{
	SCOPED(buf_fini) struct buf b = {0};
	unsigned long pages;
	if (seconds)
		setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
	if (buf_read_at(&b, AT_FDCWD, "/proc/self/statm") <= 0 ||
	    sscanf(b.data, "%*u %*u %*u %*u %*u %lu", &pages) != 1) // NOLINT(cert-err34-c)
		return;
	const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
	setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
}

static _Noreturn void child_serve(int fd)
{
	static struct {
		reader_task *task;
		char text[READER_PART];
	} q;
	size_t n;
	int given;
	while ((n = receive_message(fd, &q, sizeof(q), 0, &given)) >= sizeof(q.task)) {
		send_part(q.task(q.text, n - sizeof(q.task), given));
		close_quietly(given);
	}
	_exit(0);
}

static _Noreturn void serve_open(const struct reader_question *q, pid_t parent)
{
	const int fd = q->open(q->text, q->len);
	const int error = errno;
	give_up_rights(parent);
	send_part(fd < 0 ? error : q->task(q->text, q->len, fd));
	_exit(0);
}

// ---- children that were left behind

static struct {
	pid_t child, whose;
} * left;
static size_t nleft, left_cap;
static uint64_t spent_ns, spent_at_ns, cpu_ns;

static bool has_ended(pid_t child)
{
	return waitpid(child, NULL, WNOHANG) != 0;
}

static bool is_silent(pid_t whose)
{
	size_t kept = 0;
	bool any = false;
	for (size_t i = 0; i < nleft; i++) {
		if (has_ended(left[i].child))
			continue;
		any |= left[i].whose == whose;
		left[kept++] = left[i];
	}
	nleft = kept;
	return any;
}

static uint64_t cpu_of(pid_t child)
{
	clockid_t clock;
	return child && clock_getcpuclockid(child, &clock) == 0 ? clock_read_ns(clock) : 0;
}

static void leave_child(pid_t child, pid_t whose)
{
	cpu_ns += cpu_of(child);
	kill(child, SIGKILL);
	// A child that read nothing of others ends at once.
	if (whose == READER_NAMES ? waitpid(child, NULL, 0) : has_ended(child))
		return;
	ARRAY_GROW(left, left_cap, nleft);
	left[nleft].child = child;
	left[nleft++].whose = whose;
}

// Returns how long to wait now for an answer about `whose`, by the limits in reader.h.
static unsigned patience_ms(pid_t whose)
{
	const uint64_t all = READER_ALL_MS * UINT64_C(1000000), now = clock_ns();
	const uint64_t regained = (now - spent_at_ns) / 10;
	spent_ns = spent_ns > regained ? spent_ns - regained : 0;
	spent_at_ns = now;
	return spent_ns >= all          ? READER_LAST_MS
	       : whose == READER_DRIVER ? READER_DRIVER_MS
					: READER_MS;
}

// Reports that memory or the driver is silent, or that the child died of its question.
static void report_silence(const struct asked *a, int error)
{
	char name[48];
	if (error == ETIMEDOUT)
		spent_ns += clock_ns() - a->since_ns;
	snprintf(name, sizeof(name), "pid %d: its memory", (int)a->whose);
	if (a->whose >= 0 && (error == ETIMEDOUT || error == EIO))
		host_trouble(a->whose == READER_DRIVER ? "the driver" : name, error);
}

// ---- gpq's side

static pid_t child_start(int *fd, const struct reader_question *q)
{
	const pid_t parent = getpid();
	int fds[2];
	confine_prepare();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return 0;
	const pid_t child = fork();
	if (!child) {
		child_begin(fds[1], parent);
		if (q)
			serve_open(q, parent);
		give_up_rights(parent);
		child_serve(fds[1]);
	}
	close(fds[1]);
	*fd = fds[0];
	if (child > 0)
		return child;
	close(fds[0]);
	host_trouble("a process that reads for gpq", ENOMEM);
	return 0;
}

static void reader_stop_child(struct reader *r, pid_t whose)
{
	if (r->child) {
		close(r->fd);
		leave_child(r->child, whose);
	}
	r->child = 0;
}

// Starts the child, or restarts one from before a library was loaded, which a task may need.
static bool make_ready(struct reader *r)
{
	if (r->owner != getpid())
		r->child = 0;
	if (r->child && r->libs != lib_count() && !r->n)
		reader_stop_child(r, READER_NAMES);
	if (!r->child) {
		r->owner = getpid();
		r->child = child_start(&r->fd, NULL);
		r->libs = lib_count(); // child_start() may have loaded one before it forked
	}
	return r->child;
}

static bool send_question(const struct reader *r, const struct reader_question *q)
{
	reader_task *task = q->task;
	struct iovec data[2] = {{&task, sizeof(task)}, {(void *)(uintptr_t)q->text, q->len}};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct msghdr m = {.msg_iov = data, .msg_iovlen = 2};
	ssize_t n;
	if (q->fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &q->fd, sizeof(int));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	do
		n = sendmsg(r->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n >= 0;
}

// True if the child does not sleep: it runs, or waits for a processor.
static bool is_running(pid_t child)
{
	struct proc p;
	return proc_read(&p, child) == 0 && p.state == 'R';
}

// Receives all parts of one answer. Returns what reader_ask() does.
static int take_parts(int fd, pid_t child, pid_t whose, reader_take *take, void *arg)
{
	struct part got; // not `part`: what takes it may ask on, for names
	bool sensible = true;
	for (unsigned late = 0;;) {
		if (!wait_readable(fd, clock_in_ms(patience_ms(whose)))) {
			if (++late < RUNNING_TIMES && is_running(child))
				continue;
			return ETIMEDOUT;
		}
		const size_t n = receive_message(fd, &got, sizeof(got), MSG_DONTWAIT, NULL);
		if (n < sizeof(got.head))
			return EIO;
		const size_t len = n - sizeof(got.head);
		if (got.head.end == PART_ALIVE)
			continue;
		sensible = sensible && (!len || (take && take(arg, got.data, len)));
		if (got.head.end != PART_MORE)
			return sensible ? got.head.end : EPROTO;
	}
}

static struct reader common_one; // the reader that reader_ask() uses

static int ask_common(const struct reader_question *q, reader_take *take, void *arg)
{
	struct reader *r = &common_one;
	if (!make_ready(r))
		return ENOMEM;
	const int error =
		send_question(r, q) ? take_parts(r->fd, r->child, q->whose, take, arg) : EIO;
	if (error == ETIMEDOUT || error == EIO || error == EPROTO)
		reader_stop_child(r, q->whose);
	return error;
}

// Asks a new child, for a question with `open`. Waits for the child's end, too, since closing the
// file may block.
static int ask_once(const struct reader_question *q, reader_take *take, void *arg)
{
	int fd = -1;
	const pid_t child = child_start(&fd, q);
	if (!child)
		return ENOMEM;
	SCOPED(close_at) const int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	int error = take_parts(fd, child, q->whose, take, arg);
	close(fd);
	if (error != ETIMEDOUT && pidfd >= 0 &&
	    !wait_readable(pidfd, clock_in_ms(patience_ms(q->whose))))
		error = ETIMEDOUT;
	leave_child(child, q->whose);
	return error;
}

int reader_ask(const struct reader_question *q, reader_take *take, void *arg)
{
	const struct asked asked = {.whose = q->whose, .since_ns = clock_ns()};
	if (is_silent(q->whose))
		return ETIMEDOUT;
	const int error = q->open ? ask_once(q, take, arg) : ask_common(q, take, arg);
	report_silence(&asked, error);
	return error;
}

uint64_t reader_cpu_ns(const struct reader *r)
{
	return r ? cpu_of(r->child) : cpu_ns + cpu_of(common_one.child);
}

// ---- many questions on their way

struct reader *reader_new(void)
{
	return xcalloc(1, sizeof(struct reader));
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	reader_stop_child(r, READER_NAMES);
	free(r->v);
	free(r);
}

int reader_fd(const struct reader *r)
{
	return r->child ? r->fd : -1;
}

bool reader_post(struct reader *r, const struct reader_question *q, void *tag)
{
	const bool silent = is_silent(q->whose);
	errno = silent ? ETIMEDOUT : EAGAIN;
	// Questions that a dead child left are answered first.
	if (silent || (r->n && !r->child) || !make_ready(r) || !send_question(r, q))
		return false;
	*ARRAY_ADD(r->v, r->cap, r->n) = (struct asked){q->whose, tag, clock_ns()};
	return true;
}

static struct asked next_asked(struct reader *r)
{
	const struct asked first = r->v[0];
	memmove(r->v, r->v + 1, --r->n * sizeof(*r->v));
	if (r->n)
		r->v[0].since_ns = clock_ns(); // the next question's turn begins
	return first;
}

static bool is_overdue(const struct reader *r)
{
	const uint64_t patience_ns = patience_ms(r->v[0].whose) * UINT64_C(1000000);
	const uint64_t took_ns = clock_ns() - r->v[0].since_ns;
	return took_ns >= patience_ns * RUNNING_TIMES ||
	       (took_ns >= patience_ns && !is_running(r->child));
}

const void *reader_next(struct reader *r, void **tag, size_t *len, int *error)
{
	*len = 0;
	while (r->n) {
		const size_t n =
			r->child ? receive_message(r->fd, &part, sizeof(part), MSG_DONTWAIT, NULL)
				 : 0;
		const bool empty = r->child && !n && errno == EAGAIN;
		*error = EAGAIN; // for questions whose child is gone
		if (empty && !is_overdue(r))
			return NULL;
		if (n >= sizeof(part.head) && part.head.end < 0)
			continue;
		const struct asked first = next_asked(r);
		*tag = first.tag;
		if (empty) {
			*error = ETIMEDOUT;
		} else if (n >= sizeof(part.head)) {
			*len = n - sizeof(part.head);
			*error = part.head.end;
		} else if (r->child) {
			*error = EIO;
		}
		if (r->child && n < sizeof(part.head)) {
			report_silence(&first, *error);
			reader_stop_child(r, first.whose);
		}
		if (first.tag)
			return part.data;
	}
	return NULL;
}

void reader_forget(struct reader *r, const void *tag)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].tag == tag)
			r->v[i].tag = NULL;
}
