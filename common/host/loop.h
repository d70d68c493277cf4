// Waiting for several things: descriptors, a point in time, signals. Facts: epoll(7), signalfd(2).
//
// Times are CLOCK_MONOTONIC in nanoseconds; LOOP_NOW only looks, LOOP_FOREVER has no end. A wait
// that a signal handler interrupts goes on.
#pragma once

#include "common/host/std.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#define LOOP_NOW     UINT64_C(0)
#define LOOP_FOREVER UINT64_MAX

// ---- a few descriptors that change from one wait to the next

// poll(2) until `until_ns`. Returns the number of descriptors with something in `revents`; 0: time
// is over; -1 with errno.
int wait_any(struct pollfd *p, size_t n, uint64_t until_ns);

// Waits for one descriptor, for POLLIN or POLLOUT. True: the descriptor is ready, has an error or
// was hung up.
bool wait_fd(int fd, short events, uint64_t until_ns);

// wait_fd() for POLLIN. A pidfd is readable once its process is dead.
static inline bool wait_readable(int fd, uint64_t until_ns)
{
	return wait_fd(fd, POLLIN, until_ns);
}

// ---- many descriptors that stay

// A descriptor that is closed leaves the loop, unless another process has a duplicate of it, as a
// child has that was just forked: its events go on coming. loop_remove() comes before close() then.
struct loop {
	int fd; // epoll descriptor, readable when loop_wait() has an event; -1: not open
};

enum loop_want { LOOP_NOTHING, LOOP_READ, LOOP_WRITE }; // an error or hang-up always comes

// Open a loop, add and change a descriptor. Return false with errno. Events of `fd` have `key` in
// data.u64.
bool loop_open(struct loop *l);
bool loop_add(struct loop *l, int fd, uint64_t key, enum loop_want want);
bool loop_change(struct loop *l, int fd, uint64_t key, enum loop_want want);
void loop_remove(struct loop *l, int fd);
void loop_close(struct loop *l);

// Waits for at most `max` events. Returns their number; 0: time is over; -1 with errno.
int loop_wait(const struct loop *l, struct epoll_event *events, int max, uint64_t until_ns);

// ---- signals, read from a descriptor

// Blocks the signals of the list, which ends with 0, and opens a descriptor to read them from. With
// `how` SIG_BLOCK those stay ignored that are (nohup, a shell's background job). With SIG_SETMASK,
// for processes that outlive the command, all are read, and all others are unblocked. `before`
// (NULL: not wanted) gets the old mask: commands that are started need it. Returns -1 with errno on
// failure.
int signals_open(const int *signals, int how, sigset_t *before);

// Reads one signal. False: none has come.
bool signals_next(int fd, struct signalfd_siginfo *info);
