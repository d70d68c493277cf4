// Many holders at once: processes that are suspended and resumed together, each by its own holder.
//
// A request goes to all holders before the first answer is read, so that they work side by side.
// There are two ways to use a group:
//
// - group_request() and group_answers(): one request of the caller's words to each member
//   (gpq suspend, gpq resume, gpq why --attach).
// - group_ask(): members are held or run, as a scheduler wants it. Queues that a member creates
//   while it is held are suspended as they appear, and the indices of its queues are watched.
//
// Whatever dies, the queues run: the holds of group_ask() are tied to its connections, and have a
// deadline.
#pragma once

#include "common/holder/holder.h"
#include "common/holder/measure.h"

// GPUs as bits, in the order in which they were met; the 65th and later ones have none.
#define GPUS_ALL UINT64_MAX
struct gpu_bits {
	uint32_t ids[64]; // gpu_id numbers
	unsigned n;
};
uint64_t gpu_bit(struct gpu_bits *b, uint32_t gpu_id);

// The GPUs of a process's queues in sysfs, or of those that are selected; `sel` may be NULL. Where
// the GPU of a queue cannot be read, or there are more than 256 queues, the GPUs of `had` (those
// known before) are added, as the queue may be on any of them.
uint64_t gpu_bits_of(struct gpu_bits *b, pid_t pid, const struct kfd_selection *sel, uint64_t had);

enum member_state {
	MEMBER_NAMED,  // there is no connection to a holder
	MEMBER_READY,  // connected, no request is on its way
	MEMBER_ASKED,  // a request was sent, and its answer has not come
	MEMBER_SILENT, // the answer is overdue, and still awaited: see `failure`
	MEMBER_FAILED, // the holder is lost or refuses: see `failure`
	MEMBER_ENDED,  // the process is dead
};

// For group_ask(): the last request to a member, and what became of the member.
enum member_request { REQUEST_ATTACH, REQUEST_QUEUES, REQUEST_HOLD, REQUEST_RELEASE };
enum member_place {
	MEMBER_RUNS,   // the last request was to resume, or there was none
	MEMBER_IDLE,   // left running, since it has nothing to do
	MEMBER_HELD,   // the last request was to suspend
	MEMBER_PARTLY, // the last request was to suspend, and some queues could not be
};

// A look: a reading of the indices of a member's watched queues in its memory.
enum member_look {
	LOOK_NONE,      // no look is under way
	LOOK_POSTED,    // `nowait`: the reader was asked for the indices
	LOOK_TO_DECIDE, // the reader was asked; its answer decides whether to suspend the member
};
enum member_indices {
	INDICES_UNKNOWN, // the last look could not read all indices
	INDICES_KNOWN,   // the last look read all indices
	INDICES_SILENT,  // the memory did not answer: the member may have work
};

struct group_member {
	struct kfd_target target; // pinned, unless the member is only named
	struct kfd_link link;     // connection to the member's holder; fd -1: none
	struct kfd_failure failure;
	enum member_state state;
	pid_t holder;                // the holder that was started for the member; 0: none
	struct kfd_selection *sel;   // which queues of the member to hold; owned; NULL: all
	uint64_t asked_ns;           // when the last request was sent (CLOCK_MONOTONIC)
	uint64_t answered_ns;        // when the holder's answer came, or the member failed
	struct kfd_queue *unreached; // queues that no holder reaches (contexts.c); owned
	size_t num_unreached;
	bool joins;            // added under group.pass; its first requests are not answered yet
	bool looked_unreached; // `unreached` was counted
	// Used by group_ask():
	enum member_request asked_for;
	enum member_place place;
	uint64_t gpus; // where the member has chosen queues, as sysfs lists them; without g->bits:
		       // all
	uint64_t want;     // on which GPUs it is to be suspended
	uint64_t held;     // on which GPUs its holder was asked to suspend it
	bool outdated;     // what is held was chosen by another selection
	uint64_t changing; // of the request under way: where it suspends or resumes queues
	uint64_t until_ns; // when the holder ends the last hold by itself; of groups with limit_ns
	uint64_t changed_ns; // when the last answer to a request to suspend or resume came
	struct buf request;  // the request that suspends the member
	size_t words;        // length of `request` without its list of GPUs, which changes
	struct buf queues;   // names of the member's queues in sysfs when its holder was last asked
	unsigned num_queues; // number of names in `queues`
	bool stale;          // ask for the queues again: sysfs disagrees, or group_set() was called
	unsigned tries;      // how often in a row the holder has reported another number than sysfs
	uint64_t tried_ns;   // when attaching was last tried; until then, when the member was added
	uint64_t failed_ns;  // when the member failed
	uint64_t user;       // for the caller: user id of the process
	size_t job;          // for the caller: what the process belongs to
	bool said;           // for the caller: `failure` was reported
	bool excused;        // set by the caller: group_work() leaves it out
	// State of the watched queues:
	enum member_look look;
	enum member_indices indices;
	bool fresh;        // `nowait`: the next look drops queues whose indices cannot be read
	uint64_t moved_ns; // when an index was last seen to move
	uint64_t gone;     // packets counted of queues that are no longer watched
	struct kfd_watch watch;
	// Indices at group_count_begin(), and at the last look; owned; NULL before attaching.
	struct kfd_indices *first, *last;
};

struct group {
	struct group_member **v; // owned array of owned members
	size_t n, cap;
	bool attach; // group_add() attaches to members
	bool dry;    // members are only named, whether they live or not
	bool held;   // group_ask(): members are to be suspended, also those that are added later
	struct gpu_bits *bits; // borrowed; NULL: members are held on all of their GPUs or on none
	unsigned grace; // grace period of a suspend: units of 1000 GPU clocks, to KFD_GRACE_MAX
	unsigned most;  // hold only the first `most` queues of each member, by id; 0: all
	bool nowait;    // nothing waits for a holder: group_take() alone takes answers
	bool pass; // new members do not count in `asked` until their first requests are answered
	uint64_t settle_ns;    // `pass`: how long group_settle() waits with a new member
	unsigned patience_ms;  // how long an answer may take; 0: KFD_ANSWER_MS
	struct reader *reader; // nowait: reads the members' memory; owned
	uint64_t limit_ns;     // time from a suspend to the deadline at which its holder resumes
	uint64_t idle_ns;      // a member that is idle for this long is not suspended; 0: all are
	size_t asked;        // members in MEMBER_ASKED without `joins`, and those in LOOK_TO_DECIDE
	uint64_t calls;      // answers to suspend or resume that took a call of the driver
	uint64_t grown_ns;   // when the last member was added
	size_t unreached;    // queues of secondary contexts, which no hold reaches
	unsigned num_queues; // queues of all members in sysfs, at the last group_look()
};

// Adds a process, pinned unless `dry`, or attaches anew to a member that called exec. The group
// owns `sel` (NULL: all queues) from then on. Returns NULL if the process is gone. If attaching
// fails, the member gets into MEMBER_FAILED: at once, or with `nowait` when group_take() has the
// answer.
struct group_member *group_add(struct group *g, pid_t pid, struct kfd_selection *sel);

// The process as a member that has not ended, or NULL; is it one?
struct group_member *group_find(const struct group *g, pid_t pid);
bool group_has(const struct group *g, pid_t pid);

// Is an answer of the member's holder still to come?
static inline bool member_is_asked(const struct group_member *m)
{
	return m->state == MEMBER_ASKED || m->state == MEMBER_SILENT;
}

// Has the member failed, or is its answer overdue? m->failure says why.
static inline bool member_is_missed(const struct group_member *m)
{
	return m->state == MEMBER_FAILED || m->state == MEMBER_SILENT;
}

// For callers of group_request() that do more with a member: sets whether that failed.
static inline void member_set_failed(struct group_member *m, bool failed)
{
	m->state = failed ? MEMBER_FAILED : MEMBER_READY;
}

// Appends the words of the protocol that select the member's queues: " queues=1,2 gpus=41460".
void member_words(const struct group_member *m, struct buf *b);

// ---- group_talk.c: one request in the caller's words

struct group_talk {
	const char *request; // request line, in words of the protocol
	bool select;         // append member_words() to `request`
	bool start;          // start holders for members that have none
	unsigned soon_ms;    // time for a stopped holder (SIGSTOP) to answer; 0: 5 s
	unsigned limit_ms;   // time for any other holder to answer; 0: KFD_ANSWER_MS
	uint64_t since_ns;   // when soon_ms and limit_ms begin (CLOCK_MONOTONIC); 0: at each wait
};

// Pins members that are only named, connects to their holders, and sends the request to members
// that have not failed and were not abandoned.
void group_request(struct group *g, const struct group_talk *t);

// Waits for the answers. With `start`, a request to a holder whose deadline was just ending it goes
// to a new holder.
void group_answers(struct group *g, const struct group_talk *t);

// kfd_link_abandon() for one member, or for all that failed.
bool member_abandon(struct group_member *m);
void group_abandon_failed(struct group *g);

// ---- members

// Moves all members of `from` to the end of `g`.
void group_move(struct group *g, struct group *from);

// Moves the member `pid` of `from`, which may be `g`, to the end of `g`, with its holder, and gives
// it another selection; `sel` as of group_add(). What is held is let go first.
struct group_member *group_take_over(struct group *g, struct group *from, pid_t pid,
				     struct kfd_selection *sel);

// Lets the member `pid` go at once, if there is one.
void group_drop(struct group *g, pid_t pid);

// Removes members for which `keep` returns false. Not to be called while packets are counted.
void group_keep(struct group *g, bool (*keep)(const struct group_member *m, const void *arg),
		const void *arg);
void group_forget_ended(struct group *g);

const struct group_member *group_failed(const struct group *g);

// Closes all connections, and waits for the end of holders that were started: queues run when this
// returns, unless a lasting hold or another client holds them.
void group_release(struct group *g);

// Frees the group, after group_release() if it attaches.
void group_fini(struct group *g);

// ---- group.c: members that are held or run

// Looks for members that ended, and for queues that came or went: a few reads of sysfs each.
void group_look(struct group *g);

// Sets g->grace and g->most, which take effect at the next group_look(), at the latest. To be
// called, too, when g->limit_ns has changed.
void group_set(struct group *g, unsigned grace, unsigned most);

// Asks holders to suspend all members (`hold`) or to resume them. Never waits. Holding anew begins
// the deadline anew.
void group_ask(struct group *g, bool hold);

// The same for one member, GPU by GPU: asks its holder where m->held is to change. A member without
// queues on these GPUs is not asked, and one of a `dry` group obeys at once.
void group_ask_member(struct group *g, struct group_member *m, uint64_t want);

// The GPUs on which a hold of the member, or its end, is awaited.
uint64_t group_busy(const struct group_member *m);

// Of these GPUs those of the request under way, if no other follows its answer; else 0.
uint64_t group_last_change(const struct group_member *m);

// Takes the answers that have come, and sends another request where m->want has changed. Never
// waits. With `nowait` a member whose answer is overdue becomes MEMBER_SILENT: connection, hold and
// deadline stay, and the late answer is taken as any other.
void group_take(struct group *g);

// Was the member, by its last answer, suspended with all its queues, or all on the GPUs of m->held?
bool group_is_off(const struct group_member *m);

// Waits until no request is on its way.
void group_wait(struct group *g);

// Has the member failed for another reason than the end of its process? Known 0.5 s after the
// failure.
bool group_has_failed(const struct group_member *m, uint64_t now_ns);

// Attaches to one of the members that have lived for settle_ns, or to any with `now`, as starting a
// holder takes time. Returns when the next one is due (CLOCK_MONOTONIC); UINT64_MAX: none waits.
uint64_t group_settle(struct group *g, uint64_t now_ns, bool now);

// Attaches again to members that failed, at most once in 5 s each.
void group_retry(struct group *g, uint64_t now_ns);

// Returns the number of the process's queues in sysfs. Appends their names to `names` unless NULL.
unsigned group_list_queues(pid_t pid, struct buf *names);

// ---- group_look.c: indices and work

// Reads the indices of all queues. `nowait`: asks the reader for them, and group_take() takes its
// answers; group_reader_fd() is readable then (-1: nothing was asked).
void group_sample(struct group *g);
int group_reader_fd(const struct group *g);

// Asks to suspend the members that are to be, were idle, and have work now.
void group_look_at_idle(struct group *g);

// Did any queue have packets not taken yet, at the last look? Memory that does not answer counts as
// yes.
bool group_has_work(const struct group *g);

// The GPUs of these queues.
uint64_t group_work(const struct group *g);

// Calls group_sample(). Has any queue ever taken a packet?
bool group_has_moved(struct group *g);

// Count the AQL packets that the queues take between the calls. group_count_end() returns false
// when no member lives whose indices can be read.
void group_count_begin(struct group *g);
bool group_count_end(struct group *g, uint64_t *packets);
