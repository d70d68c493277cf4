// The scanner: bytes in, log records out. It streams, carries partial lines over, allocates nothing
// per line and holds a bounded amount of memory whatever the input (a line may be endless).
//
//   while ((n = read(fd, data, size)) > 0)
//           amdlog_scan_feed(s, data, n);
//   amdlog_scan_end(s);
//
// The records do not depend on how the input is cut into reads.
#ifndef GPQ_AMDLOG_READ_SCAN_H
#define GPQ_AMDLOG_READ_SCAN_H

#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/parse.h"

// --- numbers of the threads that a log names, in the order of their first records ---

// Other threads than this many are counted together, as pid and tid unknown: number 0.
#define AMDLOG_THREADS_MAX 65536

struct amdlog_threads {
	int64_t assumed; // process of records that name none; -1
	uint32_t source; // number of the input: threads without a process of several are others
	struct amdlog_thread_id *v;
	uint32_t n;
	size_t cap;
	struct intern keys;
	struct intern by_tid; // 3.7 to 4.5: some lines have the thread only
};

// The number of the thread that wrote a record, a new one perhaps.
uint32_t threads_number(struct amdlog_threads *t, const struct amdlog_writer *w);

// --- the scanner ---

struct amdlog_counts {
	uint64_t bytes, lines; // a last line without newline counts
	uint64_t records;
	uint64_t
		foreign; // lines that do not begin with a record; lines - foreign + glued = records
	uint64_t glued;  // records that begin within a line
	uint64_t unended; // inputs whose last byte is no newline
};

struct amdlog_sink {
	void *ctx;
	// The record and its text are there for the time of the call.
	void (*record)(void *ctx, const struct amdlog_record *r);
	// Text that is no record: a line without prefix, or what stands in front of the first
	// record of a line (then not ended by a newline). May be NULL.
	void (*foreign)(void *ctx, const char *text, size_t len, bool ended);
};

struct amdlog_scan {
	struct amdlog_sink sink;
	struct amdlog_counts counts; // may be set back when what was read was context only
	struct amdlog_threads threads;
	uint64_t base;    // offset of `text` in the input
	const char *text; // the buffer, or the lines of a caller
	size_t fill;      // bytes in the buffer

	// The line at the front of the buffer.
	bool in_line;  // its beginning was in an earlier block
	bool line_rec; // it begins with a record
	bool seg_rec;  // the segment at the front of the buffer is a record
	bool seg_done; // and was handed out already: it is too long, and skipped
	char buf[];
};

struct amdlog_scan *amdlog_scan_new(const struct amdlog_sink *sink);
void amdlog_scan_free(struct amdlog_scan *s);

// The next bytes of the input.
void amdlog_scan_feed(struct amdlog_scan *s, const char *data, size_t len);

// The input ends here; another may follow (its threads without pid are others then).
void amdlog_scan_end(struct amdlog_scan *s);

// No line is open: the next byte begins one.
bool amdlog_scan_at_line(const struct amdlog_scan *s);

// Whole lines, the last of which ends with a newline, where they lie: nothing is copied.
// AMDLOG_PAD bytes behind them may be read. Only while amdlog_scan_at_line.
void amdlog_scan_lines(struct amdlog_scan *s, const char *text, size_t len);

#endif
