// The target process, pinned so that a process which gets its pid later is not mistaken for it.
//
// A target is a pid, its start time and a pidfd, taken before anything is done to the process.
// It is always a process of this host, never of a recorded one.
#pragma once

#include "common/holder/failure.h"

struct kfd_target {
	pid_t pid;      // thread group leader, in the caller's PID namespace
	uint64_t start; // /proc/PID/stat field 22, clock ticks since boot
	int pidfd;      // readable once the process is dead; -1 before kfd_target_pin()
};

// Pins the process `pid`. `start`: the start time that it must have; 0: any. Returns 0, or -1 and
// sets *f.
int kfd_target_pin(struct kfd_target *t, pid_t pid, uint64_t start, struct kfd_failure *f);
void kfd_target_unpin(struct kfd_target *t);

// Returns the start time of `pid` in clock ticks since boot, or 0 with errno (ESRCH: no such
// process).
uint64_t kfd_target_start(pid_t pid);

// Is the process alive? A zombie is not.
bool kfd_target_alive(const struct kfd_target *t);

// Is a process that was not pinned dead? A zombie is.
bool kfd_is_dead(pid_t pid);

// Waits for the end of a process that was not pinned. Returns true when it has ended.
bool kfd_wait_death(pid_t pid, int timeout_ms);

// The process name (comm) of holders.
#define KFD_HOLDER_COMM "gpq-holder"

// Returns the holder that traces `pid`; 0: none.
pid_t kfd_holder_of(pid_t pid);
