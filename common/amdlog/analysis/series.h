// Dispatches, backlog and busy queues over time, in intervals of one length.
//
// Intervals begin at multiples of their length on the log's clock (CLOCK_MONOTONIC), so that those
// of two logs of one host are the same.
#ifndef GPQ_AMDLOG_ANALYSIS_SERIES_H
#define GPQ_AMDLOG_ANALYSIS_SERIES_H

#include "common/amdlog/model/summary.h"

#define SERIES_INTERVALS_MAX (1u << 20) // from first to last
#define SERIES_POINTS_MAX    (1u << 22) // of all tracks together

struct series_point {
	uint32_t launches, dispatches, barriers;
	uint32_t queues; // that got packets (track `all`)
	uint32_t backlog_n, backlog_max;
	uint64_t backlog_sum; // over backlog_n packets
};

// One queue, or all of the log.
struct series_track {
	const struct amdlog_series *series; // NULL: it has no points
	uint32_t number;                    // of the queue; AMDLOG_NONE: all
	uint64_t first, end;                // its intervals (time / width_us); equal: none
};

// Starts as zeros, `width_us` set.
struct amdlog_series {
	uint64_t width_us; // above 0
	struct series_track all;
	struct series_track *queues; // by the summary's number
	uint32_t nqueues;
	struct intern keys; // pairs of a track's number and an interval
	struct series_point *points;
	size_t cap, points_cap;
	uint64_t least_us; // width that would do if the log is too long for this one; else 0
	bool incomplete;   // SERIES_POINTS_MAX was reached
};

// A record that amdlog_summary_add placed; those without a time are left out.
void amdlog_series_add(struct amdlog_series *s, const struct amdlog_event *e);

// After the last record. `span`: of all records of the log.
void amdlog_series_finish(struct amdlog_series *s, const struct amdlog_span *span);

// The point of an interval of the track; zeros where nothing happened.
struct series_point amdlog_series_at(const struct series_track *t, uint64_t interval);

// The sum of the intervals [from, to); `queues` is the most in one of them.
struct series_point amdlog_series_sum(const struct series_track *t, uint64_t from, uint64_t to);

void amdlog_series_fini(struct amdlog_series *s);

#endif
