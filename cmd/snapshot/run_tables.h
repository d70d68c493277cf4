// Tables of programs compared over repeated runs (kfd/qruns.h): gpq snapshot --compare prints them
// of snapshots, gpq bench ab of its own runs.
#ifndef GPQ_CMD_SNAPSHOT_RUN_TABLES_H
#define GPQ_CMD_SNAPSHOT_RUN_TABLES_H

#include "cmd/command.h"
#include "common/state/run_compare.h"

extern const struct out_table qruns_programs_table, qruns_overlaps_table, qruns_strategies_table;
extern const char *const qruns_strategy_name[QRUNS_STRATEGIES];

// Text of the row that is being printed.
struct qruns_texts {
	struct buf ids, more, prios, gpus;
};
void qruns_texts_fini(struct qruns_texts *t);

// In `b`, until it is used again; NULL for none.
const char *qruns_ids_text(struct buf *b, const struct qset *s);
const char *qruns_bits_text(struct buf *b, uint64_t bits);
const char *qruns_prios_text(struct buf *b, const struct qruns *r, uint32_t prios);

// Rows; between out_begin() and out_end().
void qruns_print_programs(struct out *o, const struct qruns *r, struct qruns_texts *t);
void qruns_print_overlaps(struct out *o, const struct qruns *r, struct qruns_texts *t);
void qruns_print_strategies(struct out *o, const struct qruns *r);

#endif
