// gpq trace: option table, choice of the report, --perfetto, and the run over all inputs.
#include "cmd/trace/ftrace.h"

#include "common/amdlog/analysis/timeline.h"
#include "common/cli/grep.h"
#include "common/cli/stop.h"
#include "common/cli/text.h"
#include "common/out/traceevent.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const trace_by_words[] = {"queue", "kernel", "process", "thread",
				      "api",   "stream", "error",   NULL};

static const struct opt opts[] = {
	OPT(trace_opts, breakdown, "breakdown", 0, OPT_STR, "N|TIME|all",
	    "\nsuspensions in the kernel's trace, in steps"),
	OPT_ONE_OF(trace_opts, by, "by", 0, "WHAT",
		   "one table only:\nqueue, kernel, process, thread, api, stream or error",
		   trace_by_words),
	OPT(trace_opts, cleanup, "cleanup", 0, OPT_FLAG, NULL,
	    "\nwith --live: remove what a killed one left\nin tracefs; record nothing"),
	OPT(trace_opts, compare, "compare", 0, OPT_FLAG, NULL,
	    "two logs against each other:\nqueues, kernels, rate, backlog, grids, gaps"),
	OPT(trace_opts, demangle, "demangle", 0, OPT_FLAG, NULL,
	    "\nreadable names of kernels\n(default on a terminal)"),
	OPT(trace_opts, follow, "follow", 'f', OPT_FLAG, NULL,
	    "go on as the file grows,\nthrough truncation and rotation"),
	OPT(trace_opts, for_ns, "for", 0, OPT_NS, "DURATION", "\nwith --live: end after this time"),
	OPT(trace_opts, ftrace, "ftrace", 0, OPT_STR, "FILE",
	    "\nthe kernel's trace, as tracefs or trace-cmd\nprinted it; by itself or with logs"),
	OPT(trace_opts, ftrace_clock, "ftrace-clock", 0, OPT_STR, "CLOCK",
	    "\nwith --ftrace: what trace_clock was;\nmono goes with logs"),
	OPT(trace_opts, gaps, "gaps", 0, OPT_FLAG, NULL,
	    "the longest times without a dispatch,\nof each queue"),
	OPT(trace_opts, grep, "grep", 0, OPT_LIST, "REGEX",
	    "only records whose text matches;\nrepeated: any of them"),
	OPT(trace_opts, grep_not, "grep-not", 0, OPT_LIST, "REGEX",
	    "\nonly records whose text does not match;\nrepeated: none of them"),
	OPT(trace_opts, host, "host", 0, OPT_STR, "NAME",
	    "\nwith --partial: whose logs they are;\nequal pids of two hosts stay apart"),
	OPT(trace_opts, kernels, "kernel", 0, OPT_LIST, "REGEX",
	    "\nonly launches of kernels whose name matches,\nand their dispatches"),
	OPT(trace_opts, latency, "latency", 0, OPT_FLAG, NULL,
	    "from enqueue to completion:\nby kind of command, queue and kernel"),
	OPT(trace_opts, list, "list", 'l', OPT_FLAG, NULL, "one record a line, as they come"),
	OPT(trace_opts, live, "live", 0, OPT_FLAG, NULL,
	    "record the driver now, until Ctrl-C,\nor while a command behind -- runs, with its "
	    "log"),
	OPT(trace_opts, mark, "mark", 0, OPT_STR, "FILE",
	    "\nwith --gaps or --series: windows of time,\nas of suspensions"),
	OPT(trace_opts, no_demangle, "no-demangle", 0, OPT_FLAG, NULL,
	    "\nnames of kernels as the log has them"),
	OPT(trace_opts, partial, "partial", 0, OPT_FLAG, NULL,
	    "\nwrite a part that gpq merge adds to others,\none JSON object for each file"),
	OPT(trace_opts, perfetto, "perfetto", 0, OPT_STR, "FILE",
	    "write a timeline for the Perfetto UI;\n-: to standard output, and no report"),
	OPT(trace_opts, pick.pids, "pid", 'p', OPT_PIDS, "PID[,PID...]",
	    "only these processes, as the log numbers them;\nwith --live as the host does"),
	OPT(trace_opts, range, "range", 0, OPT_STR, "OFFSET:LEN",
	    "\nonly what begins in these bytes of the file;\nranges side by side add up"),
	OPT(trace_opts, save, "save", 0, OPT_STR, "DIR",
	    "\nwith --live: the folder to make;\ngpq trace DIR reads it again"),
	OPT(trace_opts, series, "series", 0, OPT_NS, "TIME",
	    "dispatches, backlog, busy queues over time,\nin intervals of TIME"),
	OPT(trace_opts, since, "since", 0, OPT_STR, "TIME",
	    "only records from TIME on:\nlog time in us, or +DURATION from the first record"),
	OPT(trace_opts, svg, "svg", 0, OPT_STR, "FILE", "\nwith --series: draw it too"),
	OPT(trace_opts, threads, "threads", 0, OPT_U64, "N",
	    "\nthreads that read the input\n(default: one for each processor, at most 8)"),
	OPT(trace_opts, top, "top", 0, OPT_U64, "N",
	    "\nkernels to show (default 20, in JSON all);\ngaps of a queue (default 5)"),
	OPT(trace_opts, until, "until", 0, OPT_STR, "TIME", "only records up to TIME"),
	PICK_OTHER_OPTS(trace_opts, "\nwith --live: ", "\nwith --live: "),
	OPT(trace_opts, gpus, "gpu", 0, OPT_WORDS, "GPU[,GPU...]",
	    "\nwith --live: only these GPUs, where a record names one:\nindex, gpu_id or PCI "
	    "address"),
	{0},
};

static const struct trace_opts defaults = {.top = U64_NULL,
					   .series = U64_NULL,
					   .threads = U64_NULL,
					   .by = BY_NOTHING,
					   .for_ns = U64_NULL};

// clang-format off
static const struct out_table *const tables[] = {
	&trace_totals_table,
	&trace_process_table,
	&trace_queue_table,
	&trace_kernel_table,
	&trace_thread_table,
	&trace_api_table,
	&trace_stream_table,
	&trace_error_table,
	&trace_list_table,
	&trace_command_table,
	&trace_latency_queue_table,
	&trace_latency_kernel_table,
	&trace_rhythm_table,
	&trace_gap_table,
	&trace_mark_table,
	&trace_track_table,
	&trace_interval_table,
	&trace_queue_interval_table,
	&trace_compare_finding_table,
	&trace_compare_log_table,
	&trace_compare_queue_table,
	&trace_compare_kernel_table,
	&trace_function_table,
	&trace_kernel_process_table,
	&trace_kernel_queue_table,
	&trace_timeline_table,
	&trace_suspension_table,
	&trace_step_table,
	NULL,
};
// clang-format on

static const struct schema_member text = {.type = SCHEMA_TEXT};
#define NOTES                                                                            \
	{                                                                                \
		"notes", SCHEMA_LIST, "what the log does not tell, and why", &text, NULL \
	}
static const struct schema_member notes[] = {NOTES, {0}};
static const struct schema_member totals[] = {
	{"totals", SCHEMA_RECORD, "of all processes", NULL, &trace_totals_table}, NOTES, {0}};
static const struct schema_member series[] = {
	{"interval_ns", SCHEMA_COUNT, "length of the intervals", NULL, NULL}, NOTES, {0}};
static const struct schema_member compared[] = {
	{"verdict", SCHEMA_TEXT, "do they use the same queues", NULL, NULL},
	{"findings", SCHEMA_LIST, "what else differs", &text, &trace_compare_finding_table},
	NOTES,
	{0}};

#define SCHEMA(name, members, ...)                                         \
	{                                                                  \
		"gpq.trace" name, 1, SCHEMA_TABLES(__VA_ARGS__), (members) \
	}
const struct schema trace_schema =
	SCHEMA("", totals, &trace_process_table, &trace_queue_table, &trace_kernel_table,
	       &trace_thread_table, &trace_api_table, &trace_stream_table, &trace_error_table);
static const struct schema list_schema = SCHEMA(".list", notes, &trace_list_table),
			   latency_schema =
				   SCHEMA(".latency", notes, &trace_command_table,
					  &trace_latency_queue_table, &trace_latency_kernel_table),
			   gaps_schema = SCHEMA(".gaps", notes, &trace_rhythm_table,
						&trace_gap_table, &trace_mark_table),
			   series_schema =
				   SCHEMA(".series", series, &trace_plain_track_table,
					  &trace_interval_table, &trace_queue_interval_table),
			   compare_schema =
				   SCHEMA(".compare", compared, &trace_compare_log_table,
					  &trace_compare_queue_table, &trace_compare_kernel_table);

static const struct schema *schema_of(const struct trace_opts *o)
{
	const bool kernel = o->ftrace || o->events;
	return kernel && o->breakdown  ? &trace_breakdown_schema
	       : kernel && o->list     ? &trace_timeline_schema
	       : kernel                ? &trace_ftrace_schema
	       : o->list               ? &list_schema
	       : o->latency            ? &latency_schema
	       : o->gaps               ? &gaps_schema
	       : o->series != U64_NULL ? &series_schema
	       : o->compare            ? &compare_schema
				       : &trace_schema;
}

// The options that replace the report of the summary.
struct question {
	const char *name;
	bool asked;
	const struct trace_ask *ask; // NULL: --list, which has one table
};

static int check_by(const struct question *q, int by)
{
	bool by_queue = q->ask && q->ask->by_queue, by_kernel = q->ask && q->ask->by_kernel;
	if (by == BY_NOTHING || (by == BY_QUEUE && by_queue) || (by == BY_KERNEL && by_kernel))
		return GPQ_OK;
	if (!by_queue && !by_kernel)
		return err_fail(GPQ_USAGE, "choose one", "%s and --by exclude each other", q->name);
	return err_fail(GPQ_USAGE, by_kernel ? "with it say queue or kernel" : "with it say queue",
			"%s has no table by %s", q->name, trace_by_words[by]);
}

// Refuses more than one of them. Sets *ask; NULL: none is given, or --list.
static int check_question(const struct trace_opts *o, const struct trace_ask **ask)
{
	const struct question all[] = {
		{"--list", o->list, NULL},
		{"--compare", o->compare, &trace_compare_ask},
		{"--gaps", o->gaps, &trace_gaps},
		{"--latency", o->latency, &trace_latency},
		{"--series", o->series != U64_NULL, &trace_series},
	};
	const struct question *asked = NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].asked && asked)
			return err_fail(GPQ_USAGE, "choose one", "%s and %s exclude each other",
					asked->name, all[i].name);
		asked = all[i].asked ? &all[i] : asked;
	}
	if (o->partial && (asked || o->perfetto))
		return err_fail(GPQ_USAGE, "ask it of the files themselves",
				"%s cannot be had from parts", asked ? asked->name : "--perfetto");
	*ask = asked ? asked->ask : o->by == BY_STREAM ? &trace_streams : NULL;
	return asked ? check_by(asked, o->by) : GPQ_OK;
}

static int check_options(const struct trace_opts *o, int argc, const struct trace_ask **ask)
{
	int status = check_question(o, ask);
	if (status)
		return status;
	if (o->perfetto && o->compare)
		return err_fail(GPQ_USAGE, "choose one",
				"--perfetto and --compare exclude each other");
	if (o->series != U64_NULL && (o->series < 1000 || o->series % 1000))
		return err_fail(GPQ_USAGE, "give whole microseconds, as 100ms",
				"--series: the log's clock has no shorter intervals");
	if (o->svg && o->series == U64_NULL)
		return err_fail(GPQ_USAGE, "say --series 100ms too", "--svg: nothing to draw");
	if (o->latency && o->kernels.n)
		return err_fail(GPQ_USAGE, "use --latency --by kernel",
				"--kernel leaves out the commands that --latency is about");
	if (o->latency && (o->grep.n || o->grep_not.n))
		return err_fail(GPQ_USAGE, "choose processes or times, or use --list --grep",
				"--%s leaves out one of the two lines that --latency is between",
				o->grep.n ? "grep" : "grep-not");
	if (o->mark && !o->gaps && o->series == U64_NULL)
		return err_fail(GPQ_USAGE, "say --gaps or --series too",
				"--mark: marks nothing by itself");
	if (o->host && (!o->partial || !*o->host))
		return err_fail(GPQ_USAGE, *o->host ? "say --partial too" : "name it",
				*o->host ? "--host is for parts that gpq merge adds up"
					 : "--host: the name is empty");
	if (o->ftrace || o->events || o->ftrace_clock || o->breakdown)
		status = trace_ftrace_check(o);
	if (status)
		return status;
	if (!argc && !o->ftrace && !o->events)
		return err_fail(GPQ_USAGE, "name a log, or - for standard input", "no file given");
	if (o->compare && argc != 2)
		return err_fail(GPQ_USAGE, "name two logs", "--compare takes two files, not %d",
				argc);
	return trace_check_input(o, argc);
}

static bool kernel_matches(void *ctx, const char *name, size_t len)
{
	return regex_matches(ctx, name, len);
}

// "41254735" is the log's own microseconds; "41.25s" and "+200ms" are durations, the latter from
// the first record.
static int parse_time(const char *option, const char *arg, uint64_t *us, bool *relative)
{
	uint64_t ns;
	if (!arg)
		return GPQ_OK;
	*relative = *arg == '+';
	if (!*relative && parse_u64(arg, us))
		return GPQ_OK;
	if (!parse_duration(arg + *relative, &ns))
		return err_fail(GPQ_USAGE,
				"give microseconds as in the log, or +200ms from its first record",
				"--%s: %s is not a time", option, arg);
	*us = ns / 1000;
	return GPQ_OK;
}

static int read_grep(const struct trace_opts *o, struct grep **g)
{
	int status;
	if (!o->grep.n && !o->grep_not.n)
		return GPQ_OK;
	*g = grep_new(':'); // as records begin
	status = grep_add(*g, GREP_WANT, "--grep", &o->grep);
	return status ? status : grep_add(*g, GREP_DROP, "--grep-not", &o->grep_not);
}

static int read_filter(const struct trace_opts *o, struct regex *kernel, struct amdlog_filter *f)
{
	int status;
	*f = (struct amdlog_filter){
		.pids = o->pick.pids.v,
		.npids = o->pick.pids.n,
		.until_us = AMDLOG_UNKNOWN,
		.text = o->grep.n || o->grep_not.n,
	};
	status = parse_time("since", o->since, &f->since_us, &f->since_relative);
	if (!status)
		status = parse_time("until", o->until, &f->until_us, &f->until_relative);
	if (!status && o->pick.pids.given && !o->pick.pids.n)
		status = err_fail(GPQ_USAGE, "name a process", "--pid: the list is empty");
	if (status || !o->kernels.n)
		return status;
	f->kernel = kernel_matches;
	f->kernel_ctx = kernel;
	return regex_init(kernel, "--kernel", &o->kernels);
}

// No record passed the filter. The message lists the processes of the log.
static int nothing_chosen(const struct trace *t)
{
	struct buf pids = {0};
	int status;
	for (uint32_t i = 0; t->opts->pick.pids.n && i < t->sum.nprocesses && pids.len < 200; i++) {
		if (t->sum.processes[i].pid >= 0)
			buf_printf(&pids, "%s%lld", pids.len ? ", " : "the log has process ids ",
				   (long long)t->sum.processes[i].pid);
	}
	if (t->opts->pick.pids.n && !pids.len)
		buf_puts(&pids, "the log has no process ids: ROCm 6.3 and later print them at "
				"level 4 and up");
	status = err_fail(GPQ_NOTFOUND, pids.data,
			  "no record is of the processes, kernels, times or text asked for");
	buf_fini(&pids);
	return status;
}

// Says where it stopped; what was known is printed by then.
int trace_stopped(const struct trace *t)
{
	char read[16], all[16];
	return err_fail(stop_status(), NULL, "stopped by %s after %s%s%s of input",
			stop_name(stop_asked()), text_size(read, t->scan->counts.bytes),
			t->input_bytes ? " of " : "",
			t->input_bytes ? text_size(all, t->input_bytes) : "");
}

// --- --perfetto: a timeline beside the report; with - instead of it ---

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static bool is_input(const struct stat *out, int n, char **names)
{
	struct stat st;
	for (int i = 0; i < n; i++) {
		int r = strcmp(names[i], "-") ? stat(names[i], &st) : fstat(STDIN_FILENO, &st);
		if (!r && S_ISREG(st.st_mode) && st.st_dev == out->st_dev &&
		    st.st_ino == out->st_ino)
			return true;
	}
	return false;
}

// A log named by mistake must not be lost: the file is truncated only after it was found not to be
// an input.
static int open_file(struct trace *t, const char *path, int argc, char **argv)
{
	struct stat st;
	t->perfetto_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (t->perfetto_fd < 0 || fstat(t->perfetto_fd, &st))
		return err_sys(errno, "name a file in a folder you may write to", "--perfetto %s",
			       path);
	if (is_input(&st, argc, argv))
		return err_fail(GPQ_USAGE, "name another file",
				"--perfetto %s: is a log to be read", path);
	if (S_ISREG(st.st_mode) && ftruncate(t->perfetto_fd, 0))
		return err_sys(errno, NULL, "--perfetto %s", path);
	return GPQ_OK;
}

static const char *readable(void *trace, uint32_t kernel)
{
	return trace_name_readable(trace, kernel);
}

int trace_perfetto_open(struct trace *t, int argc, char **argv)
{
	const char *path = t->opts->perfetto;
	int status = GPQ_OK;
	if (!path)
		return GPQ_OK;
	if (is_stdout(path))
		t->perfetto_fd = STDOUT_FILENO;
	else
		status = open_file(t, path, argc, argv);
	if (status)
		return status;
	t->timeline = amdlog_timeline_new(t->perfetto_fd, &t->sum);
	if (t->opts->demangle)
		amdlog_timeline_rename(t->timeline, readable, t);
	return GPQ_OK;
}

int trace_perfetto_close(struct trace *t)
{
	const bool to_stdout = is_stdout(t->opts->perfetto);
	const int fd = t->perfetto_fd;
	const int error = t->timeline ? amdlog_timeline_close(t->timeline) : 0;
	t->timeline = NULL;
	t->perfetto_fd = -1;
	if (!to_stdout)
		return traceevent_leave(fd, t->opts->perfetto, error);
	if (!error || error == EPIPE)
		return error ? GPQ_PIPE : GPQ_OK;
	err_sys(error, "what it holds is not complete", "standard output");
	return GPQ_FAILED;
}

// --- the run ---

static int report(struct trace *t, int status)
{
	bool nothing = !t->scan->counts.records;
	bool shown = !is_stdout(t->opts->perfetto);
	int written, drawn, told = GPQ_OK;
	// Empty tables are left out for people; programs get a complete document.
	if (!t->untold && (t->sum.totals.records ||
			   ((!status || status == GPQ_PARTIAL || status == GPQ_STOPPED) &&
			    out_mode(t->out) != OUT_TABLE))) {
		amdlog_summary_finish(&t->sum);
		if (shown)
			told = trace_report(t);
		trace_notes(t, 1);
	}
	drawn = trace_perfetto_close(t);
	written = out_close(t->out);
	if (written || drawn)
		return written ? written : drawn;
	if (status == GPQ_STOPPED)
		return trace_stopped(t);
	if (!status && nothing)
		return err_fail(
			GPQ_NOTFOUND,
			"was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?",
			"no AMD log records in the input");
	if (!status && !t->sum.totals.records)
		return nothing_chosen(t);
	return status ? status : told;
}

static int report_of(struct cmd *c, const struct trace_ask *ask, const struct amdlog_filter *filter,
		     const struct grep *grep)
{
	const struct trace_opts *o = c->opts;
	bool columns = c->out.columns || c->out.all;
	bool flat = c->out.mode == OUT_RAW || c->out.mode == OUT_PAIRS || c->out.mode == OUT_CSV;
	struct trace t = {.ask = ask, .by = o->by};
	int status;
	trace_open(&t, c, filter, grep);
	// -o names columns of one table: that of the queues, unless an option chooses another.
	if (!t.ask && columns && t.by == BY_NOTHING)
		t.by = BY_QUEUE;
	t.one_table = t.by != BY_NOTHING || (t.ask && (columns || flat));
	t.sum.want_api = t.by == BY_API;
	c->out.several = !t.one_table && !o->list;
	t.out = out_open(&c->out);
	status = trace_marks_read(&t);
	if (!status)
		status = trace_begin(&t);
	if (!status)
		status = trace_perfetto_open(&t, c->argc, c->argv);
	if (status) {
		trace_perfetto_close(&t);
		out_close(t.out);
	} else {
		stop_watch();
		t.name_pid = c->argc == 1 ? trace_pid_of_name(c->argv[0]) : -1;
		t.logs = c->argv;
		t.nlogs = c->argc;
		status = report(&t, trace_scan(&t, c, c->argc, c->argv));
	}
	trace_close(&t);
	return status;
}

// What is written to standard output must be alone there, and --filter and --sort need rows.
static int check_rows(const struct trace_opts *o, const struct out_opts *out)
{
	const char *alone = is_stdout(o->perfetto) ? "perfetto" : is_stdout(o->svg) ? "svg" : NULL;
	if (alone && (out->mode != OUT_TABLE || out->columns || out->all || o->list ||
		      o->by != BY_NOTHING || (is_stdout(o->perfetto) && o->svg)))
		return err_fail(GPQ_USAGE, "name a file",
				"--%s -: standard output cannot hold another format, too", alone);
	if (o->follow && o->list && out->sort)
		return err_fail(GPQ_USAGE, "leave out one of them",
				"--sort: the rows of --list --follow have no end");
	if ((o->partial || alone) && (out->filter || out->sort))
		return err_fail(GPQ_USAGE, "choose records by --grep, --kernel, --pid or times",
				"--filter and --sort are about rows of tables, which --%s has not",
				o->partial    ? "partial"
				: o->perfetto ? "perfetto -"
					      : "svg -");
	return GPQ_OK;
}

static int run(struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	const struct trace_ask *ask = NULL;
	struct regex kernel = {0};
	struct grep *grep = NULL;
	struct amdlog_filter filter;
	int status;
	if (o->live || o->cleanup || o->save || o->for_ns != U64_NULL || o->gpus.n ||
	    pick_needs_host(&o->pick)) {
		status = trace_live_check(c);
		return status ? status : trace_live(c, run);
	}
	if (trace_is_folder(c))
		return trace_folder(c, run);
	status = check_options(o, c->argc, &ask);
	c->out.schema = schema_of(o);
	if (!status)
		status = trace_demangle(c, o->demangle, o->no_demangle);
	if (!status)
		status = check_rows(o, &c->out);
	if (!status)
		status = read_filter(o, &kernel, &filter);
	if (!status)
		status = read_grep(o, &grep);
	if (!status) {
		status = o->partial               ? trace_partial(c, &filter, grep)
			 : o->compare             ? trace_compare(c, &filter, grep)
			 : o->ftrace || o->events ? trace_ftrace(c, &filter, grep)
						  : report_of(c, ask, &filter, grep);
		status = regex_check(&kernel, status);
	}
	regex_fini(&kernel);
	grep_free(grep);
	return status;
}

const struct cmd_spec trace_spec = {
	.synopsis = "[--by WHAT] [--top N] [--perfetto FILE] [FILTER...] FILE...|-\n"
		    "--list [FILTER...] FILE...|-\n"
		    "--gaps [--mark FILE] [--top N] [FILTER...] FILE...|-\n"
		    "--latency [--by queue|kernel] [--top N] [FILTER...] FILE...|-\n"
		    "--series TIME [--svg FILE] [--mark FILE] [--by queue] [FILTER...] FILE...|-\n"
		    "--partial [--host NAME] [--grep REGEX] [--grep-not REGEX] [-p PID[,PID...]] "
		    "[--since TIME] [--until TIME] FILE...|-\n"
		    "--compare [--by queue|kernel] [--top N] [FILTER...] A B\n"
		    "--ftrace FILE [--ftrace-clock CLOCK] [--list|--breakdown N|TIME|all] "
		    "[--perfetto FILE] [FILTER...] "
		    "[FILE...|-]\n"
		    "--live [SELECTOR...] [--for DURATION] [--save DIR] [--list|--breakdown "
		    "N|TIME|all] "
		    "[--perfetto FILE] [FILTER...] "
		    "[-- COMMAND...]\n"
		    "--live --cleanup",
	.description = "Read logs that the HIP runtime writes with AMD_LOG_LEVEL (ROCm 3.5 to "
		       "7.13) and tell which\n"
		       "processes, hardware queues and kernels they show, how many dispatches, how "
		       "deep the queues were.\n"
		       "FILTER is any of --grep, --grep-not, --kernel, --pid, --since and --until; "
		       "SELECTOR is any of\n"
		       "--pid, --ns-pid, --tree, --container, --cgroup, --pod, --user, --comm, "
		       "--cmdline and --gpu.",
	.operands = "FILE...",
	.opts = opts,
	.opts_size = sizeof(struct trace_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&trace_schema, &list_schema, &latency_schema, &gaps_schema,
			   &series_schema, &compare_schema, &trace_ftrace_schema,
			   &trace_timeline_schema, &trace_breakdown_schema),
	.run = run,
};
