// Waiting for descriptors, time and signals; loop.h.
#include "common/host/loop.h"

#include "common/host/clock.h"
#include "common/host/number.h"

#define SECOND_NS UINT64_C(1000000000)

int wait_any(struct pollfd *p, size_t n, uint64_t until_ns)
{
	const bool timed = until_ns != LOOP_FOREVER;
	int r;
	do {
		const uint64_t now = timed && until_ns ? clock_ns() : 0;
		const uint64_t left = until_ns > now ? until_ns - now : 0;
		const struct timespec t = {(time_t)(left / SECOND_NS), (long)(left % SECOND_NS)};
		r = ppoll(p, n, timed ? &t : NULL, NULL);
	} while (r < 0 && errno == EINTR);
	return r;
}

bool wait_fd(int fd, short events, uint64_t until_ns)
{
	struct pollfd p = {.fd = fd, .events = events};
	return wait_any(&p, 1, until_ns) > 0;
}

bool loop_open(struct loop *l)
{
	l->fd = epoll_create1(EPOLL_CLOEXEC);
	return l->fd >= 0;
}

static bool set_want(struct loop *l, int op, int fd, uint64_t key, enum loop_want want)
{
	static const uint32_t events[] = {
		[LOOP_NOTHING] = 0, [LOOP_READ] = EPOLLIN, [LOOP_WRITE] = EPOLLOUT};
	struct epoll_event e = {.events = events[want], .data.u64 = key};
	return epoll_ctl(l->fd, op, fd, &e) == 0;
}

bool loop_add(struct loop *l, int fd, uint64_t key, enum loop_want want)
{
	return set_want(l, EPOLL_CTL_ADD, fd, key, want);
}

bool loop_change(struct loop *l, int fd, uint64_t key, enum loop_want want)
{
	return set_want(l, EPOLL_CTL_MOD, fd, key, want);
}

void loop_remove(struct loop *l, int fd)
{
	epoll_ctl(l->fd, EPOLL_CTL_DEL, fd, NULL);
}

void loop_close(struct loop *l)
{
	close_quietly(l->fd);
	l->fd = -1;
}

// epoll_wait(2) counts in milliseconds, ppoll(2) in nanoseconds: that waits.
int loop_wait(const struct loop *l, struct epoll_event *events, int max, uint64_t until_ns)
{
	const bool timed = until_ns != LOOP_FOREVER && until_ns != LOOP_NOW;
	int n;
	if (timed && !wait_readable(l->fd, until_ns))
		return 0;
	do
		n = epoll_wait(l->fd, events, max, until_ns == LOOP_FOREVER ? -1 : 0);
	while (n < 0 && errno == EINTR);
	return n;
}

int signals_open(const int *signals, int how, sigset_t *before)
{
	struct sigaction old;
	sigset_t set;
	sigemptyset(&set);
	for (; *signals; signals++)
		if (how == SIG_SETMASK || sigaction(*signals, NULL, &old) ||
		    old.sa_handler != SIG_IGN)
			sigaddset(&set, *signals);
	sigprocmask(how, &set, before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool signals_next(int fd, struct signalfd_siginfo *info)
{
	return read(fd, info, sizeof(*info)) == sizeof(*info);
}
