// What `gpq suspend` and `gpq resume` work on: the selector's options -> processes and words of the
// holder's protocol.
#ifndef GPQ_CMD_SUSPEND_TARGETS_H
#define GPQ_CMD_SUSPEND_TARGETS_H

#include "common/holder/holder.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"

// One process, the talk with its holder, and what came of it.
struct target {
	pid_t pid;
	struct kfd_target pin;
	struct kfd_link link;        // fd -1: none
	uint64_t at_ns;              // CLOCK_MONOTONIC, when its answer came
	struct kfd_selection sel;    // its queues; no ids: all
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
	bool by_rows; // --prio or --type chose the ids, and the queues that cannot be held
};

// Where processes are sought: those that have opened KFD, or those that gpq holds. There must be
// one, but for HELD_IF_ANY.
enum targets_among { AMONG_OPEN, AMONG_HELD, AMONG_HELD_IF_ANY };

// Finds the processes and their queues. -p alone names processes, whatever they are. 0 or an exit
// status after a message.
int targets_find(struct targets *t, const struct pick_opts *pick,
		 const struct pick_queues_opts *queues, enum targets_among among);

// Adds the processes that are held to `pids`: those whose holder does not answer behind the others,
// so that nobody waits for them.
void targets_find_held(struct pids *pids);

// Adds a process, unless it is there.
void targets_add(struct targets *t, pid_t pid);
bool targets_has(const struct targets *t, pid_t pid);

// Appends the words of the protocol that select this target's queues: " queues=1,2 gpus=41460".
void target_words(const struct target *t, struct buf *b);

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
