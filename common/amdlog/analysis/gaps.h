// Times between two successive dispatches, of each queue and of all queues together.
//
// As records of several threads step back by microseconds ([amdlog.time]), a dispatch that is older
// than the one before it ends no gap.
#pragma once

#include "common/amdlog/read/record.h"
#include "common/amdlog/model/keyed_histogram.h"

#define GAPS_ALL UINT32_MAX // stands for all queues together, in row 0; queue i is in row i + 1

struct amdlog_gap {
	uint64_t begin_us, end_us; // times of the two dispatches
	uint64_t backlog;          // packets in front of the first dispatch, or AMDLOG_UNKNOWN
};

struct gaps_queue {
	uint64_t count;           // dispatches with a time
	uint64_t last_us;         // time of the latest dispatch
	uint64_t backlog;         // packets in front of the latest dispatch, or AMDLOG_UNKNOWN
	struct amdlog_gap *worst; // the longest gaps, which amdlog_gaps_of sorts
	size_t nworst, cap;
};

// The gaps of a log. The caller zeroes it and sets `keep`.
struct amdlog_gaps {
	uint32_t keep;             // how many of the longest gaps are kept for each queue
	struct gaps_queue *queues; // [0]: all queues together; [i]: queue i - 1
	size_t cap;
	struct keyed_histogram lengths; // lengths of gaps in microseconds, by row of `queues`
};

// Adds a dispatch at `us` (AMDLOG_UNKNOWN: ignored) on `queue` (GAPS_ALL: not known).
void amdlog_gaps_add(struct amdlog_gaps *g, uint32_t queue, uint64_t us, uint64_t backlog);

// The row of a queue (or GAPS_ALL), its gaps sorted, longest first; NULL: no dispatches on it.
const struct gaps_queue *amdlog_gaps_of(struct amdlog_gaps *g, uint32_t queue);

void amdlog_gaps_fini(struct amdlog_gaps *g);
