// Tables for people; see out_priv.h.
//
// libsmartcols sets them: it knows terminals, colours and wide characters. A table of plain ASCII
// that goes to a pipe or a file needs none of that and is set here, to the same bytes but ten times
// as fast. So is any table where libsmartcols is missing: without colours, and not cut to the
// terminal's width.
#include "common/cli/out_priv.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/dlopen.h"
#include "common/host/xalloc.h"

#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCOLS "libsmartcols.so.1"

#define SCOLS_FUNCTIONS(X)               \
	X(scols_cell_set_color)          \
	X(scols_line_get_cell)           \
	X(scols_line_set_data)           \
	X(scols_new_table)               \
	X(scols_print_table_to_string)   \
	X(scols_table_enable_colors)     \
	X(scols_table_enable_noheadings) \
	X(scols_table_get_termwidth)     \
	X(scols_table_new_column)        \
	X(scols_table_new_line)          \
	X(scols_table_set_termwidth)     \
	X(scols_unref_table)

LIB(scols, SCOLS, SCOLS_FUNCTIONS, RECOMMENDED, "smartcols",
    "Tables that fit the terminal, in colour");

#define LEGIBLE 32 // columns of a text that may be cut

void outtable_fini(struct outtable *t)
{
	buf_fini(&t->cells);
	t->ncols = 0;
	t->ncells = 0;
}

void outtable_column(struct outtable *t, const struct out_col *c)
{
	t->width[t->ncols] = strlen(c->name);
	t->cols[t->ncols++] = c;
}

static bool is_plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < 0x20 || s[i] > 0x7e || s[i] == '\\')
			return false;
	return len > 0;
}

void outtable_cell(struct outtable *t, const char *text)
{
	size_t len = strlen(text);
	size_t *width = &t->width[t->ncells % t->ncols];
	*width = len > *width ? len : *width;
	t->plain = t->plain && is_plain(text, len);
	buf_append(&t->cells, text, len + 1);
	t->ncells++;
}

// --- plain ---

static char *put_padded(char *p, const struct outtable *t, unsigned i, const char *text)
{
	bool last = i + 1 == t->ncols, right = outfmt_types[t->cols[i]->type].number;
	size_t len = strnlen(text, t->width[i]), pad = last && !right ? 0 : t->width[i] - len;
	memset(right ? p : p + len, ' ', pad);
	memcpy(right ? p + pad : p, text, len);
	p += len + pad;
	*p++ = last ? '\n' : ' ';
	return p;
}

static void print_plain(const struct outtable *t, struct buf *out)
{
	size_t line = 0, rows = t->ncells / t->ncols + t->headings;
	for (unsigned i = 0; i < t->ncols; i++)
		line += t->width[i] + 1;
	buf_reserve(out, line * rows);
	char *p = out->data + out->len;
	for (unsigned i = 0; t->headings && i < t->ncols; i++)
		p = put_padded(p, t, i, t->cols[i]->name);
	const char *text = t->cells.data;
	for (size_t n = 0; n < t->ncells; n++, text += strlen(text) + 1)
		p = put_padded(p, t, (unsigned)(n % t->ncols), text);
	out->len = (size_t)(p - out->data);
	out->data[out->len] = '\0';
}

// --- by libsmartcols ---

static const char *status_color(const char *text)
{
	static const struct {
		const char *text, *color;
	} colors[] = {{"ok", "green"},       {"yes", "green"},       {"running", "green"},
		      {"no", "red"},         {"failed", "red"},      {"error", "red"},
		      {"unknown", "yellow"}, {"suspended", "yellow"}};
	for (size_t i = 0; i < COUNT(colors); i++)
		if (strcmp(text, colors[i].text) == 0)
			return colors[i].color;
	return NULL;
}

static void add_lines(const struct outtable *t, const struct scols *lib, struct libscols_table *s)
{
	const char *text = t->cells.data;
	for (size_t n = 0; n < t->ncells; n += t->ncols) {
		struct libscols_line *line = xcheck(lib->scols_table_new_line(s, NULL));
		for (unsigned i = 0; i < t->ncols; i++, text += strlen(text) + 1) {
			bool status = t->color && t->cols[i]->flags & OUT_STATUS;
			const char *color = status ? status_color(text) : NULL;
			if (lib->scols_line_set_data(line, i, text))
				xalloc_fail();
			if (color)
				lib->scols_cell_set_color(lib->scols_line_get_cell(line, i), color);
		}
	}
}

// What can be cut is cut to fit the terminal, but not so far that nothing can be read of it: a
// table that is wider still goes on in the terminal's next line.
static void keep_readable(const struct outtable *t, const struct scols *lib,
			  struct libscols_table *s)
{
	size_t least = 0;
	for (unsigned i = 0; i < t->ncols; i++) {
		size_t width = t->width[i];
		least += 1 + (t->cols[i]->flags & OUT_TRUNC && width > LEGIBLE ? LEGIBLE : width);
	}
	least--; // no blank behind the last one
	if (lib->scols_table_get_termwidth(s) < least)
		lib->scols_table_set_termwidth(s, least);
}

static void print_scols(const struct outtable *t, const struct scols *lib, struct buf *out)
{
	struct libscols_table *s = xcheck(lib->scols_new_table());
	char *text = NULL;
	// Character widths only, and the same for everybody; numbers keep the C locale.
	setlocale(LC_CTYPE, "C.UTF-8");
	lib->scols_table_enable_noheadings(s, !t->headings);
	lib->scols_table_enable_colors(s, t->color);
	for (unsigned i = 0; i < t->ncols; i++)
		lib->scols_table_new_column(
			s, t->cols[i]->name, 0,
			(outfmt_types[t->cols[i]->type].number ? SCOLS_FL_RIGHT : 0) |
				(t->cols[i]->flags & OUT_TRUNC ? SCOLS_FL_TRUNC : 0));
	keep_readable(t, lib, s);
	add_lines(t, lib, s);
	// To memory and not to stdout: one place writes, and notices a full disk.
	if (lib->scols_print_table_to_string(s, &text) == 0 && text) {
		size_t n = strlen(text);
		buf_append(out, text, n);
		if (n && text[n - 1] != '\n')
			buf_puts(out, "\n");
	}
	free(text);
	lib->scols_unref_table(s);
}

// --- without it ---

static void print_escaped(const struct outtable *t, struct buf *out)
{
	struct outtable safe = *t;
	struct buf text = {0};
	const char *cell = t->cells.data;

	err_note(SCOLS " is missing: this table is neither coloured nor cut to the terminal");
	safe.cells = (struct buf){0};
	safe.ncells = 0;
	for (size_t n = 0; n < t->ncells; n++, cell += strlen(cell) + 1) {
		text.len = 0;
		text_escape(&text, cell, strlen(cell));
		outtable_cell(&safe, text.len ? text.data : "");
	}
	print_plain(&safe, out);
	buf_fini(&text);
	buf_fini(&safe.cells);
}

void outtable_print(struct outtable *t, struct buf *out)
{
	if (!t->ncells)
		return;
	bool simple = t->plain && !t->color && !isatty(STDOUT_FILENO);
	const struct scols *lib = simple ? NULL : scols_get();
	if (simple)
		print_plain(t, out);
	else if (lib)
		print_scols(t, lib, out);
	else
		print_escaped(t, out);
}
