// The scheduler: holds lower classes of work off the GPU while higher ones have work.
//
// Classes are ordered: the first (online) is never held, each other is held for those before it
// (policy.h). Every process of a class that can be held has a debug session that stays open, so
// that holding it is one request to its holder and one ioctl, all processes side by side
// (holder/group.h). That the first class has work is said by hints (hints.h), by its queues'
// indices, which are sampled, and by its AMD log; of other classes by their indices.
//
// If the scheduler dies, the holders see the end of their connections and resume; if it hangs,
// each hold's deadline, which its holder keeps, ends it.
#ifndef GPQ_SCHED_SCHED_H
#define GPQ_SCHED_SCHED_H

#include "common/holder/group.h"
#include "common/host/tail.h"
#include "common/sched/hints.h"
#include "common/sched/policy.h"
#include "common/pick/spec_set.h"
#include "common/stats/hist.h"
#include "common/stats/samples.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_class {
	const char *name; // borrowed
	struct group group;
	struct policy_class policy;
	bool has_work;       // as the last sample saw it
	bool settling;       // it was decided to hold or to resume, and that is not done everywhere
	uint64_t decided_ns; // when: a hint was read, work was seen, or time was over
	uint64_t held_ns;    // when the last queue was off
	uint64_t hold_cost_ns;      // what holding took this time
	struct moving cost;         // of one hold and resume
	uint64_t cost_ns;           // its 90th percentile; 0: none yet
	uint64_t holds, longest_ns; // all of them; the longest
	uint64_t bursts, busy_ns, busy_since_ns;
	struct hist off, on; // from the decision until the last queue was off, or on; ns
};

struct sched_opts {
	struct policy policy;
	uint64_t grace;     // of suspending, 1000 GPU clocks, 0 to KFD_GRACE_MAX
	uint64_t sample_ns; // how often indices are sampled at most
	bool activity;      // sample those of the first class
	const char *log;    // its AMD log, or NULL
	bool hold_idle;     // hold also what has had nothing to do for SCHED_IDLE_NS
};

// A process whose indices stood still for so long, with nothing left to take, is not held until it
// has work: each hold disturbs all queues of its GPUs. (A kernel may run longer than this.)
#define SCHED_IDLE_NS 10000000000ull

struct sched {
	struct sched_opts opts;
	struct sched_class *classes; // owned
	size_t n;
	struct spec_set specs; // by number of the class
	struct hints *hints;   // owned; NULL: none
	struct newcomers newcomers;
	bool said_full; // that a user, or all, have too many processes
	struct tail log;
	bool following_log;
	uint64_t log_ns; // when it last grew by a packet
	uint64_t start_ns, looked_ns, scanned_ns, sampled_ns;
	uint64_t sample_every_ns; // longer than asked for where sampling takes long
	struct pollfd *polled;    // owned
	size_t room;
};

// Makes a class without a SPEC, behind the others; `name` is borrowed.
void sched_add_class(struct sched *s, const char *name);

// Adds a SPEC (spec_set.h) to the class `name`, which is made, behind the others, if it is new.
// GPQ_OK, or the exit status after a message; `option` is where the SPEC stands.
int sched_add_spec(struct sched *s, const char *name, const char *option, const char *spec);

// As many open files as the kernel allows: before hints are opened, and members are taken.
void sched_raise_limit(void);

// Looks who belongs to which class now: those who fit several belong to the first. With `attach`,
// classes that need it open debug sessions on those that own queues; without, processes are only
// named. Exit status: a SPEC
// may fail at the first look, after a message; later looks try it again.
int sched_find(struct sched *s, bool attach);

// Schedules until SIGINT, SIGTERM or SIGHUP, at most until `until_ns` (CLOCK_MONOTONIC). When it
// returns, all queues run. The signal, 0 at that time, or less: the exit status after a message,
// negated.
int sched_run(struct sched *s, uint64_t until_ns);

// Zeroed, or once used.
void sched_fini(struct sched *s);

#endif
