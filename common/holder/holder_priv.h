// The holder process: its state, and the functions that its files share.
//
// start.c starts the process, loop.c is its event loop, serve.c handles requests, send.c sends
// answers, deadlines.c has holds and timers.
#ifndef GPQ_HOLDER_HOLDER_PRIV_H
#define GPQ_HOLDER_HOLDER_PRIV_H

#include "common/holder/protocol.h"
#include "common/host/loop.h"
#include "common/holder/rundir.h"
#include "common/host/proc.h"

#include <time.h>

#define HOLDER_MAX_CLIENTS 64
#define HOLDER_LOCK_MS     100 // from the first answer to giving up rights
#define FOREVER            UINT64_MAX

// Holds, by number: requests that queues stay suspended. The first ones last until resume or
// their deadline, the others are tied to a client's connection.
#define LASTING_HOLDS 16
#define HOLDS         (LASTING_HOLDS + HOLDER_MAX_CLIENTS)

// What a hold is about: queues, and perhaps those that appear later.
#define SCOPE_WORDS (KFD_MAX_QUEUES / 64)
#define SCOPE_GPUS  64
struct hold_scope {
	uint64_t ids[SCOPE_WORDS]; // a bit for each queue id
	bool follows;
	unsigned num_gpus; // follows: only on these; 0: on all
	uint32_t gpus[SCOPE_GPUS];
};

struct client {
	int fd;         // -1: free
	bool keeps;     // the holder stays attached as long as it is connected
	uint64_t last;  // holder.turn at its last input
	size_t len;     // bytes of its line in holder.in
	struct buf out; // what it has not taken yet of its answers
};

// A new holder is up sooner the fewer pages it touches: each costs more than all that is done in
// it. So small members are first, then the session, whose lists are at its end, then arrays of
// which only the beginning is used at first.
struct holder {
	struct kfd_target target;
	bool opened; // kfd_session_open() was called
	bool failed; // ... and failed, with `failure`
	bool kept;   // stay without a hold
	bool ending;
	unsigned grace; // for queues that appear later
	pid_t pid;      // of the holder itself
	int listener, signals, timer;
	struct loop loop;
	uint64_t look_ns; // when an untraced session is looked at next
	uint64_t turn;    // counts inputs of clients
	// When rights are given up: 0 before the first answer, FOREVER once they are.
	uint64_t lock_down_ns;
	timer_t killer;
	bool has_killer;
	int dir; // the socket's directory and name, to remove it
	char name[KFD_SOCKET_NAME_SIZE];
	uint64_t armed_next, armed_kill; // what the timers are set to, 0: off
	struct title title;
	size_t text_len;
	uint64_t made[(HOLDS + 63) / 64]; // a bit for each hold that there is
	uint64_t until_ns[HOLDS];         // of those: CLOCK_MONOTONIC, or FOREVER
	struct kfd_failure failure;
	struct client clients[HOLDER_MAX_CLIENTS];
	struct kfd_session session;
	struct hold_scope scopes[HOLDS]; // of the holds that are made
	char text[8 * HOLDER_LINE_MAX];  // an answer, sent at once where it fits
	struct kfd_outcome outcomes[2 * KFD_MAX_QUEUES];
	char in[HOLDER_MAX_CLIENTS][HOLDER_LINE_MAX]; // what clients sent
};

// ---- deadlines.c: holds and their timers

// The number of the hold that is tied to a client.
static inline unsigned hold_of(const struct holder *h, const struct client *c)
{
	return LASTING_HOLDS + (unsigned)(c - h->clients);
}

bool hold_is_made(const struct holder *h, unsigned n);
void hold_drop(struct holder *h, unsigned n);

// Makes the hold of a `suspend` request and arms its timers, before anything is suspended. Its
// number; -1: the kernel gives no timer (RLIMIT_SIGPENDING), and there is no hold without its undo.
int hold_make(struct holder *h, const struct client *c, const struct holder_request *r);
// Takes it back, unless it was there before.
void hold_cancel(struct holder *h, unsigned n);
// Sets the scope of the hold after the suspension: the suspended ones of `num` outcomes. A hold
// without queues, which follows no new ones either, is dropped.
void hold_fill(struct holder *h, unsigned n, const struct holder_request *r, int num);
// Turns the client's tied hold into a lasting one.
void hold_keep(struct holder *h, const struct client *c);
// Drops holds whose time has come. False when there were none.
bool hold_expire(struct holder *h);
void hold_drop_all(struct holder *h);
// Takes this queue out of all holds; holds without any other queue are dropped.
void hold_forget(struct holder *h, uint32_t id);
// All queues are gone: empties the queue ids of all holds; `follows` stays.
void hold_forget_queues(struct holder *h);
// A new queue could not be suspended: clears `follows` of all holds.
void hold_stop_following(struct holder *h);
// Adds the queue to the holds that follow its GPU.
void hold_follow(struct holder *h, const struct kfd_queue_entry *q);

// When the last hold ends, of all or of those on one queue; 0: no hold.
uint64_t hold_until(const struct holder *h);
uint64_t hold_until_of(const struct holder *h, uint32_t id);
// Does a hold follow the queues that appear on this GPU, or on any?
bool hold_follows(const struct holder *h, uint32_t gpu);
bool hold_follows_any(const struct holder *h);
// Sets the timers for the present holds: one that we act on, and one by which the kernel kills us
// if we do not.
void hold_arm(struct holder *h);

// ---- serve.c: requests

// Answers one request line (it is written into).
void serve_line(struct holder *h, struct client *c, char *line);
// Suspends queues that appeared, if that is wanted. Sets h->ending when the session is over.
void serve_new_queues(struct holder *h);
// Holds ended: resumes queues without a hold and, unless kept, ends with the last hold. Number of
// outcomes.
int serve_release(struct holder *h);
void client_close(struct holder *h, struct client *c);

// ---- send.c: answers

// Sends h->text; what the client does not take now is kept for it.
void send_text(struct holder *h, struct client *c);
// Sends what was kept, as far as it goes.
void send_more(struct holder *h, struct client *c);
// Before the exit: waits briefly for clients that have unsent output.
void send_last(struct holder *h);
void send_error(struct holder *h, struct client *c, const struct kfd_failure *f);
void send_ok(struct holder *h, struct client *c);
// `queue` lines of the first `num` outcomes; send_ok() sends what is still in the buffer.
void send_outcomes(struct holder *h, struct client *c, int num, bool addresses);

// ---- loop.c

// Serves until there is nothing left to hold.
void holder_loop(struct holder *h);
// Has the loop wait for the session's events as well. False with errno.
bool holder_watch_session(struct holder *h);
// Waits for requests of the client, or until it takes more of its answers.
void holder_watch_client(struct holder *h, struct client *c, bool answers);

// ---- start.c

// Starts a holder that serves `client` and `listener`, the socket `name` in the locked `dir`, which
// it unlocks. Pid of the holder, or -1 and *f.
pid_t holder_start(const struct kfd_target *t, int listener, int client, int dir, const char *name,
		   struct kfd_failure *f);

// ---- sandbox.c

// Gives up new privileges, all capabilities but CAP_SYS_PTRACE, and the system calls that the loop
// does not use. Takes a millisecond, so not while a client waits for an answer. Calls are kept
// without libseccomp, or where the kernel has no filters.
void holder_lock_down(void);

// ---- find.c: which holders there are; the rule of trust is there

// A process that is held, and its holder.
struct held_by {
	pid_t target;
	struct proc holder;
};

// All holders of this user, for root of all users: *list (free it). Their number.
size_t holders_find(struct held_by **list);

// The holder of an untraced process; 0: none. For root, which may use holders of other users.
pid_t holder_untraced(pid_t target);

// Connects to `holder`, or, when it is 0, to whoever listens for the target in one's own folder.
// The path of the socket goes to *path, unless that is NULL (free it; NULL: not known). Descriptor,
// or -errno as of kfd_socket_connect(); -ESTALE: the socket is another process's.
int holder_connect(pid_t holder, const struct kfd_target *t, unsigned timeout_ms, char **path);

// ---- title.c

// Writes what is held into the command line that ps shows. Called after the answer.
void holder_title(struct holder *h);

#endif
