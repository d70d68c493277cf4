// Shared by the files of `gpq --complete`: the word that is typed, and candidates for it.
#ifndef GPQ_CMD_COMPLETE_H
#define GPQ_CMD_COMPLETE_H

#include "cmd/command.h"

// The word under the cursor: what stays as it is ("--output=PID,"), and what is to be completed
// ("QI"); and what the words before it say.
struct typed {
	const char *keep;
	int n; // bytes of it
	const char *rest;
	const struct command *def;   // NULL: none yet
	const struct cmd_kind *kind; // NULL: none, or none yet
	const char *pids;            // argument of -p; NULL: none yet
};

// Prints the candidate, if it begins with what is typed; of `help` its first line.
void offer(const struct typed *t, const char *word, const char *help);

// Keeps what stands before `end` in t->rest as it is.
void keep_up_to(struct typed *t, const char *end);

// Completes only the last entry of a comma-separated list.
void skip_list(struct typed *t);

// From the host, in cmd/complete_host.c. What cannot be read gives no candidates, and no message.

void offer_pids(struct typed *t);       // of processes that have KFD open
void offer_commands(struct typed *t);   // their command names
void offer_containers(struct typed *t); // theirs: 12 digits of the id, and the name
void offer_queues(struct typed *t);     // ids of queues of t->pids, or of all
void offer_gpus(struct typed *t);       // index, gpu_id and PCI address

#endif
