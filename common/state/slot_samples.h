// Slots over a time: the registers are read again and again, and each queue that was seen in a slot
// gets the share of samples in which it was there and in which its pointers had moved.
//
// Facts: kfd-facts 8: where queues take turns, one reading shows some of them, and many readings
// show how often each runs. What happens between two samples is not seen.
#ifndef GPQ_STATE_SLOT_SAMPLES_H
#define GPQ_STATE_SLOT_SAMPLES_H

#include "common/state/slot_rows.h"

// A queue in a slot. Positions and `consumed` are UINT64_MAX when unknown.
struct hqd_seen {
	struct hqd_row row;   // as last seen
	size_t slot;          // place of the slot in hqdlist.rows
	uint64_t active;      // samples in which it was there
	uint64_t moved;       // in which a pointer was another than when last seen
	uint64_t busy;        // in which it was there and not idle
	uint64_t first, last; // what the GPU had taken by then: dwords, SDMA bytes
	// From slot_samples_finish(): taken in between, in AQL packets, PM4 dwords, SDMA bytes; and
	// shares of all samples, of `moved` those but the first.
	uint64_t consumed;
	double share, moved_share, busy_share;
};

struct slot_samples {
	struct hqd_seen *seen;
	size_t n, cap;
	uint64_t samples;
};

// Adds what `l` shows now as one more sample. 0, or -1 (ENOMEM).
int slot_samples_add(struct slot_samples *s, const struct slot_rows *l);

// Works out shares and sorts: those that moved most come first. Before it, `seen` may get owners.
void slot_samples_finish(struct slot_samples *s);

void slot_samples_fini(struct slot_samples *s);

#endif
