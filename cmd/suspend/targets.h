// The processes that `gpq suspend` and `gpq resume` work on: a group whose members are named, not
// pinned yet, each with a selection of queues (no ids: all).
#ifndef GPQ_CMD_SUSPEND_TARGETS_H
#define GPQ_CMD_SUSPEND_TARGETS_H

#include "common/holder/group.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"

// Where processes are sought: those that have opened KFD, or those that gpq holds. If none is
// found, only AMONG_HELD_IF_ANY does not fail.
enum targets_among { AMONG_OPEN, AMONG_HELD, AMONG_HELD_IF_ANY };

// Finds processes and queues. With -p alone no process is sought, so anything may be named. Members
// without a queue that fits --prio or --type have failed; `unreached` has queues that fit and
// cannot be held. 0, or an exit status after a message.
int targets_find(struct group *g, const struct pick_opts *pick,
		 const struct pick_queues_opts *queues, enum targets_among among);

// Adds the processes that are held to `pids`. Those whose holder does not answer come last: nothing
// should wait for them.
void targets_find_held(struct pids *pids);

// Finds the selected queues of secondary contexts, which cannot be held, unless targets_find() has.
void targets_find_unreached(struct group *g);

// Prints why members failed. 0 if none did; GPQ_PARTIAL if some did; the first one's status if all
// did.
int targets_report(const struct group *g);

#endif
