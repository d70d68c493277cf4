// Steps of ftrace_read() that other files of this room do.
#ifndef GPQ_FTRACE_FTRACE_PRIV_H
#define GPQ_FTRACE_FTRACE_PRIV_H

#include "common/ftrace/ftrace.h"

// What is left of a line.
struct rest {
	const char *at, *end;
};

// Takes text that has the form of `pattern`, in which @ is a decimal and % a hexadecimal number,
// read into the next uint64_t *, and ~ is any blanks. False: the text differs, and *s stays.
bool ftrace_take(struct rest *s, const char *pattern, ...);

// join.c: sets `processes`, `queues` and the process of each record.
void ftrace_find_processes(struct ftrace *f);

// The process `tgid`, or, with tgid -1, of the thread `tid` alone; added if it is new.
uint32_t ftrace_add_process(struct ftrace *f, int64_t tgid, int64_t tid);

// suspensions.c, after ftrace_find_processes(): sets `holds` and `marks`.
void ftrace_find_holds(struct ftrace *f);

#endif
