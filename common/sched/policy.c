// When a class is held; policy.h.
#include "common/sched/policy.h"

#include "common/host/number.h"

enum { COSTS = 10 }; // a period is at least so many times what one hold and resume takes

static void account_contention(const struct policy *p, struct policy_class *c, uint64_t now)
{
	const uint64_t ns = c->step_ns ? now - c->step_ns : 0;
	c->step_ns = now;
	if (!c->rivals)
		return;
	c->contended_ns += ns;
	c->contended_off_ns += c->off ? ns : 0;
	// A goal is about the bursts that hold: how long a hold takes to come does not count.
	const bool ran = !c->off && !(p->kind == POLICY_GOAL && c->held);
	c->owed_ns += p->part * (double)ns - (ran ? (double)ns : 0);
}

// The debt at which a slice begins. A class that is held for (1 - part) of a period
// is owed `part` of that time, and gets this back by running for `part` of a period.
// With a goal it is half of that, and a hold begins when the class has run for so much more than
// its part.
static double policy_slice(const struct policy *p, uint64_t cost)
{
	const double slice = p->part * (1 - p->part) * (double)greater(p->period_ns, COSTS * cost);
	return p->kind == POLICY_GOAL ? slice / 2 : slice;
}

static uint64_t step_held(const struct policy *p, struct policy_class *c, uint64_t now,
			  uint64_t cost)
{
	// The latest time at which resuming may begin, as resuming takes time itself.
	const uint64_t end = c->since_ns + p->max_hold_ns - lesser(cost, p->max_hold_ns / 4);
	const uint64_t least = lesser(c->since_ns + COSTS * cost, end);
	const uint64_t quiet = c->rivals_ns + p->idle_ns; // classes above had no work for idle_ns
	if (now >= end) {
		c->held = false;
		c->rest_ns = now + p->rest_ns + c->debt_ns;
		return c->rest_ns;
	}
	if (!c->rivals) {
		c->held = now < greater(quiet, least);
		if (!c->held && c->debt_ns)
			c->rest_ns = now + c->debt_ns;
		return c->held ? lesser(greater(quiet, least), end) : UINT64_MAX;
	}
	if (p->kind == POLICY_STRICT)
		return end;
	const double wait = (policy_slice(p, cost) - c->owed_ns) / p->part;
	if (wait <= 0 && now >= least) {
		c->held = false;
		return now + (uint64_t)(c->owed_ns / (1 - p->part)) + 1;
	}
	return lesser(end, greater(least, now + (wait > 0 ? (uint64_t)wait + 1 : 0)));
}

// `burst`: a class above has just got work.
static uint64_t step_running(const struct policy *p, struct policy_class *c, uint64_t now,
			     uint64_t cost, bool burst)
{
	if (now >= c->rest_ns)
		c->debt_ns = 0;
	if (!c->rivals)
		return UINT64_MAX;
	if (now < c->rest_ns && (!burst || c->debt_ns))
		return c->rest_ns;
	if (now < c->rest_ns)
		c->debt_ns = c->rest_ns - now;
	// Where a burst may begin beside the class, it is not held up later, unless it is long.
	const double least = p->kind == POLICY_GOAL && !burst ? -policy_slice(p, cost) : 0;
	if (p->kind != POLICY_STRICT && (p->kind == POLICY_GOAL || !burst) && c->owed_ns > least)
		return now + (uint64_t)((c->owed_ns - least) / (1 - p->part)) + 1;
	c->held = true;
	c->since_ns = now;
	return step_held(p, c, now, cost);
}

uint64_t policy_step(const struct policy *p, struct policy_class *c, uint64_t now_ns,
		     uint64_t rivals, bool off, uint64_t cost_ns)
{
	const bool burst = rivals & ~c->rivals;
	account_contention(p, c, now_ns);
	const double most = 10 * policy_slice(p, cost_ns); // limit of debt and of credit
	if (p->kind != POLICY_STRICT)
		c->owed_ns = c->owed_ns > most ? most : c->owed_ns < -most ? -most : c->owed_ns;
	if (rivals || c->rivals)
		c->rivals_ns = now_ns;
	c->rivals = rivals;
	c->off = off;
	return c->held ? step_held(p, c, now_ns, cost_ns)
		       : step_running(p, c, now_ns, cost_ns, burst);
}
