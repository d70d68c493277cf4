// What a holder does when asked. Each request gets `queue` lines and one `ok` or `error` line.
#include "common/kfd/holder_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void client_close(struct holder *h, struct client *c)
{
	bool was_tied = c->tied.made;

	close(c->fd);
	c->fd = -1;
	c->len = 0;
	c->tied.made = false;
	c->keeps = false;
	if (was_tied && claim_until(h) == 0)
		serve_release(h);
	if (was_tied)
		claim_arm(h);
}

// A client that does not read its answers must not stop us: what does not fit is its loss.
static void flush_text(struct holder *h, struct client *c)
{
	const char *text = h->text;

	while (c->fd >= 0 && h->text_len) {
		ssize_t n = send(c->fd, text, h->text_len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			shutdown(c->fd, SHUT_RDWR);
			break;
		}
		text += n;
		h->text_len -= (size_t)n;
	}
	h->text_len = 0;
}

static void send_error(struct holder *h, struct client *c, const struct kfd_failure *f)
{
	h->text_len =
		(size_t)snprintf(h->text, sizeof(h->text), "error %d %s\n", f->status, f->text);
	flush_text(h, c);
}

static void send_ok(struct holder *h, struct client *c)
{
	uint64_t until = claim_until(h);
	struct kfd_answer a = {.holder = h->pid,
			       .held = h->session.num_held,
			       .since_ns = h->session.since_ns,
			       .until_ns = until == FOREVER ? 0 : until,
			       .follows = h->follows,
			       .kept = h->kept,
			       .ended = h->ending};

	h->text_len += holder_format_ok(h->text + h->text_len, h->target.pid, &a);
	flush_text(h, c);
}

// The `queue` lines; send_ok() sends what is still in the buffer along with its own line.
static void send_outcomes(struct holder *h, struct client *c, int num, bool addresses)
{
	for (int i = 0; i < num; i++) {
		const struct kfd_outcome *o = &h->outcomes[i];
		struct kfd_answer_queue q = {
			.queue = o->queue, .result = o->result, .latency_ns = o->latency_ns};

		if (addresses)
			q.xccs = kfd_session_xccs(&h->session, q.queue.gpu_id);
		h->text_len += holder_format_queue(h->text + h->text_len, &q, addresses);
		if (h->text_len > sizeof(h->text) - 2 * HOLDER_LINE_MAX)
			flush_text(h, c);
	}
}

// The session is opened by the first request that needs it, after the timers were set.
static int need_session(struct holder *h, struct kfd_failure *f)
{
	if (!h->opened) {
		h->opened = true;
		h->failed = kfd_session_open(&h->session, &h->target, h->steps, &h->failure) < 0;
		if (!h->failed && !holder_watch_session(h))
			h->failed = kfd_fail(&h->failure, KFD_FAULT_SYSTEM, "watch the session",
					     strerror(errno)) < 0;
		// Answers are sent first, then the session is closed and we end, which stops
		// tracing.
		h->ending |= h->failed;
	}
	if (h->failed)
		*f = h->failure;
	return h->failed ? -1 : 0;
}

// A session that was ended under us: the queues run, there is nothing left to do here.
static void check_session(struct holder *h)
{
	if (h->opened && !h->failed && !h->session.enabled)
		h->ending = true;
}

static void make_claim(struct holder *h, struct client *c, const struct holder_request *r)
{
	struct claim *claim = r->tie ? &c->tied : &h->lasting;
	uint64_t until = r->for_ns ? holder_now() + r->for_ns : FOREVER;

	if (!claim->made || claim->until_ns < until || r->tie)
		claim->until_ns = until;
	claim->made = true;
}

// New queues are followed unless ids were named; several requests add up.
static void want_following(struct holder *h, const struct holder_request *r)
{
	if (r->sel.num_ids || r->idle)
		return;
	if (!h->follows || !r->sel.num_gpus)
		h->follow.num_gpus = 0;
	if (!h->follows || h->follow.num_gpus)
		for (unsigned i = 0; i < r->sel.num_gpus; i++)
			if (h->follow.num_gpus < sizeof(h->follow.gpus) / sizeof(h->follow.gpus[0]))
				h->follow.gpus[h->follow.num_gpus++] = r->sel.gpus[i];
	h->follows = true;
	h->grace = r->grace;
}

// Undo is armed before the deed: first the timers, the last of which is the kernel's; then the
// session, which the kernel ends when we die; then the queues.
static int suspend(struct holder *h, struct client *c, const struct holder_request *r,
		   struct kfd_failure *f)
{
	int n;

	make_claim(h, c, r);
	claim_arm(h);
	if (need_session(h, f) < 0)
		return -1;
	kfd_step(h->steps, 6);
	n = kfd_session_suspend(&h->session, &r->sel, r->grace, r->idle, h->outcomes, f);
	kfd_step(h->steps, 7);
	return n;
}

static void serve_suspend(struct holder *h, struct client *c, const struct holder_request *r)
{
	struct kfd_failure f;
	int n = suspend(h, c, r, &f);

	if (n < 0) {
		send_error(h, c, &f);
		// Nothing of a request that failed may stay behind.
		(r->tie ? &c->tied : &h->lasting)->made = false;
		if (claim_until(h) == 0)
			serve_release(h);
		claim_arm(h);
		return;
	}
	want_following(h, r);
	send_outcomes(h, c, n, r->addresses);
	send_ok(h, c);
	holder_title(h); // nobody waits for that
	kfd_step(h->steps, 8);
}

static void serve_hold(struct holder *h, struct client *c)
{
	if (c->tied.made) {
		if (!h->lasting.made || h->lasting.until_ns < c->tied.until_ns)
			h->lasting.until_ns = c->tied.until_ns;
		h->lasting.made = true;
		c->tied.made = false;
	}
	claim_arm(h);
	send_ok(h, c);
}

static void serve_untie(struct holder *h, struct client *c, const struct holder_request *r)
{
	bool was_tied = c->tied.made;

	c->tied.made = false;
	c->keeps = r->keep;
	if (was_tied && claim_until(h) == 0)
		serve_release(h);
	claim_arm(h);
	if (h->ending)
		kfd_session_close(&h->session);
	send_ok(h, c);
}

static bool stays(const struct holder *h)
{
	bool stay = h->kept;

	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		stay |= h->clients[i].fd >= 0 && h->clients[i].keeps;
	return stay;
}

void serve_release(struct holder *h)
{
	const struct kfd_selection all = {0};
	struct kfd_failure f;

	claim_drop_all(h);
	if (!stays(h) || !h->session.enabled ||
	    kfd_session_resume(&h->session, &all, h->outcomes, &f) < 0)
		h->ending = true;
	holder_title(h);
}

// Resuming named queues leaves the rest held. Whatever cannot be resumed by a call is resumed by
// our end.
static void serve_resume(struct holder *h, struct client *c, const struct holder_request *r)
{
	bool all = !r->sel.num_ids && !r->sel.num_gpus;
	struct kfd_failure f;
	int n;

	if (need_session(h, &f) < 0) {
		send_error(h, c, &f);
		return;
	}
	h->kept = r->keep || (h->kept && !all);
	n = kfd_session_resume(&h->session, &r->sel, h->outcomes, &f);
	if (n < 0) {
		h->ending = true;
		send_error(h, c, &f);
		return;
	}
	if (all || !h->session.num_held) {
		claim_drop_all(h);
		h->ending = !h->kept;
	}
	claim_arm(h);
	if (h->ending)
		kfd_session_close(&h->session);
	send_outcomes(h, c, n, false);
	send_ok(h, c);
	holder_title(h);
}

static int list_queues(struct holder *h, struct kfd_failure *f)
{
	struct kfd_session *s = &h->session;

	if (need_session(h, f) < 0 || (s->stale && kfd_session_refresh(s, f) < 0))
		return -1;
	for (unsigned i = 0; i < s->num; i++)
		h->outcomes[i] = (struct kfd_outcome){
			.queue = s->queues[i],
			.result = s->held[s->queues[i].queue_id % KFD_MAX_QUEUES]
					  ? KFD_RESULT_SUSPENDED
					  : KFD_RESULT_RUNNING};
	return (int)s->num;
}

static void serve_queues(struct holder *h, struct client *c, const struct holder_request *r)
{
	struct kfd_failure f;
	int n = list_queues(h, &f);

	if (n < 0) {
		send_error(h, c, &f);
		return;
	}
	send_outcomes(h, c, n, r->addresses);
	send_ok(h, c);
}

static void serve_status(struct holder *h, struct client *c)
{
	const struct kfd_session *s = &h->session;
	int n = 0;

	for (unsigned i = 0; i < s->num; i++)
		if (s->held[s->queues[i].queue_id % KFD_MAX_QUEUES])
			h->outcomes[n++] = (struct kfd_outcome){.queue = s->queues[i],
								.result = KFD_RESULT_SUSPENDED};
	send_outcomes(h, c, n, false);
	send_ok(h, c);
}

void serve_line(struct holder *h, struct client *c, char *line)
{
	struct holder_request r;
	struct kfd_failure f;

	if (holder_request_parse(line, &r, &f) < 0) {
		send_error(h, c, &f);
		return;
	}
	switch (r.verb) {
	case HOLDER_SUSPEND: serve_suspend(h, c, &r); break;
	case HOLDER_HOLD: serve_hold(h, c); break;
	case HOLDER_RELEASE: serve_untie(h, c, &r); break;
	case HOLDER_RESUME: serve_resume(h, c, &r); break;
	case HOLDER_QUEUES: serve_queues(h, c, &r); break;
	case HOLDER_STATUS: serve_status(h, c); break;
	}
	check_session(h);
}

void serve_new_queues(struct holder *h)
{
	struct kfd_failure f;

	if (h->follows && claim_until(h) &&
	    kfd_session_suspend(&h->session, &h->follow, h->grace, false, h->outcomes, &f) >= 0)
		holder_title(h);
	check_session(h);
}
