// Raw samples: NDJSON, one line a cycle, each with everything needed to understand it alone.
//
// One table of members writes and reads them.
#ifndef GPQ_BENCH_RAW_H
#define GPQ_BENCH_RAW_H

#include "common/bench/context.h"
#include "common/bench/cycle.h"
#include "common/host/buf.h"

#include <stdbool.h>

// Appends the line, line end included.
void raw_write(struct buf *out, const struct bench_context *context, const struct cycle *c);

// One line. False when it is not a cycle of a schema that is known.
bool raw_read(const char *line, size_t len, struct bench_context *context, struct cycle *c);

// Why a line is no sample, "FILE line 7: not JSON".
void raw_why_not(char why[160], const char *path, uint64_t number, const char *line, size_t len);

// A file that samples are written to as they come.
struct raw_file {
	int fd; // -1: none
	const char *path;
	uint64_t lines;
	off_t size;      // of the whole lines in it
	struct buf line; // the next one
};

// Creates or empties the file; NULL: lines are dropped. 0, or -1 with errno.
int raw_file_open(struct raw_file *f, const char *path);

// Writes the next line and empties it. 0, or -1 with errno: then the file ends with the last whole
// line.
int raw_file_put(struct raw_file *f);

// 0, or -1 with errno: what was written may not be on disk.
int raw_file_close(struct raw_file *f);

#endif
