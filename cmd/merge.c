// gpq merge: results of many runs and hosts added up, in any order.
#include "cmd/trace/trace.h"

#include "common/bench/raw.h"
#include "common/cli/input.h"

#include <errno.h>
#include <stdio.h>

struct merge_opts {
	bool partial, demangle, no_demangle;
	int by;       // of gpq trace
	uint64_t top; // likewise
};

static const struct merge_opts defaults = {.by = BY_NOTHING, .top = U64_NULL};

// What was read: sums of gpq bench, or parts of gpq trace.
struct merge {
	struct sum sum;
	struct trace_lines lines;
};

static const struct opt opts[] = {
	OPT_ONE_OF(merge_opts, by, "by", 0, "WHAT",
		   "logs: one table only:\nqueue, kernel, process, thread, api, stream or error",
		   TRACE_BY_WORDS),
	OPT(merge_opts, demangle, "demangle", 0, OPT_FLAG, "",
	    "logs: readable kernel names (terminal: default)"),
	OPT(merge_opts, no_demangle, "no-demangle", 0, OPT_FLAG, "",
	    "logs: names of kernels as the logs have them"),
	OPT(merge_opts, partial, "partial", 0, OPT_FLAG, "",
	    "write sums that can be merged again,\none JSON object a line"),
	OPT(merge_opts, top, "top", 0, OPT_U64, "N",
	    "logs: kernels to show (default 20, in JSON all)"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_EXCLUDES("partial", "filter sort", "filter what is merged in the end",
		      "--filter and --sort are about rows of tables, which --partial has not"),
	{0},
};

struct merge_row {
	const char *metric, *source, *scheduler, *kernel, *gpus;
	struct cycle_setting set;
	uint64_t n, p50, p90, p99, p999, min, max, mean;
};

#define ROW merge_row
static const struct out_col cols[] = {
	COL(metric, "METRIC", "metric", STR, D, "which time, see gpq-bench(1)"),
	COL(set.grace, "GRACE", "grace", U64, D, "grace period"),
	COL(set.queues, "QUEUES", "queues_wanted", U64, D, "how many queues were suspended, - all"),
	COL(set.hold_ns, "HOLD", "hold_wanted_ns", NS, D, "how long they were held"),
	COL(set.gap_ns, "GAP", "gap_wanted_ns", NS, M, "how long they ran between cycles"),
	COL(source, "SOURCE", "source", STR, D, "live, or softgpu, whose times are not a GPU's"),
	COL(scheduler, "SCHED", "scheduler", STR, M, "HWS or MES"),
	COL(kernel, "KERNEL", "kernel", STR, M, "kernel release"),
	COL(gpus, "GPUS", "gpus", STR, M, "the target's GPUs"),
	COL(n, "N", "n", U64, D, "samples"),
	COL(p50, "P50", "p50_ns", NS, D, "median, at most 3.2 % too large"),
	COL(p90, "P90", "p90_ns", NS, D, "90th percentile, likewise"),
	COL(p99, "P99", "p99_ns", NS, D, "99th percentile, likewise"),
	COL(p999, "P99.9", "p999_ns", NS, D, "99.9th percentile, likewise"),
	COL(min, "MIN", "min_ns", NS, M, "smallest, exact"),
	COL(max, "MAX", "max_ns", NS, D, "greatest, exact"),
	COL(mean, "MEAN", "mean_ns", NS, M, "mean, exact"),
};
#undef ROW
static const struct out_table table = {"sums", "sum", OUT_COLS(cols)};
static const struct schema schema = {"gpq.merge", 1, SCHEMA_TABLES(&table), NULL};

static int merge_line(void *arg, const char *path, uint64_t number, char *line, size_t len)
{
	struct merge *m = arg;
	if (!trace_lines_add(&m->lines, line, len))
		sum_add_line(&m->sum, path, number, line, len);
	return 0;
}

static int merge_file(struct merge *m, const char *path)
{
	struct sum *s = &m->sum;
	uint64_t bad = s->bad_lines;
	if (input_lines(path, merge_line, m))
		return err_sys(errno, input_next(errno), "%s", path);
	if (s->bad_lines > bad)
		err_warn("they are left out",
			 "%s: %llu lines are no results of gpq bench or gpq trace; %s", path,
			 (unsigned long long)(s->bad_lines - bad), bad ? "" : s->first_bad);
	return GPQ_OK;
}

static struct merge_row merged_row(const struct sum_row *r)
{
	const struct sum_key *k = &r->key;
	const struct hist *h = &r->hist;
	return (struct merge_row){
		.metric = k->metric,
		.source = *k->source ? k->source : NULL,
		.scheduler = *k->scheduler ? k->scheduler : NULL,
		.kernel = *k->kernel ? k->kernel : NULL,
		.gpus = *k->gpus ? k->gpus : NULL,
		.set = k->set,
		.n = h->count,
		.p50 = hist_percentile(h, 0.5),
		.p90 = hist_percentile(h, 0.9),
		.p99 = hist_percentile(h, 0.99),
		.p999 = hist_percentile(h, 0.999),
		.min = h->min,
		.max = h->max,
		.mean = h->count && h->sum != UINT64_MAX ? h->sum / h->count : U64_NULL,
	};
}

static int print_table(struct cmd *c, const struct sum *s)
{
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &table, false);
	for (size_t i = 0; i < s->n && !status; i++) {
		struct merge_row row = merged_row(s->row[i]);
		out_row(o, &row);
	}
	return out_finish(o, status);
}

static int print_partial(const struct sum *s)
{
	struct buf b = {0};
	for (size_t i = 0; i < s->n; i++)
		sum_write(&b, s->row[i]);
	return out_text(&b);
}

static int print_logs(struct cmd *c, struct trace_lines *l)
{
	const struct merge_opts *o = c->opts;
	const struct trace_opts report = {.by = o->by,
					  .top = o->top,
					  .demangle = o->demangle,
					  .series = U64_NULL,
					  .threads = U64_NULL};
	int status = trace_demangle(c, o->demangle, o->no_demangle);
	return status ? status : trace_merge_report(c, l, &report);
}

static int print_merged(struct cmd *c, struct merge *m)
{
	const struct merge_opts *o = c->opts;
	if (m->lines.n && m->sum.n)
		return err_fail(GPQ_USAGE, "merge them apart",
				"results of gpq bench and of gpq trace cannot be added");
	c->out.schema = m->lines.n ? &trace_schema : &schema;
	if (m->lines.n)
		return o->partial ? trace_merge_partial(&m->lines) : print_logs(c, &m->lines);
	if (!m->sum.n)
		return err_fail(GPQ_NOTFOUND,
				"gpq trace --partial, gpq bench --raw FILE and gpq merge --partial "
				"write them",
				"no results in what was read");
	if (o->by != BY_NOTHING || o->top != U64_NULL)
		return err_fail(GPQ_USAGE, "leave them out",
				"--by and --top are for results of gpq trace");
	return o->partial ? print_partial(&m->sum) : print_table(c, &m->sum);
}

static int run_merge(struct cmd *c)
{
	struct merge m = {0};
	int n = c->argc ? c->argc : 1, status = GPQ_OK;
	for (int i = 0; i < n && !status; i++)
		status = merge_file(&m, c->argc ? c->argv[i] : "-");
	if (!status)
		status = print_merged(c, &m);
	sum_fini(&m.sum);
	trace_lines_fini(&m.lines);
	return status;
}

const struct cmd_spec merge_spec = {
	.synopsis = "[--partial] [--by WHAT] [--top N] [--demangle|--no-demangle] [FILE...]",
	.description = "Add up results from many files, ranges of files, runs and hosts, in any "
		       "order: what gpq trace\n--partial wrote, raw samples of gpq bench, and what "
		       "gpq merge --partial wrote. Without FILE, or with\n-, from standard input.",
	.operands = "FILE...",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct merge_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&table, &trace_totals_table, &trace_process_table,
				&trace_queue_table, &trace_kernel_table, &trace_thread_table,
				&trace_api_table, &trace_stream_table, &trace_error_table),
	.schemas = SCHEMAS(&schema, &trace_schema),
	.run = run_merge,
};
