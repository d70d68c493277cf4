// The holder process: its state, and the functions that its files share.
#pragma once

#include "common/holder/protocol.h"
#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/holder/rundir.h"
#include "common/host/proc.h"

#include <time.h>

#define HOLDER_MAX_CLIENTS 64
#define HOLDER_LOCK_MS     100 // time from the first suspend to holder_lock_down()
#define FOREVER            UINT64_MAX

// Numbers of holds: lasting ones first, then a hold for each client, tied to its connection.
#define LASTING_HOLDS 16
#define HOLDS         (LASTING_HOLDS + HOLDER_MAX_CLIENTS)

// Which queues a hold suspends.
#define SCOPE_WORDS (KFD_MAX_QUEUES / 64)
#define SCOPE_GPUS  64
struct hold_scope {
	uint64_t ids[SCOPE_WORDS]; // a bit for each queue id
	bool follows;              // the hold takes in queues that appear later
	unsigned num_gpus;         // entries of `gpus`; 0: later queues on any GPU are followed
	uint32_t gpus[SCOPE_GPUS];
};

struct client {
	int fd;         // connection; -1: this place is free
	bool keeps;     // the holder stays attached as long as this client is connected
	uint64_t last;  // holder.turn when the client's last input came
	size_t len;     // bytes of the client's last, unfinished line in holder.in
	struct buf out; // answers that the client has not taken yet
};

// Small members are first, then the session, whose lists are at its end, then arrays that are
// mostly unused: the first write to a page costs a fault, more than all that is done in the page.
struct holder {
	struct kfd_target target;
	bool opened; // kfd_session_open() was called
	bool failed; // the session could not be opened; see `failure`
	bool kept;   // the holder stays attached without a hold
	bool ending;
	unsigned grace; // grace period for queues that appear later
	pid_t pid;      // PID of the holder itself
	int listener, signals, timer;
	struct loop loop;
	uint64_t look_ns; // when to look next whether a debugger took an untraced session
	uint64_t turn;    // counts inputs of clients
	// When to call holder_lock_down(): 0 before the first suspend, FOREVER after the call.
	uint64_t lock_down_ns;
	timer_t killer;
	bool has_killer;
	int dir;                         // directory of the socket
	char name[KFD_SOCKET_NAME_SIZE]; // file name of the socket
	uint64_t armed_next, armed_kill; // times the timers are set to; 0: off
	struct title title;
	size_t text_len;
	uint64_t made[(HOLDS + 63) / 64]; // a bit for each hold that exists
	uint64_t until_ns[HOLDS];         // deadlines of the holds: CLOCK_MONOTONIC, or FOREVER
	struct client clients[HOLDER_MAX_CLIENTS];
	struct kfd_session session;
	struct hold_scope scopes[HOLDS]; // indexed by hold; undefined unless that hold is made
	char text[8 * HOLDER_LINE_MAX];  // an answer, sent in one piece where it fits
	struct kfd_outcome outcomes[2 * KFD_MAX_QUEUES];
	char in[HOLDER_MAX_CLIENTS][HOLDER_LINE_MAX]; // input of each client that is not served yet
	struct kfd_failure failure;
};

// ---- deadlines.c: holds and their timers

// Returns the number of the client's tied hold.
static inline unsigned hold_of(const struct holder *h, const struct client *c)
{
	return LASTING_HOLDS + (unsigned)(c - h->clients);
}

bool hold_is_made(const struct holder *h, unsigned n);
void hold_drop(struct holder *h, unsigned n);
// Takes the queues on these GPUs out of hold `n`, now and later; drops a hold that is about no
// other. One that follows queues on any GPU goes on with the target's other GPUs.
void hold_narrow(struct holder *h, unsigned n, const uint32_t *gpus, unsigned num_gpus);

// Makes the hold of a `suspend` request and arms its timers, before anything is suspended. Returns
// the hold's number, or -1 if the kernel gives no timer (RLIMIT_SIGPENDING) that could end the
// hold.
int hold_make(struct holder *h, const struct client *c, const struct holder_request *r);
// Undoes hold_make() after the suspension failed; a hold that existed before stays.
void hold_cancel(struct holder *h, unsigned n);
// After the suspension: fills the hold with the queues that the first `num` outcomes show
// suspended. Drops a hold that is about no queue and follows none.
void hold_fill(struct holder *h, unsigned n, const struct holder_request *r, int num);
// Turns the client's tied hold into a lasting one.
void hold_keep(struct holder *h, const struct client *c);
// Drops holds whose deadline has passed. Returns false if there were none.
bool hold_expire(struct holder *h);
void hold_drop_all(struct holder *h);
// Takes this queue out of all holds, and drops holds that are about no other queue.
void hold_forget(struct holder *h, uint32_t id);
// After all queues are gone: takes them out of all holds, which follow new queues as before.
void hold_forget_queues(struct holder *h);
// After a new queue could not be suspended: no hold follows new queues any longer.
void hold_stop_following(struct holder *h);
// Adds the queue to the holds that follow its GPU.
void hold_follow(struct holder *h, const struct kfd_queue_entry *q);

// Returns when the last hold on queue `id` ends, or with ANY_QUEUE the last of all holds
// (CLOCK_MONOTONIC or FOREVER); 0: there is no hold.
#define ANY_QUEUE UINT32_MAX
uint64_t hold_until_of(const struct holder *h, uint32_t id);
static inline uint64_t hold_until(const struct holder *h)
{
	return hold_until_of(h, ANY_QUEUE);
}
// Does a hold follow the queues that appear on this GPU?
#define ANY_GPU UINT32_MAX
bool hold_follows(const struct holder *h, uint32_t gpu);
// Sets two timers: one at which the loop drops holds, and a later one by which the kernel kills a
// holder that does not run.
void hold_arm(struct holder *h);

// ---- serve.c: requests and answers

// Answers one request line, and changes it.
void serve_line(struct holder *h, struct client *c, char *line);
// Suspends queues that appeared and that a hold follows. Sets h->ending if the session has ended.
void serve_new_queues(struct holder *h);
// After holds ended: resumes queues that no hold is about. If no hold is left, sets h->ending
// unless the holder is kept. Returns the number of outcomes.
int serve_release(struct holder *h);
void client_close(struct holder *h, struct client *c);
// Sends more of the unsent answers to a client, as far as its socket takes them.
void send_more(struct holder *h, struct client *c);
// Before the exit: waits briefly for clients to take their unsent answers.
void send_last(struct holder *h);

// ---- loop.c

// Serves until there is nothing left to hold.
void holder_loop(struct holder *h);
// Adds the session's events to what the loop waits for. Returns false with errno if it cannot.
bool holder_watch_session(struct holder *h);
// Makes the loop wait until the client takes more of its answers (`answers`), or sends a request.
void holder_watch_client(struct holder *h, struct client *c, bool answers);

// ---- start.c

// Starts a holder with its first client and `listener`, the socket `name` in the directory `dir`,
// whose lock the holder releases. Returns the holder's pid, or -1 and sets *f.
pid_t holder_start(const struct kfd_target *t, int listener, int client, int dir, const char *name,
		   struct kfd_failure *f);
// Writes the suspended queues and their deadline into the command line that ps shows.
void holder_title(struct holder *h);

// ---- sandbox.c

// Gives up new privileges, all capabilities but CAP_SYS_PTRACE, and system calls that the loop does
// not use, where libseccomp and the kernel can. Takes a millisecond: not before the first answer.
void holder_lock_down(void);

// ---- find.c: which holders there are; the rule of trust is there

// Returns the holder of a process that is held without being traced; 0: none. For root, which may
// use holders of other users.
pid_t holder_untraced(pid_t target);

// Connects to `holder`; 0: to whoever listens for the target in one's own folders. Unless `path` is
// NULL, sets *path to the socket's path (NULL: unknown), which the caller frees. Returns a
// descriptor, or -errno as kfd_socket_connect() or -ESTALE: another process listens there.
int holder_connect(pid_t holder, const struct kfd_target *t, unsigned timeout_ms, char **path);
