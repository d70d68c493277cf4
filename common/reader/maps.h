// What a process has mapped: lines of /proc/PID/maps.
//
// Facts: proc(5). A file may have any name; one that was deleted has " (deleted)" behind it.
#pragma once

#include "common/host/std.h"

// A line of /proc/PID/maps about a file. Memory that processes share is a file, too: memfds, shared
// anonymous memory, buffers of GPUs.
struct mapping {
	uint64_t start, end, offset;
	uint64_t device, inode; // device: as major << 32 | minor
	const char *path;       // `len` bytes without a NUL, and without " (deleted)"
	size_t len;
	bool deleted;
	bool shared; // with others, and this process can write there
	bool executable;
};

// Parses a line; *next: the line after it. False: the line is not about a file.
bool mapping_parse(const char *line, const char **next, struct mapping *m);

// Opens for reading the file that a process has mapped from `start` to `end`, even if the path is
// another file's by now (as root); else, or with start 0, the file at the path, in the root
// directory of the process. "": there is no path. Only for the reader's child (reader.h): opening
// may block. Returns -1 with errno: ENOENT there is no such file, or it is no regular one.
int mapping_open(pid_t pid, uint64_t start, uint64_t end, const char *path);
