// The rings of queues: their addresses, from MQDs or with --attach from the driver's debug
// interface; and the memory of their processes.
//
// Facts: [debugfs.mqd-compute], [debugfs.mqd-sdma-indices] (MQDs have the addresses of rings and
// indices, but not of an SDMA queue's write index), [kfd.queue-entry]. MQDs are for root. The debug
// interface is for those who may trace the process, and its activation takes all queues of the GPUs
// off the hardware once [kfd.activation].
#ifndef GPQ_WHY_RINGS_H
#define GPQ_WHY_RINGS_H

#include "common/aql/ring.h"
#include "common/pick/host_choice.h"

// A row of a command's table; `type` is its options struct with a member `attach`.
#define RINGS_ATTACH_OPT(type)                                                   \
	OPT(type, attach, "attach", 0, OPT_FLAG, "",                             \
	    "without root: ask the driver's debug interface,\nonce; this takes " \
	    "all queues of the GPUs\noff for a moment, those of others too")

struct rings_how {
	const struct pick_opts *pick;
	const struct pick_queues_opts *queues;
	bool attach;   // --attach
	unsigned want; // more READ_ bits than rings need
	bool whole;    // also the other queues of the processes of chosen queues
};

struct ring_process {
	pid_t pid;
	struct memory memory;
	int error; // errno of opening it, 0
};

struct ring_queue {
	const struct queue_row *row; // without a queue id where several MQDs fit
	size_t process;              // index in rings.processes
	struct ring ring;
	uint64_t slot_write; // write index in its slot, as `ring` counts; by rings_read_slots()
	uint64_t slot_error; // cp_hqd_error of its slot; UINT64_MAX like slot_write: unknown
	bool chosen;         // by the options; false: here for rings_how.whole
};

struct rings {
	const struct rings_how *how;
	struct picked from;      // rows of queues, and the options that chose them
	struct queue_row *spare; // rows of MQDs whose queues are not known
	size_t nspare;
	struct ring_process *processes;
	size_t nprocesses;
	struct ring_queue *v; // by process
	size_t n;
};

// Fills `r`, which must be zeroed; `how` must outlive it. GPQ_OK; GPQ_PARTIAL after messages about
// PIDs without queues; else the exit status after a message: no such queue, no rights.
int rings_load(struct rings *r, const struct rings_how *how);
void rings_fini(struct rings *r);

// Reads the hardware slots (debugfs hqds), where that is allowed.
void rings_read_slots(struct rings *r);

// The exit status after something could not be read: GPQ_PARTIAL, or, if it was the memory of all
// processes, that of the first error.
int rings_unread(const struct rings *r);

// Warns that a ring cannot be shown, unless its process's memory could not be read, which was said.
void rings_warn(const struct rings *r, const struct ring_queue *q, enum ring_problem p);

#endif
