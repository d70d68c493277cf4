// Inside cmd/snapshot*.c.
#ifndef GPQ_CMD_SNAPSHOT_SNAPSHOT_H
#define GPQ_CMD_SNAPSHOT_SNAPSHOT_H

#include "cmd/command.h"

struct snapshot_opts {
	bool redact, diff, compare, all, exit_code;
	int by;    // enum run_compare_by
	int table; // of --compare; -1: all
};

extern const struct out_table snapshot_diff_table;

// Exit status.
int snapshot_diff(struct cmd *c);    // --diff A B
int snapshot_compare(struct cmd *c); // --compare DIR...

#endif
