// What gpq why judges queues by, added to a snapshot: memory of the processes around the heads of
// their rings, names of kernels, the driver's lines of the kernel's log, ranks of jobs, and the
// verdicts as text.
#pragma once

#include "cmd/why.h"
#include "common/bench/child.h"
#include "common/pick/host_choice.h"
#include "common/snapshot/snapshot.h"

struct evidence {
	struct rings rings;
	struct why why;
	struct kernels kernels;
	struct why_heads heads;
	struct rings_how rings_how;
	struct why_how how;
	struct memory_record
		*records;      // one for each of rings.processes; NULL: there is no evidence
	bool cores;            // set by the caller: also light GPU cores
	unsigned lost_cores;   // processes without one, after messages
	struct child listener; // notes what the driver tells between the looks
	struct buf events;     // what it has told, NDJSON of gpq events
	struct buf interrupts; // of GPUs, for IRQS_PATH
};

// Looks `looks` times at the chosen queues, each time over `over_ns`; with several looks the
// driver's events from the first one on are noted, too. To be called before the dumps are read:
// what slots have seen of write indices is compared with the indices. There is no evidence on a
// recorded host, without the dumps of MQDs, and without rings. Returns GPQ_OK, GPQ_PARTIAL after
// messages, or another exit status after a message. evidence_fini() frees `e`.
int evidence_look(struct evidence *e, const struct host_choice *by, unsigned looks,
		  uint64_t over_ns);

// snapshot_how.add; `evidence`: a struct evidence.
int evidence_add(void *evidence, struct saver *v);
void evidence_fini(struct evidence *e);
