// Options of gpq suspend, and the functions that its files share.
#ifndef GPQ_CMD_SUSPEND_SUSPEND_H
#define GPQ_CMD_SUSPEND_SUSPEND_H

#include "cmd/suspend/hold_table.h"
#include "common/holder/measure.h"

struct suspend_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	uint64_t grace, for_ns;
	uint64_t watch; // ns, WATCH_OFF without --watch
	bool verify, idle, no_trace, all_or_none, once, dry, list;
	const char *marks;
	int method; // 0 debug, 1 criu
};

#define NO_DEADLINE UINT64_MAX // for_ns

// Options that --list and --method criu exclude: they choose queues and say how to suspend them.
#define SUSPEND_DETAILS                                                                        \
	PICK_QUEUES_NAMES " grace for verify if-idle no-trace all-or-none once dry-run marks " \
			  "COMMAND"

struct marks; // command.c

// Suspends the queues of the only member of `one`, until resume (`lasting`), or while its link is
// open. False: they are not held.
bool suspend_newcomer(struct group *one, const struct suspend_opts *o, bool lasting);

// ---- verify.c: --verify

// The readings of one queue, in order of time.
#define LOOKS 3
struct proof_seen {
	struct kfd_quiesce look[LOOKS];
};

// Reads all queues three times, 10 ms apart. One element for each queue in the answers of members
// that did not fail, in their order; the caller frees it.
struct proof_seen *proofs_take(const struct group *all);
// Fills the columns of --verify. GPQ_FAILED if a queue of status 0 still moves, else `status`.
int proofs_fill(const struct proof_seen *s, struct held_row *row, int status);

// ---- command.c: -- COMMAND

// Runs `argv` while the holds of `all` last, then ends them and the follower (-1: none). `marks`
// may be NULL. COMMAND's exit status, or as env(1) 126 or 127 if it cannot be run. If a signal
// ended COMMAND, the same signal ends us.
int run_held(char **argv, struct group *all, int follower, struct marks *marks);

// Ends the holds that are tied to our links, and waits until the queues run. `marks` may be NULL.
// 0, or an exit status after a message: some may still be suspended.
int holds_release(struct group *all, struct marks *marks);

// --marks FILE:

// Opens FILE, to append to it. NULL after a message.
struct marks *marks_open(const char *file);
// Adds the queues that were suspended. 0, or an exit status after a message.
int marks_suspended(struct marks *marks, const struct group *all);
// Adds the queues of a member as resumed at m->answered_ns: those of its answer to a release, or
// without an answer all of them, since its holder ended.
void marks_resumed(struct marks *marks, const struct group_member *m, bool answered);
void marks_close(struct marks *marks);

// ---- dry.c: --dry-run

extern const struct schema suspend_schema;
int suspend_dry(struct cmd *c, struct group *all);

#endif
