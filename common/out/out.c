// Documents, tables and rows of the output object; see out.h.
#include "common/out/out_priv.h"

#include "common/cli/width.h"
#include "common/host/secure.h"
#include "common/out/schema.h"

#include <ctype.h>

enum { FLUSH_AT = 1 << 16 };

static bool wants_color(int color)
{
	const char *no = host_getenv("NO_COLOR"), *term = host_getenv("TERM");
	if (color)
		return color == 1;
	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

struct out *out_open(const struct out_opts *opts)
{
	outdoc_last(NULL);
	outask_tell_others(opts);
	return out_open_fd(opts, STDOUT_FILENO, "standard output");
}

struct out *out_open_fd(const struct out_opts *opts, int fd, const char *name)
{
	struct out *o = xcalloc(1, sizeof(*o));
	o->opts = *opts;
	o->fd = fd;
	o->name = name;
	o->color = opts->mode == OUT_TABLE && wants_color(opts->color);
	o->terminal = opts->mode == OUT_NUL && isatty(fd);
	if (opts->several)
		o->unused = (opts->filter ? OUTASK_FILTER : 0) | (opts->sort ? OUTASK_SORT : 0);
	if (opts->context)
		context_init(&o->context);
	json_init(&o->json, &o->buf, opts->mode == OUT_JSON);
	if (opts->mode == OUT_JSON)
		json_begin(&o->json, NULL, '{');
	if (opts->mode == OUT_JSON && opts->schema)
		schema_name(&o->json, "schema", opts->schema);
	o->bare = o->buf.len;
	if (out_is_document(o))
		outdoc_open(o);
	return o;
}

enum out_mode out_mode(const struct out *o)
{
	return o->opts.mode;
}

struct json *out_json(struct out *o)
{
	return o->opts.mode == OUT_JSON ? &o->json : NULL;
}

static int out_status(const struct out *o)
{
	return !o->error ? GPQ_OK : o->error == EPIPE ? GPQ_PIPE : GPQ_FAILED;
}

static int flush_now(struct out *o)
{
	if (o->opts.to)
		buf_append(o->opts.to, o->buf.data ? o->buf.data : "", o->buf.len);
	else if (!o->error && write_fully(o->fd, o->buf.data, o->buf.len))
		o->error = errno;
	o->buf.len = 0;
	o->bare = SIZE_MAX; // what is written cannot be taken back
	return out_status(o);
}

int out_flush(struct out *o)
{
	return out_fits(o) ? GPQ_OK : flush_now(o); // out_close() cuts what was written
}

// Cells of a row: the columns shown, then the columns of --context.

const struct out_col *out_column(const struct out *o, unsigned i)
{
	if (i >= o->nshown)
		return &context_table.cols[i - o->nshown];
	const struct out_col *c = &o->table->cols[o->shown[i]];
	return c->flags & OUT_DEMANGLED && o->readable.name ? &o->readable : c;
}

bool out_demangles(const struct out *o)
{
	for (unsigned i = 0; o->table && i < o->table->ncols; i++)
		if (o->table->cols[i].flags & OUT_DEMANGLED && out_wants(o, i))
			return true;
	return false;
}

static const void *record_of(const struct out *o, unsigned i, const void *record)
{
	return i < o->nshown ? record : &o->context;
}

// Text of a cell as the table shows it, in o->cell; "-" for null. libsmartcols escapes what is not
// printable.
static const char *cell_text(struct out *o, const struct out_col *c, const void *record)
{
	o->cell.len = 0;
	if (!outfmt_text(&o->cell, c, record, true, o->opts.bytes, NULL))
		buf_puts(&o->cell, "-");
	return o->cell.data ? o->cell.data : "";
}

// Is the column of cell `i` shown on a narrow terminal, too?
static bool is_asked_for(const struct out *o, unsigned i)
{
	bool asked = o->opts.all || (i < o->nshown && o->named[o->shown[i]]);
	for (unsigned k = 0; i < o->nshown && o->ask && k < o->ask->nkeys; k++)
		asked |= o->ask->keys[k].column == o->shown[i];
	return asked;
}

static void table_start(struct out *o)
{
	o->gathered = (struct outtable){
		.plain = true, .headings = !o->opts.noheadings, .color = o->color};
	for (unsigned i = 0; i < o->ncells; i++)
		outtable_column(&o->gathered, out_column(o, i), is_asked_for(o, i));
}

static void table_row(struct out *o, const void *record)
{
	for (unsigned i = 0; i < o->ncells; i++)
		outtable_cell(&o->gathered,
			      cell_text(o, out_column(o, i), record_of(o, i, record)));
}

static void out_pad(struct buf *b, size_t have, size_t want)
{
	if (have < want)
		buf_fill(b, ' ', want - have);
}

// Sets the width and the quoted JSON key of each cell of a row.
static void prepare_cells(struct out *o)
{
	o->keys.len = 0;
	for (unsigned i = 0; i < o->ncells; i++) {
		const struct out_col *c = out_column(o, i);
		size_t name = strlen(c->name);
		o->width[i] = c->width > name ? c->width : name;
		if (i + 1 >= o->nshown && !outfmt_types[c->type].number)
			o->width[i] = 0; // no blanks at the line's end
		json_quoted(&o->json, &o->keys, out_col_key(c));
		o->key_end[i] = o->keys.len;
	}
}

// Pads the text from `start` to the end of `b` with blanks, to the left of it if `right`.
static void out_align(struct buf *b, size_t start, size_t width, bool right)
{
	size_t len = b->len - start;
	out_pad(b, len, width);
	if (!right || len >= width)
		return;
	char *to = b->data + start + width, *from = b->data + start + len;
	while (from > b->data + start) // a few digits are moved: cheaper than a call of memmove
		*--to = *--from;
	memset(b->data + start, ' ', width - len);
}

// Fits the columns of a stream to the terminal, by the widths that their table tells.
static void fit_stream(struct out *o)
{
	size_t limit[OUTTABLE_COLS];
	unsigned n = 0;
	table_start(o);
	for (unsigned i = 0; i < o->ncells; i++) {
		size_t *width = &o->gathered.width[i], least = out_column(o, i)->width;
		*width = *width > least ? *width : least;
	}
	outtable_fit(&o->gathered, limit);
	outtable_fini(&o->gathered);
	for (unsigned i = 0; i < o->nshown; i++) {
		if (!limit[i])
			continue;
		o->width[n] = o->width[i] ? limit[i] : 0;
		o->shown[n++] = o->shown[i];
	}
	o->columns = terminal_size().columns;
	o->tight = n < o->nshown;
	o->ncells -= o->nshown - n;
	o->nshown = n;
}

// Cuts the cell at `start` of the line that begins at `line` to `most` columns and to the terminal.
static void cut_cell(struct out *o, const struct out_col *c, size_t line, size_t start, size_t most)
{
	struct buf *b = &o->buf;
	const size_t before = text_columns(b->data + line, start - line), len = b->len - start;
	const size_t room = before < o->columns ? o->columns - before : 1;
	o->cell.len = 0;
	const size_t columns = room < most ? room : most;
	if (c->flags & (OUT_MANGLED | OUT_DEMANGLED) && columns > 2)
		text_cut_middle(&o->cell, b->data + start, len, columns, len);
	else
		text_cut(&o->cell, b->data + start, len, columns);
	b->len = start;
	buf_append(b, o->cell.data, o->cell.len);
}

// Writes a name that a shell takes for a variable, as util-linux does: CHANGE% becomes CHANGE_PCT.
static void put_variable(struct buf *b, const char *name)
{
	for (; *name; name++)
		if (*name == '%')
			buf_puts(b, "_PCT");
		else
			buf_append(b, isalnum((unsigned char)*name) ? name : "_", 1);
}

// Writes a row as one line; without a record, the headings. CSV is that of RFC 4180, but control
// characters are escaped, so that each record stays on one line.
static void line_row(struct out *o, const void *record)
{
	static outfmt_escape *const escapes[] = {[OUT_TABLE] = text_escape,
						 [OUT_RAW] = outfmt_raw,
						 [OUT_CSV] = outfmt_csv,
						 [OUT_PAIRS] = outfmt_quoted,
						 [OUT_NUL] = text_escape};
	const enum out_mode mode = o->opts.mode;
	const bool human = mode == OUT_TABLE, csv = mode == OUT_CSV, pairs = mode == OUT_PAIRS;
	const bool null = human || mode == OUT_RAW, bytes = o->opts.bytes;
	outfmt_escape *escape = mode == OUT_NUL && !o->terminal ? NULL : escapes[mode];
	struct buf *b = &o->buf;
	const size_t line = b->len;
	for (unsigned i = 0; i < o->ncells; i++) {
		const struct out_col *c = out_column(o, i);
		const void *from = record ? record_of(o, i, record) : NULL;
		if (i)
			buf_append(b, csv ? "," : " ", 1);
		const size_t start = b->len;
		if (pairs) {
			put_variable(b, c->name);
			buf_append(b, "=\"", 2);
		}
		if (!from)
			buf_puts(b, csv ? out_col_key(c) : c->name);
		else if (!outfmt_text(b, c, from, human, bytes, escape) && null)
			buf_append(b, "-", 1);
		if (pairs)
			buf_append(b, "\"", 1);
		if (human && o->columns && c->flags & OUT_TRUNC)
			cut_cell(o, c, line, start,
				 o->tight && o->width[i] ? o->width[i] : SIZE_MAX);
		if (human)
			out_align(b, start, o->width[i], outfmt_types[c->type].number);
	}
	if (mode == OUT_NUL)
		buf_append(b, "", 1);
	else
		buf_puts(b, csv ? "\r\n" : "\n");
}

static void json_row(struct out *o, const void *record)
{
	bool line = o->opts.mode == OUT_NDJSON;
	if (line) {
		json_init(&o->json, &o->buf, false);
		json_begin(&o->json, NULL, '{');
		json_str(&o->json, "record", o->table->record);
	} else {
		json_begin_flat(&o->json, NULL, '{');
	}
	for (unsigned i = 0; i < o->ncells; i++) {
		size_t at = i ? o->key_end[i - 1] : 0;
		json_quoted_key(&o->json, o->keys.data + at, o->key_end[i] - at);
		outfmt_json(&o->json, NULL, out_column(o, i), record_of(o, i, record));
	}
	json_end(&o->json, '}');
	if (line)
		buf_puts(&o->buf, "\n");
}

static void begin_asked(struct out *o)
{
	bool shown[OUT_COLS_MAX] = {0};
	for (unsigned i = 0; i < o->nshown; i++)
		shown[o->shown[i]] = true;
	outask_begin(o->ask, shown);
}

uint32_t out_limit(struct out *o, uint32_t most, uint32_t rows)
{
	o->left = most;
	return o->ask ? rows : most;
}

bool out_filters(const struct out *o)
{
	return o->opts.filter;
}

bool out_leaves_out(const struct out *o, const struct out_table *t)
{
	return o->opts.only && strcmp(o->opts.only->name, t->name) != 0;
}

// Begins (by its name) or ends an array of rows; a document of empty ones stays bare.
static void put_bracket(struct out *o, const char *name)
{
	const bool bare = o->buf.len == o->bare;
	name ? json_begin(&o->json, name, '[') : json_end(&o->json, ']');
	if (bare)
		o->bare = o->buf.len;
}

int out_begin(struct out *o, const struct out_table *t, bool stream)
{
	if (out_leaves_out(o, t))
		return 0;
	int r = out_choose(o, t, false);
	if (r)
		return r;
	o->table = t;
	o->stream = stream;
	o->counted = 0;
	o->empty = o->begun ? o->empty : stream ? NULL : t->name;
	o->begun = true;
	o->opts.fits &= !stream;
	o->left = UINT64_MAX;
	if (o->ask)
		begin_asked(o);
	prepare_cells(o);
	if (o->opts.mode == OUT_TABLE && stream && o->fd == STDOUT_FILENO && isatty(o->fd))
		fit_stream(o);
	if (o->opts.mode == OUT_JSON)
		put_bracket(o, t->name);
	else if (o->opts.mode == OUT_TABLE && !stream)
		table_start(o);
	else if (o->opts.mode == OUT_OPENMETRICS)
		openmetrics_begin(o);
	else if (out_is_document(o))
		outdoc_begin(o);
	else if (o->opts.mode <= OUT_CSV && !o->opts.noheadings)
		line_row(o, NULL);
	return 0;
}

void out_leave_out(struct out *o, const char *name)
{
	int column = o->table ? out_find_column(o->table, name, strlen(name)) : -1;
	unsigned n = 0, before = o->nshown;
	if (o->opts.mode != OUT_TABLE || o->stream || o->opts.all || column < 0 || o->named[column])
		return;
	for (unsigned i = 0; i < o->nshown; i++)
		if (o->shown[i] != (unsigned)column)
			o->shown[n++] = o->shown[i];
	o->nshown = n;
	o->ncells -= before - n;
	outtable_fini(&o->gathered);
	table_start(o);
}

static void put_row(struct out *o, const void *record)
{
	o->empty = NULL;
	if (o->opts.rows)
		++*o->opts.rows;
	switch (o->opts.mode) {
	case OUT_TABLE: o->stream ? line_row(o, record) : table_row(o, record); break;
	case OUT_COUNT: o->counted++; break;
	case OUT_RAW:
	case OUT_PAIRS:
	case OUT_CSV:
	case OUT_NUL: line_row(o, record); break;
	case OUT_JSON:
	case OUT_NDJSON: json_row(o, record); break;
	case OUT_OPENMETRICS: openmetrics_row(o, record); break;
	case OUT_MARKDOWN:
	case OUT_HTML: outdoc_row(o, record); break;
	}
	if (o->buf.len >= FLUSH_AT && o->fd >= 0)
		out_flush(o);
}

static void put_asked(void *arg, const void *record)
{
	struct out *o = arg;
	if (o->left) {
		o->left--;
		put_row(o, record);
	}
}

bool out_row(struct out *o, const void *record)
{
	if (!o->table)
		return false;
	const bool takes = !o->ask || outask_takes(o->ask, record);
	if (!o->ask)
		put_row(o, record);
	else if (takes && !outask_gathers(o->ask, record))
		put_asked(o, record);
	return takes;
}

struct out *out_piece(const struct out *o)
{
	struct out *p = xmemdup(o, sizeof(*o));
	if (o->ask && !outask_new(&p->ask, &p->opts, p->table, p->wants, true))
		begin_asked(p);
	p->fd = -1;
	p->buf = p->cell = (struct buf){0};
	p->json.out = &p->buf;
	p->json.empty = false;
	return p;
}

void out_piece_free(struct out *p)
{
	if (!p)
		return;
	outask_free(p->ask);
	buf_fini(&p->buf);
	buf_fini(&p->cell);
	free(p);
}

int out_add(struct out *o, struct out *piece)
{
	out_flush(o);
	o->counted += piece->counted;
	piece->counted = 0;
	if (o->ask)
		outask_move(o->ask, piece->ask);
	if (!piece->buf.len)
		return out_status(o);
	struct buf written = o->buf;
	o->buf = piece->buf;
	piece->buf = written;
	if (o->opts.mode == OUT_JSON && o->json.empty) // no comma before the first row
		memmove(o->buf.data, o->buf.data + 1, o->buf.len--);
	o->json.empty = false;
	return out_flush(o);
}

void out_end(struct out *o)
{
	if (!o->table)
		return; // out_begin() failed, or the table is left out
	if (o->ask) {
		outask_each(o->ask, put_asked, o);
		o->failed = o->failed ? o->failed : outask_check(o->ask);
	}
	if (o->opts.mode == OUT_TABLE && !o->stream) {
		const size_t rows = outtable_print(&o->gathered, &o->buf);
		if (out_fits(o))
			outscreen_rows(o, rows);
		outtable_fini(&o->gathered);
	} else if (o->opts.mode == OUT_COUNT) {
		buf_printf(&o->buf, "%" PRIu64 "\n", o->counted);
		o->empty = NULL;
	} else if (o->opts.mode == OUT_JSON) {
		put_bracket(o, NULL);
	} else if (o->opts.mode == OUT_OPENMETRICS) {
		openmetrics_end(o);
	} else if (out_is_document(o)) {
		outdoc_end(o);
	}
	o->table = NULL;
}

// Writes a member a line; on a screen, as many beside each other as it has room for.
static void write_members(struct out *o, const void *record)
{
	size_t name = 0, text = 0, at = 0;
	for (unsigned i = 0; i < o->nshown; i++) {
		const struct out_col *c = out_column(o, i);
		const size_t n = strlen(c->name), m = strlen(cell_text(o, c, record));
		name = n > name ? n : name;
		text = m > text ? m : text;
	}
	const size_t room = out_fits(o) ? terminal_size().columns : 0, each = name + text + 4;
	for (unsigned i = 0; i < o->nshown; i++) {
		const struct out_col *c = out_column(o, i);
		const size_t start = o->buf.len;
		buf_printf(&o->buf, "%s:", c->name);
		out_pad(&o->buf, strlen(c->name), name + 1);
		const char *value = cell_text(o, c, record);
		text_escape(&o->buf, value, strlen(value));
		at += each;
		if (i + 1 < o->nshown && at + each <= room + 2)
			out_pad(&o->buf, o->buf.len - start, each);
		else
			at = 0;
		if (!at)
			buf_puts(&o->buf, "\n");
	}
}

int out_object(struct out *o, const struct out_table *t, const void *record)
{
	struct out_mistake m;
	if (out_leaves_out(o, t))
		return 0;
	int r = out_choose_columns(o, t, &m) ? GPQ_OK : out_mistake_report(&m, NULL);
	if (r)
		return r;
	o->table = t;
	if (o->opts.mode == OUT_JSON) {
		json_begin(&o->json, t->name, '{');
		for (unsigned i = 0; i < o->ncells; i++)
			outfmt_json(&o->json, out_col_key(out_column(o, i)), out_column(o, i),
				    record_of(o, i, record));
		json_end(&o->json, '}');
	} else if (out_is_document(o)) {
		outdoc_object(o, record);
	} else if (o->opts.mode == OUT_TABLE) {
		write_members(o, record);
	} else {
		const struct out_opts opts = o->opts;
		o->opts.filter = o->opts.sort = NULL;
		r = out_begin(o, t, true);
		out_row(o, record);
		out_end(o);
		o->opts = opts;
	}
	o->table = NULL;
	return r;
}

// Reports a --filter or --sort that no table of the document could apply.
static int check_used(const struct out *o)
{
	return !o->several || !o->unused
		       ? GPQ_OK
		       : err_fail(GPQ_USAGE, "--list-columns tells the columns of each",
				  "no table that is shown here has all columns of %s",
				  o->unused & OUTASK_FILTER ? "--filter" : "--sort");
}

void out_say_none(struct out *o, const char *none)
{
	o->opts.none = none;
}

// Nothing at all on a screen could mean that nothing was looked at.
static void say_empty(const struct out *o)
{
	const char *none = o->opts.filter ? "no row matches --filter" : o->opts.none;
	if (o->empty && !o->buf.len && out_is_on_screen(o))
		err_hint(NULL, none ? "%s" : "no %s", none ? none : o->empty);
}

// Ends a document. One that has nothing but its name and empty tables is left to out_last(): a
// failure may be told of later.
static void end_json(struct out *o)
{
	if (o->table)
		out_end(o);
	const bool bare = o->fd == STDOUT_FILENO && !o->opts.to && o->buf.len == o->bare;
	json_end(&o->json, '}');
	buf_puts(&o->buf, "\n");
	if (bare)
		outdoc_last(&o->buf);
}

int out_close(struct out *o)
{
	if (o->opts.mode == OUT_JSON)
		end_json(o);
	if (o->opts.mode == OUT_OPENMETRICS) {
		out_end(o);
		buf_puts(&o->buf, "# EOF\n");
	}
	if (out_is_document(o))
		outdoc_close(o);
	say_empty(o);
	if (out_fits(o))
		outscreen_cut(o);
	int status = flush_now(o);
	if (status == GPQ_FAILED)
		err_fail(GPQ_FAILED, NULL, "%s: %s", o->name, strerror(o->error));
	if (!status)
		status = o->failed ? o->failed : check_used(o);
	outask_free(o->ask);
	outtable_fini(&o->gathered);
	buf_fini(&o->buf);
	buf_fini(&o->keys);
	buf_fini(&o->cell);
	free(o);
	return status;
}

int out_finish(struct out *o, int status)
{
	if (!status)
		out_end(o);
	else if (status != GPQ_PARTIAL)
		o->empty = NULL; // a message says why
	int closed = out_close(o);
	return status ? status : closed;
}
