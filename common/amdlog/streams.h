// Which hardware queue each stream of a process used, and when: a stream may move (amd-log-facts.md
// sections 5 and 11), and its address may be another stream's later on.
#ifndef GPQ_AMDLOG_STREAMS_H
#define GPQ_AMDLOG_STREAMS_H

#include "common/amdlog/summary.h"

#define STREAMS_MAX 65536u // periods in all

// A stream on a queue, for a time.
struct stream_period {
	uint32_t process; // index
	uint64_t stream;  // 0: the null stream
	uint32_t queue;
	uint32_t before;  // the stream's period before this one; AMDLOG_NONE
	uint64_t created; // times it was made on this queue
	uint64_t packets; // submitted for it, dispatches among them
	uint64_t dispatches;
	struct amdlog_span span; // of creation and packets
};

// Starts as zeros.
struct amdlog_streams {
	struct stream_period *v; // in the order of their beginnings
	uint32_t n, cap;
	struct intern latest; // process and stream -> its latest period
	uint64_t left_out;    // records that found no room
};

// A record that amdlog_summary_add placed; those that name no stream and queue are passed over.
void amdlog_streams_add(struct amdlog_streams *s, const struct amdlog_summary *sum,
			const struct amdlog_event *e);

// Periods of one queue that was known by two addresses become one, after amdlog_summary_finish.
// Those that are part of another then have no packets and an empty span.
void amdlog_streams_join(struct amdlog_streams *s, const struct amdlog_summary *sum);

void amdlog_streams_fini(struct amdlog_streams *s);

#endif
