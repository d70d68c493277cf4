// libFuzzer target: expressions of --filter and columns of --sort. The input is an expression, a
// newline, and columns. What must hold: no crash, no leak; a mistake has a place inside of the text
// and a line of its own; no row with nothing known matches a single comparison.
#include "common/out/columns.h"
#include "common/out/out_priv.h"
#include "common/host/std.h"
#include "tests/fuzz/require.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct record {
	const char *text, *words;
	uint64_t number, ns;
	int64_t id;
	int8_t flag;
	double real;
};

#define ROW record
static const struct out_col cols[] = {
	COL(text, "NAME", "name", STR, 0, ""),    COL(words, "GPUS", "gpus", LIST, 0, ""),
	COL(number, "N", "n", HEX, 0, ""),        COL(ns, "TIME", "time_ns", NS, 0, ""),
	COL(id, "ID", "id", I64, 0, ""),          COL(flag, "OK", "ok", BOOL, 0, ""),
	COL(real, "R%", "r_percent", F64, 0, ""),
};
static const struct out_table table = {"things", "thing", OUT_COLS(cols)};

static const struct record rows[] = {
	{"gemm_f16", "0 12", 0x7f00, 5000000, -3, 1, 0.1},
	{NULL, NULL, U64_NULL, U64_NULL, I64_NULL, -1, (double)NAN},
	{"", "", 0, 0, 0, 0, 0},
};

static void check_mistake(const struct out_mistake *m, const char *text)
{
	require(m->status != 0);
	require(m->told || (m->at <= strlen(text) + 1 && *m->text));
	require(memchr(m->text, 0, sizeof(m->text)) && memchr(m->near, 0, sizeof(m->near)));
}

static void try_filter(const char *text)
{
	struct out_mistake m;
	struct filter *f = filter_new(&table, text, &m);
	bool used[COUNT(cols)] = {0};
	bool taken[2][COUNT(rows)];
	if (!f) {
		check_mistake(&m, text);
		return;
	}
	filter_columns(f, used);
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < COUNT(rows); i++)
			taken[again][i] = filter_takes(f, &rows[i]);
	require(!memcmp(taken[0], taken[1], sizeof(taken[0])));
	// Only "not" and values that name no column make it of nothing.
	if (!strpbrk(text, "!|(") && !strcasestr(text, "not") && !strcasestr(text, "or") &&
	    memchr(used, true, sizeof(used)))
		require(!taken[0][1]);
	filter_free(f);
}

struct seen {
	size_t n;
	bool unknown;
};

static void see(void *arg, const void *record)
{
	const struct record *r = record;
	struct seen *s = arg;
	require(!r->text || strlen(r->text) < 10);
	s->n++;
	s->unknown = !r->text;
}

static void try_order(const char *text)
{
	const bool keep[COUNT(cols)] = {true};
	struct outask rows_asked = {.table = &table};
	struct out_mistake m;
	struct seen seen = {0};
	if (!outask_order(&rows_asked, text, &m)) {
		check_mistake(&m, text);
		return;
	}
	outask_begin(&rows_asked, keep);
	for (size_t i = 0; i < COUNT(rows); i++)
		outask_gathers(&rows_asked, &rows[i]);
	outask_each(&rows_asked, see, &seen);
	require(seen.n == COUNT(rows) && seen.unknown); // unknown values come last
	free(rows_asked.cells);
	buf_fini(&rows_asked.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size), *newline = strchr(text, '\n');
	if (newline)
		*newline++ = 0;
	try_filter(text);
	try_order(newline ? newline : "N");
	free(text);
	return 0;
}
