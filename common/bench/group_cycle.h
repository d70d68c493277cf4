// Cycles of several processes at once: one hold of all, by their holders (sched/group.h), as gpq
// suspend and gpq sched do it.
//
// A cycle is a struct cycle for the group, and one for each process. Times are from the one request
// to suspend all, or to resume all: of a process until its answer came; of the group until the last
// one came, and until the first one. The queues of a process go with one call. What only the
// tracing process can watch (still, progress) stays unknown.
#ifndef GPQ_BENCH_GROUP_CYCLE_H
#define GPQ_BENCH_GROUP_CYCLE_H

#include "common/bench/cycle.h"
#include "common/sched/group.h"

#include <poll.h>

#define GROUP_PROCESSES_MAX 128

enum group_look { LOOK_BEFORE, LOOK_HELD, LOOK_AT_RESUME, LOOK_RESUMED, LOOK_END, GROUP_LOOKS };

struct group_bench {
	struct group group;
	int signals; // borrowed: bench_signals_open()
	bool stopped;
	bool silent;                             // a holder does not answer
	struct kfd_indices (*look)[GROUP_LOOKS]; // owned: of each process
	struct pollfd p[GROUP_PROCESSES_MAX];
};

// Attaches to the processes, each with a selection of its queues, whose ids and GPUs are copied.
// False: the first member that failed says why; or a process was gone, and is not in the group.
bool group_bench_open(struct group_bench *b, const pid_t *pids, const struct kfd_selection *sel,
		      size_t n, unsigned grace, uint64_t longest_hold_ns, int signals);

// Resumes everything and lets go.
void group_bench_close(struct group_bench *b);

// As cycle_run(): v[0] is the group's cycle, with `set` of the cycle; v[1] and on those of its
// processes.
bool group_cycle_run(struct group_bench *b, const struct cycle_plan *p, bool untouched,
		     struct cycle *v);

#endif
