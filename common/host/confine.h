// What a process that parses the bytes of others gives up: capabilities, new privileges, and system
// calls (capabilities(7), seccomp(2)).
#pragma once

#include "common/host/std.h"

// Closes the descriptors from `first` on, except those in `keep`. Sorts `keep`.
void confine_fds(int first, int *keep, size_t n);

// Loads libseccomp, so that a child need not do so after fork(2).
void confine_prepare(void);

// Gives up new privileges, and all capabilities but those of `keep` (bits by CAP_ number, the first
// 32).
void confine_rights(uint32_t keep);

// Forbids all system calls but the `n` of `allowed` (SCMP_SYS() numbers). Takes up to a
// millisecond. Nothing is forbidden without libseccomp, or if the kernel has no filters.
//
// The filter tests system call numbers only: for those the Linux kernel caches the result
// (seccomp_cache_prepare in kernel/seccomp.c, since 5.11), so that an allowed call takes no longer.
// A call that is not allowed fails with EPERM, and is handled like any other failing call.
void confine_calls(const int *allowed, size_t n);
