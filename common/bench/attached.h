// The processes that are measured: held together, each by its holder (holder/group.h), as gpq
// suspend and gpq sched do it. Their queues' indices are read from here.
#ifndef GPQ_BENCH_ATTACHED_H
#define GPQ_BENCH_ATTACHED_H

#include "common/holder/group.h"

#include <stdbool.h>
#include <stdint.h>

#define ATTACHED_MAX 128 // processes

enum attached_end {
	ATTACHED_LIVES,
	ATTACHED_GONE, // it ended, or called exec
	ATTACHED_LOST, // its holder is lost, silent or refuses, or its memory cannot be read
};

enum attached_look {
	LOOK_BEFORE,
	LOOK_HELD,
	LOOK_AT_RESUME,
	LOOK_RESUMED,
	LOOK_NOW,
	LOOK_END,
	ATTACHED_LOOKS
};

struct attached_process {
	struct group_member *m; // borrowed; NULL: it was gone before it was attached to
	struct kfd_indices look[ATTACHED_LOOKS];
	uint64_t took_ns;        // from the last request until its answer came
	enum kfd_result refused; // the first that is no suspension, of the last hold; 0: none
	enum attached_end end;
};

struct attached {
	struct attached_process *v; // owned
	size_t n;
	struct group group; // in the order of v
	uint64_t asked_ns;  // when the last request was made
	bool stopped;       // a signal asked gpq to stop (Ctrl-C)
	int signals;        // borrowed: bench_signals_open()
};

// Blocks the signals that end gpq, and opens a descriptor to read them from. -1 with errno.
// Commands that are started must unblock them.
int bench_signals_open(void);

// Reads what has arrived: true when gpq is to end.
bool bench_signals_stop(int signals);

// Rests until `until`. False when gpq is to end.
bool bench_signals_wait(int signals, uint64_t until);

// Room for `n` processes, 1 to ATTACHED_MAX. The deadlines of the holders come from the longest
// hold that will be asked for: if this process does not go on (SIGSTOP, a debugger), what it holds
// is resumed then.
void attached_open(struct attached *a, size_t n, uint64_t longest_hold_ns, int signals);

// Attaches to a process with a selection of its queues (copied). False: attached_failed() says why.
bool attached_add(struct attached *a, pid_t pid, const struct kfd_selection *sel);

// Resumes everything and lets go. Zeroed, or once used.
void attached_close(struct attached *a);

// The first process that is out of reach, or NULL.
const struct attached_process *attached_failed(const struct attached *a);

// Finds queues that were created or destroyed, and sets what attached_ask() suspends: the first
// `queues` chosen queues of each process (UINT64_MAX: all), with `grace` (1000 GPU clocks). False
// when the measurement has to end.
bool attached_choose(struct attached *a, uint64_t grace, uint64_t queues);

// Waits until `until` (0: only looks). False when the measurement has to end.
bool attached_wait(struct attached *a, uint64_t until);

// Reads all indices, with `write` those of writing, too. False when one process is out of reach.
bool attached_look(struct attached *a, enum attached_look which, bool write);

// Suspends (`hold`) or resumes, and waits until that is done everywhere. False when one process is
// out of reach.
bool attached_ask(struct attached *a, bool hold);

// After a cycle that was not completed: resumes what is held.
void attached_reset(struct attached *a);

#endif
