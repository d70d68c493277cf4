// Inside common/cli: a table for people, gathered cell by cell and set when it is complete.
#ifndef GPQ_CLI_OUTTABLE_H
#define GPQ_CLI_OUTTABLE_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { OUTTABLE_COLS = 112 };

struct outtable_col {
	const char *name; // heading
	bool right;       // numbers
	bool trunc;       // may be cut to fit a terminal
	bool status;      // words like "ok" and "no" get a colour
	size_t width;     // of the widest cell and the heading
};

struct outtable {
	struct outtable_col cols[OUTTABLE_COLS];
	unsigned ncols;
	struct buf cells; // each ended by a NUL, row after row
	size_t ncells;
	bool plain;  // printable ASCII only
	bool failed; // out of memory
	bool headings, color;
};

void outtable_init(struct outtable *t, bool headings, bool color);
void outtable_column(struct outtable *t, const char *name, bool right, bool trunc, bool status);
void outtable_cell(struct outtable *t, const char *text);

// Appends the table to `out`: nothing when it has no rows. -1 with errno when memory is out.
int outtable_print(struct outtable *t, struct buf *out);
void outtable_fini(struct outtable *t);

#endif
