// What the files of gpq sched share.
#pragma once

#include "cmd/command.h"

#include "common/sched/stats.h"

struct sched_cmd {
	struct words online, offline, classes;
	const char *share, *slo, *socket, *group, *decisions, *replay, *config;
	struct sched_opts sched;
	uint64_t for_ns, watch, explain;
	bool no_activity, no_socket, dry, status, check_config;
};

// Bits in the order of sched_kinds.
enum { TOTALS = 1, CLASSES = 2, JOBS = 4, MEMBERS = 8, CLIENTS = 16, DECISIONS = 32, TIMES = 64 };

// Prints the tables in `what`, bits added up.
int sched_write_stats(const struct out_opts *form, struct sched_stats *t, unsigned what);

// --status: asks the scheduler that runs, and prints its statistics. --explain: says what they tell
// of a process. Both return the exit status.
int sched_list_status(struct cmd *c);
int sched_explain(struct cmd *c);
