// Which MQD of debugfs belongs to which queue of sysfs.
//
// Neither side names the other: sysfs has the queue id, mqds has none (kfd-facts 5.1, 8). What both
// have is the GPU, the type and the ring size; and mqds prints the queues of a process newest
// first, and the inode numbers of sysfs show the same order (procs.h). Two rules prove a match:
//
//   order   both sides have as many queues, and put in order of creation each pair agrees in GPU,
//   type and size; only    one queue of the process has this GPU, type and size, and one MQD does.
//
// A process with secondary contexts has a block in mqds for each, newest first; where it is certain
// which one is which (join.c), and each agrees with its context in number and kind of
// queues, the rules hold for each context and its block alone.
//
// Where neither holds, all MQDs it could be are kept: a value they agree on is still certain. Queue
// ids alone prove no order, since the lowest free one is given out again.
#ifndef GPQ_STATE_JOIN_H
#define GPQ_STATE_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/debugfs/gfx.h"
#include "common/debugfs/mqds.h"
#include "common/debugfs/rls.h"
#include "common/kfd/procs.h"

enum join_why {
	JOIN_ORDER,     // certain: creation order
	JOIN_ONLY,      // certain: the only one of its GPU, type and size
	JOIN_AMBIGUOUS, // several it could be: see `count`
	JOIN_SHORT,     // fewer MQDs than queues of this GPU, type and size: queues came or went
			// meanwhile
	JOIN_NO_MQD,    // no MQD of this GPU, type and size in the process
	JOIN_NO_PROC,   // the text has no such process
	JOIN_WHYS
};

// One sentence part for people: "several MQDs have its GPU, type and size".
const char *join_why_text(enum join_why why);

struct join_queue {
	uint32_t first; // join.candidates[first .. first + count): indices in mqds.queues, newest
			// first
	uint32_t count; // 1: certain. 0: none
	int32_t likely; // the candidate that fits best by qid order; -1 none. Equal to the only one
			// when certain
	uint8_t why;    // enum join_why
};

struct join {
	struct join_queue *queues; // one for each of kfd_procs.queues
	uint32_t *candidates;
	size_t ncandidates, cap_candidates;
};

// Joins all processes. `gens`: the generation of the GPU of each of m->queues. The caller keeps p
// and m while it uses the result.
void join_all(struct join *j, const struct kfd_procs *p, const struct mqds *m,
	      const enum gfx_gen *gens, const struct rls *rls);

void join_fini(struct join *j);

#endif
