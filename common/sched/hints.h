// The hint socket of gpq sched: clients say when online work comes and when it is over.
//
// Lines of text on a unix stream socket; gpq-client(3), PROTOCOL, is its public description. Each
// request gets one answer, in the order of the requests of its connection:
//
//   begin [ID]   online work comes. Answered by hints_answer(): `ok off=N missed=M ns=T`
//   end [ID]     it is over: `ok`. ID: 1 to 20 decimal digits, a uint64; 0 without one
//   status       lines of the scheduler's statistics, then `ok`
//
// A client that does not read, or sends faster than allowed, costs the scheduler a bounded amount
// of work and memory: requests behind the allowed rate stay in the socket. One thread; nothing is
// allocated after hints_open(), unless statistics are longer than 64 KiB.
#ifndef GPQ_SCHED_HINTS_H
#define GPQ_SCHED_HINTS_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HINTS_LINE_MAX = 64,      // bytes of a request, newline included
	HINTS_IDS_MAX = 32,       // hints of one client at a time
	HINTS_CLIENTS_MAX = 512,  // connections at a time: an eighth of the descriptors there may
	HINTS_CLIENTS_MIN = 64,   // be (RLIMIT_NOFILE), between these
	HINTS_CLIENTS_ROOT = 16,  // of these, kept for root
	HINTS_USER_PART = 8,      // a user but root may have one part in so many, at least 16
	HINTS_RATE = 2000,        // requests a second of one client
	HINTS_BURST = 200,        // requests that one may send at once after a rest
	HINTS_STATUS_COST = 20,   // `status` counts as so many requests
	HINTS_CONNECT_RATE = 500, // connections a second, of all clients
	HINTS_CONNECT_BURST = 64, // at once after a rest
	HINTS_PENDING_MAX = 64,   // requests of one client whose answers wait behind a `begin`
};

struct hints;

// Makes the socket `path`. NULL: /run/gpq-sched/socket for root, for others
// $XDG_RUNTIME_DIR/gpq-sched/socket. Its directory is made (0755) when it is missing, and must be
// one that others cannot write to: /tmp is refused. The socket has mode 0600; with `group` (a name
// or a number, NULL: none) it belongs to that group and has 0660. A socket whose listener is dead
// is replaced. NULL after a message, with the exit status in *status.
struct hints *hints_open(const char *path, const char *group, int *status);

// Closes all connections, removes the socket if it is still this one, frees *h. NULL is allowed.
void hints_close(struct hints *h);

// Where clients find it.
const char *hints_path(const struct hints *h);

// An epoll descriptor: readable when hints_serve() has something to do.
int hints_fd(const struct hints *h);

// Milliseconds, counted from the last call with a time, until it has something to do that
// hints_fd() does not tell: a client that was too fast may be read again. -1: nothing.
int hints_wait_ms(const struct hints *h);

// Accepts clients and reads what came. Never blocks; each ready client is read once, at most 256
// bytes. `now_ns`: CLOCK_MONOTONIC. True when hints became active or ceased to be.
bool hints_serve(struct hints *h, uint64_t now_ns);

// Connections that were refused because there were too many, of all or of their user.
uint64_t hints_refused(const struct hints *h);

// Active hints of all clients.
unsigned hints_active(const struct hints *h);

// How many `begin` wait for an answer. After each hints_serve(): when the offline queues are off
// already, answer them at once.
unsigned hints_waiting(const struct hints *h);

// Answers each `begin` that waits: `off` offline processes are held, `missed` should be and are
// not. A client whose socket takes no more is closed, by the next hints_serve(). An `end` before
// that answers its `begin` with an error.
void hints_answer(struct hints *h, uint64_t now_ns, unsigned off, unsigned missed);

// Hints begun, or begun again, more than `age_ns` ago count no more until they are begun again.
// True when none is active any more, and one was.
bool hints_expire(struct hints *h, uint64_t now_ns, uint64_t age_ns);

// `fill` appends the lines of `status`, each with its newline. It may not call hints_serve().
void hints_on_status(struct hints *h, void (*fill)(struct buf *b, void *arg), void *arg);

struct hints_client {
	uid_t uid;          // who connected (SO_PEERCRED)
	pid_t pid;          // 0: in another PID namespace
	unsigned active;    // its hints that count
	uint64_t requests;  // lines read, wrong ones included
	uint64_t throttled; // times it had to wait because it was too fast
};

// Calls `each` for every connection.
void hints_each_client(const struct hints *h, void (*each)(const struct hints_client *c, void *arg),
		       void *arg);

#endif
