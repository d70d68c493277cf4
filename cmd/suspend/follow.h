// The follower: a process that takes in processes which come to fit a selector after gpq suspend.
//
// It is named gpq-follower, and its command line says what it follows. It ends at the deadline of
// the hold, by SIGTERM (gpq resume in the same words), and once nothing that it follows is held any
// more, though it lives. What it has suspended stays so, each process by its own holder, until the
// deadline or gpq resume.
#ifndef GPQ_CMD_SUSPEND_FOLLOW_H
#define GPQ_CMD_SUSPEND_FOLLOW_H

#include "cmd/suspend/suspend.h"

#define FOLLOWER_COMM "gpq-follower"

// Starts the follower of what `o` chooses, after `all` were suspended. `tied`: it ends with us, and
// so do the holds that it makes. A descriptor of the process (pidfd), -1 after a message.
int follow_start(const struct suspend_opts *o, const struct group *all, bool tied);

// Tells a tied follower to end; then waits until it has, and the queues that it held run.
void follow_end(int follower);
void follow_wait(int follower);

struct follower {
	pid_t pid;
	uint64_t uid;
	bool ours;       // of the same user; others may call themselves so
	char text[4096]; // of ours: the selector, as pick_text() writes it
};

// The followers on this host: one's own, for root those of all users. Their number; free *list.
size_t followers(struct follower **list);

// After a resume: followers look now whether anything that they follow is still held.
void followers_look(void);

// Followers that were told to end.
struct ending {
	struct follower *v;
	size_t n;
};

// Tells followers to end (SIGTERM), and waits for none: ours of the same selector; `o` NULL: all.
// How many of them are ours.
size_t followers_end(struct ending *e, const struct pick_opts *o);

// Waits for them, a second for all together; those of ours that are left are killed. Was there any?
// Then what one of them took in meanwhile may be held.
bool followers_gone(struct ending *e);

#endif
