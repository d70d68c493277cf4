// The queues of a host (queue_rows.h), one row a process. What counts for a queue adds up; memory
// and compute units, which the driver counts by process and GPU, are taken once per GPU.
#pragma once

#include "common/rows/queue_rows.h"

// Unknown numbers and texts are those of struct queue_row.
struct process_row {
	struct queue_row first; // its first row: PID, `process`; container_name is not owned
	struct buf gpu_ids;     // gpu_id of each of `gpus`
	struct buf gpus; // indices of the GPUs it has a queue or memory on: "0 3"; may be empty
	uint64_t compute, sdma; // numbers of its queues; sdma counts XGMI queues, too
	uint64_t off;           // of its queues, those in a state off the hardware
	const char *state;   // "gone", "zombie", "no-queues", or what its queues do: see states[]
	uint64_t vram_bytes; // on the selected GPUs
	uint64_t cus;        // compute units occupied on them
	uint64_t backlog;    // AQL packets of all compute queues
	int64_t holder;      // PID of a gpq holder that has a queue of it suspended
};

struct process_rows {
	struct process_row *rows;
	size_t n, cap;
};

// Fills `p`, which must be zeroed, from the rows of `q` that are not hidden. `memory`: a process
// whose rows are all hidden counts if it has memory on a selected GPU (q->gpus). Rows are sorted by
// memory, greatest first and unknown last, then by PID. `q` must outlive `p`.
void process_rows_make(struct process_rows *p, const struct queue_rows *q, bool memory);
void process_rows_fini(struct process_rows *p);
