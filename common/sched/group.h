// Processes that are suspended and resumed together, each by its own holder (holder/holder.h).
//
// All requests are sent before the first answer is read, so that the holders work side by side.
// Queues that a member creates while it is held are suspended as they appear. Whatever dies, the
// queues run: the holds are tied to our connections and have a deadline.
#ifndef GPQ_SCHED_GROUP_H
#define GPQ_SCHED_GROUP_H

#include "common/holder/holder.h"
#include "common/holder/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum group_request { GROUP_ATTACH, GROUP_QUEUES, GROUP_HOLD, GROUP_RELEASE };

struct group_member {
	struct kfd_target target;
	struct kfd_link link;      // fd -1: not attached to
	pid_t holder;              // that was started for it; 0: none
	struct kfd_selection *sel; // which of its queues; owned; NULL: all
	struct kfd_watch watch;
	struct kfd_indices first, last; // of the watched queues: start of counting, last look
	uint64_t gone;                  // packets counted of queues that are no more
	uint64_t moved_ns;              // when an index was last seen to move
	struct buf request;             // to suspend it
	struct buf queues;              // its directory in sysfs, before the holder was asked
	unsigned num_queues;            // how many are in there
	bool stale;                     // the holder had another number of them
	bool looked;                    // for queues that cannot be held
	unsigned tries;                 // looks that found more queues than its holder has
	bool ended;
	uint64_t user;     // whose process it is; the caller's
	bool asked;        // a request was sent whose answer has not come
	bool counted;      // that request is one of the group's `asked`
	bool late;         // `pass`: from attaching on until nothing is asked of it
	uint64_t asked_ns; // when
	enum group_request asked_for;
	bool looking; // nowait: its indices were asked for
	bool known;   // the last look read all of them
	bool mute;    // its memory did not answer: it may have work
	bool fresh;   // nowait: which of the watched queues can be read is not known yet
	bool checked; // nowait: it is looked at before it is left running as idle
	bool silent;  // nowait: asked for longer than `patience_ms`: see `failure`
	bool hold;    // of the requests to suspend or to run, the last was to suspend
	bool idle;    // it was left running because it had nothing to do
	bool failed;  // its holder is lost or refuses: see `failure`; it runs
	bool partly;  // some of its queues could not be suspended
	bool said;    // the failure was reported, by the caller
	uint64_t tried_ns, failed_ns; // when it was last attached to, and when it failed
	struct kfd_failure failure;
};

struct group {
	struct group_member **v; // owned
	size_t n, cap;
	bool attach;          // to members, and to those that come
	bool dry;             // members are only named, whether they live or not
	bool held;            // they are to be suspended; what comes is suspended, too
	unsigned grace;       // of suspending, 1000 GPU clocks, 0 to KFD_GRACE_MAX
	unsigned most;        // only the first so many of each member's queues, by id; 0: all
	bool nowait;          // answers are taken by group_take() alone: nothing waits for a holder
	bool pass;            // requests to members that join do not count in `asked`
	unsigned patience_ms; // that an answer is waited for; 0: KFD_ANSWER_MS
	struct reader *reader; // nowait: of the members' memory; owned
	uint64_t limit_ns;     // deadline of each hold, kept by its holder
	uint64_t idle_ns; // members whose indices stood still for so long, and that have nothing to
			  // do, are not suspended; 0: all are
	size_t asked; // members with a request on its way, without those that are silent or late,
		      // and those that are checked
	uint64_t answered_ns; // when the last answer to a request to suspend or resume came
	uint64_t calls;    // requests answered that made the driver take queues off or put them on
	uint64_t grown_ns; // when the last member came
	size_t unreached;  // queues of secondary contexts, which no hold reaches
	unsigned num_queues; // by sysfs, at the last look
};

// Adds a process, pinned, or attaches anew to a member after it called exec; `sel` (NULL: all its
// queues) becomes the group's. NULL when the process is gone. A member that could not be attached
// to has `failed`; `nowait`: once group_take() has its answer.
struct group_member *group_add(struct group *g, pid_t pid, struct kfd_selection *sel);

bool group_has(const struct group *g, pid_t pid);

// Looks for members that ended, and for queues that came or went. A few reads of sysfs each.
void group_look(struct group *g);

// From the next group_look() on, which asks for the queues again where something changes.
void group_set(struct group *g, unsigned grace, unsigned most);

// Sends requests so that all members come to be suspended (`hold`; again: the deadline begins
// anew), or to run. Never waits.
void group_ask(struct group *g, bool hold);

// Reads the answers that have come; what has become outdated meanwhile is asked anew. Never waits
// for an answer. `nowait`: a member whose answer is overdue becomes silent. Its connection stays,
// and so do its hold and the deadline of that; the late answer is taken as any other.
void group_take(struct group *g);

// Was the member, by its last answer, suspended with all its queues?
bool group_is_off(const struct group_member *m);

// Waits until no request is on its way.
void group_wait(struct group *g);

// While the group is held: asks to suspend the members that were idle and have work now.
void group_look_at_idle(struct group *g);

// It failed, and not because its process was ending.
bool group_has_failed(const struct group_member *m, uint64_t now_ns);

// Attaches again to members that failed, at most once in 5 s each.
void group_retry(struct group *g, uint64_t now_ns);

// Removes members that ended; that of a group in which packets are counted must not be done.
void group_forget_ended(struct group *g);

// The first member that failed, or NULL.
const struct group_member *group_failed(const struct group *g);

// Writes the names of the process's queues in sysfs (NULL: nowhere). Their number.
unsigned group_list_queues(pid_t pid, struct buf *names);

// Reads the indices of all queues; `nowait`: asks for them, and group_take() takes the answers.
// They can be waited for by group_reader_fd(), -1: there are none.
void group_sample(struct group *g);
int group_reader_fd(const struct group *g);

// Was there a queue with packets not taken yet, by the last look? So a member counts whose memory
// does not answer.
bool group_has_work(const struct group *g);

// Looks; has any queue ever taken a packet?
bool group_has_moved(struct group *g);

// AQL packets that the queues took from begin to end. False when no member lives.
void group_count_begin(struct group *g);
bool group_count_end(struct group *g, uint64_t *packets);

// Lets go of all: their queues run when this returns.
void group_release(struct group *g);
void group_fini(struct group *g);

#endif
