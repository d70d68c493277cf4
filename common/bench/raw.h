// Raw samples: NDJSON, one line a cycle, each with everything needed to understand it alone.
//
// The same table of fields writes and reads them, and names the metrics that are summed up.
#ifndef GPQ_BENCH_RAW_H
#define GPQ_BENCH_RAW_H

#include "common/bench/context.h"
#include "common/bench/cycle.h"
#include "common/host/buf.h"

#include <stdbool.h>

#define RAW_SCHEMA 1 // changes when a field changes its meaning

// Appends the line, line end included.
void raw_write(struct buf *out, const struct bench_context *context, const struct cycle *c);

// One line. False when it is no cycle of this schema; `why` then says what is wrong.
bool raw_read(const char *line, size_t len, struct bench_context *context, struct cycle *c,
	      const char **why);

// A file that samples are written to as they come.
struct raw_file {
	int fd; // -1: none
	const char *path;
	uint64_t lines;
	off_t size; // of the whole lines in it
	struct buf line;
};

// Creates or empties the file. 0, or -1 with errno.
int raw_file_open(struct raw_file *f, const char *path);

// Adds a line. 0, or -1 with errno: then the file ends with the last whole line.
int raw_file_add(struct raw_file *f, const struct bench_context *context, const struct cycle *c);

// The same of any line, newline included.
int raw_file_line(struct raw_file *f, const struct buf *line);

// 0, or -1 with errno: what was written may not be on disk.
int raw_file_close(struct raw_file *f);

#endif
