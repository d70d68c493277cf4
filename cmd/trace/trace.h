// Shared by the files of `gpq trace`: options and kinds (trace.c), input (files.c, input.c),
// output and reports (report.c), each a struct trace_ask in a file of its own (summary.c,
// streams.c, list.c, series.c, gaps.c, latency.c, compare.c), notes (notes.c), recording
// (live.c), and the kernel's trace (ftrace.h).
#ifndef GPQ_CMD_TRACE_TRACE_H
#define GPQ_CMD_TRACE_TRACE_H

#include "cmd/command.h"
#include "common/amdlog/analysis/compare.h"
#include "common/amdlog/analysis/latency.h"
#include "common/amdlog/analysis/series.h"
#include "common/amdlog/analysis/windows.h"
#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/reading.h"
#include "common/cli/progress.h"
#include "common/pick/pick.h"

#include <math.h>

struct demangler;
struct kernel_side;
struct stat;
struct tail;

// --range: the lines of a file that begin in these bytes.
struct trace_range {
	uint64_t from, len;
};

enum trace_by {
	BY_OTHERS = -2, // of a view: no option asks for it alone
	BY_NOTHING,
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
	const char *host; // --partial: the host that wrote the logs
	struct words kernels;
	const char *since, *until;
	const char *mark;            // file with windows of time
	const char *svg;             // file for the picture of the series
	const char *perfetto;        // file for the timeline; "-": standard output
	const char *ftrace;          // file with an ftrace log of the Linux kernel
	const char *breakdown;       // which suspension: its number, a time in it, or "all"
	const char *ftrace_clock;    // clock of the trace; NULL: the trace says it
	const char *events;          // file of `gpq events --ndjson` in a folder of --live
	struct pick_opts pick;       // without --live only pids, as the log numbers them
	struct words gpus;           // --live
	struct words grep, grep_not; // regular expressions for records
};

struct trace;

// Sort key of a row: these numbers, then name, then process, then the order in the log.
struct trace_rank {
	uint64_t by[3];   // ~n: greatest n first
	const char *name; // NULL: by numbers alone
	uint32_t process, index;
};

// A table of a report and how to write it.
struct trace_view {
	const struct out_table *table; // NULL ends a list
	const char *title;             // NULL: the report has written one
	int by;                        // enum trace_by that asks for this table alone
	bool alone;                    // written only then
	uint32_t (*count)(const struct trace *t);
	// Fills in the rank of row `i`, which holds zeros and `i`. False: the row is not shown.
	// NULL: rows are shown as they come.
	bool (*rank)(struct trace *t, uint32_t i, struct trace_rank *r);
	void (*row)(struct trace *t, uint32_t i);
	uint32_t (*most)(const struct trace *t, uint32_t rows); // rows to show; NULL: all
};

// A function for trace_view.count: rows are elements of struct trace, which `member` counts.
#define TRACE_COUNT(name, member)                   \
	static uint32_t name(const struct trace *t) \
	{                                           \
		return (uint32_t)t->member;         \
	}

// A report. Some need more than the summary: they get the records one by one, in the order of the
// input, and gather it in a member of struct trace.
struct trace_ask {
	const struct schema *schema;
	const struct trace_view *views;
	int (*begin)(struct trace *t); // before the input is read; NULL: nothing to do
	void (*event)(struct trace *t, const struct amdlog_event *e); // NULL: the summary is enough
	uint32_t kinds;                 // of records that `event` needs: AMDLOG_KIND bits
	int (*report)(struct trace *t); // after amdlog_summary_finish; exit status. NULL: views
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

// Readable kernel names.
struct trace_names {
	struct demangler *demangler; // NULL: not started, or there is no library
	bool begun;
	char **v; // owned, by the kernel's index in the summary; NULL: not asked for
	size_t n;
};

// One run of gpq trace: its input, what was read, and its output.
struct trace {
	const struct trace_opts *opts;
	const struct grep *grep; // --grep, --grep-not; NULL
	struct out *out;
	struct amdlog_reading reading;
	struct amdlog_scan *scan; // the reading's
	struct amdlog_summary sum;
	struct trace_names names;
	struct trace_range range; // with opts->range
	int by;                   // enum trace_by; BY_NOTHING: the whole report
	bool one_table;           // a single table is written, and begun before the input is read
	bool lists;               // a row for each record of the log
	bool untold;              // a regular expression failed: nothing is reported
	int64_t name_pid; // pid at the end of the file's name, as AMD_LOG_LEVEL_FILE puts it; -1
	struct trace_rows *rows;           // `lists`: of the present block, or `last_rows`
	struct trace_rows last_rows;       // `lists`: records that end after the last block
	struct amdlog_timeline *timeline;  // --perfetto; NULL
	int perfetto_fd;                   // -1: none
	int nlogs;                         // 0: standard input
	char **logs;                       // operands, for the heading of a picture
	const struct amdlog_merge *merged; // gpq merge: the sum of its parts; NULL
	struct progress progress;
	uint64_t input_bytes;        // of all files together; 0: not known
	struct amdlog_windows marks; // --mark, sorted
	const char *label;           // prefix of notes: which log of --compare; NULL
	const struct trace_ask *ask;
	// What `ask` gathers; the others stay zeros.
	struct amdlog_series series;
	struct amdlog_latency latency;
	struct amdlog_streams streams;
	struct trace_gaps {
		struct amdlog_gaps gaps;
		struct amdlog_gaps launches; // of all queues, for logs without packets
		struct amdlog_marked marked;
	} gaps;
	struct compared *compared; // --compare: both logs; not owned
	struct kernel_side *kernel;
};

extern const struct out_table trace_totals_table, trace_process_table, trace_queue_table,
	trace_kernel_table, trace_thread_table, trace_api_table, trace_list_table,
	trace_command_table, trace_latency_queue_table, trace_latency_kernel_table,
	trace_error_table, trace_stream_table, trace_rhythm_table, trace_gap_table,
	trace_mark_table, trace_track_table, trace_interval_table, trace_queue_interval_table,
	trace_compare_log_table, trace_compare_finding_table, trace_compare_queue_table,
	trace_compare_kernel_table, trace_function_table, trace_kernel_process_table,
	trace_kernel_queue_table, trace_timeline_table, trace_suspension_table, trace_step_table;

// The forms of documents; gpq merge writes that of the summary, too.
extern const struct schema trace_schema, trace_list_schema, trace_latency_schema, trace_gaps_schema,
	trace_series_schema, trace_compare_schema, trace_ftrace_schema, trace_timeline_schema,
	trace_breakdown_schema;

// Members that all of these have.
extern const struct schema_member trace_text, trace_notes_only[];
#define TRACE_NOTES                                                                            \
	{                                                                                      \
		"notes", SCHEMA_LIST, "what the log does not tell, and why", &trace_text, NULL \
	}

// Before the input is read: opens the output and --perfetto, and checks the columns of -o. GPQ_OK,
// or an exit status after a message; then both are closed.
int trace_begin(struct trace *t, struct cmd *c);

// Does -o name columns of a single table? Can the output hold no other table?
bool trace_columns(const struct cmd *c);
bool trace_flat(const struct cmd *c);

// Closes what trace_begin() opened. The exit status of a run: `status` is that of reading, `told`
// of the report.
int trace_end(struct trace *t, int status, int told);

// Are the merged parts of several hosts, whose times cannot be compared?
bool trace_several_hosts(const struct trace *t);

// After amdlog_summary_finish: writes the report. Exit status.
int trace_report(struct trace *t);

// Writes one view; those of the report, or the one that was asked for.
void trace_view_out(struct trace *t, const struct trace_view *v);
void trace_views_out(struct trace *t);

// First and last microsecond, and the nanoseconds between them. U64_NULL: nothing was seen.
struct trace_span {
	uint64_t first_us, last_us, ns;
};
struct trace_span trace_span_of(const struct amdlog_span *s);

// Host, process and time span of a row.
struct trace_place {
	const char *host; // as --partial --host named it; NULL
	int64_t pid;      // I64_NULL: not known
	struct trace_span span;
};
struct trace_place trace_place(const struct trace *t, uint32_t process,
			       const struct amdlog_span *s);

// A queue, with null for what the log does not tell.
struct trace_queue {
	struct amdlog_queue q;
	struct trace_place at;
	const char *priority;
	double backlog_mean;
};
struct trace_queue trace_queue_of(const struct trace *t, uint32_t queue);

// The queue's process, and its ring as text: "0x7f...", "all" of AMDLOG_NONE, "-" if not known.
void trace_name_queue(const struct trace *t, uint32_t queue, int64_t *pid, char name[24]);

// Sets c->out.demangle by --demangle and --no-demangle: without them, tables on a terminal.
// GPQ_USAGE after a message: both are given.
int trace_demangle(struct cmd *c, bool yes, bool no);

// A kernel's readable name; the log's name if it cannot be demangled. _shown: NULL if the open
// table shows no readable names.
const char *trace_name_readable(struct trace *t, uint32_t kernel);
const char *trace_name_shown(struct trace *t, uint32_t kernel);
void trace_names_fini(struct trace *t);

// NaN if `n` is 0.
static inline double trace_mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

// Statistics of times that the log has in microseconds. U64_NULL, but for the count: no times.
struct trace_times {
	uint64_t count, mean_ns, p50_ns, p90_ns, p99_ns, max_ns;
};
struct trace_times trace_times_of(const struct hist *us);
struct trace_times trace_times_in(const struct keyed_histogram *us, uint32_t key);

// How many different ones a log names. A stream counts once for each of its queues.
struct trace_distinct {
	uint64_t kernels, pids, rings, streams;
};
struct trace_distinct trace_distinct_of(const struct amdlog_summary *s);

uint64_t trace_ns(uint64_t us);                             // U64_NULL stays
int64_t trace_pid(const struct trace *t, uint32_t process); // I64_NULL: not known

// Those of the indices [0, n) that `rank` (struct trace_view) chooses, in its order; to be freed.
uint32_t *trace_sorted(struct trace *t, uint32_t n, uint32_t *count,
		       bool (*rank)(struct trace *, uint32_t, struct trace_rank *));

// Begins a table under its title, which says so if only `show` of `n` rows are written.
void trace_table(struct trace *t, const struct out_table *table, const char *title, uint64_t show,
		 uint64_t n);

// Was the queue named by a record that passed the filter, and not joined to another row?
bool trace_queue_shown(const struct amdlog_queue *q);

// A note on what the input does not tell: an element of a list in the JSON document, else a
// warning.
__attribute__((format(printf, 2, 3))) void trace_note(const struct trace *t, const char *fmt, ...);

// The notes on some logs: the list in the JSON document, else warnings.
void trace_notes(const struct trace *logs, unsigned n);

// Scanner, mender and summary of a log.
void trace_open(struct trace *t, const struct cmd *c, const struct amdlog_filter *filter,
		const struct grep *grep);
void trace_close(struct trace *t);

// Reads files one after the other and shows the progress. Exit status.
int trace_scan(struct trace *t, const struct cmd *c, int n, char **names);

// Says where a signal ended the reading. Exit status.
int trace_stopped(const struct trace *t);

// --range with its file: GPQ_OK, or GPQ_USAGE after a message.
int trace_check_input(const struct trace_opts *o, int argc);
bool trace_range_parse(const char *text, struct trace_range *range);

// Reads one input: `fd`, or `tail`, which grows, unless it is NULL. Exit status.
int trace_read(struct trace *t, const char *name, int fd, struct tail *tail);

// stat(2) of an operand, "-" included.
int trace_stat(const char *name, struct stat *st);

// 4711 of "trace_4711", a file that AMD_LOG_LEVEL_FILE=trace makes; -1: no pid.
int64_t trace_pid_of_name(const char *name);

// The words of enum trace_by.
#define TRACE_BY_WORDS "queue\0kernel\0process\0thread\0api\0stream\0error"

// The report of the operands, of o->ftrace and of o->events. Exit status.
int trace_files(struct cmd *c);

// Reports of logs, but for --compare and --partial.
int trace_log(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// --compare
int trace_compare(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// --mark: reads and sorts the windows. Exit status.
int trace_marks_read(struct trace *t);

// The summary, --by stream, --list, --series, --gaps, --latency
extern const struct trace_ask trace_summary, trace_streams, trace_list, trace_series, trace_gaps,
	trace_latency;

// For views of kernels: how many of `rows` are shown (--top).
uint32_t trace_top(const struct trace *t, uint32_t rows);

// --list: formats the rows that were added, from any thread.
void trace_rows_format(struct trace_rows *rows);
void trace_rows_fini(struct trace_rows *rows);

// --ftrace: the report of the kernel's trace, with logs beside it. Exit status.
int trace_ftrace(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);
int ftrace_breakdown_check(const char *arg); // GPQ_USAGE after a message

// --live: records, then reports what was recorded. Exit status.
int trace_live(struct cmd *c);

// Is the only operand a folder that --live wrote? trace_folder() reports it. Exit status.
bool trace_is_folder(const struct cmd *c);
int trace_folder(struct cmd *c, const char *folder);

// Is the operand of --perfetto or --svg "-"?
bool trace_to_stdout(const char *path);

// --partial
int trace_partial(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// The scanner's counts, of this run or of all merged parts.
const struct amdlog_counts *trace_counts(const struct trace *t);

// "low", "normal", "high"; NULL: no such priority.
const char *trace_priority(int priority);

// "1024x1x1"; NULL: not known.
const char *trace_shape(char out[64], const uint64_t dim[3]);

#endif
