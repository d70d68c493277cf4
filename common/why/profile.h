// A sampling profile of queues: the head of each ring is looked at many times a second, and what it
// shows is counted. Nothing of the target is stopped or written.
//
// Facts: HSA Platform System Architecture Specification 1.2, 2.8 and 2.9: packets are taken in
// order, and a packet's completion signal is decremented when the packet is complete. The hardware
// moves the read index when a kernel begins or later, some of it several packets at a time. So a
// packet that was taken certainly runs only as long as its signal says so.
#ifndef GPQ_WHY_PROFILE_H
#define GPQ_WHY_PROFILE_H

#include "common/why/why.h"

#define PROFILE_LOOK_NS UINT64_C(1000000)   // least time between two looks
#define PROFILE_REST_NS UINT64_C(100000000) // greatest
#define PROFILE_SEARCH  16384               // packets of a ring that are searched for a signal
#define PROFILE_SCAN_NS UINT64_C(500000000) // least time between two searches for new queues

enum profile_state {
	PROFILE_UNKNOWN, // indices, packet or signals could not be read, or moved meanwhile
	// The completion signal of the packet taken last is above 0, was not seen at 0 since, and
	// is that of no other packet in sight.
	PROFILE_RUNNING,
	PROFILE_NEXT,        // the packet at the head waits for no signal
	PROFILE_WAITS,       // the packet at the head waits for signals, or polls memory
	PROFILE_UNPUBLISHED, // the write index is beyond the head, whose header is not written
	PROFILE_IDLE,        // the ring is empty
	PROFILE_OFF,         // off hardware at the last search for queues, and not moved since
	PROFILE_STATES
};

const char *profile_state_word(enum profile_state s);

// What a look shows of a queue. Two sights are the same if all members are equal: texts are
// compared by address.
struct profile_sight {
	enum profile_state state;
	const char
		*packet; // type of the packet at the head, RUNNING: of the one before; NULL: none
	const char *kernel; // mangled, of struct profile; NULL: none, or not known
};

struct profile_count {
	struct profile_sight what;
	uint64_t looks;
};

struct profile_queue {
	struct queue_row row; // PID, GPU, queue id, context and type of it alone
	char *comm, *type;    // owned: its process's name, "" unknown; row.type
	uint64_t ring;        // address; MQD_UNKNOWN

	struct profile_count *v; // owned; profile_finish() puts the most frequent first
	size_t n, cap;

	uint64_t unread; // looks for which a packet or a signal could not be read

	// The rest is of the run.
	struct why_queue x;   // its q is NULL once the queue is gone
	uint64_t unreadable;  // looks in vain since the last search; they count if it still exists
	bool off;             // off hardware at the last search
	uint64_t off_at;      // read index then
	uint64_t done_at;     // read index at which the packet before it was complete
	uint64_t searched_at; // read index at which other packets with its signal were searched
	uint64_t object;      // kernel object whose name was looked up last
	const char *kernel;   // its name; NULL: unknown
	unsigned renamed;     // profile.renamed then
	size_t at;            // index in v of what the last look saw; SIZE_MAX: none yet
	uint64_t since_ns;    // when the queue began to show v[at]
};

struct profile {
	struct profile_queue *v; // owned; in the order in which they came
	size_t n, cap;
	uint64_t looks;            // at all queues that were there
	uint64_t begin_ns, end_ns; // clock_ns()
	uint64_t cpu_ns;           // processor time of the run, of all threads

	// The name of a kernel, which is copied; NULL: unknown. Counting up `renamed` asks again.
	const char *(*name)(void *arg, const struct ring_queue *q, uint64_t kernel_object);
	unsigned renamed;
	// Called when a queue shows something else than q->v[q->at], which it did since
	// q->since_ns, and at its end. NULL: not called.
	void (*changes)(void *arg, const struct profile_queue *q, uint64_t now_ns);
	void *arg;

	const struct rings *rings;
	void *names; // owned: a tree by tsearch(3)
};

// Sets the queues that profile_look() looks at; known ones keep their counts. `r` must outlive the
// next call.
void profile_take(struct profile *p, const struct rings *r);

// Looks at each queue once.
void profile_look(struct profile *p, uint64_t now_ns);

// The time of the next look: 1 ms after the last one, or so much later that gpq uses at most 2 % of
// a core, but at most 100 ms from now. Times are of clock_ns(); `cpu_ns` is counted from begin_ns.
uint64_t profile_due(uint64_t begin_ns, uint64_t looked_ns, uint64_t now_ns, uint64_t cpu_ns);

// Looks for `for_ns`, or until an end is asked for (stop.h); at a recorded host, which does not
// change, once. `scan` is called now and then, and may call profile_take(); NULL: never.
void profile_run(struct profile *p, uint64_t for_ns, void (*scan)(void *arg));

// Ends what each queue shows, and sorts the counts.
void profile_finish(struct profile *p);
void profile_fini(struct profile *p);

#endif
