// gpq trace --gaps: the longest times without a dispatch, and what queues did in windows of time
// that --mark names: suspensions of gpq suspend, cycles of gpq bench, anything else.
#include "cmd/trace/trace.h"

#define KEEP_DEFAULT  5
#define KEEP_MOST     100000
#define MARKS_DEFAULT 20

struct rhythm_row {
	const char *queue;
	int64_t pid;
	uint64_t dispatches, marks, quiet;
	struct trace_times gaps, after;
};

struct gap_row {
	const char *queue, *mark;
	int64_t pid;
	struct amdlog_gap g;
	uint64_t gap_ns, overlap_ns;
};

struct mark_row {
	const char *mark;
	int64_t pid;
	uint64_t begin_us, end_us, mark_ns, hwq, dispatches, taken, backlog_max, gap_ns, after_ns;
};

#define ROW rhythm_row
static const struct out_col rhythm_cols[] = {
	COL(pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(queue, "HWQ_OR_ALL", "hwq_or_all", STR, D, "ring address (HWq), or all"),
	COL(dispatches, "DISPATCHES", "dispatches", U64, D,
	    "dispatch packets; launches where the log has no packets"),
	COL(gaps.p50_ns, "GAP_P50", "gap_p50_ns", NS, D, "time from one to the next, median"),
	COL(gaps.p90_ns, "GAP_P90", "gap_p90_ns", NS, M, "90th percentile"),
	COL(gaps.p99_ns, "GAP_P99", "gap_p99_ns", NS, D, "99th percentile"),
	COL(gaps.max_ns, "GAP_MAX", "gap_max_ns", NS, D, "longest"),
	COL(marks, "MARKS", "marks", U64, D, "marked windows within its time in the log"),
	COL(quiet, "QUIET", "quiet_marks", U64, D, "those of them without a dispatch"),
	COL(after.p50_ns, "AFTER_P50", "after_p50_ns", NS, D,
	    "from the end of a marked window to the next dispatch, median"),
	COL(after.p99_ns, "AFTER_P99", "after_p99_ns", NS, M, "99th percentile"),
	COL(after.max_ns, "AFTER_MAX", "after_max_ns", NS, D, "longest"),
};
#undef ROW

#define ROW gap_row
static const struct out_col gap_cols[] = {
	COL(pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(queue, "HWQ_OR_ALL", "hwq_or_all", STR, D, "ring address (HWq), or all"),
	COL(g.begin_us, "BEGIN_US", "begin_us", U64, D, "the dispatch before, CLOCK_MONOTONIC"),
	COL(g.end_us, "END_US", "end_us", U64, D, "the dispatch behind"),
	COL(gap_ns, "GAP", "gap_ns", NS, D, "time between them"),
	COL(g.backlog, "BACKLOG", "backlog", U64, D,
	    "packets waiting in front of the dispatch before, as the gap began"),
	COL(mark, "MARK", "mark", STR, D, "marked window that coincides with most of it"),
	COL(overlap_ns, "OVERLAP", "overlap_ns", NS, D, "for so long"),
};
#undef ROW

#define ROW mark_row
static const struct out_col mark_cols[] = {
	COL(mark, "MARK", "mark", STR, D, "name of the window"),
	COL(begin_us, "BEGIN_US", "begin_us", U64, D, "its beginning, CLOCK_MONOTONIC"),
	COL(end_us, "END_US", "end_us", U64, M, "its end; unknown: the file does not say"),
	COL(mark_ns, "LENGTH", "mark_ns", NS, D, "from the one to the other"),
	COL(pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(hwq, "HWQ", "hwq", HEX, D, "ring address"),
	COL(dispatches, "DISPATCHES", "dispatches", U64, D, "logged within the window"),
	COL(taken, "TAKEN", "taken", U64, D,
	    "packets that the GPU took meanwhile, as told by packets logged in it (rptr)"),
	COL(backlog_max, "DEEPEST", "backlog_max", U64, D,
	    "most packets waiting, as told by packets in it"),
	COL(gap_ns, "GAP", "gap_ns", NS, D, "longest time without a dispatch that overlaps it"),
	COL(after_ns, "AFTER", "after_ns", NS, D, "from its end to the next dispatch"),
};
#undef ROW

const struct out_table trace_rhythm_table = {"queues", "queue", OUT_COLS(rhythm_cols)};
const struct out_table trace_gap_table = {"gaps", "gap", OUT_COLS(gap_cols)};
const struct out_table trace_mark_table = {"marks", "mark", OUT_COLS(mark_cols)};

const struct schema trace_gaps_schema = {
	"gpq.trace.gaps", 1,
	SCHEMA_TABLES(&trace_gap_table, &trace_rhythm_table, &trace_mark_table), trace_notes_only};

static struct amdlog_gaps *gaps_of(struct trace *t)
{
	return amdlog_has_packets(&t->sum) ? &t->gaps.gaps : &t->gaps.launches;
}

// Does the window overlap the time from the first to the last dispatch of the queue?
static bool in_time(const struct amdlog_window *w, const struct amdlog_queue *q)
{
	return w->begin_us < q->span.last_us && w->end_us > q->span.first_us;
}

static void count_marks(struct trace *t, uint32_t q, struct rhythm_row *r, struct hist *after)
{
	r->marks = r->quiet = 0;
	for (size_t i = 0; i < t->marks.n; i++) {
		const struct marked_cell *c = amdlog_marked_of(&t->gaps.marked, i, q);
		if (!in_time(&t->marks.v[i], &t->sum.queues[q]))
			continue;
		r->marks++;
		r->quiet += !c || !c->dispatches;
		if (c && c->after_us != AMDLOG_UNKNOWN)
			hist_add(after, c->after_us - t->marks.v[i].end_us);
	}
}

// Row 0 of both tables stands for all queues (GAPS_ALL), row i for queue i - 1.
static uint32_t count_gap_queues(const struct trace *t)
{
	return t->sum.nqueues + 1;
}

static bool has_gaps(struct trace *t, uint32_t q)
{
	return trace_queue_shown(&t->sum.queues[q]) && amdlog_gaps_of(gaps_of(t), q);
}

// Would people read the same twice, as all dispatches are of one queue?
static bool one_queue(struct trace *t)
{
	const struct gaps_queue *all = amdlog_gaps_of(gaps_of(t), GAPS_ALL), *of;
	bool same = false;
	for (uint32_t q = 0; all && !same && q < t->sum.nqueues; q++)
		same = has_gaps(t, q) && (of = amdlog_gaps_of(gaps_of(t), q)) &&
		       of->count == all->count;
	return same && out_mode(t->out) == OUT_TABLE && !out_filters(t->out);
}

// Shows queues that were dispatched to, in the order of their indices.
static bool rank_gap_queue(struct trace *t, uint32_t i, struct trace_rank *r)
{
	(void)r;
	return i ? has_gaps(t, i - 1) : !one_queue(t);
}

static void rhythm_out(struct trace *t, uint32_t i)
{
	const uint32_t q = i - 1;
	struct amdlog_gaps *g = gaps_of(t);
	struct hist after;
	char name[24];
	struct rhythm_row r = {.queue = name, .marks = U64_NULL, .quiet = U64_NULL};
	hist_init(&after);
	trace_name_queue(t, q, &r.pid, name);
	if (q != GAPS_ALL && t->marks.n)
		count_marks(t, q, &r, &after);
	r.dispatches = amdlog_gaps_of(g, q) ? amdlog_gaps_of(g, q)->count : 0;
	r.gaps = trace_times_in(&g->lengths, i);
	r.after = trace_times_of(&after);
	out_row(t->out, &r);
}

// Sets r->mark to the marked window that covers most of the gap.
static void find_mark(const struct amdlog_windows *w, const struct amdlog_gap *g, struct gap_row *r)
{
	uint64_t most = 0;
	for (size_t i = 0; (i = amdlog_windows_next(w, i, g->begin_us, g->end_us)) < w->n; i++) {
		const struct amdlog_window *v = &w->v[i];
		uint64_t begin = v->begin_us > g->begin_us ? v->begin_us : g->begin_us;
		uint64_t end = v->end_us < g->end_us ? v->end_us : g->end_us;
		if (end - begin <= most)
			continue;
		most = end - begin;
		r->mark = v->label[0] ? v->label : "marked";
		r->overlap_ns = trace_ns(most);
	}
}

static void gaps_of_queue_out(struct trace *t, uint32_t index)
{
	const uint32_t q = index - 1;
	const struct gaps_queue *g = amdlog_gaps_of(gaps_of(t), q);
	char name[24];
	for (size_t i = 0; g && i < g->nworst; i++) {
		struct gap_row r = {
			.queue = name,
			.g = g->worst[i],
			.gap_ns = trace_ns(g->worst[i].end_us - g->worst[i].begin_us),
			.overlap_ns = U64_NULL,
		};
		if (q == GAPS_ALL)
			r.g.backlog = U64_NULL;
		trace_name_queue(t, q, &r.pid, name);
		find_mark(&t->marks, &g->worst[i], &r);
		out_row(t->out, &r);
	}
}

// Returns U64_NULL (AMDLOG_UNKNOWN) if the begin or the end is not known.
static uint64_t ns_between(uint64_t begin_us, uint64_t end_us)
{
	return begin_us == U64_NULL || end_us == U64_NULL ? U64_NULL : (end_us - begin_us) * 1000;
}

static void mark_out(struct trace *t, size_t window, uint32_t q)
{
	const struct amdlog_window *w = &t->marks.v[window];
	const struct marked_cell *c = amdlog_marked_of(&t->gaps.marked, window, q);
	struct mark_row r = {
		.mark = w->label[0] ? w->label : NULL,
		.pid = trace_pid(t, t->sum.queues[q].process),
		.begin_us = w->begin_us,
		.end_us = w->end_us, // UINT64_MAX: the file gives no end
		.mark_ns = ns_between(w->begin_us, w->end_us),
		.hwq = t->sum.queues[q].hwq,
		.dispatches = c ? c->dispatches : 0,
		.taken = c && c->rptr_low != AMDLOG_UNKNOWN
				 ? (uint64_t)amdlog_backlog(c->rptr_low, c->rptr_high)
				 : U64_NULL,
		.backlog_max = c ? c->backlog_max : U64_NULL,
		.gap_ns = c ? ns_between(c->gap_begin_us, c->gap_end_us) : U64_NULL,
		.after_ns = c ? ns_between(w->end_us, c->after_us) : U64_NULL,
	};
	out_row(t->out, &r);
}

// Writes the first `show` pairs of a window and a queue that overlap. Returns the number of all
// such pairs.
static uint64_t each_mark(struct trace *t, uint64_t show)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->marks.n; i++) {
		for (uint32_t q = 0; q < t->sum.nqueues; q++) {
			if (!has_gaps(t, q) || !in_time(&t->marks.v[i], &t->sum.queues[q]))
				continue;
			if (n++ < show)
				mark_out(t, i, q);
		}
	}
	return n;
}

static void marks_out(struct trace *t)
{
	bool people = out_mode(t->out) == OUT_TABLE;
	uint64_t show = people ? MARKS_DEFAULT : UINT64_MAX, n = each_mark(t, 0);
	trace_table(t, &trace_mark_table, "Marked windows", show, n);
	each_mark(t, show);
	out_end(t->out);
}

// Warns of windows outside of the log's time: their file may have another clock.
static void check_marks(const struct trace *t)
{
	const struct amdlog_span *span = &t->sum.totals.span;
	size_t outside = 0;
	for (size_t i = 0; i < t->marks.n; i++)
		outside += t->marks.v[i].begin_us > span->last_us ||
			   t->marks.v[i].end_us < span->first_us;
	if (outside)
		err_warn("log times are microseconds of CLOCK_MONOTONIC",
			 "--mark: windows outside of the log's time: %zu of %zu", outside,
			 t->marks.n);
}

static const struct trace_view views[] = {
	{&trace_rhythm_table, "Time between dispatches", BY_OTHERS, false, count_gap_queues,
	 rank_gap_queue, rhythm_out, NULL},
	{&trace_gap_table,
	 "Longest times without a dispatch, of each queue (5; --top N): not idle time", BY_NOTHING,
	 false, count_gap_queues, rank_gap_queue, gaps_of_queue_out, NULL},
	{0},
};

static int report_gaps(struct trace *t)
{
	trace_views_out(t);
	if (!t->one_table && t->opts->mark)
		marks_out(t);
	check_marks(t);
	if (t->gaps.gaps.lengths.incomplete || t->gaps.marked.incomplete)
		return err_fail(GPQ_PARTIAL, "use --pid, or fewer windows",
				"--gaps: too many queues or windows: some are left out");
	return GPQ_OK;
}

static int begin_gaps(struct trace *t)
{
	uint64_t keep = t->opts->top == U64_NULL ? KEEP_DEFAULT : t->opts->top;
	t->gaps.gaps.keep = (uint32_t)(keep < KEEP_MOST ? keep : KEEP_MOST);
	t->gaps.launches.keep = t->gaps.gaps.keep;
	t->gaps.marked.windows = &t->marks;
	return trace_marks_read(t);
}

static void gaps_event(struct trace *t, const struct amdlog_event *e)
{
	const uint64_t us = e->record->time_us;
	if (e->record->kind == AMDLOG_KERNEL)
		amdlog_gaps_add(&t->gaps.launches, GAPS_ALL, us, AMDLOG_UNKNOWN);
	if (!e->packet)
		return;
	amdlog_marked_add(&t->gaps.marked, e);
	if (e->record->kind == AMDLOG_DISPATCH)
		amdlog_gaps_add(&t->gaps.gaps, e->queue == AMDLOG_NONE ? GAPS_ALL : e->queue, us,
				amdlog_packet_backlog(e->packet));
}

const struct trace_ask trace_gaps = {
	.schema = &trace_gaps_schema,
	.views = views,
	.begin = begin_gaps,
	.event = gaps_event,
	.kinds = AMDLOG_KINDS_PLACED,
	.report = report_gaps,
};
