// Shared by the files of gpq snapshot; and the tables of repeated runs (run_compare.h), which gpq
// bench ab prints too.
#ifndef GPQ_CMD_SNAPSHOT_SNAPSHOT_H
#define GPQ_CMD_SNAPSHOT_SNAPSHOT_H

#include "cmd/command.h"
#include "common/state/run_compare.h"

struct snapshot_opts {
	bool redact, diff, compare, all, exit_code;
	int by;    // enum run_compare_by
	int table; // of --compare; -1: all
};

extern const struct out_table snapshot_diff_table;
extern const struct schema snapshot_diff_schema, snapshot_compare_schema;

// Exit status.
int snapshot_diff(struct cmd *c);    // --diff A B
int snapshot_compare(struct cmd *c); // --compare DIR...

enum { RUN_PROCESSES, RUN_PROGRAMS, RUN_OVERLAPS, RUN_STRATEGIES, RUN_TABLES };
extern const struct out_table run_compare_tables[RUN_TABLES];

// Prints one table. 0, or GPQ_USAGE after a message when -o names a column that it has not.
int run_compare_print(struct out *o, const struct run_compare *r, int table);

#endif
