// One side of the experiment: a command, the KFD processes that it starts, and those that selectors
// choose, also later ones.
//
// The processes are a group (holder/group.h). If gpq attaches to the group, all of them are
// suspended side by side, with new queues as they appear; whatever dies, they run again.
#pragma once

#include "common/bench/child.h"
#include "common/holder/group.h"
#include "common/pick/spec_set.h"

// A side. Also its number in a spec_set: a process that fits SPECs of both sides is online.
enum side { SIDE_ONLINE, SIDE_OFFLINE };
extern const char *const side_name[3]; // names of the sides, ended by NULL

struct workload {
	enum side side;
	const char *command;          // command for sh -c; NULL: the processes run already
	const struct spec_set *specs; // SPECs of both sides
	struct child child;           // runs the command
	bool begun;                   // processes that fit the side's SPECs are being added
	uint64_t child_start;         // start time of the child: /proc/PID/stat, field 22
	struct newcomers newcomers;
	struct group group;
	uint64_t renew_ns; // when to renew the deadline of the hold
};

void workload_init(struct workload *s, enum side side, const char *command,
		   const struct spec_set *specs);

// From now on attaches to processes of the side. `grace`: grace period in units of 1000 GPU clocks.
void workload_attach(struct workload *s, uint64_t grace);

// Looks for processes and queues that came or went: a few reads of sysfs. After this and after
// workload_hold(), group_failed() tells of living processes that cannot be suspended, resumed or
// watched.
void workload_look(struct workload *s);

// Suspends or resumes all processes at once, and waits for the answers. After a failure some may
// stay suspended until group_release().
void workload_hold(struct workload *s, bool hold);

// Finds a process with queues that started after the command and is not on this side, such as a
// worker that a daemon started for the command. Returns its pid and sets `name`; 0: none.
pid_t workload_stranger(const struct workload *s, char name[64]);

// Frees *s. Call child_end() before.
void workload_fini(struct workload *s);
