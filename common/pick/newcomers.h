// Finds processes that have opened KFD, for the follower of gpq suspend and for the scheduler.
//
// A scan of sysfs finds them. Drivers that report process starts [kfd.smi] wake root's gpq at
// once; which process started is still found by the scan, since a full event stream loses events.
#pragma once

#include "common/host/loop.h"

// Time between scans: without events a process runs so long before it is found.
#define NEWCOMERS_SCAN_MS 50

struct newcomer {
	pid_t pid;
	ino_t folder; // inode of the folder in sysfs: differs when the PID is used again
	bool done;    // set by the caller: do not look at the process again
	// Set by spec_set_look():
	bool taken;         // its caller has taken the process
	bool of_tree;       // by a SPEC with `tree`
	unsigned misses;    // looks in a row at which it fitted no SPEC
	bool left_out;      // set by the caller: the process fits and was not taken
	bool owns;          // the process has a queue, or newcomers.wait is false
	uint64_t looked_ns; // when newcomer_take() last returned true for the process
};

struct newcomers {
	struct newcomer *v; // owned; processes that have KFD open
	size_t n;
	struct loop events; // events of KFD; descriptor -1: none
	bool again;         // set by the caller of spec_set_look(): also look at those that it took
	bool wait;          // set by the caller: skip processes until they have a queue
	uint64_t next_ns;   // with `wait`: when newcomers_poll() is due
	size_t at;          // index at which newcomers_poll() goes on
};

// Subscribes to the events of KFD: sets n->events, and nothing else.
void newcomers_init(struct newcomers *n);
void newcomers_fini(struct newcomers *n);

// Reads and drops the events that have come.
void newcomers_drain(const struct newcomers *n);

// Lists the processes that have KFD open now in n->v. True if newcomer_take() has some to return.
bool newcomers_scan(struct newcomers *n, uint64_t now_ns);

// With n->wait: looks whether processes without queues have one now, a few at a time. True if
// newcomer_take() has some to return.
bool newcomers_poll(struct newcomers *n, uint64_t now_ns);

// Should the caller look at the process now? If so, marks it as looked at. Processes that do not
// fit are looked at again each second, since their name (exec) or control group may change.
bool newcomer_take(struct newcomer *c, uint64_t now_ns);
