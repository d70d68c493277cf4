// Documents, tables and rows of the output object; see out.h.
#include "common/cli/out_priv.h"

#include "common/cli/err.h"
#include "common/cli/schema.h"
#include "common/cli/text.h"
#include "common/host/secure.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { OUT_COLS_MAX = 96, FLUSH_AT = 1 << 16 };

struct out {
	struct out_opts opts;
	int fd;                        // where to
	const char *name;              // ... for messages
	const struct out_table *table; // open one, or NULL
	struct out_col readable;       // OUT_MANGLED with the values behind it; or no name
	unsigned shown[OUT_COLS_MAX];  // indices of its columns, in order
	unsigned nshown, ncells;       // in a row: these, and those of --context
	size_t width[OUTTABLE_COLS];   // of each cell where rows are written one by one
	bool named[OUT_COLS_MAX];      // by -o, of each column of the table
	struct buf keys;               // JSON: those of the cells, quoted, one behind the other
	size_t key_end[OUTTABLE_COLS]; // where each ends
	bool stream;
	bool color;
	int error;                // errno of the first failure to write
	struct outtable gathered; // table mode, not streaming
	struct buf buf;           // what is not written yet
	struct buf cell;          // scratch
	struct json json;
	struct context context; // --context: written with each record
};

static bool document_opened;

bool out_opened(void)
{
	return document_opened;
}

static bool wants_color(int color)
{
	const char *no = host_getenv("NO_COLOR"), *term = host_getenv("TERM");
	if (color)
		return color == 1;
	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

struct out *out_open(const struct out_opts *opts)
{
	document_opened = true;
	return out_open_fd(opts, STDOUT_FILENO, "standard output");
}

struct out *out_open_fd(const struct out_opts *opts, int fd, const char *name)
{
	struct out *o = xcalloc(1, sizeof(*o));
	o->opts = *opts;
	o->fd = fd;
	o->name = name;
	o->color = opts->mode == OUT_TABLE && wants_color(opts->color);
	if (opts->context)
		context_init(&o->context);
	json_init(&o->json, &o->buf, opts->mode == OUT_JSON);
	if (opts->mode == OUT_JSON)
		json_begin(&o->json, NULL, '{');
	if (opts->mode == OUT_JSON && opts->schema)
		schema_name(&o->json, opts->schema);
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

static int status_of(const struct out *o)
{
	return !o->error ? GPQ_OK : o->error == EPIPE ? GPQ_PIPE : GPQ_FAILED;
}

int out_flush(struct out *o)
{
	if (o->opts.to)
		buf_append(o->opts.to, o->buf.data ? o->buf.data : "", o->buf.len);
	else if (!o->error && write_fully(o->fd, o->buf.data, o->buf.len))
		o->error = errno;
	o->buf.len = 0;
	return status_of(o);
}

int out_text(struct buf *text)
{
	int failed = write_fully(STDOUT_FILENO, text->data, text->len);
	buf_fini(text);
	if (!failed)
		return GPQ_OK;
	return errno == EPIPE ? GPQ_PIPE : err_sys(errno, NULL, "standard output");
}

int out_file(const char *option, const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	int status = GPQ_OK;
	if (fd < 0 || write_fully(fd, text->data, text->len))
		status = err_sys(errno, NULL, "%s%s", option, path);
	if (fd >= 0 && close(fd) && !status)
		status = err_sys(errno, NULL, "%s%s", option, path);
	return status;
}

// Which columns: -o

static int find_column(const struct out_table *t, const char *name, size_t len)
{
	for (unsigned i = 0; i < t->ncols; i++) {
		const struct out_col *c = &t->cols[i];
		if ((strlen(c->name) == len && strncasecmp(c->name, name, len) == 0) ||
		    (strlen(c->key) == len && strncasecmp(c->key, name, len) == 0))
			return (int)i;
	}
	return -1;
}

static int unknown_column(const struct out_table *t, const char *name, size_t len)
{
	const char *words[OUT_COLS_MAX + 1] = {0};
	char given[64], upper[64];
	snprintf(given, sizeof(given), "%.*s", len ? (int)(len < 60 ? len : 60) : 2,
		 len ? name : "''");
	for (size_t i = 0; i < sizeof(upper); i++)
		upper[i] = (char)(given[i] >= 'a' && given[i] <= 'z' ? given[i] - 32 : given[i]);
	for (unsigned i = 0; i < t->ncols; i++)
		words[i] = t->cols[i].name;
	const char *guess = text_suggest(upper, words);
	return err_fail(GPQ_USAGE, "--list-columns lists them", "unknown column %s in %s%s%s",
			given, t->name, guess ? ", did you mean " : "", guess ? guess : "");
}

static bool is_default(const struct out_opts *opts, const struct out_col *c)
{
	bool machine = opts->mode == OUT_JSON || opts->mode == OUT_NDJSON;
	return opts->all || (c->flags & OUT_DEFAULT) || (machine && (c->flags & OUT_MACHINE)) ||
	       (opts->mode == OUT_TABLE && (c->flags & OUT_RARE)) ||
	       (opts->hosts && (c->flags & OUT_HOST)) ||
	       (opts->demangle && machine && (c->flags & OUT_DEMANGLED));
}

bool out_wants(const struct out *o, unsigned column)
{
	for (unsigned i = 0; i < o->nshown; i++)
		if (o->shown[i] == column)
			return true;
	return false;
}

static void show(struct out *o, unsigned column)
{
	if (!out_wants(o, column))
		o->shown[o->nshown++] = column;
}

// A column of C++ names for people takes the place and the heading of the other, unless both are
// shown.
static void show_readable(struct out *o, const struct out_table *t)
{
	bool json = o->opts.mode == OUT_JSON || o->opts.mode == OUT_NDJSON;
	o->readable.name = NULL;
	for (unsigned i = 0; i < o->nshown && o->opts.demangle && !json; i++) {
		unsigned column = o->shown[i];
		if (!(t->cols[column].flags & OUT_MANGLED) || out_wants(o, column + 1))
			continue;
		show(o, column + 1);
		o->shown[i] = o->shown[--o->nshown];
		o->readable = t->cols[column];
		o->readable.offset = t->cols[column + 1].offset;
	}
}

// `quiet`: no message.
static int choose_columns(struct out *o, const struct out_table *t, bool quiet)
{
	const char *list = o->opts.columns;
	if (list && !list[*list == '+'])
		return quiet ? GPQ_USAGE
			     : err_fail(GPQ_USAGE, "--list-columns lists them",
					"--output: no column given");
	bool add = list && *list == '+';
	o->nshown = 0;
	memset(o->named, 0, sizeof(o->named));
	for (unsigned i = 0; i < t->ncols && i < OUT_COLS_MAX; i++)
		if ((!list || add || o->opts.all) && is_default(&o->opts, &t->cols[i]))
			show(o, i);
	while (list && *list) {
		list += *list == '+';
		size_t len = strcspn(list, ",");
		int i = find_column(t, list, len);
		if (i < 0)
			return quiet ? GPQ_USAGE : unknown_column(t, list, len);
		show(o, (unsigned)i);
		o->named[i] = true;
		list += len + (list[len] == ',');
	}
	show_readable(o, t);
	o->ncells = o->nshown + (o->opts.context ? context_table.ncols : 0);
	return 0;
}

int out_check(const struct out_opts *opts, const struct out_table *t)
{
	struct out o = {.opts = *opts};
	return choose_columns(&o, t, false);
}

bool out_would_want(const struct out_opts *opts, const struct out_table *t, const char *name)
{
	struct out o = {.opts = *opts};
	if (choose_columns(&o, t, true))
		return true; // out_begin will give the message
	int column = find_column(t, name, strlen(name));
	return column >= 0 && out_wants(&o, (unsigned)column);
}

// Cells: those of the columns shown, then those of --context

static const struct out_col *column_of(const struct out *o, unsigned i)
{
	const struct out_col *c;

	if (i >= o->nshown)
		return &context_table.cols[i - o->nshown];
	c = &o->table->cols[o->shown[i]];
	return c->flags & OUT_DEMANGLED && o->readable.name ? &o->readable : c;
}

bool out_demangles(const struct out *o)
{
	for (unsigned i = 0; i < o->table->ncols; i++)
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

static void table_start(struct out *o)
{
	o->gathered = (struct outtable){
		.plain = true, .headings = !o->opts.noheadings, .color = o->color};
	for (unsigned i = 0; i < o->ncells; i++)
		outtable_column(&o->gathered, column_of(o, i),
				o->opts.all || (i < o->nshown && o->named[o->shown[i]]));
}

static void table_row(struct out *o, const void *record)
{
	for (unsigned i = 0; i < o->ncells; i++)
		outtable_cell(&o->gathered, cell_text(o, column_of(o, i), record_of(o, i, record)));
}

static void pad(struct buf *b, size_t have, size_t want)
{
	if (have < want)
		buf_fill(b, ' ', want - have);
}

// Width and quoted key of each cell.
static void prepare_cells(struct out *o)
{
	o->keys.len = 0;
	for (unsigned i = 0; i < o->ncells; i++) {
		const struct out_col *c = column_of(o, i);
		size_t name = strlen(c->name);
		o->width[i] = c->width > name ? c->width : name;
		if (i + 1 >= o->nshown && !outfmt_types[c->type].number)
			o->width[i] = 0; // no blanks at the line's end
		json_quoted(&o->json, &o->keys, c->key);
		o->key_end[i] = o->keys.len;
	}
}

// Pads the text that begins at `start`.
static void align(struct buf *b, size_t start, size_t width, bool right)
{
	size_t len = b->len - start;
	pad(b, len, width);
	if (!right || len >= width)
		return;
	char *to = b->data + start + width, *from = b->data + start + len;
	while (from > b->data + start) // a few digits: less than a call costs
		*--to = *--from;
	memset(b->data + start, ' ', width - len);
}

// Raw, or aligned for people.
static void word_cell(struct out *o, unsigned i, const struct out_col *c, const void *record)
{
	bool human = o->opts.mode == OUT_TABLE;
	struct buf *b = &o->buf;
	size_t start = b->len;
	if (!record)
		buf_puts(b, c->name);
	else if (!outfmt_text(b, c, record, human, o->opts.bytes, human ? text_escape : outfmt_raw))
		buf_puts(b, "-");
	if (human)
		align(b, start, o->width[i], outfmt_types[c->type].number);
}

static void pair_cell(struct buf *b, const struct out_col *c, const void *record)
{
	buf_puts(b, c->name);
	buf_puts(b, "=\"");
	outfmt_text(b, c, record, false, true, outfmt_quoted);
	buf_puts(b, "\"");
}

// A row on a line of its own; without a record the headings.
static void line_row(struct out *o, const void *record)
{
	for (unsigned i = 0; i < o->ncells; i++) {
		const struct out_col *c = column_of(o, i);
		const void *from = record ? record_of(o, i, record) : NULL;
		if (i)
			buf_puts(&o->buf, " ");
		if (o->opts.mode == OUT_PAIRS)
			pair_cell(&o->buf, c, from);
		else
			word_cell(o, i, c, from);
	}
	buf_puts(&o->buf, "\n");
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
		outfmt_json(&o->json, NULL, column_of(o, i), record_of(o, i, record));
	}
	json_end(&o->json, '}');
	if (line)
		buf_puts(&o->buf, "\n");
}

int out_begin(struct out *o, const struct out_table *t, bool stream)
{
	int r = choose_columns(o, t, false);
	if (r)
		return r;
	o->table = t;
	o->stream = stream;
	prepare_cells(o);
	if (o->opts.mode == OUT_JSON)
		json_begin(&o->json, t->name, '[');
	else if (o->opts.mode == OUT_TABLE && !stream)
		table_start(o);
	else if (o->opts.mode <= OUT_RAW && !o->opts.noheadings)
		line_row(o, NULL);
	return 0;
}

void out_leave_out(struct out *o, const char *name)
{
	int column = find_column(o->table, name, strlen(name));
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

void out_row(struct out *o, const void *record)
{
	switch (o->opts.mode) {
	case OUT_TABLE: o->stream ? line_row(o, record) : table_row(o, record); break;
	case OUT_RAW:
	case OUT_PAIRS: line_row(o, record); break;
	case OUT_JSON:
	case OUT_NDJSON: json_row(o, record); break;
	}
	if (o->buf.len >= FLUSH_AT && o->fd >= 0)
		out_flush(o);
}

struct out *out_piece(const struct out *o)
{
	struct out *p = xmemdup(o, sizeof(*o));
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
	buf_fini(&p->buf);
	buf_fini(&p->cell);
	free(p);
}

int out_add(struct out *o, struct out *piece)
{
	struct buf written;
	out_flush(o);
	if (!piece->buf.len)
		return status_of(o);
	written = o->buf;
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
		return; // out_begin() failed
	if (o->opts.mode == OUT_TABLE && !o->stream) {
		outtable_print(&o->gathered, &o->buf);
		outtable_fini(&o->gathered);
	} else if (o->opts.mode == OUT_JSON) {
		json_end(&o->json, ']');
	}
	o->table = NULL;
}

int out_object(struct out *o, const struct out_table *t, const void *record)
{
	int r = choose_columns(o, t, false);
	if (r)
		return r;
	o->table = t;
	if (o->opts.mode == OUT_JSON) {
		json_begin(&o->json, t->name, '{');
		for (unsigned i = 0; i < o->ncells; i++)
			outfmt_json(&o->json, column_of(o, i)->key, column_of(o, i),
				    record_of(o, i, record));
		json_end(&o->json, '}');
	} else if (o->opts.mode == OUT_TABLE) {
		size_t widest = 0;
		for (unsigned i = 0; i < o->nshown; i++) {
			size_t n = strlen(column_of(o, i)->name);
			widest = n > widest ? n : widest;
		}
		for (unsigned i = 0; i < o->nshown; i++) {
			const struct out_col *c = column_of(o, i);
			const char *text = cell_text(o, c, record);
			buf_printf(&o->buf, "%s:", c->name);
			pad(&o->buf, strlen(c->name), widest + 1);
			text_escape(&o->buf, text, strlen(text));
			buf_puts(&o->buf, "\n");
		}
	} else {
		r = out_begin(o, t, true);
		out_row(o, record);
		out_end(o);
	}
	o->table = NULL;
	return r;
}

void out_title(struct out *o, const char *fmt, ...)
{
	if (o->opts.mode != OUT_TABLE)
		return;
	va_list ap;
	va_start(ap, fmt);
	if (o->buf.len)
		buf_puts(&o->buf, "\n");
	buf_vprintf(&o->buf, fmt, ap);
	buf_puts(&o->buf, "\n");
	va_end(ap);
}

int out_close(struct out *o)
{
	if (o->opts.mode == OUT_JSON) {
		if (o->table)
			out_end(o);
		json_end(&o->json, '}');
		buf_puts(&o->buf, "\n");
	}
	int status = out_flush(o);
	if (status == GPQ_FAILED)
		err_fail(GPQ_FAILED, NULL, "%s: %s", o->name, strerror(o->error));
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
	int closed = out_close(o);
	return status ? status : closed;
}

struct column_record {
	const char *table, *column, *key, *type, *help;
	int8_t is_default;
};

static const struct out_col column_cols[] = {
	OUT_COL(column_record, column, "COLUMN", "column", OUT_STR, OUT_DEFAULT, "name for -o"),
	OUT_COL(column_record, key, "KEY", "key", OUT_STR, OUT_DEFAULT, "key in JSON"),
	OUT_COL(column_record, type, "TYPE", "type", OUT_STR, OUT_DEFAULT, "type in JSON, or unit"),
	OUT_COL(column_record, is_default, "DEFAULT", "default", OUT_BOOL, OUT_DEFAULT,
		"shown without -o"),
	OUT_COL(column_record, table, "TABLE", "table", OUT_STR, OUT_DEFAULT,
		"table it belongs to"),
	OUT_COL(column_record, help, "HELP", "help", OUT_STR, OUT_DEFAULT, "what it holds"),
};
static const struct out_table column_table = {"columns", "column", column_cols, 6};
const struct schema out_columns_schema = {"gpq.columns", 1, SCHEMA_TABLES(&column_table), NULL};

int out_list_columns(const struct out_opts *opts, const struct out_table *const *tables)
{
	struct out_opts own = *opts;
	own.schema = &out_columns_schema;
	struct out *o = out_open(&own);
	int status = out_begin(o, &column_table, false);
	for (; !status && tables && *tables; tables++) {
		for (unsigned i = 0; i < (*tables)->ncols; i++) {
			const struct out_col *c = &(*tables)->cols[i];
			struct column_record r = {(*tables)->name, c->name,
						  c->key,          outfmt_types[c->type].name,
						  c->help,         (c->flags & OUT_DEFAULT) != 0};
			out_row(o, &r);
		}
	}
	return out_finish(o, status);
}
