// gpq bench preempt --breakdown: a trace of the kernel during the cycles, and what it says of each.
#pragma once

#include "common/bench/cycle.h"
#include "common/ftrace/live.h"

// Zeroed: nothing is traced.
struct steps {
	bool open;
	struct live_trace trace;
	struct buf text; // of the trace, since the last cycle
	uint64_t cycles; // suspensions that were asked for, one of each process in a cycle
	uint64_t found;  // those of them that are in the trace
};

// Begins to trace. Returns the exit status, after a message if it is a failure.
int steps_open(struct steps *s);

// Sets unmap_ns, save_ns, map_ns and rest_ns of the cycle that has just ended.
void steps_take(struct steps *s, const struct attached *a, struct cycle *v);

// Ends the trace and removes it. Returns `status` or, if that is GPQ_OK, what failed of the trace.
int steps_close(struct steps *s, int status);
