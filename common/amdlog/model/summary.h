// The summary of a log: totals, processes, threads, hardware queues, kernels, API calls.
//
// Facts: [amdlog.queue-lines], [amdlog.kernel-name], [amdlog.queue-address], [amdlog.backlog].
// Counts are sums, minima and maxima, so that records may come in any order but for what one thread
// logs in sequence: kernel name then dispatch, stream creation then its queue.
#ifndef GPQ_AMDLOG_MODEL_SUMMARY_H
#define GPQ_AMDLOG_MODEL_SUMMARY_H

#include "common/amdlog/read/block.h"
#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/scan.h"
#include "common/amdlog/model/keyed_histogram.h"

#define AMDLOG_NONE INTERN_NONE

// First and last CLOCK_MONOTONIC microsecond; first > last: none seen.
struct amdlog_span {
	uint64_t first_us, last_us;
};

// Of a part of a log (partial.h): what a thread did that depends on earlier parts.
struct thread_head {
	bool dispatch;   // its first dispatch came before any name,
	uint64_t object; // is of this kernel_obj,
	uint32_t kernel; // which others had named so by then; AMDLOG_NONE
	uint32_t line;   // queue of the last queue line before any API line; AMDLOG_NONE
	uint64_t made;   // stream whose creation returned but began before; AMDLOG_UNKNOWN
};

struct amdlog_thread {
	struct amdlog_thread_id id;
	uint64_t records, launches, dispatches, barriers, api_calls, api_errors;
	struct amdlog_span span;
	uint32_t process; // index
	// Where this thread is.
	uint32_t kernel; // named, its dispatch is awaited; AMDLOG_NONE
	uint64_t stream; // the next dispatch goes to, AMDLOG_UNKNOWN
	bool by_command; // `stream` comes from a command line, which outlives an API call
	bool creating;   // within hipStreamCreate*
	uint32_t queue;  // told of since then; AMDLOG_NONE
	bool knows_kernel, knows_stream; // of a part: they no longer depend on earlier parts
	struct thread_head head;
};

struct amdlog_process {
	int64_t pid;           // -1: the log does not say
	uint32_t source, host; // as of its threads
	uint64_t tid; // in a part: thread without a pid, which an earlier part may know; else
		      // AMDLOG_UNKNOWN
	uint64_t records, launches, dispatches, barriers, api_calls, api_errors;
	uint32_t threads, queues, kernels;
	struct amdlog_span span;
};

struct amdlog_queue {
	uint32_t process;
	uint32_t merged; // this row was found to be the same queue as that one; AMDLOG_NONE
	uint64_t hwq, swq, size;
	int64_t id;         // -1 unknown
	bool ids_differ;    // made anew at the same address
	bool made;          // a creation line told its priority and size
	bool handle_unsure; // more than one row could be `handle`
	int8_t priority;    // 0 low, 1 normal, 2 high, -1 unknown
	uint32_t handle;    // the row of the same queue known by its handle; AMDLOG_NONE
	uint64_t records;   // packets and queue lines that name it
	uint64_t dispatches, barriers, barrier_values;
	uint64_t torn; // packets of it that miss their end
	uint64_t created, deleted;
	uint32_t kernels, streams;
	uint32_t claims;                 // rows that have this one as handle
	struct amdlog_span span;         // of its packets
	uint64_t created_us, deleted_us; // first creation, last deletion; AMDLOG_UNKNOWN
	uint64_t backlog_max, backlog_sum, backlog_n;
	uint64_t inversions;                             // rptr ahead of wptr
	uint64_t rptr_min, rptr_max, wptr_min, wptr_max; // AMDLOG_UNKNOWN, 0: none seen
	// What need not be looked up again: the stream that wrote to it last, as of so many
	// changes.
	uint64_t wrote_stream, wrote_changes;
};

// Smallest and largest of a shape, by number of work-items.
struct amdlog_shapes {
	uint64_t min[3], max[3];
	uint64_t items_min, items_max; // min > max: none seen
};

// Dispatches of a part whose kernel may be known from what came before it; `value`: packets that
// wait for a value, whose queue may be.
struct amdlog_unresolved {
	uint32_t process, queue;
	uint32_t thread; // they take the name it had left; AMDLOG_NONE: that of their kernel_obj
	bool value;
	uint64_t object; // kernel_obj; of values the queue's address
	uint64_t n, torn;
	struct amdlog_span span;
	struct amdlog_shapes grid, workgroup;
};

struct amdlog_kernel {
	const char *name;
	uint32_t len;
	bool wanted; // passes the filter
	uint64_t launches, dispatches;
	uint32_t queues, processes;
	struct amdlog_shapes grid, workgroup;
	struct amdlog_span span;
	// A bit for each of the first 64 queues and processes that it was seen with: saves looking
	// up the pair.
	uint64_t seen_queues, seen_processes;
};

struct amdlog_api {
	const char *name;
	uint32_t len;
	uint64_t calls, returns, errors;
	uint64_t timed, total_us, max_us; // calls with a duration
};

// What went wrong, by what was said: queue aborts, faults and full rings; API calls that failed.
// Facts: [amdlog.errors], [amdlog.api]. Equal messages of a process are one row.
#define ERRORS_MAX      1000
#define ERRORS_TEXT_MAX 240 // longer messages are cut

struct amdlog_error {
	uint32_t process; // index
	bool of_queue;    // else of an API call: "hipMalloc: hipErrorOutOfMemory"
	uint64_t address; // of the queue the message names; AMDLOG_UNKNOWN
	uint64_t count;
	uint64_t first_us, last_us; // first > last: no record had a time
	const char *text;           // and a NUL; owned by the table
	uint32_t len;
};

// Starts as zeros.
struct amdlog_errors {
	struct intern keys;
	struct amdlog_error *v; // by number of the key
	uint32_t n;
	size_t cap;
	uint64_t left_out; // records that found no room
};

// An API line that failed, or a record of kind AMDLOG_QUEUE_ERROR, of a process.
void amdlog_errors_add(struct amdlog_errors *e, uint32_t process, const struct amdlog_record *r);

// Adds a row.
void amdlog_errors_merge(struct amdlog_errors *e, const struct amdlog_error *row);

void amdlog_errors_fini(struct amdlog_errors *e);

struct amdlog_totals {
	uint64_t records, kinds[AMDLOG_NKINDS], styles[AMDLOG_NSTYLES], levels[10];
	uint64_t torn, unnamed, no_pointers, inversions, steps_back, launches;
	uint64_t api_errors, strays; // strays: packets whose queue is not known
	struct amdlog_span span;
	uint64_t rptr_min, rptr_max, wptr_min, wptr_max;
	char hip_version[64]; // "" unknown
	bool several_versions;
};

// Where reading a log is: what the meaning of the next record depends on.
struct summary_state {
	struct amdlog_packet packet; // the last one that was parsed here
	bool prints_swq;             // 6.2 or later: queue lines name rings
	bool has_base;               // the filter's relative times have become absolute
	uint64_t first_us, last_us;  // of the records counted, in the order of the log
	uint64_t stream_changes;     // times a stream was created on a queue
};

// How rows are found. Numbers of names are rows of their tables.
struct summary_keys {
	struct intern kernels, apis; // by name
	struct intern processes;
	struct intern rings, handles; // process and address -> queue
	struct intern streams;        // process and stream -> queue it was created on
	struct intern objects;        // process and kernel_obj -> kernel
};

// Pairs that were seen: distinct ones are counted.
struct summary_pairs {
	struct intern queue_kernels, queue_streams, process_kernels;
};

// Of a part of a log (partial.h): what only the parts before it can tell.
struct summary_part {
	bool resumed; // it is one: something may have come before; set by the caller
	bool is_head; // the last dispatch takes the kernel name that was left before the part
	struct amdlog_unresolved *open;
	uint32_t nopen;
	size_t open_cap;
	struct intern open_keys;    // -> row of `open`
	struct intern head_streams; // pairs: threads, queues they wrote to for unknown streams
};

struct amdlog_summary {
	struct amdlog_filter filter;
	bool want_api;  // count API calls by name
	bool no_memory; // a table was full: something was not counted apart
	struct {
		uint64_t from, to;
	} range; // records that begin in these bytes of the input count; to 0: all do

	struct amdlog_totals totals;
	uint32_t nthreads, nprocesses, nqueues, nkernels, napis;
	struct amdlog_thread *threads; // by the scanner's number
	struct amdlog_process *processes;
	struct amdlog_queue *queues;
	struct amdlog_kernel *kernels;
	struct amdlog_api *apis;
	struct amdlog_errors errors;
	struct keyed_histogram api_times; // microseconds of a call, by row of `apis`

	struct {
		size_t thread, process, queue, kernel, api;
	} cap; // of the tables
	struct summary_state state;
	struct summary_keys keys;
	struct summary_pairs pairs;
	struct summary_part part;
};

// What a record meant once it was placed, for listings.
struct amdlog_event {
	const struct amdlog_record *record;
	const struct amdlog_thread_id *thread_id;
	uint32_t queue;  // of packets and queue lines; AMDLOG_NONE
	uint32_t kernel; // of launches and named dispatches; AMDLOG_NONE
	bool torn;
	const struct amdlog_packet *packet; // of packets, else NULL
	uint64_t stream;       // that a packet is for, or that was made just now; AMDLOG_UNKNOWN
	uint32_t stream_queue; // and its queue; AMDLOG_NONE
};

// Work-items of a grid; AMDLOG_UNKNOWN.
uint64_t amdlog_items(const uint64_t dim[3]);

void amdlog_summary_init(struct amdlog_summary *s, const struct amdlog_filter *filter);
void amdlog_summary_fini(struct amdlog_summary *s);

// Takes one record and says what it was taken for; false when the filter leaves it out. `item`:
// what a block result (block.h) holds of it, or NULL. What `event` points to is there until the
// next call.
bool amdlog_summary_add(struct amdlog_summary *s, const struct amdlog_scan *scan,
			const struct amdlog_record *r, const struct block_item *item,
			struct amdlog_event *event);

// Joins queues known by handle with those known by ring, and sums up the processes.
void amdlog_summary_finish(struct amdlog_summary *s);

// The log has packet lines at all.
bool amdlog_has_packets(const struct amdlog_summary *s);

#endif
