// A sampling profile of queues: the head of each ring is looked at many times a second, and what is
// seen (a "sight") is counted. The processes run on, and nothing in them is written.
//
// Facts: HSA Platform System Architecture Specification 1.2, 2.8 and 2.9: packets are taken in
// order, and a packet's completion signal is decremented when the packet is complete. The hardware
// moves the read index when a kernel begins or later, on some GPUs by several packets at a time. So
// a packet that was taken certainly runs only as long as its signal says so.
#pragma once

#include "common/why/why.h"

#define PROFILE_LOOK_NS UINT64_C(1000000)   // least time between two looks
#define PROFILE_REST_NS UINT64_C(100000000) // greatest pause between two looks
#define PROFILE_SEARCH  16384               // packets of a ring that are searched for a signal
#define PROFILE_SCAN_NS UINT64_C(500000000) // least time between two searches for new queues

enum profile_state {
	PROFILE_UNKNOWN, // indices, packet or signals could not be read, or changed during the look
	// The completion signal of the packet taken last is above 0, was not seen at 0 since, and
	// is that of no other packet in sight; or it has none, and the head waits for its kernel.
	PROFILE_RUNNING,
	PROFILE_NEXT,        // the packet at the head waits for no signal
	PROFILE_WAITS,       // the packet at the head waits for signals, or polls memory
	PROFILE_UNPUBLISHED, // the write index is beyond the head, whose header is not written
	PROFILE_IDLE,        // the ring is empty
	PROFILE_OFF, // off hardware at the last search for queues; the read index is the same since
	PROFILE_STATES
};

const char *profile_state_word(enum profile_state s);

// What a look shows of a queue. Two sights are the same if all members are equal; texts are
// compared by address.
struct profile_sight {
	enum profile_state state;
	const char *packet; // type of the packet at the head (RUNNING: taken last); NULL: none
	const char *kernel; // mangled name, owned by struct profile; NULL: none, or unknown
};

struct profile_count {
	struct profile_sight what;
	uint64_t looks;
};

struct profile_queue {
	struct queue_row row; // only PID, command, GPU, queue id, context and type are valid
	char *comm, *type;    // owned: command of the process, "": unknown; type, NULL: unknown
	uint64_t ring;        // address of the ring; MQD_UNKNOWN: unknown

	struct profile_count *v; // owned; profile_finish() puts the most frequent first
	size_t n, cap;

	uint64_t unread; // looks at which a packet or a signal could not be read

	// The other members are used only during the run.
	struct why_queue x;   // the last look; x.q is NULL once the queue is gone
	uint64_t unreadable;  // looks since the last search that could not read the queue
	bool off;             // the queue was off hardware or suspended at the last search
	uint64_t off_at;      // read index at the last search
	uint64_t done_at;     // read index; the packet before it is complete or cannot be judged
	uint64_t searched_at; // read index at which packets to come were last searched
	uint64_t object;      // kernel object whose name was last asked for
	const char *kernel;   // name of `object`; NULL: unknown
	unsigned renamed;     // value of profile.renamed at that look-up
	size_t at;            // index in v of what the last look saw; SIZE_MAX: nothing
	uint64_t since_ns;    // when the queue began to show v[at]
};

struct profile {
	struct profile_queue *v; // owned; in the order in which the queues were found
	size_t n, cap;
	uint64_t looks;            // number of looks; one look is at all queues
	uint64_t begin_ns, end_ns; // clock_ns() at the beginning and end of the run
	uint64_t cpu_ns;           // processor time that the run took, of all threads and readers

	// Returns the name of a kernel, which is copied, or NULL: unknown. After the owner has
	// incremented `renamed`, names are asked for again.
	const char *(*name)(void *arg, const struct ring_queue *q, uint64_t kernel_object);
	unsigned renamed;
	// Called when a queue stops showing q->v[q->at], which it showed since q->since_ns: when it
	// shows something else, is gone, or the run ends. NULL: not called.
	void (*changes)(void *arg, const struct profile_queue *q, uint64_t now_ns);
	void *arg;

	const struct rings *rings;
	void *names; // owned: names of kernels, a tree of tsearch(3)
};

// Sets the queues that profile_look() looks at: the chosen ones of `r`, which must stay valid until
// the next call. Queues that were there before keep their counts.
void profile_take(struct profile *p, const struct rings *r);

// Looks at each queue once.
void profile_look(struct profile *p, uint64_t now_ns);

// Returns when to look next (clock_ns()): 1 ms after the last look, or so much later that gpq uses
// at most 2 % of a core, but at most 100 ms from now. `cpu_ns`: processor time since begin_ns.
uint64_t profile_due(uint64_t begin_ns, uint64_t looked_ns, uint64_t now_ns, uint64_t cpu_ns);

// Calls profile_look() for `for_ns`, or until an end is requested (stop.h); on a recorded host only
// once. `scan` (NULL: none) searches for new queues now and then, and may call profile_take().
void profile_run(struct profile *p, uint64_t for_ns, void (*scan)(void *arg));

// Ends the last sight of each queue, and sorts the counts of each by frequency.
void profile_finish(struct profile *p);
void profile_fini(struct profile *p);
