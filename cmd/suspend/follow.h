// The follower: a process that suspends processes which come to fit a selector after gpq suspend.
//
// It is named gpq-follower, and its command line has the selector. It ends at the deadline of the
// hold, by SIGTERM (gpq resume with the same selector), and when processes that it suspended live
// and none is held any more. What it has suspended stays suspended by holders, until the deadline
// or gpq resume.
#ifndef GPQ_CMD_SUSPEND_FOLLOW_H
#define GPQ_CMD_SUSPEND_FOLLOW_H

#include "cmd/suspend/suspend.h"

#define FOLLOWER_COMM "gpq-follower"

// Starts the follower of what `o` chooses, after `all` were suspended. `tied`: it and its holds end
// with us. Its pidfd, or -1 after a message.
int follow_start(const struct suspend_opts *o, const struct group *all, bool tied);

// Tells a tied follower to end; waits until it has ended, and the queues that it held run.
void follow_end(int follower);
void follow_wait(int follower);

struct follower {
	pid_t pid;
	uint64_t uid;
	bool ours;       // of this user; a process of another one may only have the name
	char text[4096]; // if ours: the selector, as pick_text() writes it
};

// The followers of this user, for root of all users. Their number; free *list.
size_t followers(struct follower **list);

// After a resume: makes followers look whether what they follow is still held.
void followers_look(void);

// Followers that were told to end.
struct ending {
	struct follower *v;
	size_t n;
};

// Tells followers to end (SIGTERM): ours with the selector `o`; NULL: all. How many of them are
// ours.
size_t followers_end(struct ending *e, const struct pick_opts *o);

// Waits for their end, one second for all, then kills those that are ours. Were there any? Then a
// process may be held that they suspended after the caller had looked.
bool followers_gone(struct ending *e);

#endif
