// gpq trace --compare: compares two logs.
//
// Each log is read into a summary of its own; then these are compared
// (common/amdlog/analysis/compare.h).
#include "cmd/trace/trace.h"

#include "common/cli/text.h"
#include "common/cli/width.h"

struct log_row {
	const char *log, *file;
	struct amdlog_totals sum;
	struct trace_distinct distinct;
	uint64_t queues;
	uint64_t backlog_p50, backlog_p99, backlog_max, grid_p50, grid_p90, grid_max;
	struct trace_times gaps;
	struct trace_span span;
	double rate, backlog_mean;
};

struct queue_row {
	struct trace_queue of;
	const char *log, *other;
	struct trace_times gaps;
	double rate;
};

struct kernel_row {
	const char *in, *name, *demangled, *grid_min[2], *grid_max[2];
	uint64_t uses[2], items_min[2], items_max[2];
	double rate[2];
};

struct finding_row {
	const char *text;
};

#define ROW log_row
static const struct out_col log_cols[] = {
	COL(log, "LOG", "log", STR, D, "A is the first file, B the second"),
	COL(sum.records, "RECORDS", "records", U64, D, "log records"),
	COL(distinct.pids, "PIDS", "pids", U64, D, "different process ids"),
	COL(queues, "QUEUES", "queues", U64, D,
	    "hardware queues that were dispatched to; without packets: known ones"),
	COL(distinct.streams, "STREAMS", "streams", U64, D, "different streams seen on them"),
	COL(distinct.kernels, "KERNELS", "kernels", U64, D, "different kernel names"),
	COL(sum.launches, "LAUNCHES", "launches", U64, D, "kernel launches (ShaderName)"),
	COL(sum.kinds[AMDLOG_DISPATCH], "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(rate, "RATE", "rate_per_s", F64, D,
	    "of these each second; launches where a log has no packets"),
	COL(backlog_mean, "BACKLOG_MEAN", "backlog_mean", F64, D,
	    "packets waiting in front of a new one, mean"),
	COL(backlog_p50, "BACKLOG_P50", "backlog_p50", U64, M, "median of these"),
	COL(backlog_p99, "BACKLOG_P99", "backlog_p99", U64, M, "99th percentile"),
	COL(backlog_max, "DEEPEST", "backlog_max", U64, D, "most of these"),
	COL(grid_p50, "ITEMS_P50", "grid_items_p50", U64, D, "work-items of a dispatch, median"),
	COL(grid_p90, "ITEMS_P90", "grid_items_p90", U64, M, "90th percentile"),
	COL(grid_max, "ITEMS_MAX", "grid_items_max", U64, D, "of the largest dispatch"),
	COL(gaps.p50_ns, "GAP_P50", "gap_p50_ns", NS, D,
	    "time between dispatches on any queue, median"),
	COL(gaps.p99_ns, "GAP_P99", "gap_p99_ns", NS, D, "99th percentile"),
	COL(gaps.max_ns, "GAP_MAX", "gap_max_ns", NS, D, "longest time without a dispatch"),
	COL(sum.api_errors, "API_ERRORS", "api_errors", U64, M,
	    "API calls that did not return hipSuccess"),
	COL(sum.kinds[AMDLOG_QUEUE_ERROR], "QUEUE_ERRORS", "queue_errors", U64, D,
	    "queue aborts, memory faults, full rings"),
	COL(span.first_us, "FIRST_US", "first_us", U64, M, "first record, CLOCK_MONOTONIC"),
	COL(span.last_us, "LAST_US", "last_us", U64, M, "last record"),
	COL(span.ns, "SPAN", "span_ns", NS, D, "from first to last"),
	COL(file, "FILE", "file", STR, D | T, "the file"),
};
#undef ROW

#define ROW queue_row
static const struct out_col queue_cols[] = {
	COL(log, "LOG", "log", STR, D, "A or B"),
	COL(of.at.pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(of.q.hwq, "HWQ", "hwq", HEX, D, "ring address"),
	COL(of.q.swq, "SWQ", "swq", HEX, M, "address of the hsa_queue_t"),
	COL(other, "IN_OTHER", "in_other", STR, D,
	    "used in the other log too (process and address): yes, no; maybe: one has no process "
	    "ids"),
	COL(of.priority, "HIP_PRIO", "hip_prio", STR, D, "low, normal, medium or high"),
	COL(of.q.streams, "STREAMS", "streams", U32, D, "different streams seen on it"),
	COL(of.q.kernels, "KERNELS", "kernels", U32, D | W, "different kernel names"),
	COL(of.q.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(rate, "RATE", "rate_per_s", F64, D, "of these each second of the log"),
	COL(of.backlog_mean, "BACKLOG_MEAN", "backlog_mean", F64, D,
	    "packets waiting in front of a new one, mean"),
	COL(of.q.backlog_max, "DEEPEST", "backlog_max", U64, D, "most of these"),
	COL(gaps.p50_ns, "GAP_P50", "gap_p50_ns", NS, D, "time between dispatches, median"),
	COL(gaps.p99_ns, "GAP_P99", "gap_p99_ns", NS, D, "99th percentile"),
	COL(gaps.max_ns, "GAP_MAX", "gap_max_ns", NS, D, "longest time without a dispatch"),
};
#undef ROW

#define ROW kernel_row
static const struct out_col kernel_cols[] = {
	COL(in, "IN", "in", STR, D, "A, B or both"),
	COL(uses[0], "A", "a", U64, D, "dispatches in A; launches where a log has no packets"),
	COL(uses[1], "B", "b", U64, D, "likewise in B"),
	COL(rate[0], "RATE_A", "rate_a_per_s", F64, D, "of these each second of the log"),
	COL(rate[1], "RATE_B", "rate_b_per_s", F64, D, "likewise in B"),
	COL(grid_min[0], "GRID_MIN_A", "grid_min_a", STR, 0, "smallest grid, in work-items"),
	COL(grid_max[0], "GRID_MAX_A", "grid_max_a", STR, D, "largest grid"),
	COL(grid_min[1], "GRID_MIN_B", "grid_min_b", STR, 0, "smallest grid in B"),
	COL(grid_max[1], "GRID_MAX_B", "grid_max_b", STR, D, "largest grid in B"),
	COL(items_min[0], "ITEMS_MIN_A", "grid_items_min_a", U64, M,
	    "work-items of the smallest grid"),
	COL(items_max[0], "ITEMS_MAX_A", "grid_items_max_a", U64, M, "work-items of the largest"),
	COL(items_min[1], "ITEMS_MIN_B", "grid_items_min_b", U64, M, "likewise in B"),
	COL(items_max[1], "ITEMS_MAX_B", "grid_items_max_b", U64, M, "likewise in B"),
	COL(name, "NAME", "name", STR, D | T | OUT_MANGLED, "as the log prints it"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "for people"),
};
#undef ROW

#define ROW finding_row
static const struct out_col finding_cols[] = {
	COL(text, "FINDING", "finding", STR, D, "what is to be said of both"),
};
#undef ROW
const struct out_table trace_compare_finding_table = {"findings", "finding",
						      OUT_COLS(finding_cols)};
const struct out_table trace_compare_log_table = {"logs", "log", OUT_COLS(log_cols)};
const struct out_table trace_compare_queue_table = {"queues", "queue", OUT_COLS(queue_cols)};
const struct out_table trace_compare_kernel_table = {"kernels", "kernel", OUT_COLS(kernel_cols)};

static const struct schema_member compare_members[] = {
	{"verdict", SCHEMA_TEXT, "do they use the same queues", NULL, NULL},
	{"findings", SCHEMA_LIST, "what else differs", &trace_text, &trace_compare_finding_table},
	TRACE_NOTES,
	{0}};
const struct schema trace_compare_schema = {"gpq.trace.compare", 1,
					    SCHEMA_TABLES(&trace_compare_log_table,
							  &trace_compare_queue_table,
							  &trace_compare_kernel_table),
					    compare_members};

static const char *const labels[] = {"A", "B"};

struct compared {
	struct trace log[2];
	struct amdlog_side side[2];
	struct amdlog_comparison result;
	char **files;
};

// Returns 0 if the trace is of log A, 1 if of B.
static unsigned log_of(const struct trace *t)
{
	return t != &t->compared->log[0];
}

static void compare_event(struct trace *t, const struct amdlog_event *e)
{
	amdlog_side_add(&t->compared->side[log_of(t)], e);
}

// --- tables: written by the struct trace of log A ---

static uint32_t count_logs(const struct trace *t)
{
	(void)t;
	return 2;
}

static void compared_log_out(struct trace *t, uint32_t i)
{
	struct compared *d = t->compared;
	struct amdlog_side *side = &d->side[i];
	const struct amdlog_summary *s = side->sum;
	const struct amdlog_totals *sum = &s->totals;
	uint64_t dispatches = sum->kinds[AMDLOG_DISPATCH];
	struct hist backlogs, grids;
	struct log_row r = {
		.log = labels[i],
		.file = d->files[i],
		.sum = *sum,
		.distinct = trace_distinct_of(s),
		.queues = d->result.queues[i],
		.rate = amdlog_per_second(d->result.by_launches ? sum->launches : dispatches,
					  &sum->span),
		.backlog_mean = keyed_histogram_mean(&side->backlogs, 0),
		.gaps = trace_times_in(&side->gaps.lengths, GAPS_ALL + 1),
		.span = trace_span_of(&sum->span),
	};
	if (!amdlog_has_packets(s))
		r.sum.kinds[AMDLOG_DISPATCH] = U64_NULL;
	if (!r.distinct.streams)
		r.distinct.streams = U64_NULL;
	keyed_histogram_get(&side->backlogs, 0, &backlogs);
	r.backlog_p50 = hist_percentile(&backlogs, 0.5);
	r.backlog_p99 = hist_percentile(&backlogs, 0.99);
	r.backlog_max = hist_percentile(&backlogs, 1);
	keyed_histogram_get(&side->grids, 0, &grids);
	r.grid_p50 = hist_percentile(&grids, 0.5);
	r.grid_p90 = hist_percentile(&grids, 0.9);
	r.grid_max = hist_percentile(&grids, 1);
	out_row(t->out, &r);
}

// Row `i`: the queues of log A come first, then those of B. Sets *log to 0 or 1, and returns the
// queue's index in that log.
static uint32_t queue_of_log(const struct compared *d, uint32_t i, unsigned *log)
{
	const uint32_t first = d->side[0].sum->nqueues;
	*log = i >= first;
	return *log ? i - first : i;
}

static uint32_t count_compared_queues(const struct trace *t)
{
	return t->compared->side[0].sum->nqueues + t->compared->side[1].sum->nqueues;
}

static bool rank_compared_queue(struct trace *t, uint32_t i, struct trace_rank *r)
{
	unsigned log;
	uint32_t n = queue_of_log(t->compared, i, &log);
	(void)r;
	return amdlog_queue_used(&t->compared->result, log, n);
}

static void compared_queue_out(struct trace *t, uint32_t index)
{
	static const char *const same[] = {"no", "maybe", "yes"};
	struct compared *d = t->compared;
	unsigned i;
	uint32_t n = queue_of_log(d, index, &i);
	struct amdlog_side *side = &d->side[i];
	const struct amdlog_summary *s = side->sum;
	struct queue_row r = {
		.of = trace_queue_of(&d->log[i], n),
		.log = labels[i],
		.other = same[amdlog_queue_in_other(&d->result, i, n)],
		.gaps = trace_times_in(&side->gaps.lengths, n + 1),
		.rate = amdlog_has_packets(s)
				? amdlog_per_second(s->queues[n].dispatches, &s->totals.span)
				: NAN,
	};
	out_row(t->out, &r);
}

// Returns the log from which the kernel's name is taken: 0 (A) if A has the kernel, else 1 (B).
static unsigned named_in(const struct amdlog_match *m)
{
	return m->in[0] == AMDLOG_NONE;
}

static const char *name_of(const struct amdlog_comparison *c, const struct amdlog_match *m)
{
	unsigned i = named_in(m);
	return c->side[i].sum->kernels[m->in[i]].name;
}

TRACE_COUNT(count_compared_kernels, compared->result.nkernels)

// GPU kernels with most dispatches (or launches) in either log come first.
static bool rank_compared_kernel(struct trace *t, uint32_t i, struct trace_rank *r)
{
	const struct amdlog_comparison *c = &t->compared->result;
	uint64_t x = amdlog_kernel_uses(c, 0, c->kernels[i].in[0]);
	uint64_t y = amdlog_kernel_uses(c, 1, c->kernels[i].in[1]);
	r->by[0] = ~(x > y ? x : y);
	r->name = name_of(c, &c->kernels[i]);
	return true;
}

static void compared_kernel_out(struct trace *t, uint32_t index)
{
	struct compared *d = t->compared;
	const struct amdlog_comparison *c = &d->result;
	const struct amdlog_match *m = &c->kernels[index];
	char text[4][64];
	struct kernel_row r = {
		.in = m->in[0] == AMDLOG_NONE   ? "B"
		      : m->in[1] == AMDLOG_NONE ? "A"
						: "both",
		.name = name_of(c, m),
		.demangled = trace_name_shown(&d->log[named_in(m)], m->in[named_in(m)]),
	};
	for (unsigned i = 0; i < 2; i++) {
		const struct amdlog_kernel *k =
			m->in[i] == AMDLOG_NONE ? NULL : &c->side[i].sum->kernels[m->in[i]];
		bool grid = k && k->grid.items_min <= k->grid.items_max;
		r.uses[i] = amdlog_kernel_uses(c, i, m->in[i]);
		r.rate[i] = amdlog_per_second(r.uses[i], &c->side[i].sum->totals.span);
		r.grid_min[i] = grid ? trace_shape(text[i], k->grid.min) : NULL;
		r.grid_max[i] = grid ? trace_shape(text[2 + i], k->grid.max) : NULL;
		r.items_min[i] = grid ? k->grid.items_min : U64_NULL;
		r.items_max[i] = grid ? k->grid.items_max : U64_NULL;
	}
	out_row(t->out, &r);
}

static const struct trace_view views[] = {
	{&trace_compare_log_table, "Logs", BY_NOTHING, false, count_logs, NULL, compared_log_out,
	 NULL},
	{&trace_compare_queue_table, "Hardware queues", BY_QUEUE, false, count_compared_queues,
	 rank_compared_queue, compared_queue_out, NULL},
	{&trace_compare_kernel_table, "Kernels", BY_KERNEL, false, count_compared_kernels,
	 rank_compared_kernel, compared_kernel_out, trace_top},
	{0},
};

static const struct out_table *const printed[] = {
	&trace_compare_log_table, &trace_compare_queue_table, &trace_compare_kernel_table,
	&trace_compare_finding_table, NULL};
const struct trace_ask trace_comparison = {
	.schema = &trace_compare_schema,
	.views = views,
	.event = compare_event,
	.kinds = AMDLOG_KINDS_PLACED,
	.prints = printed,
};

// Writes the verdict on the queues and the findings, a line each: for people as text before the
// tables, on pages as paragraphs, in JSON as two members, in other formats as rows.
static void verdict_out(const struct trace *t, const struct amdlog_comparison *c)
{
	struct out *out = t->out;
	struct json *json = out_json(out);
	SCOPED(buf_fini) struct buf text = {0}, lines = {0};
	char *rest;
	amdlog_compare_text(c, &text);
	if (out_mode(out) == OUT_TABLE && !t->chosen) {
		const unsigned columns = out_fits(out) ? terminal_size().columns : UINT_MAX;
		for (const char *s = text.data, *end; (end = strchr(s, '\n')); s = end + 1)
			text_wrap_to(&lines, columns, 0, 4, s, (size_t)(end - s));
		out_title(out, "%.*s", (int)lines.len - 1, lines.data);
		return;
	}
	char *line = strtok_r(text.data, "\n", &rest);
	if (out_is_document(out)) {
		for (; line; line = strtok_r(NULL, "\n", &rest))
			out_say(out, OUT_NOTE, "%s", line);
		return;
	}
	if (json) {
		json_str(json, "verdict", line);
		json_begin(json, "findings", '[');
		line = strtok_r(NULL, "\n", &rest);
	} else {
		out_begin(out, &trace_compare_finding_table, false);
	}
	for (; line; line = strtok_r(NULL, "\n", &rest)) {
		struct finding_row row = {line};
		json ? json_str(json, NULL, line) : out_row(out, &row);
	}
	json ? json_end(json, ']') : out_end(out);
}

static void write_comparison(struct compared *d, struct out *out)
{
	struct trace *t = &d->log[0];
	t->out = d->log[1].out = out;
	// On a terminal what comes last is seen.
	const bool last = out_fits(out);
	if (!t->one_table && !last)
		verdict_out(t, &d->result);
	trace_views_out(t);
	if (!t->one_table && last)
		verdict_out(t, &d->result);
}

// Writes the page of --html, which has all tables.
static int write_page(struct compared *d, const struct cmd *c)
{
	struct trace *t = &d->log[0];
	struct out_opts form = c->out;
	SCOPED(buf_fini) struct buf page = {0};
	SCOPED(free_at)
	char *title = xasprintf("gpq trace: A is %s, B is %s", d->files[0], d->files[1]);
	form.mode = OUT_HTML;
	form.title = title;
	form.to = &page;
	form.columns = NULL;
	form.all = false;
	form.only = NULL;
	form.several = true;
	form.demangle = !t->opts->no_demangle;
	t->one_table = t->chosen = false;
	write_comparison(d, out_open(&form));
	const int status = out_close(t->out);
	return status ? status : out_file_or_stdout("--html ", t->opts->html, &page);
}

static int report_comparison(struct compared *d, const struct cmd *c)
{
	struct trace *t = &d->log[0];
	struct out *out = t->out;
	int status = GPQ_OK;
	for (unsigned i = 0; i < 2; i++)
		amdlog_summary_finish(&d->log[i].sum);
	amdlog_compare(&d->result, d->side);
	if (!trace_to_stdout(t->opts->html))
		write_comparison(d, out);
	if (t->opts->html)
		status = write_page(d, c);
	t->out = d->log[1].out = out;
	trace_notes(d->log, 2);
	return status;
}

// Reads both logs. Returns an exit status; a log without a record is an error, too.
static int read_logs(struct compared *d, const struct cmd *c)
{
	int status = GPQ_OK;
	stop_watch();
	for (unsigned i = 0; i < 2 && !status; i++) {
		struct trace *t = &d->log[i];
		status = trace_scan(t, c, 1, &d->files[i]);
		if (!status && !t->sum.totals.records)
			status = err_fail(GPQ_NOTFOUND, NULL, "%s: no AMD log records%s",
					  d->files[i],
					  t->scan->counts.records ? " of what was asked for" : "");
	}
	return status;
}

static void open_logs(struct compared *d, const struct cmd *c, const struct amdlog_filter *filter,
		      const struct grep *grep)
{
	for (unsigned i = 0; i < 2; i++) {
		struct trace *t = &d->log[i];
		trace_open(t, c, filter, grep);
		t->label = labels[i];
		trace_choose(t, c);
		t->compared = d;
		d->side[i].sum = &t->sum;
	}
}

int trace_compare(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	struct compared d = {.files = c->argv};
	open_logs(&d, c, filter, grep);
	int status = trace_begin(&d.log[0], c), told = GPQ_OK;
	d.log[1].out = d.log[0].out;
	if (!status) {
		status = read_logs(&d, c);
		// If a signal stopped the reading of log B, the part that was read is compared.
		if (!status || (status == GPQ_STOPPED && d.log[1].sum.totals.records))
			told = report_comparison(&d, c);
		status = trace_end(&d.log[d.log[1].scan->counts.bytes > 0], status, told);
	}
	amdlog_compare_fini(&d.result);
	for (unsigned i = 0; i < 2; i++) {
		amdlog_side_fini(&d.side[i]);
		trace_close(&d.log[i]);
	}
	return status;
}
