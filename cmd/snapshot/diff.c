// gpq snapshot --diff A B: what happened to the queues between two moments.
#include "cmd/snapshot/snapshot.h"

#include "common/cli/text.h"
#include "common/host/buf.h"
#include "common/state/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct row {
	const char *change, *comm, *cmdline, *type, *detail, *unit, *match;
	int64_t pid;
	uint64_t context, gpu, gpu_id, qid, consumed, submitted, evicted_ns;
	int8_t on_before, on_after;
	const char *slots_before, *slots_after, *pointers_before, *pointers_after;
	uint64_t prio_before, prio_after, pipe_before, pipe_after, ring_before, ring_after;
	uint64_t bytes_before, bytes_after;
};

#define COL(member, name, key, type, flags, help) OUT_COL(row, member, name, key, type, flags, help)
#define D                                         OUT_DEFAULT
#define M                                         OUT_MACHINE

static const struct out_col cols[] = {
	COL(change, "CHANGE", "changes", OUT_LIST, D,
	    "came, went, suspended, resumed, off, on, moved, ring, priority, evicted, progress"),
	COL(pid, "PID", "pid", OUT_I64, D, "process, as on the host"),
	COL(comm, "COMMAND", "command", OUT_STR, D, "name of the process"),
	COL(cmdline, "CMDLINE", "cmdline", OUT_STR, OUT_TRUNC, "its command line"),
	COL(gpu, "GPU", "gpu", OUT_U64, D, "index of the GPU"),
	COL(gpu_id, "GPU_ID", "gpu_id", OUT_U64, M, "KFD's number of the GPU"),
	COL(context, "CONTEXT", "context", OUT_U64, M, "secondary KFD context; null: the primary"),
	COL(qid, "QID", "qid", OUT_U64, D, "queue id"),
	COL(type, "TYPE", "type", OUT_STR, D, "type of the queue"),
	COL(consumed, "CONSUMED", "consumed", OUT_U64, D,
	    "what the GPU took from the ring meanwhile"),
	COL(submitted, "SUBMITTED", "submitted", OUT_U64, D,
	    "what was put into the ring meanwhile"),
	COL(unit, "UNIT", "unit", OUT_STR, D, "of both: packets (AQL), dwords (PM4), bytes (SDMA)"),
	COL(evicted_ns, "EVICTED", "evicted_ns", OUT_NS, M,
	    "time of evictions of the process that ended meanwhile"),
	COL(on_before, "ON_WAS", "on_hardware_before", OUT_BOOL, M, "was on hardware"),
	COL(on_after, "ON", "on_hardware_after", OUT_BOOL, M, "is on hardware"),
	COL(slots_before, "SLOTS_WERE", "slots_before", OUT_STR, M,
	    "slots it was in: pipe and queue; with XCC where they differ"),
	COL(slots_after, "SLOTS", "slots_after", OUT_STR, M, "slots it is in"),
	COL(prio_before, "PRIO_WAS", "priority_before", OUT_U64, M, "priority it had, 0 to 15"),
	COL(prio_after, "PRIO", "priority_after", OUT_U64, M, "priority it has"),
	COL(pipe_before, "PIPE_PRIO_WAS", "pipe_priority_before", OUT_U64, M,
	    "pipe priority it had: 0 low, 1 medium, 2 high"),
	COL(pipe_after, "PIPE_PRIO", "pipe_priority_after", OUT_U64, M, "pipe priority it has"),
	COL(ring_before, "RING_WAS", "ring_addr_before", OUT_HEX, M, "address its ring had"),
	COL(ring_after, "RING", "ring_addr_after", OUT_HEX, M, "address of its ring"),
	COL(bytes_before, "SIZE_WAS", "ring_bytes_before", OUT_SIZE, M, "size its ring had"),
	COL(bytes_after, "SIZE", "ring_bytes_after", OUT_SIZE, M, "size of its ring"),
	COL(pointers_before, "POINTERS_WERE", "pointers_before", OUT_STR, M,
	    "where positions came from: live (slot), saved (off hardware), process, or stale"),
	COL(pointers_after, "POINTERS", "pointers_after", OUT_STR, M, "where they come from now"),
	COL(match, "MATCH", "match", OUT_STR, M,
	    "how sure it is which MQD is its: order, only; likely where the dumps do not tell"),
	COL(detail, "DETAIL", "detail", OUT_STR, D, "what was and what is"),
};

const struct out_table snapshot_diff_table = {"changes", "change", cols,
					      sizeof(cols) / sizeof(cols[0])};

struct printer {
	struct out *o;
	bool all;
	size_t differing, stale, likely, unknown;
	struct buf change, detail;
};

static const char *pointers_name(const struct state_queue *q)
{
	static const char *const names[] = {NULL, "live", "saved", "process", "stale"};
	return q ? names[q->pointers] : NULL;
}

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

static void describe(struct buf *b, const struct qdiff *d)
{
	static const char *const on[] = {"off", "on"};
	const struct state_queue *was = d->before, *is = d->after;
	char text[24];
	b->len = 0;
	buf_puts(b, "");
	if (!was || !is)
		return;
	const struct queue_row *x = was->row, *y = is->row;
	if (d->changes & (QDIFF_ON | QDIFF_OFF))
		add_detail(b, "hardware", on[was->on_hw], on[is->on_hw]);
	if (strcmp(was->slots, is->slots) != 0 && was->slots[0] && is->slots[0])
		add_detail(b, "slot", was->slots, is->slots);
	detail_numbers(b, "priority", x->prio, y->prio, false);
	detail_numbers(b, "pipe priority", x->pipe_prio, y->pipe_prio, false);
	detail_numbers(b, "ring", x->ring_addr, y->ring_addr, true);
	detail_numbers(b, "ring bytes", x->ring_bytes, y->ring_bytes, false);
	if (d->changes & QDIFF_EVICTED)
		buf_printf(b, "%sevicted for %s", b->len ? "; " : "", text_ns(text, d->evicted_ns));
}

static void name_changes(struct buf *b, unsigned changes)
{
	b->len = 0;
	buf_puts(b, "");
	for (unsigned bit = 1; qdiff_word(bit); bit <<= 1)
		if (changes & bit)
			buf_printf(b, "%s%s", b->len ? " " : "", qdiff_word(bit));
}

static void fill(struct row *r, const struct qdiff *d)
{
	static const struct queue_row none = {.prio = KFD_UNKNOWN,
					      .pipe_prio = KFD_UNKNOWN,
					      .ring_addr = KFD_UNKNOWN,
					      .ring_bytes = KFD_UNKNOWN};
	const struct state_queue *any = d->after ? d->after : d->before;
	const struct queue_row *was = d->before ? d->before->row : &none;
	const struct queue_row *is = d->after ? d->after->row : &none, *q = any->row;
	*r = (struct row){
		.pid = q->pid,
		.comm = q->comm,
		.cmdline = q->cmdline,
		.gpu = q->gpu,
		.gpu_id = q->gpu_id,
		.context = q->context,
		.qid = q->qid,
		.type = q->type,
		.match = q->match,
		.consumed = d->consumed,
		.submitted = d->submitted,
		.unit = d->unit,
		.evicted_ns = d->evicted_ns,
		.on_before = d->before ? d->before->on_hw : -1,
		.on_after = d->after ? d->after->on_hw : -1,
		.prio_before = was->prio,
		.prio_after = is->prio,
		.pipe_before = was->pipe_prio,
		.pipe_after = is->pipe_prio,
		.ring_before = was->ring_addr,
		.ring_after = is->ring_addr,
		.bytes_before = was->ring_bytes,
		.bytes_after = is->ring_bytes,
		.slots_before = d->before && d->before->slots[0] ? d->before->slots : NULL,
		.slots_after = d->after && d->after->slots[0] ? d->after->slots : NULL,
		.pointers_before = pointers_name(d->before),
		.pointers_after = pointers_name(d->after),
	};
}

static void count(struct printer *p, const struct qdiff *d)
{
	const struct state_queue *a = d->before, *b = d->after;
	p->differing += d->changes != 0;
	if (!a || !b)
		return;
	p->stale += a->pointers == POINTERS_STALE || b->pointers == POINTERS_STALE;
	p->likely += b->row->match && strcmp(b->row->match, "likely") == 0;
	p->unknown += a->on_hw < 0 || b->on_hw < 0;
}

static void print_one(void *arg, const struct qdiff *d)
{
	struct printer *p = arg;
	struct row r;
	count(p, d);
	if (!d->changes && !p->all)
		return;
	fill(&r, d);
	name_changes(&p->change, d->changes);
	describe(&p->detail, d);
	r.change = d->changes ? p->change.data : NULL;
	r.detail = p->detail.len ? p->detail.data : NULL;
	out_row(p->o, &r);
}

static void explain(const struct printer *p, const struct host_state *a, const struct host_state *b)
{
	if (*a->boot_id && *b->boot_id && strcmp(a->boot_id, b->boot_id) != 0)
		err_warn("compare two moments of one boot",
			 "%s and %s are not the same boot: equal PIDs are chance",
			 *a->host ? a->host : "the first", *b->host ? b->host : "the second");
	else if (a->uptime_cs != KFD_UNKNOWN && b->uptime_cs != KFD_UNKNOWN &&
		 b->uptime_cs < a->uptime_cs)
		err_warn("name the earlier one first",
			 "the second moment is %.2f s before the first",
			 (double)(a->uptime_cs - b->uptime_cs) / 100);
	if (p->unknown)
		err_note("%zu queues: on or off hardware is not known at both moments", p->unknown);
	if (p->stale)
		err_note("%zu queues: progress is unknown: on hardware, and their slot was not "
			 "read, so that the MQD has the pointers of the last unmap",
			 p->stale);
	if (p->likely)
		err_note("%zu queues: which MQD is theirs is likely but not certain (MATCH)",
			 p->likely);
}

static int print_diff(struct cmd *c, const struct host_state *a, const struct host_state *b)
{
	const struct snapshot_opts *opt = c->opts;
	struct printer p = {.o = out_open(&c->out), .all = opt->all};
	if (!p.o)
		return err_sys(ENOMEM, NULL, "output");
	int status = out_begin(p.o, &snapshot_diff_table, false);
	if (!status) {
		qdiff_run(a, b, print_one, &p);
		out_end(p.o);
		explain(&p, a, b);
	}
	int closed = out_close(p.o);
	buf_fini(&p.change);
	buf_fini(&p.detail);
	if (status || closed)
		return status ? status : closed;
	return opt->exit_code && p.differing ? GPQ_FAILED : GPQ_OK;
}

int snapshot_diff(struct cmd *c)
{
	struct host_state a = {0}, b = {0};
	if (c->argc != 2)
		return err_fail(GPQ_USAGE, "gpq snapshot --diff BEFORE AFTER; / is the live host",
				"--diff takes two snapshots");
	int status = host_state_load(&a, c->argv[0]);
	if (!status)
		status = host_state_load(&b, c->argv[1]);
	if (!status)
		status = print_diff(c, &a, &b);
	host_state_fini(&a);
	host_state_fini(&b);
	return status;
}
