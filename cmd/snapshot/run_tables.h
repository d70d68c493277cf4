// Tables of programs compared over repeated runs (run_compare.h): of snapshots by gpq snapshot
// --compare, of its own runs by gpq bench ab.
#ifndef GPQ_CMD_SNAPSHOT_RUN_TABLES_H
#define GPQ_CMD_SNAPSHOT_RUN_TABLES_H

#include "cmd/command.h"
#include "common/state/run_compare.h"

extern const struct out_table run_compare_programs_table, run_compare_overlaps_table,
	run_compare_strategies_table;
extern const char *const run_compare_strategy_name[QRUNS_STRATEGIES];

// Text of the row that is being printed.
struct run_compare_texts {
	struct buf ids, more, prios, gpus;
};
void run_compare_texts_fini(struct run_compare_texts *t);

// In `b`, until it is used again; NULL for none.
const char *run_compare_ids_text(struct buf *b, const struct qset *s);
const char *run_compare_bits_text(struct buf *b, uint64_t bits);
const char *run_compare_prios_text(struct buf *b, const struct run_compare *r, uint32_t prios);

// Rows; between out_begin() and out_end().
void run_compare_print_programs(struct out *o, const struct run_compare *r,
				struct run_compare_texts *t);
void run_compare_print_overlaps(struct out *o, const struct run_compare *r,
				struct run_compare_texts *t);
void run_compare_print_strategies(struct out *o, const struct run_compare *r);

#endif
