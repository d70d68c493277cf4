// A file that the user names on the command line.
#ifndef GPQ_CLI_INPUT_H
#define GPQ_CLI_INPUT_H

#include "common/host/buf.h"

// Reads the whole file into `b`; "-" is standard input. GPQ_OK, or the exit status after a message.
int input_read(struct buf *b, const char *name);

// What to do about a file that cannot be read; NULL: no advice.
const char *input_next(int error);

// How messages call it.
const char *input_name(const char *name);

// Calls `take` with each line of the file, without its end, until it returns other than 0. That, 0,
// or -1 with errno when the file cannot be read.
typedef int input_line_fn(void *arg, const char *name, uint64_t number, char *line, size_t len);
int input_lines(const char *name, input_line_fn *take, void *arg);

#endif
