// Inside common/cli: what out.c (documents, rows) and outfmt.c (cells) share.
#ifndef GPQ_CLI_OUT_PRIV_H
#define GPQ_CLI_OUT_PRIV_H

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

// True for columns that are set flush right.
bool outfmt_is_number(enum out_type type);

// Name of a type for --list-columns.
const char *outfmt_type_name(enum out_type type);

#endif
