// The rings of processes' queues: where they are, from MQDs or, if asked to, from the driver's
// debug interface; and the memory they lie in.
//
// Facts: [debugfs.mqd-compute], [debugfs.mqd-sdma-indices] (an MQD has the addresses of ring and
// indices, but no write index of an SDMA queue), [kfd.queue-entry]. MQDs are for root; the debug
// interface is for whom the driver lets trace the process, and switching it on takes all queues of
// the GPUs off the hardware once [kfd.activation].
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
	unsigned want; // READ_ bits beside those that are needed
	bool whole;    // all queues of a process of which one is chosen
};

struct ring_process {
	pid_t pid;
	struct memory memory;
	int error; // errno of opening it, 0
};

struct ring_queue {
	const struct queue_row *row; // its QID is unknown where several MQDs fit
	size_t process;              // index in rings.processes
	struct ring ring;
	// Write index that its slot has seen, as `ring` counts; UINT64_MAX: unknown, as it is until
	// rings_read_slots().
	uint64_t slot_write;
	uint64_t slot_error; // cp_hqd_error of its slot; likewise
	bool chosen;         // by the options that choose queues; others are there with `whole`
};

struct rings {
	const struct rings_how *how;
	struct picked from;      // rows of queues, and who chose them
	struct queue_row *spare; // rows of MQDs that no queue is known for
	size_t nspare;
	struct ring_process *processes;
	size_t nprocesses;
	struct ring_queue *v; // by process
	size_t n;
};

// Fills `r`, which must be zeroed; `how` must outlive it. GPQ_OK; GPQ_PARTIAL after messages; else
// the exit status after a message: no such queue, no right to know the rings.
int rings_load(struct rings *r, const struct rings_how *how);
void rings_fini(struct rings *r);

// Reads the hardware slots (debugfs hqds), where that is allowed.
void rings_read_slots(struct rings *r);

// The exit status if something could not be read: GPQ_PARTIAL, or, if that is the memory of all
// processes, the status of the first error.
int rings_unread(const struct rings *r);

// Warns that a ring cannot be shown, unless a warning said that the memory of its process cannot be
// read.
void rings_warn(const struct rings *r, const struct ring_queue *q, enum ring_problem p);

#endif
