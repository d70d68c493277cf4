// The times without a dispatch: between two dispatches that follow each other on one queue, and on
// all of them together.
//
// Facts: [amdlog.time]: a record's time is taken before it is written, so records of
// several threads step back by microseconds. A dispatch that is older than the one before it ends
// no gap.
#ifndef GPQ_AMDLOG_ANALYSIS_GAPS_H
#define GPQ_AMDLOG_ANALYSIS_GAPS_H

#include "common/amdlog/read/record.h"
#include "common/amdlog/model/keyed_histogram.h"

#define GAPS_ALL UINT32_MAX // the queue number that stands for all of them; plus one it is 0

struct amdlog_gap {
	uint64_t begin_us, end_us; // of the dispatch before, and of the one behind it
	uint64_t backlog; // packets in front of the dispatch that begins it; AMDLOG_UNKNOWN
};

struct gaps_queue {
	uint64_t count;           // dispatches with a time
	uint64_t last_us;         // of the latest one
	uint64_t backlog;         // of that one
	struct amdlog_gap *worst; // the longest, sorted by amdlog_gaps_of
	size_t nworst, cap;
};

// Starts as zeros, `keep` set.
struct amdlog_gaps {
	uint32_t keep;             // so many of the longest are kept for each queue
	struct gaps_queue *queues; // of all of them, then by queue plus one
	size_t cap;
	struct keyed_histogram lengths; // of every gap in microseconds, by the same number
};

// A dispatch at `us` (AMDLOG_UNKNOWN: ignored) on `queue`; GAPS_ALL: of no known queue.
void amdlog_gaps_add(struct amdlog_gaps *g, uint32_t queue, uint64_t us, uint64_t backlog);

// With its longest gaps, longest first; NULL when nothing is known of it.
const struct gaps_queue *amdlog_gaps_of(struct amdlog_gaps *g, uint32_t queue);

void amdlog_gaps_fini(struct amdlog_gaps *g);

#endif
