// Tables of suspended queues and of holders.
#include "cmd/suspend/suspend.h"

#include "common/host/proc.h"
#include "common/holder/protocol.h"

#define ROW held_row
static const struct out_col held_cols[] = {
	COL(pid, "PID", "pid", U64, D, "process"),
	COL(comm, "COMMAND", "command", STR, M | OUT_RARE | T, "its name"),
	WHOSE_COLS(whose, M),
	COL(gpu, "GPU", "gpu_id", U64, D, "gpu_id of the GPU"),
	COL(context, "CONTEXT_ID", "context_id", U64, M,
	    "secondary KFD context (context_N in sysfs) of a queue that cannot be held"),
	COL(qid, "QID", "qid", U64, D, "queue id in the process"),
	COL(type, "TYPE", "type", STR, D, "compute, sdma or sdma-xgmi"),
	COL(result, "RESULT", "result", STR, D | S,
	    "suspended, already, busy, refused, timeout, closing, unknown, unreachable; resumed, "
	    "running; chosen (--dry-run)"),
	COL(latency_ns, "LATENCY", "latency_ns", NS, D,
	    "time of the driver call, shared by the queues of one call"),
	COL(proof, "PROOF", "proof", STR, S, "with --verify: stopped, draining or moving"),
	COL(saved_bytes, "SAVED", "saved_bytes", SIZE, 0,
	    "with --verify: waves and control stacks that the GPU saved"),
	COL(backlog, "BACKLOG", "backlog", U64, 0, "with --verify: write index less read index"),
	COL(holder, "HOLDER", "holder", U64, 0, "process that holds the queue"),
	COL(packets, "PACKET_FORMAT", "packet_format", STR, M, "aql or pm4; null of SDMA queues"),
	COL(at_ns, "AT_NS", "at_ns", U64, M, "when the answer came, CLOCK_MONOTONIC"),
	COL(until_ns, "UNTIL_NS", "until_ns", U64, M,
	    "deadline at which the queues come back, on the same clock"),
};
#undef ROW
enum { HELD_COMM = 1, HELD_USER, HELD_CONTAINER, HELD_POD }; // places of columns
const struct out_table held_table = {"queues", "queue", held_cols, COUNT(held_cols)};

struct holder_row {
	uint64_t pid, holder, queues, unreached, held_ns, left_ns;
	const char *comm, *owner, *state, *ids, *socket, *selector;
	struct whose whose; // of the process that is held
	int8_t follows;
};

#define ROW holder_row
static const struct out_col holder_cols[] = {
	COL(pid, "PID", "pid", U64, D, "process that is held"),
	COL(comm, "COMMAND", "command", STR, D | T, "its name"),
	WHOSE_COLS(whose, M),
	COL(state, "STATE", "state", STR, D,
	    "suspended, kept (nothing suspended), waiting (no queue yet), silent (no answer), "
	    "paused (criu); following: a follower, or claimed: another user's process that calls "
	    "itself one"),
	COL(queues, "QUEUES", "queues", U64, D, "suspended queues"),
	COL(ids, "HELD_QIDS", "held_qids", LIST, D | W, "their ids"),
	COL(holder, "HOLDER", "holder", U64, D, "process that holds them"),
	COL(owner, "OWNER", "owner", STR, D | W, "user who owns the holder"),
	COL(held_ns, "SINCE", "held_ns", NS, D, "how long the first of them has been suspended"),
	COL(left_ns, "LEFT", "left_ns", NS, D, "time to the deadline, - without one"),
	COL(selector, "SELECTOR", "selector", STR, M | OUT_RARE,
	    "what a follower takes in, as options"),
	COL(unreached, "UNREACHED", "unreached", U64, M,
	    "queues of secondary contexts, which run on"),
	COL(socket, "SOCKET", "socket", STR, 0, "where the holder listens, see gpq-suspend(1)"),
	COL(follows, "FOLLOWS", "follows", BOOL, 0,
	    "queues that appear later are suspended as well"),
};
#undef ROW
const struct out_table holders_table = {"holders", "holder", holder_cols, COUNT(holder_cols)};
const struct schema holders_schema = {"gpq.suspend.list", 1, SCHEMA_TABLES(&holders_table), NULL};

struct held_row held_row_of(const struct group_member *m, const struct kfd_outcome *q)
{
	struct held_row row;
	out_clear(&held_table, &row);
	row.pid = (uint64_t)m->target.pid;
	row.at_ns = m->answered_ns;
	if (!q)
		return row;
	row.qid = q->queue.queue_id;
	row.result = kfd_result_name(q->result);
	if (q->result != KFD_RESULT_UNKNOWN)
		row.gpu = q->queue.gpu_id;
	if (q->result != KFD_RESULT_UNKNOWN && q->queue.queue_type <= KFD_SNAPSHOT_SDMA_XGMI) {
		row.type = kfd_snapshot_type_name(q->queue.queue_type);
		row.packets = kfd_snapshot_packets_name(q->queue.queue_type);
	}
	if (q->latency_ns)
		row.latency_ns = q->latency_ns;
	if (q->until_ns)
		row.until_ns = q->until_ns;
	if (m->link.answer.holder > 0)
		row.holder = (uint64_t)m->link.answer.holder;
	return row;
}

int held_begin(struct out *o)
{
	const int status = out_begin(o, &held_table, false);
	// Reading names takes time that a suspension has not.
	if (!status)
		out_leave_out(o, "COMMAND");
	return status;
}

void held_write(struct out *o, struct held_row *row)
{
	static struct process_cache known; // of all rows: one call writes many of one process
	if (out_wants(o, HELD_COMM)) {
		const struct process_info *p =
			process_cache_get(&known, (pid_t)row->pid, PROCESS_STATUS);
		row->comm = p->error ? NULL : p->proc.comm;
	}
	if (out_wants(o, HELD_USER) || out_wants(o, HELD_CONTAINER) || out_wants(o, HELD_POD))
		row->whose = whose_of(&known, (pid_t)row->pid);
	out_row(o, row);
}

void held_unreached(struct out *o, const struct group_member *m, struct held_sum *sum)
{
	size_t n = m->num_unreached, contexts = kfd_contexts_count(m->unreached, n);
	for (size_t i = 0; i < n; i++) {
		const struct kfd_queue *q = &m->unreached[i];
		struct held_row row = held_row_of(m, NULL);
		row.gpu = q->gpu_id ? q->gpu_id : U64_NULL;
		row.qid = q->qid;
		row.context = (uint64_t)q->context;
		row.type = kfd_queue_type_name(q->type); // sysfs does not tell AQL from PM4
		row.result = "unreachable";
		held_count(sum, GPQ_UNSUPPORTED);
		if (o)
			held_write(o, &row);
	}
	if (n)
		err_warn("gpq queues -o +CONTEXT_ID shows them",
			 "pid %d: %zu queue%s of %zu secondary context%s run%s on: the debug "
			 "interface does not reach them",
			 (int)m->target.pid, n, n == 1 ? "" : "s", contexts,
			 contexts == 1 ? "" : "s", n == 1 ? "s" : "");
}

bool held_is_unreached(const struct group_member *m, uint32_t qid)
{
	for (size_t i = 0; i < m->num_unreached; i++)
		if (m->unreached[i].qid == qid)
			return true;
	return false;
}

void held_unknown(const struct group_member *m, const struct kfd_outcome *q)
{
	if (held_is_unreached(m, q->queue.queue_id))
		err_warn(NULL, "pid %d: queue %u: only a secondary context has one of this id",
			 (int)m->target.pid, q->queue.queue_id);
	else
		err_warn("gpq queues lists them", "pid %d: no queue %u", (int)m->target.pid,
			 q->queue.queue_id);
}

int held_status(enum kfd_result r)
{
	switch (r) {
	case KFD_RESULT_SUSPENDED:
	case KFD_RESULT_ALREADY:
	case KFD_RESULT_RESUMED:
	case KFD_RESULT_RUNNING: return GPQ_OK;
	case KFD_RESULT_UNKNOWN: return GPQ_NOTFOUND;
	default: return GPQ_FAILED;
	}
}

void held_count(struct held_sum *s, int status)
{
	s->done += !status;
	s->failed += status != 0;
	s->first = s->first ? s->first : status;
}

int held_sum_status(const struct held_sum *s)
{
	return s->failed && s->done ? GPQ_PARTIAL : s->first;
}

static const char *holding_state_name(const struct kfd_holding *h)
{
	if (h->paused)
		return "paused";
	if (!h->answers)
		return "silent";
	return h->answer.held ? "suspended" : h->answer.kept ? "kept" : "waiting";
}

static uint64_t count_unreached(pid_t pid)
{
	struct kfd_queue *list;
	ssize_t n = kfd_contexts_unreached(pid, NULL, &list);
	free(list);
	return n < 0 ? U64_NULL : (uint64_t)n;
}

static void write_holder(struct out *o, const struct kfd_holding *h)
{
	const struct kfd_answer *a = &h->answer;
	uint64_t now = clock_ns();
	struct holder_row r = {.pid = (uint64_t)h->target,
			       .holder = a->holder > 0 ? (uint64_t)a->holder : U64_NULL,
			       .queues = h->answers ? a->held : U64_NULL,
			       .unreached = count_unreached(h->target),
			       .held_ns = a->since_ns ? now - a->since_ns : U64_NULL,
			       .left_ns = a->until_ns > now ? a->until_ns - now : U64_NULL,
			       .owner = h->paused ? NULL : proc_user(h->uid),
			       .state = holding_state_name(h),
			       .socket = h->socket,
			       .follows = h->answers  ? a->follows
					  : h->paused ? 1
						      : -1};
	SCOPED(process_cache_fini) struct process_cache known = {0};
	SCOPED(buf_fini) struct buf ids = {0};
	const struct process_info *p = process_cache_get(&known, h->target, PROCESS_STATUS);
	if (!p->error && p->proc.comm[0])
		r.comm = p->proc.comm;
	r.whose = whose_of(&known, h->target);
	for (size_t i = 0; i < a->num; i++)
		buf_printf(&ids, "%s%u", i ? " " : "", a->queues[i].queue.queue_id);
	r.ids = ids.data;
	out_row(o, &r);
}

static void write_follower(struct out *o, const struct follower *f)
{
	struct holder_row r;
	out_clear(&holders_table, &r);
	r.holder = (uint64_t)f->pid;
	r.owner = proc_user(f->uid);
	r.state = f->ours ? "following" : "claimed";
	r.selector = f->ours ? f->text + (f->text[0] == ' ') : NULL;
	out_row(o, &r);
}

int held_list(struct cmd *c, const struct pids *only)
{
	SCOPED(free_at) struct follower *following = NULL;
	struct kfd_holding *held;
	const size_t num = kfd_holdings(&held, true);
	const size_t num_following = only->given ? 0 : followers(&following);
	c->out.schema = &holders_schema;
	c->out.none = "nothing is suspended by gpq";
	struct out *o = out_open(&c->out);
	const int status = out_begin(o, &holders_table, false);
	if (!status && !num_following)
		out_leave_out(o, "SELECTOR");
	for (size_t i = 0; i < num && !status; i++)
		if (!only->given || pids_has(only, held[i].target))
			write_holder(o, &held[i]);
	for (size_t i = 0; i < num_following && !status; i++)
		write_follower(o, &following[i]);
	kfd_holdings_free(held, num);
	return out_finish(o, status);
}
