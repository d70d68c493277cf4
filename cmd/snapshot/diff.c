// gpq snapshot --diff A B: queues that came, went or changed between two snapshots.
#include "cmd/snapshot/snapshot.h"

#include "common/reader/whose.h"
#include "common/snapshot/host_state.h"

struct row {
	const char *snapshot;
	const char *detail;
	struct qdiff d;
	struct state_queue was, is;
	struct queue_row q; // the queue after the change or, if it went, before
};

#define ROW row
static const struct out_col cols[] = {
	COL(snapshot, "SNAPSHOT", "snapshot", STR, M | OUT_RARE, "the snapshot after the change"),
	COL(d.changes, "CHANGE", "changes", LIST, D,
	    "came, went, suspended, resumed, off, on, moved, ring, priority, evicted, progress, "
	    "stalled (has work, and none was taken)"),
	COL(q.pid, "PID", "pid", I64, D, "process, as on the host"),
	COL(q.process.comm, "COMMAND", "command", STR, D, "name of the process"),
	WHOSE_COLS(q.process, M),
	COL(q.process.cmdline, "CMDLINE", "cmdline", STR, T, "its command line"),
	COL(q.gpu_id, "GPU", "gpu_id", U64, D, "KFD's number of the GPU"),
	COL(q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
	COL(q.context, "CONTEXT_ID", "context_id", U64, M,
	    "secondary KFD context; null: the primary"),
	COL(q.qid, "QID", "qid", U64, D, "queue id"),
	COL(q.v[MQD_V_DOORBELL], "DOORBELL", "doorbell", HEX, M | OUT_RARE,
	    "byte offset of its doorbell, by which queues of dumps saved by hand are known"),
	COL(q.type, "TYPE", "type", STR, D, "type of the queue"),
	COL(d.consumed, "CONSUMED", "consumed", U64, D,
	    "what the GPU took from the ring meanwhile"),
	COL(d.submitted, "SUBMITTED", "submitted", U64, D, "what was put into the ring meanwhile"),
	COL(d.unit, "UNIT", "unit", STR, D, "of both: packets (AQL), dwords (PM4), bytes (SDMA)"),
	COL(d.evicted_ns, "EVICTED", "evicted_ns", NS, M,
	    "time of evictions of the process that ended meanwhile"),
	COL(was.on_hw, "ON_HW_BEFORE", "on_hw_before", BOOL, M, "was on hardware"),
	COL(is.on_hw, "ON_HW_AFTER", "on_hw_after", BOOL, M, "is on hardware"),
	COL(was.slots, "SLOTS_BEFORE", "slots_before", STR, M | A,
	    "slots it was in: pipe and queue; with XCC where they differ"),
	COL(is.slots, "SLOTS_AFTER", "slots_after", STR, M | A, "slots it is in"),
	COL(was.row.v[MQD_V_QUEUE_PRIO], "PRIO_BEFORE", "prio_before", U64, M,
	    "priority it had, 0 to 15"),
	COL(is.row.v[MQD_V_QUEUE_PRIO], "PRIO_AFTER", "prio_after", U64, M, "priority it has"),
	COL(was.row.v[MQD_V_PIPE_PRIO], "PIPE_PRIO_BEFORE", "pipe_prio_before", U64, M,
	    "pipe priority it had: 0 low, 1 medium, 2 high"),
	COL(is.row.v[MQD_V_PIPE_PRIO], "PIPE_PRIO_AFTER", "pipe_prio_after", U64, M,
	    "pipe priority it has"),
	COL(was.row.v[MQD_V_RING], "RING_ADDR_BEFORE", "ring_addr_before", HEX, M,
	    "address its ring had"),
	COL(is.row.v[MQD_V_RING], "RING_ADDR_AFTER", "ring_addr_after", HEX, M,
	    "address of its ring"),
	COL(was.row.v[MQD_V_RING_BYTES], "RING_BEFORE", "ring_bytes_before", SIZE, M,
	    "size its ring had"),
	COL(is.row.v[MQD_V_RING_BYTES], "RING_AFTER", "ring_bytes_after", SIZE, M,
	    "size of its ring"),
	COL(was.pointers, "POINTERS_BEFORE", "pointers_before", STR, M,
	    "source of positions: live (slot), saved (off hardware), process, or stale"),
	COL(is.pointers, "POINTERS_AFTER", "pointers_after", STR, M, "their source now"),
	COL(q.mqd.match, "MATCH", "match", STR, M,
	    "how sure it is which MQD is its: order, only; likely where the dumps do not tell"),
	COL(detail, "DETAIL", "detail", STR, D | OUT_BELOW, "what was and what is"),
};

const struct out_table snapshot_diff_table = {"changes", "change", OUT_COLS(cols)};
const struct schema snapshot_diff_schema = {"gpq.snapshot.diff", 1,
					    SCHEMA_TABLES(&snapshot_diff_table), NULL};

struct printer {
	struct out *o;
	const char *after; // name of the later moment
	bool all;
	const struct host_state *before, *now;
	size_t differing, stale, likely, unknown;
	struct buf detail;
};

static void add_detail(struct buf *b, const char *what, const char *was, const char *is)
{
	buf_printf(b, "%s%s %s -> %s", b->len ? "; " : "", what, was, is);
}

static void detail_numbers(struct buf *b, const char *what, uint64_t was, uint64_t is, bool hex)
{
	char text[2][32];
	if (was == KFD_UNKNOWN || is == KFD_UNKNOWN || was == is)
		return;
	snprintf(text[0], sizeof(text[0]), hex ? "0x%" PRIx64 : "%" PRIu64, was);
	snprintf(text[1], sizeof(text[1]), hex ? "0x%" PRIx64 : "%" PRIu64, is);
	add_detail(b, what, text[0], text[1]);
}

static void describe_change(struct buf *b, const struct qdiff *d, const struct printer *p)
{
	static const char *const on[] = {"off", "on"};
	const struct state_queue *was = d->before, *is = d->after;
	char text[24];
	b->len = 0;
	buf_puts(b, "");
	if (!was || !is)
		return;
	const uint64_t *x = was->row.v, *y = is->row.v;
	if (was->on_hw >= 0 && is->on_hw >= 0 && was->on_hw != is->on_hw) {
		add_detail(b, "hardware", on[was->on_hw], on[is->on_hw]);
		if (is->on_hw == 0 && is->row.state && strcmp(is->row.state, "off-hardware") != 0)
			buf_printf(b, " (%s)", is->row.state);
	}
	if (*was->slots && *is->slots && strcmp(was->slots, is->slots) != 0)
		add_detail(b, "slot", was->slots, is->slots);
	detail_numbers(b, "priority", x[MQD_V_QUEUE_PRIO], y[MQD_V_QUEUE_PRIO], false);
	detail_numbers(b, "pipe priority", x[MQD_V_PIPE_PRIO], y[MQD_V_PIPE_PRIO], false);
	detail_numbers(b, "ring", x[MQD_V_RING], y[MQD_V_RING], true);
	detail_numbers(b, "ring bytes", x[MQD_V_RING_BYTES], y[MQD_V_RING_BYTES], false);
	if (d->evicted_ns != KFD_UNKNOWN && d->evicted_ns > 0)
		buf_printf(b, "%sevicted for %s", b->len ? "; " : "", text_ns(text, d->evicted_ns));
	if (d->stalled)
		buf_printf(b, "%sstands still for %s%s with %" PRIu64 " %s behind it",
			   b->len ? "; " : "", text_ns(text, p->now->at_ns - p->before->at_ns),
			   p->now->by_doorbell ? ", by the times of the files," : "",
			   is->submitted - is->consumed, d->unit);
}

static void count_unsure(struct printer *p, const struct qdiff *d)
{
	const struct state_queue *a = d->before, *b = d->after;
	p->differing += d->changes != NULL;
	if (!a || !b)
		return;
	p->stale += host_state_is_stale(a) || host_state_is_stale(b);
	p->likely += b->row.mqd.match && strcmp(b->row.mqd.match, "likely") == 0;
	p->unknown += a->on_hw < 0 || b->on_hw < 0;
}

static void print_change(void *arg, const struct qdiff *d)
{
	struct printer *p = arg;
	if ((!d->before || d->before->row.hidden) && (!d->after || d->after->row.hidden))
		return;
	count_unsure(p, d);
	if (!d->changes && !p->all)
		return;
	struct state_queue absent = {.on_hw = -1};
	queue_row_clear(&absent.row);
	struct row r = {.snapshot = p->after,
			.d = *d,
			.was = d->before ? *d->before : absent,
			.is = d->after ? *d->after : absent,
			.q = (d->after ? d->after : d->before)->row};
	describe_change(&p->detail, d, p);
	r.detail = p->detail.len ? p->detail.data : NULL;
	out_row(p->o, &r);
}

static void explain_diff(const struct printer *p, const struct host_state *a,
			 const struct host_state *b)
{
	if (*a->boot_id && *b->boot_id && strcmp(a->boot_id, b->boot_id) != 0)
		err_warn("compare two moments of one boot",
			 "%s and %s are not the same boot: equal PIDs are chance",
			 *a->host ? a->host : "the first", *b->host ? b->host : "the second");
	else if (!a->by_doorbell && b->at_ns && b->at_ns < a->at_ns)
		err_warn("name the earlier one first",
			 "the second moment is %.2f s before the first",
			 (double)(a->at_ns - b->at_ns) / 1e9);
	if (p->unknown)
		err_note("%zu queue%s: on or off hardware is not known at both moments", p->unknown,
			 text_s(p->unknown));
	if (p->stale)
		err_note("%zu queue%s: progress is unknown: on hardware, and the slot was not "
			 "read, so that the MQD has the pointers of the last unmap",
			 p->stale, text_s(p->stale));
	if (p->likely)
		err_report(out_is_on_screen(p->o) ? ERR_HINT : ERR_NOTE, 0, NULL,
			   "%zu queue%s: which MQD is whose is likely but not certain (MATCH)",
			   p->likely, text_s(p->likely));
}

// Prints the changes from each moment to the next; only two moments are in memory at a time.
static int print_moments(struct printer *p, const struct words *paths, const struct host_choice *by,
			 struct pids *found)
{
	struct host_state m[2] = {0};
	int status = GPQ_OK;
	for (size_t i = 0; i < paths->n && !status; i++) {
		struct host_state *now = &m[i % 2], *before = &m[(i + 1) % 2];
		host_state_fini(now);
		status = host_state_load(now, paths->v[i], by);
		host_chosen(&now->list, found);
		if (status || !i)
			continue;
		if (now->by_doorbell != before->by_doorbell)
			status = err_fail(GPQ_UNSUPPORTED,
					  "compare with the folder sys/kernel/debug/kfd of the "
					  "other one",
					  "%s has dumps alone, in which queues have no ids",
					  paths->v[now->by_doorbell ? i : i - 1]);
		if (status)
			break;
		if (i == 1 && !now->by_doorbell)
			out_leave_out(p->o, "DOORBELL");
		p->after = paths->v[i];
		p->stale = p->likely = p->unknown = 0;
		p->before = before;
		p->now = now;
		qdiff_run(before, now, print_change, p);
		explain_diff(p, before, now);
	}
	host_state_fini(&m[0]);
	host_state_fini(&m[1]);
	return status;
}

static int print_diff(struct cmd *c, const struct words *paths)
{
	const struct snapshot_opts *opt = c->opts;
	const struct host_choice by = snapshot_choice(opt);
	struct pids found = {0};
	c->out.schema = &snapshot_diff_schema;
	struct printer p = {.o = out_open(&c->out), .all = opt->all || err_verbose() > 0};
	int status = out_begin(p.o, &snapshot_diff_table, false);
	if (!status && paths->n == 2)
		out_leave_out(p.o, "SNAPSHOT");
	if (!status)
		status = print_moments(&p, paths, &by, &found);
	status = out_finish(p.o, status);
	if (!status)
		status = host_choice_found(&by, &found, "these snapshots");
	buf_fini(&p.detail);
	free(found.v);
	if (status)
		return status;
	return opt->exit_code && p.differing ? GPQ_FAILED : GPQ_OK;
}

int snapshot_diff(struct cmd *c)
{
	SCOPED(words_fini) struct words paths = {0};
	int status = snapshot_expand(&paths, c);
	if (!status && paths.n < 2)
		status = err_fail(GPQ_USAGE, "gpq snapshot --diff BEFORE AFTER; / is the live host",
				  "--diff takes two snapshots or more, or a series of them");
	return status ? status : print_diff(c, &paths);
}
