// One side of the experiment: a command, the KFD processes it starts, and their queues.
//
// Processes and queues that appear later belong to it, too. Where the side is attached to, its
// processes are a group (sched/group.h): all of them are suspended side by side, new queues are
// suspended as they appear, and whatever dies, they run again.
#ifndef GPQ_BENCH_WORKLOAD_H
#define GPQ_BENCH_WORKLOAD_H

#include "common/bench/child.h"
#include "common/sched/group.h"

#include <stdbool.h>
#include <stdint.h>

struct workload {
	const char *name;   // "online", "offline"
	struct child child; // to be started first
	struct group group;
	uint64_t renew_ns; // when the hold has to be renewed
};

// Its processes, and those that come, are to be attached to; `grace` of suspending, 1000 GPU
// clocks.
void workload_attach(struct workload *s, uint64_t grace);

// Looks for processes and queues that came or went. Costs a few reads of sysfs. 0, or -1 and *f.
int workload_look(struct workload *s, struct kfd_failure *f);

// Suspends all of its processes at the same time, or resumes them; returns when all are.
// 0, or -1 and *f; then some may be suspended, until group_release().
int workload_hold(struct workload *s, bool hold, struct kfd_failure *f);

// AQL packets that its queues took since group_count_begin(). -1 and *f when none of its processes
// lives.
int workload_count_end(struct workload *s, uint64_t *packets, struct kfd_failure *f);

// Frees all but what ran: end the command first.
void workload_fini(struct workload *s);

#endif
