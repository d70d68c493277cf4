// A log as Chrome trace events (common/out/traceevent.h): what Perfetto shows.
//
// A track for each host thread with its API calls, from entry to return; a track for each hardware
// queue with a mark for each packet, when it was written into the ring; counters of each queue's
// backlog and of the queues that got packets. A flow leads from an API call to the packets it
// wrote. Where the log has times of the GPU (profiling was on; [amdlog.signals]), the execution is
// a slice of its own.
//
// Nothing is drawn that the log does not have: a packet has no length, and a call without a return
// is a mark. Memory is bounded by the number of threads and queues.
#pragma once

#include "common/amdlog/model/summary.h"
#include "common/out/traceevent.h"

struct amdlog_timeline;

// Begins a document on `fd` with records that are placed in `sum`; both stay the caller's. Kernels
// are drawn by the name that `readable` returns for their number, with the log's name as an
// argument; `readable` NULL: by the log's name.
struct amdlog_timeline *amdlog_timeline_new(int fd, const struct amdlog_summary *sum,
					    const char *(*readable)(void *ctx, uint32_t kernel),
					    void *ctx);

// Draws a record, of which amdlog_summary_add made the event `e`; records come in the log's order.
void amdlog_timeline_add(struct amdlog_timeline *t, const struct amdlog_event *e);

// The document, to read its error, set its clock (default: the log's), or add events before its
// end, on tracks from 8999998 on.
struct traceevent *amdlog_timeline_events(struct amdlog_timeline *t);

// Names the tracks, ends and frees the document. Returns 0 or the errno of the first failure.
int amdlog_timeline_close(struct amdlog_timeline *t);
