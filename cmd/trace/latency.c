// gpq trace --latency: times of commands from enqueue to completion, as the host sees them
// (common/amdlog/analysis/latency.h).
#include "cmd/trace/trace.h"

struct command_row {
	const char *kind;
	uint64_t enqueued;
	struct trace_times t;
};

struct queue_row {
	int64_t pid;
	uint64_t hwq;
	struct trace_times t, handlers;
};

struct kernel_row {
	const char *name, *demangled;
	struct trace_times t;
};

#define LATENCIES(mean, p90)                                                        \
	COL(t.mean_ns, "MEAN", "latency_mean_ns", NS, mean, "mean latency"),        \
		COL(t.p50_ns, "P50", "latency_p50_ns", NS, D, "median"),            \
		COL(t.p90_ns, "P90", "latency_p90_ns", NS, p90, "90th percentile"), \
		COL(t.p99_ns, "P99", "latency_p99_ns", NS, D, "99th percentile"),   \
		COL(t.max_ns, "MAX", "latency_max_ns", NS, D, "longest")

#define ROW command_row
static const struct out_col command_cols[] = {
	COL(kind, "KIND", "kind", STR, D,
	    "of command; handler: a handler set on a signal, until it is called"),
	COL(enqueued, "ENQUEUED", "enqueued", U64, D, "commands, handlers set"),
	COL(t.count, "COMPLETED", "completed", U64, D, "those that were seen to complete"),
	LATENCIES(D, D),
};
#undef ROW

#define ROW queue_row
static const struct out_col queue_cols[] = {
	COL(pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(hwq, "HWQ", "hwq", HEX, D, "ring address"),
	COL(t.count, "COMPLETED", "completed", U64, D,
	    "commands with a packet on it that were seen to complete"),
	LATENCIES(M, D | W),
	COL(handlers.count, "HANDLERS", "handlers", U64, D,
	    "handlers called for signals of its packets"),
	COL(handlers.p50_ns, "HANDLER_P50", "handler_p50_ns", NS, D,
	    "from setting one to its call, median"),
	COL(handlers.p99_ns, "HANDLER_P99", "handler_p99_ns", NS, M, "99th percentile"),
	COL(handlers.max_ns, "HANDLER_MAX", "handler_max_ns", NS, D, "longest"),
};
#undef ROW

#define ROW kernel_row
static const struct out_col kernel_cols[] = {
	COL(t.count, "COMPLETED", "completed", U64, D, "launches that were seen to complete"),
	LATENCIES(D, D | W),
	COL(name, "NAME", "name", STR, D | T | OUT_MANGLED, "as the log prints it"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "for people"),
};
#undef ROW

const struct out_table trace_command_table = {"commands", "command", OUT_COLS(command_cols)};
const struct out_table trace_latency_queue_table = {"queues", "queue", OUT_COLS(queue_cols)};
const struct out_table trace_latency_kernel_table = {"kernels", "kernel", OUT_COLS(kernel_cols)};

const struct schema trace_latency_schema = {"gpq.trace.latency", 1,
					    SCHEMA_TABLES(&trace_command_table,
							  &trace_latency_queue_table,
							  &trace_latency_kernel_table),
					    trace_notes_only};

// Rows are the kinds of commands, then one for all signal handlers, if any were set.
static uint32_t count_commands(const struct trace *t)
{
	return t->latency.kind_names.n + (t->latency.handlers_set > 0);
}

static void command_out(struct trace *t, uint32_t i)
{
	const struct amdlog_latency *l = &t->latency;
	struct command_row r = {"handler", l->handlers_set, trace_times_in(&l->handlers, 0)};
	if (i < l->kind_names.n)
		r = (struct command_row){l->kinds[i].name, l->kinds[i].enqueued,
					 trace_times_in(&l->by_kind, i)};
	out_row(t->out, &r);
}

static void latency_queue_out(struct trace *t, uint32_t i)
{
	const struct amdlog_queue *q = &t->sum.queues[i];
	struct queue_row r = {trace_pid(t, q->process), q->hwq,
			      trace_times_in(&t->latency.by_queue, i),
			      trace_times_in(&t->latency.handlers_by_queue, i)};
	if (r.t.count || r.handlers.count)
		out_row(t->out, &r);
}

TRACE_COUNT(count_latency_queues, sum.nqueues)
TRACE_COUNT(count_latency_kernels, latency.by_kernel.n)

// GPU kernels that were waited for longest in all come first.
static bool rank_latency_kernel(struct trace *t, uint32_t i, struct trace_rank *r)
{
	r->by[0] = ~t->latency.by_kernel.v[i].sum;
	return t->latency.by_kernel.v[i].count > 0;
}

static void latency_kernel_out(struct trace *t, uint32_t i)
{
	struct kernel_row r = {t->sum.kernels[i].name, trace_name_shown(t, i),
			       trace_times_in(&t->latency.by_kernel, i)};
	out_row(t->out, &r);
}

#define TITLE "From enqueue to completion as the host sees it, not how long kernels ran"

static const struct trace_view views[] = {
	{&trace_command_table, TITLE, BY_NOTHING, false, count_commands, NULL, command_out, NULL},
	{&trace_latency_queue_table, "Hardware queues", BY_QUEUE, false, count_latency_queues, NULL,
	 latency_queue_out, NULL},
	{&trace_latency_kernel_table, "Kernels", BY_KERNEL, false, count_latency_kernels,
	 rank_latency_kernel, latency_kernel_out, trace_top},
	{0},
};

// Has the table of --by, or without it any, a latency?
static bool has_latencies(const struct amdlog_latency *l, int by)
{
	return by == BY_KERNEL  ? l->by_kernel.n > 0
	       : by == BY_QUEUE ? l->by_queue.n + l->handlers_by_queue.n > 0
				: l->by_kind.n + l->handlers.n > 0;
}

// Says why there are none: both lines of a command are of one log level, and the runtime looks for
// completion when something waits for it ([amdlog.levels], [amdlog.commands]).
static void say_none(const struct amdlog_latency *l, int by)
{
	uint64_t enqueued = 0, completed = 0;
	for (uint32_t i = 0; i < l->kind_names.n; i++) {
		enqueued += l->kinds[i].enqueued;
		completed += l->kinds[i].completed;
	}
	err_warn("AMD_LOG_LEVEL=4 prints both (ROCm 7.2 and later: 5), the end once the program "
		 "waits for it",
		 "no latencies%s: commands enqueued: %" PRIu64 ", seen to complete: %" PRIu64,
		 by == BY_KERNEL  ? " of kernels"
		 : by == BY_QUEUE ? " of queues"
				  : "",
		 enqueued, completed);
}

static int report_latency(struct trace *t)
{
	const struct amdlog_latency *l = &t->latency;
	const bool any = has_latencies(l, t->by), people = out_mode(t->out) == OUT_TABLE;
	// People get no empty tables, but the number of commands.
	if (t->one_table && any && t->headings)
		out_title(t->out, TITLE);
	if (any || t->one_table || !people)
		trace_views_out(t);
	else if (count_commands(t))
		trace_view_out(t, views);
	if (people)
		out_flush(t->out); // the message follows the table
	if (!any && t->sum.totals.records)
		say_none(l, t->by);
	if (l->unknown)
		err_note("commands that completed but were not seen being enqueued: %" PRIu64,
			 l->unknown);
	if (l->incomplete || l->by_kernel.incomplete || l->by_queue.incomplete)
		return err_fail(GPQ_PARTIAL, "choose by --pid or --since",
				"--latency: too many commands or kernels: some are left out");
	return GPQ_OK;
}

static void latency_event(struct trace *t, const struct amdlog_event *e)
{
	amdlog_latency_add(&t->latency, &t->sum, e);
}

const struct trace_ask trace_latency = {
	.schema = &trace_latency_schema,
	.views = views,
	.event = latency_event,
	.kinds = AMDLOG_KINDS_PLACED | AMDLOG_KINDS_LATENCY,
	.report = report_latency,
};
