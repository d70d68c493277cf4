// gpq trace --by stream: which hardware queue each stream used, and when.
#include "cmd/trace/trace.h"

#include "common/amdlog/model/streams.h"

#include <stdlib.h>

struct stream_row {
	struct stream_period p;
	struct trace_place at;
	const char *priority;
	uint64_t hwq, swq;
};

#define ROW stream_row
static const struct out_col cols[] = {
	COL(at.host, "HOST", "host", OUT_STR, OUT_HOST, "host that --partial --host named"),
	COL(at.pid, "PID", "pid", OUT_I64, D, "process id in its own namespace"),
	COL(p.stream, "STREAM", "stream", OUT_HEX, D, "the HIP stream; 0x0: the null stream"),
	COL(at.span.first_us, "FIRST_US", "first_us", OUT_U64, D,
	    "from then on it used the queue, CLOCK_MONOTONIC"),
	COL(at.span.last_us, "LAST_US", "last_us", OUT_U64, D, "last seen on it"),
	COL(at.span.ns, "SPAN", "span_ns", OUT_NS, 0, "from first to last"),
	COL(hwq, "HWQ", "hwq", OUT_HEX, D, "ring address of the queue"),
	COL(swq, "SWQ", "swq", OUT_HEX, M, "address of its hsa_queue_t"),
	COL(priority, "PRIO", "priority", OUT_STR, D, "the queue's: low, normal or high"),
	COL(p.created, "CREATED", "created", OUT_U64, M, "times the stream was made on the queue"),
	COL(p.packets, "PACKETS", "packets", OUT_U64, M, "packets that are known to be its"),
	COL(p.dispatches, "DISPATCHES", "dispatches", OUT_U64, D, "dispatches among them"),
};
#undef ROW
const struct out_table trace_stream_table = {"streams", "stream", TABLE(cols)};

// By process and stream, then time.
static int in_order(const void *a, const void *b)
{
	const struct stream_period *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->span.first_us < y->span.first_us ? -1 : x->span.first_us > y->span.first_us;
}

static void period_out(struct trace *t, const struct stream_period *p)
{
	const struct amdlog_queue *q = &t->sum.queues[p->queue];
	struct stream_row r = {*p, trace_place(t, p->process, &p->span),
			       trace_priority(q->priority), q->hwq, q->swq};

	if (!amdlog_has_packets(&t->sum))
		r.p.packets = r.p.dispatches = U64_NULL;
	out_row(t->out, &r);
}

static void take_event(struct trace *t, const struct amdlog_event *e)
{
	amdlog_streams_add(t->asked, &t->sum, e);
}

static int report(struct trace *t)
{
	struct amdlog_streams *s = t->asked;

	amdlog_streams_join(s, &t->sum);
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), in_order);
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->v[i].created || s->v[i].packets)
			period_out(t, &s->v[i]);
	}
	out_end(t->out);
	if (s->left_out)
		return err_fail(GPQ_PARTIAL, "choose by --pid or --since",
				"--by stream: more than %u periods: the rest is left out",
				STREAMS_MAX);
	return GPQ_OK;
}

static void fini(struct trace *t)
{
	amdlog_streams_fini(t->asked);
}

const struct trace_ask trace_streams = {
	.size = sizeof(struct amdlog_streams),
	.table = &trace_stream_table,
	.event = take_event,
	.kinds = AMDLOG_KINDS_PLACED,
	.report = report,
	.fini = fini,
};
