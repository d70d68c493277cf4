// The queues of a host at one moment, live or recorded, each with its hardware slots and positions;
// and the comparison of two moments.
//
// Facts: [debugfs.mqd-stale], [debugfs.mqd-image], [debugfs.join].
#pragma once

#include "common/reader/process_cache.h"
#include "common/pick/host_choice.h"
#include "common/rows/queue_rows.h"

struct state_queue {
	struct queue_row row; // texts belong to host_state.list; hidden: left out by options
	uint64_t start_ticks; // start of the process in clock ticks since boot; or KFD_UNKNOWN
	char slots[96]; // "p0q2": pipe 0, queue 2; "0:p0q2,1:p1q2" by XCC; "none"; "": unknown
	int8_t on_hw;   // 1 if the queue was seen in a slot, else row.on_hw
	// Where `consumed` and `submitted` come from: "live" (registers of the slot), "saved" (the
	// MQD, exact while the queue is off hardware), "process" (indices in memory, read shortly
	// after the dumps), "stale" (the MQD as of the last unmap; progress since is unknown).
	// NULL: unknown.
	const char *pointers;
	uint64_t consumed, submitted; // since the queue's creation, in `unit`; KFD_UNKNOWN
	const char *unit; // "packets" (AQL), "dwords" (PM4), "bytes" (SDMA); NULL: unknown
};

struct host_state {
	const char *name; // `dir` of host_state_load(); not owned
	struct process_cache processes;
	struct queue_rows list;
	struct queue_rows_how how;
	struct state_queue *queues; // sorted by PID, context and queue id, or by doorbell
	size_t n;
	char host[65], boot_id[40]; // "": unknown
	uint64_t at_ns;             // proc_recorded_ns()
	bool has_slots;             // debugfs hqds was read
	bool by_doorbell;           // only dumps are known (host_only_dumps()): queue ids are not
};

// Reads the recorded host `dir`, or the live one for "/". Queues that the options `by` (NULL: none)
// do not choose are hidden (host_choice.h). Returns GPQ_OK, or the exit status after a message. The
// sysroot is the live host afterwards.
int host_state_load(struct host_state *m, const char *dir, const struct host_choice *by);
void host_state_fini(struct host_state *m);

// Removes the hidden queues from m->queues.
void host_state_drop_hidden(struct host_state *m);

static inline bool host_state_is_stale(const struct state_queue *q)
{
	return q->pointers && strcmp(q->pointers, "stale") == 0;
}

// --- what happened between two moments ---

// Of moments that are both `by_doorbell`, a queue is known by process, GPU, doorbell and MQD. Else
// two queues are the same if process, start time of the process, KFD context and queue id agree.
// The driver reuses ids, so GPU and type must agree too, and the MQD's address where both are
// certain.
struct qdiff {
	// Words: came, went; off (suspended or evicted, which look the same in dumps), on; moved
	// (to other slots), ring (address or size), priority (of queue or pipe), evicted (an
	// eviction of its process ended), progress (packets were consumed or submitted), stalled
	// (had work at both moments, and none was consumed), suspended (by gpq), resumed. NULL: no
	// change.
	const char *changes;
	const struct state_queue *before, *after; // NULL: there was no such queue at that moment
	uint64_t consumed, submitted, evicted_ns; // amounts between the moments; KFD_UNKNOWN
	const char *unit;                         // of consumed and submitted; NULL: both unknown
	bool stalled;
};

// Calls `each` once for every queue of either moment, in order of process, context and id.
void qdiff_run(const struct host_state *before, const struct host_state *after,
	       void (*each)(void *arg, const struct qdiff *d), void *arg);
