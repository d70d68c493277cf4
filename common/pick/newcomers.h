// Processes that have KFD open, as they come: what a follower and the scheduler look at.
//
// A scan of sysfs finds them; for root the driver's events of beginning processes, where it has
// them, say at once that one came. Which one is looked up by the scan: the events are lost when
// their stream is full.
#ifndef GPQ_PICK_NEWCOMERS_H
#define GPQ_PICK_NEWCOMERS_H

#include "common/host/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// How long a process runs at most before a scan finds it, where the driver does not tell of it.
#define NEWCOMERS_SCAN_MS 50

// The inode of its folder in sysfs tells a process from a later one of its PID.
struct newcomer {
	pid_t pid;
	ino_t folder;
	bool done;     // by the caller: not to be looked at again
	bool left_out; // by the caller: it fits, and was not taken
	bool owns;     // a queue, or need not own one
	uint64_t looked_ns;
};

struct newcomers {
	struct newcomer *v; // owned; those that have KFD open
	size_t n;
	struct loop events; // of the driver; its descriptor -1: none
	bool wait;          // by the caller: who owns no queue yet is not looked at
	uint64_t next_ns;   // `wait`: when newcomers_poll() is due
	size_t at;          // where it goes on
};

// Subscribes to the driver's events. *n must be zeroed.
void newcomers_init(struct newcomers *n);
void newcomers_fini(struct newcomers *n);

// Reads the events that have come.
void newcomers_drain(const struct newcomers *n);

// Looks who has KFD open now. True when there is somebody to look at.
bool newcomers_scan(struct newcomers *n, uint64_t now_ns);

// `wait`: looks for the first queues of those that own none, a few at a time. True when there is
// somebody to look at.
bool newcomers_poll(struct newcomers *n, uint64_t now_ns);

// Is it to be looked at? One that did not fit is again after a second, since an exec changes names,
// a move the control group. Marks it as looked at.
bool newcomer_take(struct newcomer *c, uint64_t now_ns);

#endif
