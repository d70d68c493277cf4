// The errors of `gpq trace`: first in the report, or alone by --by error.
#include "cmd/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_DEFAULT 10

struct error_row {
	struct amdlog_error e;
	const char *host, *kind;
	int64_t pid;
	struct trace_span span;
};

#define ROW error_row
static const struct out_col cols[] = {
	COL(host, "HOST", "host", OUT_STR, OUT_HOST, "host that --partial --host named"),
	COL(kind, "KIND", "kind", OUT_STR, D,
	    "queue: aborts, faults, full rings; api: calls that failed"),
	COL(pid, "PID", "pid", OUT_I64, D, "process id in its own namespace"),
	COL(e.count, "COUNT", "count", OUT_U64, D, "times it was said"),
	COL(span.first_us, "FIRST_US", "first_us", OUT_U64, D, "first time, CLOCK_MONOTONIC"),
	COL(span.last_us, "LAST_US", "last_us", OUT_U64, D, "last time"),
	COL(e.address, "HWQ", "hwq", OUT_HEX, D,
	    "address that the message gives its queue: the ring, up to ROCm 6.1 the hsa_queue_t"),
	COL(e.text, "WHAT", "what", OUT_STR, D | OUT_TRUNC, "message, or function and its error"),
};
#undef ROW
const struct out_table trace_error_table = {"errors", "error", TABLE(cols)};

// Queues first, in the order they failed; then calls, the most frequent first.
static int by_weight(const void *a, const void *b, void *ctx)
{
	const struct amdlog_errors *all = &((const struct trace *)ctx)->sum.errors;
	const struct amdlog_error *x = &all->v[*(const uint32_t *)a];
	const struct amdlog_error *y = &all->v[*(const uint32_t *)b];
	int order;

	if (x->of_queue != y->of_queue)
		return x->of_queue ? -1 : 1;
	if (x->of_queue && x->first_us != y->first_us)
		return x->first_us < y->first_us ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	order = strcmp(x->text, y->text);
	return order ? order : (x->process > y->process) - (x->process < y->process);
}

static void error_out(struct trace *t, const struct amdlog_error *e)
{
	struct error_row r = {
		.e = *e,
		.host = trace_host(t, e->process),
		.kind = e->of_queue ? "queue" : "api",
		.pid = trace_pid(t, e->process),
		.span = trace_span_of(&(struct amdlog_span){e->first_us, e->last_us}),
	};

	out_row(t->out, &r);
}

void trace_errors(struct trace *t)
{
	bool brief = !t->one_table && out_mode(t->out) == OUT_TABLE;
	uint32_t n, show, *order;

	if (brief && !t->sum.errors.n)
		return;
	order = trace_sorted(t, t->sum.errors.n, &n, NULL, by_weight);
	show = brief && n > SHOWN_DEFAULT ? SHOWN_DEFAULT : n;
	trace_table(t, &trace_error_table, "Errors", show, n);
	for (uint32_t i = 0; i < show; i++)
		error_out(t, &t->sum.errors.v[order[i]]);
	out_end(t->out);
	if (!t->one_table)
		out_title(t->out, "Totals");
	free(order);
}
