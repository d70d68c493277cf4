// Requests and throughput of a program from its AMD log, for the experiment.
//
// A request is what a thread launches or copies between two calls that wait for the GPU; it ends
// when such a call returns. Throughput is how far the read indices in packet lines advance (HIP 6.2
// and later). Facts: [amdlog.packets], [amdlog.api], [amdlog.file].
#pragma once

#include "common/stats/samples.h"

struct ablog {
	uint64_t from_us, until_us; // the range of time to read, CLOCK_MONOTONIC
	struct samples latency;     // owned: latencies in ns of requests within the range
	struct samples starts;      // owned: when they began, ns
	uint64_t records;           // lines within the range
	uint64_t packets;           // AQL packets taken in the range; 0: no read indices logged
	unsigned files;
};

// Adds the logs `path` and `path`_PID. Returns 0, or -1 with errno, ENOENT if there are none.
int ablog_add(struct ablog *l, const char *path);
