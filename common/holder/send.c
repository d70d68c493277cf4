// Answers of a holder: sent at once as far as the client takes them, the rest kept for it. A client
// that never reads must neither stop the holder nor eat its memory.
#include "common/holder/holder_priv.h"
#include "common/host/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define KEPT_MAX (1u << 20) // bytes; four times the longest answer, 1024 queues with addresses
#define LAST_MS  1000       // of send_last()

// Bytes that the client took; -1 when it is gone.
static ssize_t send_some(const struct client *c, const char *text, size_t len)
{
	ssize_t n = send(c->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

// The loop then reads the end of the connection, and closes it.
static void give_up_client(struct holder *h, struct client *c)
{
	shutdown(c->fd, SHUT_RDWR);
	buf_fini(&c->out);
	holder_watch_client(h, c, false);
}

static bool keep_unsent(struct holder *h, struct client *c, const char *text, size_t len)
{
	bool first = !c->out.len;
	if (c->out.len + len > KEPT_MAX)
		return false;
	buf_append(&c->out, text, len);
	if (first)
		holder_watch_client(h, c, true);
	return true;
}

void send_text(struct holder *h, struct client *c)
{
	ssize_t n = c->fd < 0 ? -1 : c->out.len ? 0 : send_some(c, h->text, h->text_len);
	size_t done = n < 0 ? 0 : (size_t)n;
	if (c->fd >= 0 && (n < 0 || (done < h->text_len &&
				     !keep_unsent(h, c, h->text + done, h->text_len - done))))
		give_up_client(h, c);
	h->text_len = 0;
}

void send_more(struct holder *h, struct client *c)
{
	ssize_t n = send_some(c, c->out.data, c->out.len);
	if (n < 0) {
		give_up_client(h, c);
		return;
	}
	c->out.len -= (size_t)n;
	memmove(c->out.data, c->out.data + n, c->out.len);
	if (c->out.len)
		return;
	buf_fini(&c->out);
	holder_watch_client(h, c, false);
}

void send_last(struct holder *h)
{
	const uint64_t end = clock_in_ms(LAST_MS);
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++) {
		struct client *c = &h->clients[i];
		while (c->fd >= 0 && c->out.len && wait_fd(c->fd, POLLOUT, end))
			send_more(h, c);
	}
}

void send_error(struct holder *h, struct client *c, const struct kfd_failure *f)
{
	h->text_len =
		(size_t)snprintf(h->text, sizeof(h->text), "error %d %s\n", f->status, f->text);
	send_text(h, c);
}

// 0 in the protocol: no deadline.
static uint64_t deadline_in_answer(uint64_t until)
{
	return until == FOREVER ? 0 : until;
}

void send_ok(struct holder *h, struct client *c)
{
	struct kfd_answer a = {.holder = h->pid,
			       .target = h->target.pid,
			       .held = h->session.num_held,
			       .since_ns = h->session.since_ns,
			       .until_ns = deadline_in_answer(hold_until(h)),
			       .follows = hold_follows(h, ANY_GPU),
			       .kept = h->kept,
			       .ended = h->ending};
	h->text_len += holder_format_ok(h->text + h->text_len, &a);
	send_text(h, c);
}

void send_outcomes(struct holder *h, struct client *c, int num, bool addresses)
{
	for (int i = 0; i < num; i++) {
		struct kfd_outcome *o = &h->outcomes[i];
		o->until_ns = deadline_in_answer(hold_until_of(h, o->queue.queue_id));
		if (addresses)
			o->xccs = kfd_session_xccs(&h->session, o->queue.gpu_id);
		h->text_len += holder_format_queue(h->text + h->text_len, o, addresses);
		if (h->text_len > sizeof(h->text) - 2 * HOLDER_LINE_MAX)
			send_text(h, c);
	}
}
