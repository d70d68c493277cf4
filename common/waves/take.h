// The memory of a process whose queues are off, as far as a GPU core needs it.
//
// take_queue(), take_dispatches() and take_list() copy what is read to memory, page by page, and
// keep nothing that was read after a deadline: by then the holder may have resumed the queues.
// Nothing of it is written anywhere meanwhile. What the process holds is not trusted: sizes and
// offsets are checked, lists are bounded.
//
// Facts: [waves.core-memory], [waves.core-fatal], [waves.header], [aql.dispatch], [aql.descriptor],
// [aql.code-list].
#pragma once

#include "common/waves/core.h"

// Limits of take_code().
#define TAKE_MAPPING_MOST (64ULL << 20)  // bytes of one mapping
#define TAKE_CODE_MOST    (256ULL << 20) // bytes of all

struct take {
	const struct memory *from; // the process's
	uint64_t until_ns;         // deadline, CLOCK_MONOTONIC; UINT64_MAX: none
	bool late;                 // something was not taken because of the deadline
	// The rest is of the functions below.
	struct take_run {
		uint64_t address;
		struct buf data;
	} * v; // what was taken: ascending, not overlapping
	size_t n, cap;
	uint64_t *code; // addresses in code, for take_code()
	size_t ncode, cap_code;
};

void take_fini(struct take *t);

// Takes the pages of this memory. Stops at the first 64 KiB of which a page cannot be read. Returns
// true if all of it is there.
bool take_memory(struct take *t, uint64_t address, uint64_t size);

// Reads what was taken: for struct memory.read, whose `arg` is the struct take.
bool take_read(void *take, uint64_t address, void *to, size_t size);

// Takes the waves, the indices and the ring of a compute queue that is off. Returns NULL, or what
// is missing: "its ring cannot be read".
const char *take_queue(struct take *t, const struct kfd_queue_entry *q, unsigned xccs);

// Takes the kernel descriptors of the dispatches in the ring, and with `kernarg` their arguments.
void take_dispatches(struct take *t, const struct kfd_queue_entry *q, bool kernarg);

// Takes the runtime's list of code objects. Returns false if it cannot be read.
bool take_list(struct take *t, uint64_t r_debug);

// Takes the code of all code objects in the list, by `maps`, the text of /proc/PID/maps.
void take_code(struct take *t, const char *maps);

// Why AMD's library would end at the waves of a queue that was taken; NULL: it would not. Adds
// their number to *waves. `s` has the runtime and the GPUs.
const char *take_check(struct take *t, const struct core_state *s, const struct kfd_queue_entry *q,
		       size_t *waves);

// Makes the segments of a core: what was taken, and, without data, what else the mappings of the
// GPU driver in `maps` (NULL: none) have that can be read. Sets *n to their number. The caller
// frees the array.
struct core_segment *take_segments(const struct take *t, const char *maps, size_t *n);
