// Selection of processes, GPUs and queues for `gpq suspend` and `gpq resume`: options -> processes
// and words of the holder's protocol.
#ifndef GPQ_CMD_SUSPEND_TARGETS_H
#define GPQ_CMD_SUSPEND_TARGETS_H

#include "common/cli/opts.h"
#include "common/host/buf.h"
#include "common/holder/holder.h"

// Options that choose; both commands have them in their options struct.
struct choice {
	struct pids pids;
	const char *container;
	bool tree;
	struct words queues, gpus;
	const char *prio; // "high,medium", "MIN[:MAX]"
};

// One process, the talk with its holder, and what came of it.
struct target {
	pid_t pid;
	struct kfd_target pin;
	struct kfd_link link;        // fd -1: none
	uint64_t at_ns;              // CLOCK_MONOTONIC, when its answer came
	struct buf ids;              // --prio: the ids that fit, "1,2"
	struct kfd_queue *unreached; // selected queues that cannot be held; owned
	size_t num_unreached;
	struct proof_seen
		*seen; // --verify: of each queue of the answer; NULL: not asked for; owned
	bool failed;
	struct kfd_failure failure;
};

struct targets {
	struct target *v;
	size_t n;
	bool by_prio;             // --prio chose the ids, and the queues that cannot be held
	struct kfd_selection sel; // --queue and --gpu: the same for all
	struct buf words;         // ... in the holder's protocol: " queues=1,2 gpus=41460"
};

// Finds the processes and checks the words. 0 or an exit status after a message.
int targets_find(struct targets *t, const struct choice *c);
void targets_fini(struct targets *t);

// Finds the selected queues of secondary contexts, which cannot be held.
void targets_find_unreached(struct targets *t);

// The answer of the target's holder, which is not waited for to the end when it is stopped
// (SIGSTOP). False: t->failure.
bool target_receive(struct target *t);

// Says why it did not work for each target that failed. 0 when none did, GPQ_PARTIAL when some did,
// the first one's status when all did.
int targets_report(const struct targets *t);

#endif
