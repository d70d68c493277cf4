// Tables of programs compared over repeated runs (run_compare.h): gpq snapshot --compare prints
// them of snapshots, gpq bench ab of its own runs.
#ifndef GPQ_CMD_SNAPSHOT_RUN_TABLES_H
#define GPQ_CMD_SNAPSHOT_RUN_TABLES_H

#include "cmd/command.h"
#include "common/state/run_compare.h"

enum { RUN_PROCESSES, RUN_PROGRAMS, RUN_OVERLAPS, RUN_STRATEGIES, RUN_TABLES };
extern const struct out_table run_compare_tables[RUN_TABLES];

// Prints one table. 0, or GPQ_USAGE after a message when -o names a column that it has not.
int run_compare_print(struct out *o, const struct run_compare *r, int table);

#endif
