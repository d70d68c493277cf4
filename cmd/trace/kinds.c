// Kinds of `gpq trace`, by what is read: logs, parts of them, two logs against each other, the
// kernel's trace.
#include "cmd/trace/trace.h"

#include "common/cli/grep.h"
#include "common/cli/text.h"

#include <string.h>

// --- which records are read ---

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
	*f = (struct amdlog_filter){
		.pids = o->pick.pids.v,
		.npids = o->pick.pids.n,
		.until_us = AMDLOG_UNKNOWN,
		.text = o->grep.n || o->grep_not.n,
	};
	int status = parse_time("since", o->since, &f->since_us, &f->since_relative);
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

// --- kinds ---

static const struct opt_rule log_rules[] = {
	RULE_EXCLUDES("breakdown ftrace-clock", "", "say --ftrace FILE too",
		      "--%1: there is no trace"),
	{0},
};

static const struct opt_rule kernel_rules[] = {
	RULE_NEEDS("breakdown", "ftrace", "say --ftrace FILE too",
		   "--breakdown: there is no trace"),
	RULE_EXCLUDES("by compare gaps latency partial follow series", "", "choose one",
		      "--ftrace and --%1 exclude each other"),
	RULE_EXCLUDES("breakdown", "list", "choose one", ""),
	{0},
};

typedef int kind_run(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep);

// First match wins.
static const struct kind {
	const char *asked_by; // options, one of which chooses it; NULL: any
	const struct opt_rule *rules;
	kind_run *run;
} kinds[] = {
	{"ftrace", kernel_rules, trace_ftrace},
	{"partial", log_rules, trace_partial},
	{"compare", log_rules, trace_compare},
	{NULL, log_rules, trace_log},
};

// A folder without a trace of the kernel may have events of it.
static const struct kind *kind_of(const struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	const struct kind *k = kinds;
	while (!o->events && k->asked_by && !opts_given(k->asked_by, c->sets, c->argc))
		k++;
	return k;
}

// The reports that have tables by queue or by kernel have none by anything else.
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

// What depends on more than on which options are given.
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
	struct regex kernel = {0};
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
	regex_fini(&kernel);
	grep_free(grep);
	return status;
}
