// Activity of each queue in each marked window of time (windows.h).
#ifndef GPQ_AMDLOG_ANALYSIS_MARKED_H
#define GPQ_AMDLOG_ANALYSIS_MARKED_H

#include "common/amdlog/model/summary.h"
#include "common/amdlog/analysis/windows.h"

#define MARKED_MAX (1u << 20) // pairs of window and queue

// One queue around one window.
struct marked_cell {
	uint64_t dispatches;               // within it, its borders included
	uint64_t rptr_low, rptr_high;      // of packets within it; AMDLOG_UNKNOWN
	uint64_t backlog_max;              // likewise
	uint64_t gap_begin_us, gap_end_us; // longest time without a dispatch that overlaps it;
					   // AMDLOG_UNKNOWN: no dispatch on both sides of one
	uint64_t after_us;                 // first dispatch at its end or later; AMDLOG_UNKNOWN
};

// Starts as zeros, `windows` set and sorted.
struct amdlog_marked {
	const struct amdlog_windows *windows; // not owned
	struct intern pairs;                  // of window and queue
	struct marked_cell *cells;            // by their number
	uint64_t *last_us;                    // by queue: its latest dispatch; AMDLOG_UNKNOWN
	size_t cells_cap, last_cap;
	bool incomplete; // there are more pairs than MARKED_MAX
};

// A record that amdlog_summary_add placed.
void amdlog_marked_add(struct amdlog_marked *m, const struct amdlog_event *e);

// NULL: nothing was seen of that queue around that window.
const struct marked_cell *amdlog_marked_of(const struct amdlog_marked *m, size_t window,
					   uint32_t queue);

void amdlog_marked_fini(struct amdlog_marked *m);

#endif
