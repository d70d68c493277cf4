// The tables of the report: processes, hardware queues, kernels, threads, API calls.
//
// What the log cannot tell is null here and said in words by notes.c.
#include "cmd/trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 20

struct process_row {
	const char *host;
	int64_t pid;
	uint64_t records, threads, queues, kernels, launches, dispatches, barriers, api_calls;
	uint64_t api_errors, first_us, last_us, span_ns;
};

struct queue_row {
	const char *host;
	int64_t pid, id;
	uint64_t hwq, swq, size, streams, dispatches, barriers, barrier_values, kernels, torn;
	uint64_t created, deleted, first_us, last_us, span_ns, created_us, deleted_us;
	uint64_t backlog_max, rptr_min, rptr_max, wptr_min, wptr_max;
	double backlog_mean;
	const char *priority;
};

struct kernel_row {
	const char *name, *grid_min, *grid_max, *workgroup_min, *workgroup_max;
	uint64_t launches, dispatches, processes, queues, items_min, items_max, first_us, last_us;
};

struct thread_row {
	const char *host;
	int64_t pid;
	uint64_t tid, records, launches, dispatches, barriers, api_calls, api_errors;
	uint64_t first_us, last_us;
};

struct api_row {
	const char *name;
	uint64_t calls, returns, errors, timed, total_ns, p50_ns, p99_ns, max_ns;
	double mean_us;
};

#define D OUT_DEFAULT
#define M OUT_MACHINE

#define COL(member, name, key, type, flags, help) \
	OUT_COL(process_row, member, name, key, type, flags, help)
static const struct out_col process_cols[] = {
	COL(host, "HOST", "host", OUT_STR, OUT_HOST, "host that --partial --host named"),
	COL(pid, "PID", "pid", OUT_I64, D,
	    "process id in its own namespace; unknown: no record says"),
	COL(records, "RECORDS", "records", OUT_U64, D, "log records"),
	COL(threads, "THREADS", "threads", OUT_U64, D, "threads that logged"),
	COL(queues, "QUEUES", "queues", OUT_U64, D, "hardware queues"),
	COL(kernels, "KERNELS", "kernels", OUT_U64, D, "different kernel names"),
	COL(launches, "LAUNCHES", "launches", OUT_U64, D, "kernel launches (ShaderName)"),
	COL(dispatches, "DISPATCHES", "dispatches", OUT_U64, D, "dispatch packets"),
	COL(barriers, "BARRIERS", "barriers", OUT_U64, D, "barrier packets"),
	COL(api_calls, "API_CALLS", "api_calls", OUT_U64, D, "HIP API calls"),
	COL(api_errors, "API_ERRORS", "api_errors", OUT_U64, D, "of these, not hipSuccess"),
	COL(first_us, "FIRST_US", "first_us", OUT_U64, D, "first record, CLOCK_MONOTONIC"),
	COL(last_us, "LAST_US", "last_us", OUT_U64, M, "last record"),
	COL(span_ns, "SPAN", "span_ns", OUT_NS, D, "from first to last"),
};
#undef COL

#define COL(member, name, key, type, flags, help) \
	OUT_COL(queue_row, member, name, key, type, flags, help)
static const struct out_col queue_cols[] = {
	COL(host, "HOST", "host", OUT_STR, OUT_HOST, "host that --partial --host named"),
	COL(pid, "PID", "pid", OUT_I64, D, "process id in its own namespace"),
	COL(hwq, "HWQ", "hwq", OUT_HEX, D, "ring address: the queue's ring in gpq queues"),
	COL(swq, "SWQ", "swq", OUT_HEX, D, "address of the hsa_queue_t"),
	COL(id, "ID", "id", OUT_I64, D, "ROCr's count of queues; not the KFD queue id"),
	COL(priority, "PRIO", "priority", OUT_STR, D, "low, normal or high"),
	COL(size, "SIZE", "size_packets", OUT_U64, M, "packets the ring holds"),
	COL(streams, "STREAMS", "streams", OUT_U64, D, "different streams seen on it"),
	COL(dispatches, "DISPATCHES", "dispatches", OUT_U64, D, "dispatch packets"),
	COL(barriers, "BARRIERS", "barriers", OUT_U64, D, "barrier-AND and barrier-OR packets"),
	COL(barrier_values, "BARRIER_VALUES", "barrier_values", OUT_U64, M,
	    "packets that wait for a value"),
	COL(kernels, "KERNELS", "kernels", OUT_U64, D, "different kernel names"),
	COL(first_us, "FIRST_US", "first_us", OUT_U64, D, "its first packet, CLOCK_MONOTONIC"),
	COL(last_us, "LAST_US", "last_us", OUT_U64, D, "its last packet"),
	COL(created_us, "CREATED_US", "created_us", OUT_U64, M, "when it was first created"),
	COL(deleted_us, "DELETED_US", "deleted_us", OUT_U64, M, "when it was last deleted"),
	COL(span_ns, "SPAN", "span_ns", OUT_NS, 0, "from first to last"),
	COL(backlog_max, "DEEPEST", "backlog_max", OUT_U64, D,
	    "most packets waiting in front of a new one (wptr - rptr)"),
	COL(backlog_mean, "MEAN", "backlog_mean", OUT_F64, D, "mean of these"),
	COL(rptr_min, "RPTR_MIN", "rptr_min", OUT_U64, M, "least read pointer"),
	COL(rptr_max, "RPTR_MAX", "rptr_max", OUT_U64, M, "greatest read pointer"),
	COL(wptr_min, "WPTR_MIN", "wptr_min", OUT_U64, M, "least write pointer"),
	COL(wptr_max, "WPTR_MAX", "wptr_max", OUT_U64, M, "greatest write pointer"),
	COL(torn, "TORN", "torn", OUT_U64, M, "its packet records that miss a part"),
	COL(created, "CREATED", "created", OUT_U64, M, "times the log says it was created"),
	COL(deleted, "DELETED", "deleted", OUT_U64, M, "times it was deleted"),
};
#undef COL

#define COL(member, name, key, type, flags, help) \
	OUT_COL(kernel_row, member, name, key, type, flags, help)
static const struct out_col kernel_cols[] = {
	COL(launches, "LAUNCHES", "launches", OUT_U64, D, "times its name was logged at a launch"),
	COL(dispatches, "DISPATCHES", "dispatches", OUT_U64, D, "dispatch packets"),
	COL(processes, "PROCESSES", "processes", OUT_U64, 0 | M, "processes that launched it"),
	COL(queues, "QUEUES", "queues", OUT_U64, D, "hardware queues it ran on"),
	COL(grid_min, "GRID_MIN", "grid_min", OUT_STR, D, "smallest grid, in work-items"),
	COL(grid_max, "GRID_MAX", "grid_max", OUT_STR, D, "largest grid"),
	COL(items_min, "ITEMS_MIN", "grid_items_min", OUT_U64, M,
	    "work-items of the smallest grid"),
	COL(items_max, "ITEMS_MAX", "grid_items_max", OUT_U64, M, "work-items of the largest"),
	COL(workgroup_min, "WG_MIN", "workgroup_min", OUT_STR, D, "smallest workgroup"),
	COL(workgroup_max, "WG_MAX", "workgroup_max", OUT_STR, D, "largest workgroup"),
	COL(first_us, "FIRST_US", "first_us", OUT_U64, M, "first launch or dispatch"),
	COL(last_us, "LAST_US", "last_us", OUT_U64, M, "last one"),
	COL(name, "NAME", "name", OUT_STR, D | OUT_TRUNC, "as the log prints it"),
};
#undef COL

#define COL(member, name, key, type, flags, help) \
	OUT_COL(thread_row, member, name, key, type, flags, help)
static const struct out_col thread_cols[] = {
	COL(host, "HOST", "host", OUT_STR, OUT_HOST, "host that --partial --host named"),
	COL(pid, "PID", "pid", OUT_I64, D, "process id in its own namespace"),
	COL(tid, "TID", "tid", OUT_HEX, D, "pthread_self(), not the kernel's thread id"),
	COL(records, "RECORDS", "records", OUT_U64, D, "log records"),
	COL(launches, "LAUNCHES", "launches", OUT_U64, D, "kernel launches"),
	COL(dispatches, "DISPATCHES", "dispatches", OUT_U64, D, "dispatch packets"),
	COL(barriers, "BARRIERS", "barriers", OUT_U64, D, "barrier packets"),
	COL(api_calls, "API_CALLS", "api_calls", OUT_U64, D, "HIP API calls"),
	COL(api_errors, "API_ERRORS", "api_errors", OUT_U64, D, "of these, not hipSuccess"),
	COL(first_us, "FIRST_US", "first_us", OUT_U64, D, "first record"),
	COL(last_us, "LAST_US", "last_us", OUT_U64, D, "last record"),
};
#undef COL

#define COL(member, name, key, type, flags, help) \
	OUT_COL(api_row, member, name, key, type, flags, help)
static const struct out_col api_cols[] = {
	COL(calls, "CALLS", "calls", OUT_U64, D, "times it was entered"),
	COL(returns, "RETURNS", "returns", OUT_U64, D, "times a return was logged"),
	COL(errors, "ERRORS", "errors", OUT_U64, D, "returns other than hipSuccess"),
	COL(timed, "TIMED", "timed", OUT_U64, D, "returns with a duration"),
	COL(total_ns, "TOTAL", "duration_ns", OUT_NS, D, "sum of the durations"),
	COL(mean_us, "MEAN_US", "duration_mean_us", OUT_F64, D, "mean duration"),
	COL(p50_ns, "P50", "duration_p50_ns", OUT_NS, D, "median duration"),
	COL(p99_ns, "P99", "duration_p99_ns", OUT_NS, D, "99th percentile"),
	COL(max_ns, "MAX", "duration_max_ns", OUT_NS, D, "longest duration"),
	COL(name, "NAME", "name", OUT_STR, D, "function"),
};
#undef COL

#define TABLE(cols) (cols), sizeof(cols) / sizeof((cols)[0])
const struct out_table trace_process_table = {"processes", "process", TABLE(process_cols)};
const struct out_table trace_queue_table = {"queues", "queue", TABLE(queue_cols)};
const struct out_table trace_kernel_table = {"kernels", "kernel", TABLE(kernel_cols)};
const struct out_table trace_thread_table = {"threads", "thread", TABLE(thread_cols)};
const struct out_table trace_api_table = {"apis", "api", TABLE(api_cols)};

const char *trace_priority(int priority)
{
	static const char *const names[] = {"low", "normal", "high"};

	return priority >= 0 && priority < 3 ? names[priority] : NULL;
}

const char *trace_shape(char out[64], const uint64_t dim[3])
{
	if (dim[0] == AMDLOG_UNKNOWN)
		return NULL;
	snprintf(out, 64, "%" PRIu64 "x%" PRIu64 "x%" PRIu64, dim[0], dim[1], dim[2]);
	return out;
}

// A count of packets, in a log that has none at all, says nothing.
static uint64_t if_packets(const struct trace *t, uint64_t count)
{
	return amdlog_has_packets(&t->sum) ? count : U64_NULL;
}

// A sorted array of the indices [0, n) that `shown` lets through; NULL without memory.
static uint32_t *sorted(const struct trace *t, uint32_t n, uint32_t *count,
			bool (*shown)(const struct trace *, uint32_t),
			int (*order)(const void *, const void *, void *))
{
	uint32_t *index = calloc(n ? n : 1, sizeof(*index));

	*count = 0;
	if (!index)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (shown(t, i))
			index[(*count)++] = i;
	}
	qsort_r(index, *count, sizeof(*index), order, (void *)(uintptr_t)t);
	return index;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

// Unknown (-1) goes last.
static int compare_pids(int64_t a, int64_t b)
{
	return (a < 0) != (b < 0) ? (a < 0) - (b < 0) : compare(a, b);
}

static bool process_shown(const struct trace *t, uint32_t i)
{
	return t->sum.processes[i].records > 0;
}

// Hosts are numbered in the order of their names.
static int compare_hosts(const struct trace *t, uint32_t a, uint32_t b)
{
	return compare(t->sum.processes[a].host, t->sum.processes[b].host);
}

static int process_order(const void *a, const void *b, void *ctx)
{
	const struct trace *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int by_host = compare_hosts(t, x, y);
	int by_pid = compare_pids(t->sum.processes[x].pid, t->sum.processes[y].pid);

	return by_host ? by_host : by_pid ? by_pid : compare(x, y);
}

static void process_out(struct trace *t, uint32_t i)
{
	const struct amdlog_process *p = &t->sum.processes[i];
	struct process_row r = {
		.host = trace_host(t, i),
		.pid = p->pid < 0 ? I64_NULL : p->pid,
		.records = p->records,
		.threads = p->pid < 0 ? U64_NULL : p->threads,
		.queues = p->queues,
		.kernels = p->kernels,
		.launches = p->launches,
		.dispatches = if_packets(t, p->dispatches),
		.barriers = if_packets(t, p->barriers),
		.api_calls = p->api_calls,
		.api_errors = p->api_errors,
		.first_us = trace_first_of(&p->span),
		.last_us = trace_last_of(&p->span),
		.span_ns = trace_span_of(&p->span),
	};

	out_row(t->out, &r);
}

static bool queue_index_shown(const struct trace *t, uint32_t i)
{
	return trace_queue_shown(&t->sum.queues[i]);
}

static int queue_order(const void *a, const void *b, void *ctx)
{
	const struct trace *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct amdlog_queue *q = t->sum.queues;
	int by_host = compare_hosts(t, q[x].process, q[y].process);
	int by_pid = compare_pids(t->sum.processes[q[x].process].pid,
				  t->sum.processes[q[y].process].pid);

	return by_host ? by_host : by_pid ? by_pid : compare(x, y);
}

static void queue_out(struct trace *t, uint32_t i)
{
	const struct amdlog_queue *q = &t->sum.queues[i];
	int64_t pid = t->sum.processes[q->process].pid;
	bool ring = q->hwq != AMDLOG_UNKNOWN, depth = q->backlog_n > 0;
	struct queue_row r = {
		.host = trace_host(t, q->process),
		.pid = pid < 0 ? I64_NULL : pid,
		.id = q->id < 0 || q->ids_differ ? I64_NULL : q->id,
		.hwq = q->hwq,
		.swq = q->swq,
		.size = q->size,
		.streams = q->streams ? q->streams : U64_NULL,
		// A queue known by its handle alone has its packets in a row that could not be
		// joined.
		.dispatches = ring ? if_packets(t, q->dispatches) : U64_NULL,
		.barriers = ring ? if_packets(t, q->barriers) : U64_NULL,
		.barrier_values = if_packets(t, q->barrier_values),
		.kernels = ring ? if_packets(t, q->kernels) : U64_NULL,
		.torn = q->torn,
		.created = q->created,
		.deleted = q->deleted,
		.first_us = trace_first_of(&q->span),
		.last_us = trace_last_of(&q->span),
		.created_us = q->created_us,
		.deleted_us = q->deleted_us,
		.span_ns = trace_span_of(&q->span),
		.backlog_max = depth ? q->backlog_max : U64_NULL,
		.backlog_mean = depth ? (double)q->backlog_sum / (double)q->backlog_n : NAN,
		.rptr_min = q->rptr_min,
		.wptr_min = q->wptr_min,
		.rptr_max = depth ? q->rptr_max : U64_NULL,
		.wptr_max = depth ? q->wptr_max : U64_NULL,
		.priority = trace_priority(q->priority),
	};

	out_row(t->out, &r);
}

static bool kernel_shown(const struct trace *t, uint32_t i)
{
	return t->sum.kernels[i].launches + t->sum.kernels[i].dispatches > 0;
}

// Most used first.
static int kernel_order(const void *a, const void *b, void *ctx)
{
	const struct trace *t = ctx;
	const struct amdlog_kernel *x = &t->sum.kernels[*(const uint32_t *)a];
	const struct amdlog_kernel *y = &t->sum.kernels[*(const uint32_t *)b];
	uint64_t nx = x->launches > x->dispatches ? x->launches : x->dispatches;
	uint64_t ny = y->launches > y->dispatches ? y->launches : y->dispatches;

	return nx != ny ? (nx < ny) - (nx > ny) : strcmp(x->name, y->name);
}

static void kernel_out(struct trace *t, uint32_t i)
{
	const struct amdlog_kernel *k = &t->sum.kernels[i];
	bool grid = k->grid.items_min <= k->grid.items_max;
	bool group = k->workgroup.items_min <= k->workgroup.items_max;
	bool clocks = trace_several_hosts(t);
	char text[4][64];
	struct kernel_row r = {
		.name = k->name,
		.launches = k->launches,
		.dispatches = if_packets(t, k->dispatches),
		.processes = k->processes,
		.queues = if_packets(t, k->queues),
		.grid_min = grid ? trace_shape(text[0], k->grid.min) : NULL,
		.grid_max = grid ? trace_shape(text[1], k->grid.max) : NULL,
		.workgroup_min = group ? trace_shape(text[2], k->workgroup.min) : NULL,
		.workgroup_max = group ? trace_shape(text[3], k->workgroup.max) : NULL,
		.items_min = grid ? k->grid.items_min : U64_NULL,
		.items_max = grid ? k->grid.items_max : U64_NULL,
		.first_us = clocks ? U64_NULL : trace_first_of(&k->span),
		.last_us = clocks ? U64_NULL : trace_last_of(&k->span),
	};

	out_row(t->out, &r);
}

static bool thread_shown(const struct trace *t, uint32_t i)
{
	return t->sum.threads[i].records > 0;
}

static int thread_order(const void *a, const void *b, void *ctx)
{
	const struct trace *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct amdlog_thread *th = t->sum.threads;
	int by_host = compare_hosts(t, th[x].process, th[y].process);
	int by_pid = compare_pids(th[x].id.pid, th[y].id.pid);

	return by_host ? by_host : by_pid ? by_pid : compare(x, y);
}

static void thread_out(struct trace *t, uint32_t i)
{
	const struct amdlog_thread *th = &t->sum.threads[i];
	const struct amdlog_thread_id *id = &th->id;
	struct thread_row r = {
		.host = trace_host(t, th->process),
		.pid = id->pid < 0 ? I64_NULL : id->pid,
		.tid = id->tid,
		.records = th->records,
		.launches = th->launches,
		.dispatches = if_packets(t, th->dispatches),
		.barriers = if_packets(t, th->barriers),
		.api_calls = th->api_calls,
		.api_errors = th->api_errors,
		.first_us = trace_first_of(&th->span),
		.last_us = trace_last_of(&th->span),
	};

	out_row(t->out, &r);
}

static bool api_shown(const struct trace *t, uint32_t i)
{
	return t->sum.apis[i].calls + t->sum.apis[i].returns > 0;
}

// Those that took most time first.
static int api_order(const void *a, const void *b, void *ctx)
{
	const struct trace *t = ctx;
	const struct amdlog_api *x = &t->sum.apis[*(const uint32_t *)a];
	const struct amdlog_api *y = &t->sum.apis[*(const uint32_t *)b];

	if (x->total_us != y->total_us)
		return x->total_us < y->total_us ? 1 : -1;
	return x->calls != y->calls ? (x->calls < y->calls) - (x->calls > y->calls)
				    : strcmp(x->name, y->name);
}

static void api_out(struct trace *t, uint32_t i)
{
	const struct amdlog_api *a = &t->sum.apis[i];
	struct hist times;
	bool timed = keyed_histogram_get(&t->sum.api_times, i, &times);
	struct api_row r = {
		.name = a->name,
		.calls = a->calls,
		.returns = a->returns,
		.errors = a->errors,
		.timed = a->timed,
		.total_ns = a->timed ? a->total_us * 1000 : U64_NULL,
		.p50_ns = timed ? hist_percentile(&times, 0.5) * 1000 : U64_NULL,
		.p99_ns = timed ? hist_percentile(&times, 0.99) * 1000 : U64_NULL,
		.max_ns = a->timed ? a->max_us * 1000 : U64_NULL,
		.mean_us = a->timed ? (double)a->total_us / (double)a->timed : NAN,
	};

	out_row(t->out, &r);
}

static const struct view {
	const struct out_table *table;
	const char *title;
	size_t count; // offset of the number of elements in struct amdlog_summary
	bool (*shown)(const struct trace *, uint32_t);
	int (*order)(const void *, const void *, void *);
	void (*out)(struct trace *, uint32_t);
} views[] = {
	[BY_QUEUE] = {&trace_queue_table, "Hardware queues",
		      offsetof(struct amdlog_summary, nqueues), queue_index_shown, queue_order,
		      queue_out},
	[BY_KERNEL] = {&trace_kernel_table, "Kernels", offsetof(struct amdlog_summary, nkernels),
		       kernel_shown, kernel_order, kernel_out},
	[BY_PROCESS] = {&trace_process_table, "Processes",
			offsetof(struct amdlog_summary, nprocesses), process_shown, process_order,
			process_out},
	[BY_THREAD] = {&trace_thread_table, "Threads", offsetof(struct amdlog_summary, nthreads),
		       thread_shown, thread_order, thread_out},
	[BY_API] = {&trace_api_table, "API calls", offsetof(struct amdlog_summary, napis),
		    api_shown, api_order, api_out},
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
	uint32_t total, rows, show, *index;

	memcpy(&total, (const char *)&t->sum + v->count, sizeof(total));
	index = sorted(t, total, &rows, v->shown, v->order);
	if (!index) {
		err_warn(NULL, "out of memory: no table of %s", v->table->name);
		return;
	}
	show = by == BY_KERNEL ? trace_top(t, rows) : rows;
	if (t->by == BY_NOTHING) {
		if (show < rows)
			out_title(t->out, "%s (%u of %u)", v->title, show, rows);
		else
			out_title(t->out, "%s", v->title);
		out_begin(t->out, v->table, false);
	}
	for (uint32_t i = 0; i < show; i++)
		v->out(t, index[i]);
	out_end(t->out);
	free(index);
}

int trace_begin(struct trace *t)
{
	if (t->opts->list)
		return out_begin(t->out, &trace_list_table, true);
	if (t->by == BY_ERROR)
		return out_begin(t->out, &trace_error_table, false);
	return t->by == BY_NOTHING ? GPQ_OK : out_begin(t->out, views[t->by].table, false);
}

void trace_report(struct trace *t)
{
	if (t->opts->list) {
		out_end(t->out);
	} else if (t->by == BY_ERROR) {
		trace_errors(t);
	} else if (t->by != BY_NOTHING) {
		write_view(t, t->by);
	} else {
		trace_errors(t); // what went wrong comes first
		trace_totals(t);
		write_view(t, BY_PROCESS);
		write_view(t, BY_QUEUE);
		write_view(t, BY_KERNEL);
	}
}
