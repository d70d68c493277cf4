// The room of why: what each queue is doing, and on what it waits. Open this file first. rings.h
// finds the rings of the chosen queues and opens the memory of their processes; why_glance.c looks
// at the head of a ring, and reads exceptions that the driver noted; why.c looks twice, searches
// the packets that set the signals of the next packet, and gives a verdict. profile.h counts many
// such looks.
//
// Facts: HSA Platform System Architecture Specification 1.2, 2.8 and 2.9: the packets of a queue
// are taken in order; a packet's completion signal is decremented when it is complete, which may be
// long after it was taken. Facts: [debugfs.hqds-idle], [debugfs.rls-active],
// [debugfs.off].
//
// Where two states look the same, there is one state with both names.
#ifndef GPQ_WHY_WHY_H
#define GPQ_WHY_WHY_H

#include "common/rows/evictions.h"
#include "common/why/rings.h"

enum why_state {
	WHY_UNKNOWN,
	WHY_COMPUTING,         // packets were taken, or the last one is not complete
	WHY_COMPUTING_OR_HUNG, // the next packet waits for nothing, and is not taken
	WHY_IDLE,
	WHY_WAITS_BARRIER,  // for packets of the process that will be reached
	WHY_WAITS_EXTERNAL, // for a signal that no packet of the process sets
	WHY_DEADLOCK,       // for packets that are never reached
	WHY_UNPUBLISHED,    // the next packet is not written, though the write index is beyond it
	WHY_DOORBELL_LOST,  // there are packets, and the hardware was not told
	WHY_TURNS,          // the GPU is over-subscribed
	WHY_SUSPENDED,
	WHY_EVICTED,
	WHY_SUSPENDED_OR_EVICTED,
	WHY_SUSPENDED_OR_RESET,
	WHY_ERROR, // the driver noted exceptions of the queue
	WHY_STATES
};

const char *why_state_word(enum why_state s);

// Will the queue never go on by itself?
bool why_is_stuck(enum why_state s);

// A packet that sets a signal.
struct why_setter {
	size_t queue;   // index in why.v; SIZE_MAX: there is no such packet
	uint64_t index; // of the packet
	const char *type;
	uint64_t kernel; // object of a dispatch, 0
	bool taken;      // the GPU has taken the packet already
};

// A signal that the next packet waits for.
struct why_dep {
	uint64_t signal; // address; SDMA: of the signal whose value the packet polls, 0: no signal
	int64_t value;
	bool known; // the value could be read
	bool open;  // the value is one that the packet waits for
	struct why_setter by;
};

struct why_queue {
	const struct ring_queue *q;
	enum why_state state;
	enum ring_problem problem;
	struct ring_indices first, now;
	enum ring_state next_state;
	struct packet next; // its type is NULL: there is none
	struct packet last; // the packet before it, likewise
	bool has_last_value;
	int64_t last_value;  // of its completion signal, unless other packets use that, too
	bool blocked;        // the next packet waits for a signal
	bool unsure;         // it may wait: a signal cannot be read
	bool unread;         // an index, packet or signal that the verdict needs was not read
	bool blind;          // not all packets of the process could be searched for signals
	bool goes_on;        // not blocked for ever: it goes on once other queues have
	uint64_t exceptions; // why_exceptions()
	struct why_dep deps[PACKET_DEPS];
	unsigned ndeps;
	const struct why_dep *because; // the wait that the state is about, NULL
	pid_t by_pid;                  // process that suspended the queue, 0
	char by_name[64];              // command name of that process
	const char *trigger;           // of the eviction, NULL
	char *detail;                  // owned: the state in a sentence
};

struct why {
	struct why_queue *v; // one for each of rings->v
	size_t n;
	const struct rings *rings;
	const struct evictions *evictions; // NULL: not known
	uint64_t over_ns;
};

// Looks twice, `over_ns` apart. `r` must have been loaded with `whole` and READ_HOLDER, and outlive
// the result. Hardware slots are read where a queue may be hung. `e`: what is known of evictions,
// or NULL.
void why_look(struct why *w, struct rings *r, const struct evictions *e, uint64_t over_ns);

// What the GPU took between the two looks, in what the queue's indices count.
uint64_t why_taken(const struct why_queue *x);

void why_fini(struct why *w);

// --- why_glance.c ---

// Exceptions that the driver noted for the queue since its runtime began, KFD_EC() bits;
// KFD_UNKNOWN: not a compute queue of AQL, or its runtime keeps no note of them, or that cannot be
// read.
//
// Facts: [kfd.exceptions], [kfd.save-header], [kfd.exception-word].
uint64_t why_exceptions(const struct ring_queue *q, const struct memory *m);

// "WAVE_TRAP PACKET_RESERVED", "none".
void why_exceptions_text(struct buf *to, uint64_t exceptions);

// Reads indices, the next packet, the one before it and the signals of both into `n` queues, whose
// `q` is set: of a process, each step of all its queues is one question to the reader. Packets are
// read again only where the indices have moved, or where `unread` is set.
void why_glance(struct why_queue *const *x, size_t n, const struct rings *r);

// Is the completion signal of the packet taken last above 0?
bool why_last_runs(const struct why_queue *x);

#endif
