// Inside common/out: what out.c (rows), outcols.c (which columns), outask.c (--filter, --sort),
// outfmt.c (cells), outtable.c (tables for people), outdoc.c (Markdown and HTML), openmetrics.c and
// context.c (the cells of --context) share.
#pragma once

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/out/filter.h"
#include "common/out/out.h"

// Appends text with control characters as \xNN. outfmt_cell also escapes backslashes, outfmt_raw
// blanks as well, outfmt_quoted what a shell interprets; outfmt_csv writes a field of RFC 4180.
typedef void outfmt_escape(struct buf *b, const char *s, size_t len); // s[len] is NUL
outfmt_escape outfmt_cell, outfmt_raw, outfmt_quoted, outfmt_csv;

// Appends the value as text: strings by `escape` (NULL: as they are), units for people if `human`,
// sizes in bytes if `bytes`. False: the value is null, and nothing is appended.
bool outfmt_text(struct buf *b, const struct out_col *c, const void *record, bool human, bool bytes,
		 outfmt_escape *escape);

// Writes the value as a member of the current JSON object; `key` NULL: the key is written already.
void outfmt_json(struct json *j, const char *key, const struct out_col *c, const void *record);

// Sets *v to the value of a column that is neither OUT_STR nor OUT_LIST. False if the value is
// null.
bool outfmt_number(const struct out_col *c, const void *record, long double *v);

// Returns the text of an OUT_STR or OUT_LIST column; NULL if the value is null.
const char *outfmt_string(const struct out_col *c, const void *record);

extern const struct outfmt_type { // indexed by enum out_type
	const char *name;         // name of the type in --list-columns
	const char *json;         // type in JSON Schema
	size_t size;              // size of the member in a record, in bytes
	bool number;              // in tables, values are set flush right
	bool count;               // an integer that is never below 0
} outfmt_types[];

// --- a table for people, gathered cell by cell and set when it is complete ---

enum { OUTTABLE_COLS = 112 };

struct outtable {
	const struct out_col *cols[OUTTABLE_COLS];
	size_t width[OUTTABLE_COLS]; // of the widest cell or heading: columns of a terminal once
				     // cells were made safe; before that bytes
	bool keep[OUTTABLE_COLS]; // the column is shown on a narrow terminal, too
	unsigned ncols;
	struct buf cells;       // texts of the cells, each ended by a NUL, row after row
	struct buf below;       // texts of an OUT_BELOW column without room, likewise
	const char *below_name; // its heading
	size_t ncells;
	bool plain; // all cells are printable ASCII
	bool headings, color;
};

// Adds a column. `keep`: the column stays on a narrow terminal, since -o, --output-all or --sort
// names it.
void outtable_column(struct outtable *t, const struct out_col *c, bool keep);

// Sets limit[i] to the width of column `i` on the terminal of standard output: 0 leaves it out.
void outtable_fit(const struct outtable *t, size_t *limit);

void outtable_cell(struct outtable *t, const char *text);

// Appends the table to `out`: nothing when it has no rows. Returns where its rows begin.
size_t outtable_print(struct outtable *t, struct buf *out);
void outtable_fini(struct outtable *t);

// --- --filter and --sort of one table ---

enum { OUT_COLS_MAX = 96, OUTASK_KEYS = 32 };

struct outask {
	const struct out_table *table;
	struct filter *filter; // NULL: no --filter
	struct outask_key {    // key of --sort: its index in the table and in a gathered row
		unsigned column, cell;
		bool down;
	} keys[OUTASK_KEYS];
	unsigned nkeys;                 // 0: no --sort
	unsigned columns[OUT_COLS_MAX]; // index in the table, for each cell of a gathered row
	unsigned ncolumns;
	uint64_t *cells; // values of the gathered rows, row after row
	size_t ncells, cap;
	struct buf text;
	int failed; // exit status of a failure that was reported; 0: none
};

// Reads "A,-B" of --sort. False with the mistake in `m`.
bool outask_order(struct outask *a, const char *text, struct out_mistake *m);

// Reads --filter and --sort of `opts` for the table. used[i] becomes true for each column that they
// need. *ask is NULL if neither is given or, with opts->several, the table lacks the columns.
// Returns the exit status, after a message unless `quiet`.
enum { OUTASK_FILTER = 1, OUTASK_SORT = 2 };
int outask_new(struct outask **ask, const struct out_opts *opts, const struct out_table *t,
	       bool *used, bool quiet);

// Names, once, the tables that rows (-r, -P, --csv) leave out although nothing chose one.
void outask_tell_others(const struct out_opts *opts);

// Returns those of OUTASK_FILTER and OUTASK_SORT that `a` does; 0 if `a` is NULL.
unsigned outask_does(const struct outask *a);

// Prepares for gathering rows: the columns with keep[i] and those of --sort are copied.
void outask_begin(struct outask *a, const bool *keep);

// Moves the gathered rows of `piece`, which has the same --filter and --sort, behind those of `a`.
void outask_move(struct outask *a, struct outask *piece);

// Does the row pass the filter?
bool outask_takes(struct outask *a, const void *record);

// With --sort, keeps the row for later. Returns false without --sort: the row is to be written now.
bool outask_gathers(struct outask *a, const void *record);

// Calls `write` for the gathered rows in the order of --sort: text by its bytes, unknown values
// last, equal rows as they came. The record has only the columns that outask_begin() kept.
void outask_each(struct outask *a, void (*write)(void *arg, const void *record), void *arg);

// Returns the exit status, after a message the first time, if a regular expression gave up on a
// row; else 0.
int outask_check(struct outask *a);
void outask_free(struct outask *a);

// --- the output object ---

enum { OUTSCREEN_TABLES = 8 };

struct out {
	struct out_opts opts;
	int fd;                        // output file; -1: none, as in a piece
	const char *name;              // name of the output file, for messages
	const struct out_table *table; // table that is open, or NULL
	struct out_col readable; // OUT_MANGLED column with the demangled values; name NULL: none
	unsigned shown[OUT_COLS_MAX]; // indices of the columns shown, in order
	unsigned nshown, ncells;      // columns shown; cells in a row, with those of --context
	size_t width[OUTTABLE_COLS];  // width of each cell where rows are written one by one
	bool named[OUT_COLS_MAX];     // by column of the table: -o named the column
	bool wants[OUT_COLS_MAX]; // by column of the table: shown, or needed by --filter, --sort
	struct outask *ask;       // --filter and --sort of the table; NULL: neither
	unsigned unused;          // OUTASK_FILTER, _SORT: those whose columns no table had yet
	bool several;             // opts.several, set when a table begins
	uint64_t left;            // rows that --filter and --sort may still write (out_limit)
	struct buf keys;          // JSON: keys of the cells, quoted, one behind the other
	size_t key_end[OUTTABLE_COLS]; // end of each key in `keys`
	size_t columns; // width of the terminal to which rows are written as they come; 0: to none
	bool tight;     // it has no room for all columns of the table, so texts are cut to theirs
	uint64_t counted; // with OUT_COUNT: rows of the table
	bool stream;
	bool begun;  // there was a table
	size_t bare; // bytes of a document that has its schema's name and empty tables alone
	bool color;
	bool terminal;            // --null writes to a terminal: text is escaped
	const char *empty;        // name of the first table, until there is a row
	int failed;               // exit status of a --filter that gave up on a row; 0: none
	int error;                // errno of the first failure to write
	struct outtable gathered; // rows of a table for people that is no stream
	struct buf buf;           // output that is not written yet
	struct buf cell;          // scratch for the text of a cell
	struct json json;
	struct openmetrics *metrics;
	struct context context; // --context: written with each record
	struct outscreen_rows { // rows of a table in `buf`: its bytes, and their number
		size_t from, to, n;
	} screen[OUTSCREEN_TABLES];
	unsigned nscreen;
};

// Chooses the columns shown, by -o and defaults. Returns false with the mistake in `m`.
bool out_choose_columns(struct out *o, const struct out_table *t, struct out_mistake *m);

// Chooses the columns, after a message about a mistake unless `quiet`, then reads --filter and
// --sort. Returns the exit status.
int out_choose(struct out *o, const struct out_table *t, bool quiet);

// Notes the rows of a table, from this byte of o->buf to its end.
void outscreen_rows(struct out *o, size_t from);

// Cuts the longest tables, so that what is in o->buf fits the terminal below what was said on it.
void outscreen_cut(struct out *o);

// Is this table left out, as another one was chosen?
bool out_leaves_out(const struct out *o, const struct out_table *t);

// Returns the column of cell `i` of a row: first come those shown, then those of --context.
const struct out_col *out_column(const struct out *o, unsigned i);

// Tells out_last() of a document on standard output: that one begins (NULL), or all of one that has
// no row, which is taken.
void outdoc_last(struct buf *bare);

// These write Markdown and HTML: the document, and its tables.
void outdoc_open(struct out *o);
void outdoc_close(struct out *o);
void outdoc_begin(struct out *o);
void outdoc_row(struct out *o, const void *record);
void outdoc_end(struct out *o);
void outdoc_object(struct out *o, const void *record);

// These gather the rows of a table, and write its metrics.
void openmetrics_begin(struct out *o);
void openmetrics_row(struct out *o, const void *record);
void openmetrics_end(struct out *o);

// Does the column tell what a row is about? Then it is a label also where -o does not name it.
bool openmetrics_identifies(const struct out_opts *opts, const struct out_table *t,
			    const struct out_col *c);

extern const struct out_table context_table; // columns of struct context
