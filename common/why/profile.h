// A sampling profile of queues: what stands at the head of each ring, looked at many times a
// second, and counted. Nothing of the target is stopped or written.
//
// Facts: HSA Platform System Architecture Specification 1.2, 2.8 and 2.9: the packets of a queue
// are taken in order. When the index moves (as a kernel begins or after that) is left to the
// hardware, and some move it several packets at a time; a packet's completion signal is decremented
// at its end. So the head is what was not taken yet, and what was taken runs for certain only as
// long as its signal says so.
#ifndef GPQ_WHY_PROFILE_H
#define GPQ_WHY_PROFILE_H

#include "common/why/why.h"

#define PROFILE_LOOK_NS UINT64_C(1000000)   // least time between two looks
#define PROFILE_REST_NS UINT64_C(100000000) // greatest
#define PROFILE_SEARCH  16384               // packets of a ring that are searched for a signal
#define PROFILE_SCAN_NS UINT64_C(500000000) // least time between two searches for new queues

enum profile_state {
	PROFILE_UNKNOWN, // indices, packet or signals could not be read, or moved meanwhile
	// The packet taken last has a completion signal above 0, which was not seen at 0 since, and
	// no other packet that is seen has it.
	PROFILE_RUNNING,
	PROFILE_NEXT,        // a packet is at the head, and its signals do not keep it back
	PROFILE_WAITS,       // the packet at the head waits for signals, or polls memory
	PROFILE_UNPUBLISHED, // the write index is beyond the head, whose header is not written
	PROFILE_IDLE,        // the ring is empty
	PROFILE_OFF,         // off the hardware at the last search for queues, and not moved since
	PROFILE_STATES
};

const char *profile_state_word(enum profile_state s);

// What a look shows of a queue. Two sights are the same if all members are; texts are compared by
// address.
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
	// Which queue it is; the texts are owned. What is unknown is as in struct queue_row.
	int64_t pid;
	char *comm, *type;
	uint64_t gpu_id, qid, context, ring;

	struct profile_count *v; // owned; profile_finish() puts the most frequent first
	size_t n, cap;

	uint64_t unread; // looks for which a packet or a signal could not be read

	// The rest is of the run.
	struct why_queue x;  // q is NULL: it is not there any more
	uint64_t unreadable; // looks that could not read it since the last search: it may have
			     // ended, else they count
	bool off;
	uint64_t off_at; // read index when it was found off
	// done_at: read index at which the packet before it was found complete, or its signal
	// reused. searched_at: read index at which other packets with that signal were searched.
	uint64_t done_at, searched_at;
	uint64_t object;    // kernel object whose name was looked up last
	const char *kernel; // and that name, NULL: unknown
	unsigned renamed;   // profile.renamed then
	size_t at;          // index in v of what the last look saw, SIZE_MAX: none yet
	uint64_t since_ns;  // when it began to show v[at]
};

struct profile {
	struct profile_queue *v; // owned; in the order in which they came
	size_t n, cap;
	uint64_t looks;            // at all queues that were there
	uint64_t begin_ns, end_ns; // clock_ns()
	uint64_t cpu_ns;           // that the run took, of all threads

	// The name of a kernel, which is copied; NULL: unknown. `renamed` says that names may
	// differ from those before.
	const char *(*name)(void *arg, const struct ring_queue *q, uint64_t kernel_object);
	unsigned renamed;
	// Called before a queue shows something else, and at its end: it showed q->v[q->at] since
	// q->since_ns. NULL: not called.
	void (*changes)(void *arg, const struct profile_queue *q, uint64_t now_ns);
	void *arg;

	const struct rings *rings;
	void *names; // owned: a tree by tsearch(3)
};

// Sets the queues that profile_look() looks at. Those that were there before keep their counts. `r`
// must outlive the next call.
void profile_take(struct profile *p, const struct rings *r);

// One look at each queue that is there.
void profile_look(struct profile *p, uint64_t now_ns);

// The time of the next look: 1 ms after the last one, or later until gpq has used at most 2 % of a
// core since the beginning, but no more than 100 ms from now. All in ns of clock_ns(), `cpu_ns`
// since begin_ns.
uint64_t profile_due(uint64_t begin_ns, uint64_t looked_ns, uint64_t now_ns, uint64_t cpu_ns);

// Looks for `for_ns`, or until an end is asked for (stop.h). `scan` is called now and then, and may
// call profile_take(); NULL: nothing. Of a recorded host, which does not move, one look.
void profile_run(struct profile *p, uint64_t for_ns, void (*scan)(void *arg));

// Ends what each queue shows, and sorts the counts.
void profile_finish(struct profile *p);
void profile_fini(struct profile *p);

#endif
