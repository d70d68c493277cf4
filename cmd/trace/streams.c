// gpq trace --by stream: which hardware queue each stream used, and when.
#include "cmd/trace/trace.h"

struct stream_row {
	struct stream_period p;
	struct trace_place at;
	const char *priority;
	uint64_t hwq, swq;
};

#define ROW stream_row
static const struct out_col cols[] = {
	COL(at.host, "HOST", "host", STR, OUT_HOST, "host that --partial --host named"),
	COL(at.pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(p.stream, "STREAM", "stream", HEX, D, "the HIP stream; 0x0: the null stream"),
	COL(at.span.first_us, "FIRST_US", "first_us", U64, D,
	    "from then on it used the queue, CLOCK_MONOTONIC"),
	COL(at.span.last_us, "LAST_US", "last_us", U64, D, "last seen on it"),
	COL(at.span.ns, "SPAN", "span_ns", NS, 0, "from first to last"),
	COL(hwq, "HWQ", "hwq", HEX, D, "ring address of the queue"),
	COL(swq, "SWQ", "swq", HEX, M, "address of its hsa_queue_t"),
	COL(priority, "HIP_PRIO", "hip_prio", STR, D, "the queue's: low, normal, medium or high"),
	COL(p.created, "CREATED", "created", U64, M, "times the stream was made on the queue"),
	COL(p.packets, "PACKETS", "packets", U64, M, "packets that are known to be its"),
	COL(p.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatches among them"),
};
#undef ROW
const struct out_table trace_stream_table = {"streams", "stream", OUT_COLS(cols)};

TRACE_COUNT(count_periods, streams.n)

// Sorts periods by process and stream, then time.
static bool rank_period(struct trace *t, uint32_t i, struct trace_rank *r)
{
	const struct stream_period *p = &t->streams.v[i];
	*r = (struct trace_rank){{p->process, p->stream, p->span.first_us}, NULL, 0, i};
	return p->created || p->packets;
}

static void period_out(struct trace *t, uint32_t i)
{
	const struct stream_period *p = &t->streams.v[i];
	const struct amdlog_queue *q = &t->sum.queues[p->queue];
	struct stream_row r = {*p, trace_place(t, p->process, &p->span),
			       trace_priority(q->priority), q->hwq, q->swq};
	if (!amdlog_has_packets(&t->sum))
		r.p.packets = r.p.dispatches = U64_NULL;
	out_row(t->out, &r);
}

static const struct trace_view views[] = {
	{&trace_stream_table, "Streams", BY_STREAM, false, count_periods, rank_period, period_out,
	 NULL},
	{0},
};

static void stream_event(struct trace *t, const struct amdlog_event *e)
{
	amdlog_streams_add(&t->streams, &t->sum, e);
}

static int report_streams(struct trace *t)
{
	amdlog_streams_join(&t->streams, &t->sum);
	trace_views_out(t);
	if (t->streams.left_out)
		return err_fail(GPQ_PARTIAL, "choose by --pid or --since",
				"--by stream: more than %u periods: the rest is left out",
				STREAMS_MAX);
	return GPQ_OK;
}

const struct trace_ask trace_streams = {
	.schema = &trace_schema,
	.views = views,
	.event = stream_event,
	.kinds = AMDLOG_KINDS_PLACED,
	.report = report_streams,
};
