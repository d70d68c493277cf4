// What happened to the queues of a host between two moments.
//
// A queue is the same one in both if process, start time of the process, KFD context and queue id
// agree; since the driver gives a free id out again, GPU and type must agree too, and the MQD's
// address where both are certain.
#ifndef GPQ_STATE_DIFF_H
#define GPQ_STATE_DIFF_H

#include "common/state/host_state.h"

enum qdiff_change { // bits
	QDIFF_CAME = 1,
	QDIFF_WENT = 2,
	QDIFF_OFF = 4,    // off the hardware now: suspended or evicted, which no dump tells apart
	QDIFF_ON = 8,     // on hardware again
	QDIFF_MOVED = 16, // in other slots
	QDIFF_RING = 32,  // another ring buffer: address or size
	QDIFF_PRIORITY = 64,   // priority of queue or pipe
	QDIFF_EVICTED = 128,   // an eviction of its process ended meanwhile
	QDIFF_PROGRESS = 256,  // packets were consumed or submitted
	QDIFF_SUSPENDED = 512, // a holder of gpq suspend has it now
	QDIFF_RESUMED = 1024,  // and no more
};

struct qdiff {
	unsigned changes;
	const struct state_queue *before, *after; // NULL: it was not there
	uint64_t consumed, submitted, evicted_ns; // between the two; KFD_UNKNOWN
	const char *unit;                         // of consumed and submitted; NULL
};

// "came", "went", ...; NULL when `bit` is none.
const char *qdiff_word(unsigned bit);

// Calls `each` for every queue of both moments, by process, context and id.
void qdiff_run(const struct host_state *before, const struct host_state *after,
	       void (*each)(void *arg, const struct qdiff *d), void *arg);

#endif
