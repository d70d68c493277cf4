// Which report the options of `gpq trace` select, and which options exclude each other.
#include "cmd/trace/trace.h"

const char *const trace_by_words[] = {"queue", "kernel", "process", "thread",
				      "api",   "stream", "error",   NULL};

const struct trace_ask *trace_question(const struct trace_opts *o)
{
	if (o->series != U64_NULL)
		return &trace_series;
	if (o->gaps)
		return &trace_gaps;
	if (o->latency)
		return &trace_latency;
	return o->by == BY_STREAM ? &trace_streams : NULL;
}

// What a question leaves of --by: a table of its own by queue, or by kernel.
struct question {
	const char *name;
	bool asked, by_queue, by_kernel;
};

static int check_by(const struct question *q, int by)
{
	if (by == BY_NOTHING || (by == BY_QUEUE && q->by_queue) ||
	    (by == BY_KERNEL && q->by_kernel))
		return GPQ_OK;
	if (!q->by_queue && !q->by_kernel)
		return err_fail(GPQ_USAGE, "choose one", "%s and --by exclude each other", q->name);
	return err_fail(GPQ_USAGE,
			q->by_kernel ? "with it say queue or kernel" : "with it say queue",
			"%s has no table by %s", q->name, trace_by_words[by]);
}

// One question at most.
static int check_question(const struct trace_opts *o)
{
	const struct question all[] = {
		{"--list", o->list, false, false},
		{"--compare", o->compare, true, true},
		{"--gaps", o->gaps, false, false},
		{"--latency", o->latency, true, true},
		{"--series", o->series != U64_NULL, true, false},
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
	return asked ? check_by(asked, o->by) : GPQ_OK;
}

int trace_check_options(const struct trace_opts *o, int argc)
{
	int status = check_question(o);

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
	if (o->latency && o->kernel)
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
	if (!argc)
		return err_fail(GPQ_USAGE, "name a log, or - for standard input", "no file given");
	if (o->compare && argc != 2)
		return err_fail(GPQ_USAGE, "name two logs", "--compare takes two files, not %d",
				argc);
	return trace_check_input(o, argc);
}
