// Tables for people; see out_priv.h.
//
// libsmartcols sets them: it knows terminals, colours and wide characters. A table of plain ASCII
// that goes to a pipe or a file needs none of that and is set here, to the same bytes but ten times
// as fast. So is any table where libsmartcols is missing: without colours, and not cut to the
// terminal's width.
#include "common/out/out_priv.h"

#include "common/host/dlopen.h"

#include <libsmartcols.h>
#include <locale.h>

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

// A column is cut to no less than half its width, and to LEGIBLE to LEGIBLE_LONG characters.
// Columns of up to WHOLE characters are cut only after OUT_WIDE columns were left out.
enum { LEGIBLE = 12, WHOLE = 16, LEGIBLE_LONG = 32 };

void outtable_fini(struct outtable *t)
{
	buf_fini(&t->cells);
	t->ncols = 0;
	t->ncells = 0;
}

void outtable_column(struct outtable *t, const struct out_col *c, bool keep)
{
	t->width[t->ncols] = strlen(c->name);
	t->spare[t->ncols] = !keep && c->flags & OUT_WIDE;
	t->cols[t->ncols++] = c;
}

static bool is_plain_ascii(const char *s, size_t len)
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
	t->plain = t->plain && is_plain_ascii(text, len);
	buf_append(&t->cells, text, len + 1);
	t->ncells++;
}

// --- tables of plain ASCII, without libsmartcols ---

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

// --- tables by libsmartcols ---

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

// Returns the least width to which column `i` may be cut; `legible` is the least for any column.
static size_t least_width(const struct outtable *t, unsigned i, size_t legible)
{
	const size_t width = t->width[i], name = strlen(t->cols[i]->name);
	if (!(t->cols[i]->flags & OUT_TRUNC))
		return width;
	size_t least = width > 2 * LEGIBLE_LONG ? LEGIBLE_LONG : (width + 1) / 2;
	least = least < legible ? legible : least;
	least = least < name ? name : least;
	return width < least ? width : least;
}

// Sets the limit of OUT_WIDE columns to 0, the rightmost first, until what is
// left can be cut to fit the terminal.
static void leave_out_wide(const struct outtable *t, size_t *limit, size_t terminal)
{
	SCOPED(buf_fini) struct buf names = {0};
	size_t least = 0;
	for (unsigned i = 0; i < t->ncols; i++)
		least += least_width(t, i, WHOLE) + (i > 0);
	for (unsigned i = t->ncols; i-- > 0 && least > terminal;) {
		if (!t->spare[i])
			continue;
		limit[i] = 0;
		least -= least_width(t, i, WHOLE) + 1;
		buf_printf(&names, "%s%s", names.len ? ", " : "", t->cols[i]->name);
	}
	if (names.len)
		err_note("left out, for want of room on the terminal: %s", names.data);
}

// Cuts columns, the widest first, until the table fits.
static void choose_cuts(const struct outtable *t, size_t *limit, size_t terminal)
{
	size_t width = 0;
	for (unsigned i = 0; i < t->ncols; i++)
		width += limit[i] ? limit[i] + (width > 0) : 0;
	while (width > terminal) {
		unsigned widest = t->ncols;
		for (unsigned i = 0; i < t->ncols; i++)
			if (limit[i] > least_width(t, i, LEGIBLE) && limit[i] == t->width[i] &&
			    (widest == t->ncols || limit[i] > limit[widest]))
				widest = i;
		if (widest == t->ncols)
			return;
		const size_t least = least_width(t, widest, LEGIBLE);
		const size_t gain = limit[widest] - least, need = width - terminal;
		limit[widest] -= gain < need ? gain : need;
		width -= gain < need ? gain : need;
	}
}

// Cuts the cells of each column to its limit, and removes the columns whose limit is 0.
static void squeeze_cells(struct outtable *t, const size_t *limit)
{
	const char *from = t->cells.data;
	char *to = t->cells.data;
	size_t cells = 0;
	unsigned cols = 0;
	for (size_t n = 0; n < t->ncells; n++) {
		const size_t len = strlen(from), most = limit[n % t->ncols];
		const size_t keep = len < most ? len : most;
		memmove(to, from, keep);
		from += len + 1;
		if (!most)
			continue;
		to += keep;
		*to++ = '\0';
		cells++;
	}
	for (unsigned i = 0; i < t->ncols; i++) {
		if (!limit[i])
			continue;
		t->cols[cols] = t->cols[i];
		t->width[cols++] = limit[i];
	}
	t->cells.len = (size_t)(to - t->cells.data);
	t->ncells = cells;
	t->ncols = cols;
}

// Fits the table to the terminal, and returns the width for libsmartcols. It exceeds the terminal's
// if columns cannot be cut further: rows then continue on the next line. Widths are in bytes: if
// the table is not plain ASCII, libsmartcols cuts it, which knows the width of characters.
static size_t fit_terminal(struct outtable *t, size_t terminal)
{
	size_t limit[OUTTABLE_COLS], least = 0;
	memcpy(limit, t->width, sizeof(limit));
	leave_out_wide(t, limit, terminal);
	if (t->plain)
		choose_cuts(t, limit, terminal);
	squeeze_cells(t, limit);
	for (unsigned i = 0; i < t->ncols; i++)
		least += (t->plain ? t->width[i] : least_width(t, i, LEGIBLE)) + (i > 0);
	return least > terminal ? least : terminal;
}

static void print_scols(struct outtable *t, const struct scols *lib, struct buf *out)
{
	struct libscols_table *s = xcheck(lib->scols_new_table());
	SCOPED(free_at) char *text = NULL;
	// Sets the widths of characters only, the same for every user. Numbers keep the C locale.
	setlocale(LC_CTYPE, "C.UTF-8");
	lib->scols_table_enable_noheadings(s, !t->headings);
	lib->scols_table_enable_colors(s, t->color);
	if (isatty(STDOUT_FILENO))
		lib->scols_table_set_termwidth(s,
					       fit_terminal(t, lib->scols_table_get_termwidth(s)));
	for (unsigned i = 0; i < t->ncols; i++)
		lib->scols_table_new_column(
			s, t->cols[i]->name, 0,
			(outfmt_types[t->cols[i]->type].number ? SCOLS_FL_RIGHT : 0) |
				(!t->plain && t->cols[i]->flags & OUT_TRUNC ? SCOLS_FL_TRUNC : 0));
	add_lines(t, lib, s);
	// Prints to memory: only out_flush() writes, and notices a full disk.
	if (lib->scols_print_table_to_string(s, &text) == 0 && text) {
		size_t n = strlen(text);
		buf_append(out, text, n);
		if (n && text[n - 1] != '\n')
			buf_puts(out, "\n");
	}
	lib->scols_unref_table(s);
}

// --- where libsmartcols is missing ---

static void print_escaped(const struct outtable *t, struct buf *out)
{
	struct outtable safe = *t;
	SCOPED(buf_fini) struct buf text = {0};
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
