// One side of the experiment: a command, the KFD processes it starts, those that selectors choose,
// and their queues.
//
// Processes and queues that appear later belong to it, too. Where the side is attached to, its
// processes are a group (holder/group.h): all of them are suspended side by side, new queues are
// suspended as they appear, and whatever dies, they run again.
#ifndef GPQ_BENCH_WORKLOAD_H
#define GPQ_BENCH_WORKLOAD_H

#include "common/bench/child.h"
#include "common/holder/group.h"
#include "common/pick/spec_set.h"

#include <stdbool.h>
#include <stdint.h>

// The number of a side's SPECs. Who fits both is online.
enum side { SIDE_ONLINE, SIDE_OFFLINE };
extern const char *const side_name[3]; // ended by NULL

struct workload {
	enum side side;
	const char *command;          // for sh -c; NULL: it runs already
	const struct spec_set *specs; // of both sides
	struct child child;           // to be started first, unless what it is about runs already
	bool begun;                   // its processes are looked for
	uint64_t child_start;         // /proc/PID/stat field 22 of it
	struct newcomers newcomers;
	struct group group;
	uint64_t renew_ns; // when the hold has to be renewed
};

void workload_init(struct workload *s, enum side side, const char *command,
		   const struct spec_set *specs);

// Its processes, and those that come, are to be attached to; `grace` of suspending, 1000 GPU
// clocks.
void workload_attach(struct workload *s, uint64_t grace);

// Looks for processes and queues that came or went. Costs a few reads of sysfs. Afterwards, as
// after the next one, group_failed() tells of a process that lives and cannot be suspended, resumed
// or watched.
void workload_look(struct workload *s);

// Suspends all of its processes at the same time, or resumes them; returns when all are. After a
// failure some may be suspended, until group_release().
void workload_hold(struct workload *s, bool hold);

// A process with queues that began after the command and is not among the side's: perhaps what the
// command had a daemon start. Its pid and name; 0: none.
pid_t workload_stranger(const struct workload *s, char name[64]);

// Frees all but what ran: end the command first.
void workload_fini(struct workload *s);

#endif
