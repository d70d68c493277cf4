// One measured cycle; cycle.h. Between a decision and the ioctl it is about, nothing is allocated,
// logged or opened: a cycle only fills a struct that was there before.
#include "common/bench/cycle.h"
#include "common/host/clock.h"

#include <stddef.h>
#include <string.h>

#define BUSY_NS 20000000ull // how long progress is polled without a pause
#define NAP_NS  100000ull   // then the pause between polls

const char *const cycle_result_name[] = {"ok",     "idle",  "moved",   "partly",
					 "failed", "stuck", "stopped", NULL};

void cycle_clear(struct cycle *c)
{
	struct cycle none = {.number = c->number,
			     .block = c->block,
			     .repeat = c->repeat,
			     .warmup = c->warmup,
			     .set = c->set};
	size_t first = offsetof(struct cycle, at_ns), last = offsetof(struct cycle, xccs);
	memset((char *)&none + first, 0xff, last - first); // CYCLE_NONE in each
	*c = none;
}

// The selection of this cycle: all that the plan names, or the first so many of them.
static void choose(struct attached_target *s, const struct cycle_plan *p, const struct cycle *c,
		   struct kfd_selection *sel)
{
	*sel = p->select;
	if (c->set.queues == CYCLE_NONE)
		return;
	sel->num_ids = 0;
	for (unsigned i = 0; i < s->session.num && sel->num_ids < c->set.queues; i++)
		if (kfd_selected(&p->select, &s->session.queues[i]))
			sel->ids[sel->num_ids++] = s->session.queues[i].queue_id;
}

static bool look(struct attached_target *s, struct kfd_indices *i, bool write)
{
	return kfd_watch_look(&s->watch, i, write) || attached_out_of_reach(s);
}

static bool measure_untouched(struct attached_target *s, struct cycle *c)
{
	struct kfd_indices before, after;
	uint64_t start = clock_ns();
	if (!look(s, &before, false) || !attached_wait(s, start + c->set.hold_ns + c->set.gap_ns))
		return false;
	uint64_t end = clock_ns();
	if (!look(s, &after, false))
		return false;
	c->untouched_ns = end - start;
	c->untouched_packets = kfd_watch_packets(&s->watch, &before, &after);
	return true;
}

// What the call did to each queue, and the longest ioctl of it (there is one unless queues are
// new).
static enum cycle_result judge(const struct attached_target *s, int n, enum kfd_result wanted,
			       uint64_t *ioctl_ns)
{
	int done = 0;
	*ioctl_ns = 0;
	for (int i = 0; i < n; i++) {
		done += s->outcome[i].result == wanted;
		if (s->outcome[i].latency_ns > *ioctl_ns)
			*ioctl_ns = s->outcome[i].latency_ns;
	}
	return done == n && n ? CYCLE_OK : done ? CYCLE_PARTLY : CYCLE_FAILED;
}

static bool suspend(struct attached_target *s, const struct kfd_selection *sel, struct cycle *c)
{
	c->at_ns = clock_ns();
	int n = kfd_session_suspend(&s->session, sel, (unsigned)c->set.grace, false, s->outcome,
				    &s->failure);
	uint64_t t1 = clock_ns();
	if (n < 0)
		return attached_out_of_reach(s);
	c->suspend_ns = t1 - c->at_ns;
	c->queues = (uint64_t)n;
	c->result = judge(s, n, KFD_RESULT_SUSPENDED, &c->suspend_ioctl_ns);
	return true;
}

// Polls without a pause; finds the time of the last movement. *held: the last indices.
static bool watch_still(struct attached_target *s, struct cycle *c, uint64_t settle,
			const struct kfd_indices *before, struct kfd_indices *held)
{
	struct kfd_indices now;
	uint64_t t1 = c->at_ns + c->suspend_ns, last = t1;
	c->still_ns = c->still_look_ns = 0;
	if (!look(s, held, false))
		return false;
	for (uint64_t t = clock_ns(); t < t1 + settle; last = t) {
		if (!look(s, &now, false))
			return false;
		t = clock_ns();
		if (t - last > c->still_look_ns)
			c->still_look_ns = t - last;
		if (!kfd_watch_moved(&s->watch, held, &now))
			continue;
		c->still_ns = t - t1;
		*held = now;
	}
	c->suspend_packets = kfd_watch_packets(&s->watch, before, held);
	return true;
}

static void read_saved(struct attached_target *s, struct cycle *c)
{
	for (unsigned i = 0; i < s->watch.n; i++) {
		const struct kfd_queue_entry *q = &s->watch.queue[i];
		unsigned n = kfd_session_xccs(&s->session, q->gpu_id);
		bool compute = q->queue_type == KFD_SNAPSHOT_COMPUTE ||
			       q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL;
		if (compute && kfd_watch_saved(&s->watch, i, n, c->saved_bytes) && n > c->xccs)
			c->xccs = n;
	}
}

// *at_resume: the last indices read before the request to resume.
static bool hold(struct attached_target *s, struct cycle *c, const struct kfd_indices *held,
		 struct kfd_indices *at_resume)
{
	attached_wait(s, c->at_ns + c->suspend_ns + c->set.hold_ns);
	if (s->end == ATTACHED_GONE || s->end == ATTACHED_LOST)
		return false;
	read_saved(s, c);
	if (!look(s, at_resume, true))
		return false;
	c->held_packets = kfd_watch_packets(&s->watch, held, at_resume);
	c->backlog_packets = kfd_watch_backlog(&s->watch, at_resume);
	if (c->result == CYCLE_OK && kfd_watch_moved(&s->watch, held, at_resume))
		c->result = CYCLE_MOVED;
	return true; // also after a stop signal: held queues have to be resumed
}

static bool resume(struct attached_target *s, const struct kfd_selection *sel, struct cycle *c)
{
	uint64_t t2 = clock_ns();
	int n = kfd_session_resume(&s->session, sel, s->outcome, &s->failure);
	uint64_t t3 = clock_ns();
	if (n < 0)
		return attached_out_of_reach(s);
	c->held_ns = t2 - c->at_ns - c->suspend_ns;
	c->resume_ns = t3 - t2;
	enum cycle_result r = judge(s, n, KFD_RESULT_RESUMED, &c->resume_ioctl_ns);
	if (r != CYCLE_OK && c->result == CYCLE_OK)
		c->result = r;
	return true;
}

uint64_t cycle_resumed_at(const struct cycle *c)
{
	return c->at_ns + c->suspend_ns + c->held_ns + c->resume_ns;
}

uint64_t cycle_end_at(const struct cycle_plan *p, const struct cycle *c)
{
	uint64_t wanted = cycle_resumed_at(c) + c->set.gap_ns, least = c->at_ns;
	if (!p->costs)
		return wanted;
	moving_add(p->costs, (double)(c->suspend_ioctl_ns + c->resume_ioctl_ns));
	least += (uint64_t)(CYCLE_COSTS * moving_percentile(p->costs, 0.9));
	return wanted > least ? wanted : least;
}

// Polls until a read index moves. *first: the first indices.
static bool watch_progress(struct attached_target *s, struct cycle *c, uint64_t patience,
			   const struct kfd_indices *at_resume, struct kfd_indices *first)
{
	struct kfd_indices now;
	uint64_t t3 = cycle_resumed_at(c), last = t3, t = t3;
	if (!look(s, first, true))
		return false;
	c->resume_packets = kfd_watch_packets(&s->watch, at_resume, first);
	for (now = *first; t < t3 + patience; last = t) {
		t = clock_ns();
		if (kfd_watch_moved(&s->watch, at_resume, &now)) {
			c->progress_ns = t - t3;
			c->progress_look_ns = t - last;
			return true;
		}
		bool idle = !c->backlog_packets && !kfd_watch_backlog(&s->watch, &now);
		if (idle && t >= t3 + c->set.gap_ns) {
			c->result = c->result == CYCLE_OK ? CYCLE_IDLE : c->result;
			return true;
		}
		if (!attached_wait(s, t > t3 + BUSY_NS ? t + NAP_NS : 0) || !look(s, &now, true))
			return false;
	}
	c->result = CYCLE_STUCK;
	return false;
}

static bool gap(struct attached_target *s, const struct cycle_plan *p, struct cycle *c,
		const struct kfd_indices *first)
{
	struct kfd_indices end;
	uint64_t t3 = cycle_resumed_at(c);
	bool on = attached_wait(s, cycle_end_at(p, c));
	if (s->end == ATTACHED_GONE || s->end == ATTACHED_LOST || !look(s, &end, false))
		return false;
	c->gap_ns = clock_ns() - t3;
	c->gap_packets = kfd_watch_packets(&s->watch, first, &end);
	return on;
}

static bool run(struct attached_target *s, const struct cycle_plan *p, bool untouched,
		struct cycle *c)
{
	struct kfd_selection sel;
	struct kfd_indices before, held, at_resume, first;
	uint64_t settle = p->settle_ns < c->set.hold_ns ? p->settle_ns : c->set.hold_ns;
	if (!attached_wait(s, 0) || kfd_session_refresh(&s->session, &s->failure))
		return s->end == ATTACHED_LIVES ? attached_out_of_reach(s) : false;
	choose(s, p, c, &sel);
	kfd_watch_choose(&s->watch, &s->session, &sel);
	if (untouched && !measure_untouched(s, c))
		return false;
	if (!look(s, &before, false))
		return false;
	c->read_sum = kfd_watch_packets(&s->watch, &(struct kfd_indices){0}, &before);
	attached_holds(s, c->set.hold_ns);
	if (!suspend(s, &sel, c) || c->result == CYCLE_FAILED)
		return false;
	if (!watch_still(s, c, settle, &before, &held) || !hold(s, c, &held, &at_resume) ||
	    !resume(s, &sel, c))
		return false;
	attached_holds(s, 0);
	return c->result < CYCLE_FAILED &&
	       watch_progress(s, c, p->patience_ns, &at_resume, &first) && gap(s, p, c, &first);
}

bool cycle_run(struct attached_target *s, const struct cycle_plan *p, bool untouched,
	       struct cycle *c)
{
	cycle_clear(c);
	bool on = run(s, p, untouched, c);
	attached_holds(s, 0);
	if (!on && c->result < CYCLE_FAILED)
		c->result = CYCLE_STOPPED;
	return on;
}
