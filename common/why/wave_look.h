// Looks at the waves of processes. For a look the compute queues of a process are taken off the GPU
// by its holder, its save areas are read, and the queues go back: nothing is decoded or written
// before that. Whatever dies, the queues run (holder.h): the hold is tied to our connection, and
// has a deadline. Of a GPU core there is one look, at what it has.
#pragma once

#include "common/holder/group.h"
#include "common/rows/queue_rows.h"
#include "common/waves/core.h"
#include "common/waves/groups.h"

// A compute queue that is looked at.
struct wave_queue {
	struct queue_row row;
	struct kfd_queue_entry entry;
	size_t process;         // index in looks.processes
	struct waves_area area; // of XCC 0; gpu NULL: its layout is unknown
	unsigned xccs;
	const char *wrong; // why the last look has no waves of it; NULL: it has them
};

// The registers of a wave as they were saved: the bytes from its vector registers on.
struct wave_record {
	uint64_t address, size;
	uint8_t *data;
};

struct wave_process {
	struct group_member *member; // NULL: of a core
	struct core *core;           // NULL: of a member
	pid_t pid;                   // 0: unknown
	struct memory memory;
	struct buf request;
};

struct wave_looks {
	// Set by the caller: deadline of a hold; and are registers copied, too: of one wave at each
	// place, at up to 32 places of a queue?
	uint64_t max_hold_ns;
	bool registers;
	struct queue_rows rows;
	struct process_cache cache;
	struct wave_process *processes;
	struct wave_queue *queues; // by process
	unsigned *looks;           // by queue: looks that have read it
	size_t nprocesses, nqueues, processes_cap, cap;
	struct wave_seen *v; // waves of the last look
	size_t n, vcap;
	struct wave_record *records; // registers of waves of the last look
	size_t nrecords, records_cap;
	// Of the last look: the longest that a process was held, and from the request for that to
	// its end, which also has the time that the GPU takes to let go of queues.
	uint64_t held_ns, taken_ns;
	size_t nread; // waves that it has read
};

// Attaches to the members of `g`, which must be named (targets_find()) and outlive `l`, and asks
// for their queues: those that a member's selection chooses. Members that fail are MEMBER_FAILED.
// `l` is zeroed but for max_hold_ns and registers. Returns GPQ_OK, or the exit status after a
// message.
int wave_looks_open(struct wave_looks *l, struct group *g);

// Adds the GPU core in the file `fd`, which `l` owns from then on; `l` was zeroed at first. `rows`:
// the chosen queues are those of this process that are not hidden; NULL: all. Returns NULL, or what
// is wrong with the file.
const char *wave_looks_add_core(struct wave_looks *l, int fd, const struct queue_rows *rows,
				pid_t pid);

// Takes a look: l->v, and `wrong` of each queue. Members that fail are MEMBER_FAILED from then on.
// Returns false if no process is left to look at.
bool wave_looks_take(struct wave_looks *l);
void wave_looks_fini(struct wave_looks *l);
