// One output object for every command: tables for people (libsmartcols), raw, pairs, JSON and
// NDJSON for pipes, all from the same records and the same column tables.
//
// A record is a plain struct; a column has the offset of a value in it, its names and its format.
// Adding a column is one line. Values that are not known are the type's null (below):
// `-` in tables and raw output, an empty string in pairs, null in JSON.
#ifndef GPQ_OUT_OUT_H
#define GPQ_OUT_OUT_H

#include "common/cli/json.h"
#include "common/host/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define U64_NULL UINT64_MAX
#define I64_NULL INT64_MIN
#define U32_NULL UINT32_MAX

enum out_type {   // member of the record   null        table           raw, pairs, JSON
	OUT_STR,  // const char *           NULL        text            text
	OUT_U64,  // uint64_t               U64_NULL    decimal         decimal
	OUT_I64,  // int64_t                I64_NULL    decimal         decimal
	OUT_U32,  // uint32_t               U32_NULL    decimal         decimal
	OUT_HEX,  // uint64_t               U64_NULL    0x...           0x... (a JSON string: jq
		  // loses bits of numbers)
	OUT_SIZE, // uint64_t, bytes        U64_NULL    1.5M (-b: bytes) bytes
	OUT_NS,   // uint64_t, nanoseconds  U64_NULL    1.23ms          nanoseconds
	OUT_BOOL, // int8_t                 -1          yes, no         yes, no (JSON true, false)
	OUT_F64,  // double                 NaN         3 digits        9 digits
	OUT_LIST, // const char *, blank-separated words; NULL. A JSON array of strings
};

enum {
	OUT_DEFAULT = 1, // shown without -o
	OUT_TRUNC = 2,   // may be cut to fit a terminal, to half its width or 32
	OUT_STATUS =
		4, // ok, yes: green; no, failed: red; unknown: yellow (colour only where wanted)
	OUT_MACHINE = 8, // in JSON and NDJSON also without -o (exact or decimal twins of what the
			 // table shows)
	OUT_HOST = 16,   // where rows are of named hosts, also without -o
	OUT_RARE = 32,   // in tables for people also without -o, unless out_leave_out() says no
	OUT_WIDE = 64,   // left out of a table on a terminal where it does not fit, unless -o named
			 // it or --output-all was given
	OUT_TWIN = 128,  // with OUT_MACHINE: not in documents, whose tables show the text

	// A C++ name as the compiler made it. With out_opts.demangle the value of the next column,
	// which is OUT_DEMANGLED, is shown in its place, unless both columns are shown.
	OUT_MANGLED = 256,
	// The same name for people. With out_opts.demangle JSON and NDJSON have both, without -o
	// too.
	OUT_DEMANGLED = 512,
	OUT_ARRAY = 1024, // the text is an array in the record; empty: null
};

// There are over a thousand columns, and each pointer in them is relocated at each start: so a row
// has one pointer, and its three texts lie one behind the other.
struct out_col {
	const char *name; // heading and what -o takes, upper case; behind its NUL key and help
	uint8_t width;    // least width when rows are written one by one; 0: that of the heading
	uint8_t type;     // enum out_type
	uint16_t offset;  // of the member in the record
	uint32_t flags;
};

// JSON key, lower case, unit included: "ring_bytes".
const char *out_col_key(const struct out_col *c);
// One line without full stop.
const char *out_col_help(const struct out_col *c);

// The columns of a table and their number: {"queues", "queue", OUT_COLS(cols)}.
#define OUT_COLS(cols) (cols), sizeof(cols) / sizeof((cols)[0])

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
	OUT_PAIRS,
	OUT_NUL,
	OUT_JSON,
	OUT_NDJSON,
	// Documents of reports: text and tables, with all OUT_MACHINE columns
	OUT_MARKDOWN,
	OUT_HTML,
};

struct schema;

// Filled by the shared options of every command (cmd/gpq.c).
struct out_opts {
	enum out_mode mode;
	const struct schema *schema; // of the JSON document (schema.h); NULL: it names none
	const char *columns;         // -o: "A,B" chooses, "+A" adds; NULL: the default ones
	const char *filter;          // --filter: only rows that match (filter.h); NULL: all
	const char *sort;            // --sort: "A,-B"; NULL: as they come
	bool several; // the document has several tables; filter and sort leave those alone that
		      // lack a column they name
	bool all;
	bool noheadings;
	bool bytes;
	bool context;
	bool hosts;        // rows are of named hosts
	bool demangle;     // C++ names for people: OUT_MANGLED
	bool progress;     // also when standard error is no terminal (progress.h)
	int color;         // 0 auto, 1 always, 2 never
	struct buf *to;    // where out_open() writes instead of standard output, or NULL (--watch)
	const char *title; // of a document
	size_t *rows;      // counts the rows that are shown, or NULL (--wait)
};

struct out;

// Writes to standard output; in JSON mode opens the document.
struct out *out_open(const struct out_opts *opts);

// The same to a file of one's own; `name` is what messages call it. Both are borrowed.
struct out *out_open_fd(const struct out_opts *opts, int fd, const char *name);

// Has this process opened an output on standard output? If so, an error needs no JSON document of
// its own.
bool out_opened(void);

// A table of records. `stream`: rows are written as they come (following, millions of rows);
// otherwise widths fit the content. 0, or GPQ_USAGE after a message when -o names a column that the
// table has not.
int out_begin(struct out *o, const struct out_table *t, bool stream);
void out_row(struct out *o, const void *record);

// A piece collects rows that another thread writes by out_row(). out_add() appends them to those of
// `o` and empties the piece; it returns what out_flush() does. A piece is made after out_begin()
// and freed before out_end().
struct out *out_piece(const struct out *o);
int out_add(struct out *o, struct out *piece);
void out_piece_free(struct out *piece);

void out_end(struct out *o);

// A single record: an object in JSON, one "NAME: value" a line for people, as a row elsewhere. 0 or
// GPQ_USAGE.
int out_object(struct out *o, const struct out_table *t, const void *record);

// After out_begin: is the column of this index shown? Saves computing hidden values.
bool out_wants(const struct out *o, unsigned column);

// After out_begin: do rows need what is in their OUT_DEMANGLED column?
bool out_demangles(const struct out *o);

// Is the value null, which tables show as "-"?
bool out_is_null(const struct out_col *c, const void *record);

// Sets all members that the table shows to null, for a record whose values are filled in then.
void out_clear(const struct out_table *t, void *record);

// After out_begin and before the first row: this OUT_RARE column has no values. It is hidden unless
// -o or --output-all named it.
void out_leave_out(struct out *o, const char *name);

// Before out_begin: will the column be shown? (-o with an unknown name: yes.)
bool out_would_want(const struct out_opts *opts, const struct out_table *t, const char *name);

// For a check before long work: are -o, --filter and --sort correct for this table? 0, or GPQ_USAGE
// after a message.
int out_check(const struct out_opts *opts, const struct out_table *t);

// The same for --filter and --sort, which must be correct for one of the tables (NULL-terminated).
int out_check_any(const struct out_opts *opts, const struct out_table *const *tables);

// Is --filter given?
bool out_filters(const struct out *o);

// After out_begin: limits a table to `most` rows. Returns how many of its `rows` rows to pass to
// out_row(): all of them with --filter or --sort, which apply before the limit.
uint32_t out_limit(struct out *o, uint32_t most, uint32_t rows);

// With out_opts.several: this table is left out since it has no rows. Its columns count as shown
// for --filter and --sort.
void out_skip(struct out *o, const struct out_table *t);

// A paragraph for people, documents included.
enum out_block {
	OUT_SECTION, // heading of a section; in documents only
	OUT_HEADING, // of a table
	OUT_NOTE,    // an explanation; in documents only
	OUT_WARNING,
	OUT_MET, // a verdict
	OUT_UNMET,
	OUT_UNKNOWN,
};
void out_say(struct out *o, enum out_block block, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define out_title(o, ...) out_say((o), OUT_HEADING, __VA_ARGS__)

bool out_is_document(const struct out *o);

// Where an HTML page is written, to add a picture; elsewhere NULL.
struct buf *out_html(struct out *o);

// The JSON document, to add members of one's own between tables (only in OUT_JSON; elsewhere NULL).
struct json *out_json(struct out *o);
enum out_mode out_mode(const struct out *o);

// Writes out what is buffered (streams, --watch). 0, or the exit status of out_close.
int out_flush(struct out *o);

// Ends the document and writes all. GPQ_OK; GPQ_FAILED after a message (disk full ...); GPQ_PIPE
// without one.
int out_close(struct out *o);

// The end of a command: out_end() if `status` is 0, and out_close(). The first failure.
int out_finish(struct out *o, int status);

// Text that is no table to standard output, then buf_fini(). Exit status, as of out_close().
int out_text(struct buf *text);

// Writes a file, all of it or with an error: half a page would look like a whole one. `option`
// stands before its name in messages: "--svg ", "". GPQ_OK or GPQ_FAILED.
int out_file(const char *option, const char *path, const struct buf *text);

// Lists columns of `tables` (NULL-terminated) in the format chosen. Exit status.
int out_list_columns(const struct out_opts *opts, const struct out_table *const *tables);

// Facts of the host (name, kernel, boot, clocks) that --context adds to each record, so that output
// of many hosts can be merged.
enum { CONTEXT_FACTS = 7 };

struct context {
	const char *host, *kernel, *boot_id, *pid_ns; // NULL: unknown
	uint64_t monotonic_ns, realtime_ns;           // U64_NULL: unknown
	const char *source;                           // live, recorded, or the software GPU of a VM
	char text[4][128];                            // the first four
	unsigned n;                                   // texts used
};

void context_init(struct context *c);

#endif
