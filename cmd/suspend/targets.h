// The processes that `gpq suspend` and `gpq resume` work on: the selector's options -> a group
// whose members are named, not pinned yet, with a selection of their queues (no ids: all).
#ifndef GPQ_CMD_SUSPEND_TARGETS_H
#define GPQ_CMD_SUSPEND_TARGETS_H

#include "common/holder/group.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"

// Where processes are sought: those that have opened KFD, or those that gpq holds. There must be
// one, but for HELD_IF_ANY.
enum targets_among { AMONG_OPEN, AMONG_HELD, AMONG_HELD_IF_ANY };

// Finds the processes and their queues. -p alone names processes, whatever they are. 0 or an exit
// status after a message. Members of which no queue fits --prio or --type have failed, and their
// `unreached` has those queues that fit and cannot be held.
int targets_find(struct group *g, const struct pick_opts *pick,
		 const struct pick_queues_opts *queues, enum targets_among among);

// Adds the processes that are held to `pids`: those whose holder does not answer behind the others,
// so that nobody waits for them.
void targets_find_held(struct pids *pids);

// Finds the selected queues of secondary contexts, which cannot be held, where --prio and --type
// have not.
void targets_find_unreached(struct group *g);

// Prints the reason of each member that failed. 0 when none did, GPQ_PARTIAL when some did, the
// first one's status when all did.
int targets_report(const struct group *g);

#endif
