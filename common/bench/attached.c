// Attaching to the measured processes; attached.h.
#include "common/bench/attached.h"

#include "common/host/clock.h"
#include "common/host/loop.h"

#include <signal.h>
#include <sys/prctl.h>

#define SECOND    1000000000ull
#define MARGIN_NS (60 * SECOND) // time between the longest hold and the holders' deadline
#define STOP_NS   (2 * SECOND)  // longest wait for answers of holders after Ctrl-C
#define DYING_MS  2000          // longest wait for a dying process to be dead

int bench_signals_open(void)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP, 0};
	return signals_open(list, SIG_BLOCK, NULL);
}

bool bench_signals_stop(int signals)
{
	struct signalfd_siginfo i;
	bool stop = false;
	while (signals_next(signals, &i))
		stop = true;
	return stop;
}

// Marks the process as gone if it dies, else as lost. Returns false.
static bool out_of_reach(struct attached_process *p)
{
	if (!p->end)
		p->end = wait_readable(p->m->target.pidfd, clock_in_ms(DYING_MS)) ? ATTACHED_GONE
										  : ATTACHED_LOST;
	return false;
}

// Is an answer to come: of a holder, or of the look that drops queues which cannot be read?
static bool has_asked(const struct group *g)
{
	bool looks = false;
	for (size_t i = 0; i < g->n; i++)
		looks |= g->v[i]->fresh && g->v[i]->look == LOOK_POSTED;
	return g->asked || looks;
}

// Waits for answers, at most 1 s. True if a signal asked gpq to stop.
static bool wait_for_answers(const struct attached *a)
{
	struct pollfd p[2 + ATTACHED_MAX] = {{.fd = a->stopped ? -1 : a->signals, .events = POLLIN},
					     {.fd = group_reader_fd(&a->group), .events = POLLIN}};
	size_t n = 2;
	for (size_t i = 0; i < a->n; i++)
		if (member_is_asked(a->v[i].m))
			p[n++] = (struct pollfd){.fd = a->v[i].m->link.fd, .events = POLLIN};
	wait_any(p, n, clock_in_ms(1000));
	return p[0].revents && bench_signals_stop(a->signals);
}

// Takes answers until no request is outstanding (group_take() gives up on silent holders), then
// notes which processes or holders are lost. Ctrl-C cuts the wait to 2 s.
static void settle_requests(struct attached *a)
{
	struct group *g = &a->group;
	const uint64_t begin = clock_ns();
	uint64_t until = a->stopped ? begin + STOP_NS : LOOP_FOREVER;
	while (has_asked(g) && clock_ns() < until) {
		if (wait_for_answers(a)) {
			a->stopped = true;
			until = clock_ns() + STOP_NS;
		}
		group_take(g);
	}
	for (size_t i = 0; i < a->n; i++) {
		struct group_member *m = a->v[i].m;
		if (member_is_asked(m)) {
			a->v[i].end = ATTACHED_LOST;
			kfd_fail(&m->failure, KFD_FAULT_HOLDER_SILENT,
				 (int)((clock_ns() - begin) / SECOND));
		} else if (m->state == MEMBER_ENDED) {
			a->v[i].end = ATTACHED_GONE;
		} else if (m->state == MEMBER_FAILED) {
			out_of_reach(&a->v[i]);
		}
	}
}

// Looks for queues that came or went, and processes that ended.
static void look_for_changes(struct attached *a)
{
	group_look(&a->group);
	settle_requests(a);
}

void attached_open(struct attached *a, size_t n, uint64_t longest_hold_ns, int signals)
{
	*a = (struct attached){
		.v = xcalloc(n, sizeof(*a->v)), .signals = signals, .level = UINT64_MAX};
	a->group.attach = a->group.nowait = true;
	a->group.limit_ns = longest_hold_ns + MARGIN_NS;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // by default wake-ups may be 50 us late
}

bool attached_add(struct attached *a, pid_t pid, const struct kfd_selection *sel)
{
	struct attached_process *p = &a->v[a->n++];
	struct group_member *m = p->m = group_add(&a->group, pid, xmemdup(sel, sizeof(*sel)));
	p->end = m ? ATTACHED_LIVES : ATTACHED_GONE;
	if (!m)
		return false;
	settle_requests(a);
	if (!p->end && m->link.answer.held) {
		p->end = ATTACHED_LOST;
		kfd_fail(&m->failure, KFD_FAULT_HELD_ALREADY, m->link.answer.held);
	}
	return !p->end;
}

void attached_close(struct attached *a)
{
	group_fini(&a->group);
	free(a->v);
	*a = (struct attached){0};
}

const struct attached_process *attached_failed(const struct attached *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].end)
			return &a->v[i];
	return NULL;
}

static bool may_go_on(const struct attached *a)
{
	return !a->stopped && !attached_failed(a);
}

// Signals end the wait, as do the ends of processes or of their holders.
bool attached_wait(struct attached *a, uint64_t until)
{
	struct pollfd p[1 + 2 * ATTACHED_MAX] = {{.fd = a->signals, .events = POLLIN}};
	size_t n = 1;
	uint64_t now = 0;
	for (size_t i = 0; i < a->group.n; i++) {
		p[n++] = (struct pollfd){.fd = a->group.v[i]->target.pidfd, .events = POLLIN};
		p[n++] = (struct pollfd){.fd = a->group.v[i]->link.fd, .events = POLLIN};
	}
	while (may_go_on(a) && (!now || now < until)) {
		const int ready = wait_any(p, n, until), told = p[0].revents ? 1 : 0;
		if (ready > 0 && told)
			a->stopped |= bench_signals_stop(a->signals);
		if (ready > told)
			look_for_changes(a);
		now = clock_ns();
	}
	return may_go_on(a);
}

bool attached_look(struct attached *a, enum attached_look which, bool write)
{
	for (size_t i = 0; i < a->n; i++) {
		struct attached_process *p = &a->v[i];
		if (p->end || !kfd_watch_look(&p->m->watch, &p->look[which], write))
			return out_of_reach(p);
	}
	return true;
}

// Selects the queues of this level. Where there are none any more, the process is lost: a selection
// without ids is one of all queues.
static void select_level(struct attached_process *p, uint64_t level)
{
	struct kfd_selection *s = p->m->sel;
	s->num_ids = 0;
	for (uint32_t id = 0; id < KFD_MAX_QUEUES; id++)
		if (p->level[id] == level + 1)
			s->ids[s->num_ids++] = id;
	p->m->stale = true;
	if (s->num_ids || p->end)
		return;
	p->end = ATTACHED_LOST;
	kfd_fail(&p->m->failure, KFD_FAULT_NO_QUEUE);
}

// Forgets selected queues that are not there any more, as a new one may get such an id. `most`: so
// many are listed. Returns false if there are none.
static bool forget_queues(struct attached_process *p, uint64_t most)
{
	const struct kfd_answer *a = &p->m->link.answer;
	const struct kfd_selection *s = p->m->sel;
	unsigned gone = 0;
	for (unsigned i = 0; i < s->num_ids && p->m->asked_for == REQUEST_QUEUES && a->num < most;
	     i++) {
		size_t k = 0;
		while (k < a->num && a->queues[k].queue.queue_id != s->ids[i])
			k++;
		gone += k == a->num;
		p->level[s->ids[i]] = k == a->num ? 0 : p->level[s->ids[i]];
	}
	return gone > 0;
}

bool attached_choose(struct attached *a, uint64_t grace, uint64_t queues, uint64_t level)
{
	bool changed = level != a->level;
	a->level = level;
	do {
		for (size_t i = 0; i < a->n && changed; i++)
			select_level(&a->v[i], level);
		if (attached_failed(a))
			return false;
		group_set(&a->group, (unsigned)grace, queues == UINT64_MAX ? 0 : (unsigned)queues);
		look_for_changes(a);
		changed = false;
		for (size_t i = 0; i < a->n && level != UINT64_MAX; i++)
			changed |= forget_queues(&a->v[i], queues);
	} while (changed);
	return attached_wait(a, 0);
}

// The result of the first queue that was not suspended; KFD_RESULT_NONE: all were.
static enum kfd_result refusal(const struct kfd_answer *answer)
{
	for (size_t i = 0; i < answer->num; i++)
		if (answer->queues[i].result != KFD_RESULT_SUSPENDED)
			return answer->queues[i].result;
	return KFD_RESULT_NONE;
}

bool attached_ask(struct attached *a, bool hold)
{
	a->asked_ns = clock_ns();
	group_ask(&a->group, hold);
	settle_requests(a);
	for (size_t i = 0; i < a->n && hold; i++)
		a->v[i].refused = refusal(&a->v[i].m->link.answer);
	return !attached_failed(a);
}
