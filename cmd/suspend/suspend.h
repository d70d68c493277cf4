// Shared by the files of gpq suspend, and by gpq resume.
#pragma once

#include "cmd/command.h"
#include "common/holder/group.h"
#include "common/host/clock.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"
#include "common/reader/whose.h"

// ---- targets.c: finds the processes to work on. They become members of the group that are named
// and not pinned yet, each with a selection of queues (no ids: all).

// Where processes are sought: those that have opened KFD, or those that gpq holds. If none is
// found, only AMONG_HELD_IF_ANY does not fail.
enum targets_among { AMONG_OPEN, AMONG_HELD, AMONG_HELD_IF_ANY };

// Finds processes and queues. With -p alone no process is sought, so anything may be named. Members
// without a queue that fits --prio or --type have failed; `unreached` has queues that fit and
// cannot be held. Returns 0, or an exit status after a message.
int targets_find(struct group *g, const struct pick_opts *pick,
		 const struct pick_queues_opts *queues, enum targets_among among);

// Adds the processes that are held to `pids`. Those whose holder does not answer come last: nothing
// should wait for them.
void targets_find_held(struct pids *pids);

// Finds the selected queues of secondary contexts, which cannot be held, unless targets_find() has.
void targets_find_unreached(struct group *g);

// Prints why members failed. Returns 0 if none did; GPQ_PARTIAL if some did; the first one's status
// if all did.
int targets_report(const struct group *g);

// ---- hold_table.c: tables of queues with what became of them, and of holders

// One queue, and the result of its suspend or resume. held_row_of() fills the row, proofs_fill()
// the members of --verify; suspend_dry() fills it from sysfs and debugfs, where no holder answers.
struct held_row {
	uint64_t pid, gpu, qid, context;
	const char *comm, *type, *packets, *result, *proof;
	struct whose whose;
	uint64_t latency_ns;
	uint64_t saved_bytes, backlog;
	uint64_t holder;
	uint64_t at_ns, until_ns; // CLOCK_MONOTONIC
};

extern const struct out_table held_table;    // table of struct held_row
extern const struct out_table holders_table; // table of gpq suspend --list
extern const struct schema holders_schema;

// Returns the row of a queue `q` in a holder's answer, without the columns of --verify; `q` NULL: a
// row with pid and at_ns alone.
struct held_row held_row_of(const struct group_member *m, const struct kfd_outcome *q);

// Begins the table of queues that were suspended or resumed; that of --dry-run also has names.
int held_begin(struct out *o);

// Writes a row, with the columns that tell whose process it is as far as they are shown.
void held_write(struct out *o, struct held_row *row);

// Is a selected queue of this id one of a secondary context, which cannot be held?
bool held_is_unreached(const struct group_member *m, uint32_t qid);

// Warns that there is no queue of this id.
void held_unknown(const struct group_member *m, const struct kfd_outcome *q);

// Returns the exit status of a result. GPQ_OK: the queue is as requested.
int held_status(enum kfd_result r);

// Adds up exit statuses of queues. The sum is 0 if all are; GPQ_PARTIAL if some are; else the
// first.
struct held_sum {
	size_t done, failed;
	int first;
};
void held_count(struct held_sum *s, int status);
int held_sum_status(const struct held_sum *s);

// Counts the selected queues that cannot be held as failed, warns of them, and writes a row for
// each unless `o` is NULL.
void held_unreached(struct out *o, const struct group_member *m, struct held_sum *sum);

// Prints the table of gpq suspend --list, for all processes or those in `only`.
int held_list(struct cmd *c, const struct pids *only);

// ---- suspend.c

struct suspend_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	uint64_t grace, for_ns;
	uint64_t watch; // period in ns; WATCH_OFF without --watch
	bool all, verify, idle, no_trace, all_or_none, once, dry, list;
	const char *marks;
	int method; // 0: debug, 1: criu
};

#define NO_DEADLINE UINT64_MAX // for_ns without --for

// Options that --list and --method criu exclude: they choose queues and say how to suspend them.
#define SUSPEND_DETAILS                                                                        \
	PICK_QUEUES_NAMES " grace for verify if-idle no-trace all-or-none once dry-run marks " \
			  "COMMAND"

struct marks; // the file of --marks (command.c)

// Suspends the queues of the only member of `one`, until resume (`lasting`), or while its link is
// open. Returns false if they are not held.
bool suspend_newcomer(struct group *one, const struct suspend_opts *o, bool lasting);

// ---- verify.c: --verify

// The readings of one queue, in order of time.
#define LOOKS 3
struct proof_seen {
	struct kfd_quiesce look[LOOKS];
};

// Reads all queues three times, 10 ms apart. Returns one element for each queue in the answers of
// members that did not fail, in their order; the caller frees the array.
struct proof_seen *proofs_take(const struct group *all);
// Fills the columns of --verify. Returns GPQ_FAILED if a queue of status 0 moves, else `status`.
int proofs_fill(const struct proof_seen *s, struct held_row *row, int status);

// ---- command.c: -- COMMAND

// Runs `argv` while the holds of `all` last, then ends them and the follower (a pidfd; -1: none).
// `marks` may be NULL. Returns COMMAND's exit status, or as env(1) 126 or 127 if it cannot be run.
// If a signal ended COMMAND, the same signal ends us.
int run_held(char **argv, struct group *all, int follower, struct marks *marks);

// Ends the holds that are tied to our links, and waits until the queues run. `marks` may be NULL.
// Returns 0, or an exit status after a message: some queues may still be suspended.
int holds_release(struct group *all, struct marks *marks);

// Opens the FILE of --marks, to append to it. Returns NULL after a message.
struct marks *marks_open(const char *file);
// Appends the queues that were suspended. Returns 0, or an exit status: marks_close() prints why.
int marks_suspended(struct marks *marks, const struct group *all);
void marks_close(struct marks *marks);

// ---- dry.c: --dry-run

extern const struct schema suspend_schema;
// `opts` NULL: of gpq bench, and no sentence says for how long.
int suspend_dry(struct cmd *c, struct group *all, const struct suspend_opts *opts);

// ---- follow.c: the follower, a process that suspends processes which come to fit a selector after
// gpq suspend
//
// It is named gpq-follower, and its command line has the selector. It ends at the deadline of the
// hold, by SIGTERM (gpq resume with the same selector), and when processes that it suspended live
// and none is held any more. What it has suspended stays suspended by holders, until the deadline
// or gpq resume.

#define FOLLOWER_COMM "gpq-follower"

// Starts the follower of what `o` chooses, after `all` were suspended. `tied`: the follower and its
// holds end with us. Returns its pidfd, or -1 after a message.
int follow_start(const struct suspend_opts *o, const struct group *all, bool tied);

// Tell a tied follower (a pidfd; -1: none) to end; wait until it has ended and its queues run.
void follow_end(int follower);
void follow_wait(int follower);

struct follower {
	pid_t pid;
	uint64_t uid;
	bool ours;       // is this user's; other users' processes may only have a follower's name
	char text[4096]; // if `ours`: the selector, as pick_text() writes it
};

// Lists the followers of this user, for root of all users. Returns their number; free *list.
size_t followers(struct follower **list);

// After a resume: makes followers check at once whether what they follow is still held.
void followers_look(void);

// Followers that were told to end.
struct ending {
	struct follower *v;
	size_t n;
};

// Tells followers to end (SIGTERM): this user's with the selector `o`, or all (NULL). Returns how
// many are this user's.
size_t followers_end(struct ending *e, const struct pick_opts *o);

// Waits one second for the end of the followers in `e`, then kills this user's. Returns true if
// there were any: they may have suspended a process after the caller had looked.
bool followers_gone(struct ending *e);
