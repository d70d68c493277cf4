// The clock of times inside gpq.
#pragma once

#include "common/host/std.h"

#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// CLOCK_MONOTONIC in nanoseconds. Safe in a signal handler.
static inline uint64_t clock_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

// CLOCK_MONOTONIC in nanoseconds, `ms` milliseconds from now.
static inline uint64_t clock_in_ms(uint64_t ms)
{
	return clock_ns() + ms * 1000000;
}

// Processor time that this process has used, all threads and the system's part, in nanoseconds.
static inline uint64_t clock_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}
