// What happened to the queues of a host between two moments.
//
// A queue is the same one in both if process, start time of the process, KFD context and queue id
// agree; since the driver gives a free id out again, GPU and type must agree too, and the MQD's
// address where both are certain.
#ifndef GPQ_STATE_DIFF_H
#define GPQ_STATE_DIFF_H

#include "common/state/host_state.h"

struct qdiff {
	// Words: came, went; off (the hardware: suspended or evicted, which no dump tells apart),
	// on; moved (to other slots), ring (another address or size), priority (of queue or pipe),
	// evicted (an eviction of its process ended meanwhile), progress (packets were consumed or
	// submitted), suspended (a holder of gpq suspend has it now), resumed. NULL: no change.
	const char *changes;
	const struct state_queue *before, *after; // NULL: it was not there
	uint64_t consumed, submitted, evicted_ns; // between the two; KFD_UNKNOWN
	const char *unit;                         // of consumed and submitted; NULL
};

// Calls `each` for every queue of both moments, by process, context and id. 0, or -1 (ENOMEM).
int qdiff_run(const struct host_state *before, const struct host_state *after,
	      void (*each)(void *arg, const struct qdiff *d), void *arg);

#endif
