// Priority inversion: a queue of lower priority is in a slot while another waits; see slot_rows.h.
#include "common/slots/slot_rows.h"

// Priorities are compared where both are known, else their levels, which Linux 7.0 and later write
// alone [kfd.priority].
static enum mqd_value compared_by(const struct queue_row *a, const struct queue_row *b)
{
	const uint64_t x = a->v[MQD_V_QUEUE_PRIO], y = b->v[MQD_V_QUEUE_PRIO];
	return x != MQD_UNKNOWN && y != MQD_UNKNOWN ? MQD_V_QUEUE_PRIO : MQD_V_PIPE_PRIO;
}

static bool is_lower(const struct queue_row *a, const struct queue_row *b)
{
	const enum mqd_value by = compared_by(a, b);
	return a->v[by] < b->v[by] && (by == MQD_V_QUEUE_PRIO || b->level);
}

static void tell_prioritized(struct buf *b, const struct queue_row *r, enum mqd_value by)
{
	if (r->qid == KFD_UNKNOWN)
		buf_puts(b, "a queue");
	else
		buf_printf(b, "queue %" PRIu64, r->qid);
	buf_printf(b, " of pid %" PRId64 " (priority ", r->pid);
	if (by == MQD_V_QUEUE_PRIO)
		buf_printf(b, "%" PRIu64 ")", r->v[by]);
	else
		buf_printf(b, "%s)", r->level);
}

void slot_rows_find_inversion(struct slot_inversion *to, const struct slot_rows *l,
			      const struct queue_row *q)
{
	SCOPED(buf_fini) struct buf b = {0};
	const struct hqd_row *low = NULL;
	// A PM4 queue runs on one XCC, and nothing tells on which while it is off.
	const bool any_xcc = q->v[MQD_D_XCCS] == 1 || queue_row_is_aql(q);
	*to = (struct slot_inversion){0};
	for (size_t i = 0; i < l->n && any_xcc; i++) {
		const struct hqd_row *r = &l->rows[i];
		if (r->active == 1 && r->q.pid >= 0 && r->q.gpu_id == q->gpu_id &&
		    strcmp(r->q.type, "compute") == 0 && is_lower(&r->q, low ? &low->q : q))
			low = r;
	}
	if (!low)
		return;
	tell_prioritized(&b, q, compared_by(&low->q, q));
	buf_puts(&b, " waits while ");
	tell_prioritized(&b, &low->q, compared_by(&low->q, q));
	buf_printf(&b, " is in slot %s of XCC %" PRIu64, low->slot, low->xcc);
	snprintf(to->text, sizeof(to->text), "%s", b.data);
	to->pid = low->q.pid;
}
