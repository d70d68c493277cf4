// The summary of a log: totals, processes, threads, hardware queues, kernels, API calls.
//
// Facts: [amdlog.queue-lines], [amdlog.kernel-name], [amdlog.queue-address], [amdlog.backlog].
// Sums, minima and maxima do not depend on the order of records, except what one thread logs in
// sequence: a kernel's name, then its dispatch; a stream's creation, then its queue.
#pragma once

#include "common/amdlog/read/block.h"
#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/scan.h"
#include "common/amdlog/model/keyed_histogram.h"

#define AMDLOG_NONE INTERN_NONE

// First and last time, CLOCK_MONOTONIC microseconds; first > last: none seen.
struct amdlog_span {
	uint64_t first_us, last_us;
};

// In a part of a log (partial.h): what a thread did whose meaning depends on earlier parts.
struct thread_head {
	bool dispatch;   // the thread's first dispatch came before any kernel name
	uint64_t object; // kernel_obj of that dispatch
	uint32_t kernel; // kernel known for `object` at that dispatch; AMDLOG_NONE: unknown
	uint32_t line;   // queue of the last queue line before any API line; AMDLOG_NONE: none
	uint64_t made;   // stream whose creation began in an earlier part; AMDLOG_UNKNOWN: none
};

struct amdlog_thread {
	struct amdlog_thread_id id;
	uint64_t records, launches, dispatches, barriers, api_calls, api_errors;
	struct amdlog_span span;
	uint32_t process; // index in the summary
	// The thread's state, which tells what its next records mean.
	uint32_t kernel; // the kernel named last, until its dispatch comes; AMDLOG_NONE: unknown
	uint64_t stream; // stream of the next dispatch; AMDLOG_UNKNOWN: unknown
	bool by_command; // `stream` comes from a command line, which outlives an API call
	bool creating;   // the thread is within hipStreamCreate*
	uint32_t queue;  // queue of the last queue line from hipStreamCreate* on; AMDLOG_NONE: none
	bool knows_kernel, knows_stream; // `kernel`, `stream` do not depend on earlier parts
	struct thread_head head;
};

struct amdlog_process {
	int64_t pid;           // -1: the log does not say
	uint32_t source, host; // see struct amdlog_thread_id
	uint64_t tid;          // a thread whose pid earlier parts may know; else AMDLOG_UNKNOWN
	uint64_t records, launches, dispatches, barriers, api_calls, api_errors;
	uint32_t threads, queues, kernels;
	struct amdlog_span span;
};

struct amdlog_queue {
	uint32_t process;
	uint32_t merged; // the row of the same queue that this row was added to; AMDLOG_NONE: none
	uint64_t hwq, swq, size;
	int64_t id;         // ROCr's number of the queue; -1: unknown
	bool ids_differ;    // several queues in turn had this address
	bool made;          // priority and size come from a creation line, else from packets
	bool handle_unsure; // more than one row could be `handle`
	int8_t priority;    // 0 low, 1 normal, 2 high, 3 medium (of packets alone), -1 unknown
	uint32_t handle;  // row of the same queue, known by its hsa_queue_t only; AMDLOG_NONE: none
	uint64_t records; // packets and queue lines that name the queue
	uint64_t dispatches, barriers, barrier_values;
	uint64_t cut; // packets that are cut
	uint64_t created, deleted;
	uint32_t kernels, streams;
	uint32_t claims;                 // rows whose `handle` is this row
	struct amdlog_span span;         // first and last time of the queue's packets
	uint64_t created_us, deleted_us; // first creation, last deletion, or AMDLOG_UNKNOWN
	uint64_t backlog_max, backlog_sum, backlog_n;
	uint64_t inversions;                             // packets with rptr ahead of wptr
	uint64_t rptr_min, rptr_max, wptr_min, wptr_max; // min > max: none seen
	// The last stream that wrote to the queue, and state.stream_changes then: saves a look-up.
	uint64_t wrote_stream, wrote_changes;
};

// The smallest and the largest shape (grid or workgroup), by number of work-items.
struct amdlog_shapes {
	uint64_t min[3], max[3];
	uint64_t items_min, items_max; // min > max: none seen
};

// In a part: dispatches whose kernel only earlier parts may know or, if `value`, BarrierValue
// packets whose queue only earlier parts may know.
struct amdlog_unresolved {
	uint32_t process, queue;
	uint32_t thread; // thread that may have named the kernel before the part, or AMDLOG_NONE
	bool value;
	uint64_t object; // kernel_obj; if `value`, the queue's address
	uint64_t n, cut;
	struct amdlog_span span;
	struct amdlog_shapes grid, workgroup;
};

struct amdlog_kernel {
	const char *name;
	uint32_t len;
	bool wanted; // the filter picks this kernel
	uint64_t launches, dispatches;
	uint32_t queues, processes;
	struct amdlog_shapes grid, workgroup;
	struct amdlog_span span;
	uint64_t seen_queues, seen_processes; // a bit for each of the first 64 that used the kernel
};

struct amdlog_api {
	const char *name;
	uint32_t len;
	uint64_t calls, returns, errors;
	uint64_t timed, total_us, max_us; // returns with a duration: number, sum, maximum
};

// Queue aborts, faults, full rings, and API calls that failed: a row for equal messages of a
// process. Facts: [amdlog.errors], [amdlog.api].
#define ERRORS_MAX      1000
#define ERRORS_TEXT_MAX 240 // longer messages are cut

struct amdlog_error {
	uint32_t process; // index in the summary
	bool of_queue;    // a queue error; else a failed API call: "hipMalloc: hipErrorOutOfMemory"
	uint64_t address; // address of the queue that the message names; AMDLOG_UNKNOWN: none
	uint64_t count;
	uint64_t first_us, last_us; // first > last: no record had a time
	const char *text;           // NUL-terminated; owned by the table
	uint32_t len;
};

// The errors of a log. The caller zeroes it.
struct amdlog_errors {
	struct intern keys;
	struct amdlog_error *v; // indexed by the number in `keys`
	uint32_t n;
	size_t cap;
	uint64_t left_out; // failures whose row would be beyond ERRORS_MAX
};

// Counts the return of a failed API call, or a record of kind AMDLOG_QUEUE_ERROR.
void amdlog_errors_add(struct amdlog_errors *e, uint32_t process, const struct amdlog_record *r);

// Adds a row to the row with the same process and text. A new row gets a copy of the text.
void amdlog_errors_merge(struct amdlog_errors *e, const struct amdlog_error *row);

void amdlog_errors_fini(struct amdlog_errors *e);

struct amdlog_totals {
	uint64_t records, kinds[AMDLOG_NKINDS], styles[AMDLOG_NSTYLES], levels[10];
	uint64_t cut, unnamed, no_pointers, inversions, steps_back, launches;
	uint64_t api_errors, strays; // strays: packets whose queue is not known
	struct amdlog_span span;
	uint64_t rptr_min, rptr_max, wptr_min, wptr_max;
	char hip_version[64]; // "" unknown
	bool several_versions;
};

// What the meaning of the next record depends on.
struct summary_state {
	struct amdlog_packet packet; // for a record of which no block result has the packet
	bool prints_swq;             // SWq was seen (ROCm 6.2 or later): queue lines name rings
	bool has_base;               // the filter's relative times have become absolute
	uint64_t first_us, last_us;  // times of the first and of the latest record
	struct amdlog_span left;     // of records that the filter left out
	uint64_t stream_changes;     // how often a stream was created on a queue
};

// How rows are found. In `kernels` and `apis`, the number of a name is its row.
struct summary_keys {
	struct intern kernels, apis; // by name
	struct intern processes;
	struct intern rings, handles; // (process, address) -> queue
	struct intern streams;        // (process, stream) -> queue that the stream was created on
	struct intern objects;        // (process, kernel_obj) -> kernel
};

// Pairs that were seen, to count the distinct kernels and streams of a queue or process.
struct summary_pairs {
	struct intern queue_kernels, queue_streams, process_kernels;
};

// In a part of a log (partial.h): what only earlier parts can tell.
struct summary_part {
	bool resumed; // this is a part: set by the caller
	bool is_head; // the last dispatch may have a kernel that its thread named before the part
	struct amdlog_unresolved *open;
	uint32_t nopen;
	size_t open_cap;
	struct intern open_keys;    // keys of the rows of `open`
	struct intern head_streams; // (thread, 2 * queue + dispatch): wrote packets, stream unknown
};

struct amdlog_summary {
	struct amdlog_filter filter;
	bool want_api;  // count API calls by name
	bool no_memory; // a table reached its limit: something has no row of its own
	struct {
		uint64_t from, to;
	} range; // only records that begin in bytes [from, to) of the input count; to 0: all

	struct amdlog_totals totals;
	uint32_t nthreads, nprocesses, nqueues, nkernels, napis;
	struct amdlog_thread *threads; // by the scanner's thread number
	struct amdlog_process *processes;
	struct amdlog_queue *queues;
	struct amdlog_kernel *kernels;
	struct amdlog_api *apis;
	struct amdlog_errors errors;
	struct keyed_histogram api_times; // durations in microseconds, by row of `apis`

	struct {
		size_t thread, process, queue, kernel, api;
	} cap; // rows that the tables have room for
	struct summary_state state;
	struct summary_keys keys;
	struct summary_pairs pairs;
	struct summary_part part;
};

// A record, and its queue, kernel, packet and stream.
struct amdlog_event {
	const struct amdlog_record *record;
	const struct amdlog_thread_id *thread_id;
	uint32_t queue;  // queue of a packet or queue line; AMDLOG_NONE: none
	uint32_t kernel; // kernel of a launch or dispatch; AMDLOG_NONE: unknown
	bool cut;
	const struct amdlog_packet *packet; // NULL: the record is no packet
	uint64_t stream;       // stream of a packet, or that the record created, or AMDLOG_UNKNOWN
	uint32_t stream_queue; // queue of `stream`; AMDLOG_NONE: unknown
};

// The product of a grid's dimensions; AMDLOG_UNKNOWN: they are unknown, or it overflows.
uint64_t amdlog_items(const uint64_t dim[3]);

void amdlog_summary_init(struct amdlog_summary *s, const struct amdlog_filter *filter);
void amdlog_summary_fini(struct amdlog_summary *s);

// Adds a record and fills *event, valid until the next call. False: the filter or the range leaves
// the record out. `item`: the record in a block result (block.h), or NULL.
bool amdlog_summary_add(struct amdlog_summary *s, const struct amdlog_scan *scan,
			const struct amdlog_record *r, const struct block_item *item,
			struct amdlog_event *event);

// After the last record, joins queues known by handle and by ring, and sums up the processes.
void amdlog_summary_finish(struct amdlog_summary *s);

bool amdlog_has_packets(const struct amdlog_summary *s);
