// The summary of a log: totals, processes, hardware queues, kernels, threads, API calls, errors.
//
// Values that the log does not contain are null here; notes.c prints the reason.
#include "cmd/trace/trace.h"

#define ERRORS_DEFAULT 10

// Rows are copies of elements of the summary, with unknown values set to null.
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
	COL(q.swq, "SWQ", "swq", HEX, D | W, "address of the hsa_queue_t"),
	COL(q.id, "ID", "id", I64, D, "ROCr's count of queues; not the KFD queue id"),
	COL(priority, "HIP_PRIO", "hip_prio", STR, D, "low, normal, medium or high"),
	COL(q.size, "SIZE_PACKETS", "size_packets", U64, M, "packets the ring holds"),
	COL(q.streams, "STREAMS", "streams", U32, D, "different streams seen on it"),
	COL(q.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(q.barriers, "BARRIERS", "barriers", U64, D | W, "barrier-AND and barrier-OR packets"),
	COL(q.barrier_values, "BARRIER_VALUES", "barrier_values", U64, M,
	    "packets that wait for a value"),
	COL(q.kernels, "KERNELS", "kernels", U32, D, "different kernel names"),
	COL(at.span.first_us, "FIRST_US", "first_us", U64, D | W,
	    "its first packet, CLOCK_MONOTONIC"),
	COL(at.span.last_us, "LAST_US", "last_us", U64, D | W, "its last packet"),
	COL(q.created_us, "CREATED_US", "created_us", U64, M, "when it was first created"),
	COL(q.deleted_us, "DELETED_US", "deleted_us", U64, M, "when it was last deleted"),
	COL(at.span.ns, "SPAN", "span_ns", NS, 0, "from first to last"),
	COL(q.backlog_max, "DEEPEST", "backlog_max", U64, D,
	    "most packets waiting in front of a new one (wptr - rptr)"),
	COL(backlog_mean, "BACKLOG_MEAN", "backlog_mean", F64, D, "mean of these"),
	COL(q.rptr_min, "RPTR_MIN", "rptr_min", U64, M, "least read pointer"),
	COL(q.rptr_max, "RPTR_MAX", "rptr_max", U64, M, "greatest read pointer"),
	COL(q.wptr_min, "WPTR_MIN", "wptr_min", U64, M, "least write pointer"),
	COL(q.wptr_max, "WPTR_MAX", "wptr_max", U64, M, "greatest write pointer"),
	COL(q.cut, "CUT_RECORDS", "cut_records", U64, M, "its packet records that miss a part"),
	COL(q.created, "CREATED", "created", U64, M, "times the log says it was created"),
	COL(q.deleted, "DELETED", "deleted", U64, M, "times it was deleted"),
};
#undef ROW

#define ROW kernel_row
static const struct out_col kernel_cols[] = {
	COL(k.launches, "LAUNCHES", "launches", U64, D, "times its name was logged at a launch"),
	COL(k.dispatches, "DISPATCHES", "dispatches", U64, D | W, "dispatch packets"),
	COL(k.processes, "PROCS", "processes", U32, M, "processes that launched it"),
	COL(k.queues, "QUEUES", "queues", U32, D, "hardware queues it ran on"),
	COL(grid_min, "GRID_MIN", "grid_min", STR, D | W, "smallest grid, in work-items"),
	COL(grid_max, "GRID_MAX", "grid_max", STR, D, "largest grid"),
	COL(k.grid.items_min, "ITEMS_MIN", "grid_items_min", U64, M,
	    "work-items of the smallest grid"),
	COL(k.grid.items_max, "ITEMS_MAX", "grid_items_max", U64, M, "work-items of the largest"),
	COL(workgroup_min, "WG_MIN", "workgroup_min", STR, D | W, "smallest workgroup"),
	COL(workgroup_max, "WG_MAX", "workgroup_max", STR, D | W, "largest workgroup"),
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
	COL(t.id.tid, "THREAD", "thread", HEX, D, "pthread_self(), not the kernel's thread id"),
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

struct totals_row {
	struct amdlog_counts c;
	struct amdlog_totals sum;
	uint64_t mended, barriers, level_max;
	struct trace_span span;
	struct trace_distinct distinct;
	const char *format, *hip_version;
};

#define ROW totals_row
static const struct out_col totals_cols[] = {
	COL(c.lines, "LINES", "lines", U64, D, "lines, a last one without newline too"),
	COL(c.bytes, "SIZE", "bytes", SIZE, D, "bytes read"),
	COL(sum.records, "RECORDS", "records", U64, D, "log records of all kinds"),
	COL(sum.launches, "LAUNCHES", "launches", U64, D, "kernel launches (ShaderName)"),
	COL(sum.kinds[AMDLOG_DISPATCH], "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(barriers, "BARRIERS", "barriers", U64, D, "barrier-AND and barrier-OR packets"),
	COL(sum.kinds[AMDLOG_BARRIER_VALUE], "BARRIER_VALUES", "barrier_values", U64, M,
	    "packets that wait for a value"),
	COL(distinct.kernels, "KERNELS", "kernels", U64, D, "different kernel names"),
	COL(distinct.rings, "HWQS", "hwqs", U64, D, "different hardware queues (process and HWq)"),
	COL(distinct.pids, "PIDS", "pids", U64, D, "different process ids"),
	COL(sum.cut, "CUT_RECORDS", "cut_records", U64, D, "records that miss a part"),
	COL(mended, "MENDED", "mended", U64, M, "cut records that were put together again"),
	COL(c.glued, "GLUED", "glued", U64, M, "records that begin within a line"),
	COL(c.foreign, "OTHER_LINES", "other_lines", U64, D,
	    "lines that do not begin with a record"),
	COL(sum.unnamed, "UNNAMED", "unnamed", U64, M, "dispatches whose kernel is not known"),
	COL(sum.api_errors, "API_ERRORS", "api_errors", U64, D,
	    "API calls that did not return hipSuccess"),
	COL(sum.kinds[AMDLOG_QUEUE_ERROR], "QUEUE_ERRORS", "queue_errors", U64, D,
	    "queue aborts, memory faults, full rings"),
	COL(level_max, "LOG_LEVEL_MAX", "log_level_max", U64, D, "highest level of a record"),
	COL(format, "FORMAT", "format", STR, D, "ROCm releases that print such records"),
	COL(hip_version, "HIP", "hip_version", STR, D, "HIP version the log states"),
	COL(span.first_us, "FIRST_US", "first_us", U64, M,
	    "time of the first record, CLOCK_MONOTONIC"),
	COL(span.last_us, "LAST_US", "last_us", U64, M, "time of the last record"),
	COL(span.ns, "SPAN", "span_ns", NS, D, "time from first to last record"),
	COL(sum.rptr_min, "RPTR_MIN", "rptr_min", U64, M, "least read pointer"),
	COL(sum.rptr_max, "RPTR_MAX", "rptr_max", U64, M, "greatest read pointer"),
	COL(sum.wptr_min, "WPTR_MIN", "wptr_min", U64, M, "least write pointer"),
	COL(sum.wptr_max, "WPTR_MAX", "wptr_max", U64, M, "greatest write pointer"),
	COL(sum.steps_back, "STEPS_BACK", "steps_back", U64, M,
	    "records older than the one before"),
};
#undef ROW

const struct out_table trace_totals_table = {"totals", "totals", OUT_COLS(totals_cols)};
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
	static const char *const names[] = {"low", "normal", "high", "medium"};
	return priority >= 0 && priority < (int)COUNT(names) ? names[priority] : NULL;
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

struct trace_place trace_place(const struct trace *t, uint32_t process, const struct amdlog_span *s)
{
	uint32_t host = t->sum.processes[process].host;
	return (struct trace_place){host && t->merged ? t->merged->hosts.entries[host - 1].bytes
						      : NULL,
				    trace_pid(t, process), trace_span_of(s)};
}

bool trace_several_hosts(const struct trace *t)
{
	return t->merged && t->merged->several_hosts;
}

static struct trace_span common_span(const struct trace *t, const struct amdlog_span *s)
{
	return trace_several_hosts(t) ? (struct trace_span){U64_NULL, U64_NULL, U64_NULL}
				      : trace_span_of(s);
}

bool trace_queue_shown(const struct amdlog_queue *q)
{
	return q->records && q->merged == AMDLOG_NONE;
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

// Sorts by host (hosts are numbered in the order of their names) and pid; an unknown pid (-1) is
// last.
static void rank_place(const struct trace *t, uint32_t process, struct trace_rank *r)
{
	r->by[0] = t->sum.processes[process].host;
	r->by[1] = (uint64_t)t->sum.processes[process].pid;
}

static bool rank_process(struct trace *t, uint32_t i, struct trace_rank *r)
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

static bool rank_queue(struct trace *t, uint32_t i, struct trace_rank *r)
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
	// A queue that is known by its handle alone has no packets here: they are in a row for the
	// ring, as the log does not tell that both are one queue.
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

// GPU kernels with most launches or dispatches come first.
static bool rank_kernel(struct trace *t, uint32_t i, struct trace_rank *r)
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
		.span = common_span(t, &k->span),
	};
	if (!amdlog_has_packets(&t->sum)) {
		r.k.dispatches = U64_NULL;
		r.k.queues = U32_NULL;
	}
	if (!grid)
		r.k.grid.items_min = r.k.grid.items_max = U64_NULL;
	out_row(t->out, &r);
}

static bool rank_thread(struct trace *t, uint32_t i, struct trace_rank *r)
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

// API functions that took most time come first.
static bool rank_api(struct trace *t, uint32_t i, struct trace_rank *r)
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

// Sorts errors: first those of queues, by time, then failed API calls, most frequent first.
static bool rank_error(struct trace *t, uint32_t i, struct trace_rank *r)
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

TRACE_COUNT(count_queues, sum.nqueues)
TRACE_COUNT(count_kernels, sum.nkernels)
TRACE_COUNT(count_processes, sum.nprocesses)
TRACE_COUNT(count_threads, sum.nthreads)
TRACE_COUNT(count_apis, sum.napis)
TRACE_COUNT(count_errors, sum.errors.n)

const struct amdlog_counts *trace_counts(const struct trace *t)
{
	return t->merged ? &t->merged->all.counts : &t->scan->counts;
}

// Writes the ROCm releases whose record layouts occur in the log: "5.7-6.2" or "3.7-4.5 6.3".
static const char *format_names(const struct amdlog_totals *sum, char out[64])
{
	size_t at = 0;
	out[0] = 0;
	for (int i = AMDLOG_STYLE_NONE + 1; i < AMDLOG_NSTYLES; i++) {
		const char *name = amdlog_style_name((enum amdlog_style)i);
		if (sum->styles[i] && !strstr(out, name))
			at += (size_t)snprintf(out + at, 64 - at, "%s%s", at ? " " : "", name);
	}
	return at ? out : NULL;
}

struct trace_distinct trace_distinct_of(const struct amdlog_summary *s)
{
	struct trace_distinct n = {0};
	for (uint32_t i = 0; i < s->nkernels; i++)
		n.kernels += s->kernels[i].launches + s->kernels[i].dispatches > 0;
	for (uint32_t i = 0; i < s->nprocesses; i++)
		n.pids += s->processes[i].records && s->processes[i].pid >= 0;
	for (uint32_t i = 0; i < s->nqueues; i++) {
		if (!trace_queue_shown(&s->queues[i]))
			continue;
		n.rings += s->queues[i].hwq != AMDLOG_UNKNOWN;
		n.streams += s->queues[i].streams;
	}
	return n;
}

static void totals_out(struct trace *t)
{
	const struct amdlog_totals *sum = &t->sum.totals;
	char format[64];
	struct totals_row r = {
		.c = *trace_counts(t),
		.sum = *sum,
		.barriers = sum->kinds[AMDLOG_BARRIER_AND] + sum->kinds[AMDLOG_BARRIER_OR],
		.mended = t->merged ? t->merged->all.mended : t->reading.reassembly->mended,
		.level_max = U64_NULL,
		.distinct = trace_distinct_of(&t->sum),
		.span = common_span(t, &sum->span),
		.format = format_names(sum, format),
		.hip_version =
			sum->hip_version[0] && !sum->several_versions ? sum->hip_version : NULL,
	};
	if (!amdlog_has_packets(&t->sum))
		r.sum.kinds[AMDLOG_DISPATCH] = r.sum.kinds[AMDLOG_BARRIER_VALUE] = r.barriers =
			U64_NULL;
	if (sum->wptr_min == AMDLOG_UNKNOWN)
		r.sum.rptr_min = r.sum.rptr_max = r.sum.wptr_max = U64_NULL;
	for (unsigned i = 0; i < 10; i++)
		r.level_max = sum->levels[i] ? i : r.level_max;
	out_object(t->out, &trace_totals_table, &r);
}

// How many errors are shown: people get few, unless errors are the only table.
static uint32_t most_errors(const struct trace *t, uint32_t rows)
{
	const bool brief = !t->one_table && !t->chosen && out_mode(t->out) == OUT_TABLE;
	return brief && rows > ERRORS_DEFAULT ? ERRORS_DEFAULT : rows;
}

static const struct trace_view views[] = {
	{&trace_process_table, "Processes", BY_PROCESS, false, count_processes, rank_process,
	 process_out, NULL},
	{&trace_queue_table, "Hardware queues", BY_QUEUE, false, count_queues, rank_queue,
	 queue_out, NULL},
	{&trace_kernel_table, "Kernels", BY_KERNEL, false, count_kernels, rank_kernel, kernel_out,
	 trace_top},
	{&trace_thread_table, "Threads", BY_THREAD, true, count_threads, rank_thread, thread_out,
	 NULL},
	{&trace_api_table, "API calls", BY_API, true, count_apis, rank_api, api_out, NULL},
	{&trace_error_table, "Errors", BY_ERROR, true, count_errors, rank_error, error_out,
	 most_errors},
	{0},
};
// The last view is that of errors.
static const struct trace_view *const errors_view = &views[COUNT(views) - 2];

static int report_summary(struct trace *t)
{
	if (t->one_table) {
		trace_views_out(t);
		if (t->by == BY_KERNEL && !t->merged && out_mode(t->out) == OUT_TABLE &&
		    isatty(STDOUT_FILENO))
			err_warn(NULL, "how long kernels ran is not told here: --latency --by "
				       "kernel tells how long the host waited for them, "
				       "rocprofv3 measures it");
		return GPQ_OK;
	}
	if (t->sum.errors.n || out_mode(t->out) != OUT_TABLE) {
		trace_view_out(t, errors_view); // errors come before the totals
		out_title(t->out, "Totals");
	} else {
		out_skip(t->out, &trace_error_table);
	}
	totals_out(t);
	trace_views_out(t);
	return GPQ_OK;
}

static const struct out_table *const printed[] = {&trace_queue_table,  &trace_process_table,
						  &trace_kernel_table, &trace_error_table,
						  &trace_totals_table, NULL};
const struct trace_ask trace_summary = {
	.schema = &trace_schema, .views = views, .report = report_summary, .prints = printed};
