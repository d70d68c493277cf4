// Which MQD of debugfs belongs to which queue of sysfs.
//
// There is no common key: mqds has no queue ids [debugfs.join]. Both have GPU, type and ring size.
// mqds prints the queues of a process newest first, and inode numbers of sysfs show the same order
// (procs.h). Two rules prove a match:
//
// - JOIN_ORDER: both sides have the same number of queues and, in order of creation, each pair has
//   the same GPU, type and size.
// - JOIN_ONLY: one queue of the process has this GPU, type and size, and so has one MQD.
//
// A process with secondary contexts has a block in mqds for each of them, newest first. If it is
// certain which block is about which context (join.c), the rules apply to each context separately.
//
// Where neither rule holds, all candidate MQDs are kept: a value that they agree on is certain.
// Queue ids prove no order, since the driver reuses the lowest free one.
#pragma once

#include "common/debugfs/gfx.h"
#include "common/debugfs/mqds.h"
#include "common/debugfs/rls.h"
#include "common/kfd/procs.h"

enum join_why {
	JOIN_ORDER,     // certain: matched by order of creation
	JOIN_ONLY,      // certain: the only queue and the only MQD of their GPU, type and size
	JOIN_AMBIGUOUS, // several MQDs are candidates
	JOIN_SHORT,     // fewer MQDs of this GPU, type and size than queues: some came or went
	JOIN_NO_MQD,    // no MQD of this GPU, type and size in the process
	JOIN_NO_PROC,   // mqds has no such process
	JOIN_WHYS
};

// Returns in words why a queue was not joined: "several MQDs have its GPU, type and size".
const char *join_why_text(enum join_why why);

struct join_queue {
	uint32_t first; // candidates: join.candidates[first .. first + count), newest first
	uint32_t count; // number of candidates; 1: certain
	int32_t likely; // MQD at the queue's place in the order of creation, or of ids; -1: none
	uint8_t why;    // enum join_why
};

struct join {
	struct join_queue *queues; // one for each of kfd_procs.queues
	uint32_t *candidates;      // indices in mqds.queues
	size_t ncandidates, cap_candidates;
};

// Joins the queues of all processes. `gens`: the generation of the GPU of each of m->queues. `p`
// and `m` must outlive the result, which has indices into them.
void join_all(struct join *j, const struct kfd_procs *p, const struct mqds *m,
	      const enum gfx_gen *gens, const struct rls *rls);

void join_fini(struct join *j);
