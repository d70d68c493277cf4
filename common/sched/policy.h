// When a class of work is held off the GPU for the work of the classes above it. No clock, no
// process: times come in, a decision goes out.
//
// strict  held while a class above has work, and for `idle_ns` after.
// share   the same, but of the time in which both have work (contended), the class gets its part:
//         once it is owed a slice, it runs until nothing is owed any more. It begins held in each
//         burst of the work above.
//
// Always: never held longer than `max_hold_ns` at a time, and then it runs for `rest_ns` at least.
// Holding and resuming disturbs all queues of the GPU, so that there is no more than one hold in
// ten times what one costs, but for `max_hold_ns`.
#ifndef GPQ_SCHED_POLICY_H
#define GPQ_SCHED_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum policy_kind { POLICY_STRICT, POLICY_SHARE };

struct policy {
	enum policy_kind kind;
	double part;        // share: of contended time, that the lower classes get, 0 to 1
	uint64_t period_ns; // share: the lower classes get a slice of part * period_ns at a time
	uint64_t idle_ns, max_hold_ns, rest_ns;
};

// A class, zeroed at first.
struct policy_class {
	bool held;          // decided
	bool off;           // as the caller said last
	bool rivals;        // likewise
	uint64_t since_ns;  // when it was decided to hold
	uint64_t step_ns;   // the last step
	uint64_t rivals_ns; // when a class above had work last
	uint64_t rest_ns;   // it runs until then
	double owed_ns;     // share: contended time that it should have run
	// Sums of the time in which a class above had work: all of it, and while this one was off.
	uint64_t contended_ns, contended_off_ns;
};

// A step at `now_ns`. `rivals`: a class above has work. `off`: the queues are off now. `cost_ns`:
// what one hold and resume takes. c->held is the decision until the next step, which is due when
// `rivals` changes, and at the time returned (UINT64_MAX: at none).
uint64_t policy_step(const struct policy *p, struct policy_class *c, uint64_t now_ns, bool rivals,
		     bool off, uint64_t cost_ns);

#endif
