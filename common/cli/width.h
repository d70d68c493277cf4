// Text on a terminal, measured in columns: wide characters take two, combining ones and colours
// none.
#pragma once

#include "common/host/std.h"

// Size of the terminal of standard output, of 1 or more: of its window if that is known, else by
// COLUMNS and LINES, else 80 and 24.
struct terminal_size {
	unsigned columns, rows;
};
struct terminal_size terminal_size(void);

// Columns of the terminal `fd`. Threads may call this.
unsigned terminal_columns(int fd);

// Returns how many bytes of `s`, whole characters and colours, fit into `columns`; in *taken, the
// columns that they take. The text has no control characters but colours. Threads may call this and
// what follows once terminal_size() was called.
size_t text_fit(const char *s, size_t len, size_t columns, size_t *taken);

// Returns the columns that `s` takes.
size_t text_columns(const char *s, size_t len);

// Appends `s` if it takes at most `columns` (3 or more), else its beginning and an ellipsis; where
// that does not reach byte `from`, also what stands there, or the end of `s`.
void text_cut_middle(struct buf *out, const char *s, size_t len, size_t columns, size_t from);

// Appends `s` if it takes at most `columns` (1 or more), else its beginning, at the end of a word
// if one ends in the second half, and an ellipsis.
void text_cut(struct buf *out, const char *s, size_t len, size_t columns);
