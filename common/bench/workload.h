// One side of the experiment: a command, the KFD processes it starts, and their queues.
//
// Processes and queues that appear later belong to it, too. Where the side is attached to, each
// process has a holder (holder/holder.h), as with gpq suspend: so all of them are suspended side by
// side, new queues are suspended as they appear, and whatever dies, they run again.
#ifndef GPQ_BENCH_WORKLOAD_H
#define GPQ_BENCH_WORKLOAD_H

#include "common/bench/child.h"
#include "common/holder/holder.h"
#include "common/holder/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A process with queues.
struct workload_process {
	struct kfd_target target;
	struct kfd_link link; // fd -1: not attached to
	pid_t holder;         // that was started for it; 0: none
	struct kfd_watch watch;
	struct kfd_indices first, last; // of the watched queues: start of counting, last poll
	uint64_t gone;                  // packets counted of queues that are no more
	struct buf queues;              // its directory in sysfs, as it was when `watch` was made
	bool looked;                    // for queues that cannot be held
	unsigned tries;                 // polls that found more queues than its holder has
	bool ended;
};

struct workload {
	const char *name;                  // "online", "offline"
	struct child child;                // to be started first
	struct workload_process **process; // owned
	size_t n, cap;
	bool attach;         // to its processes, and to those that come
	bool held;           // suspended; what comes is suspended, too
	uint64_t renew_ns;   // when the hold has to be renewed
	unsigned grace;      // of suspending, 1000 GPU clocks
	uint64_t grown_ns;   // when the last of its processes came
	size_t unreached;    // queues of secondary contexts, which no hold reaches
	unsigned num_queues; // by sysfs, at the last look
};

// Looks for processes and queues that came or went. Costs a few reads of sysfs. 0, or -1 and *f.
int workload_look(struct workload *s, struct kfd_failure *f);

// Suspends all of its processes at the same time, or resumes them; returns when all are.
// 0, or -1 and *f; then some may be suspended, until workload_end().
int workload_hold(struct workload *s, bool hold, struct kfd_failure *f);

// Is there a queue with packets that were not taken yet?
bool workload_has_work(struct workload *s);

// Has any of its queues ever taken a packet?
bool workload_has_moved(struct workload *s);

// AQL packets that its queues took from begin to end. -1 and *f when none of its processes lives.
void workload_count_begin(struct workload *s);
int workload_count_end(struct workload *s, uint64_t *packets, struct kfd_failure *f);

// Is it one of its processes?
bool workload_has(const struct workload *s, pid_t pid);

// Lets go of its processes: their queues run when this returns.
void workload_release(struct workload *s);

// Frees all but what ran: end the command first.
void workload_fini(struct workload *s);

#endif
