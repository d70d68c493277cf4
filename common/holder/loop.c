// The holder's event loop: requests, ptrace stops of the target, driver events, deadlines.
#include "common/holder/holder_priv.h"
#include "common/holder/ptrace.h"

#include <signal.h>
#include <sys/socket.h>

// What an event is about, in the order in which simultaneous events are served: an end before
// requests, and requests before a new client, which may take the place of a silent one.
enum { SIGNALS, SESSION, TARGET, TIMER, CLIENTS, LISTENER = CLIENTS + HOLDER_MAX_CLIENTS };

#define AT_ONCE 16

static bool watch_fd(struct holder *h, int fd, uint64_t what)
{
	return loop_add(&h->loop, fd, what, LOOP_READ);
}

// Waits for input of a client only while it has taken its answers.
void holder_watch_client(struct holder *h, struct client *c, bool answers)
{
	loop_change(&h->loop, c->fd, CLIENTS + (uint64_t)(c - h->clients),
		    answers ? LOOP_WRITE : LOOP_READ);
}

static void serve_holder_signals(struct holder *h)
{
	struct signalfd_siginfo info;
	while (signals_next(h->signals, &info))
		if (info.ssi_signo != SIGCHLD)
			h->ending = true; // SIGTERM and the like end the holder, and the queues run
	if (h->opened && !h->failed && !h->session.untraced && !tracee_serve(h->target.pid))
		h->ending = true;
}

static void serve_events(struct holder *h)
{
	struct kfd_failure f;
	if (kfd_session_events(&h->session, &f) < 0) {
		h->ending |= !h->session.taken; // a session that was taken may come back
		return;
	}
	if (!h->session.num_held)
		hold_forget_queues(h); // the target's runtime has ended
	serve_new_queues(h);
}

static void serve_timer(struct holder *h)
{
	uint64_t times;
	if (read(h->timer, &times, sizeof(times)) != sizeof(times))
		return;
	if (hold_expire(h))
		serve_release(h);
	hold_arm(h);
}

// Returns a free place for a client. If there is none, closes the client without a hold that was
// silent for longest; NULL: all clients have holds.
static struct client *free_client_place(struct holder *h)
{
	struct client *oldest = NULL;
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++) {
		struct client *c = &h->clients[i];
		if (c->fd < 0)
			return c;
		if (!hold_is_made(h, hold_of(h, c)) && (!oldest || c->last < oldest->last))
			oldest = c;
	}
	if (oldest)
		client_close(h, oldest);
	return oldest;
}

static void accept_client(struct holder *h)
{
	int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c = fd >= 0 && kfd_socket_trusts(fd) ? free_client_place(h) : NULL;
	if (!c || !watch_fd(h, fd, CLIENTS + (uint64_t)(c - h->clients))) {
		close_quietly(fd);
		return;
	}
	c->fd = fd;
	c->last = ++h->turn;
}

// Answers the complete lines in the client's buffer as long as the client takes the answers.
static void serve_client_lines(struct holder *h, struct client *c)
{
	char *in = h->in[c - h->clients], *end;
	while (c->fd >= 0 && !c->out.len && (end = memchr(in, '\n', c->len))) {
		size_t used = (size_t)(end - in) + 1;
		*end = '\0';
		serve_line(h, c, in);
		c->len -= used;
		memmove(in, in + used, c->len);
	}
	if (c->len == HOLDER_LINE_MAX && !c->out.len) // no line of gpq is that long
		client_close(h, c);
}

static void serve_client_input(struct holder *h, struct client *c)
{
	char *in = h->in[c - h->clients];
	if (c->out.len) {
		send_more(h, c);
		if (!c->out.len)
			serve_client_lines(h, c);
		return;
	}
	const ssize_t n = recv(c->fd, in + c->len, HOLDER_LINE_MAX - c->len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_close(h, c);
		return;
	}
	c->last = ++h->turn;
	c->len += (size_t)n;
	serve_client_lines(h, c);
}

static bool holder_is_wanted(const struct holder *h)
{
	if (h->kept || hold_until(h))
		return true;
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		if (h->clients[i].fd >= 0)
			return true;
	return false;
}

static void serve_event(struct holder *h, uint64_t what)
{
	switch (what) {
	case SIGNALS: serve_holder_signals(h); break;
	case SESSION: serve_events(h); break;
	case TARGET: h->ending = true; break;
	case TIMER: serve_timer(h); break;
	case LISTENER: accept_client(h); break;
	default:
		if ((!h->ending || h->session.taken) && h->clients[what - CLIENTS].fd >= 0)
			serve_client_input(h, &h->clients[what - CLIENTS]);
	}
}

COMPARE_BY(events_by_kind, struct epoll_event, data.u64)

bool holder_watch_session(struct holder *h)
{
	return watch_fd(h, h->session.events, SESSION);
}

// Is the loop to end? An untraced session that another debugger has taken cannot be closed yet: the
// loop goes on until it can.
static bool holder_is_over(struct holder *h)
{
	if (!h->ending && holder_is_wanted(h))
		return false;
	h->ending = true;
	return !h->session.untraced || kfd_session_close(&h->session);
}

// No event reports that a debugger has taken an untraced session, so this is polled every LOOK_MS,
// even while requests come without a pause.
#define LOOK_MS 500

static void look_at_session(struct holder *h)
{
	uint64_t now = h->session.untraced ? clock_ns() : 0;
	if (now <= h->look_ns)
		return;
	if (h->session.enabled)
		kfd_session_take_back(&h->session);
	h->look_ns = now + LOOK_MS * UINT64_C(1000000);
}

static bool locks_down_later(const struct holder *h)
{
	return h->lock_down_ns && h->lock_down_ns != FOREVER;
}

static uint64_t next_turn(const struct holder *h)
{
	return locks_down_later(h)   ? clock_in_ms(HOLDER_LOCK_MS)
	       : h->session.untraced ? clock_in_ms(LOOK_MS)
				     : LOOP_FOREVER;
}

static void lock_down_when_due(struct holder *h)
{
	if (!locks_down_later(h) || clock_ns() < h->lock_down_ns)
		return;
	holder_lock_down();
	h->lock_down_ns = FOREVER;
}

void holder_loop(struct holder *h)
{
	struct epoll_event e[AT_ONCE];
	if (!loop_open(&h->loop) || !watch_fd(h, h->signals, SIGNALS) ||
	    !watch_fd(h, h->target.pidfd, TARGET) || !watch_fd(h, h->timer, TIMER) ||
	    !watch_fd(h, h->clients[0].fd, CLIENTS) || !watch_fd(h, h->listener, LISTENER))
		return;
	do {
		const int n = loop_wait(&h->loop, e, AT_ONCE, next_turn(h));
		if (n < 0)
			break;
		qsort(e, (size_t)n, sizeof(e[0]), events_by_kind);
		for (int i = 0; i < n; i++)
			serve_event(h, e[i].data.u64);
		if (h->opened)
			holder_title(h);
		look_at_session(h);
		lock_down_when_due(h);
	} while (!holder_is_over(h));
}
