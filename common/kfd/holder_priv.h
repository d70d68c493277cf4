// Inside the holder: its state, and what its files offer each other.
//
// holder_start.c makes the process, holder_loop.c waits for everything it has to react to,
// holder_serve.c answers requests, holder_claim.c knows how long queues stay suspended.
#ifndef GPQ_KFD_HOLDER_PRIV_H
#define GPQ_KFD_HOLDER_PRIV_H

#include "common/kfd/holder_line.h"
#include "common/kfd/rundir.h"

#include <time.h>

#define HOLDER_MAX_CLIENTS 64
#define FOREVER            UINT64_MAX

// A wish that queues stay suspended.
struct claim {
	bool made;
	uint64_t until_ns; // CLOCK_MONOTONIC, or FOREVER
};

struct client {
	int fd; // -1: free
	struct claim tied;
	bool keeps;    // wants us to stay attached as long as it is connected
	uint64_t last; // holder.turn when it last said something
	size_t len;    // bytes of its line in holder.in
};

struct holder {
	struct kfd_target target;
	const struct kfd_steps *steps;
	struct kfd_session session;
	bool opened; // kfd_session_open() was called
	bool failed; // ... and failed, with `failure`
	struct kfd_failure failure;

	struct claim lasting;
	struct kfd_selection follow; // on which GPUs new queues are suspended as well
	bool follows;
	unsigned grace;
	bool kept; // stay without a claim
	bool ending;

	pid_t pid; // of the holder itself
	int listener, signals, timer, poll;
	uint64_t turn; // counts what clients said
	timer_t killer;
	bool has_killer;
	int dir; // the socket's directory and name, to remove it
	char name[KFD_SOCKET_NAME_SIZE];
	uint64_t armed_next, armed_kill; // what the timers are set to, 0: off
	bool titled;                     // the memory behind the command line was looked for
	char *title;                     // ... and is here
	size_t title_size, title_len;
	char text[8 * HOLDER_LINE_MAX]; // an answer, sent at once where it fits
	size_t text_len;
	struct client clients[HOLDER_MAX_CLIENTS];
	// Last and apart, since most of it is never touched: a new holder is up sooner for it.
	struct kfd_outcome outcomes[2 * KFD_MAX_QUEUES];
	char in[HOLDER_MAX_CLIENTS][HOLDER_LINE_MAX]; // what clients sent
};

uint64_t holder_now(void);

// ---- holder_claim.c: how long

// When the last claim ends; 0: there is none.
uint64_t claim_until(const struct holder *h);
// Sets the timers for the present claims: one that we act on, and one by which the kernel kills us
// if we do not.
void claim_arm(struct holder *h);
// Drops claims whose time has come; when none is left, lets the queues go.
void claim_expire(struct holder *h);
// Drops all claims and the wish to follow.
void claim_drop_all(struct holder *h);

// ---- holder_serve.c: what

// Answers one request line (it is written into).
void serve_line(struct holder *h, struct client *c, char *line);
// Suspends queues that appeared, if that is wanted. Sets h->ending when the session is over.
void serve_new_queues(struct holder *h);
// Resumes everything and, unless kept, ends.
void serve_release(struct holder *h);
void client_close(struct holder *h, struct client *c);

// ---- holder_loop.c

// Serves until there is nothing left to hold.
void holder_loop(struct holder *h);
// Has the loop wait for the session's events as well. False when memory is out.
bool holder_watch_session(struct holder *h);

// ---- holder_start.c

// Starts a holder that serves `client` and `listener`, the socket `name` in the locked `dir`, which
// it unlocks. Pid of the holder, or -1 and *f.
pid_t holder_start(const struct kfd_target *t, int listener, int client, int dir, const char *name,
		   const struct kfd_steps *steps, struct kfd_failure *f);

// ---- holder_title.c

// Says on the command line what is held. Nobody waits for that: after the answer.
void holder_title(struct holder *h);

#endif
