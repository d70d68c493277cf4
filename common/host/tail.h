// A file that grows, read as `tail -F` does: through truncation and rotation, and before it exists.
#pragma once

#include "common/host/std.h"

struct tail {
	const char *name; // not owned
	int fd;           // -1: the file does not exist (yet)
	uint64_t at;      // bytes read of the file
	bool in_line;     // the bytes read end within a line
	uint64_t cuts;    // times that the file was truncated or replaced
	// Waits `ms` milliseconds for the file to grow. A result below 0 ends the reading.
	int (*wait)(int ms);
};

// Opens the file, which need not exist yet. False with errno if the file exists but cannot be
// opened.
bool tail_open(struct tail *t, const char *name, int (*wait)(int ms));
void tail_close(struct tail *t);

// As read(2), but waits for more at the end of the file. After truncation or rotation within a line
// it returns a newline first. -1 with EINTR if `wait` ends the reading.
ssize_t tail_read(struct tail *t, char *to, size_t n);
