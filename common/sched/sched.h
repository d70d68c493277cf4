// The scheduler: holds lower classes of work off the GPU while higher ones have work.
//
// Classes are ordered: the first (online) is never held, each other one is held for those before it
// (policy.h). The processes of a class that can be held have debug sessions that stay open, so that
// a hold is one request to each holder and one ioctl, all processes side by side (holder/group.h).
// Hints (hints.h), samples of its queues' indices, and its AMD log tell whether the first class has
// work; samples alone tell it of the other classes.
//
// If the scheduler dies, the holders notice that their connections have ended, and resume. If it
// hangs, the holders end the holds at their deadlines.
#pragma once

#include "common/holder/group.h"
#include "common/host/tail.h"
#include "common/sched/hints.h"
#include "common/sched/policy.h"
#include "common/pick/spec_set.h"
#include "common/stats/hist.h"
#include "common/stats/samples.h"

#include <poll.h>

struct sched_class {
	const char *name; // borrowed
	struct group group;
	struct policy_class policy;
	bool has_work;              // the class had work at the last sample
	bool settling;              // the last decision is not carried out by all holders yet
	uint64_t decided_ns;        // when the last decision to hold or to resume was made
	uint64_t held_ns;           // when the last queue was off; 0: not held
	uint64_t hold_cost_ns;      // how long suspending took for the last hold
	struct moving cost;         // how long the latest holds and their resumes took, added up
	uint64_t cost_ns;           // 90th percentile of `cost`; 0: none yet
	uint64_t holds, longest_ns; // number of holds; length of the longest
	uint64_t bursts, busy_ns, busy_since_ns;
	struct hist off, on; // times from the decision until the last queue was off, or on; ns
};

struct sched_opts {
	struct policy policy;
	uint64_t grace; // grace period of suspending, in units of 1000 GPU clocks, to KFD_GRACE_MAX
	uint64_t sample_ns; // least time between two samples of indices
	bool activity;      // sample the queues of the first class
	const char *log;    // AMD log of the first class, or NULL
	bool hold_idle;     // hold also processes that were idle for SCHED_IDLE_NS
};

// A process whose queues were empty, with indices standing still, for so long is not held until it
// has work: each hold disturbs all queues of its GPUs. (A GPU kernel may run longer than this.)
#define SCHED_IDLE_NS 10000000000ull

struct sched {
	struct sched_opts opts;
	struct sched_class *classes; // owned
	size_t n;
	struct spec_set specs; // the number of a SPEC is the index of its class
	struct hints *hints;   // owned; NULL: none
	struct newcomers newcomers;
	bool said_full; // the warning about too many processes was shown
	struct tail log;
	bool following_log;
	uint64_t log_ns;  // when a packet was last seen in `log`
	char log_rest[5]; // the end of what was read of `log`: a word may go on behind it
	size_t num_log_rest;
	uint64_t start_ns, looked_ns, scanned_ns, sampled_ns;
	uint64_t sample_every_ns; // longer than opts.sample_ns if sampling takes long
	struct pollfd *polled;    // owned
	size_t room;
};

// Makes a class without a SPEC, behind the others; `name` is borrowed.
void sched_add_class(struct sched *s, const char *name);

// Adds a SPEC (spec_set.h) to the class `name`, which is made, behind the others, if it is new.
// Returns GPQ_OK, or the exit status after a message; `option` is where the SPEC stands.
int sched_add_spec(struct sched *s, const char *name, const char *option, const char *spec);

// Raises RLIMIT_NOFILE to its hard limit. Call it before hints_open() and sched_find().
void sched_raise_limit(void);

// Puts processes into their classes; one that fits several belongs to the first. With `attach`,
// opens debug sessions on those that own queues, where the class needs it. Returns GPQ_OK, or at
// the first look the exit status after a message if a SPEC fails; later looks try that SPEC again.
int sched_find(struct sched *s, bool attach);

// Schedules until SIGINT, SIGTERM or SIGHUP, at most until `until_ns` (CLOCK_MONOTONIC); all queues
// run when it returns. Returns the signal, 0 at `until_ns`, or the negated exit status after a
// message.
int sched_run(struct sched *s, uint64_t until_ns);

// Frees *s, which may be zeroed.
void sched_fini(struct sched *s);
