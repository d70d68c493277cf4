// Which hardware queues each stream of a process used, and when: a stream may move, and its address
// may later be another stream's ([amdlog.streams]).
#pragma once

#include "common/amdlog/model/summary.h"

#define STREAMS_MAX 65536u // most periods, and most heads

// A time in which a stream used one queue.
struct stream_period {
	uint32_t process; // index in the summary
	uint64_t stream;  // 0: the null stream
	uint32_t queue;
	uint32_t before;  // the stream's previous period; AMDLOG_NONE: none
	uint64_t created; // how often the stream was created on this queue
	uint64_t packets; // all packets, also dispatches
	uint64_t dispatches;
	struct amdlog_span span; // time of the stream's creation and packets
};

// In a part (partial.h): what a thread did for a stream that only an earlier part can know.
enum stream_head_what {
	STREAM_HEAD_PACKET, // a packet; counted if a command names the thread's stream
	STREAM_HEAD_DISPATCH,
	STREAM_HEAD_LINE, // a queue line; counted if the thread's stream comes from an API call
	STREAM_HEAD_MADE, // return that made `stream`; counted if its entry is in an earlier part
};

struct stream_head {
	uint32_t thread, what; // index, enum stream_head_what
	uint32_t queue;        // AMDLOG_NONE: that of the thread's last queue line
	uint64_t stream;       // STREAM_HEAD_MADE: handle of the stream that was made
	uint64_t n;
	struct amdlog_span span;
};

// The periods of all streams. The caller zeroes it.
struct amdlog_streams {
	struct stream_period *v; // in the order of their first records
	uint32_t n;
	size_t cap, head_cap;
	struct intern latest;      // (process, stream) -> the stream's latest period
	uint64_t left_out;         // records left out because of STREAMS_MAX
	struct stream_head *heads; // in a part only, in the order of their first records
	uint32_t nheads;
	struct intern head_keys;
};

// Adds a record whose event `e` has a stream and its queue. In a part, a record whose stream only
// an earlier part can know is kept as a stream_head.
void amdlog_streams_add(struct amdlog_streams *s, const struct amdlog_summary *sum,
			const struct amdlog_event *e);

// Adds `add` to the latest period of its stream, if that period is on the same queue, else begins a
// new one. add->before is ignored.
void amdlog_streams_put(struct amdlog_streams *s, const struct stream_period *add);

// Appends a stream_head. False: there are STREAMS_MAX already.
bool amdlog_streams_put_head(struct amdlog_streams *s, const struct stream_head *h);

// After amdlog_summary_finish, joins successive periods on two rows of one queue. The earlier
// period is left without packets and with an empty span.
void amdlog_streams_join(struct amdlog_streams *s, const struct amdlog_summary *sum);

void amdlog_streams_fini(struct amdlog_streams *s);
