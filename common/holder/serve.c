// Requests to a holder, and its answers. Each request gets `queue` lines and one `ok` or `error`
// line. Answers are sent at once as far as the client takes them, and the rest is kept for it. A
// client that never reads must neither stop the holder nor eat its memory.
#include "common/holder/holder_priv.h"

#include <sys/socket.h>

// ---- answers to clients

#define KEPT_MAX (1u << 20) // unsent bytes of one client: 4 times the longest answer (1024 queues)
#define LAST_MS  1000       // how long send_last() waits for all clients together

// Returns the number of bytes that the client took, or -1 if it is gone.
static ssize_t send_some(const struct client *c, const char *text, size_t len)
{
	ssize_t n = send(c->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

// Drops a client by shutting its connection down, of which the loop reads the end and closes it.
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

// Sends h->text, and keeps what the client does not take now.
static void send_text(struct holder *h, struct client *c)
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

static void send_error(struct holder *h, struct client *c, const struct kfd_failure *f)
{
	h->text_len =
		(size_t)snprintf(h->text, sizeof(h->text), "error %d %s\n", f->status, f->text);
	send_text(h, c);
}

// Returns a deadline as answers have it: FOREVER becomes 0.
static uint64_t deadline_in_answer(uint64_t until)
{
	return until == FOREVER ? 0 : until;
}

static void send_ok(struct holder *h, struct client *c, bool addresses)
{
	struct kfd_answer a = {.holder = h->pid,
			       .target = h->target.pid,
			       .held = h->session.num_held,
			       .since_ns = h->session.since_ns,
			       .until_ns = deadline_in_answer(hold_until(h)),
			       .follows = hold_follows(h, ANY_GPU),
			       .kept = h->kept,
			       .ended = h->ending,
			       .runtime = h->session.runtime};
	h->text_len += holder_format_ok(h->text + h->text_len, &a, addresses);
	send_text(h, c);
}

// Sends a `queue` line for each of the first `num` outcomes; send_ok() completes the answer.
static void send_outcomes(struct holder *h, struct client *c, int num, bool addresses)
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

// What send_outcomes() leaves free has room for these lines, of 251 bytes each, and the ok line.
_Static_assert(KFD_MAX_GPUS * 251 + 320 <= 2 * HOLDER_LINE_MAX, "an answer has room for all GPUs");
static void send_gpus(struct holder *h)
{
	struct kfd_session *s = &h->session;
	kfd_session_load_gpus(s);
	for (unsigned i = 0; i < s->num_gpus; i++)
		h->text_len += holder_format_gpu(h->text + h->text_len, &s->gpus[i]);
}

// ---- requests of clients

void client_close(struct holder *h, struct client *c)
{
	bool was_tied = hold_is_made(h, hold_of(h, c));
	hold_drop(h, hold_of(h, c));
	close(c->fd);
	buf_fini(&c->out);
	*c = (struct client){.fd = -1};
	if (!was_tied)
		return;
	serve_release(h);
	hold_arm(h);
}

// Opens the session for the first request that needs it. Returns 0, or -1 and sets *f, then for all
// later requests as well.
static int need_session(struct holder *h, bool trace, struct kfd_failure *f)
{
	if (!h->opened) {
		h->opened = true;
		h->failed = kfd_session_open(&h->session, &h->target, trace, &h->failure) < 0;
		if (!h->failed && !holder_watch_session(h))
			h->failed = kfd_fail(&h->failure, KFD_FAULT_SYSTEM, "watch the session",
					     strerror(errno)) < 0;
		// A holder without a session ends, but sends the answer first.
		h->ending |= h->failed;
	}
	if (h->failed)
		*f = h->failure;
	return h->failed ? -1 : 0;
}

// What undoes a suspension comes first: the timers (hold_make()), of which the last is SIGKILL;
// then the session, which the kernel ends when we die; then the queues.
static int suspend_after_arming(struct holder *h, const struct holder_request *r,
				struct kfd_failure *f)
{
	if (need_session(h, !r->untraced, f) < 0)
		return -1;
	if (r->untraced && !h->session.untraced)
		return kfd_fail(f, KFD_FAULT_HELD_TRACED);
	h->session.stale |= r->gpus; // exceptions of queues as they are now
	kfd_step(6);
	const int n = kfd_session_suspend(&h->session, &r->sel, r->grace, r->idle, h->outcomes, f);
	kfd_step(7);
	return n;
}

static void serve_suspend(struct holder *h, struct client *c, const struct holder_request *r)
{
	int hold = hold_make(h, c, r), n = -1;
	struct kfd_failure f;
	if (hold < 0)
		kfd_fail(&f, KFD_FAULT_NO_TIMER, strerror(errno));
	else
		n = suspend_after_arming(h, r, &f);
	if (n < 0) {
		send_error(h, c, &f);
		// Nothing of the failed request may stay behind.
		if (hold >= 0)
			hold_cancel(h, (unsigned)hold);
		serve_release(h);
		hold_arm(h);
		return;
	}
	hold_fill(h, (unsigned)hold, r, n);
	hold_arm(h);
	h->grace = r->grace;
	send_outcomes(h, c, n, r->addresses);
	if (r->gpus)
		send_gpus(h);
	send_ok(h, c, r->addresses);
	serve_new_queues(h); // after the answer, which the client need not wait for
	if (!h->lock_down_ns)
		h->lock_down_ns = clock_ns() + HOLDER_LOCK_MS * UINT64_C(1000000);
	kfd_step(8);
}

// Answers a request that resumed `n` queues. If the holder ends, the session is closed before the
// answer.
static void send_end(struct holder *h, struct client *c, int n)
{
	struct kfd_failure f;
	if (h->ending && !kfd_session_close(&h->session)) {
		kfd_fail(&f, KFD_FAULT_TAKEN);
		send_error(h, c, &f);
		return;
	}
	send_outcomes(h, c, n, false);
	send_ok(h, c, false);
}

static void serve_untie(struct holder *h, struct client *c, const struct holder_request *r)
{
	bool was_tied = hold_is_made(h, hold_of(h, c));
	int n = 0;
	kfd_step(10);
	if (r->sel.num_gpus)
		hold_narrow(h, hold_of(h, c), r->sel.gpus, r->sel.num_gpus);
	else
		hold_drop(h, hold_of(h, c));
	c->keeps = r->keep;
	if (was_tied)
		n = serve_release(h);
	kfd_step(11);
	hold_arm(h);
	send_end(h, c, n);
}

static bool stays_without_hold(const struct holder *h)
{
	bool stay = h->kept;
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		stay |= h->clients[i].fd >= 0 && h->clients[i].keeps;
	return stay;
}

// Writes h->outcomes: result `held` for suspended queues, and `running` for the others, which
// KFD_RESULT_NONE leaves out. Returns their number.
static int list_outcomes(struct holder *h, enum kfd_result held, enum kfd_result running)
{
	const struct kfd_session *s = &h->session;
	int n = 0;
	for (unsigned i = 0; i < s->num; i++) {
		bool off = s->held[s->queues[i].queue_id % KFD_MAX_QUEUES];
		enum kfd_result r = off ? held : running;
		if (r != KFD_RESULT_NONE)
			h->outcomes[n++] = (struct kfd_outcome){.queue = s->queues[i], .result = r};
	}
	return n;
}

// Selects the suspended queues that no hold is about. Returns their number.
static unsigned gather_unwanted(const struct holder *h, struct kfd_selection *sel)
{
	const struct kfd_session *s = &h->session;
	sel->num_ids = sel->num_gpus = 0;
	for (unsigned i = 0; i < s->num; i++) {
		uint32_t id = s->queues[i].queue_id % KFD_MAX_QUEUES;
		if (s->held[id] && !hold_until_of(h, id))
			sel->ids[sel->num_ids++] = id;
	}
	return sel->num_ids;
}

int serve_release(struct holder *h)
{
	struct kfd_selection sel;
	struct kfd_failure f;
	if (!hold_until(h) && (!stays_without_hold(h) || !h->session.enabled)) {
		h->ending = true;
		// The end of the holder resumes the suspended queues.
		return list_outcomes(h, KFD_RESULT_RESUMED, KFD_RESULT_NONE);
	}
	const int n = gather_unwanted(h, &sel)
			      ? kfd_session_resume(&h->session, &sel, h->outcomes, &f)
			      : 0;
	h->ending |= n < 0;
	return n < 0 ? 0 : n;
}

// Resumes queues; named ones leave others held. A failed call ends the holder, which resumes all.
static void serve_resume(struct holder *h, struct client *c, const struct holder_request *r)
{
	bool all = !r->sel.num_ids && !r->sel.num_gpus;
	struct kfd_failure f;
	h->kept = r->keep || (h->kept && !all);
	const int n = need_session(h, true, &f) < 0
			      ? -1
			      : kfd_session_resume(&h->session, &r->sel, h->outcomes, &f);
	if (n < 0) {
		h->ending = true;
		send_error(h, c, &f);
		return;
	}
	for (int i = 0; i < n && !all; i++)
		hold_forget(h, h->outcomes[i].queue.queue_id);
	if (all || !h->session.num_held) {
		hold_drop_all(h);
		h->ending = !h->kept;
	}
	hold_arm(h);
	send_end(h, c, n);
}

static void serve_queues(struct holder *h, struct client *c, const struct holder_request *r)
{
	struct kfd_failure f;
	if (need_session(h, true, &f) < 0 ||
	    (h->session.stale && kfd_session_refresh(&h->session, &f) < 0)) {
		send_error(h, c, &f);
		return;
	}
	send_outcomes(h, c, list_outcomes(h, KFD_RESULT_SUSPENDED, KFD_RESULT_RUNNING),
		      r->addresses);
	send_ok(h, c, r->addresses);
	serve_new_queues(h);
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
	case HOLDER_HOLD:
		hold_keep(h, c);
		hold_arm(h);
		send_ok(h, c, false);
		break;
	case HOLDER_RELEASE: serve_untie(h, c, &r); break;
	case HOLDER_RESUME: serve_resume(h, c, &r); break;
	case HOLDER_QUEUES: serve_queues(h, c, &r); break;
	case HOLDER_STATUS:
		send_outcomes(h, c, list_outcomes(h, KFD_RESULT_SUSPENDED, KFD_RESULT_NONE), false);
		send_ok(h, c, false);
		break;
	}
}

// Selects queues that appeared and that a hold follows, but none that was resumed by name. Returns
// their number, or -1 on failure.
static int gather_new(struct holder *h, struct kfd_selection *sel)
{
	struct kfd_session *s = &h->session;
	struct kfd_failure f;
	if (s->stale && kfd_session_refresh(s, &f) < 0)
		return -1;
	sel->num_ids = sel->num_gpus = 0;
	for (unsigned i = 0; i < s->num; i++) {
		uint32_t id = s->queues[i].queue_id % KFD_MAX_QUEUES;
		if (s->fresh[id] && s->held[id])
			hold_follow(h, &s->queues[i]);
		else if (s->fresh[id] && hold_follows(h, s->queues[i].gpu_id))
			sel->ids[sel->num_ids++] = id;
		s->fresh[id] = false;
	}
	return (int)sel->num_ids;
}

void serve_new_queues(struct holder *h)
{
	struct kfd_selection sel;
	struct kfd_failure f;
	while (gather_new(h, &sel) > 0) {
		int n = kfd_session_suspend(&h->session, &sel, h->grace, false, h->outcomes, &f);
		for (int i = 0; i < n; i++)
			if (h->session.held[h->outcomes[i].queue.queue_id % KFD_MAX_QUEUES])
				hold_follow(h, &h->outcomes[i].queue);
		if (n < 0) {
			if (!h->session.taken)
				hold_stop_following(h);
			break;
		}
	}
}
