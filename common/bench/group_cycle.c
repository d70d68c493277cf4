// Cycles of several processes at once; group_cycle.h.
#include "common/bench/group_cycle.h"

#include "common/host/clock.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <sys/prctl.h>

#define MS        1000000ull
#define MARGIN_NS (60000 * MS) // a holder's deadline, above the hold

bool group_bench_open(struct group_bench *b, const pid_t *pids, const struct kfd_selection *sel,
		      size_t n, unsigned grace, uint64_t longest_hold_ns, int signals)
{
	bool all = true;
	*b = (struct group_bench){.signals = signals};
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // as in attached.c
	b->group.attach = true;
	b->group.grace = grace;
	b->group.limit_ns = longest_hold_ns + MARGIN_NS;
	b->look = xcalloc(n, sizeof(*b->look));
	for (size_t i = 0; i < n; i++) {
		struct kfd_selection *own = xcalloc(1, sizeof(*own));
		*own = sel[i];
		all &= group_add(&b->group, pids[i], own) != NULL;
	}
	return all && !group_failed(&b->group);
}

void group_bench_close(struct group_bench *b)
{
	group_fini(&b->group);
	free(b->look);
	b->look = NULL;
}

// False when a process ended, or its memory or holder is out of reach: a group in which one runs on
// is not what was to be measured.
static bool look(struct group_bench *b, enum group_look which, bool write)
{
	for (size_t i = 0; i < b->group.n; i++) {
		struct group_member *m = b->group.v[i];
		if (m->ended || m->failed ||
		    !kfd_watch_look(&m->watch, &b->look[i][which], write)) {
			m->ended |= !m->failed;
			return false;
		}
	}
	return true;
}

// What each took between two looks into its member at `offset`, the sum into that of the group.
static void count(struct group_bench *b, struct cycle *v, size_t offset, enum group_look from,
		  enum group_look to)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < b->group.n; i++) {
		uint64_t n = kfd_watch_packets(&b->group.v[i]->watch, &b->look[i][from],
					       &b->look[i][to]);
		*(uint64_t *)((char *)&v[i + 1] + offset) = n;
		sum += n;
	}
	*(uint64_t *)((char *)v + offset) = sum;
}
#define COUNT_INTO(member, from, to) count(b, v, offsetof(struct cycle, member), from, to)

// False when gpq is to end.
static bool rest(struct group_bench *b, uint64_t until)
{
	b->stopped |= !bench_signals_wait(b->signals, until);
	return !b->stopped;
}

// A process's answer: what became of its queues, and the longest of its calls.
static void judge(const struct group_member *m, bool hold, struct cycle *c, uint64_t *ioctl_ns)
{
	const struct kfd_answer *a = &m->link.answer;
	enum kfd_result wanted = hold ? KFD_RESULT_SUSPENDED : KFD_RESULT_RESUMED;
	size_t done = 0;
	*ioctl_ns = 0;
	for (size_t i = 0; i < a->num; i++) {
		done += a->queues[i].result == wanted;
		if (a->queues[i].latency_ns > *ioctl_ns)
			*ioctl_ns = a->queues[i].latency_ns;
	}
	enum cycle_result r = done == a->num && done ? CYCLE_OK
			      : done                 ? CYCLE_PARTLY
						     : CYCLE_FAILED;
	if (m->ended || m->failed)
		r = CYCLE_STOPPED;
	if (hold)
		c->queues = a->num;
	if (hold || c->result == CYCLE_OK)
		c->result = r;
}

static void wait_for_answers(struct group_bench *b)
{
	nfds_t n = 0;
	for (size_t i = 0; i < b->group.n; i++)
		if (b->group.v[i]->asked)
			b->p[n++] = (struct pollfd){.fd = b->group.v[i]->link.fd, .events = POLLIN};
	poll(b->p, n, 1000);
}

static uint64_t *took(struct cycle *c, bool hold)
{
	return hold ? &c->suspend_ns : &c->resume_ns;
}

// All requests go out, then answers are taken as they come. Returns when the last one came.
static bool ask(struct group_bench *b, struct cycle *v, bool hold)
{
	struct group *g = &b->group;
	uint64_t asked = clock_ns(), now;
	for (size_t i = 0; i <= g->n; i++)
		if (hold)
			v[i].at_ns = asked;
		else
			v[i].held_ns = asked - v[i].at_ns - v[i].suspend_ns;
	group_ask(g, hold);
	for (b->silent = false; g->asked && !b->silent;) {
		wait_for_answers(b);
		group_take(g);
		now = clock_ns();
		b->silent = now > asked + KFD_ANSWER_MS * MS;
		for (size_t i = 0; i < g->n; i++)
			if (!g->v[i]->asked && *took(&v[i + 1], hold) == CYCLE_NONE)
				*took(&v[i + 1], hold) = now - asked;
	}
	return !b->silent;
}

// The group's own times: until the last process, until the first, and the longest call.
static void sum_up(struct group_bench *b, struct cycle *v, bool hold)
{
	uint64_t last = 0, first = UINT64_MAX, ioctl = 0, queues = 0;
	for (size_t i = 1; i <= b->group.n; i++) {
		uint64_t *own = hold ? &v[i].suspend_ioctl_ns : &v[i].resume_ioctl_ns;
		uint64_t t = *took(&v[i], hold);
		judge(b->group.v[i - 1], hold, &v[i], own);
		last = t > last ? t : last;
		first = t < first ? t : first;
		ioctl = *own > ioctl ? *own : ioctl;
		queues += v[i].queues;
		if (v[i].result > v->result)
			v->result = v[i].result;
	}
	v->queues = queues;
	*took(v, hold) = last;
	*(hold ? &v->suspend_first_ns : &v->resume_first_ns) = first;
	*(hold ? &v->suspend_ioctl_ns : &v->resume_ioctl_ns) = ioctl;
}

static bool measure_untouched(struct group_bench *b, struct cycle *v)
{
	uint64_t start = clock_ns();
	if (!look(b, LOOK_BEFORE, false) || !rest(b, start + v->set.hold_ns + v->set.gap_ns))
		return false;
	uint64_t end = clock_ns();
	if (!look(b, LOOK_END, false))
		return false;
	for (size_t i = 0; i <= b->group.n; i++)
		v[i].untouched_ns = end - start;
	COUNT_INTO(untouched_packets, LOOK_BEFORE, LOOK_END);
	return true;
}

// Each process's times count from the request; hold and resume count from the last process off.
static bool hold(struct group_bench *b, const struct cycle_plan *p, struct cycle *v)
{
	uint64_t settle = p->settle_ns < v->set.hold_ns ? p->settle_ns : v->set.hold_ns;
	if (!look(b, LOOK_BEFORE, false) || !ask(b, v, true))
		return false;
	sum_up(b, v, true);
	uint64_t off = v->at_ns + v->suspend_ns;
	rest(b, off + settle); // also after a stop signal: what is held has to be resumed
	if (!look(b, LOOK_HELD, false))
		return false;
	COUNT_INTO(suspend_packets, LOOK_BEFORE, LOOK_HELD);
	rest(b, off + v->set.hold_ns);
	if (!look(b, LOOK_AT_RESUME, true))
		return false;
	COUNT_INTO(held_packets, LOOK_HELD, LOOK_AT_RESUME);
	v->backlog_packets = 0;
	for (size_t i = 0; i < b->group.n; i++) {
		const struct kfd_watch *w = &b->group.v[i]->watch;
		struct kfd_indices *at = b->look[i];
		v[i + 1].backlog_packets = kfd_watch_backlog(w, &at[LOOK_AT_RESUME]);
		v->backlog_packets += v[i + 1].backlog_packets;
		if (!kfd_watch_moved(w, &at[LOOK_HELD], &at[LOOK_AT_RESUME]))
			continue;
		for (size_t k = 0; k <= i + 1; k += i + 1) // the group's, and its own
			if (v[k].result == CYCLE_OK)
				v[k].result = CYCLE_MOVED;
	}
	return true;
}

static bool run(struct group_bench *b, const struct cycle_plan *p, bool untouched, struct cycle *v)
{
	group_look(&b->group);
	if (!rest(b, 0) || (untouched && !measure_untouched(b, v)) || !hold(b, p, v) ||
	    !ask(b, v, false))
		return false;
	sum_up(b, v, false);
	if (!look(b, LOOK_RESUMED, false))
		return false;
	COUNT_INTO(resume_packets, LOOK_AT_RESUME, LOOK_RESUMED);
	rest(b, cycle_end_at(p, v));
	if (!look(b, LOOK_END, false))
		return false;
	for (size_t i = 0; i <= b->group.n; i++)
		v[i].gap_ns = clock_ns() - cycle_resumed_at(&v[i]);
	COUNT_INTO(gap_packets, LOOK_RESUMED, LOOK_END);
	return !b->stopped && v->result < CYCLE_FAILED;
}

bool group_cycle_run(struct group_bench *b, const struct cycle_plan *p, bool untouched,
		     struct cycle *v)
{
	for (size_t i = 0; i <= b->group.n; i++) {
		v[i] = *v;
		v[i].number = v->number + i;
		v[i].set.process = i ? (uint64_t)b->group.v[i - 1]->target.pid : CYCLE_GROUP;
		cycle_clear(&v[i]);
	}
	bool on = run(b, p, untouched, v);
	if (b->group.held && !b->silent) { // it was left in the middle
		group_ask(&b->group, false);
		group_wait(&b->group);
	}
	for (size_t i = 0; i <= b->group.n && !on; i++)
		if (v[i].result < CYCLE_FAILED && v[i].gap_ns == CYCLE_NONE)
			v[i].result = CYCLE_STOPPED;
	return on;
}
