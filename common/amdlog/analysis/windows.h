// Marked windows of time, on the log's clock (CLOCK_MONOTONIC): suspensions, requests, or any
// others.
//
// A file has one window a line, in any mixture of these forms:
//
//   26330000 29080000 held           begin and end in microseconds, or with a unit (26.33s), a name
//   {"begin_us":26330000,"end_us":29080000,"label":"held"}      or begin_ns and end_ns
//   what gpq suspend --ndjson and gpq resume --ndjson print: from the first to the second
//   what gpq bench preempt --samples writes: a cycle, from the request to suspend to resume's
//   return
//
// Other JSON objects, empty lines and lines that begin with # are ignored.
#pragma once

#include "common/amdlog/model/summary.h"

#define WINDOWS_MAX      10000u
#define WINDOW_LABEL_MAX 48u

struct amdlog_window {
	uint64_t begin_us, end_us;    // end_us UINT64_MAX: the file does not say
	char label[WINDOW_LABEL_MAX]; // the name, cut to fit; "": none
	bool held;                    // opened by gpq suspend; gpq resume may end it
};

// The windows of all files. The caller zeroes it.
struct amdlog_windows {
	struct amdlog_window *v; // owned; sorted by begin_us after amdlog_windows_sort
	uint64_t *latest;        // latest[i]: greatest end_us of v[0] to v[i]
	size_t n, cap;
	struct intern held; // pid of a suspended process -> its latest window in `v`
};

enum windows_fault {
	WINDOWS_OK,
	WINDOWS_NO_TIME,   // a line does not begin with two times
	WINDOWS_BACKWARDS, // a window ends before it begins
	WINDOWS_NO_JSON,   // a line begins with { and is no JSON object
	WINDOWS_TOO_MANY,  // the files have more than WINDOWS_MAX windows
};

// Adds the windows of a file. *line: number of the first wrong line.
enum windows_fault amdlog_windows_read(struct amdlog_windows *w, const char *text, size_t len,
				       size_t *line);

// Sorts the windows, after all files are read.
void amdlog_windows_sort(struct amdlog_windows *w);

// The index, at least `from`, of the first window that overlaps [begin, end] in more than one
// point; w->n: none does. The windows must be sorted.
size_t amdlog_windows_next(const struct amdlog_windows *w, size_t from, uint64_t begin,
			   uint64_t end);

void amdlog_windows_fini(struct amdlog_windows *w);

// --- activity of each queue in each window ---

#define MARKED_MAX (1u << 20) // most pairs of a window and a queue

// The activity of one queue in and around one window.
struct marked_cell {
	uint64_t dispatches;          // in the window, borders included
	uint64_t rptr_low, rptr_high; // least, greatest; AMDLOG_UNKNOWN: no packet in the window
	uint64_t backlog_max;         // greatest backlog in the window; AMDLOG_UNKNOWN: no packet
	// Longest time between two dispatches that overlaps the window; AMDLOG_UNKNOWN: none does.
	uint64_t gap_begin_us, gap_end_us;
	uint64_t after_us; // first dispatch at the window's end or later; AMDLOG_UNKNOWN: none
};

// Activity of all queues in all windows. The caller zeroes it and sets `windows`, sorted.
struct amdlog_marked {
	const struct amdlog_windows *windows; // not owned
	struct intern pairs;                  // (window, queue) -> index in `cells`
	struct marked_cell *cells;
	uint64_t *last_us; // by queue: time of the queue's last dispatch; AMDLOG_UNKNOWN: none
	size_t cells_cap, last_cap;
	bool incomplete; // MARKED_MAX was reached
};

// Adds a record, of which amdlog_summary_add made the event `e`.
void amdlog_marked_add(struct amdlog_marked *m, const struct amdlog_event *e);

// The activity of a queue in a window (by index); NULL: the log has none there.
const struct marked_cell *amdlog_marked_of(const struct amdlog_marked *m, size_t window,
					   uint32_t queue);

void amdlog_marked_fini(struct amdlog_marked *m);
