// Which hardware queue each stream of a process used, and when: a stream may move
// ([amdlog.streams]), and its address may be another stream's later on.
#ifndef GPQ_AMDLOG_MODEL_STREAMS_H
#define GPQ_AMDLOG_MODEL_STREAMS_H

#include "common/amdlog/model/summary.h"

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

// What a thread of a part (partial.h) does for a stream that only an earlier part can know.
enum stream_head_what {
	STREAM_HEAD_PACKET, // for the stream if a command named it
	STREAM_HEAD_DISPATCH,
	STREAM_HEAD_LINE, // a queue line, for the stream if an API call named it
	STREAM_HEAD_MADE, // the creation of `stream` returned, if it was begun before
};

struct stream_head {
	uint32_t thread, what; // index, enum stream_head_what
	uint32_t queue;        // AMDLOG_NONE: the last one the thread was told of
	uint64_t stream;       // of STREAM_HEAD_MADE
	uint64_t n;
	struct amdlog_span span;
};

// Starts as zeros.
struct amdlog_streams {
	struct stream_period *v; // in the order of their beginnings
	uint32_t n;
	size_t cap, head_cap;
	struct intern latest;      // process and stream -> its latest period
	uint64_t left_out;         // records that found no room
	struct stream_head *heads; // of a part only, in the order of their beginnings
	uint32_t nheads;
	struct intern head_keys;
};

// A record that amdlog_summary_add placed; those that name no stream and queue are passed over.
void amdlog_streams_add(struct amdlog_streams *s, const struct amdlog_summary *sum,
			const struct amdlog_event *e);

// Adds what happened on a queue from `add->span.first_us` on: to the latest period of its stream,
// or a new one. `before` is not looked at.
void amdlog_streams_put(struct amdlog_streams *s, const struct stream_period *add);

// Appends a head. False: there are STREAMS_MAX.
bool amdlog_streams_put_head(struct amdlog_streams *s, const struct stream_head *h);

// Periods of one queue that was known by two addresses become one, after amdlog_summary_finish.
// Those that are part of another then have no packets and an empty span.
void amdlog_streams_join(struct amdlog_streams *s, const struct amdlog_summary *sum);

void amdlog_streams_fini(struct amdlog_streams *s);

#endif
