// Shared by the files of `gpq trace`: options and kinds of runs (trace.c), input (files.c,
// input.c), output (report.c), reports, each a struct trace_ask (summary.c, streams.c, list.c,
// series.c, gaps.c, latency.c, compare.c), notes (notes.c), recording (live.c), and the trace of
// the Linux kernel (ftrace.h).
#pragma once

#include "cmd/command.h"
#include "common/amdlog/analysis/compare.h"
#include "common/amdlog/analysis/latency.h"
#include "common/amdlog/analysis/series.h"
#include "common/amdlog/analysis/windows.h"
#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/reading.h"
#include "common/cli/progress.h"
#include "common/cli/stop.h"
#include "common/pick/pick.h"

#include <math.h>

struct demangler;
struct kernel_side;
struct stat;
struct tail;

// --range: lines of a file that begin in these bytes are read.
struct trace_range {
	uint64_t from, len;
};

enum trace_by {
	BY_OTHERS = -2, // a view that no word of --by chooses
	BY_NOTHING,
	BY_QUEUE,
	BY_KERNEL,
	BY_PROCESS,
	BY_THREAD,
	BY_API,
	BY_STREAM,
	BY_ERROR
};
// The words of --by, in the order of enum trace_by, and as help lists them.
#define TRACE_BY_WORDS "queue\0kernel\0process\0thread\0api\0stream\0error"
#define TRACE_BY_HELP  "one table only:\nqueue, kernel, process, thread, api, stream or error"

struct trace_opts {
	uint64_t top;     // rows of kernels, or gaps of each queue; U64_NULL: not given
	uint64_t series;  // length of an interval, ns; U64_NULL: not given
	uint64_t threads; // number of threads; U64_NULL: not given
	int by;           // enum trace_by
	bool list, compare, gaps, latency, partial, follow, demangle, no_demangle;
	bool live, cleanup;
	uint64_t for_ns;   // --live: time to record; U64_NULL: to Ctrl-C or the end of COMMAND
	const char *save;  // folder that --live makes; NULL: a temporary one
	const char *range; // OFFSET:LEN, bytes
	const char *host;  // --partial: the host that wrote the logs
	uint64_t expect;   // gpq merge: how many parts there should be; U64_NULL: not given
	struct words drop; // gpq merge --drop: columns over which sums are added up
	bool partial_ok;   // gpq merge: what is missing in the input is no failure
	struct words kernels;
	const char *since, *until;
	const char *mark;            // file with windows of time
	const char *svg;             // file for the picture of the series
	const char *html;            // file for the page of a comparison
	const char *perfetto;        // file for the timeline; "-": standard output
	const char *ftrace;          // file with an ftrace log of the Linux kernel
	const char *breakdown;       // suspension of queues: number, a time within it, or "all"
	const char *ftrace_clock;    // trace_clock of the ftrace log; NULL: the log itself tells
	const char *offset;          // time to add to those of the ftrace log; NULL: not given
	struct words pid_map;        // "LOGPID=KERNELPID"
	const char *events;          // file that `gpq events --ndjson` wrote, in a folder of --live
	struct pick_opts pick;       // without --live only pids, those of the log
	struct words gpus;           // --live: GPUs whose records are kept
	struct words grep, grep_not; // regular expressions for records
};

struct trace;

// Sort key of a row: `by`, then name, process and index are compared; smallest first.
struct trace_rank {
	uint64_t by[3];   // ~n sorts the greatest n first
	const char *name; // NULL: names are not compared
	uint32_t process, index;
};

// A table of a report and how to write it.
struct trace_view {
	const struct out_table *table; // NULL ends a list
	const char *title;             // NULL: the report itself wrote a title
	int by;                        // enum trace_by: with this --by, no other table is written
	bool alone;                    // not part of the report with all tables
	uint32_t (*count)(const struct trace *t);
	// Fills in the rank of row `i`; *r holds zeros and `i`. Returns false if the row is not
	// shown. NULL: all rows are shown, in the order of `i`.
	bool (*rank)(struct trace *t, uint32_t i, struct trace_rank *r);
	void (*row)(struct trace *t, uint32_t i);
	uint32_t (*most)(const struct trace *t, uint32_t rows); // how many rows to show; NULL: all
};

// Defines a function for trace_view.count, which returns a member of struct trace.
#define TRACE_COUNT(name, member)                   \
	static uint32_t name(const struct trace *t) \
	{                                           \
		return (uint32_t)t->member;         \
	}

// A report. One that needs more than the summary has `event`, which gets the records in the order
// of the input and gathers what it needs in a member of struct trace.
struct trace_ask {
	const struct schema *schema;
	const struct trace_view *views;
	int (*begin)(struct trace *t); // called before the input is read; NULL: nothing to do
	void (*event)(struct trace *t, const struct amdlog_event *e); // NULL: the summary is enough
	uint32_t kinds;                 // AMDLOG_KIND bits: kinds of records that `event` needs
	int (*report)(struct trace *t); // writes the report, returns the exit status
	const struct out_table *const *prints; // for cmd_spec.prints; NULL: tables of the schema
};

// Rows of --list.
struct trace_rows {
	struct out *out;     // output of the trace, or a piece of that output
	struct buf text;     // scratch for texts
	struct noted_row *v; // rows to be formatted, in order
	size_t n, cap;
	// Records in this range stay until trace_rows_format(); rows of other records are formatted
	// at once.
	const struct block_item *first, *end;
};

// Readable kernel names.
struct trace_names {
	struct demangler *demangler; // NULL: not started, or libstdc++ is missing
	bool begun;                  // starting the demangler was tried
	char **v; // owned; by index of the kernel in the summary; NULL: not demangled yet
	size_t n;
};

// One run of gpq trace: its input, what was read, and its output.
struct trace {
	const struct trace_opts *opts;
	const struct grep *grep; // --grep, --grep-not; NULL: not given
	struct out *out;
	struct amdlog_reading reading;
	struct amdlog_scan *scan; // the scanner in `reading`
	struct amdlog_summary sum;
	struct trace_names names;
	struct trace_range range; // parsed from opts->range, if given
	int by;                   // enum trace_by; BY_NOTHING: the whole report
	bool one_table;           // one table only is written; begun before the input is read
	bool chosen;              // out_choose_table() chose one table
	bool headings;            // tables have headings
	bool lists;               // --list: a row for each record of the log
	bool untold;              // nothing is reported, as a regular expression failed
	int64_t name_pid; // pid that AMD_LOG_LEVEL_FILE put at the end of the file's name; -1: none
	struct trace_rows *rows;           // with `lists`: rows of the block now, or `last_rows`
	struct trace_rows last_rows;       // with `lists`: rows of records that end with the log
	struct amdlog_timeline *timeline;  // --perfetto; NULL: not given
	int perfetto_fd;                   // -1: none
	int nlogs;                         // 0: standard input
	char **logs;                       // operands, for the heading of a picture
	const struct amdlog_merge *merged; // gpq merge: the sum of its parts; NULL in gpq trace
	// --partial: as in struct amdlog_part; of several files the first inode, all heads and
	// bytes.
	uint64_t inode, head, size;
	struct progress progress;
	uint64_t input_bytes;        // size of all files together; 0: not known
	struct amdlog_windows marks; // --mark, sorted
	const char *label;           // --compare: "A" or "B", prefix of notes; else NULL
	const struct trace_ask *ask;
	// `ask` fills in one of the next four; the others stay zeros.
	struct amdlog_series series;
	struct amdlog_latency latency;
	struct amdlog_streams streams;
	struct trace_gaps {
		struct amdlog_gaps gaps;
		struct amdlog_gaps launches; // launches on any queue, for logs without packets
		struct amdlog_marked marked;
	} gaps;
	struct compared *compared;  // --compare: both logs; not owned
	struct kernel_side *kernel; // --ftrace; not owned
};

extern const struct out_table trace_totals_table, trace_process_table, trace_queue_table,
	trace_kernel_table, trace_thread_table, trace_api_table, trace_list_table,
	trace_command_table, trace_latency_queue_table, trace_latency_kernel_table,
	trace_error_table, trace_stream_table, trace_rhythm_table, trace_gap_table,
	trace_mark_table, trace_track_table, trace_interval_table, trace_queue_interval_table,
	trace_compare_log_table, trace_compare_finding_table, trace_compare_queue_table,
	trace_compare_kernel_table, trace_function_table, trace_kernel_process_table,
	trace_kernel_queue_table, trace_timeline_table, trace_suspension_table, trace_step_table;

// Schemas of the JSON documents; gpq merge, too, writes trace_schema.
extern const struct schema trace_schema, trace_list_schema, trace_latency_schema, trace_gaps_schema,
	trace_series_schema, trace_compare_schema, trace_ftrace_schema, trace_timeline_schema,
	trace_breakdown_schema;

// An element of `notes`; the members of a document that has `notes` alone.
extern const struct schema_member trace_text, trace_notes_only[];
#define TRACE_NOTES                                                                            \
	{                                                                                      \
		"notes", SCHEMA_LIST, "what the log does not tell, and why", &trace_text, NULL \
	}

// Before the input is read: opens the output and --perfetto, and checks the columns of -o. Returns
// GPQ_OK, or closes both and returns an exit status after a message.
int trace_begin(struct trace *t, struct cmd *c);

// Closes what trace_begin() opened. Returns the exit status of the run; `status` is that of
// reading, `told` that of the report.
int trace_end(struct trace *t, int status, int told);

// Are the merged parts of several hosts, whose times cannot be compared?
bool trace_several_hosts(const struct trace *t);

// After amdlog_summary_finish(): writes the report. Returns the exit status.
int trace_report(struct trace *t);

// trace_view_out() writes one view; trace_views_out() all, or with t->one_table one of them.
void trace_view_out(struct trace *t, const struct trace_view *v);
void trace_views_out(struct trace *t);

// A time span of the log: CLOCK_MONOTONIC, and its length. U64_NULL: no record was seen.
struct trace_span {
	uint64_t first_us, last_us, ns;
};
struct trace_span trace_span_of(const struct amdlog_span *s);

// Host, process and time span of a row.
struct trace_place {
	const char *host; // as --partial --host named it; NULL: not named
	int64_t pid;      // I64_NULL: not known
	struct trace_span span;
};
struct trace_place trace_place(const struct trace *t, uint32_t process,
			       const struct amdlog_span *s);

// A row of a queue, with null for what the log does not tell.
struct trace_queue {
	struct amdlog_queue q;
	struct trace_place at;
	const char *priority;
	double backlog_mean;
};
struct trace_queue trace_queue_of(const struct trace *t, uint32_t queue);

// Sets the pid of the queue's process, and the queue's name: its ring address "0x7f...", or "-" if
// that is unknown. `queue` AMDLOG_NONE (all queues): the name is "all".
void trace_name_queue(const struct trace *t, uint32_t queue, int64_t *pid, char name[24]);

// Sets c->out.demangle by --demangle and --no-demangle; without them, tables on a terminal have
// demangled names. Returns GPQ_USAGE after a message if both are given.
int trace_demangle(struct cmd *c, bool yes, bool no);

// Returns the demangled name of a GPU kernel, or the log's name if that cannot be demangled.
// trace_name_shown() returns NULL if the output shows no demangled names.
const char *trace_name_readable(struct trace *t, uint32_t kernel);
const char *trace_name_shown(struct trace *t, uint32_t kernel);
void trace_names_fini(struct trace *t);

// Returns NaN if `n` is 0.
static inline double trace_mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

// Statistics of times, of which the log has microseconds. If `count` is 0, the others are U64_NULL.
struct trace_times {
	uint64_t count, mean_ns, p50_ns, p90_ns, p99_ns, max_ns;
};
struct trace_times trace_times_of(const struct hist *us);
struct trace_times trace_times_in(const struct keyed_histogram *us, uint32_t key);

// How many different kernels, pids, rings and streams a log names. A stream counts once for each
// queue that it used.
struct trace_distinct {
	uint64_t kernels, pids, rings, streams;
};
struct trace_distinct trace_distinct_of(const struct amdlog_summary *s);

uint64_t trace_ns(uint64_t us);                             // U64_NULL stays U64_NULL
int64_t trace_pid(const struct trace *t, uint32_t process); // I64_NULL: not known

// Returns the indices in [0, n) that `rank` (struct trace_view) shows, sorted, and how many; to be
// freed.
uint32_t *trace_sorted(struct trace *t, uint32_t n, uint32_t *count,
		       bool (*rank)(struct trace *, uint32_t, struct trace_rank *));

// Begins a table under its title, which gives both numbers if only `show` of `n` rows are written.
void trace_table(struct trace *t, const struct out_table *table, const char *title, uint64_t show,
		 uint64_t n);

// Has the queue a row: do records name it that passed the filter, and was it not merged into
// another?
bool trace_queue_shown(const struct amdlog_queue *q);

// Writes a note on what the input does not tell: an element of `notes` in the JSON document, else
// a warning.
__attribute__((format(printf, 2, 3))) void trace_note(const struct trace *t, const char *fmt, ...);

// Writes the notes on `n` logs: `notes` of the JSON document, else warnings.
void trace_notes(const struct trace *logs, unsigned n);

// Sets up, and frees, what reads a log: scanner, reassembly, summary.
void trace_open(struct trace *t, const struct cmd *c, const struct amdlog_filter *filter,
		const struct grep *grep);
void trace_close(struct trace *t);

// Reads files one after the other and shows the progress. Returns the exit status.
int trace_scan(struct trace *t, const struct cmd *c, int n, char **names);

// Reports how much was read when a signal ended the reading. Returns the exit status.
int trace_stopped(const struct trace *t);

// Checks --range and --follow, which take one file. Returns GPQ_OK, or GPQ_USAGE after a message.
int trace_check_input(const struct trace_opts *o, int argc);
bool trace_range_parse(const char *text, struct trace_range *range);

// Reads one input: `tail`, a file that grows, or `fd` if `tail` is NULL. Returns the exit status.
int trace_read(struct trace *t, const char *name, int fd, struct tail *tail);

// stat(2) of an operand; "-" is standard input.
int trace_stat(const char *name, struct stat *st);

// Returns the 4711 of "trace_4711", which AMD_LOG_LEVEL_FILE=trace makes; -1: no pid.
int64_t trace_pid_of_name(const char *name);

// Reports the operands, and --ftrace and the events of a recording. Returns the exit status.
int trace_files(struct cmd *c);

// Runs all reports of logs except --compare and --partial. Returns the exit status.
int trace_log(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

int trace_compare(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// Reads the windows of --mark, if given, into t->marks, sorted. Returns the exit status.
int trace_marks_read(struct trace *t);

// The reports: the summary, --by stream, --list, --series, --gaps, --latency.
extern const struct trace_ask trace_summary, trace_streams, trace_list, trace_list_kernels,
	trace_series, trace_gaps, trace_latency, trace_comparison;
const struct trace_ask *ftrace_asked_for(const struct trace_opts *o); // of --ftrace

// Sets which report the options ask for: t->ask, by, lists, one_table.
void trace_choose(struct trace *t, const struct cmd *c);

// For cmd_spec.prints.
const struct out_table *const *trace_prints(const struct cmd *c);

// For trace_view.most in views of GPU kernels: how many of `rows` are shown (--top).
uint32_t trace_top(const struct trace *t, uint32_t rows);

// --list: formats the rows that were noted, in any thread.
void trace_rows_format(struct trace_rows *rows);
void trace_rows_fini(struct trace_rows *rows);

// --ftrace: reports the Linux kernel's trace, alone or with logs. Returns the exit status.
int trace_ftrace(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);
int ftrace_breakdown_check(const char *arg); // checks --breakdown: GPQ_OK or GPQ_USAGE

// --live: records, then reports the recording. Returns the exit status.
int trace_live(struct cmd *c);

// Makes of a COMMAND that a container runtime runs one that has AMD_LOG_LEVEL in the container,
// where its log goes to standard error. *inside, to be freed, stays NULL for other commands.
// Returns GPQ_OK, or an exit status after a message.
int live_inside(const struct words *containers, int argc, char **argv, char ***inside);

// Is the only operand a folder that --live wrote? trace_folder() reports that folder.
bool trace_is_folder(const struct cmd *c);
int trace_folder(struct cmd *c, const char *folder);

// Is the operand of --perfetto, --svg or --html "-"?
bool trace_to_stdout(const char *path);

int trace_partial(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// Returns the scanner's counts of this run; in gpq merge those of all parts.
const struct amdlog_counts *trace_counts(const struct trace *t);

// Returns "low", "normal", "high" or "medium" for amdlog_queue.priority; NULL: not known.
const char *trace_priority(int priority);

// Returns a grid or workgroup as "1024x1x1"; NULL: not known.
const char *trace_shape(char out[64], const uint64_t dim[3]);
