// gpq trace: options and the rules between them, the filter of records, and the kinds of runs:
// reports of logs, --partial, --compare, --ftrace, --live and a folder that --live wrote.
#include "cmd/trace/trace.h"

#include "common/cli/grep.h"

static const struct opt opts[] = {
	OPT(trace_opts, breakdown, "breakdown", 0, OPT_STR, "N|TIME|all",
	    "\nsuspensions in the kernel's trace, in steps"),
	OPT_ONE_OF(trace_opts, by, "by", 0, "WHAT", TRACE_BY_HELP, TRACE_BY_WORDS),
	OPT(trace_opts, cleanup, "cleanup", 0, OPT_FLAG, "",
	    "\nwith --live: remove what a killed one left\nin tracefs; record nothing"),
	OPT(trace_opts, compare, "compare", 0, OPT_FLAG, "",
	    "two logs against each other:\nqueues, kernels, rate, backlog, grids, gaps"),
	OPT(trace_opts, demangle, "demangle", 0, OPT_FLAG, "",
	    "\nreadable names of kernels\n(default on a terminal)"),
	OPT(trace_opts, follow, "follow", 'f', OPT_FLAG, "",
	    "go on as the file grows,\nthrough truncation and rotation"),
	OPT(trace_opts, for_ns, "for", 0, OPT_SEC, "SEC", "\nwith --live: end after this time"),
	OPT(trace_opts, ftrace, "ftrace", 0, OPT_STR, "FILE",
	    "\nthe kernel's trace, as tracefs or trace-cmd\nprinted it; by itself or with logs"),
	OPT(trace_opts, ftrace_clock, "ftrace-clock", 0, OPT_STR, "CLOCK",
	    "\nwith --ftrace: what trace_clock was;\nmono goes with logs"),
	OPT(trace_opts, gaps, "gaps", 0, OPT_FLAG, "",
	    "the longest times without a dispatch,\nof each queue; the GPU may be busy in them"),
	OPT(trace_opts, grep, "grep", 0, OPT_LIST, "REGEX",
	    "only records whose text matches;\nrepeated: any of them"),
	OPT(trace_opts, grep_not, "grep-not", 0, OPT_LIST, "REGEX",
	    "\nonly records whose text does not match;\nrepeated: none of them"),
	OPT(trace_opts, host, "host", 0, OPT_STR, "NAME",
	    "\nwith --partial: whose logs they are;\nequal pids of two hosts stay apart"),
	OPT(trace_opts, html, "html", 0, OPT_STR, "FILE",
	    "\nwith --compare: write a page, too;\n-: to standard output, and no tables"),
	OPT(trace_opts, kernels, "kernel", 0, OPT_LIST, "REGEX",
	    "\nonly launches of kernels whose name matches,\nand their dispatches"),
	OPT(trace_opts, latency, "latency", 0, OPT_FLAG, "",
	    "how long commands and kernels took to complete:\nby kind of command, queue and "
	    "kernel, from enqueue"),
	OPT(trace_opts, list, "list", 'l', OPT_FLAG, "", "one record a line, as they come"),
	OPT(trace_opts, live, "live", 0, OPT_FLAG, "",
	    "record the driver now, until Ctrl-C,\nor while a command behind -- runs, with its "
	    "log"),
	OPT(trace_opts, mark, "mark", 0, OPT_STR, "FILE",
	    "\nwith --gaps or --series: windows of time,\nas of suspensions"),
	OPT(trace_opts, no_demangle, "no-demangle", 0, OPT_FLAG, "",
	    "\nnames of kernels as the log has them"),
	OPT(trace_opts, offset, "offset", 0, OPT_STR, "TIME",
	    "\nwith --ftrace and logs: the log's clock less the\ntrace's, as 134.2ms or -2s"),
	OPT(trace_opts, partial, "partial", 0, OPT_FLAG, "",
	    "\nwrite a part that gpq merge adds to others,\none JSON object for each file"),
	OPT(trace_opts, perfetto, "perfetto", 0, OPT_STR, "FILE",
	    "\nwrite a timeline for the Perfetto UI;\n-: to standard output, and no report"),
	OPT(trace_opts, pick.pids, "pid", 'p', OPT_PIDS, "PID[,PID...]",
	    "only these processes, as the log numbers them;\nwith --live as the host does"),
	OPT(trace_opts, pid_map, "pid-map", 0, OPT_WORDS, "LOGPID=KERNELPID[,...]",
	    "\nwith --ftrace and logs: which process is which"),
	OPT(trace_opts, range, "range", 0, OPT_STR, "OFFSET:LEN",
	    "\nonly what begins in these bytes of the file;\nranges side by side add up"),
	OPT(trace_opts, save, "save", 0, OPT_STR, "DIR",
	    "\nwith --live: the folder to make;\ngpq trace DIR reads it again"),
	OPT(trace_opts, series, "series", 0, OPT_NS, "TIME",
	    "dispatches, backlog, busy queues over time,\nin intervals of TIME"),
	OPT(trace_opts, since, "since", 0, OPT_STR, "TIME",
	    "only records from TIME on; +TIME: after the first,\nas 41.25s of the log, or +200ms "
	    "from its first record"),
	OPT(trace_opts, svg, "svg", 0, OPT_STR, "FILE", "\nwith --series: draw it too"),
	OPT(trace_opts, threads, "threads", 0, OPT_U64, "N",
	    "\nthreads that read the input\n(default: one for each processor, at most 8)"),
	OPT(trace_opts, top, "top", 0, OPT_U64, "N",
	    "\nrows of --by to show, else kernels (default 20,\nin JSON all); gaps of a queue "
	    "(default 5)"),
	OPT(trace_opts, until, "until", 0, OPT_STR, "TIME",
	    "only records up to TIME; +TIME: after the first,\nas of --since"),
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

// Options that need --live. Not --pid, which also chooses processes of logs.
#define LIVE_ONLY "save for gpu comm cmdline container cgroup pod user tree ns-pid"

static const struct opt_rule rules[] = {
	RULE_NEEDS("cleanup " LIVE_ONLY, "live", "say --live too", "--%1 goes with --live"),
	RULE_EXCLUDES("live", "ftrace follow", "choose one", ""),
	RULE_EXCLUDES("cleanup", "FILE pid " LIVE_ONLY, "say --live --cleanup alone",
		      "--cleanup records nothing"),
	// Options that choose and shape a report.
	RULE_CHOOSE("list compare gaps latency series"),
	RULE_EXCLUDES("list compare gaps latency series perfetto", "partial",
		      "ask it of the files themselves", "--%1 cannot be had from parts"),
	RULE_EXCLUDES("list gaps", "by", "choose one", ""),
	RULE_EXCLUDES("list", "openmetrics", "use --ndjson", "--list: records are no metrics"),
	RULE_EXCLUDES("perfetto", "compare", "choose one", ""),
	RULE_NEEDS("svg", "series", "say --series 100ms too", "--svg: nothing to draw"),
	RULE_NEEDS("html", "compare", "say --compare A B too", "--html: nothing to show"),
	RULE_EXCLUDES("latency", "kernel", "use --latency --by kernel",
		      "--kernel leaves out the commands that --latency is about"),
	RULE_EXCLUDES("latency", "grep grep-not", "choose processes or times, or use --list --grep",
		      "--%2 leaves out one of the two lines that --latency is between"),
	RULE_NEEDS("mark", "gaps series", "say --gaps or --series too",
		   "--mark: marks nothing by itself"),
	RULE_EXCLUDES("host=", "", "name it", "--host: the name is empty"),
	RULE_NEEDS("host", "partial", "say --partial too",
		   "--host is for parts that gpq merge adds up"),
	// Options about how the input is read.
	RULE_RANGE("threads", 1, UINT64_MAX, "give at least 1",
		   "--threads: 0 threads read nothing"),
	RULE_EXCLUDES("range", "follow", "choose one", ""),
	// A picture or timeline on standard output excludes other output, and has no rows for
	// --filter and --sort.
	RULE_EXCLUDES("perfetto=-", FORM_NAMES " output output-all table list by svg",
		      "name a file",
		      "--perfetto -: standard output cannot hold another format, too"),
	RULE_EXCLUDES("svg=-", FORM_NAMES " output output-all table list by", "name a file",
		      "--svg -: standard output cannot hold another format, too"),
	RULE_EXCLUDES("html=-", FORM_NAMES " output output-all table by", "name a file",
		      "--html -: standard output cannot hold another format, too"),
#define NO_ROWS(option, text)                                                                      \
	RULE_EXCLUDES("filter sort", option, "choose records by --grep, --kernel, --pid or times", \
		      "--filter and --sort are about rows of tables, which --" text " has not")
	NO_ROWS("partial", "partial"),
	NO_ROWS("perfetto=-", "perfetto -"),
	NO_ROWS("svg=-", "svg -"),
	// Options that --partial excludes.
	RULE_EXCLUDES("partial", "by demangle " FORM_NAMES, "choose when merging what to show",
		      "--partial has a format of its own"),
	RULE_EXCLUDES("partial", "kernel", "",
		      "--partial and --kernel exclude each other: a kernel's name may stand in "
		      "another part"),
	{0},
};

// --- which records are read ---

static bool kernel_matches(void *ctx, const char *name, size_t len)
{
	return regex_matches(ctx, name, len);
}

// Parses --since or --until into microseconds: "41254735us", "41.25s" on the log's clock, "+200ms"
// from the first record (*relative).
static int parse_time(const char *option, const char *arg, uint64_t *us, bool *relative)
{
	uint64_t ns;
	if (!arg)
		return GPQ_OK;
	*relative = *arg == '+';
	if (!parse_duration(arg + *relative, &ns))
		return err_fail(
			GPQ_USAGE,
			"give a time of the log as 41254735us or 41.25s, or +200ms from its "
			"first record",
			"--%s: %s is no time with its unit", option, arg);
	*us = ns / 1000;
	return GPQ_OK;
}

static int read_grep(const struct trace_opts *o, struct grep **g)
{
	int status;
	if (!o->grep.n && !o->grep_not.n)
		return GPQ_OK;
	*g = grep_new(':'); // the first byte of each record
	status = grep_add(*g, GREP_WANT, "--grep", &o->grep);
	return status ? status : grep_add(*g, GREP_DROP, "--grep-not", &o->grep_not);
}

static int read_filter(const struct trace_opts *o, struct regex *kernel, struct amdlog_filter *f)
{
	*f = (struct amdlog_filter){
		.pids = o->pick.pids.v,
		.npids = o->pick.pids.n,
		.until_us = AMDLOG_UNKNOWN,
		.text = o->grep.n || o->grep_not.n,
	};
	int status = parse_time("since", o->since, &f->since_us, &f->since_relative);
	if (!status)
		status = parse_time("until", o->until, &f->until_us, &f->until_relative);
	if (!status && f->since_relative == f->until_relative && f->since_us > f->until_us)
		status = err_fail(GPQ_USAGE, "turn them round", "--since %s is after --until %s",
				  o->since, o->until);
	if (!status && o->pick.pids.given && !o->pick.pids.n)
		status = err_fail(GPQ_USAGE, "name a process", "--pid: the list is empty");
	if (status || !o->kernels.n)
		return status;
	f->kernel = kernel_matches;
	f->kernel_ctx = kernel;
	return regex_init(kernel, "--kernel", &o->kernels);
}

// --- kinds of runs ---

static const struct opt_rule log_rules[] = {
	RULE_EXCLUDES("breakdown ftrace-clock pid-map offset", "", "say --ftrace FILE too",
		      "--%1: there is no trace"),
	{0},
};

static const struct opt_rule kernel_rules[] = {
	RULE_NEEDS("breakdown", "ftrace", "say --ftrace FILE too",
		   "--breakdown: there is no trace"),
	RULE_EXCLUDES("by compare gaps latency partial follow series", "", "choose one",
		      "--ftrace and --%1 exclude each other"),
	RULE_EXCLUDES("breakdown", "list", "choose one", ""),
	RULE_NEEDS("pid-map offset", "FILE", "name the log, too", "--%1: there is no log"),
	{0},
};

typedef int kind_run(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// The first kind whose option is given is run.
static const struct kind {
	const char *asked_by; // options, any of which chooses this kind; NULL: the last kind
	const struct opt_rule *rules;
	kind_run *run;
} kinds[] = {
	{"ftrace", kernel_rules, trace_ftrace},
	{"partial", log_rules, trace_partial},
	{"compare", log_rules, trace_compare},
	{NULL, log_rules, trace_log},
};

// A folder of --live with events (o->events) is reported as --ftrace even without a kernel trace.
static const struct kind *kind_of(const struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	const struct kind *k = kinds;
	while (!o->events && k->asked_by && !opts_given(k->asked_by, c->sets, c->argc))
		k++;
	return k;
}

// Checks --by: --compare and --latency have tables by queue and by kernel, --series by queue only.
static int check_by(const struct trace_opts *o)
{
	const bool by_kernel = o->compare || o->latency;
	if ((!by_kernel && o->series == U64_NULL) || o->by == BY_NOTHING || o->by == BY_QUEUE ||
	    (by_kernel && o->by == BY_KERNEL))
		return GPQ_OK;
	return err_fail(GPQ_USAGE, by_kernel ? "with it say queue or kernel" : "with it say queue",
			"--%s has no table by %s",
			o->compare  ? "compare"
			: by_kernel ? "latency"
				    : "series",
			text_part(TRACE_BY_WORDS, (unsigned)o->by));
}

// Checks values of options and the number of operands.
static int check_values(const struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	int status = check_by(o);
	if (status)
		return status;
	if (o->series != U64_NULL && (o->series < 1000 || o->series % 1000))
		return err_fail(GPQ_USAGE, "give whole microseconds, as 100ms",
				"--series: the log's clock has no shorter intervals");
	if (o->breakdown && (status = ftrace_breakdown_check(o->breakdown)))
		return status;
	if (!c->argc && !o->ftrace && !o->events)
		return err_fail(GPQ_USAGE, "name a log, or - for standard input", "no file given");
	if (o->compare && c->argc != 2)
		return err_fail(GPQ_USAGE, "name two logs", "--compare takes two files, not %d",
				c->argc);
	if (o->follow && o->list && c->out.sort)
		return err_fail(GPQ_USAGE, "leave out one of them",
				"--sort: the rows of --list --follow have no end");
	return trace_check_input(o, c->argc);
}

int trace_files(struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	const struct kind *kind = kind_of(c);
	SCOPED(regex_fini) struct regex kernel = {0};
	struct grep *grep = NULL;
	struct amdlog_filter filter;
	int status = cmd_check(c, kind->rules);
	if (!status)
		status = check_values(c);
	if (!status)
		status = trace_demangle(c, o->demangle, o->no_demangle);
	if (!status)
		status = read_filter(o, &kernel, &filter);
	if (!status)
		status = read_grep(o, &grep);
	if (!status)
		status = regex_check(&kernel, kind->run(c, &filter, grep));
	grep_free(grep);
	return status;
}

static int run_trace(struct cmd *c)
{
	if (((const struct trace_opts *)c->opts)->live)
		return trace_live(c);
	return trace_is_folder(c) ? trace_folder(c, c->argv[0]) : trace_files(c);
}

const struct cmd_spec trace_spec = {
	.synopsis = "[--by WHAT] [--top N] [--perfetto FILE] [FILTER...] FILE...|-\n"
		    "--list [FILTER...] FILE...|-\n"
		    "--gaps [--mark FILE] [--top N] [FILTER...] FILE...|-\n"
		    "--latency [--by queue|kernel] [--top N] [FILTER...] FILE...|-\n"
		    "--series TIME [--svg FILE] [--mark FILE] [--by queue] [FILTER...] FILE...|-\n"
		    "--partial [--host NAME] [--grep REGEX] [--grep-not REGEX] [-p PID[,PID...]] "
		    "[--since TIME] [--until TIME] FILE...|-\n"
		    "--compare [--html FILE] [--by queue|kernel] [--top N] [FILTER...] A B\n"
		    "--ftrace FILE [--ftrace-clock CLOCK] [--pid-map LOGPID=KERNELPID[,...]] "
		    "[--offset TIME] [--list|--breakdown N|TIME|all] "
		    "[--perfetto FILE] [FILTER...] "
		    "[FILE...|-]\n"
		    "--live [SELECTOR...] [--for SEC] [--save DIR] [--list|--breakdown "
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
		       "--pid, --ns-pid, --tree, --container, --cgroup, --pod, --job, --user, "
		       "--comm, --cmdline\nand --gpu.",
	.operands = "FILE...",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct trace_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(
		&trace_totals_table, &trace_process_table, &trace_queue_table, &trace_kernel_table,
		&trace_thread_table, &trace_api_table, &trace_stream_table, &trace_error_table,
		&trace_list_table, &trace_command_table, &trace_latency_queue_table,
		&trace_latency_kernel_table, &trace_rhythm_table, &trace_gap_table,
		&trace_mark_table, &trace_track_table, &trace_interval_table,
		&trace_queue_interval_table, &trace_compare_finding_table, &trace_compare_log_table,
		&trace_compare_queue_table, &trace_compare_kernel_table, &trace_function_table,
		&trace_kernel_process_table, &trace_kernel_queue_table, &trace_timeline_table,
		&trace_suspension_table, &trace_step_table),
	.schemas = SCHEMAS(&trace_schema, &trace_list_schema, &trace_latency_schema,
			   &trace_gaps_schema, &trace_series_schema, &trace_compare_schema,
			   &trace_ftrace_schema, &trace_timeline_schema, &trace_breakdown_schema),
	.prints = trace_prints,
	.run = run_trace,
};
