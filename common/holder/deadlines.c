// Holds: which queues each is about, their deadlines, and the timers that end them.
#include "common/holder/holder_priv.h"

#include <signal.h>
#include <sys/timerfd.h>

// Time from a hold's deadline to SIGKILL of the holder; gpq-suspend(1) names it, too.
#define KILL_MARGIN_NS 1000000000ull

// ---- scopes of holds

static void scope_add(struct hold_scope *w, uint32_t id)
{
	w->ids[id / 64 % SCOPE_WORDS] |= UINT64_C(1) << id % 64;
}

static bool scope_has(const struct hold_scope *w, uint32_t id)
{
	return id == ANY_QUEUE || w->ids[id / 64 % SCOPE_WORDS] >> id % 64 & 1;
}

static bool follows_gpu(const struct hold_scope *w, uint32_t gpu)
{
	return w->follows &&
	       (gpu == ANY_GPU || !w->num_gpus || kfd_among(w->gpus, w->num_gpus, gpu));
}

static bool scope_is_empty(const struct hold_scope *w)
{
	uint64_t any = w->follows;
	for (unsigned i = 0; i < SCOPE_WORDS; i++)
		any |= w->ids[i];
	return !any;
}

// Is scope `a` contained in scope `b`?
static bool scope_is_within(const struct hold_scope *a, const struct hold_scope *b)
{
	for (unsigned i = 0; i < SCOPE_WORDS; i++)
		if (a->ids[i] & ~b->ids[i])
			return false;
	if (!a->follows || (b->follows && !b->num_gpus))
		return true;
	for (unsigned i = 0; i < a->num_gpus; i++)
		if (!follows_gpu(b, a->gpus[i]))
			return false;
	return b->follows && a->num_gpus;
}

// Makes the scope take in new queues on these GPUs as well; `num` 0: on all GPUs.
static void scope_follow(struct hold_scope *w, const uint32_t *gpus, unsigned num)
{
	if (!num || (w->follows && !w->num_gpus))
		w->num_gpus = 0;
	else
		for (unsigned i = 0; i < num; i++)
			if (!kfd_among(w->gpus, w->num_gpus, gpus[i]) && w->num_gpus < SCOPE_GPUS)
				w->gpus[w->num_gpus++] = gpus[i];
	w->follows = true;
}

// ---- making and ending holds

bool hold_is_made(const struct holder *h, unsigned n)
{
	return h->made[n / 64] >> n % 64 & 1;
}

void hold_drop(struct holder *h, unsigned n)
{
	h->made[n / 64] &= ~(UINT64_C(1) << n % 64);
}

// Returns the first hold from `n` on that exists, or HOLDS. Every answer walks the holds, of which
// rarely more than two exist.
static unsigned next_made(const struct holder *h, unsigned n)
{
	for (uint64_t word; n < HOLDS; n = (n / 64 + 1) * 64) {
		word = h->made[n / 64] >> n % 64;
		if (word)
			return n + (unsigned)__builtin_ctzll(word);
	}
	return HOLDS;
}

// Makes hold `n`, and clears its scope only now: the memory of most scopes is never touched.
static void make_hold(struct holder *h, unsigned n, uint64_t until)
{
	if (!hold_is_made(h, n))
		memset(&h->scopes[n], 0, sizeof(h->scopes[n]));
	h->made[n / 64] |= UINT64_C(1) << n % 64;
	h->until_ns[n] = until;
}

// Makes a lasting hold. If no place is free, the hold that ends last is widened, and ends no
// earlier than either would: nothing is resumed too early. The last place is taken first, since its
// scope is beside that of the first client's tied hold.
static unsigned make_lasting(struct holder *h, uint64_t until)
{
	unsigned n = LASTING_HOLDS - 1;
	for (unsigned i = n; i-- > 0 && hold_is_made(h, n);)
		if (!hold_is_made(h, i) || h->until_ns[i] > h->until_ns[n])
			n = i;
	if (hold_is_made(h, n) && h->until_ns[n] > until)
		until = h->until_ns[n];
	make_hold(h, n, until);
	return n;
}

// Compares the lasting hold `n` with each other one, and drops the one that holds no more queues
// and ends no later: repeated requests then need one place.
static void drop_covered_holds(struct holder *h, unsigned n)
{
	for (unsigned i = next_made(h, 0); i < LASTING_HOLDS; i = next_made(h, i + 1)) {
		if (i == n)
			continue;
		if (h->until_ns[i] <= h->until_ns[n] &&
		    scope_is_within(&h->scopes[i], &h->scopes[n])) {
			hold_drop(h, i);
		} else if (h->until_ns[n] <= h->until_ns[i] &&
			   scope_is_within(&h->scopes[n], &h->scopes[i])) {
			hold_drop(h, n);
			return;
		}
	}
}

void hold_cancel(struct holder *h, unsigned n)
{
	if (hold_is_made(h, n) && scope_is_empty(&h->scopes[n]))
		hold_drop(h, n);
}

void hold_fill(struct holder *h, unsigned n, const struct holder_request *r, int num)
{
	struct hold_scope *w = &h->scopes[n];
	for (int i = 0; i < num; i++) {
		const struct kfd_outcome *o = &h->outcomes[i];
		if (o->result == KFD_RESULT_SUSPENDED || o->result == KFD_RESULT_ALREADY)
			scope_add(w, o->queue.queue_id);
	}
	if (!r->sel.num_ids && !r->idle)
		scope_follow(w, r->sel.gpus, r->sel.num_gpus);
	if (scope_is_empty(w))
		hold_drop(h, n);
	else if (n < LASTING_HOLDS)
		drop_covered_holds(h, n);
}

void hold_keep(struct holder *h, const struct client *c)
{
	unsigned from = hold_of(h, c), to;
	const struct hold_scope *own = &h->scopes[from];
	if (!hold_is_made(h, from))
		return;
	to = make_lasting(h, h->until_ns[from]);
	for (unsigned i = 0; i < SCOPE_WORDS; i++)
		h->scopes[to].ids[i] |= own->ids[i];
	if (own->follows)
		scope_follow(&h->scopes[to], own->gpus, own->num_gpus);
	hold_drop(h, from);
	drop_covered_holds(h, to);
}

void hold_drop_all(struct holder *h)
{
	memset(h->made, 0, sizeof(h->made));
}

void hold_forget(struct holder *h, uint32_t id)
{
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1)) {
		struct hold_scope *w = &h->scopes[i];
		w->ids[id / 64 % SCOPE_WORDS] &= ~(UINT64_C(1) << id % 64);
		if (scope_is_empty(w))
			hold_drop(h, i);
	}
}

void hold_forget_queues(struct holder *h)
{
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1))
		memset(h->scopes[i].ids, 0, sizeof(h->scopes[i].ids));
}

void hold_narrow(struct holder *h, unsigned n, const uint32_t *gpus, unsigned num_gpus)
{
	const struct kfd_session *s = &h->session;
	struct hold_scope *w = &h->scopes[n];
	const bool any_gpu = w->follows && !w->num_gpus;
	unsigned left = 0;
	if (!hold_is_made(h, n))
		return;
	for (unsigned i = 0; i < w->num_gpus; i++)
		if (!kfd_among(gpus, num_gpus, w->gpus[i]))
			w->gpus[left++] = w->gpus[i];
	w->num_gpus = left;
	w->follows &= left > 0;
	for (unsigned i = 0; i < s->num; i++) {
		const struct kfd_queue_entry *q = &s->queues[i];
		const uint32_t id = q->queue_id % KFD_MAX_QUEUES;
		if (kfd_among(gpus, num_gpus, q->gpu_id))
			w->ids[id / 64] &= ~(UINT64_C(1) << id % 64);
		else if (any_gpu)
			scope_follow(w, &q->gpu_id, 1);
	}
	if (scope_is_empty(w))
		hold_drop(h, n);
}

void hold_follow(struct holder *h, const struct kfd_queue_entry *q)
{
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1))
		if (follows_gpu(&h->scopes[i], q->gpu_id))
			scope_add(&h->scopes[i], q->queue_id);
}

void hold_stop_following(struct holder *h)
{
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1))
		h->scopes[i].follows = false;
}

// ---- queries about holds

uint64_t hold_until_of(const struct holder *h, uint32_t id)
{
	uint64_t until = 0;
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1))
		if (h->until_ns[i] > until && scope_has(&h->scopes[i], id))
			until = h->until_ns[i];
	return until;
}

bool hold_follows(const struct holder *h, uint32_t gpu)
{
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1))
		if (follows_gpu(&h->scopes[i], gpu))
			return true;
	return false;
}

// ---- timers of holds

// Returns when the next hold ends (CLOCK_MONOTONIC); 0: never.
static uint64_t next_end(const struct holder *h)
{
	uint64_t next = FOREVER;
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1))
		next = h->until_ns[i] < next ? h->until_ns[i] : next;
	return next == FOREVER ? 0 : next;
}

static struct itimerspec timer_at(uint64_t ns)
{
	return (struct itimerspec){.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
						.tv_nsec = (long)(ns % 1000000000u)}};
}

static uint64_t kill_time(const struct holder *h)
{
	uint64_t until = hold_until(h);
	return until == FOREVER ? 0 : until;
}

// Arms a timer that sends SIGKILL: it ends even a stopped holder, whose death resumes the queues.
// h->armed_kill stays 0 if the kernel gives no timer.
static void arm_killer(struct holder *h)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	uint64_t until = kill_time(h);
	struct itimerspec when = timer_at(until ? until + KILL_MARGIN_NS : 0);
	if (h->armed_kill == until)
		return;
	h->armed_kill = 0;
	if (!h->has_killer)
		h->has_killer = timer_create(CLOCK_MONOTONIC, &e, &h->killer) == 0;
	if (h->has_killer && timer_settime(h->killer, TIMER_ABSTIME, &when, NULL) == 0)
		h->armed_kill = until;
}

void hold_arm(struct holder *h)
{
	uint64_t next = next_end(h);
	struct itimerspec when = timer_at(next);
	if (h->armed_next != next)
		timerfd_settime(h->timer, TFD_TIMER_ABSTIME, &when, NULL);
	h->armed_next = next;
	arm_killer(h);
}

int hold_make(struct holder *h, const struct client *c, const struct holder_request *r)
{
	uint64_t until = r->for_ns ? clock_ns() + r->for_ns : FOREVER;
	unsigned n = r->tie ? hold_of(h, c) : make_lasting(h, until);
	if (r->tie)
		make_hold(h, n, until);
	hold_arm(h);
	if (h->armed_kill == kill_time(h))
		return (int)n;
	hold_cancel(h, n);
	return -1;
}

bool hold_expire(struct holder *h)
{
	uint64_t now = clock_ns();
	bool any = false;
	for (unsigned i = next_made(h, 0); i < HOLDS; i = next_made(h, i + 1)) {
		if (h->until_ns[i] > now)
			continue;
		hold_drop(h, i);
		any = true;
	}
	return any;
}
