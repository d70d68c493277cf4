// The scanner: bytes in, log records out. It streams, carries partial lines over, allocates nothing
// per line and holds a bounded amount of memory whatever the input (a line may be endless).
//
//   while ((room = amdlog_scan_room(s, &size)) && (n = read(fd, room, size)) > 0)
//           amdlog_scan_fed(s, n);
//   amdlog_scan_end(s);
//
// The records do not depend on how the input is cut into reads.
#ifndef GPQ_AMDLOG_READ_SCAN_H
#define GPQ_AMDLOG_READ_SCAN_H

#include "common/amdlog/read/threads.h"

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

struct amdlog_scan;

// NULL when memory is short.
struct amdlog_scan *amdlog_scan_new(const struct amdlog_sink *sink);
void amdlog_scan_free(struct amdlog_scan *s);

// Where the next bytes of the input go, and how many may be put there (at least 64 KiB).
char *amdlog_scan_room(struct amdlog_scan *s, size_t *size);
void amdlog_scan_fed(struct amdlog_scan *s, size_t n);

// The input ends here; another may follow (its threads without pid are others then).
void amdlog_scan_end(struct amdlog_scan *s);

// The counts, and setting them back when what was read was context only.
const struct amdlog_counts *amdlog_scan_counts(const struct amdlog_scan *s);
void amdlog_scan_recount(struct amdlog_scan *s, const struct amdlog_counts *counts);
const struct amdlog_who *amdlog_scan_who(const struct amdlog_scan *s, uint32_t *n);

// Offset of the next byte in the input; amdlog_scan_from: of its first one, when that is not 0.
uint64_t amdlog_scan_offset(const struct amdlog_scan *s);
void amdlog_scan_from(struct amdlog_scan *s, uint64_t offset);

// Whose records they are.
struct amdlog_threads *amdlog_scan_threads(struct amdlog_scan *s);

// Records that do not name their process are of this one (-1: unknown), as the name of an
// AMD_LOG_LEVEL_FILE says.
void amdlog_scan_assume(struct amdlog_scan *s, int64_t pid);

// No line is open: the next byte begins one.
bool amdlog_scan_at_line(const struct amdlog_scan *s);

// Whole lines, the last of which ends with a newline, where they lie: nothing is copied. INDEX_PAD
// bytes behind them may be read. Only while amdlog_scan_at_line.
void amdlog_scan_lines(struct amdlog_scan *s, const char *text, size_t len);

// Lines that others have read instead.
void amdlog_scan_skip(struct amdlog_scan *s, const struct amdlog_counts *seen);

// A buffer, fed in pieces of `piece` bytes (0: as large as they fit).
void amdlog_scan_feed(struct amdlog_scan *s, const char *data, size_t len, size_t piece);

// All of a buffer, fed in pieces of `piece` bytes (0: as large as they fit), then the end.
void amdlog_scan_buffer(struct amdlog_scan *s, const char *data, size_t len, size_t piece);

#endif
