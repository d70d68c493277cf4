// Rows that are sorted before they are written: records live only as long as out_row(), so what
// columns hold is copied.
#ifndef GPQ_OUT_ROWS_H
#define GPQ_OUT_ROWS_H

#include "common/out/filter.h"

enum { ROWS_KEYS_MAX = 32 };

struct rows_order {
	struct {
		unsigned column;
		bool down;
	} v[ROWS_KEYS_MAX];
	unsigned n;
};

// Reads "A,-B" of --sort. False with the mistake in `m`.
bool rows_order(struct rows_order *order, const struct out_table *t, const char *text,
		struct out_mistake *m);

struct rows;

// Rows in that order; keep[i]: column i is needed besides. Neither is kept by the rows.
struct rows *rows_new(const struct out_table *t, const struct rows_order *order, const bool *keep);
void rows_free(struct rows *r);

void rows_add(struct rows *r, const void *record);

// Moves all rows of `from`, which keeps the same columns, behind those of `to`.
void rows_move(struct rows *to, struct rows *from);

// Calls `write` with a record for each row, in order: by value (text by its bytes), unknown values
// last, rows that do not differ as they came. Only the columns named above are in the record.
void rows_each(struct rows *r, void (*write)(void *arg, const void *record), void *arg);

#endif
