// The target process, pinned so that a process which gets its pid later is not mistaken for it.
//
// A target is a pid, its start time and a pidfd, both taken before anything is done to the process.
// Always of the running kernel, never of a recorded host.
#ifndef GPQ_HOLDER_TARGET_H
#define GPQ_HOLDER_TARGET_H

#include "common/holder/failure.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kfd_target {
	pid_t pid;      // thread group leader, in the caller's PID namespace
	uint64_t start; // /proc/PID/stat field 22, clock ticks since boot
	int pidfd;      // readable once the process is dead; -1 before kfd_target_pin()
};

// Pins the process `pid`. `start`: the start time that it must have; 0: any. Returns 0, or -1 and
// sets *f.
int kfd_target_pin(struct kfd_target *t, pid_t pid, uint64_t start, struct kfd_failure *f);
void kfd_target_unpin(struct kfd_target *t);

// Start time of `pid`, or 0 with errno (ESRCH: no such process).
uint64_t kfd_target_start(pid_t pid);

// Has the process not ended? A zombie has.
bool kfd_target_alive(const struct kfd_target *t);

// The same for a process that was not pinned.
bool kfd_is_dead(pid_t pid);

// Waits for the end of a process that was not pinned. True when it has ended.
bool kfd_wait_death(pid_t pid, int timeout_ms);

// The name a holder gives itself.
#define KFD_HOLDER_COMM "gpq-holder"

// The holder that traces `pid`, 0: none.
pid_t kfd_holder_of(pid_t pid);

#endif
