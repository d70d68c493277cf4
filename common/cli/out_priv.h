// Inside common/cli: what out.c (documents, rows), outfmt.c (cells), outtable.c (tables for people)
// and context.c (the cells of --context) share.
#ifndef GPQ_CLI_OUT_PRIV_H
#define GPQ_CLI_OUT_PRIV_H

#include "common/cli/context.h"
#include "common/cli/out.h"

// Appends escaped text: control characters as \xNN (text_escape), blanks too (raw), and what a
// shell minds too (pairs).
typedef void outfmt_escape(struct buf *b, const char *s, size_t len);
outfmt_escape outfmt_raw, outfmt_quoted;

// Appends the cell as text, strings escaped; `escape` NULL: as they are. False, and nothing
// appended, when it is null.
bool outfmt_text(struct buf *b, const struct out_col *c, const void *record, bool human, bool bytes,
		 outfmt_escape *escape);

// Writes the cell as a member of the current JSON object; `key` NULL: the key stands there already.
void outfmt_json(struct json *j, const char *key, const struct out_col *c, const void *record);

extern const struct outfmt_type { // by enum out_type
	const char *name;         // for --list-columns
	size_t size;              // of the member
	bool number;              // set flush right
} outfmt_types[];

// --- a table for people, gathered cell by cell and set when it is complete ---

enum { OUTTABLE_COLS = 112 };

struct outtable {
	const struct out_col *cols[OUTTABLE_COLS];
	size_t width[OUTTABLE_COLS]; // of the widest cell and the heading
	bool spare[OUTTABLE_COLS];   // may be left out of a terminal that is too narrow
	unsigned ncols;
	struct buf cells; // each ended by a NUL, row after row
	size_t ncells;
	bool plain; // printable ASCII only
	bool headings, color;
};

// `keep`: it was asked for by name, so that it is shown even if it is OUT_WIDE.
void outtable_column(struct outtable *t, const struct out_col *c, bool keep);
void outtable_cell(struct outtable *t, const char *text);

// Appends the table to `out`: nothing when it has no rows.
void outtable_print(struct outtable *t, struct buf *out);
void outtable_fini(struct outtable *t);

extern const struct out_table context_table; // columns of struct context

#endif
