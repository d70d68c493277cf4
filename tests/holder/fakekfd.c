// Preloaded into gpq: /dev/kfd is a driver of a test's own, and time stands still until the test
// moves it.
//
// $GPQ_RIG is a folder of the test (rig.py): `kfd`, the socket at which its driver listens, `smi`,
// that for streams of events; `page`, memory that is shared with it (struct page); `root`, a tree
// for the paths of `moved`.
//
// The clock. CLOCK_MONOTONIC is page->now_ns. Waits with a time limit end when that has come; they
// look once a millisecond. Timers of timerfd_create(2) expire in the process that armed them, those
// of timer_create(2) are in the page, and the test sends their signals.
//
// Processes. In /proc only those of the test are listed, lest gpq finds the holders of others. And
// lest others find those of the test, they are named rig-holder: "rig-" is "gpq-" to the test's
// gpq.
//
// Memory and dumps. Of a gpq that was started with $GPQ_RIG_LOOKS the test is told before it reads
// an index, a save area or the MQDs, and may move or change them.
//
// System calls are made directly: a holder that has locked itself down may make those of its list
// alone, which has what is called here.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/kfd/abi.h"

#define SECOND_NS  INT64_C(1000000000)
#define SLEPT_NS   (7 * SECOND_NS) // how far CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC
#define SLICE_NS   1000000
#define TIMERS     64
#define LOCAL_MAX  8
#define PIDS       (1u << 22)
#define ANSWER_MAX 131072

#define MEMORY      UINT64_C(0x200000000) // as in target.c
#define MEMORY_SIZE 65536
#define AREA        32768 // offset of the first save area

struct timer {
	int32_t pid;    // 0: free
	int32_t signal; // 0: a timerfd; -1: the wait that a process is in
	int64_t at_ns;  // 0: not armed
};

struct page { // rig.py has the same layout
	int64_t now_ns;
	int32_t no_timers;  // timer_create(2) fails
	int32_t open_error; // errno of opening /dev/kfd
	int32_t file_error; // errno of fsync(2) and renameat2(2)
	int32_t lost_ms;    // the processor is lost for so long before CLOCK_BOOTTIME is read, once
	int64_t area_ns;    // how long it takes to read the first save area
	int64_t mem_error;  // errno of opening the memory of a process
	struct timer timers[TIMERS];
	uint8_t is_ours[PIDS]; // by pid: a process of the test
};

static struct page *page;
static char rig[64], root[80];
static pid_t looker; // the process whose reads of memory the test is told of

static const char *const moved[] = {"/sys/",     "/proc/sys/", "/dev/kfd", "/dev/dri",
				    "/dev/kmsg", "/run/",      "/tmp/gpq-"};

// ---- the page

static void register_self(void)
{
	page->is_ours[(unsigned)getpid() % PIDS] = 1;
}

static bool is_registered(unsigned long pid)
{
	return pid < PIDS && page->is_ours[pid];
}

__attribute__((constructor)) static void begin(void)
{
	const char *dir = getenv("GPQ_RIG");
	char path[96];
	if (!dir || snprintf(rig, sizeof(rig), "%s", dir) >= (int)sizeof(rig))
		_exit(99);
	snprintf(root, sizeof(root), "%s/root", rig);
	snprintf(path, sizeof(path), "%s/page", rig);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || page == MAP_FAILED)
		_exit(99);
	close(fd);
	looker = getenv("GPQ_RIG_LOOKS") ? getpid() : 0;
	register_self();
	pthread_atfork(NULL, NULL, register_self);
}

static int64_t now_ns(void)
{
	return __atomic_load_n(&page->now_ns, __ATOMIC_SEQ_CST);
}

static int64_t to_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * SECOND_NS + t->tv_nsec;
}

// ---- time

int clock_gettime(clockid_t clock, struct timespec *t)
{
	// AddressSanitizer asks for the time before the page is mapped.
	if (!page || (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME))
		return (int)syscall(SYS_clock_gettime, clock, t);
	if (clock == CLOCK_BOOTTIME && page->lost_ms)
		__atomic_fetch_add(&page->now_ns,
				   INT64_C(1000000) *
					   __atomic_exchange_n(&page->lost_ms, 0, __ATOMIC_SEQ_CST),
				   __ATOMIC_SEQ_CST);
	const int64_t now = now_ns() + (clock == CLOCK_BOOTTIME ? SLEPT_NS : 0);
	*t = (struct timespec){now / SECOND_NS, now % SECOND_NS};
	return 0;
}

static struct timer *take_timer(int signal)
{
	for (struct timer *t = page->timers; t < page->timers + TIMERS; t++) {
		int32_t free = 0;
		if (!__atomic_compare_exchange_n(&t->pid, &free, getpid(), false, __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST))
			continue;
		t->at_ns = 0;
		t->signal = signal;
		return t;
	}
	_exit(99);
}

int timer_create(clockid_t clock, struct sigevent *e, timer_t *id)
{
	if (page->no_timers || clock != CLOCK_MONOTONIC || e->sigev_notify != SIGEV_SIGNAL) {
		errno = EAGAIN;
		return -1;
	}
	*id = take_timer(e->sigev_signo);
	return 0;
}

static int64_t time_of(int absolute, const struct itimerspec *when)
{
	const int64_t at = to_ns(&when->it_value);
	return at && !absolute ? now_ns() + at : at;
}

int timer_settime(timer_t id, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	(void)old;
	if (page->no_timers) {
		errno = EINVAL;
		return -1;
	}
	((struct timer *)id)->at_ns = time_of(flags & TIMER_ABSTIME, when);
	return 0;
}

int timer_delete(timer_t id)
{
	((struct timer *)id)->pid = 0;
	return 0;
}

// Timer descriptors of this process that were ever armed.
static struct {
	int fd;
	struct timer *timer;
} local[LOCAL_MAX];
static unsigned num_local;

static void expire_at_once(int fd, bool expire)
{
	const struct itimerspec when = {.it_value.tv_nsec = expire};
	syscall(SYS_timerfd_settime, fd, 0, &when, NULL);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	unsigned i = 0;
	(void)old;
	while (i < num_local && local[i].fd != fd)
		i++;
	if (i == LOCAL_MAX)
		_exit(99);
	if (i == num_local) {
		local[num_local].timer = take_timer(0);
		local[num_local++].fd = fd;
	}
	local[i].timer->at_ns = time_of(flags & TFD_TIMER_ABSTIME, when);
	expire_at_once(fd, false);
	return 0;
}

static bool has_armed_timers(void)
{
	for (unsigned i = 0; i < num_local; i++)
		if (local[i].timer->at_ns)
			return true;
	return false;
}

// Lets the timer descriptors expire whose time has come. True if there were any.
static bool expire_timers(void)
{
	bool any = false;
	for (unsigned i = 0; i < num_local; i++) {
		const int64_t at = local[i].timer->at_ns;
		if (!at || at > now_ns())
			continue;
		local[i].timer->at_ns = 0;
		expire_at_once(local[i].fd, true);
		any = true;
	}
	return any;
}

struct wait {
	struct pollfd *p;
	size_t n;
	const sigset_t *mask;
	int epoll, max;
	struct epoll_event *events;
};

// ppoll(2) or epoll_wait(2) for 0 or 1 ms of the host's time, or (`ns` -1) for ever.
static int wait_really(const struct wait *w, long ns)
{
	const struct timespec t = {.tv_nsec = ns};
	if (w->p)
		return (int)syscall(SYS_ppoll, w->p, w->n, ns < 0 ? NULL : &t, w->mask, 8);
	return (int)syscall(SYS_epoll_wait, w->epoll, w->events, w->max, ns < 0 ? -1 : ns ? 1 : 0);
}

// Shows the test until when the process waits; 0: it does not.
static void show_wait(int64_t until_ns)
{
	static struct timer *shown;
	if ((!shown || shown->pid != getpid()) && until_ns)
		shown = take_timer(-1);
	if (shown && shown->pid == getpid())
		shown->at_ns = until_ns;
}

// A timer that came due while this waited counts as earlier than what has woken it.
static int wait_until(const struct wait *w, int64_t until_ns)
{
	const bool ends = until_ns != INT64_MAX;
	for (;;) {
		expire_timers();
		const bool over = ends && now_ns() >= until_ns;
		if (ends && !over)
			show_wait(until_ns);
		int r = wait_really(w, over ? 0 : ends || has_armed_timers() ? SLICE_NS : -1);
		if (r > 0 && expire_timers())
			r = wait_really(w, 0);
		if (!r && !over)
			continue;
		show_wait(0);
		return r;
	}
}

int ppoll(struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	const struct wait w = {.p = p, .n = n, .mask = mask};
	return wait_until(&w, !t ? INT64_MAX : now_ns() + to_ns(t));
}

int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
	const struct wait w = {.epoll = fd, .events = events, .max = max};
	return wait_until(&w, ms < 0 ? INT64_MAX : now_ns() + ms * INT64_C(1000000));
}

// Sleeps of 10 ms and more are waits as the others; shorter ones are between two looks at the host.
int nanosleep(const struct timespec *t, struct timespec *left)
{
	struct pollfd none;
	const struct wait w = {.p = &none};
	if (to_ns(t) < 10 * SLICE_NS)
		return (int)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, t, left);
	return wait_until(&w, now_ns() + to_ns(t));
}

// ---- paths

static const char *move_path(const char *path, char buf[PATH_MAX])
{
	for (size_t i = 0; path && i < sizeof(moved) / sizeof(moved[0]); i++) {
		const size_t n = strlen(moved[i]);
		// "/run/" moves "/run", too.
		if (strncmp(path, moved[i], n) != 0 &&
		    (moved[i][n - 1] != '/' || strncmp(path, moved[i], n - 1) != 0 || path[n - 1]))
			continue;
		snprintf(buf, PATH_MAX, "%s%s", root, path);
		return buf;
	}
	return path;
}

static int connect_to(const char *name, int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", rig, name);
	const int fd = socket(AF_UNIX, type, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int open_driver(void)
{
	if (page->open_error) {
		errno = page->open_error;
		return -1;
	}
	const int fd = connect_to("kfd", SOCK_SEQPACKET | SOCK_CLOEXEC);
	if (fd < 0)
		_exit(99);
	return fd;
}

// Takes `root` out of a text of *n bytes.
static void take_root_out(char *text, ssize_t *n)
{
	const size_t len = strlen(root);
	char *end = text + *n, *at;
	while ((at = memmem(text, (size_t)(end - text), root, len))) {
		memmove(at, at + len, (size_t)(end - at) - len);
		end -= len;
	}
	*n = end - text;
}

// Opens /proc/PID/status or maps, and gives back a socket with its text, in which rig-holder is
// gpq-holder, and files of `root` are those of the host.
static int open_text(const char *path, int flags)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags);
	static char text[65536];
	ssize_t n = 0, got;
	int ends[2];
	if (fd < 0)
		return fd;
	while ((got = read(fd, text + n, sizeof(text) - (size_t)n)) > 0)
		n += got;
	close(fd);
	take_root_out(text, &n);
	if (got < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	if (n > 10 && memcmp(text, "Name:\trig-", 10) == 0)
		memcpy(text + 6, "gpq", 3);
	if (write(ends[0], text, (size_t)n) != n)
		_exit(99);
	close(ends[0]);
	return ends[1];
}

int prctl(int option, ...)
{
	char name[16];
	va_list ap;
	va_start(ap, option);
	unsigned long a = va_arg(ap, unsigned long), b = va_arg(ap, unsigned long),
		      c = va_arg(ap, unsigned long), d = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_NAME && strncmp((char *)a, "gpq-", 4) == 0) {
		snprintf(name, sizeof(name), "rig-%s", (char *)a + 4);
		a = (unsigned long)name;
	}
	return (int)syscall(SYS_prctl, option, a, b, c, d);
}

static bool is_text(const char *path)
{
	const char *name = strrchr(path, '/');
	return strncmp(path, "/proc/", 6) == 0 &&
	       (strcmp(name, "/status") == 0 || strcmp(name, "/maps") == 0);
}

void rig_make_instance(const char *path); // faketracefs.c
static void tell_look(int file, uint64_t at);

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	char buf[PATH_MAX];
	if (strcmp(path, KFD_DEVICE_PATH) == 0 && !(flags & O_PATH))
		return open_driver();
	if (is_text(path))
		return open_text(path, flags);
	if (page->mem_error && strncmp(path, "/proc/", 6) == 0 &&
	    strcmp(strrchr(path, '/'), "/mem") == 0) {
		errno = (int)page->mem_error;
		return -1;
	}
	const int fd = (int)syscall(SYS_openat, dir, move_path(path, buf), flags, mode);
	if (looker && fd >= 0 && strcmp(path, "/sys/kernel/debug/kfd/mqds") == 0)
		tell_look(fd, 0);
	return fd;
}

#define OPEN(name, dir, ...)                            \
	int name(__VA_ARGS__, ...);                     \
	int name(__VA_ARGS__, ...)                      \
	{                                               \
		va_list ap;                             \
		va_start(ap, flags);                    \
		const mode_t mode = va_arg(ap, int);    \
		va_end(ap);                             \
		return open_at(dir, path, flags, mode); \
	}
OPEN(open64, AT_FDCWD, const char *path, int flags)
OPEN(openat64, dir, int dir, const char *path, int flags)
OPEN(__open64_2, AT_FDCWD, const char *path, int flags)
OPEN(__openat64_2, dir, int dir, const char *path, int flags)

int fsync(int fd)
{
	errno = page->file_error;
	return errno ? -1 : (int)syscall(SYS_fsync, fd);
}

// Where files cannot be written there is room for the memory of a target, and no byte more. Where
// they cannot be synchronised (EINVAL) nobody knows how much room there is, as with a tmpfs.
int fstatvfs64(int fd, struct statvfs64 *st)
{
	int (*const real)(int, struct statvfs64 *) =
		(int (*)(int, struct statvfs64 *))dlsym(RTLD_NEXT, "fstatvfs64");
	if (!page->file_error)
		return real(fd, st);
	*st = page->file_error == EINVAL ? (struct statvfs64){.f_frsize = 4096}
					 : (struct statvfs64){.f_frsize = 4096,
							      .f_blocks = MEMORY_SIZE / 4096,
							      .f_bavail = MEMORY_SIZE / 4096};
	return 0;
}

int renameat2(int from, const char *path, int to, const char *name, unsigned flags)
{
	errno = page->file_error;
	return errno ? -1 : (int)syscall(SYS_renameat2, from, path, to, name, flags);
}

int access(const char *path, int mode)
{
	char buf[PATH_MAX];
	return (int)syscall(SYS_access, move_path(path, buf), mode);
}

int mkdir(const char *path, mode_t mode)
{
	char buf[PATH_MAX];
	const int status = (int)syscall(SYS_mkdir, move_path(path, buf), mode);
	if (status == 0 && strstr(path, "/tracing/instances/"))
		rig_make_instance(buf);
	return status;
}

int stat64(const char *path, struct stat64 *st)
{
	char buf[PATH_MAX];
	return (int)syscall(SYS_newfstatat, AT_FDCWD, move_path(path, buf), st, 0);
}

#if !__GLIBC_PREREQ(2, 33)
// What stat64() of the headers calls.
int __xstat64(int version, const char *path, struct stat64 *st)
{
	char buf[PATH_MAX];
	(void)version;
	return (int)syscall(SYS_newfstatat, AT_FDCWD, move_path(path, buf), st, 0);
}
#endif

// Namespaces are those of the host, wherever the test runs.
ssize_t readlink(const char *path, char *to, size_t size)
{
	static const char host[] = "pid:[4026531836]";
	char buf[PATH_MAX];
	const ssize_t n = syscall(SYS_readlink, move_path(path, buf), to, size);
	if (n < 0 || strcmp(path, "/proc/self/ns/pid") != 0)
		return n; // also where a holder may not make the call
	memcpy(to, host, size < sizeof(host) - 1 ? size : sizeof(host) - 1);
	return sizeof(host) - 1;
}

// A file of `root` is one of the host.
ssize_t readlinkat(int dir, const char *path, char *to, size_t size)
{
	char buf[PATH_MAX];
	ssize_t n = syscall(SYS_readlinkat, dir, path, buf, sizeof(buf));
	const size_t prefix = strlen(root),
		     from = n > (ssize_t)prefix && memcmp(buf, root, prefix) == 0 ? prefix : 0;
	if (n < 0)
		return n;
	n = n - (ssize_t)from < (ssize_t)size ? n - (ssize_t)from : (ssize_t)size;
	memcpy(to, buf + from, (size_t)n);
	return n;
}

typedef int (*scandir_function)(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
				int (*)(const struct dirent64 **, const struct dirent64 **));

int scandir64(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
	      int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	const scandir_function real = (scandir_function)dlsym(RTLD_NEXT, "scandir64");
	char buf[PATH_MAX];
	return real(move_path(path, buf), list, filter, compare);
}

struct dirent64 *readdir64(DIR *d)
{
	static struct dirent64 *(*real)(DIR *);
	struct stat proc, st;
	struct dirent64 *e;
	if (!real)
		real = (struct dirent64 * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir64");
	const bool all = fstat(dirfd(d), &st) ||
			 syscall(SYS_newfstatat, AT_FDCWD, "/proc", &proc, 0) ||
			 st.st_dev != proc.st_dev || st.st_ino != proc.st_ino;
	do
		e = real(d);
	while (e && !all && e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
	       !is_registered(strtoul(e->d_name, NULL, 10)));
	return e;
}

// ---- the driver

// Where the driver reads and writes more than the argument, and how many bytes it reads.
static void *more_of(struct kfd_dbg *a, size_t *in)
{
	*in = 0;
	switch (a->op) {
	case KFD_DBG_ENABLE: return (void *)(uintptr_t)a->enable.rinfo_ptr;
	case KFD_DBG_SUSPEND_QUEUES:
		*in = a->suspend.num_queues * sizeof(uint32_t);
		return (void *)(uintptr_t)a->suspend.queue_array_ptr;
	case KFD_DBG_RESUME_QUEUES:
		*in = a->resume.num_queues * sizeof(uint32_t);
		return (void *)(uintptr_t)a->resume.queue_array_ptr;
	case KFD_DBG_GET_QUEUE_SNAPSHOT:
	case KFD_DBG_GET_DEVICE_SNAPSHOT: return (void *)(uintptr_t)a->snapshot.buf_ptr;
	default: return NULL;
	}
}

static bool send_question(int fd, struct iovec *parts, size_t n, int pass)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = n};
	if (pass >= 0) {
		memcpy(CMSG_DATA(&control.head), &pass, sizeof(pass));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	ssize_t sent;
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent > 0;
}

// Tells the test of a read, and waits until it has done what it likes.
static void tell_look(int file, uint64_t at)
{
	static int fd = -1;
	char link[32], name[32] = "";
	uint64_t head[] = {(uint64_t)gettid(), at};
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	if (fd < 0)
		fd = open_driver();
	if (syscall(SYS_readlink, link, name, sizeof(name) - 1) < 0)
		_exit(99);
	struct iovec parts[] = {{head, sizeof(head)}, {name, sizeof(name)}};
	if (send_question(fd, parts, 2, -1))
		recv(fd, name, sizeof(name), 0);
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
	const uint64_t offset = (uint64_t)at - MEMORY;
	if (looker && getpid() == looker && offset < MEMORY_SIZE)
		tell_look(fd, offset);
	if (page && offset == AREA)
		__atomic_add_fetch(&page->now_ns, page->area_ns, __ATOMIC_SEQ_CST);
	return syscall(SYS_pread64, fd, to, n, at);
}

// A stream of events: at its other end is the test, which is told the GPU. Without a test that
// listens the driver has none.
static int open_events(struct kfd_smi *a)
{
	const int fd = connect_to("smi", SOCK_STREAM | SOCK_NONBLOCK);
	if (fd < 0 || write(fd, &a->gpu_id, sizeof(a->gpu_id)) != sizeof(a->gpu_id)) {
		errno = ENOTTY;
		return -1;
	}
	a->fd = (uint32_t)fd;
	return 0;
}

static bool is_device(int fd)
{
	char link[32], name[32];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	const ssize_t n = readlinkat(AT_FDCWD, link, name, sizeof(name));
	return n == (ssize_t)strlen("/dev/kfd") && memcmp(name, "/dev/kfd", (size_t)n) == 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	static __thread char answer[ANSWER_MAX];
	va_list ap;
	va_start(ap, request);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (_IOC_TYPE(request) != 'K')
		return (int)syscall(SYS_ioctl, fd, request, arg);
	if (request == KFD_SMI_EVENTS)
		return open_events(arg);
	struct kfd_dbg *trap = request == KFD_DBG_TRAP ? arg : NULL;
	size_t in = 0;
	char *more = trap ? more_of(trap, &in) : NULL;
	uint32_t head[] = {(uint32_t)gettid(), (uint32_t)request};
	const size_t size = _IOC_SIZE(request);
	struct iovec parts[] = {{head, sizeof(head)}, {arg, size}, {more, more ? in : 0}};
	int32_t result = -EBADF;
	if (request == KFD_CRIU_OP) // by a descriptor of the target's, which is a file of `root`
		fd = is_device(fd) ? open_driver() : -1;
	if (send_question(fd, parts, 3,
			  trap && trap->op == KFD_DBG_ENABLE ? (int)trap->enable.dbg_fd : -1)) {
		ssize_t n;
		do
			n = recv(fd, answer, sizeof(answer), 0);
		while (n < 0 && errno == EINTR);
		if (n < (ssize_t)(sizeof(result) + size))
			_exit(99);
		memcpy(&result, answer, sizeof(result));
		memcpy(arg, answer + sizeof(result), size);
		memcpy(more ? more : answer, answer + sizeof(result) + size,
		       (size_t)n - sizeof(result) - size);
	}
	if (request == KFD_CRIU_OP)
		close(fd);
	errno = result < 0 ? -result : errno;
	return result < 0 ? -1 : result;
}
