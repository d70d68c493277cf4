// A file that the user names on the command line.
#pragma once

#include "common/host/std.h"

// Returns the descriptor of standard input, after a hint if that is a terminal: waiting for it
// looks like work.
int input_stdin(void);

// Reads the whole file into `b`; "-" is standard input. Returns GPQ_OK, or the exit status after a
// message.
int input_read(struct buf *b, const char *name);

// Chooses the root (host_set_root()). Returns GPQ_OK, or the exit status after a message, in which
// `what` stands before the name: "sysroot ".
int input_root(const char *root, const char *what);

// Returns advice for a file that cannot be read, by its errno value `error`; NULL: no advice.
const char *input_next(int error);

// Returns the file's name for messages: "standard input" for "-".
const char *input_name(const char *name);

// Calls `take` with each line of the file, without its newline, until `take` returns other than 0.
// Returns that value; 0 at the end; -1 with errno if the file cannot be read.
typedef int input_line_fn(void *arg, const char *name, uint64_t number, char *line, size_t len);
int input_lines(const char *name, input_line_fn *take, void *arg);
