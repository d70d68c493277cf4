// The room of why: what each queue is doing, on what it waits, and what each process makes of it.
// Open this file first. rings.h finds the rings of the chosen queues and opens the memory of their
// processes; why_glance.c looks at the head of a ring, and reads exceptions that the driver noted;
// why.c looks twice, and searches for packets that set the signals that the next packet waits for;
// shared.c finds the same signal in other processes; verdict.c judges; words.c says it, remedies.c
// what to do. profile.h makes a sampling profile of many looks.
//
// Facts: HSA Platform System Architecture Specification 1.2, 2.8 and 2.9: the packets of a queue
// are taken in order; one with the barrier bit begins when all before it are complete; a packet's
// completion signal is decremented when the packet is complete, which may be long after it was
// taken. Of packets without the barrier bit several may be at work at once; a packet that was taken
// no longer shows whether it had the bit. Whether the read index moves when a kernel is launched or
// when it ends differs between GPUs. [debugfs.hqds-idle], [debugfs.rls-active], [debugfs.off].
//
// Where two states look the same, there is one state with both names.
#pragma once

#include "common/host/threads.h"
#include "common/reader/maps.h"
#include "common/why/klog.h"
#include "common/rows/evictions.h"
#include "common/why/rings.h"
#include "common/why/shared.h"

enum why_state {
	WHY_UNKNOWN,
	WHY_RUNNING,      // packets were taken between the looks
	WHY_HUNG_OR_LONG, // a packet that waits for nothing is at work, and none was taken
	WHY_IDLE,
	WHY_IDLE_OR_RUNNING, // the ring is empty, and nothing tells whether the last kernel has
			     // ended
	WHY_WAITS_BARRIER,   // waits for packets that are being reached
	WHY_WAITS_EXTERNAL,  // waits for a signal that no packet sets, as far as gpq sees
	WHY_WAITS_SLOT,      // has packets, and is in no hardware slot now
	WHY_BEHIND,          // waits for packets of a queue that does not go on now
	WHY_DEADLOCK,        // waits for packets that wait for it
	WHY_UNPUBLISHED,     // the next packet is not written, though the write index is beyond it
	WHY_DOORBELL_LOST,   // has packets, but the queue's slot has not seen the new write index
	WHY_STOPPED,         // waits for its process, which is stopped
	WHY_SUSPENDED,
	WHY_EVICTED,
	WHY_SUSPENDED_OR_EVICTED,
	WHY_SUSPENDED_OR_RESET,
	WHY_ERROR, // the driver noted exceptions of the queue
	WHY_RESET, // off hardware, and its GPU was reset since the process began
	WHY_LOST,  // off hardware, and the driver's log says that the GPU did not let queues go
	WHY_STATES
};

// The state's word, place among others (0, stuck, to WHY_RANKS - 1, idle), and what to do about it:
// one line for people, NULL where nothing is to be done; why_queue.remedy may know better.
enum { WHY_RANKS = 6 };
const char *why_state_word(enum why_state s);
unsigned why_rank(enum why_state s);
const char *why_remedy(enum why_state s);

// Appends a remedy with the number `pid` for each word PID.
void why_put_remedy(struct buf *to, const char *text, int64_t pid);

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
	bool known;            // `value` could be read
	bool open;             // `value` is known and lets the packet begin
	bool shared;           // no packet of the process sets it; it lies in a file in memory
	struct why_setter by;  // the packet that sets it
	struct why_setter was; // without one: a packet, taken long ago, that had the signal
};

struct why_queue {
	const struct ring_queue *q;
	enum why_state state;
	enum ring_problem problem;
	// Where the indices come from: "process", its memory; where that does not tell, "live", the
	// hardware slot, or "saved", the MQD of a queue in no slot. NULL: they are unknown.
	const char *pointers;
	struct ring_indices first, now;
	struct packet next; // the packet at the read index; type NULL: none
	struct packet last; // the packet before `next`, which was taken last; type NULL: unknown
	enum ring_state next_state;
	unsigned ndeps;
	bool stuck; // it will not go on by itself, or has not for why_how.stuck_after_ns
	bool has_last_value;
	bool blocked;        // `next` waits for a signal or a word of memory
	bool unsure;         // `next` may wait: a signal cannot be read
	bool on_gpu;         // its packets cannot be read, as the ring is in the GPU's memory
	bool once;           // seen at one moment: whether it moves is not known
	bool unread;         // an index, packet or signal that the verdict needs was not read
	bool blind;          // not all packets of the process could be searched for signals
	bool goes_on;        // not deadlocked: the queue goes on once others have
	bool work_sure;      // false: the next packet may be at work instead of `work`
	int64_t last_value;  // value of last.completion, unless other packets use that signal, too
	uint64_t exceptions; // result of why_exceptions()
	struct why_dep deps[PACKET_DEPS];
	const struct why_dep *because; // the wait that the state is about; NULL: none
	size_t root;                   // index in why.v of the queue that this one waits for in the
				       // end; SIZE_MAX: it waits for no queue, or in a circle
	struct why_setter work;        // the packet at work; queue SIZE_MAX: none, or unknown
	struct why_setter older;       // a kernel, taken before `last`, that has not completed
	uint64_t over_ns;              // time between its two looks; 0: `once`, or unknown
	uint64_t stood_ns;             // for how long, at least, no packet was taken: since the
				       // first look at this read index, or since the kernel at
				       // work began, as its completion signal tells
	uint64_t quiet_ns;             // for how long, at least, the GPU sent no interrupt; 0: it
				       // did, or that is not known
	pid_t by_pid;                  // process that suspended the queue; 0: unknown
	char by_name[64];              // command name of process by_pid
	const struct klog_line *log;   // what the kernel's log has about the GPU; NULL: nothing
	bool log_vague;                // it may be about another GPU, or process
	const char *trigger;           // what triggered the eviction of the queue; NULL: unknown
	char *detail;                  // owned: the state in a sentence
	char *remedy;                  // owned: what to do about it; NULL: nothing
};

// A process, and what its queues make of it.
struct why_process {
	size_t first, end;           // its queues in why.v
	size_t worst;                // of the chosen ones, the queue that the verdict is about
	unsigned chosen, stuck;      // chosen queues; of them stuck
	unsigned waiting;            // other chosen queues that wait behind `worst`
	struct shared_maps maps;     // read only if a signal is set by no packet of its process
	struct proc_threads threads; // read only if a queue waits for the host
	bool has_threads;
	uint64_t since_us; // when the process began, since boot; UINT64_MAX: unknown
	char *text;        // owned: the verdict in a sentence
	char *host;        // owned: where its threads stand, if something may be wrong; or NULL
	char *stacks;      // owned: lines of stacks_read(), by why_read_stacks(); or NULL
};

// What was seen of heads of queues earlier: since when they stand. Zeroed before the first look. Of
// recorded hosts, it may be what an earlier moment had.
struct why_heads {
	struct why_head *v;
	size_t n;
	uint64_t at_ns; // the last look
};
void why_heads_fini(struct why_heads *h);

struct why_how {
	const struct evictions *evictions; // NULL: evictions are not known
	const struct klog *log;            // NULL: the host's own
	struct buf *interrupts;            // gets the interrupts of GPUs (irqs_look()); or NULL
	struct why_heads *heads; // of earlier looks, kept up to date; NULL: of this one only
	uint64_t over_ns;        // time between the two looks
	uint64_t stuck_after_ns; // a queue that stands for so long is stuck; 0: not for that
	unsigned looks;          // of why_look_on(), at least
	// Returns the name of a kernel for people, valid until the next call; NULL: unknown.
	const char *(*name)(void *arg, const struct ring_queue *q, uint64_t kernel_object);
	void *arg; // of name()
};

struct why {
	struct why_queue *v; // one for each of rings->v
	size_t n;
	struct why_process *processes; // one for each of rings->processes
	struct rings *rings;
	const struct why_how *how;
	struct klog log; // read only if a queue is off the hardware or may be hung
	bool has_log;
	uint64_t over_ns; // time between the two looks, as it was
};

// Looks twice at the queues of `r` and judges them. `r` must have been loaded with `whole`,
// READ_HOLDER and READ_CU, and outlive the result, as must `how`. Hardware slots are read if a
// queue may be hung, and threads of a process if a queue of it waits for the host.
void why_look(struct why *w, struct rings *r, const struct why_how *how);

// Looks how->looks times, and with stuck_after_ns until no queue stands that could yet be found
// stuck; at a recorded host as often as it was looked at then. The result is that of the last time.
void why_look_on(struct why *w, struct rings *r, const struct why_how *how);

// Returns what the GPU took between the two looks, in the unit of the queue's indices.
uint64_t why_taken(const struct why_queue *x);

// Reads the stacks of the chosen processes. Returns 0, or the error of the first that has none, as
// of stacks_read(), and sets *pid.
int why_read_stacks(struct why *w, pid_t *pid);

void why_fini(struct why *w);

// --- shared.c ---

// A place in a file, or buffer, that processes share.
struct why_place {
	uint64_t device, inode, offset;
	bool named; // a file, as in /dev/shm, or a memfd: not a buffer of a GPU
};

// Where the address of a process lies. Returns false if that is in no mapping which is shared.
// `process`: index in w->processes; its maps are read once.
bool why_place_of(struct why *w, size_t process, uint64_t address, struct why_place *place);

// Returns the next address of the place in a process; *next: 0 before the first. 0: no more.
uint64_t why_address_of(struct why *w, size_t process, const struct why_place *place, size_t *next);

// --- verdict.c: sets the states of all queues, after both looks; words.c: the sentences ---

void why_judge(struct why *w);
void why_tell(struct why *w);

// Returns what to do about a queue, for its process; of a process that is not shown, where the
// queue waits for that. NULL: nothing. To be freed.
char *why_tell_remedy(const struct why *w, const struct why_queue *x);

// Does a chosen queue stand still that would count as stuck if it goes on doing so?
bool why_may_get_stuck(const struct why *w);

// Does the GPU itself keep a queue of that state: not a packet that it waits for, nor somebody who
// took it off?
bool why_stands(enum why_state s);

// Are there exceptions that the driver noted for the queue?
bool why_has_error(const struct why_queue *x);

// Is the queue judged by the indices of its slot or MQD?
static inline bool why_is_by_slot(const struct why_queue *x)
{
	return x->problem && x->pointers;
}

// Was a packet taken between the two looks?
bool why_has_moved(const struct why_queue *x);

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
