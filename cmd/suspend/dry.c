// gpq suspend --dry-run: what would be held. Nothing is traced or suspended, so this works on a
// recorded host as well.
#include "cmd/suspend/suspend.h"

#include "common/rows/queue_rows.h"

static bool is_target(const void *all, pid_t pid)
{
	return group_has(all, pid);
}

static bool is_selected(const struct group_member *m, const struct queue_row *r)
{
	const struct kfd_queue_entry e = {.queue_id = (uint32_t)r->qid,
					  .gpu_id = (uint32_t)r->gpu_id};
	return r->pid == m->target.pid && r->qid != U64_NULL && kfd_selected(m->sel, &e);
}

// Writes rows of the queues that were named and do not exist. Returns their number.
static size_t write_missing(struct out *o, const struct group_member *m, const struct queue_rows *q)
{
	size_t n = 0;
	for (unsigned k = 0; k < m->sel->num_ids; k++) {
		const struct kfd_outcome none = {.queue.queue_id = m->sel->ids[k],
						 .result = KFD_RESULT_UNKNOWN};
		struct held_row row = held_row_of(m, &none);
		bool found = false;
		for (size_t i = 0; i < q->n && !found; i++)
			found = q->rows[i].qid == row.qid && is_selected(m, &q->rows[i]);
		if (found)
			continue;
		held_unknown(m, &none);
		held_write(o, &row);
		n++;
	}
	return n;
}

// Writes the rows of one target. Returns their number; *beyond grows by those that no holder
// reaches.
static size_t write_target(struct out *o, const struct group_member *m, const struct queue_rows *q,
			   size_t *beyond)
{
	size_t n = 0;
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_row *r = &q->rows[i];
		struct held_row row = held_row_of(m, NULL);
		if (!is_selected(m, r))
			continue;
		row.gpu = r->gpu_id;
		row.qid = r->qid;
		row.context = r->context;
		row.type = r->type;
		row.packets = r->packets;
		row.at_ns = U64_NULL;
		*beyond += r->context != U64_NULL;
		row.result = r->context == U64_NULL ? "chosen" : "unreachable";
		held_write(o, &row);
		n++;
	}
	return n;
}

// Says why a target has no row. A process without KFD fails, as it does when it is to be held.
static int no_queue(const struct group_member *m, const struct queue_rows *q)
{
	const int pid = (int)m->target.pid;
	struct proc p;
	if (proc_read(&p, pid))
		return err_fail(GPQ_NOTFOUND, "gpq queues lists those that own queues",
				"pid %d: no such process", pid);
	if (pids_are_host() && !kfd_procs_find(&q->procs, pid))
		return err_fail(GPQ_NOTFOUND, "gpq queues lists those that have",
				"pid %d: it has not opened /dev/kfd: not a KFD process", pid);
	if (!m->sel->num_ids)
		err_hint("queues that appear would be suspended",
			 "pid %d: it has no queue that is chosen", pid);
	return GPQ_OK;
}

// Prints the sum of the rows for people: how many queues would be held, for how long, and how many
// cannot be.
static void say_dry(const struct suspend_opts *o, bool command, size_t queues, size_t beyond,
		    size_t processes)
{
	char time[24];
	SCOPED(buf_fini) struct buf until = {0};
	if (command)
		buf_puts(&until, "while COMMAND runs");
	else if (o->for_ns != NO_DEADLINE)
		buf_printf(&until, "for %s", text_ns(time, o->for_ns));
	else
		buf_puts(&until, "until gpq resume");
	if (beyond)
		buf_printf(&until, "; not held: %zu that are unreachable", beyond);
	queues -= beyond;
	err_hint("memory stays on the GPU", "would hold %zu queue%s of %zu process%s%s %s", queues,
		 queues == 1 ? "" : "s", processes, processes == 1 ? "" : "es",
		 o->queues.ids.n ? "" : ", and new ones,", until.data);
}

int suspend_dry(struct cmd *c, struct group *all, const struct suspend_opts *opts)
{
	const struct queue_rows_how how = {
		.want = READ_TYPE | READ_GPU | READ_MQD, .keep = is_target, .arg = all};
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	SCOPED(queue_rows_fini) struct queue_rows q = {0};
	size_t rows = 0, failed = 0, beyond = 0, targets = 0;
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &held_table, false), one;
	if (!status)
		status = queue_rows_load(&q, &processes, &how);
	for (size_t i = 0; i < all->n && !status; i++) {
		if (all->v[i]->state == MEMBER_FAILED)
			continue;
		const size_t n = write_target(o, all->v[i], &q, &beyond);
		rows += n;
		targets += n > 0;
		failed += !n && no_queue(all->v[i], &q) ? 1 : write_missing(o, all->v[i], &q);
	}
	status = out_finish(o, status);
	one = targets_report(all);
	if (!status && rows && opts && c->out.mode == OUT_TABLE)
		say_dry(opts, c->argc > 0, rows, beyond, targets);
	if (!status && failed)
		status = rows || failed < all->n ? GPQ_PARTIAL : GPQ_NOTFOUND;
	return status ? status : one;
}
