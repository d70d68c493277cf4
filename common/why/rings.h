// Finds the rings of queues, by addresses from MQDs or with --attach from the driver's debug
// interface, and opens the memory of their processes.
//
// Facts: [debugfs.mqd-compute], [debugfs.mqd-sdma-indices] (MQDs have the addresses of rings and
// indices, but not of an SDMA queue's write index), [kfd.queue-entry]. MQDs are for root. The debug
// interface is for those who may trace the process, and its activation takes all queues of the GPUs
// off the hardware once [kfd.activation].
#pragma once

#include "common/aql/ring.h"
#include "common/pick/host_choice.h"
#include "common/slots/slot_rows.h"

// --attach as a row of a command's table. `type`: its options struct, with a member `attach`.
#define RINGS_ATTACH_OPT(type)                                                   \
	OPT(type, attach, "attach", 0, OPT_FLAG, "",                             \
	    "without root: ask the driver's debug interface,\nonce; this takes " \
	    "all queues of the GPUs\noff for a moment, those of others too")

struct rings_how {
	const struct pick_opts *pick;
	const struct pick_queues_opts *queues;
	bool attach;   // --attach is given
	unsigned want; // READ_ bits beyond those that rings need
	// Also the other queues of the processes of chosen queues, and without `attach` the
	// processes that share memory with those that the options choose.
	bool whole;
	bool before; // a moment before the one that is told about: nothing is warned of
};

struct ring_process {
	struct memory memory;
	pid_t pid;
	int error; // errno of opening the memory; 0: it is open
};

struct ring_queue {
	const struct queue_row *row; // the queue; its id is unknown where several MQDs fit it
	size_t process;              // index in rings.processes
	struct ring ring;
	// Set by rings_read_slots(), of the XCC that is the furthest behind; UINT64_MAX: unknown.
	uint64_t slot_read, slot_write;  // indices in the hardware slot, in the unit of the ring's
	uint64_t slot_error;             // cp_hqd_error of the slot
	char slot[24];                   // hqd_row.slot; "": none
	struct slot_inversion inversion; // of a queue that is in no slot
	int8_t in_slot; // 1: a compute queue is in a slot of its GPU; 0: in none; -1: unknown
	bool chosen;    // the options choose the queue; false: listed for rings_how.whole
};

struct rings {
	const struct rings_how *how;
	struct picked from;      // rows of queues, and the options that chose them
	struct queue_row *spare; // rows of MQDs whose queues are unknown
	size_t nspare;
	struct ring_process *processes;
	size_t nprocesses;
	struct ring_queue *v; // sorted by process
	size_t n;
};

// Fills `r`, which must be zeroed; `how` must outlive it. Returns GPQ_OK; GPQ_PARTIAL after
// messages about PIDs without queues; else the exit status after a message: no such queue, no
// rights.
int rings_load(struct rings *r, const struct rings_how *how);
void rings_fini(struct rings *r);

// What gpq snapshot recorded of the processes' memory, or what is being recorded; NULL: nothing.
// All records have the same looks.
struct memory_record *rings_record(const struct rings *r);

// Reads what each queue's hardware slot (debugfs hqds) tells, whether it has one and, if not,
// inversion, if allowed.
void rings_read_slots(struct rings *r);

// Returns the exit status if some ring could not be read: GPQ_PARTIAL, or, if the memory of no
// process could be opened, the status of the first process's error.
int rings_unread(const struct rings *r);

// Warns that a ring cannot be shown, unless rings_load() warned of the process's memory.
void rings_warn(const struct rings *r, const struct ring_queue *q, enum ring_problem p);
