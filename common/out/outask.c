// --filter and --sort of the table that is open; see out_priv.h.
#include "common/out/out_priv.h"

#include "common/cli/err.h"
#include "common/out/filter.h"
#include "common/out/rows.h"
#include "common/host/xalloc.h"

#include <stdlib.h>

struct outask {
	const struct out_table *table;
	bool sorted;
	struct filter *filter;
	struct rows_order order;
	struct rows *rows;
	int failed; // exit status, after its message
};

// Sorting is checked by the same two steps as filtering.

static bool read_filter(struct outask *a, const char *text, struct out_mistake *m)
{
	a->filter = filter_new(a->table, text, m);
	return a->filter;
}

static bool read_order(struct outask *a, const char *text, struct out_mistake *m)
{
	a->sorted = rows_order(&a->order, a->table, text, m);
	return a->sorted;
}

static const struct ask {
	const char *option;
	bool (*read)(struct outask *a, const char *text, struct out_mistake *m);
} asks[] = {{"--filter", read_filter}, {"--sort", read_order}};

static const char *text_of(const struct out_opts *opts, size_t i)
{
	return i ? opts->sort : opts->filter;
}

int outask_new(struct outask **ask, const struct out_opts *opts, const struct out_table *t,
	       bool *used, bool quiet)
{
	struct outask *a = xcalloc(1, sizeof(*a));
	int status = GPQ_OK;
	a->table = t;
	for (size_t i = 0; i < COUNT(asks) && !status; i++) {
		struct out_mistake m = {0};
		if (!text_of(opts, i) || asks[i].read(a, text_of(opts, i), &m) || opts->several)
			continue;
		status = quiet ? m.status : out_mistake_report(&m, asks[i].option);
	}
	if (status || !outask_does(a)) {
		outask_free(a);
		a = NULL;
	} else {
		if (a->filter)
			filter_columns(a->filter, used);
		for (unsigned i = 0; a->sorted && i < a->order.n; i++)
			used[a->order.v[i].column] = true;
	}
	*ask = a;
	return status;
}

unsigned outask_does(const struct outask *a)
{
	return !a ? 0 : (a->filter ? OUTASK_FILTER : 0) | (a->sorted ? OUTASK_SORT : 0);
}

// A mistake that no table avoids is worse than an absent column. Of absent columns the later in the
// argument is worse, then one with a column that may be meant.
static bool is_worse(const struct out_mistake *m, const struct out_mistake *than)
{
	if (!than->status || m->absent != than->absent)
		return !than->status || than->absent;
	return m->absent && (m->at > than->at || (m->at == than->at && m->guessed > than->guessed));
}

int out_check_any(const struct out_opts *opts, const struct out_table *const *tables)
{
	for (size_t i = 0; i < COUNT(asks); i++) {
		struct out_mistake worst = {0};
		bool ok = !text_of(opts, i) || !tables;
		for (const struct out_table *const *t = tables; !ok && *t; t++) {
			struct outask a = {.table = *t};
			struct out_mistake m = {0};
			ok = asks[i].read(&a, text_of(opts, i), &m);
			filter_free(a.filter);
			if (m.told)
				return m.status;
			if (is_worse(&m, &worst))
				worst = m;
		}
		if (!ok)
			return out_mistake_report(&worst, asks[i].option);
	}
	return GPQ_OK;
}

void outask_begin(struct outask *a, const bool *keep)
{
	if (a->sorted)
		a->rows = rows_new(a->table, &a->order, keep);
}

void outask_move(struct outask *a, struct outask *piece)
{
	if (a->rows)
		rows_move(a->rows, piece->rows);
	if (!a->failed)
		a->failed = outask_check(piece);
}

bool outask_takes(struct outask *a, const void *record)
{
	if (a->filter && !filter_takes(a->filter, record))
		return false;
	if (a->rows)
		rows_add(a->rows, record);
	return !a->rows;
}

void outask_each(struct outask *a, void (*write)(void *arg, const void *record), void *arg)
{
	if (a->rows)
		rows_each(a->rows, write, arg);
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
	rows_free(a->rows);
	filter_free(a->filter);
	free(a);
}
