// --filter and --sort of the table that is open; see out_priv.h.
//
// Records are valid only during out_row(), so rows to be sorted are copied. Each column that is
// kept takes 8 bytes, for the value or the offset of a copy of the text: a million rows of five
// columns take 40 MB and their texts.
#include "common/out/out_priv.h"

#define NO_TEXT UINT64_MAX

static bool outask_filter(struct outask *a, const char *text, struct out_mistake *m)
{
	a->filter = filter_new(a->table, text, m);
	return a->filter;
}

bool outask_order(struct outask *a, const char *text, struct out_mistake *m)
{
	for (const char *s = text;; s++) {
		const bool down = *s == '-';
		const size_t at = (size_t)(s - text) + 1, len = strcspn(s += down, ",");
		const int column = out_find_column(a->table, s, len);
		if (column < 0) {
			out_mistake_column(m, a->table, s, len, at);
			return false;
		}
		if (a->nkeys == OUTASK_KEYS) {
			*m = (struct out_mistake){.status = GPQ_USAGE, .at = at};
			snprintf(m->text, sizeof(m->text), "more than %d columns", OUTASK_KEYS);
			return false;
		}
		a->keys[a->nkeys++] = (struct outask_key){.column = (unsigned)column, .down = down};
		s += len;
		if (!*s)
			return true;
	}
}

static const struct ask {
	const char *option;
	bool (*read)(struct outask *a, const char *text, struct out_mistake *m);
} asks[] = {{"--filter", outask_filter}, {"--sort", outask_order}};

static const char *ask_text(const struct out_opts *opts, size_t i)
{
	return i ? opts->sort : opts->filter;
}

// Are the columns of -o those of the table? False with the mistake in `m`.
static bool read_columns(const struct out_opts *opts, const struct out_table *t,
			 struct out_mistake *m)
{
	struct out o = {.opts = *opts};
	return out_choose_columns(&o, t, m);
}

int outask_new(struct outask **ask, const struct out_opts *opts, const struct out_table *t,
	       bool *used, bool quiet)
{
	struct outask *a = xcalloc(1, sizeof(*a));
	int status = GPQ_OK;
	a->table = t;
	for (size_t i = 0; i < COUNT(asks) && !status; i++) {
		struct out_mistake m = {0};
		if (!ask_text(opts, i) || asks[i].read(a, ask_text(opts, i), &m))
			continue;
		a->nkeys = 0; // drops the keys before the mistake
		if (!opts->several)
			status = quiet ? m.status : out_mistake_report(&m, asks[i].option);
	}
	if (status || !outask_does(a)) {
		outask_free(a);
		a = NULL;
	} else {
		if (a->filter)
			filter_columns(a->filter, used);
		for (unsigned i = 0; i < a->nkeys; i++)
			used[a->keys[i].column] = true;
	}
	*ask = a;
	return status;
}

unsigned outask_does(const struct outask *a)
{
	return !a ? 0 : (a->filter ? OUTASK_FILTER : 0) | (a->nkeys ? OUTASK_SORT : 0);
}

// Should the message be about `m` rather than `than`? A mistake for any table comes before an
// absent column; of absent columns, the one later in the argument, then one with a suggestion.
static bool is_worse(const struct out_mistake *m, const struct out_mistake *than)
{
	if (!than->status || m->absent != than->absent)
		return !than->status || than->absent;
	return m->absent && (m->at > than->at || (m->at == than->at && m->guessed > than->guessed));
}

// Checks --filter, --sort and -o, each of which must be correct for one of `tables`.
static int check_any(const struct out_opts *opts, const struct out_table *const *tables)
{
	for (size_t i = 0; i <= COUNT(asks); i++) {
		struct out_mistake worst = {0};
		const bool columns = i == COUNT(asks);
		bool ok = !tables || !(columns ? opts->columns : ask_text(opts, i));
		for (const struct out_table *const *t = tables; !ok && *t; t++) {
			struct outask a = {.table = *t};
			struct out_mistake m = {0};
			ok = columns ? read_columns(opts, *t, &m)
				     : asks[i].read(&a, ask_text(opts, i), &m);
			filter_free(a.filter);
			if (m.told)
				return m.status;
			if (is_worse(&m, &worst))
				worst = m;
		}
		if (!ok)
			return out_mistake_report(&worst, columns ? NULL : asks[i].option);
	}
	return GPQ_OK;
}

static bool fits(const struct out_opts *opts, const struct out_table *t)
{
	struct out o = {.opts = *opts};
	const bool fit = !out_choose(&o, t, true);
	outask_free(o.ask);
	return fit;
}

static int no_such_table(const char *name, const struct out_table *const *tables)
{
	SCOPED(buf_fini) struct buf next = {0};
	for (; *tables; tables++)
		buf_printf(&next, "%s%s", next.len ? ", " : "printed here: ", (*tables)->name);
	return err_fail(GPQ_USAGE, next.data, "--table %s: no such table",
			*name ? name : "(nothing)");
}

int out_choose_table(struct out_opts *opts, const struct out_table *const *tables)
{
	const bool one = opts->table_name || opts->columns ||
			 (opts->mode >= OUT_RAW && opts->mode <= OUT_PAIRS);
	const struct out_table *const *t = tables;
	opts->several = !one && tables[1];
	if (!one)
		return check_any(opts, tables);
	while (*t &&
	       (opts->table_name ? strcmp((*t)->name, opts->table_name) != 0 : !fits(opts, *t)))
		t++;
	if (!*t && opts->table_name)
		return no_such_table(opts->table_name, tables);
	int status = *t ? out_check(opts, *t) : check_any(opts, tables);
	status = status || *t ? status : out_check(opts, *tables);
	// A single table to which -o adds columns keeps what is said about it.
	opts->only = tables[1] || !opts->columns || *opts->columns != '+' ? *t : NULL;
	opts->tables = tables;
	return status;
}

void outask_tell_others(const struct out_opts *opts)
{
	static bool told;
	SCOPED(buf_fini) struct buf names = {0};
	if (told || !opts->only || opts->table_name || opts->columns)
		return;
	told = true;
	for (const struct out_table *const *t = opts->tables; *t; t++)
		if (*t != opts->only)
			buf_printf(&names, "%s%s", names.len ? ", " : "", (*t)->name);
	if (names.len)
		err_hint("--table NAME chooses one", "only the table %s is written, not %s",
			 opts->only->name, names.data);
}

// --- gathered rows ---

static bool is_text(const struct out_col *c)
{
	return c->type == OUT_STR || c->type == OUT_LIST;
}

// Returns the index of the column's cell in a gathered row, which is added if it is missing.
static unsigned cell_of(struct outask *a, unsigned column)
{
	unsigned i = 0;
	while (i < a->ncolumns && a->columns[i] != column)
		i++;
	if (i == a->ncolumns)
		a->columns[a->ncolumns++] = column;
	return i;
}

void outask_begin(struct outask *a, const bool *keep)
{
	for (unsigned i = 0; i < a->table->ncols; i++)
		if (keep[i])
			cell_of(a, i);
	for (unsigned i = 0; i < a->nkeys; i++)
		a->keys[i].cell = cell_of(a, a->keys[i].column);
}

static void outask_gather(struct outask *a, const void *record)
{
	for (unsigned i = 0; i < a->ncolumns; i++) {
		const struct out_col *c = &a->table->cols[a->columns[i]];
		uint64_t *cell = ARRAY_ADD(a->cells, a->cap, a->ncells);
		*cell = 0;
		if (!is_text(c)) {
			memcpy(cell, (const char *)record + c->offset, outfmt_types[c->type].size);
			continue;
		}
		const char *s = outfmt_string(c, record);
		*cell = s ? a->text.len : NO_TEXT;
		if (s)
			buf_append(&a->text, s, strlen(s) + 1);
	}
}

bool outask_takes(struct outask *a, const void *record)
{
	return !a->filter || filter_takes(a->filter, record);
}

bool outask_gathers(struct outask *a, const void *record)
{
	if (a->nkeys)
		outask_gather(a, record);
	return a->nkeys;
}

void outask_move(struct outask *a, struct outask *piece)
{
	const size_t base = a->text.len;
	for (size_t i = 0; i < piece->ncells; i++) {
		const uint64_t cell = piece->cells[i];
		const bool text = is_text(&a->table->cols[a->columns[i % a->ncolumns]]);
		*ARRAY_ADD(a->cells, a->cap, a->ncells) =
			text && cell != NO_TEXT ? cell + base : cell;
	}
	if (piece->text.len)
		buf_append(&a->text, piece->text.data, piece->text.len);
	piece->ncells = piece->text.len = 0;
	if (!a->failed)
		a->failed = outask_check(piece);
}

static int compare_cells(const struct outask *a, const struct outask_key *k, const uint64_t *one,
			 const uint64_t *two)
{
	struct out_col c = a->table->cols[k->column];
	long double x = 0, y = 0;
	bool known_one = *one != NO_TEXT, known_two = *two != NO_TEXT;
	int order;
	if (is_text(&c)) {
		order = known_one && known_two ? strcmp(a->text.data + *one, a->text.data + *two)
					       : 0;
	} else {
		c.offset = 0; // a cell begins with its value
		known_one = outfmt_number(&c, one, &x);
		known_two = outfmt_number(&c, two, &y);
		order = ORDER(x, y);
	}
	if (!known_one || !known_two)
		return known_two - known_one;
	return k->down ? -order : order;
}

static int compare_gathered(const void *one, const void *two, void *arg)
{
	const struct outask *a = arg;
	const size_t x = *(const size_t *)one, y = *(const size_t *)two;
	for (unsigned i = 0; i < a->nkeys; i++) {
		const struct outask_key *k = &a->keys[i];
		int order = compare_cells(a, k, &a->cells[x + k->cell], &a->cells[y + k->cell]);
		if (order)
			return order;
	}
	return ORDER(x, y);
}

static size_t record_size(const struct outask *a)
{
	size_t size = 1;
	for (unsigned i = 0; i < a->ncolumns; i++) {
		const struct out_col *c = &a->table->cols[a->columns[i]];
		// The copied text of an OUT_ARRAY takes at most as much room as all copied texts.
		size_t end = c->offset +
			     (c->flags & OUT_ARRAY ? a->text.len + 1 : outfmt_types[c->type].size);
		size = end > size ? end : size;
	}
	return size;
}

static void fill_record(const struct outask *a, const uint64_t *cells, char *record)
{
	for (unsigned i = 0; i < a->ncolumns; i++) {
		const struct out_col *c = &a->table->cols[a->columns[i]];
		const char *s = is_text(c) && cells[i] != NO_TEXT ? a->text.data + cells[i] : NULL;
		if (c->flags & OUT_ARRAY)
			memcpy(record + c->offset, s ? s : "", s ? strlen(s) + 1 : 1);
		else
			memcpy(record + c->offset, is_text(c) ? (const void *)&s : &cells[i],
			       outfmt_types[c->type].size);
	}
}

void outask_each(struct outask *a, void (*write)(void *arg, const void *record), void *arg)
{
	const size_t n = a->nkeys ? a->ncells / a->ncolumns : 0;
	SCOPED(free_at) size_t *order = xreallocarray(NULL, n, sizeof(*order));
	SCOPED(free_at) char *record = xcalloc(1, record_size(a));
	for (size_t i = 0; i < n; i++)
		order[i] = i * a->ncolumns;
	qsort_r(order, n, sizeof(*order), compare_gathered, a);
	for (size_t i = 0; i < n; i++) {
		fill_record(a, &a->cells[order[i]], record);
		write(arg, record);
	}
	a->ncells = a->text.len = 0;
}

int outask_check(struct outask *a)
{
	if (!a->failed && a->filter)
		a->failed = filter_check(a->filter);
	return a->failed;
}

void outask_free(struct outask *a)
{
	if (!a)
		return;
	filter_free(a->filter);
	free(a->cells);
	buf_fini(&a->text);
	free(a);
}
