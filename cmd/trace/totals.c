// The totals of `gpq trace`.
#include "cmd/trace/trace.h"

#include <stdio.h>
#include <string.h>

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
	COL(c.bytes, "BYTES", "bytes", SIZE, D, "bytes read"),
	COL(sum.records, "RECORDS", "records", U64, D, "log records of all kinds"),
	COL(sum.launches, "LAUNCHES", "launches", U64, D, "kernel launches (ShaderName)"),
	COL(sum.kinds[AMDLOG_DISPATCH], "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(barriers, "BARRIERS", "barriers", U64, D, "barrier-AND and barrier-OR packets"),
	COL(sum.kinds[AMDLOG_BARRIER_VALUE], "BARRIER_VALUES", "barrier_values", U64, M,
	    "packets that wait for a value"),
	COL(distinct.kernels, "KERNELS", "kernels", U64, D, "different kernel names"),
	COL(distinct.rings, "HWQS", "hwqs", U64, D, "different hardware queues (process and HWq)"),
	COL(distinct.pids, "PIDS", "pids", U64, D, "different process ids"),
	COL(sum.torn, "TORN", "torn", U64, D, "records that miss a part"),
	COL(mended, "MENDED", "mended", U64, M, "torn records that were put together again"),
	COL(c.glued, "GLUED", "glued", U64, M, "records that begin within a line"),
	COL(c.foreign, "FOREIGN", "foreign", U64, D, "lines that do not begin with a record"),
	COL(sum.unnamed, "UNNAMED", "unnamed", U64, M, "dispatches whose kernel is not known"),
	COL(sum.api_errors, "API_ERRORS", "api_errors", U64, D,
	    "API calls that did not return hipSuccess"),
	COL(sum.kinds[AMDLOG_QUEUE_ERROR], "QUEUE_ERRORS", "queue_errors", U64, D,
	    "queue aborts, memory faults, full rings"),
	COL(level_max, "LEVEL", "level_max", U64, D, "highest level of a record"),
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

struct trace_span trace_common_span(const struct trace *t, const struct amdlog_span *s)
{
	return trace_several_hosts(t) ? (struct trace_span){U64_NULL, U64_NULL, U64_NULL}
				      : trace_span_of(s);
}

bool trace_queue_shown(const struct amdlog_queue *q)
{
	return q->records && q->merged == AMDLOG_NONE;
}

// The layouts that occur, "5.7-6.2" or "3.7-4.5 6.3".
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

void trace_totals(struct trace *t)
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
		.span = trace_common_span(t, &sum->span),
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
