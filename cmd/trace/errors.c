// The errors of `gpq trace`: first in the report, or alone by --by error.
#include "cmd/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_DEFAULT 10

struct error_row {
	const char *host;
	const char *kind, *what;
	int64_t pid;
	uint64_t count, hwq, first_us, last_us;
};

#define D OUT_DEFAULT
#define COL(member, name, key, type, flags, help) \
	OUT_COL(error_row, member, name, key, type, flags, help)
static const struct out_col cols[] = {
	COL(host, "HOST", "host", OUT_STR, OUT_HOST, "host that --partial --host named"),
	COL(kind, "KIND", "kind", OUT_STR, D,
	    "queue: aborts, faults, full rings; api: calls that failed"),
	COL(pid, "PID", "pid", OUT_I64, D, "process id in its own namespace"),
	COL(count, "COUNT", "count", OUT_U64, D, "times it was said"),
	COL(first_us, "FIRST_US", "first_us", OUT_U64, D, "first time, CLOCK_MONOTONIC"),
	COL(last_us, "LAST_US", "last_us", OUT_U64, D, "last time"),
	COL(hwq, "HWQ", "hwq", OUT_HEX, D,
	    "address that the message gives its queue: the ring, up to ROCm 6.1 the hsa_queue_t"),
	COL(what, "WHAT", "what", OUT_STR, D | OUT_TRUNC, "message, or function and its error"),
};
#undef COL
const struct out_table trace_error_table = {"errors", "error", cols,
					    sizeof(cols) / sizeof(cols[0])};

// Queues first, in the order they failed; then calls, the most frequent first.
static int by_weight(const void *a, const void *b, void *ctx)
{
	const struct amdlog_errors *all = ctx;
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
	int64_t pid = t->sum.processes[e->process].pid;
	struct amdlog_span span = {e->first_us, e->last_us};
	struct error_row r = {
		.host = trace_host(t, e->process),
		.kind = e->of_queue ? "queue" : "api",
		.pid = pid < 0 ? I64_NULL : pid,
		.count = e->count,
		.hwq = e->address,
		.first_us = trace_first_of(&span),
		.last_us = trace_last_of(&span),
		.what = e->text,
	};

	out_row(t->out, &r);
}

void trace_errors(struct trace *t)
{
	uint32_t n = t->sum.errors.n, show = n;
	uint32_t *order;

	if (t->by == BY_NOTHING && out_mode(t->out) == OUT_TABLE) {
		if (!n)
			return;
		show = n < SHOWN_DEFAULT ? n : SHOWN_DEFAULT;
	}
	order = calloc(n ? n : 1, sizeof(*order));
	if (!order) {
		err_warn(NULL, "out of memory: no table of errors");
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_weight, &t->sum.errors);
	if (t->by == BY_NOTHING) {
		out_title(t->out, show < n ? "Errors (%u of %u)" : "Errors", show, n);
		out_begin(t->out, &trace_error_table, false);
	}
	for (uint32_t i = 0; i < show; i++)
		error_out(t, &t->sum.errors.v[order[i]]);
	out_end(t->out);
	if (t->by == BY_NOTHING)
		out_title(t->out, "Totals");
	free(order);
}
