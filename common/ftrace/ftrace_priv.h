// Shared by the files that read a kernel trace: line.c, join.c, tie.c, suspensions.c,
// read.c.
#pragma once

#include "common/ftrace/ftrace.h"

// The rest of a line, not read yet.
struct rest {
	const char *at, *end;
};

// Matches the begin of *s with `pattern`, in which @ is a decimal and % a hexadecimal number, read
// into the next uint64_t *, and ~ is any blanks or none. Returns true and moves s->at behind the
// match, or false.
bool ftrace_take(struct rest *s, const char *pattern, ...);

// join.c: sets `processes`, `queues` and the process of each record.
void ftrace_find_processes(struct ftrace *f);

// Returns the index of the process `tgid` or, if that is -1, of a process known by its thread `tid`
// alone. Adds a new one.
uint32_t ftrace_add_process(struct ftrace *f, int64_t tgid, int64_t tid);

// Matches a process of the trace with one of the log (indices), unless one of them has a match.
void ftrace_match_process(struct ftrace *f, uint32_t process, uint32_t log, const char *by);

// Of suspensions.c, called after ftrace_find_processes(): sets `holds` and `marks`.
void ftrace_find_holds(struct ftrace *f);
