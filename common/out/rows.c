// Gathered rows; see rows.h.
//
// A row is a cell of 8 bytes for each column that is kept: the value, or of text the place of its
// copy. So a million rows of five columns take 40 MB and their texts.
#include "common/out/rows.h"

#include "common/cli/err.h"
#include "common/out/out_priv.h"
#include "common/host/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_TEXT UINT64_MAX

struct key {
	struct out_col column; // where a cell has it, instead of the record
	unsigned cell;
	bool text, down;
};

struct rows {
	const struct out_table *table;
	unsigned *columns; // of each cell: index of its column
	unsigned ncolumns;
	struct key keys[ROWS_KEYS_MAX];
	unsigned nkeys;
	uint64_t *cells;
	size_t ncells, cap;
	struct buf text;
};

static bool is_text(const struct out_col *c)
{
	return c->type == OUT_STR || c->type == OUT_LIST;
}

bool rows_order(struct rows_order *order, const struct out_table *t, const char *text,
		struct out_mistake *m)
{
	*m = (struct out_mistake){0};
	order->n = 0;
	for (const char *s = text;; s++) {
		const bool down = *s == '-';
		const size_t at = (size_t)(s - text) + 1, len = strcspn(s += down, ",");
		const int column = out_find_column(t, s, len);
		if (column < 0) {
			out_mistake_column(m, t, s, len, at);
			return false;
		}
		if (order->n == ROWS_KEYS_MAX) {
			*m = (struct out_mistake){.status = GPQ_USAGE, .at = at};
			snprintf(m->text, sizeof(m->text), "more than %d columns", ROWS_KEYS_MAX);
			return false;
		}
		order->v[order->n].column = (unsigned)column;
		order->v[order->n++].down = down;
		s += len;
		if (!*s)
			return true;
	}
}

// The index of this column's cell.
static unsigned cell_of(struct rows *r, unsigned column)
{
	unsigned i = 0;
	while (i < r->ncolumns && r->columns[i] != column)
		i++;
	if (i == r->ncolumns)
		r->columns[r->ncolumns++] = column;
	return i;
}

struct rows *rows_new(const struct out_table *t, const struct rows_order *order, const bool *keep)
{
	struct rows *r = xcalloc(1, sizeof(*r));
	r->table = t;
	r->columns = xcalloc(t->ncols, sizeof(*r->columns));
	for (unsigned i = 0; i < t->ncols; i++)
		if (keep[i])
			cell_of(r, i);
	r->nkeys = order->n;
	for (unsigned i = 0; i < order->n; i++) {
		const struct out_col *c = &t->cols[order->v[i].column];
		r->keys[i] = (struct key){*c, cell_of(r, order->v[i].column), is_text(c),
					  order->v[i].down};
		r->keys[i].column.offset = 0;
	}
	return r;
}

void rows_free(struct rows *r)
{
	if (!r)
		return;
	free(r->columns);
	free(r->cells);
	buf_fini(&r->text);
	free(r);
}

void rows_add(struct rows *r, const void *record)
{
	for (unsigned i = 0; i < r->ncolumns; i++) {
		const struct out_col *c = &r->table->cols[r->columns[i]];
		uint64_t *cell = ARRAY_ADD(r->cells, r->cap, r->ncells);
		*cell = 0;
		if (!is_text(c)) {
			memcpy(cell, (const char *)record + c->offset, outfmt_types[c->type].size);
			continue;
		}
		const char *s = outfmt_string(c, record);
		*cell = s ? r->text.len : NO_TEXT;
		if (s)
			buf_append(&r->text, s, strlen(s) + 1);
	}
}

void rows_move(struct rows *to, struct rows *from)
{
	const size_t base = to->text.len;
	for (size_t i = 0; i < from->ncells; i++) {
		const struct out_col *c = &to->table->cols[to->columns[i % to->ncolumns]];
		uint64_t cell = from->cells[i];
		*ARRAY_ADD(to->cells, to->cap, to->ncells) =
			is_text(c) && cell != NO_TEXT ? cell + base : cell;
	}
	if (from->text.len)
		buf_append(&to->text, from->text.data, from->text.len);
	from->ncells = from->text.len = 0;
}

static int compare_keys(const struct rows *r, const struct key *k, const uint64_t *a,
			const uint64_t *b)
{
	long double x = 0, y = 0;
	bool known_a, known_b;
	int order;
	if (k->text) {
		known_a = *a != NO_TEXT;
		known_b = *b != NO_TEXT;
		order = known_a && known_b ? strcmp(r->text.data + *a, r->text.data + *b) : 0;
	} else {
		known_a = outfmt_number(&k->column, a, &x);
		known_b = outfmt_number(&k->column, b, &y);
		order = ORDER(x, y);
	}
	if (!known_a || !known_b)
		return known_b - known_a;
	return k->down ? -order : order;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct rows *r = arg;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	for (unsigned i = 0; i < r->nkeys; i++) {
		const struct key *k = &r->keys[i];
		int order = compare_keys(r, k, &r->cells[x + k->cell], &r->cells[y + k->cell]);
		if (order)
			return order;
	}
	return ORDER(x, y);
}

static size_t record_size(const struct rows *r)
{
	size_t size = 0;
	for (unsigned i = 0; i < r->ncolumns; i++) {
		const struct out_col *c = &r->table->cols[r->columns[i]];
		// A text in place is no longer than all texts together.
		size_t end = c->offset +
			     (c->flags & OUT_ARRAY ? r->text.len + 1 : outfmt_types[c->type].size);
		size = end > size ? end : size;
	}
	return size;
}

static void fill_record(const struct rows *r, const uint64_t *cells, char *record)
{
	for (unsigned i = 0; i < r->ncolumns; i++) {
		const struct out_col *c = &r->table->cols[r->columns[i]];
		const char *s;
		if (is_text(c)) {
			s = cells[i] == NO_TEXT ? NULL : r->text.data + cells[i];
			if (c->flags & OUT_ARRAY)
				memcpy(record + c->offset, s ? s : "", s ? strlen(s) + 1 : 1);
			else
				memcpy(record + c->offset, &s, sizeof(s));
		} else {
			memcpy(record + c->offset, &cells[i], outfmt_types[c->type].size);
		}
	}
}

void rows_each(struct rows *r, void (*write)(void *arg, const void *record), void *arg)
{
	const size_t n = r->ncolumns ? r->ncells / r->ncolumns : 0;
	size_t *order = xreallocarray(NULL, n + 1, sizeof(*order));
	char *record = xcalloc(1, record_size(r) + 1);
	for (size_t i = 0; i < n; i++)
		order[i] = i * r->ncolumns;
	qsort_r(order, n, sizeof(*order), compare_rows, r);
	for (size_t i = 0; i < n; i++) {
		fill_record(r, &r->cells[order[i]], record);
		write(arg, record);
	}
	free(order);
	free(record);
	r->ncells = r->text.len = 0;
}
