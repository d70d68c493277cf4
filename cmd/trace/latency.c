// gpq trace --latency: from enqueue to completion as the host sees it
// (common/amdlog/analysis/latency.h).
#include "cmd/trace/trace.h"

#include "common/amdlog/analysis/latency.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct times {
	uint64_t count, mean_ns, p50_ns, p90_ns, p99_ns, max_ns;
};

struct command_row {
	const char *kind;
	uint64_t enqueued;
	struct times t;
};

struct queue_row {
	int64_t pid;
	uint64_t hwq;
	struct times t, handlers;
};

struct kernel_row {
	const char *name;
	struct times t;
};

#define D OUT_DEFAULT
#define M OUT_MACHINE

#define COL(member, name, key, type, flags, help) \
	OUT_COL(command_row, member, name, key, type, flags, help)
static const struct out_col command_cols[] = {
	COL(kind, "KIND", "kind", OUT_STR, D,
	    "of command; handler: a handler set on a signal, until it is called"),
	COL(enqueued, "ENQUEUED", "enqueued", OUT_U64, D, "commands, handlers set"),
	COL(t.count, "COMPLETED", "completed", OUT_U64, D, "those that were seen to complete"),
	COL(t.mean_ns, "MEAN", "latency_mean_ns", OUT_NS, D, "mean latency"),
	COL(t.p50_ns, "P50", "latency_p50_ns", OUT_NS, D, "median"),
	COL(t.p90_ns, "P90", "latency_p90_ns", OUT_NS, D, "90th percentile"),
	COL(t.p99_ns, "P99", "latency_p99_ns", OUT_NS, D, "99th percentile"),
	COL(t.max_ns, "MAX", "latency_max_ns", OUT_NS, D, "longest"),
};
#undef COL

#define COL(member, name, key, type, flags, help) \
	OUT_COL(queue_row, member, name, key, type, flags, help)
static const struct out_col queue_cols[] = {
	COL(pid, "PID", "pid", OUT_I64, D, "process id in its own namespace"),
	COL(hwq, "HWQ", "hwq", OUT_HEX, D, "ring address"),
	COL(t.count, "COMPLETED", "completed", OUT_U64, D,
	    "commands with a packet on it that were seen to complete"),
	COL(t.mean_ns, "MEAN", "latency_mean_ns", OUT_NS, M, "mean latency"),
	COL(t.p50_ns, "P50", "latency_p50_ns", OUT_NS, D, "median"),
	COL(t.p90_ns, "P90", "latency_p90_ns", OUT_NS, M, "90th percentile"),
	COL(t.p99_ns, "P99", "latency_p99_ns", OUT_NS, D, "99th percentile"),
	COL(t.max_ns, "MAX", "latency_max_ns", OUT_NS, D, "longest"),
	COL(handlers.count, "HANDLERS", "handlers", OUT_U64, D,
	    "handlers called for signals of its packets"),
	COL(handlers.p50_ns, "HANDLER_P50", "handler_p50_ns", OUT_NS, D,
	    "from setting one to its call, median"),
	COL(handlers.p99_ns, "HANDLER_P99", "handler_p99_ns", OUT_NS, M, "99th percentile"),
	COL(handlers.max_ns, "HANDLER_MAX", "handler_max_ns", OUT_NS, D, "longest"),
};
#undef COL

#define COL(member, name, key, type, flags, help) \
	OUT_COL(kernel_row, member, name, key, type, flags, help)
static const struct out_col kernel_cols[] = {
	COL(t.count, "COMPLETED", "completed", OUT_U64, D, "launches that were seen to complete"),
	COL(t.mean_ns, "MEAN", "latency_mean_ns", OUT_NS, D, "mean latency"),
	COL(t.p50_ns, "P50", "latency_p50_ns", OUT_NS, D, "median"),
	COL(t.p90_ns, "P90", "latency_p90_ns", OUT_NS, M, "90th percentile"),
	COL(t.p99_ns, "P99", "latency_p99_ns", OUT_NS, D, "99th percentile"),
	COL(t.max_ns, "MAX", "latency_max_ns", OUT_NS, D, "longest"),
	COL(name, "NAME", "name", OUT_STR, D | OUT_TRUNC, "as the log prints it"),
};
#undef COL

#define TABLE(cols) (cols), sizeof(cols) / sizeof((cols)[0])
const struct out_table trace_command_table = {"commands", "command", TABLE(command_cols)};
const struct out_table trace_latency_queue_table = {"queues", "queue", TABLE(queue_cols)};
const struct out_table trace_latency_kernel_table = {"kernels", "kernel", TABLE(kernel_cols)};

static uint64_t us_to_ns(uint64_t us)
{
	return us == UINT64_MAX ? U64_NULL : us * 1000;
}

// False when there are none.
static bool get_times(const struct keyed_histogram *s, uint32_t key, struct times *t)
{
	struct hist h;
	bool any = keyed_histogram_get(s, key, &h);

	*t = (struct times){
		.count = h.count,
		.p50_ns = us_to_ns(hist_percentile(&h, 0.5)),
		.p90_ns = us_to_ns(hist_percentile(&h, 0.9)),
		.p99_ns = us_to_ns(hist_percentile(&h, 0.99)),
		.max_ns = any ? us_to_ns(h.max) : U64_NULL,
		.mean_ns = any ? (uint64_t)((double)h.sum * 1000 / (double)h.count) : U64_NULL,
	};
	return any;
}

static void commands_out(struct trace *t)
{
	const struct amdlog_latency *l = t->asked;
	struct command_row r;

	for (uint32_t i = 0; i < l->kind_names.n; i++) {
		r = (struct command_row){.kind = l->kinds[i].name,
					 .enqueued = l->kinds[i].enqueued};
		get_times(&l->by_kind, i, &r.t);
		out_row(t->out, &r);
	}
	if (!l->handlers_set)
		return;
	r = (struct command_row){.kind = "handler", .enqueued = l->handlers_set};
	get_times(&l->handlers, 0, &r.t);
	out_row(t->out, &r);
}

static void queues_out(struct trace *t)
{
	const struct amdlog_latency *l = t->asked;

	for (uint32_t i = 0; i < t->sum.nqueues; i++) {
		int64_t pid = t->sum.processes[t->sum.queues[i].process].pid;
		struct queue_row r = {.pid = pid < 0 ? I64_NULL : pid, .hwq = t->sum.queues[i].hwq};
		bool any = get_times(&l->by_queue, i, &r.t);

		if (get_times(&l->handlers_by_queue, i, &r.handlers) || any)
			out_row(t->out, &r);
	}
}

// Those that completed most often first.
static int by_count(const void *a, const void *b, void *ctx)
{
	const struct amdlog_latency *l = ((const struct trace *)ctx)->asked;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t m = l->by_kernel.v[x].count, n = l->by_kernel.v[y].count;

	return m != n ? (m < n) - (m > n) : (x > y) - (x < y);
}

// Numbers of the kernels that have times, in order; owned by the caller. NULL without memory.
static uint32_t *kernel_order(struct trace *t, uint32_t *n)
{
	const struct keyed_histogram *s = &((const struct amdlog_latency *)t->asked)->by_kernel;
	uint32_t *order = calloc(s->n ? s->n : 1, sizeof(*order));

	*n = 0;
	for (uint32_t i = 0; order && i < s->n; i++) {
		if (s->v[i].count)
			order[(*n)++] = i;
	}
	if (order)
		qsort_r(order, *n, sizeof(*order), by_count, t);
	return order;
}

static void kernels_out(struct trace *t, const uint32_t *order, uint32_t n)
{
	const struct amdlog_latency *l = t->asked;

	for (uint32_t i = 0; i < n; i++) {
		struct kernel_row r = {.name = t->sum.kernels[order[i]].name};

		get_times(&l->by_kernel, order[i], &r.t);
		out_row(t->out, &r);
	}
}

static void kernel_view(struct trace *t)
{
	uint32_t n, *order = kernel_order(t, &n), show = trace_top(t, n);

	if (!t->one_table) {
		if (show < n)
			out_title(t->out, "Kernels (%u of %u)", show, n);
		else
			out_title(t->out, "Kernels");
		out_begin(t->out, &trace_latency_kernel_table, false);
	}
	if (order)
		kernels_out(t, order, show);
	out_end(t->out);
	free(order);
}

static void view(struct trace *t, const char *title, const struct out_table *table,
		 void (*rows)(struct trace *))
{
	if (!t->one_table) {
		out_title(t->out, "%s", title);
		out_begin(t->out, table, false);
	}
	rows(t);
	out_end(t->out);
}

// Nothing at all: the log is of a level, or a release, that does not say.
static bool has_nothing(const struct amdlog_latency *l)
{
	return !l->kind_names.n && !l->handlers_set;
}

static void check_level(const struct trace *t)
{
	const struct amdlog_latency *l = t->asked;

	if (has_nothing(l) && t->sum.totals.records)
		err_warn("AMD_LOG_LEVEL=4 prints commands (ROCm 7.2 and later: 5)",
			 "no latencies: the log tells of no command and no signal handler");
	if (l->unknown)
		err_note("commands that completed but were not seen being enqueued: %" PRIu64,
			 l->unknown);
}

static int report(struct trace *t)
{
	const struct amdlog_latency *l = t->asked;

	// People are spared tables of nothing.
	if (has_nothing(l) && !t->one_table && out_mode(t->out) == OUT_TABLE) {
		check_level(t);
		return GPQ_OK;
	}
	if (!t->one_table || t->by == BY_NOTHING)
		view(t, "From enqueue to completion", &trace_command_table, commands_out);
	if (!t->one_table || t->by == BY_QUEUE)
		view(t, "Hardware queues", &trace_latency_queue_table, queues_out);
	if (!t->one_table || t->by == BY_KERNEL)
		kernel_view(t);
	check_level(t);
	if (l->incomplete || l->by_kernel.incomplete || l->by_queue.incomplete)
		return err_fail(GPQ_PARTIAL, "choose by --pid or --since",
				"--latency: too many commands or kernels: some are left out");
	return GPQ_OK;
}

static int begin(struct trace *t)
{
	const struct out_table *one = t->by == BY_QUEUE    ? &trace_latency_queue_table
				      : t->by == BY_KERNEL ? &trace_latency_kernel_table
							   : &trace_command_table;

	t->asked = calloc(1, sizeof(struct amdlog_latency));
	if (!t->asked)
		return err_fail(GPQ_FAILED, NULL, "out of memory");
	return t->one_table ? out_begin(t->out, one, false) : GPQ_OK;
}

static void take_event(struct trace *t, const struct amdlog_event *e)
{
	amdlog_latency_add(t->asked, &t->sum, e);
}

static void fini(struct trace *t)
{
	if (t->asked)
		amdlog_latency_fini(t->asked);
	free(t->asked);
}

const struct trace_ask trace_latency = {
	.begin = begin,
	.event = take_event,
	.kinds = AMDLOG_KINDS_PLACED | AMDLOG_KINDS_LATENCY,
	.report = report,
	.fini = fini,
};
