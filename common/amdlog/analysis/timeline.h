// A log as Chrome trace events (common/out/traceevent.h): what Perfetto shows.
//
// A track for each host thread with its API calls, from entry to return; a track for each hardware
// queue with a mark for each packet, at the time it was written into the ring; a counter of the
// packets that waited in front of it; a counter of the queues that got packets. A flow leads from
// the API call to the packets it wrote. Where the log has times of the GPU (profiling was on;
// [amdlog.signals]), the execution is a slice of its own.
//
// What the log does not contain is not drawn: a packet has no length, and a call whose return is
// missing is a mark.
//
// It streams: memory is bounded by the number of threads and queues.
#ifndef GPQ_AMDLOG_ANALYSIS_TIMELINE_H
#define GPQ_AMDLOG_ANALYSIS_TIMELINE_H

#include "common/amdlog/model/summary.h"

struct amdlog_timeline;
struct traceevent;

// Writes to `fd` what is placed in `sum`; both stay the caller's.
struct amdlog_timeline *amdlog_timeline_new(int fd, const struct amdlog_summary *sum);

// Kernels are drawn with the name that `readable` returns for their number, and what the log calls
// them is an argument of theirs.
void amdlog_timeline_rename(struct amdlog_timeline *t,
			    const char *(*readable)(void *ctx, uint32_t kernel), void *ctx);

// A record as amdlog_summary_add placed it, in the order of the log.
void amdlog_timeline_add(struct amdlog_timeline *t, const struct amdlog_event *e);

// Where further events of the same document go, before the end; tracks above 8999998 are free.
struct traceevent *amdlog_timeline_events(struct amdlog_timeline *t);

// What the document's times are; borrowed. Default: those of a log.
void amdlog_timeline_clock(struct amdlog_timeline *t, const char *clock);

// errno of the first failure to write, 0 when there was none.
int amdlog_timeline_error(const struct amdlog_timeline *t);

// Names the tracks, ends the document, frees it. 0, or the errno of the first failure.
int amdlog_timeline_close(struct amdlog_timeline *t);

#endif
