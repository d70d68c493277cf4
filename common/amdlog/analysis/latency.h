// Times from a command's enqueuing until the runtime notices its completion, by kind of command, by
// queue and by kernel; and from setting a handler on a signal until its call.
//
// Facts: [amdlog.commands]. The runtime looks for completion when something waits for it: these are
// latencies as the host sees them, not run times.
#pragma once

#include "common/amdlog/model/summary.h"

#define LATENCY_OPEN_MAX  (1u << 20) // most addresses of commands, and of signals
#define LATENCY_KINDS_MAX 256

struct latency_kind {
	const char *name;
	uint64_t enqueued, completed;
};

// The last command enqueued at an address, or the last handler set on a signal.
struct latency_open {
	uint64_t us; // time of enqueuing or setting; AMDLOG_UNKNOWN: it is over, or was left out
	uint32_t kind, queue, kernel;
};

struct latency_set {
	struct intern keys; // (process, address) -> index in `v`
	struct latency_open *v;
	size_t cap;
};

// Latencies of a log. The caller zeroes it.
struct amdlog_latency {
	struct latency_set commands, signals;
	uint32_t *current; // by thread: index of its last command in commands.v, plus one; 0: none
	size_t ncurrent;
	struct intern kind_names;
	struct latency_kind *kinds; // indexed by the kind's number in kind_names
	size_t kinds_cap;
	struct keyed_histogram by_kind, by_queue, by_kernel; // microseconds until completion
	struct keyed_histogram handlers, handlers_by_queue;  // us until a call; `handlers`: key 0
	uint64_t handlers_set, handlers_called;
	uint64_t unknown; // completions of commands that were not seen enqueued
	bool incomplete;  // a command, kind or signal was left out at a limit
};

// Kinds of records that latencies need, beside PLACED ones.
#define AMDLOG_KINDS_LATENCY \
	(AMDLOG_KIND(COMMAND_ENQUEUED) | AMDLOG_KIND(COMMAND_COMPLETE) | AMDLOG_KIND(SIGNAL))

// Adds a record that amdlog_summary_add placed.
void amdlog_latency_add(struct amdlog_latency *l, const struct amdlog_summary *sum,
			const struct amdlog_event *e);

void amdlog_latency_fini(struct amdlog_latency *l);
