// Dispatches, backlog and busy queues over time, in intervals of one length.
//
// Intervals begin at multiples of their length on the log's clock (CLOCK_MONOTONIC), so that those
// of two logs of one host are the same.
#pragma once

#include "common/amdlog/model/summary.h"

#define SERIES_INTERVALS_MAX (1u << 20) // intervals from first to last
#define SERIES_POINTS_MAX    (1u << 22) // points of all tracks together

struct series_point {
	uint32_t launches, dispatches, barriers;
	uint32_t queues; // queues that got packets; in a track of one queue: 1 or 0
	uint32_t backlog_n, backlog_max;
	uint64_t backlog_sum; // sum of the backlogs of backlog_n packets
};

// The points of one queue, or of the whole log.
struct series_track {
	const struct amdlog_series *series; // NULL: the track has no points
	uint32_t number;                    // the queue's number; AMDLOG_NONE: whole log
	uint64_t first, end; // intervals [first, end), none if first >= end: by time / width_us
};

// Counts of a log over time. The caller zeroes it and sets `width_us`.
struct amdlog_series {
	uint64_t width_us; // length of an interval, above 0
	struct series_track all;
	struct series_track *queues; // indexed by the summary's queue number
	uint32_t nqueues;
	struct intern keys; // (number of a track, interval) -> point
	struct series_point *points;
	size_t cap, points_cap;
	uint64_t least_us; // if the log is too long for width_us, a width that would do; else 0
	bool incomplete;   // SERIES_POINTS_MAX was reached
};

// Adds a record, of which amdlog_summary_add made the event `e`; leaves out those without a time.
void amdlog_series_add(struct amdlog_series *s, const struct amdlog_event *e);

// Ends the series after the last record. `span`: first and last time of the log.
void amdlog_series_finish(struct amdlog_series *s, const struct amdlog_span *span);

// The point of an interval of the track; zeros where nothing happened.
struct series_point amdlog_series_at(const struct series_track *t, uint64_t interval);

// The sum of a track's points in intervals [from, to); `queues` is the greatest of any interval.
struct series_point amdlog_series_sum(const struct series_track *t, uint64_t from, uint64_t to);

void amdlog_series_fini(struct amdlog_series *s);
