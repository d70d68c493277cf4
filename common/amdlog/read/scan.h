// The scanner: bytes in, log records out. It streams, carries partial lines over, allocates nothing
// per line and holds a bounded amount of memory whatever the input (a line may be endless).
//
//   while ((n = read(fd, data, size)) > 0)
//           amdlog_scan_feed(s, data, n);
//   amdlog_scan_end(s);
//
// The records do not depend on how the input is cut into reads.
#pragma once

#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/parse.h"

// --- threads, numbered in the order of their first records ---

// Threads beyond this many are counted together as number 0, pid and tid unknown.
#define AMDLOG_THREADS_MAX 65536

struct amdlog_threads {
	int64_t assumed; // process of records that name none; -1: unknown
	uint32_t source; // number of the input; threads without a process differ between inputs
	struct amdlog_thread_id *v;
	uint32_t n;
	size_t cap;
	struct intern keys;
	struct intern by_tid; // (tid, source) -> thread; ROCm up to 4.5: some lines name no process
};

// The number of the thread that wrote a record.
uint32_t threads_number(struct amdlog_threads *t, const struct amdlog_writer *w);

// --- the scanner ---

struct amdlog_counts {
	uint64_t bytes, lines; // a last line without newline counts
	uint64_t records;
	uint64_t foreign; // lines that do not begin with a record
	uint64_t glued;   // records that begin within a line: records = lines - foreign + glued
	uint64_t unended; // inputs whose last byte is no newline
};

struct amdlog_sink {
	void *ctx;
	// The record and its text are valid during the call.
	void (*record)(void *ctx, const struct amdlog_record *r);
	// Takes text without a record: a line, or the text in front of a line's first record (then
	// `ended` is false). May be NULL.
	void (*foreign)(void *ctx, const char *text, size_t len, bool ended);
};

struct amdlog_scan {
	struct amdlog_sink sink;
	struct amdlog_counts counts; // of the scan so far; the caller may reset them
	struct amdlog_threads threads;
	uint64_t base;    // place of `text` in the input
	const char *text; // the buffer, or the lines of a caller
	size_t fill;      // bytes in the buffer

	// The line at the front of the buffer, and its segment (scan.c).
	bool in_line;  // the line began in bytes that are gone
	bool line_rec; // the line begins with a record
	bool seg_rec;  // the segment is a record
	bool seg_done; // the segment is too long: its beginning was handed out, the rest is dropped
	char buf[];
};

struct amdlog_scan *amdlog_scan_new(const struct amdlog_sink *sink);
void amdlog_scan_free(struct amdlog_scan *s);

void amdlog_scan_feed(struct amdlog_scan *s, const char *data, size_t len);

// Ends the input. Another input may follow; its threads without a pid are other threads.
void amdlog_scan_end(struct amdlog_scan *s);

// True if no line is open: the next byte begins a line.
bool amdlog_scan_at_line(const struct amdlog_scan *s);

// Scans whole lines, the last with its newline, without a copy. AMDLOG_PAD bytes behind them may be
// read. Only while amdlog_scan_at_line.
void amdlog_scan_lines(struct amdlog_scan *s, const char *text, size_t len);
