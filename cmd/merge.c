// gpq merge: adds up the results of many runs and hosts, given in any order.
#include "cmd/trace/trace.h"

#include "common/bench/raw.h"
#include "common/cli/input.h"

// The options are some of those of gpq trace.
static const struct trace_opts defaults = {
	.by = BY_NOTHING, .top = U64_NULL, .series = U64_NULL, .threads = U64_NULL};

// Lines that gpq trace --partial wrote.
struct part_lines {
	struct part_line {
		char *text; // owned
		size_t len;
		struct amdlog_part place; // owned; only host, file and range of bytes are set
	} * v;
	size_t n, cap;
};

// What was read: sums of gpq bench, or parts of gpq trace.
struct merge {
	struct sum sum;
	struct part_lines lines;
};

static const struct opt opts[] = {
	OPT_ONE_OF(trace_opts, by, "by", 0, "WHAT", "logs: " TRACE_BY_HELP, TRACE_BY_WORDS),
	OPT(trace_opts, demangle, "demangle", 0, OPT_FLAG, "",
	    "logs: readable kernel names (terminal: default)"),
	OPT(trace_opts, no_demangle, "no-demangle", 0, OPT_FLAG, "",
	    "logs: names of kernels as the logs have them"),
	OPT(trace_opts, partial, "partial", 0, OPT_FLAG, "",
	    "write sums that can be merged again,\none JSON object a line"),
	OPT(trace_opts, top, "top", 0, OPT_U64, "N",
	    "logs: rows of --by to show, else kernels (20;\nin JSON all)"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_EXCLUDES("partial", "filter sort", "filter what is merged in the end",
		      "--filter and --sort are about rows of tables, which --partial has not"),
	{0},
};

struct merge_row {
	struct sum_key key;
	uint64_t n, p50, p90, p99, p999, min, max, mean;
};

#define ROW merge_row
static const struct out_col cols[] = {
	COL(key.metric, "METRIC", "metric", STR, D | A, "which time, see gpq-bench(1)"),
	COL(key.set.grace, "GRACE", "grace", U64, D, "grace period"),
	COL(key.set.queues, "QUEUES", "queues_wanted", U64, D,
	    "how many queues were suspended, - all"),
	COL(key.set.hold_ns, "HOLD", "hold_wanted_ns", NS, D, "how long they were held"),
	COL(key.set.gap_ns, "GAP", "gap_wanted_ns", NS, M, "how long they ran between cycles"),
	COL(key.source, "SOURCE", "source", STR, D | A,
	    "live, or softgpu, whose times are not a GPU's"),
	COL(key.scheduler, "SCHED", "scheduler", STR, M | A, "HWS or MES"),
	COL(key.kernel, "KERNEL", "kernel", STR, M | A, "kernel release"),
	COL(key.gpus, "TARGET_GPUS", "target_gpus", STR, M | A, "the target's GPUs"),
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
static const struct schema schema = {"gpq.merge", 2, SCHEMA_TABLES(&table), NULL};

// --- parts of logs ---

static void part_lines_fini(struct part_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].text);
		amdlog_part_fini(&l->v[i].place);
	}
	free(l->v);
}

// Keeps a line that gpq trace --partial wrote. Returns false for other lines.
static bool part_lines_add(struct part_lines *l, const char *text, size_t len)
{
	struct amdlog_part place;
	if (!amdlog_partial_place(text, len, &place))
		return false;
	*ARRAY_ADD(l->v, l->cap, l->n) = (struct part_line){xstrndup(text, len), len, place};
	return true;
}

// Parts that name no host come first.
static int compare_hosts(const struct amdlog_part *x, const struct amdlog_part *y)
{
	if (!x->host || !y->host)
		return (x->host != NULL) - (y->host != NULL);
	return strcmp(x->host, y->host);
}

// Sorts parts by host, file and range of bytes, then by text, so that the order of the input does
// not matter.
static int by_part_place(const void *a, const void *b)
{
	const struct part_line *line = a, *other = b;
	const struct amdlog_part *x = &line->place, *y = &other->place;
	int order = compare_hosts(x, y);
	order = order ? order : strcmp(x->file, y->file);
	order = order ? order : ORDER(x->from, y->from);
	order = order ? order : ORDER(x->to, y->to);
	return order ? order : strcmp(line->text, other->text);
}

static int write_parts(struct part_lines *l)
{
	struct buf all = {0};
	qsort(l->v, l->n, sizeof(*l->v), by_part_place);
	for (size_t i = 0; i < l->n; i++) {
		buf_append(&all, l->v[i].text, l->v[i].len);
		buf_puts(&all, "\n");
	}
	return out_text(&all);
}

// Is `next` a later part of the file of `before`? A part from byte 0 on begins another file:
// several runs may have files of one name, or standard input.
static bool continues(const struct amdlog_part *before, const struct amdlog_part *next)
{
	return !compare_hosts(before, next) && strcmp(before->file, next->file) == 0 &&
	       next->from > 0;
}

// Warns of bytes that are in two parts or in none. `end`: end of the part before `next` in the same
// file; 0: `next` is the first.
static void check_place(const struct amdlog_part *next, uint64_t end)
{
	if (next->from < end)
		err_warn("what is in both counts twice",
			 "%s: bytes %" PRIu64 " to %" PRIu64 " are in two parts", next->file,
			 next->from, end < next->to ? end : next->to);
	else if (next->from > end)
		err_warn("what is in them is missing",
			 "%s: bytes %" PRIu64 " to %" PRIu64 " are in no part", next->file, end,
			 next->from);
}

static int add_part_line(struct trace *t, struct amdlog_merge *m, const struct part_lines *l,
			 size_t i)
{
	const struct part_line *v = &l->v[i];
	const struct amdlog_part *before = i ? &v[-1].place : NULL;
	struct amdlog_part part;
	struct amdlog_summary next;
	const char *why;
	if (!amdlog_partial_read(v->text, v->len, &part, &next, &why))
		return err_fail(GPQ_FAILED, "make it anew",
				"the part of %s from byte %" PRIu64 " is %s", v->place.file,
				v->place.from, why);
	bool new_file = !before || !continues(before, &part);
	check_place(&part, new_file ? 0 : before->to);
	if (part.stopped)
		err_warn("what comes behind is missing", "%s was read to byte %" PRIu64 " only",
			 part.file, part.to);
	amdlog_merge_add(m, &part, new_file);
	amdlog_summary_fini(&next);
	amdlog_part_fini(&part);
	progress_show(&t->progress, (double)(i + 1) / (double)l->n, "part %zu of %zu", i + 1, l->n);
	return GPQ_OK;
}

static int report_merged(struct cmd *c, struct trace *t, struct amdlog_merge *m)
{
	c->out.hosts = m->hosts.n > 0;
	int status = trace_begin(t, c);
	if (status)
		return status;
	t->streams = m->all.streams; // `m` owns and frees the streams
	amdlog_summary_finish(&t->sum);
	status = trace_report(t);
	trace_notes(t, 1);
	return trace_end(t, GPQ_OK, status);
}

static int report_parts(struct cmd *c, struct part_lines *l)
{
	const struct trace_opts *o = c->opts;
	struct trace t = {.opts = o,
			  .by = o->by,
			  .name_pid = -1,
			  .perfetto_fd = -1,
			  .ask = o->by == BY_STREAM ? &trace_streams : &trace_summary};
	struct amdlog_merge m;
	int status = trace_demangle(c, o->demangle, o->no_demangle);
	if (status)
		return status;
	t.one_table = t.by != BY_NOTHING;
	qsort(l->v, l->n, sizeof(*l->v), by_part_place);
	amdlog_merge_init(&m);
	progress_init(&t.progress, c->out.progress, false);
	for (size_t i = 0; i < l->n && !status; i++)
		status = add_part_line(&t, &m, l, i);
	progress_end(&t.progress);
	t.merged = &m;
	t.sum = m.sum; // the sum goes back to `m` below, which owns and frees it
	if (m.all.filtered)
		t.sum.filter.until_us = AMDLOG_UNKNOWN - 1;
	status = status ? status : report_merged(c, &t, &m);
	trace_names_fini(&t);
	m.sum = t.sum;
	amdlog_merge_fini(&m);
	return status;
}

// --- sums of samples ---

static int merge_line(void *arg, const char *path, uint64_t number, char *line, size_t len)
{
	struct merge *m = arg;
	if (!part_lines_add(&m->lines, line, len))
		sum_add_line(&m->sum, path, number, line, len);
	return 0;
}

static int merge_file(struct merge *m, const char *path)
{
	struct sum *s = &m->sum;
	uint64_t bad = s->bad_lines, repeated = s->seen.repeated;
	if (input_lines(path, merge_line, m))
		return err_sys(errno, input_next(errno), "%s", path);
	const uint64_t n = s->bad_lines - bad;
	if (n)
		err_warn("left out", "%s: %llu line%s %s no result%s of gpq bench or gpq trace%s%s",
			 path, (unsigned long long)n, text_s(n), text_are(n), text_s(n),
			 bad ? "" : "; ",
			 bad ? "" : s->first_bad); // known of the first bad file alone
	const uint64_t again = s->seen.repeated - repeated;
	if (again)
		err_warn("counted once", "%s: %llu sample%s read before", path,
			 (unsigned long long)again, again == 1 ? " was" : "s were");
	return GPQ_OK;
}

static struct merge_row merged_row(const struct sum_row *r)
{
	const struct hist *h = &r->hist;
	return (struct merge_row){
		.key = r->key,
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
	int status = out_choose_table(&c->out, schema.tables);
	if (status)
		return status;
	struct out *o = out_open(&c->out);
	status = out_begin(o, &table, false);
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

static int print_merged(struct cmd *c, struct merge *m)
{
	const struct trace_opts *o = c->opts;
	if (m->lines.n && m->sum.n)
		return err_fail(GPQ_USAGE, "merge them apart",
				"results of gpq bench and of gpq trace cannot be added");
	c->out.schema = m->lines.n ? &trace_schema : &schema;
	if (m->lines.n)
		return o->partial ? write_parts(&m->lines) : report_parts(c, &m->lines);
	if (!m->sum.n)
		return err_fail(
			GPQ_NOTFOUND,
			"gpq trace --partial, gpq bench --samples FILE and gpq merge --partial "
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
	part_lines_fini(&m.lines);
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
	.opts_size = sizeof(struct trace_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&table, &trace_totals_table, &trace_process_table,
				&trace_queue_table, &trace_kernel_table, &trace_thread_table,
				&trace_api_table, &trace_stream_table, &trace_error_table),
	.schemas = SCHEMAS(&schema, &trace_schema),
	.run = run_merge,
};
