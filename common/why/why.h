// The room of why: what each queue is doing, and on what it waits. Open this file first. rings.h
// finds the rings of the chosen queues and opens the memory of their processes; why_glance.c looks
// at the head of a ring, and reads exceptions that the driver noted; why.c looks twice, searches
// for packets that set the signals that the next packet waits for, and gives a verdict. profile.h
// makes a sampling profile of many looks.
//
// Facts: HSA Platform System Architecture Specification 1.2, 2.8 and 2.9: the packets of a queue
// are taken in order; a packet's completion signal is decremented when the packet is complete,
// which may be long after it was taken. [debugfs.hqds-idle], [debugfs.rls-active], [debugfs.off].
//
// Where two states look the same, there is one state with both names.
#pragma once

#include "common/rows/evictions.h"
#include "common/why/rings.h"

enum why_state {
	WHY_UNKNOWN,
	WHY_COMPUTING,         // packets were taken, or the packet taken last is not complete
	WHY_COMPUTING_OR_HUNG, // the next packet waits for nothing, and is not taken
	WHY_IDLE,
	WHY_WAITS_BARRIER,  // waits for packets of the queue's process, which the GPU will reach
	WHY_WAITS_EXTERNAL, // waits for a signal that no packet of the queue's process sets
	WHY_DEADLOCK,       // waits for packets of the queue's process, which the GPU never reaches
	WHY_UNPUBLISHED,    // the next packet is not written, though the write index is beyond it
	WHY_DOORBELL_LOST,  // has packets, but the queue's slot has not seen the new write index
	WHY_TURNS,          // takes turns with others: the GPU is over-subscribed
	WHY_SUSPENDED,
	WHY_EVICTED,
	WHY_SUSPENDED_OR_EVICTED,
	WHY_SUSPENDED_OR_RESET,
	WHY_ERROR, // the driver noted exceptions of the queue
	WHY_STATES
};

const char *why_state_word(enum why_state s);

// Will a queue in this state never go on by itself?
bool why_is_stuck(enum why_state s);

// A packet that sets a signal.
struct why_setter {
	size_t queue;   // index in why.v; SIZE_MAX: there is no such packet
	uint64_t index; // index of the packet, as the queue's indices count
	const char *type;
	uint64_t kernel; // kernel object of a dispatch; 0: another packet
	bool taken;      // the GPU has taken the packet already
};

// A signal, or word of memory, that the next packet waits for.
struct why_dep {
	uint64_t signal; // address of the signal; 0: an SDMA packet polls another word
	int64_t value;
	bool known; // `value` could be read
	bool open;  // `value` is known and lets the packet begin
	struct why_setter by;
};

struct why_queue {
	const struct ring_queue *q;
	enum why_state state;
	enum ring_problem problem;
	struct ring_indices first, now;
	enum ring_state next_state;
	struct packet next; // the packet at the read index; type NULL: none
	struct packet last; // the packet before `next`, which was taken last; type NULL: unknown
	bool has_last_value;
	int64_t last_value;  // value of last.completion, unless other packets use that signal, too
	bool blocked;        // `next` waits for a signal or a word of memory
	bool unsure;         // `next` may wait: a signal cannot be read
	bool unread;         // an index, packet or signal that the verdict needs was not read
	bool blind;          // not all packets of the process could be searched for signals
	bool goes_on;        // not deadlocked: the queue goes on once others have
	uint64_t exceptions; // result of why_exceptions()
	struct why_dep deps[PACKET_DEPS];
	unsigned ndeps;
	const struct why_dep *because; // the wait that the state is about; NULL: none
	pid_t by_pid;                  // process that suspended the queue; 0: unknown
	char by_name[64];              // command name of process by_pid
	const char *trigger;           // what triggered the eviction of the queue; NULL: unknown
	char *detail;                  // owned: the state in a sentence
};

struct why {
	struct why_queue *v; // one for each of rings->v
	size_t n;
	const struct rings *rings;
	const struct evictions *evictions; // NULL: evictions are not known
	uint64_t over_ns;
};

// Looks twice at the queues of `r`, `over_ns` apart, and judges them. `r` must have been loaded
// with `whole` and READ_HOLDER, and outlive the result. Hardware slots are read if a queue may be
// hung. `e`: what is known of evictions, or NULL.
void why_look(struct why *w, struct rings *r, const struct evictions *e, uint64_t over_ns);

// Returns what the GPU took between the two looks, in the unit of the queue's indices.
uint64_t why_taken(const struct why_queue *x);

void why_fini(struct why *w);

// --- why_glance.c ---

// Returns the exceptions that the driver noted for the queue since its runtime began, as KFD_EC()
// bits. KFD_UNKNOWN: the queue is not an AQL queue, its runtime keeps no note of exceptions, the
// note cannot be read, or has unknown bits.
//
// Facts: [kfd.exceptions], [kfd.save-header], [kfd.exception-word].
uint64_t why_exceptions(const struct ring_queue *q, const struct memory *m);

// Appends the names of exceptions: "WAVE_TRAP PACKET_RESERVED", or "none".
void why_exceptions_text(struct buf *to, uint64_t exceptions);

// Looks at `n` queues, whose `q` must be set: reads the indices, the next packet, the packet before
// it and the signals of both. The queues of a process share the requests to the reader. Packets
// are read again only if the indices have moved, or if `unread` is set.
void why_glance(struct why_queue *const *x, size_t n, const struct rings *r);

// Is the completion signal of the packet taken last known, and above 0?
bool why_last_runs(const struct why_queue *x);
