// The measured processes: a group (holder/group.h) whose holders suspend and resume them together,
// as gpq suspend and gpq sched do, and whose queues' indices are read.
#pragma once

#include "common/holder/group.h"

#define ATTACHED_MAX 128 // most processes in a measurement

enum attached_end {
	ATTACHED_LIVES,
	ATTACHED_GONE, // the process ended, or called exec
	ATTACHED_LOST, // the holder is lost, silent or refuses, or the memory cannot be read
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
	struct group_member *m; // borrowed; NULL: the process ended before it was attached to
	struct kfd_indices look[ATTACHED_LOOKS];
	enum kfd_result refused; // why the last hold left a queue running; 0: it left none
	enum attached_end end;
	// The level of priority of each queue, by queue id, from 1 on; 0: unknown, or not chosen.
	uint8_t level[KFD_MAX_QUEUES];
};

struct attached {
	struct attached_process *v; // owned; in the order of the group's members
	size_t n;
	struct group group;
	uint64_t asked_ns; // when suspend or resume was last requested
	uint64_t level;    // of the queues that are suspended; UINT64_MAX: any
	bool stopped;      // a signal asked gpq to stop (Ctrl-C)
	int signals;       // borrowed descriptor of bench_signals_open()
};

// Blocks the signals that end gpq, and returns a descriptor to read them from, or -1 with errno.
// Commands that gpq starts must unblock these signals.
int bench_signals_open(void);

// Reads the signals that have come. True if there was one, so that gpq is to end.
bool bench_signals_stop(int signals);

// Makes room for `n` processes, 1 to ATTACHED_MAX. Holders resume the queues a minute after the
// longest hold should have ended, in case gpq itself stands still (SIGSTOP, a debugger).
void attached_open(struct attached *a, size_t n, uint64_t longest_hold_ns, int signals);

// Attaches to a process with a selection of its queues (copied). Returns false if that fails, as
// for a process that is held already: attached_failed() then says why.
bool attached_add(struct attached *a, pid_t pid, const struct kfd_selection *sel);

// Resumes all processes, detaches, and frees. `a` may be zeroed.
void attached_close(struct attached *a);

// The first process that has ended or is lost, or NULL.
const struct attached_process *attached_failed(const struct attached *a);

// Finds queues that were created or destroyed, and sets what attached_ask() suspends: the first
// `queues` chosen queues of each process (UINT64_MAX: all), with the grace period `grace` (units of
// 1000 GPU clocks). `level`: only queues whose attached_process.level is one more; UINT64_MAX: any,
// if it was so before, too. Returns false if the measurement has to end.
bool attached_choose(struct attached *a, uint64_t grace, uint64_t queues, uint64_t level);

// Waits until `until` (CLOCK_MONOTONIC, ns; 0: only looks). False if the measurement has to end.
bool attached_wait(struct attached *a, uint64_t until);

// Reads the read indices of all queues into the look `which`; with `write` the write indices, too.
// Returns false if a process is gone or lost.
bool attached_look(struct attached *a, enum attached_look which, bool write);

// Suspends (`hold`) or resumes all processes, waits for the answers. False if one is gone or lost.
bool attached_ask(struct attached *a, bool hold);
