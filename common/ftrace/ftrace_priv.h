// Between the files of this room: the steps of ftrace_read().
#ifndef GPQ_FTRACE_FTRACE_PRIV_H
#define GPQ_FTRACE_FTRACE_PRIV_H

#include "common/ftrace/ftrace.h"

// join.c: sets `processes`, `queues`, and the process of each record.
void ftrace_find_processes(struct ftrace *f);

// The process of this number; added where there is none.
uint32_t ftrace_add_process(struct ftrace *f, int64_t pid);

// holds.c: after ftrace_find_processes(): sets `holds` and `marks`.
void ftrace_find_holds(struct ftrace *f);

#endif
