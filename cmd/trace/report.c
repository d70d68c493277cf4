// The tables of the report: processes, hardware queues, kernels, threads, API calls, errors.
//
// Values that the log does not contain are null here; notes.c prints the reason.
#include "cmd/trace/trace.h"

#include "common/host/xalloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT    20
#define ERRORS_DEFAULT 10

// Rows are copies of what the summary holds, with unknown values set to null.
struct process_row {
	struct amdlog_process p;
	struct trace_place at;
};

struct kernel_row {
	struct amdlog_kernel k;
	const char *demangled, *grid_min, *grid_max, *workgroup_min, *workgroup_max;
	struct trace_span span;
};

struct thread_row {
	struct amdlog_thread t;
	struct trace_place at;
};

struct api_row {
	struct amdlog_api a;
	uint64_t total_ns;
	double mean_us;
	struct trace_times times;
};

struct error_row {
	struct amdlog_error e;
	struct trace_place at;
	const char *kind;
};

#define ROW process_row
static const struct out_col process_cols[] = {
	COL(at.host, "HOST", "host", STR, OUT_HOST, "host that --partial --host named"),
	COL(at.pid, "PID", "pid", I64, D,
	    "process id in its own namespace; unknown: no record says"),
	COL(p.records, "RECORDS", "records", U64, D, "log records"),
	COL(p.threads, "THREADS", "threads", U32, D, "threads that logged"),
	COL(p.queues, "QUEUES", "queues", U32, D, "hardware queues"),
	COL(p.kernels, "KERNELS", "kernels", U32, D, "different kernel names"),
	COL(p.launches, "LAUNCHES", "launches", U64, D, "kernel launches (ShaderName)"),
	COL(p.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(p.barriers, "BARRIERS", "barriers", U64, D, "barrier packets"),
	COL(p.api_calls, "API_CALLS", "api_calls", U64, D, "HIP API calls"),
	COL(p.api_errors, "API_ERRORS", "api_errors", U64, D, "of these, not hipSuccess"),
	COL(at.span.first_us, "FIRST_US", "first_us", U64, D, "first record, CLOCK_MONOTONIC"),
	COL(at.span.last_us, "LAST_US", "last_us", U64, M, "last record"),
	COL(at.span.ns, "SPAN", "span_ns", NS, D, "from first to last"),
};
#undef ROW

#define ROW trace_queue
static const struct out_col queue_cols[] = {
	COL(at.host, "HOST", "host", STR, OUT_HOST, "host that --partial --host named"),
	COL(at.pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(q.hwq, "HWQ", "hwq", HEX, D, "ring address: the queue's ring in gpq queues"),
	COL(q.swq, "SWQ", "swq", HEX, D, "address of the hsa_queue_t"),
	COL(q.id, "ID", "id", I64, D, "ROCr's count of queues; not the KFD queue id"),
	COL(priority, "PRIO", "priority", STR, D, "low, normal or high"),
	COL(q.size, "SIZE", "size_packets", U64, M, "packets the ring holds"),
	COL(q.streams, "STREAMS", "streams", U32, D, "different streams seen on it"),
	COL(q.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(q.barriers, "BARRIERS", "barriers", U64, D, "barrier-AND and barrier-OR packets"),
	COL(q.barrier_values, "BARRIER_VALUES", "barrier_values", U64, M,
	    "packets that wait for a value"),
	COL(q.kernels, "KERNELS", "kernels", U32, D, "different kernel names"),
	COL(at.span.first_us, "FIRST_US", "first_us", U64, D, "its first packet, CLOCK_MONOTONIC"),
	COL(at.span.last_us, "LAST_US", "last_us", U64, D, "its last packet"),
	COL(q.created_us, "CREATED_US", "created_us", U64, M, "when it was first created"),
	COL(q.deleted_us, "DELETED_US", "deleted_us", U64, M, "when it was last deleted"),
	COL(at.span.ns, "SPAN", "span_ns", NS, 0, "from first to last"),
	COL(q.backlog_max, "DEEPEST", "backlog_max", U64, D,
	    "most packets waiting in front of a new one (wptr - rptr)"),
	COL(backlog_mean, "MEAN", "backlog_mean", F64, D, "mean of these"),
	COL(q.rptr_min, "RPTR_MIN", "rptr_min", U64, M, "least read pointer"),
	COL(q.rptr_max, "RPTR_MAX", "rptr_max", U64, M, "greatest read pointer"),
	COL(q.wptr_min, "WPTR_MIN", "wptr_min", U64, M, "least write pointer"),
	COL(q.wptr_max, "WPTR_MAX", "wptr_max", U64, M, "greatest write pointer"),
	COL(q.torn, "TORN", "torn", U64, M, "its packet records that miss a part"),
	COL(q.created, "CREATED", "created", U64, M, "times the log says it was created"),
	COL(q.deleted, "DELETED", "deleted", U64, M, "times it was deleted"),
};
#undef ROW

#define ROW kernel_row
static const struct out_col kernel_cols[] = {
	COL(k.launches, "LAUNCHES", "launches", U64, D, "times its name was logged at a launch"),
	COL(k.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(k.processes, "PROCESSES", "processes", U32, M, "processes that launched it"),
	COL(k.queues, "QUEUES", "queues", U32, D, "hardware queues it ran on"),
	COL(grid_min, "GRID_MIN", "grid_min", STR, D, "smallest grid, in work-items"),
	COL(grid_max, "GRID_MAX", "grid_max", STR, D, "largest grid"),
	COL(k.grid.items_min, "ITEMS_MIN", "grid_items_min", U64, M,
	    "work-items of the smallest grid"),
	COL(k.grid.items_max, "ITEMS_MAX", "grid_items_max", U64, M, "work-items of the largest"),
	COL(workgroup_min, "WG_MIN", "workgroup_min", STR, D, "smallest workgroup"),
	COL(workgroup_max, "WG_MAX", "workgroup_max", STR, D, "largest workgroup"),
	COL(span.first_us, "FIRST_US", "first_us", U64, M, "first launch or dispatch"),
	COL(span.last_us, "LAST_US", "last_us", U64, M, "last one"),
	COL(k.name, "NAME", "name", STR, D | T | OUT_MANGLED, "as the log prints it"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "for people"),
};
#undef ROW

#define ROW thread_row
static const struct out_col thread_cols[] = {
	COL(at.host, "HOST", "host", STR, OUT_HOST, "host that --partial --host named"),
	COL(at.pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(t.id.tid, "TID", "tid", HEX, D, "pthread_self(), not the kernel's thread id"),
	COL(t.records, "RECORDS", "records", U64, D, "log records"),
	COL(t.launches, "LAUNCHES", "launches", U64, D, "kernel launches"),
	COL(t.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(t.barriers, "BARRIERS", "barriers", U64, D, "barrier packets"),
	COL(t.api_calls, "API_CALLS", "api_calls", U64, D, "HIP API calls"),
	COL(t.api_errors, "API_ERRORS", "api_errors", U64, D, "of these, not hipSuccess"),
	COL(at.span.first_us, "FIRST_US", "first_us", U64, D, "first record"),
	COL(at.span.last_us, "LAST_US", "last_us", U64, D, "last record"),
};
#undef ROW

#define ROW api_row
static const struct out_col api_cols[] = {
	COL(a.calls, "CALLS", "calls", U64, D, "times it was entered"),
	COL(a.returns, "RETURNS", "returns", U64, D, "times a return was logged"),
	COL(a.errors, "ERRORS", "errors", U64, D, "returns other than hipSuccess"),
	COL(a.timed, "TIMED", "timed", U64, D, "returns with a duration"),
	COL(total_ns, "TOTAL", "duration_ns", NS, D, "sum of the durations"),
	COL(mean_us, "MEAN_US", "duration_mean_us", F64, D, "mean duration"),
	COL(times.p50_ns, "P50", "duration_p50_ns", NS, D, "median duration"),
	COL(times.p99_ns, "P99", "duration_p99_ns", NS, D, "99th percentile"),
	COL(times.max_ns, "MAX", "duration_max_ns", NS, D, "longest duration"),
	COL(a.name, "NAME", "name", STR, D, "function"),
};
#undef ROW

#define ROW error_row
static const struct out_col error_cols[] = {
	COL(at.host, "HOST", "host", STR, OUT_HOST, "host that --partial --host named"),
	COL(kind, "KIND", "kind", STR, D,
	    "queue: aborts, faults, full rings; api: calls that failed"),
	COL(at.pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(e.count, "COUNT", "count", U64, D, "times it was said"),
	COL(at.span.first_us, "FIRST_US", "first_us", U64, D, "first time, CLOCK_MONOTONIC"),
	COL(at.span.last_us, "LAST_US", "last_us", U64, D, "last time"),
	COL(e.address, "HWQ", "hwq", HEX, D,
	    "address that the message gives its queue: the ring, up to ROCm 6.1 the hsa_queue_t"),
	COL(e.text, "WHAT", "what", STR, D | T, "message, or function and its error"),
};
#undef ROW

const struct out_table trace_process_table = {"processes", "process", OUT_COLS(process_cols)};
const struct out_table trace_queue_table = {"queues", "queue", OUT_COLS(queue_cols)};
const struct out_table trace_kernel_table = {"kernels", "kernel", OUT_COLS(kernel_cols)};
const struct out_table trace_thread_table = {"threads", "thread", OUT_COLS(thread_cols)};
const struct out_table trace_error_table = {"errors", "error", OUT_COLS(error_cols)};
const struct out_table trace_api_table = {"apis", "api", OUT_COLS(api_cols)};

const struct schema_member trace_text = {.type = SCHEMA_TEXT};
const struct schema_member trace_notes_only[] = {TRACE_NOTES, {0}};
static const struct schema_member summary_members[] = {
	{"totals", SCHEMA_RECORD, "of all processes", NULL, &trace_totals_table}, TRACE_NOTES, {0}};
const struct schema trace_schema = {"gpq.trace", 1,
				    SCHEMA_TABLES(&trace_process_table, &trace_queue_table,
						  &trace_kernel_table, &trace_thread_table,
						  &trace_api_table, &trace_stream_table,
						  &trace_error_table),
				    summary_members};

const char *trace_priority(int priority)
{
	static const char *const names[] = {"low", "normal", "high"}; // [amdlog.priority]

	return priority >= 0 && priority < 3 ? names[priority] : NULL;
}

const char *trace_shape(char out[64], const uint64_t dim[3])
{
	if (dim[0] == AMDLOG_UNKNOWN)
		return NULL;
	snprintf(out, 64, "%" PRIu64 "x%" PRIu64 "x%" PRIu64, dim[0], dim[1], dim[2]);
	return out;
}

int64_t trace_pid(const struct trace *t, uint32_t process)
{
	int64_t pid = t->sum.processes[process].pid;
	return pid < 0 ? I64_NULL : pid;
}

struct trace_span trace_span_of(const struct amdlog_span *s)
{
	if (s->first_us > s->last_us)
		return (struct trace_span){U64_NULL, U64_NULL, U64_NULL};
	return (struct trace_span){s->first_us, s->last_us, (s->last_us - s->first_us) * 1000};
}

uint64_t trace_ns(uint64_t us)
{
	return us == U64_NULL ? U64_NULL : us * 1000;
}

struct trace_times trace_times_of(const struct hist *us)
{
	return (struct trace_times){
		.count = us->count,
		.mean_ns = us->count ? (uint64_t)((double)us->sum * 1000 / (double)us->count)
				     : U64_NULL,
		.p50_ns = trace_ns(hist_percentile(us, 0.5)),
		.p90_ns = trace_ns(hist_percentile(us, 0.9)),
		.p99_ns = trace_ns(hist_percentile(us, 0.99)),
		.max_ns = us->count ? trace_ns(us->max) : U64_NULL,
	};
}

struct trace_times trace_times_in(const struct keyed_histogram *us, uint32_t key)
{
	struct hist h;
	keyed_histogram_get(us, key, &h);
	return trace_times_of(&h);
}

static int by_rank(const void *a, const void *b)
{
	const struct trace_rank *x = a, *y = b;
	int order = x->name ? strcmp(x->name, y->name) : 0;
	for (unsigned i = 0; i < 3; i++) {
		if (x->by[i] != y->by[i])
			return x->by[i] < y->by[i] ? -1 : 1;
	}
	if (order || x->process != y->process)
		return order ? order : x->process < y->process ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

uint32_t *trace_sorted(const struct trace *t, uint32_t n, uint32_t *count,
		       bool (*rank)(const struct trace *, uint32_t, struct trace_rank *))
{
	struct trace_rank *ranks = xcalloc(n, sizeof(*ranks));
	uint32_t *index = xcalloc(n, sizeof(*index));
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct trace_rank r = {.index = i};
		if (rank(t, i, &r))
			ranks[(*count)++] = r;
	}
	qsort(ranks, *count, sizeof(*ranks), by_rank);
	for (uint32_t i = 0; i < *count; i++)
		index[i] = ranks[i].index;
	free(ranks);
	return index;
}

void trace_table(struct trace *t, const struct out_table *table, const char *title, uint64_t show,
		 uint64_t n)
{
	if (t->one_table)
		return;
	if (show < n)
		out_title(t->out, "%s (%s%" PRIu64 " of %" PRIu64 ")", title,
			  out_filters(t->out) ? "at most " : "", show, n);
	else
		out_title(t->out, "%s", title);
	out_begin(t->out, table, false);
}

// By host (they are numbered in the order of their names) and pid, unknown (-1) last.
static void rank_place(const struct trace *t, uint32_t process, struct trace_rank *r)
{
	r->by[0] = t->sum.processes[process].host;
	r->by[1] = (uint64_t)t->sum.processes[process].pid;
}

static bool rank_process(const struct trace *t, uint32_t i, struct trace_rank *r)
{
	rank_place(t, i, r);
	return t->sum.processes[i].records > 0;
}

static void process_out(struct trace *t, uint32_t i)
{
	const struct amdlog_process *p = &t->sum.processes[i];
	struct process_row r = {*p, trace_place(t, i, &p->span)};
	if (p->pid < 0)
		r.p.threads = U32_NULL;
	if (!amdlog_has_packets(&t->sum))
		r.p.dispatches = r.p.barriers = U64_NULL;
	out_row(t->out, &r);
}

static bool rank_queue(const struct trace *t, uint32_t i, struct trace_rank *r)
{
	rank_place(t, t->sum.queues[i].process, r);
	return trace_queue_shown(&t->sum.queues[i]);
}

struct trace_queue trace_queue_of(const struct trace *t, uint32_t queue)
{
	const struct amdlog_queue *q = &t->sum.queues[queue];
	bool packets = amdlog_has_packets(&t->sum);
	struct trace_queue r = {*q, trace_place(t, q->process, &q->span),
				trace_priority(q->priority),
				trace_mean(q->backlog_sum, q->backlog_n)};
	if (q->id < 0 || q->ids_differ)
		r.q.id = I64_NULL;
	if (!q->streams)
		r.q.streams = U32_NULL;
	// A queue known by its handle alone has its packets in a row that could not be joined.
	if (!packets || q->hwq == AMDLOG_UNKNOWN) {
		r.q.dispatches = r.q.barriers = U64_NULL;
		r.q.kernels = U32_NULL;
	}
	if (!packets)
		r.q.barrier_values = U64_NULL;
	if (!q->backlog_n)
		r.q.backlog_max = r.q.rptr_max = r.q.wptr_max = U64_NULL;
	return r;
}

void trace_name_queue(const struct trace *t, uint32_t queue, int64_t *pid, char name[24])
{
	bool all = queue == AMDLOG_NONE;
	uint64_t hwq = all ? U64_NULL : t->sum.queues[queue].hwq;
	*pid = all ? I64_NULL : trace_pid(t, t->sum.queues[queue].process);
	snprintf(name, 24, all ? "all" : hwq == U64_NULL ? "-" : "0x%" PRIx64, hwq);
}

static void queue_out(struct trace *t, uint32_t i)
{
	struct trace_queue r = trace_queue_of(t, i);
	out_row(t->out, &r);
}

// Kernels used most come first.
static bool rank_kernel(const struct trace *t, uint32_t i, struct trace_rank *r)
{
	const struct amdlog_kernel *k = &t->sum.kernels[i];
	r->by[0] = ~(k->launches > k->dispatches ? k->launches : k->dispatches);
	r->name = k->name;
	return k->launches + k->dispatches > 0;
}

static void kernel_out(struct trace *t, uint32_t i)
{
	const struct amdlog_kernel *k = &t->sum.kernels[i];
	bool grid = k->grid.items_min <= k->grid.items_max;
	bool group = k->workgroup.items_min <= k->workgroup.items_max;
	char text[4][64];
	struct kernel_row r = {
		.k = *k,
		.demangled = trace_name_shown(t, i),
		.grid_min = grid ? trace_shape(text[0], k->grid.min) : NULL,
		.grid_max = grid ? trace_shape(text[1], k->grid.max) : NULL,
		.workgroup_min = group ? trace_shape(text[2], k->workgroup.min) : NULL,
		.workgroup_max = group ? trace_shape(text[3], k->workgroup.max) : NULL,
		.span = trace_common_span(t, &k->span),
	};
	if (!amdlog_has_packets(&t->sum)) {
		r.k.dispatches = U64_NULL;
		r.k.queues = U32_NULL;
	}
	if (!grid)
		r.k.grid.items_min = r.k.grid.items_max = U64_NULL;
	out_row(t->out, &r);
}

static bool rank_thread(const struct trace *t, uint32_t i, struct trace_rank *r)
{
	rank_place(t, t->sum.threads[i].process, r);
	return t->sum.threads[i].records > 0;
}

static void thread_out(struct trace *t, uint32_t i)
{
	const struct amdlog_thread *th = &t->sum.threads[i];
	struct thread_row r = {*th, trace_place(t, th->process, &th->span)};
	if (!amdlog_has_packets(&t->sum))
		r.t.dispatches = r.t.barriers = U64_NULL;
	out_row(t->out, &r);
}

// Functions that took most time come first.
static bool rank_api(const struct trace *t, uint32_t i, struct trace_rank *r)
{
	const struct amdlog_api *a = &t->sum.apis[i];
	*r = (struct trace_rank){{~a->total_us, ~a->calls}, a->name, 0, i};
	return a->calls + a->returns > 0;
}

static void api_out(struct trace *t, uint32_t i)
{
	const struct amdlog_api *a = &t->sum.apis[i];
	struct api_row r = {
		.a = *a,
		.total_ns = a->timed ? a->total_us * 1000 : U64_NULL,
		.mean_us = trace_mean(a->total_us, a->timed),
		.times = trace_times_in(&t->sum.api_times, i),
	};
	r.times.max_ns = a->timed ? a->max_us * 1000 : U64_NULL;
	out_row(t->out, &r);
}

// Queues first, in the order they failed; then calls, the most frequent first.
static bool rank_error(const struct trace *t, uint32_t i, struct trace_rank *r)
{
	const struct amdlog_error *e = &t->sum.errors.v[i];
	*r = (struct trace_rank){
		{!e->of_queue, e->of_queue ? e->first_us : 0, ~e->count}, e->text, e->process, i};
	return true;
}

static void error_out(struct trace *t, uint32_t i)
{
	const struct amdlog_error *e = &t->sum.errors.v[i];
	const struct amdlog_span span = {e->first_us, e->last_us};
	struct error_row r = {*e, trace_place(t, e->process, &span), e->of_queue ? "queue" : "api"};
	out_row(t->out, &r);
}

static const struct view {
	const struct out_table *table;
	const char *title;
	size_t count; // offset of the number of elements in struct amdlog_summary
	bool (*rank)(const struct trace *, uint32_t, struct trace_rank *);
	void (*out)(struct trace *, uint32_t);
} views[] = {
#define VIEW(what, title, n)                                                                     \
	{                                                                                        \
		&trace_##what##_table, (title), offsetof(struct amdlog_summary, n), rank_##what, \
			what##_out                                                               \
	}
	[BY_QUEUE] = VIEW(queue, "Hardware queues", nqueues),
	[BY_KERNEL] = VIEW(kernel, "Kernels", nkernels),
	[BY_PROCESS] = VIEW(process, "Processes", nprocesses),
	[BY_THREAD] = VIEW(thread, "Threads", nthreads),
	[BY_ERROR] = VIEW(error, "Errors", errors.n),
	[BY_API] = VIEW(api, "API calls", napis),
};

uint32_t trace_top(const struct trace *t, uint32_t rows)
{
	enum out_mode mode = out_mode(t->out);
	uint64_t top = t->opts->top;
	if (top == U64_NULL)
		top = mode == OUT_JSON || mode == OUT_NDJSON || t->by == BY_KERNEL ? rows
										   : TOP_DEFAULT;
	return top < rows ? (uint32_t)top : rows;
}

static void write_view(struct trace *t, int by)
{
	const struct view *v = &views[by];
	bool brief = !t->one_table && out_mode(t->out) == OUT_TABLE;
	uint32_t total, rows, show, *index;
	memcpy(&total, (const char *)&t->sum + v->count, sizeof(total));
	index = trace_sorted(t, total, &rows, v->rank);
	show = by == BY_KERNEL                                    ? trace_top(t, rows)
	       : by == BY_ERROR && brief && rows > ERRORS_DEFAULT ? ERRORS_DEFAULT
								  : rows;
	trace_table(t, v->table, v->title, show, rows);
	show = out_limit(t->out, show, rows);
	for (uint32_t i = 0; i < show; i++)
		v->out(t, index[i]);
	out_end(t->out);
	free(index);
}

int trace_begin_table(struct trace *t)
{
	const struct trace_ask *ask = t->ask;
	const struct out_table *table = !ask                                   ? views[t->by].table
					: t->by == BY_QUEUE && ask->by_queue   ? ask->by_queue
					: t->by == BY_KERNEL && ask->by_kernel ? ask->by_kernel
									       : ask->table;
	return out_begin(t->out, table, false);
}

int trace_begin(struct trace *t)
{
	const struct trace_ask *ask = t->ask;
	t->asked = ask ? xcalloc(1, ask->size) : NULL;
	if (ask && ask->begin)
		ask->begin(t);
	if (t->opts->list)
		return out_begin(t->out, &trace_list_table, true);
	return t->one_table ? trace_begin_table(t) : GPQ_OK;
}

int trace_report(struct trace *t)
{
	if (t->ask)
		return t->ask->report(t);
	if (t->opts->list) {
		out_end(t->out);
	} else if (t->one_table) {
		write_view(t, t->by);
	} else {
		if (t->sum.errors.n || out_mode(t->out) != OUT_TABLE) {
			write_view(t, BY_ERROR); // what went wrong comes first
			out_title(t->out, "Totals");
		} else {
			out_skip(t->out, views[BY_ERROR].table);
		}
		trace_totals(t);
		write_view(t, BY_PROCESS);
		write_view(t, BY_QUEUE);
		write_view(t, BY_KERNEL);
	}
	return GPQ_OK;
}
