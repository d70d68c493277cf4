// One measured cycle; cycle.h. It allocates, logs and opens nothing.
#include "common/bench/cycle.h"

#include "common/host/clock.h"
#include "common/host/number.h"

#define BUSY_NS 20000000ull // how long progress is polled without a pause
#define NAP_NS  100000ull   // pause between polls after BUSY_NS

#define WORD(name, word, heading, key, label, help) #word,
const char *const cycle_result_name[] = {CYCLE_RESULTS(WORD) NULL};

#define NONE(name) .name = CYCLE_NONE,
void cycle_clear(struct cycle *c)
{
	*c = (struct cycle){.number = c->number,
			    .block = c->block,
			    .repeat = c->repeat,
			    .warmup = c->warmup,
			    .set = c->set,
			    CYCLE_MEASURED(NONE)};
}
#undef NONE

size_t cycle_lines(const struct attached *a)
{
	return a->n > 1 ? a->n + 1 : 1;
}

struct cycle *cycle_of(const struct attached *a, struct cycle *v, size_t i)
{
	return &v[i + (a->n > 1)];
}

// Sets the member at `offset` to the packets that each process took between two looks, in v[0] to
// their sum.
static void count_packets(const struct attached *a, struct cycle *v, size_t offset,
			  enum attached_look from, enum attached_look to)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct attached_process *p = &a->v[i];
		uint64_t n = kfd_watch_packets(&p->m->watch, &p->look[from], &p->look[to]);
		*(uint64_t *)((char *)cycle_of(a, v, i) + offset) = n;
		sum += n;
	}
	*(uint64_t *)((char *)v + offset) = sum;
}
#define COUNT_INTO(member, from, to) count_packets(a, v, offsetof(struct cycle, member), from, to)

// Measures a window behind the cycle, as long as it was, in which nothing is done.
static bool measure_baseline(struct attached *a, struct cycle *v)
{
	uint64_t start = clock_ns(), len = v->suspend_ns + v->held_ns + v->resume_ns + v->gap_ns;
	if (!attached_look(a, LOOK_BEFORE, false) || !attached_wait(a, start + len))
		return false;
	uint64_t end = clock_ns();
	if (!attached_look(a, LOOK_END, false))
		return false;
	for (size_t i = 0; i < cycle_lines(a); i++)
		v[i].baseline_ns = end - start;
	COUNT_INTO(baseline_packets, LOOK_BEFORE, LOOK_END);
	return true;
}

// Judges what a request did to the queues of a process. *ioctl_ns becomes the longest of its ioctls
// (there are several only if queues are new).
static enum cycle_result judge_answer(const struct attached_process *p, enum kfd_result wanted,
				      uint64_t *ioctl_ns)
{
	const struct kfd_answer *a = &p->m->link.answer;
	size_t done = 0;
	*ioctl_ns = 0;
	for (size_t i = 0; i < a->num; i++) {
		done += a->queues[i].result == wanted;
		*ioctl_ns = greater(*ioctl_ns, a->queues[i].latency_ns);
	}
	return p->end                   ? CYCLE_STOPPED
	       : done == a->num && done ? CYCLE_OK
	       : done                   ? CYCLE_PARTLY
					: CYCLE_FAILED;
}

// Suspends or resumes all processes and stores the times. The time of the group ends with its last
// process, and its ioctl time is the longest of theirs.
static bool cycle_ask(struct attached *a, struct cycle *v, bool hold)
{
	const enum kfd_result wanted = hold ? KFD_RESULT_SUSPENDED : KFD_RESULT_RESUMED;
	uint64_t last = 0, first = UINT64_MAX, longest = 0, queues = 0;
	bool done = attached_ask(a, hold);
	for (size_t i = 0; i < cycle_lines(a) && hold; i++)
		v[i].at_ns = a->asked_ns;
	if (!done)
		return false;
	for (size_t i = 0; i < cycle_lines(a) && !hold; i++)
		v[i].held_ns = a->asked_ns - v[i].at_ns - v[i].suspend_ns;
	for (size_t i = 0; i < a->n; i++) {
		struct cycle *c = cycle_of(a, v, i);
		uint64_t ioctl_ns, took = a->v[i].m->answered_ns - a->asked_ns;
		enum cycle_result r = judge_answer(&a->v[i], wanted, &ioctl_ns);
		*(hold ? &c->suspend_ns : &c->resume_ns) = took;
		*(hold ? &c->suspend_ioctl_ns : &c->resume_ioctl_ns) = ioctl_ns;
		c->queues = hold ? a->v[i].m->link.answer.num : c->queues;
		c->result = hold || c->result == CYCLE_OK ? r : c->result;
		v->result = c->result > v->result ? c->result : v->result;
		last = greater(last, took);
		first = lesser(first, took);
		longest = greater(longest, ioctl_ns);
		queues += c->queues;
	}
	v->queues = queues;
	*(hold ? &v->suspend_ns : &v->resume_ns) = last;
	*(hold ? &v->suspend_ioctl_ns : &v->resume_ioctl_ns) = longest;
	if (a->n > 1)
		*(hold ? &v->suspend_first_ns : &v->resume_first_ns) = first;
	return true;
}

// Waits until queues stand still: a single process is polled without a pause for the last movement
// of a read index. LOOK_HELD gets the final indices.
static bool watch_still(struct attached *a, struct cycle *c, uint64_t settle)
{
	struct attached_process *p = a->v;
	uint64_t t1 = c->at_ns + c->suspend_ns, last = t1;
	if (a->n > 1)
		attached_wait(a, t1 + settle);
	if (!attached_look(a, LOOK_HELD, false) || a->n > 1)
		return !attached_failed(a);
	c->still_ns = c->still_look_ns = 0;
	for (uint64_t t = clock_ns(); t < t1 + settle; last = t) {
		if (!attached_look(a, LOOK_NOW, false))
			return false;
		t = clock_ns();
		c->still_look_ns = greater(c->still_look_ns, t - last);
		if (!kfd_watch_moved(&p->m->watch, &p->look[LOOK_HELD], &p->look[LOOK_NOW]))
			continue;
		c->still_ns = t - t1;
		p->look[LOOK_HELD] = p->look[LOOK_NOW];
	}
	return true;
}

static void note_saved(const struct kfd_watch *w, struct cycle *c)
{
	for (unsigned i = 0; i < w->n; i++)
		c->xccs = (unsigned)greater(c->xccs, kfd_watch_saved(w, i, c->saved_bytes));
}

// Suspends all queues, waits until they stand still, and holds them. The hold begins when the last
// process is off.
static bool cycle_hold(struct attached *a, const struct cycle_plan *p, struct cycle *v)
{
	if (!cycle_ask(a, v, true) || v->result >= CYCLE_FAILED ||
	    !watch_still(a, v, lesser(p->settle_ns, v->set.hold_ns)))
		return false;
	COUNT_INTO(suspend_packets, LOOK_BEFORE, LOOK_HELD);
	// A stop signal ends the wait, and the processes are resumed as usual.
	attached_wait(a, v->at_ns + v->suspend_ns + v->set.hold_ns);
	for (size_t i = 0; i < a->n && !attached_failed(a); i++)
		note_saved(&a->v[i].m->watch, cycle_of(a, v, i));
	if (!attached_look(a, LOOK_AT_RESUME, true))
		return false;
	COUNT_INTO(held_packets, LOOK_HELD, LOOK_AT_RESUME);
	uint64_t backlog = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct attached_process *m = &a->v[i];
		struct cycle *c = cycle_of(a, v, i);
		backlog += c->backlog_packets =
			kfd_watch_backlog(&m->m->watch, &m->look[LOOK_AT_RESUME]);
		if (!kfd_watch_moved(&m->m->watch, &m->look[LOOK_HELD], &m->look[LOOK_AT_RESUME]))
			continue;
		c->result = c->result == CYCLE_OK ? CYCLE_MOVED : c->result;
		v->result = v->result == CYCLE_OK ? CYCLE_MOVED : v->result;
	}
	v->backlog_packets = backlog;
	return true;
}

static uint64_t resumed_at(const struct cycle *c)
{
	return c->at_ns + c->suspend_ns + c->held_ns + c->resume_ns;
}

// Returns when the cycle may end: after its gap, and not before CYCLE_COSTS times what a hold costs
// other queues, by p->costs, to which this cycle's cost is added.
static uint64_t end_at(const struct cycle_plan *p, const struct cycle *c)
{
	uint64_t wanted = resumed_at(c) + c->set.gap_ns;
	if (!p->costs)
		return wanted;
	moving_add(p->costs, (double)(c->suspend_ioctl_ns + c->resume_ioctl_ns));
	return greater(wanted,
		       c->at_ns + (uint64_t)(CYCLE_COSTS * moving_percentile(p->costs, 0.9)));
}

// Polls a resumed process until a read index moves. False ends the measurement.
static bool watch_progress(struct attached *a, struct cycle *c, uint64_t patience)
{
	struct attached_process *p = a->v;
	uint64_t t3 = resumed_at(c), last = t3, t = t3;
	for (p->look[LOOK_NOW] = p->look[LOOK_RESUMED]; t < t3 + patience; last = t) {
		t = clock_ns();
		if (kfd_watch_moved(&p->m->watch, &p->look[LOOK_AT_RESUME], &p->look[LOOK_NOW])) {
			c->progress_ns = t - t3;
			c->progress_look_ns = t - last;
			return true;
		}
		bool idle =
			!c->backlog_packets && !kfd_watch_backlog(&p->m->watch, &p->look[LOOK_NOW]);
		if (idle && t >= t3 + c->set.gap_ns) {
			c->result = c->result == CYCLE_OK ? CYCLE_IDLE : c->result;
			return true;
		}
		if (!attached_wait(a, t > t3 + BUSY_NS ? t + NAP_NS : 0) ||
		    !attached_look(a, LOOK_NOW, true))
			return false;
	}
	c->result = CYCLE_STUCK;
	return false;
}

static bool run_phases(struct attached *a, const struct cycle_plan *p, bool baseline,
		       struct cycle *v)
{
	if (!attached_choose(a, v->set.grace, v->set.queues, v->set.level) ||
	    !attached_look(a, LOOK_BEFORE, false))
		return false;
	if (a->n == 1)
		v->read_sum = kfd_watch_packets(&a->v->m->watch, &(struct kfd_indices){0},
						&a->v->look[LOOK_BEFORE]);
	if (!cycle_hold(a, p, v) || !cycle_ask(a, v, false) || v->result >= CYCLE_FAILED ||
	    !attached_look(a, LOOK_RESUMED, true))
		return false;
	COUNT_INTO(resume_packets, LOOK_AT_RESUME, LOOK_RESUMED);
	if (a->n == 1 && !watch_progress(a, v, p->patience_ns))
		return false;
	bool on = attached_wait(a, end_at(p, v));
	if (!attached_look(a, LOOK_END, false))
		return false;
	for (size_t i = 0; i < cycle_lines(a); i++)
		v[i].gap_ns = clock_ns() - resumed_at(&v[i]);
	COUNT_INTO(gap_packets, LOOK_RESUMED, LOOK_END);
	return on && (!baseline || measure_baseline(a, v));
}

bool cycle_run(struct attached *a, const struct cycle_plan *p, bool baseline, struct cycle *v)
{
	for (size_t i = 0; i < cycle_lines(a); i++) {
		v[i] = *v;
		v[i].number = v->number + i;
		if (a->n > 1)
			v[i].set.process = i ? (uint64_t)a->v[i - 1].m->target.pid : CYCLE_GROUP;
		cycle_clear(&v[i]);
	}
	bool on = run_phases(a, p, baseline, v);
	if (!on && a->group.held && !a->group.asked)
		attached_ask(a, false);
	for (size_t i = 0; i < cycle_lines(a) && !on; i++)
		if (v[i].result < CYCLE_FAILED)
			v[i].result = CYCLE_STOPPED;
	return on;
}
