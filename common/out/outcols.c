// Which columns of a table are shown, and which are needed besides; see out.h.
#include "common/out/out_priv.h"

#include "common/out/columns.h"
#include "common/out/schema.h"

#include <strings.h>

const char *out_col_key(const struct out_col *c)
{
	return text_part(c->name, 1);
}

const char *out_col_help(const struct out_col *c)
{
	return text_part(c->name, 2);
}

int out_find_column(const struct out_table *t, const char *name, size_t len)
{
	for (unsigned i = 0; i < t->ncols; i++) {
		const char *heading = t->cols[i].name, *key = out_col_key(&t->cols[i]);
		if ((strlen(heading) == len && strncasecmp(heading, name, len) == 0) ||
		    (strlen(key) == len && strncasecmp(key, name, len) == 0))
			return (int)i;
	}
	return -1;
}

static bool is_default(const struct out_opts *opts, const struct out_col *c)
{
	const bool document = opts->mode >= OUT_MARKDOWN;
	const bool machine = opts->mode >= OUT_JSON && !(document && (c->flags & OUT_TWIN));
	return opts->all || (c->flags & OUT_DEFAULT) || (machine && (c->flags & OUT_MACHINE)) ||
	       (opts->mode == OUT_TABLE && (c->flags & OUT_RARE)) ||
	       (opts->hosts && (c->flags & OUT_HOST)) ||
	       (opts->demangle && machine && (c->flags & OUT_DEMANGLED));
}

bool out_wants(const struct out *o, unsigned column)
{
	return column < OUT_COLS_MAX && o->wants[column];
}

static void show_column(struct out *o, unsigned column)
{
	if (!o->wants[column])
		o->shown[o->nshown++] = column;
	o->wants[column] = true;
}

// The column of demangled names takes the place and the heading of the mangled one, unless both
// are shown.
static void show_readable(struct out *o, const struct out_table *t)
{
	bool json = o->opts.mode == OUT_JSON || o->opts.mode == OUT_NDJSON;
	o->readable.name = NULL;
	for (unsigned i = 0; i < o->nshown && o->opts.demangle && !json; i++) {
		unsigned column = o->shown[i];
		if (!(t->cols[column].flags & OUT_MANGLED) || out_wants(o, column + 1))
			continue;
		show_column(o, column + 1);
		o->named[column + 1] |= o->named[column];
		o->shown[i] = o->shown[--o->nshown];
		o->readable = t->cols[column];
		o->readable.offset = t->cols[column + 1].offset;
	}
}

bool out_choose_columns(struct out *o, const struct out_table *t, struct out_mistake *m)
{
	const char *const text = o->opts.columns, *list = text;
	*m = (struct out_mistake){.status = GPQ_USAGE};
	if (list && !list[*list == '+']) {
		m->next = "--list-columns lists them";
		snprintf(m->text, sizeof(m->text), "--output: no column given");
		return false;
	}
	bool add = list && *list == '+';
	o->nshown = 0;
	memset(o->named, 0, sizeof(o->named));
	memset(o->wants, 0, sizeof(o->wants));
	for (unsigned i = 0; i < t->ncols && i < OUT_COLS_MAX; i++)
		if (is_default(&o->opts, &t->cols[i]) &&
		    (!list || add || o->opts.all ||
		     (o->opts.mode == OUT_OPENMETRICS &&
		      openmetrics_identifies(&o->opts, t, &t->cols[i]))))
			show_column(o, i);
	while (list && *list) {
		list += *list == '+';
		size_t len = strcspn(list, ",");
		int i = out_find_column(t, list, len);
		if (i < 0) {
			out_mistake_column(m, t, list, len, 0);
			if (memchr(list, '.', len) || memchr(list, '/', len))
				m->next = "-o chooses columns, files are named without it";
			m->at = (size_t)(list - text) + 1;
			return false;
		}
		show_column(o, (unsigned)i);
		o->named[i] = true;
		list += len + (list[len] == ',');
	}
	show_readable(o, t);
	o->ncells = o->nshown + (o->opts.context ? context_table.ncols : 0);
	if (o->opts.mode != OUT_NUL || o->ncells == 1)
		return true;
	m->next = "for example -0 -o PID";
	snprintf(m->text, sizeof(m->text), "--null takes one column, these are %u", o->ncells);
	return false;
}

int out_choose(struct out *o, const struct out_table *t, bool quiet)
{
	struct out_mistake m;
	int r = out_choose_columns(o, t, &m) ? GPQ_OK
		: quiet                      ? GPQ_USAGE
					     : out_mistake_report(&m, NULL);
	outask_free(o->ask);
	o->ask = NULL;
	if (!r && (o->opts.filter || o->opts.sort))
		r = outask_new(&o->ask, &o->opts, t, o->wants, quiet);
	o->unused &= ~outask_does(o->ask);
	o->several = o->opts.several;
	return r;
}

int out_check(const struct out_opts *opts, const struct out_table *t)
{
	struct out o = {.opts = *opts};
	int r = out_choose(&o, t, false);
	outask_free(o.ask);
	return r;
}

void out_skip(struct out *o, const struct out_table *t)
{
	out_choose(o, t, true);
}

bool out_would_want(const struct out_opts *opts, const struct out_table *t, const char *name)
{
	struct out o = {.opts = *opts};
	if (out_choose(&o, t, true))
		return true; // out_begin will give the message
	int column = out_find_column(t, name, strlen(name));
	outask_free(o.ask);
	return column >= 0 && out_wants(&o, (unsigned)column);
}

// --- --list-columns ---

struct column_record {
	const char *table, *column, *key, *type, *help;
	int8_t is_default;
};

#define ROW column_record
static const struct out_col column_cols[] = {
	COL(column, "COLUMN", "column", STR, D, "name for -o"),
	COL(key, "KEY", "key", STR, D, "key in JSON"),
	COL(type, "TYPE", "type", STR, D, "type in JSON, or unit"),
	COL(is_default, "DEFAULT", "default", BOOL, D, "shown without -o"),
	COL(table, "TABLE", "table", STR, D, "table it belongs to"),
	COL(help, "HELP", "help", STR, D, "what it holds"),
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
						  out_col_key(c),  outfmt_types[c->type].name,
						  out_col_help(c), (c->flags & OUT_DEFAULT) != 0};
			out_row(o, &r);
		}
	}
	return out_finish(o, status);
}
