// Tables for people; see out_priv.h.
//
// What is left out and cut on a terminal is chosen here. libsmartcols sets tables in colour; others
// are set here, to the same text but ten times as fast, and so are all where it is missing.
#include "common/out/out_priv.h"

#include "common/cli/width.h"
#include "common/host/dlopen.h"

#include <libsmartcols.h>

#define SCOLS "libsmartcols.so.1"

#define SCOLS_FUNCTIONS(X)               \
	X(scols_cell_set_color)          \
	X(scols_line_get_cell)           \
	X(scols_line_set_data)           \
	X(scols_new_table)               \
	X(scols_print_table_to_string)   \
	X(scols_table_enable_colors)     \
	X(scols_table_enable_noencoding) \
	X(scols_table_enable_noheadings) \
	X(scols_table_new_column)        \
	X(scols_table_new_line)          \
	X(scols_table_set_termforce)     \
	X(scols_unref_table)

LIB(scols, SCOLS, SCOLS_FUNCTIONS, RECOMMENDED, "smartcols", "Tables in colour");

// A text is cut to no less than half the width of its column, and to LEGIBLE to LEGIBLE_LONG
// columns of the terminal. Texts of up to WHOLE, and C++ names to less than NAME, are cut only
// after OUT_WIDE columns were left out.
enum { LEGIBLE = 12, WHOLE = 16, LEGIBLE_LONG = 24, NAME = 40 };

void outtable_fini(struct outtable *t)
{
	buf_fini(&t->cells);
	buf_fini(&t->below);
	t->ncols = 0;
	t->ncells = 0;
}

void outtable_column(struct outtable *t, const struct out_col *c, bool keep)
{
	t->width[t->ncols] = strlen(c->name);
	t->keep[t->ncols] = keep;
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

// --- tables without libsmartcols ---

// Returns the columns that `text` takes, and its bytes in *len.
static size_t columns_of(const struct outtable *t, const char *text, size_t *len)
{
	*len = strlen(text);
	return t->plain ? *len : text_columns(text, *len);
}

static char *put_padded(char *p, const struct outtable *t, unsigned i, const char *text)
{
	bool last = i + 1 == t->ncols, right = outfmt_types[t->cols[i]->type].number;
	size_t len, columns = columns_of(t, text, &len);
	size_t pad = last && !right ? 0 : t->width[i] - columns;
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
	buf_reserve(out, line * rows + t->cells.len); // a column may take several bytes
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

// Returns the least width to which column `i` may be cut; `legible` is the least for any text.
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

static size_t legible_of(const struct outtable *t, unsigned i, bool wide_gone)
{
	const bool name = t->cols[i]->flags & (OUT_MANGLED | OUT_DEMANGLED);
	return wide_gone ? LEGIBLE : name ? NAME : WHOLE;
}

// Sets limits to 0, of the rightmost columns first, until what is left can be cut to fit the
// terminal: of OUT_WIDE columns, then of all but the first one and texts that can be cut.
static void leave_out(const struct outtable *t, size_t *limit, size_t terminal)
{
	SCOPED(buf_fini) struct buf names = {0};
	for (unsigned more = 0; more < 2; more++) {
		size_t least = 0;
		for (unsigned i = 0; i < t->ncols; i++)
			least += limit[i] ? least_width(t, i, legible_of(t, i, more)) + (least > 0)
					  : 0;
		for (unsigned i = t->ncols; i-- > more && least > terminal;) {
			const uint32_t flags = t->cols[i]->flags;
			if (!limit[i] || t->keep[i] ||
			    (more ? flags & OUT_TRUNC : !(flags & OUT_WIDE)))
				continue;
			limit[i] = 0;
			least -= least_width(t, i, legible_of(t, i, more)) + 1;
			buf_printf(&names, "%s%s", names.len ? ", " : "", t->cols[i]->name);
		}
	}
	if (names.len)
		err_note("left out, for want of room on the terminal: %s", names.data);
}

// Cuts texts, the widest first, until the table fits.
static void choose_cuts(const struct outtable *t, size_t *limit, size_t terminal)
{
	size_t width = 0;
	for (unsigned i = 0; i < t->ncols; i++)
		width += limit[i] ? limit[i] + (width > 0) : 0;
	while (width > terminal) {
		unsigned widest = t->ncols;
		for (unsigned i = 0; i < t->ncols; i++)
			if (limit[i] > least_width(t, i, LEGIBLE) &&
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

void outtable_fit(const struct outtable *t, size_t *limit)
{
	const size_t terminal = terminal_size().columns;
	memcpy(limit, t->width, t->ncols * sizeof(*limit));
	leave_out(t, limit, terminal);
	choose_cuts(t, limit, terminal);
}

// Moves the cells of an OUT_BELOW column from the table to t->below if the terminal has no room for
// all columns.
static void move_below(struct outtable *t)
{
	SCOPED(buf_fini) struct buf cells = {0};
	const char *cell = t->cells.data;
	size_t width = 0;
	unsigned at = t->ncols;
	const bool few = t->ncells / t->ncols <= terminal_size().rows / 4u;
	for (unsigned i = 0; i < t->ncols; i++) {
		width += t->width[i] + (i > 0);
		if (t->cols[i]->flags & OUT_BELOW && (!(t->cols[i]->flags & OUT_TRUNC) || few))
			at = i;
	}
	if (at == t->ncols || t->ncols == 1 || width <= terminal_size().columns)
		return;
	for (size_t n = 0; n < t->ncells; n++, cell += strlen(cell) + 1)
		buf_append(n % t->ncols == at ? &t->below : &cells, cell, strlen(cell) + 1);
	t->below_name = t->cols[at]->name;
	t->ncells -= t->ncells / t->ncols;
	t->ncols--;
	for (unsigned i = at; i < t->ncols; i++) {
		t->cols[i] = t->cols[i + 1];
		t->width[i] = t->width[i + 1];
		t->keep[i] = t->keep[i + 1];
	}
	const struct buf old = t->cells;
	t->cells = cells;
	cells = old;
}

// Writes the texts of t->below behind the rows of the table, which begins at `start`.
static void put_below(const struct outtable *t, struct buf *out, size_t start)
{
	SCOPED(buf_fini) struct buf lines = {0};
	const char *text = t->below.data, *line = NULL;
	if (!text)
		return;
	buf_append(&lines, out->data + start, out->len - start);
	out->len = start;
	for (line = lines.data; *line; line += strcspn(line, "\n") + 1) {
		buf_append(out, line, strcspn(line, "\n") + 1);
		if (line == lines.data && t->headings)
			continue;
		if (strcmp(text, "-") != 0) {
			buf_printf(out, "    %s: ", t->below_name);
			text_wrap_to(out, terminal_size().columns, 6 + strlen(t->below_name), 6,
				     text, strlen(text));
		}
		text += strlen(text) + 1;
	}
}

// Makes control characters of cells visible, and measures all of them.
static void make_safe(struct outtable *t)
{
	SCOPED(buf_fini) struct buf cells = t->cells;
	const char *cell = cells.data;
	t->cells = (struct buf){0};
	for (unsigned i = 0; i < t->ncols; i++)
		t->width[i] = strlen(t->cols[i]->name);
	for (size_t n = 0; n < t->ncells; n++, cell += strlen(cell) + 1) {
		size_t len, start = t->cells.len;
		outfmt_cell(&t->cells, cell, strlen(cell));
		buf_append(&t->cells, "", 1);
		const size_t width = columns_of(t, t->cells.data + start, &len);
		size_t *widest = &t->width[n % t->ncols];
		*widest = width > *widest ? width : *widest;
	}
}

struct name {
	const char *text;
	size_t row;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

// Returns, for each row, the byte from which on the text of column `column` is like no other text:
// most of it is common with a neighbour in sorted order.
static size_t *differing_from(const struct outtable *t, size_t column)
{
	const size_t rows = t->ncells / t->ncols;
	SCOPED(free_at) struct name *names = xcalloc(rows, sizeof(*names));
	size_t *from = xcalloc(rows, sizeof(*from));
	const char *cell = t->cells.data;
	for (size_t n = 0; n < t->ncells; n++, cell += strlen(cell) + 1)
		if (n % t->ncols == column)
			names[n / t->ncols] = (struct name){cell, n / t->ncols};
	qsort(names, rows, sizeof(*names), by_text);
	for (size_t i = 1; i < rows; i++) {
		const char *a = names[i - 1].text, *b = names[i].text;
		size_t *x = &from[names[i - 1].row], *y = &from[names[i].row], same = 0;
		while (a[same] && a[same] == b[same])
			same++;
		if (a[same] == b[same]) {
			*y = *x;
			continue;
		}
		*x = same > *x ? same : *x;
		*y = same;
	}
	for (size_t i = rows - 1; i > 0; i--)
		if (strcmp(names[i - 1].text, names[i].text) == 0)
			from[names[i - 1].row] = from[names[i].row];
	return from;
}

// Fits the table to the terminal. It stays wider if columns that were asked for cannot be cut
// further.
static void squeeze_cells(struct outtable *t)
{
	size_t limit[OUTTABLE_COLS];
	outtable_fit(t, limit);
	size_t *from[OUTTABLE_COLS] = {0}; // of names of kernels that are cut
	for (unsigned i = 0; i < t->ncols; i++)
		if (limit[i] && limit[i] < t->width[i] &&
		    t->cols[i]->flags & (OUT_MANGLED | OUT_DEMANGLED))
			from[i] = differing_from(t, i);
	t->plain = false; // ellipses
	SCOPED(buf_fini) struct buf cells = t->cells;
	const char *cell = cells.data;
	const unsigned ncols = t->ncols;
	const size_t ncells = t->ncells;
	t->cells = (struct buf){0};
	t->ncells = t->ncols = 0;
	for (size_t n = 0; n < ncells; n++, cell += strlen(cell) + 1) {
		if (!limit[n % ncols])
			continue;
		if (from[n % ncols])
			text_cut_middle(&t->cells, cell, strlen(cell), limit[n % ncols],
					from[n % ncols][n / ncols]);
		else
			text_cut(&t->cells, cell, strlen(cell), limit[n % ncols]);
		buf_append(&t->cells, "", 1);
		t->ncells++;
	}
	for (unsigned i = 0; i < ncols; i++) {
		free(from[i]);
		if (!limit[i])
			continue;
		t->cols[t->ncols] = t->cols[i];
		t->width[t->ncols++] = limit[i];
	}
}

// Returns false if nothing was printed.
static bool print_scols(const struct outtable *t, const struct scols *lib, struct buf *out)
{
	struct libscols_table *s = xcheck(lib->scols_new_table());
	SCOPED(free_at) char *text = NULL;
	lib->scols_table_enable_noencoding(s, 1);
	lib->scols_table_enable_noheadings(s, !t->headings);
	lib->scols_table_enable_colors(s, t->color);
	// Columns were chosen for the terminal before; 2.36 fails if it has no room for one.
	lib->scols_table_set_termforce(s, SCOLS_TERMFORCE_NEVER);
	for (unsigned i = 0; i < t->ncols; i++) {
		const bool number = outfmt_types[t->cols[i]->type].number;
		lib->scols_table_new_column(s, t->cols[i]->name, 0, number ? SCOLS_FL_RIGHT : 0);
	}
	add_lines(t, lib, s);
	// Prints to memory: only out_flush() writes, and notices a full disk.
	const bool done = lib->scols_print_table_to_string(s, &text) == 0 && text;
	if (done) {
		size_t n = strlen(text);
		buf_append(out, text, n);
		if (n && text[n - 1] != '\n')
			buf_puts(out, "\n");
	}
	lib->scols_unref_table(s);
	return done;
}

size_t outtable_print(struct outtable *t, struct buf *out)
{
	if (!t->ncells)
		return out->len;
	const struct scols *lib = t->color ? scols_get() : NULL;
	const size_t start = out->len;
	if (!t->plain)
		make_safe(t);
	if (isatty(STDOUT_FILENO)) {
		move_below(t);
		squeeze_cells(t);
	}
	if (!lib || !print_scols(t, lib, out))
		print_plain(t, out);
	put_below(t, out, start);
	if (!lib && t->color)
		err_note(LIB_WHY("", "smartcols", SCOLS, ": this table is not coloured"));
	const char *heading = t->headings ? strchr(out->data + start, '\n') : NULL;
	return heading ? (size_t)(heading + 1 - out->data) : start;
}
