// Evidence from the target's own memory of what a queue does: its indices and its saved waves.
//
// The addresses come from the queue snapshot (kfd-facts.md 2.1). They keep their meaning while the
// queue is suspended. Needs the right to trace the target.
#ifndef GPQ_HOLDER_QUIESCE_H
#define GPQ_HOLDER_QUIESCE_H

#include "common/kfd/abi.h"

#include <stdbool.h>
#include <sys/types.h>

struct kfd_quiesce {
	bool has_indices;
	bool has_saved;
	uint64_t read_index; // AQL: packets taken by the GPU; SDMA: bytes; PM4: dwords
	uint64_t write_index;
	uint64_t saved_bytes; // control stacks and wave state of all XCCs; true of suspended queues
			      // only
	uint64_t saved_waves_bytes; // wave state alone: > 0 means that running waves were saved
};

// Reads what can be read; absent parts stay false. Compute queues only have a context header.
void kfd_quiesce_read(pid_t pid, const struct kfd_queue_entry *q, unsigned xccs,
		      struct kfd_quiesce *p);

// Was there anything to do: packets not taken yet, or waves running when it was suspended?
bool kfd_quiesce_has_work(const struct kfd_quiesce *p);

#endif
