// The hint socket of gpq sched: clients say when online work comes and when it is over.
//
// Lines of text on a unix stream socket; gpq-client(3), PROTOCOL, is its public description. Each
// request gets one answer, in the order of the requests of its connection:
//
//   begin [ID] [WORD...]  work comes. Answered by hints_answer(): `ok off=N missed=M ns=T`
//   end [ID]              it is over: `ok`, `ok expired` if it lasted longer than the hint
//   status                lines of the scheduler's statistics, then `ok`
//
// ID: 1 to 20 decimal digits, a uint64; 0 without one. WORD: "for=TIME", "deadline=TIME", or of the
// scheduler (hints_calls.word).
//
// A client that does not read, or sends too fast, costs the scheduler a bounded amount of work and
// memory: requests above the allowed rate stay in the socket. One thread; nothing is allocated
// after hints_open(), unless statistics are longer than 64 KiB.
#pragma once

#include "common/host/std.h"

enum {
	HINTS_LINE_MAX = 256,     // bytes of a request, newline included
	HINTS_IDS_MAX = 32,       // hints of one client at a time
	HINTS_CLIENTS_MAX = 512,  // connections at a time: RLIMIT_NOFILE / 8, at most this
	HINTS_CLIENTS_MIN = 64,   // connections at a time: RLIMIT_NOFILE / 8, at least this
	HINTS_CLIENTS_ROOT = 16,  // connections that only root may use
	HINTS_USER_PART = 8,      // a user but root: 1 / 8 of the connections, at least 16
	HINTS_RATE = 2000,        // requests a second of one client
	HINTS_BURST = 200,        // requests of a client in a burst, after a pause
	HINTS_STATUS_COST = 20,   // `status` counts as so many requests
	HINTS_STATUS_PART = 20,   // all `status` together take 1 / 20 of the time at most
	HINTS_CONNECT_RATE = 500, // connections a second, of all clients
	HINTS_CONNECT_BURST = 64, // connections in a burst, after a pause
	HINTS_SAY_RATE = 2,       // messages a second (hints_calls.audit)
	HINTS_SAY_BURST = 50,     // messages in a burst, after a pause
	HINTS_LOOKS = 8,          // looks in which each client's work is asked for once
	HINTS_PENDING_MAX = 64,   // unanswered requests of one client, behind a `begin` that waits
};

// What work a hint is about.
struct hint_scope {
	size_t class;  // index of the scheduler's class
	uint64_t gpus; // bits of the scheduler's GPUs
};

// A hint that has ended; also one that has expired.
struct hint_end {
	uint64_t ns;          // since it began
	uint64_t more_ns;     // in a replay: so much longer it takes there; else 0
	uint64_t urgent_ns;   // since it began to count; 0: it never did, as its deadline left time
	uint64_t deadline_ns; // from when it began to its deadline; 0: it had none
	bool expired;         // before it ended
	bool closed;          // with its connection
	pid_t pid;            // of the client; 0: of another PID namespace, or in a replay
	const char *job;      // in a replay: the job_by of its line; else NULL
};

// What the scheduler knows; each gets `arg`. Without one of them: the first class, and any GPU; no
// word; everything is off; deadlines leave no time; no statistics.
struct hints_calls {
	void *arg;
	// The work of a client that says nothing else. pid 0: a process of another PID namespace.
	// `look`: it may take longer, as in hints_look().
	struct hint_scope (*whose)(void *arg, pid_t pid, bool look);
	// Reads "gpu=..." or "class=..." of `begin`, which it may change. Returns NULL, or the text
	// of an error.
	const char *(*word)(void *arg, char *word, struct hint_scope *scope);
	// Is everything off that is to be off for this work? Counts processes for the answer.
	bool (*is_off)(void *arg, const struct hint_scope *scope, unsigned *off, unsigned *missed);
	void (*ended)(void *arg, const struct hint_scope *scope, uint64_t now_ns,
		      const struct hint_end *end);
	// How long such work takes from when its hint counts, ns; UINT64_MAX: not known, and a
	// deadline leaves no time.
	uint64_t (*needs)(void *arg, const struct hint_scope *scope);
	// Appends the lines of `status`, each with its newline. Returns how long that took, ns. May
	// not call hints_serve().
	uint64_t (*status)(struct buf *b, void *arg);
	// Say in messages who sends hints, and who is refused: once for a connection, and not more
	// often than HINTS_SAY_RATE.
	bool audit;
};

// When a hint counts whose work takes `needs_ns` from then on (UINT64_MAX: not known): as late as
// its deadline allows, or at once.
static inline uint64_t hint_counts_at(uint64_t deadline_ns, uint64_t needs_ns)
{
	return needs_ns < deadline_ns ? deadline_ns - needs_ns : 0;
}

struct hints;

// Makes the socket `path`. NULL: /run/gpq-sched/socket for root, for others
// $XDG_RUNTIME_DIR/gpq-sched/socket. A missing directory is made (0755); one that others can write
// to, such as /tmp, is refused. The socket has mode 0600; with `group` (a name or a number, NULL:
// none) it belongs to that group and has 0660. A socket whose listener is dead is replaced. Returns
// NULL after a message, with the exit status in *status.
struct hints *hints_open(const char *path, const char *group, int *status);

// Closes all connections, removes the socket file unless it was replaced, frees *h (may be NULL).
void hints_close(struct hints *h);

// The path at which clients find the socket.
const char *hints_path(const struct hints *h);

// An epoll descriptor: readable when hints_serve() has something to do.
int hints_fd(const struct hints *h);

// Milliseconds, from the last `now_ns` given, until clients that were too fast may be read or
// accepted again, which hints_fd() does not show. -1: there are none.
int hints_wait_ms(const struct hints *h);

// Accepts clients and reads requests. Never blocks; each ready client is read once, at most 256
// bytes. `now_ns`: CLOCK_MONOTONIC. True if the first hint became active, or the last ceased to be.
bool hints_serve(struct hints *h, uint64_t now_ns);

// The number of active hints of all clients.
unsigned hints_active(const struct hints *h);

// Makes each hint count whose deadline leaves no more time than its work needs. Returns when the
// next one will count; UINT64_MAX: all do.
uint64_t hints_urge(struct hints *h, uint64_t now_ns);

// The GPUs of the active hints about a class that count.
uint64_t hints_gpus(const struct hints *h, size_t class);

// The number of active hints that do not count yet, of the clients of a process; pid 0: of all.
unsigned hints_later(const struct hints *h, pid_t pid);

// Finds a hint that counts and has a deadline, from place `*at` on, and sets *at behind it. Returns
// false if there is none.
bool hints_next_due(const struct hints *h, unsigned *at, pid_t *pid, size_t *class,
		    uint64_t *deadline_ns);

// Asks anew whose work the clients' is, as processes join classes and get queues on other GPUs:
// each time of an eighth of them.
void hints_look(struct hints *h);

// How many `begin` wait for hints_answer(). Call it after each hints_serve(): if the offline queues
// are off already, answer at once.
unsigned hints_waiting(const struct hints *h);

// Answers each `begin` that waits and for whose work all is off. A client whose socket is full is
// closed by the next hints_serve().
void hints_answer(struct hints *h, uint64_t now_ns);

// Makes hints inactive that have lasted longer than `age_ns` since their last `begin`, or longer
// than its "for=". A new `begin` makes them active again. True if no active hint is left because of
// this.
bool hints_expire(struct hints *h, uint64_t now_ns, uint64_t age_ns);

// Sets what the scheduler knows, instead of what was set before.
void hints_ask(struct hints *h, const struct hints_calls *calls);

struct hints_counts {
	uint64_t clients;   // present connections
	uint64_t requests;  // lines read from these clients, wrong ones included
	uint64_t throttled; // times that one of these clients had to wait because it was too fast
	uint64_t refused;   // connections refused so far: too many, of all or of their user
	uint64_t expired;   // hints that have expired so far
};
struct hints_counts hints_count(const struct hints *h);

// A present connection.
struct hints_client {
	unsigned place; // a number that no other connection has meanwhile
	pid_t pid;      // that connected; 0: of another PID namespace
	uid_t uid;
	struct hint_scope scope;                // of its work, where its hints do not say otherwise
	unsigned active;                        // its active hints that count
	unsigned later;                         // those that do not count yet
	struct hint_scope hints[HINTS_IDS_MAX]; // of these, those that count first
	uint64_t requests, throttled, expired;
};

// Fills *c from connection `*at` on, and sets *at behind it. Returns false if there is none.
bool hints_next(const struct hints *h, unsigned *at, struct hints_client *c);
