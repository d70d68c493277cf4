// Ctrl-C ends a long command early: it prints the results so far and a message, and exits with 128
// + the signal's number. A second Ctrl-C ends it at once, unless it follows within a fraction of a
// second.
#pragma once

#include "common/host/std.h"

// From now on SIGINT and SIGTERM request an end. A signal that is ignored (nohup, a shell's
// background job) stays ignored. Calling it again does nothing.
void stop_watch(void);

// SIGHUP requests an end, too.
void stop_watch_hangup(void);

// The number of the signal received, 0 before the first. May be called by any thread.
int stop_asked(void);

// Name of the signal that stop_asked() returned, as "SIGTERM".
const char *stop_name(int sig);

// The exit status after a requested end: 128 + the signal's number, so GPQ_STOPPED for SIGINT.
int stop_status(void);

// As read(2), but -1 with EINTR once an end is requested. Restarts after other signals.
ssize_t stop_read(int fd, void *to, size_t n);

// Waits until clock_ns() is `until_ns`. False: an end is requested.
bool stop_sleep(uint64_t until_ns);

// Waits until `fd` (-1: none) is readable, at most `ms` milliseconds (-1: for ever). Returns 1 if
// `fd` is readable, 0 if time is over, -1 with EINTR if an end is requested.
int stop_wait(int fd, int ms);
