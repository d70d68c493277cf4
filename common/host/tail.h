// A file that grows, read as `tail -F` does: through truncation and rotation, and before it exists.
#ifndef GPQ_HOST_TAIL_H
#define GPQ_HOST_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tail {
	const char *name; // not owned
	int fd;           // -1: it does not exist (yet)
	uint64_t at;      // bytes read of it
	bool in_line;     // they end within a line
	uint64_t cuts;    // times it was truncated or another file took its place
	// Waits so many milliseconds. A result below 0 ends the reading.
	int (*wait)(int ms);
};

// False with errno when it exists but cannot be opened.
bool tail_open(struct tail *t, const char *name, int (*wait)(int ms));
void tail_close(struct tail *t);

// As read(2), but waits for more at the end of the file. After truncation or rotation within a line
// it returns a newline first. -1 with EINTR if `wait` ends the reading.
ssize_t tail_read(struct tail *t, char *to, size_t n);

#endif
