// The target process, pinned so that a recycled pid can never be mistaken for it.
//
// A pid alone is not an identity. A target is a pid plus its start time (/proc/PID/stat field 22,
// clock ticks since boot) plus a pidfd; both are taken before anything is done to the process.
// Always the running kernel: none of this makes sense on a recorded host.
#ifndef GPQ_HOLDER_TARGET_H
#define GPQ_HOLDER_TARGET_H

#include "common/holder/failure.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kfd_target {
	pid_t pid;      // thread group leader, in the caller's PID namespace
	uint64_t start; // /proc/PID/stat field 22
	int pidfd;      // readable once the process is dead; -1 before kfd_target_pin()
};

// Pins `pid`. `start` 0 takes the present start time, otherwise it must match. 0, or -1 and *f.
int kfd_target_pin(struct kfd_target *t, pid_t pid, uint64_t start, struct kfd_failure *f);
void kfd_target_unpin(struct kfd_target *t);

// Start time of `pid`, or 0 with errno (ESRCH: no such process).
uint64_t kfd_target_start(pid_t pid);

// False once the process is dead (a zombie counts as dead).
bool kfd_target_alive(const struct kfd_target *t);

// Waits for the end of a process that was not pinned. True when it has ended.
bool kfd_wait_death(pid_t pid, int timeout_ms);

// The name a holder gives itself.
#define KFD_HOLDER_COMM "gpq-holder"

// The holder that traces `pid`, 0: none.
pid_t kfd_holder_of(pid_t pid);

#endif
