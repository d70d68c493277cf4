// Decides when a class of work is held off the GPU for the work of the classes above it. Times come
// in, a decision goes out: no clock is read and no process is touched.
//
// strict  A class is held while a class above has work, and for `idle_ns` after.
// share   The same, but the class gets its part of the contended time, in which classes above have
//         work: once it is owed a slice, it runs until nothing is owed. Each burst of work above
//         begins with a hold.
// goal    The same as share, but a burst holds only a class that is owed nothing: some bursts run
//         beside it, a slice long at most (goal.h says how many).
//
// All: no hold is longer than `max_hold_ns`; after one of that length the class runs for `rest_ns`
// at least. A new burst above may cut one rest short; the next one is longer by what is missing,
// and is not cut. Holding and resuming disturbs all queues of the GPU, so a hold lasts at least ten
// times what it costs, within `max_hold_ns`.
#pragma once

#include "common/host/std.h"

enum policy_kind { POLICY_STRICT, POLICY_SHARE, POLICY_GOAL };

// Made by gpq sched from its options, and by gpq bench ab (watch_online()).
struct policy {
	enum policy_kind kind;
	double part; // but strict: part of the contended time that lower classes get, above 0 to 1
	uint64_t period_ns; // but strict: the lower classes get a slice of part * period_ns at a
			    // time
	uint64_t idle_ns, max_hold_ns, rest_ns;
};

// A class, zeroed at first.
struct policy_class {
	bool held; // the decision
	bool off;  // arguments of the last step
	uint64_t rivals;
	uint64_t since_ns;  // when the present hold was decided
	uint64_t step_ns;   // when the last step was
	uint64_t rivals_ns; // when a class above had work last
	uint64_t rest_ns;   // the class is not held before this time, but for a burst
	uint64_t debt_ns;   // what a burst has cut off a rest
	double owed_ns;     // share: contended time that the class should have run and did not
	// Contended time so far: all of it, and the part in which this class was off.
	uint64_t contended_ns, contended_off_ns;
};

// Decides at `now_ns` whether the class is held: c->held. `rivals`: the classes above that have
// work, as bits; a burst begins with each new one. `off`: the queues of this class are off.
// `cost_ns`: how long one hold and resume takes. The next step is due when `rivals` changes, and at
// the returned time (UINT64_MAX: never).
uint64_t policy_step(const struct policy *p, struct policy_class *c, uint64_t now_ns,
		     uint64_t rivals, bool off, uint64_t cost_ns);
