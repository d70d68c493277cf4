// One output object for every command: tables for people (libsmartcols), raw, pairs, JSON and
// NDJSON for pipes, all from the same records and the same column tables.
//
// A record is a plain struct; a column has the offset of a value in it, its names and its format.
// Adding a column is one line. Values that are not known are the type's null (below):
// `-` in tables and raw output, an empty string in pairs, null in JSON.
#pragma once

#include "common/cli/json.h"

#define U64_NULL UINT64_MAX
#define I64_NULL INT64_MIN
#define U32_NULL UINT32_MAX

// Types of columns: text, member of the record, the member's value for null.
enum out_type {
	OUT_STR,  // text: const char *, null NULL
	OUT_U64,  // decimal number: uint64_t, null U64_NULL
	OUT_I64,  // decimal number: int64_t, null I64_NULL
	OUT_U32,  // decimal number: uint32_t, null U32_NULL
	OUT_HEX,  // 0x1f: uint64_t, null U64_NULL; a string in JSON, as jq loses bits of numbers
	OUT_SIZE, // bytes: uint64_t, null U64_NULL; "1.5M" in tables without -b
	OUT_NS,   // nanoseconds: uint64_t, null U64_NULL; "1.23ms" in tables
	OUT_BOOL, // yes or no: int8_t, null -1; true or false in JSON
	OUT_F64,  // number of 9 digits: double, null NaN; of 3 digits in tables
	OUT_LIST, // blank-separated words: const char *, null NULL; an array in JSON
};

enum {
	OUT_DEFAULT = 1, // shown without -o
	OUT_TRUNC = 2,   // may be cut to fit a terminal: to half its width, 12 to 24 columns
	OUT_STATUS = 4,  // in colour where wanted: ok, yes green; no, failed red; unknown yellow
	OUT_MACHINE = 8, // shown without -o but in tables: an exact or decimal twin
	OUT_HOST = 16,   // shown without -o where rows are of named hosts
	OUT_RARE = 32,   // shown without -o in tables for people, unless out_leave_out() hides it
	OUT_WIDE = 64,   // left out where a terminal is too narrow, except by -o or --output-all
	OUT_TWIN = 128,  // with OUT_MACHINE: not in documents, where a column of text has the value

	// A C++ name as the compiler made it. With out_opts.demangle the value of the next column,
	// which is OUT_DEMANGLED, is shown in its place, unless both columns are shown.
	OUT_MANGLED = 256,
	// The C++ name as people write it. With out_opts.demangle, JSON, NDJSON and documents show
	// the mangled name and this one, also without -o.
	OUT_DEMANGLED = 512,
	// Where a terminal has no room for the whole text of a table's rows, it stands below each
	// row. With OUT_TRUNC that is so where rows are few; where they are many it is cut.
	OUT_BELOW = 2048,
	OUT_ARRAY = 1024, // the member is a char array, not a pointer; an empty text is null
};

// There are over a thousand columns, and each pointer in them is relocated at each start: so a
// column has one pointer, to three texts that lie one behind the other.
struct out_col {
	const char *name; // heading and name for -o, upper case; behind its NUL follow key and help
	uint8_t width;    // least width when rows are written one by one; 0: the heading's
	uint8_t type;     // enum out_type
	uint16_t offset;  // place of the member in the record, in bytes
	uint32_t flags;
};

// JSON key, lower case, unit included: "ring_bytes".
const char *out_col_key(const struct out_col *c);
// Help of the column, one line without full stop.
const char *out_col_help(const struct out_col *c);

// The columns of a table and their number: {"queues", "queue", OUT_COLS(cols)}.
#define OUT_COLS(cols) (cols), COUNT(cols)

struct out_table {
	const char *name;   // JSON: the array's key ("queues")
	const char *record; // NDJSON: value of "record" in each line ("queue")
	const struct out_col *cols;
	unsigned ncols;
};

enum out_mode {
	OUT_TABLE,
	OUT_RAW,
	OUT_CSV,
	OUT_COUNT, // the number of rows alone
	OUT_PAIRS,
	OUT_NUL,
	OUT_JSON,
	OUT_NDJSON,
	OUT_OPENMETRICS,
	// Documents of reports: text and tables, which show OUT_MACHINE columns, too
	OUT_MARKDOWN,
	OUT_HTML,
};

struct schema;

// Set by the options that all commands share (cmd/gpq.c).
struct out_opts {
	enum out_mode mode;
	const struct schema *schema; // schema that the JSON document names (schema.h); NULL: none
	const char *columns;         // -o: "A,B" chooses, "+A" adds; NULL: the default ones
	const char *filter;          // --filter: only rows that match (filter.h); NULL: all
	const char *sort;            // --sort: "A,-B"; NULL: rows stay as they come
	const char *table_name;      // --table; NULL: not given
	// Set by out_choose_table():
	const struct out_table *only;          // the one table that is written; NULL: all
	const struct out_table *const *tables; // with `only`: those of which it was chosen
	bool several; // several tables: --filter and --sort are for those that have their columns
	bool all;
	bool noheadings;
	bool bytes;
	bool context;
	bool hosts;        // each row names its host: shows OUT_HOST columns
	bool demangle;     // show demangled C++ names (OUT_MANGLED)
	bool fits;         // on a terminal, long tables are cut to the screen, and all is seen
	bool progress;     // show progress also if standard error is no terminal (progress.h)
	int color;         // 0 auto, 1 always, 2 never
	struct buf *to;    // where out_open() writes instead of standard output, or NULL (--watch)
	const char *title; // title of a document
	const char *none;  // said on a terminal if there is no row; NULL: "no TABLE"
	size_t *rows;      // counter of the rows that are shown, or NULL (--wait)
};

struct out;

// Opens an output on standard output; in JSON, Markdown and HTML also begins the document.
struct out *out_open(const struct out_opts *opts);

// Opens an output on the file `fd`, which messages call `name`. Both are borrowed.
struct out *out_open_fd(const struct out_opts *opts, int fd, const char *name);

// Ends what --json wrote on standard output, where nothing was opened, or what was closed is a
// document without a row: prints the document of the failure, or the one without rows if there was
// none. `status` is the exit status of the command; returns that of the process. What is printed is
// printed once.
int out_last(int status);

// Begins a table of records, which is left out with its rows if another one was chosen. `stream`:
// rows are written as they come (following, millions of rows); otherwise widths fit the content.
// Returns 0, or the exit status after a message (GPQ_USAGE: -o names a column that the table
// lacks).
int out_begin(struct out *o, const struct out_table *t, bool stream);

// Writes a row. Returns false if --filter leaves it out.
bool out_row(struct out *o, const void *record);

// A piece collects rows that another thread writes by out_row(). out_add() appends them to those of
// `o` and empties the piece; it returns what out_flush() does. A piece is made after out_begin()
// and freed before out_end().
struct out *out_piece(const struct out *o);
int out_add(struct out *o, struct out *piece);
void out_piece_free(struct out *piece);

void out_end(struct out *o);

// Writes a single record: an object in JSON, one "NAME: value" a line for people, otherwise a row.
// Returns 0, or GPQ_USAGE after a message.
int out_object(struct out *o, const struct out_table *t, const void *record);

// After out_begin: is the column of this index shown, or used by --filter or --sort? If not, its
// values need not be computed.
bool out_wants(const struct out *o, unsigned column);

// After out_begin: are the values of an OUT_DEMANGLED column needed?
bool out_demangles(const struct out *o);

// Is the value null, which tables show as "-"?
bool out_is_null(const struct out_col *c, const void *record);

// Sets the members of all columns of the table to null, before those that are known are filled in.
void out_clear(const struct out_table *t, void *record);

// After out_begin and before the first row: this OUT_RARE column has no values. It is hidden unless
// -o or --output-all named it.
void out_leave_out(struct out *o, const char *name);

// Before out_begin: will the column be shown? (-o with an unknown name: yes.)
bool out_would_want(const struct out_opts *opts, const struct out_table *t, const char *name);

// For a check before long work: are -o, --filter and --sort correct for this table? 0, or GPQ_USAGE
// after a message.
int out_check(const struct out_opts *opts, const struct out_table *t);

// Chooses which of `tables` (NULL-terminated) is written. With -r, -P, --csv, -0, -o and
// --output-all that is one: that of --table, or the first one that has the columns of -o, --filter
// and --sort. Without any of these it is all, and --filter and --sort must each be correct for one
// of them. Tables that are not chosen, and headings, are then left out by out_begin() and the like.
// Returns 0, or the exit status after a message.
int out_choose_table(struct out_opts *opts, const struct out_table *const *tables);

// Is --filter given?
bool out_filters(const struct out *o);

// After out_begin: limits a table to `most` rows. Returns how many of its `rows` rows to pass to
// out_row(): all of them with --filter or --sort, which apply before the limit.
uint32_t out_limit(struct out *o, uint32_t most, uint32_t rows);

// With out_opts.several: this table is left out since it has no rows. Its columns count as shown
// for --filter and --sort.
void out_skip(struct out *o, const struct out_table *t);

// Kinds of paragraphs for people, in tables and documents.
enum out_block {
	OUT_SECTION, // heading of a section; in documents only
	OUT_HEADING, // heading of a table
	OUT_NOTE,    // an explanation; in documents only
	OUT_WARNING,
	OUT_MET, // verdicts on a requirement: met, not met, not known
	OUT_UNMET,
	OUT_UNKNOWN,
};
void out_say(struct out *o, enum out_block block, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define out_title(o, ...) out_say((o), OUT_HEADING, __VA_ARGS__)

// Is the output for people, and goes to a terminal?
bool out_is_on_screen(const struct out *o);

// Is the output cut to the terminal (out_opts.fits)? Then what matters most is written last.
bool out_fits(const struct out *o);

bool out_is_document(const struct out *o);

// Buffer of an HTML page, to add a picture; NULL in other modes.
struct buf *out_html(struct out *o);

// The JSON document, to add members of one's own between tables (only in OUT_JSON; elsewhere NULL).
struct json *out_json(struct out *o);
enum out_mode out_mode(const struct out *o);

// Writes what is buffered (streams, --watch). Returns 0, or the exit status of the failed write,
// which out_close() reports.
int out_flush(struct out *o);

// Sets out_opts.none, once it is known why there is no row.
void out_say_none(struct out *o, const char *none);

// Ends the document, writes what is buffered and frees `o`. Returns GPQ_OK, GPQ_PIPE without a
// message, or another exit status after one (GPQ_FAILED: disk full ...).
int out_close(struct out *o);

// Ends the output of a command: out_end() if `status` is 0, then out_close(). Returns `status` or,
// if that is 0, what out_close() returns.
int out_finish(struct out *o, int status);

// Writes text that is no table to standard output, then frees the text. Returns the exit status, as
// out_close() does.
int out_text(struct buf *text);

// Writes the whole file or reports a failure: half a page would look like a whole one. `option`
// ("--svg " or "") stands before the file's name in messages. Returns GPQ_OK, or the exit status.
int out_file(const char *option, const char *path, const struct buf *text);

// Writes the file of an option, or with "-" standard output. Returns the exit status.
int out_file_or_stdout(const char *option, const char *path, struct buf *text);

// Lists the columns of `tables` (NULL-terminated) in the format chosen. Returns the exit status.
int out_list_columns(const struct out_opts *opts, const struct out_table *const *tables);

// Facts of the host (name, kernel, boot, clocks) that --context adds to each record, so that output
// of many hosts can be merged.
enum { CONTEXT_FACTS = 7 };

struct context {
	const char *host, *kernel, *boot_id, *pid_ns; // NULL: unknown
	uint64_t monotonic_ns, realtime_ns;           // U64_NULL: unknown
	const char *source; // "live", "recorded", or "softgpu": the software GPU of tests/kernel
	char text[4][128];  // memory of the first four members
	unsigned n;         // elements of `text` in use
};

void context_init(struct context *c);
