// Shared by the files of `gpq trace`: options (trace.c), kinds (kinds.c), recording (live.c), logs
// (log.c), input (files.c, input.c), summary (totals.c, report.c), notes (notes.c), list of records
// (list.c), parts (partial.c), kernel names (names.c), timeline (perfetto.c), other reports
// (compare.c, series.c, gaps.c, latency.c, streams.c), and the kernel's trace (ftrace.h).
#ifndef GPQ_CMD_TRACE_TRACE_H
#define GPQ_CMD_TRACE_TRACE_H

#include "cmd/command.h"
#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/reading.h"
#include "common/amdlog/analysis/windows.h"
#include "common/cli/progress.h"
#include "common/pick/pick.h"

#include <math.h>

struct demangler;
struct tail;

// Bytes of a file: the lines that begin in them.
struct trace_range {
	uint64_t from, len;
};

enum trace_by {
	BY_NOTHING = -1,
	BY_QUEUE,
	BY_KERNEL,
	BY_PROCESS,
	BY_THREAD,
	BY_API,
	BY_STREAM,
	BY_ERROR
};

struct trace_opts {
	uint64_t top;     // kernels; U64_NULL: not given
	uint64_t series;  // nanoseconds; U64_NULL: not given
	uint64_t threads; // U64_NULL: not given
	int by;           // enum trace_by
	bool list, compare, gaps, latency, partial, follow, demangle, no_demangle;
	bool live, cleanup;
	uint64_t for_ns;  // --live; U64_NULL: until Ctrl-C, or the end of the command
	const char *save; // folder that --live makes; NULL: a temporary one
	const char *range;
	const char *host; // --partial: whose log it is
	struct words kernels;
	const char *since, *until;
	const char *mark;            // file with windows of time
	const char *svg;             // file for the picture of the series
	const char *perfetto;        // file for the timeline; "-": standard output
	const char *ftrace;          // file of the kernel's trace
	const char *breakdown;       // of which suspension: number, time, "all"
	const char *ftrace_clock;    // of it; NULL: as it says itself
	const char *events;          // file of `gpq events --ndjson` in a folder of --live
	struct pick_opts pick;       // without --live: the pids alone, as the log numbers them
	struct words gpus;           // --live
	struct words grep, grep_not; // regular expressions of records
};

struct trace;

// A report that needs more than the summary: it gets the records one by one, in the order of the
// input.
struct trace_ask {
	size_t size; // of what it gathers, t->asked, which starts as zeros; 0: the caller owns
		     // t->asked
	void (*begin)(struct trace *t); // sets members of it that are not zero; may be NULL
	const struct schema *schema;
	const struct out_table *table, *by_queue, *by_kernel; // with t->one_table: which one
	void (*event)(struct trace *t, const struct amdlog_event *e);
	// The kinds of records `event` needs, a bit for each; others may be left out, which is
	// faster.
	uint32_t kinds;
	int (*report)(struct trace *t); // after amdlog_summary_finish; exit status
	void (*fini)(struct trace *t);  // what t->asked owns
};

// Rows of --list.
struct trace_rows {
	struct out *out;     // the trace's, or a piece of it
	struct buf text;     // scratch
	struct noted_row *v; // to be formatted, in order
	size_t n, cap;
	// Records in this range stay until trace_rows_format(). Rows of others are formatted at
	// once.
	const struct block_item *first, *end;
};

// Kernel names for people (names.c).
struct trace_names {
	struct demangler *demangler; // NULL: none yet, or there is no library
	bool begun;
	struct trace_name {
		char *text; // owned; NULL: as it is
		bool done;
	} * v; // by the summary's number
	size_t n;
};

struct trace {
	const struct trace_opts *opts;
	const struct grep *grep; // of the filter; NULL
	bool untold;             // the input was not read as it should: nothing is reported
	struct out *out;
	struct amdlog_reading reading;
	struct amdlog_scan *scan; // the reading's
	struct amdlog_summary sum;
	struct trace_names names;
	struct trace_range range; // when opts->range
	int by;                   // enum trace_by, BY_NOTHING: the whole report
	int64_t name_pid; // pid at the end of the file's name, as AMD_LOG_LEVEL_FILE puts it; -1
	struct trace_rows *rows;           // --list: of the block that is taken, or `last_rows`
	struct trace_rows last_rows;       // behind the last block
	struct amdlog_timeline *timeline;  // --perfetto; NULL
	int perfetto_fd;                   // -1
	const struct amdlog_merge *merged; // gpq merge: counts are in it; NULL
	struct progress progress;
	uint64_t input_bytes;        // of all files together; 0: not known
	const struct trace_ask *ask; // NULL: a report of the summary
	void *asked;                 // its own
	bool one_table;              // only one is written, and begun before the input is read
	struct amdlog_windows marks; // --mark, sorted
	const char *label;           // prefix of its notes: the log; NULL
	char **logs;                 // as named by the user, for the heading of a picture
	int nlogs;                   // 0: standard input
};

extern const struct out_table trace_totals_table, trace_process_table, trace_queue_table,
	trace_kernel_table, trace_thread_table, trace_api_table, trace_list_table,
	trace_command_table, trace_latency_queue_table, trace_latency_kernel_table,
	trace_error_table, trace_stream_table, trace_rhythm_table, trace_gap_table,
	trace_mark_table, trace_track_table, trace_plain_track_table, trace_interval_table,
	trace_queue_interval_table, trace_compare_log_table, trace_compare_finding_table,
	trace_compare_queue_table, trace_compare_kernel_table, trace_function_table,
	trace_kernel_process_table, trace_kernel_queue_table, trace_timeline_table,
	trace_suspension_table, trace_step_table;

// Of each report; gpq merge writes that of the summary, too.
extern const struct schema trace_schema, trace_list_schema, trace_latency_schema, trace_gaps_schema,
	trace_series_schema, trace_compare_schema, trace_ftrace_schema, trace_timeline_schema,
	trace_breakdown_schema;

// Members of documents that all of these have.
extern const struct schema_member trace_text, trace_notes_only[];
#define TRACE_NOTES                                                                            \
	{                                                                                      \
		"notes", SCHEMA_LIST, "what the log does not tell, and why", &trace_text, NULL \
	}

// Before the input is read: makes t->asked, checks the columns of -o. 0, or an exit status after a
// message.
int trace_begin(struct trace *t);
int trace_begin_table(struct trace *t); // with t->one_table: that one

// Are the merged parts of several hosts, whose times cannot be compared?
bool trace_several_hosts(const struct trace *t);

// After amdlog_summary_finish: writes what was asked for. Exit status.
int trace_report(struct trace *t);

// The totals, of trace_report.
void trace_totals(struct trace *t);

// First and last microsecond, and the nanoseconds between; U64_NULL when nothing was seen, and for
// what processes of several hosts have in common.
struct trace_span {
	uint64_t first_us, last_us, ns;
};
struct trace_span trace_span_of(const struct amdlog_span *s);
struct trace_span trace_common_span(const struct trace *t, const struct amdlog_span *s);

// Host, process and time span of a row.
struct trace_place {
	const char *host; // that parts named; NULL
	int64_t pid;      // I64_NULL: not known
	struct trace_span span;
};
struct trace_place trace_place(const struct trace *t, uint32_t process,
			       const struct amdlog_span *s);

// A queue; what is not known of it is null.
struct trace_queue {
	struct amdlog_queue q;
	struct trace_place at;
	const char *priority;
	double backlog_mean;
};
struct trace_queue trace_queue_of(const struct trace *t, uint32_t queue);

// Its ring's address and its process, for a column of text; AMDLOG_NONE: all queues.
void trace_name_queue(const struct trace *t, uint32_t queue, int64_t *pid, char name[24]);

// Sets c->out.demangle by --demangle and --no-demangle: without them, tables on a terminal.
// GPQ_USAGE after a message: both are given.
int trace_demangle(struct cmd *c, bool yes, bool no);

// A kernel's name for people; the log's name if it cannot be demangled. _shown: NULL if the open
// table shows no such names.
const char *trace_name_readable(struct trace *t, uint32_t kernel);
const char *trace_name_shown(struct trace *t, uint32_t kernel);
void trace_names_fini(struct trace *t);

// NaN: of nothing.
static inline double trace_mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

// Of many times, measured in microseconds. All but the count are U64_NULL when there are none.
struct trace_times {
	uint64_t count, mean_ns, p50_ns, p90_ns, p99_ns, max_ns;
};
struct trace_times trace_times_of(const struct hist *us);
struct trace_times trace_times_in(const struct keyed_histogram *us, uint32_t key);

// How many different ones a log names. A stream counts once for each queue.
struct trace_distinct {
	uint64_t kernels, pids, rings, streams;
};
struct trace_distinct trace_distinct_of(const struct amdlog_summary *s);

uint64_t trace_ns(uint64_t us);                             // U64_NULL stays
int64_t trace_pid(const struct trace *t, uint32_t process); // I64_NULL: not known

// Sort key of a row: these numbers, then name, then process, then the order in the log.
struct trace_rank {
	uint64_t by[3];   // ~n: those with most first
	const char *name; // NULL: by numbers alone
	uint32_t process, index;
};

// The indices [0, n) of rows that are shown, in order; owned by the caller. `rank` fills in a row's
// rank, which holds zeros, and says whether the row is shown.
uint32_t *trace_sorted(const struct trace *t, uint32_t n, uint32_t *count,
		       bool (*rank)(const struct trace *, uint32_t, struct trace_rank *));

// Begins a table of several, under its title: `show` of `n` rows.
void trace_table(struct trace *t, const struct out_table *table, const char *title, uint64_t show,
		 uint64_t n);

// Does a record that passes the filter name the queue, and is its row not merged into another?
bool trace_queue_shown(const struct amdlog_queue *q);

// Writes what the logs do not contain: members of the JSON document, else warnings.
void trace_notes(struct trace *logs, unsigned n);

// Scanner, mender and summary of a log.
void trace_open(struct trace *t, const struct cmd *c, const struct amdlog_filter *filter,
		const struct grep *grep);
void trace_close(struct trace *t);

// Reads files one behind the other, and shows how far it is. Exit status.
int trace_scan(struct trace *t, const struct cmd *c, int n, char **names);

// Says where Ctrl-C ended it, and returns the exit status.
int trace_stopped(const struct trace *t);

// --range with its file: GPQ_OK, or GPQ_USAGE after a message.
int trace_check_input(const struct trace_opts *o, int argc);
bool trace_range_parse(const char *text, struct trace_range *range);

// Reads one input, and no more: `tail` is NULL, or followed in place of `fd`. Exit status.
int trace_read(struct trace *t, const char *name, int fd, struct tail *tail);

// 4711 of "trace_4711", as AMD_LOG_LEVEL_FILE=trace makes it; -1.
int64_t trace_pid_of_name(const char *name);

// The words of enum trace_by.
#define TRACE_BY_WORDS "queue\0kernel\0process\0thread\0api\0stream\0error"

// The report of the files that are the operands, and of o->ftrace and o->events. Exit status.
int trace_files(struct cmd *c);

// Of logs, except for --compare and --partial.
int trace_log(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// --compare
int trace_compare(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// --mark: reads and sorts the windows. Exit status.
int trace_marks_read(struct trace *t);

// --series, --gaps, --latency, --by stream, each log of --compare
extern const struct trace_ask trace_series, trace_gaps, trace_latency, trace_streams,
	trace_compare_ask;

// The first so many of `rows` kernels are shown.
uint32_t trace_top(const struct trace *t, uint32_t rows);

// --list: adds a row to t->rows; formats rows that were added (from any thread).
void trace_list_row(struct trace *t, const struct amdlog_event *e);
void trace_rows_format(struct trace_rows *rows);
void trace_rows_fini(struct trace_rows *rows);

// --ftrace: the report of the kernel's trace, and of logs beside it. Exit status.
int trace_ftrace(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);
int ftrace_breakdown_check(const char *arg); // GPQ_USAGE after a message

// --live: records, then reports what was recorded. Exit status.
int trace_live(struct cmd *c);

// Is the only operand a folder that --live wrote? The report of a folder. Exit status.
bool trace_is_folder(const struct cmd *c);
int trace_folder(struct cmd *c, const char *folder);

// --perfetto: opens the file and t->timeline, unless the option is missing; ends both. Exit status.
int trace_perfetto_open(struct trace *t, int argc, char **argv);
int trace_perfetto_close(struct trace *t);
bool trace_to_stdout(const char *path); // is it "-"?

// --partial, and gpq merge of what it wrote.
int trace_partial(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// Lines that gpq trace --partial wrote.
struct trace_lines {
	struct trace_line {
		char *text; // owned
		size_t len;
		struct amdlog_part place; // owned; host, file and place only
	} * v;
	size_t n, cap;
};

// Keeps a line. False when gpq trace --partial did not write it.
bool trace_lines_add(struct trace_lines *l, const char *text, size_t len);
void trace_lines_fini(struct trace_lines *l);
// Writes them, sorted by file and place, or the report of their sum. Exit status.
int trace_merge_partial(struct trace_lines *l);
int trace_merge_report(struct cmd *c, struct trace_lines *l, const struct trace_opts *o);

// The scanner's counts: of this run or, when parts are merged, of all parts.
const struct amdlog_counts *trace_counts(const struct trace *t);

// "low", "normal", "high"; NULL: no such priority.
const char *trace_priority(int priority);

// "1024x1x1"; NULL when not known.
const char *trace_shape(char out[64], const uint64_t dim[3]);

#endif
