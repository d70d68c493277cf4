// The part of a queue's row that only a living host tells: its indices now, and who holds it off
// the GPU.
//
// Facts: kfd-facts 8 (backlog from the u64 indices in the process, which keep working while it is
// suspended), 2.7.
#include "common/state/queue_rows_priv.h"

#include "common/cli/err.h"
#include "common/host/root.h"
#include "common/holder/holder.h"
#include "common/holder/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct kfd_holding *holding_of(const struct queue_rows *q, const struct queue_row *r)
{
	const struct kfd_holding *h = kfd_holding_of(q->holdings, q->nholdings, (pid_t)r->pid);
	// The debug interface reaches the primary context alone, and ids count in each anew.
	if (r->context != KFD_UNKNOWN)
		return NULL;
	for (size_t i = 0; h && i < h->answer.num; i++)
		if (h->answer.queues[i].queue.queue_id == r->qid)
			return h;
	return NULL;
}

// Only AQL and SDMA: a PM4 queue's read pointer wraps at the ring's end, its write index does not.
static void fill_indices(struct queue_row *r)
{
	struct kfd_queue_entry where = {.read_pointer_address = r->rptr_addr,
					.write_pointer_address = r->wptr_addr};
	struct kfd_quiesce now;
	bool counts = r->packets ? strcmp(r->packets, "aql") == 0
				 : r->type && strncmp(r->type, "sdma", 4) == 0;
	if (!counts || r->rptr_addr == MQD_UNKNOWN || r->wptr_addr == MQD_UNKNOWN)
		return;
	kfd_quiesce_read((pid_t)r->pid, &where, 0, &now);
	if (!now.has_indices)
		return;
	r->read_now = now.read_index;
	r->write_now = now.write_index;
	// The GPU may take packets between the two reads, never put any.
	r->backlog = now.write_index > now.read_index ? now.write_index - now.read_index : 0;
}

// A number of a .now file, or "-": then *to stays. What follows it.
static const char *take_number(const char *text, uint64_t *to)
{
	char *end;
	uint64_t v = strtoull(text, &end, 10);
	if (end == text)
		return text + strcspn(text, " \n") + (*text != '\0');
	*to = v;
	return end + (*end == ' ');
}

// What gpq snapshot noted of a queue, "READ WRITE HOLDER": a replay has no process to ask.
static void fill_recorded(const struct queue_rows *q, struct queue_row *r)
{
	struct buf b = {0};
	char context[32] = "";
	uint64_t holder = KFD_UNKNOWN, read = MQD_UNKNOWN, write = MQD_UNKNOWN;
	if (r->context != KFD_UNKNOWN)
		snprintf(context, sizeof(context), "context_%u/", (unsigned)r->context);
	if (host_readf(&b, "/sys/class/kfd/kfd/proc/%d/%squeues/%u/.now", (int)r->pid, context,
		       (unsigned)r->qid) > 0)
		take_number(take_number(take_number(b.data, &read), &write), &holder);
	buf_fini(&b);
	if (q->how->want & READ_HOLDER && holder <= INT32_MAX)
		r->holder = (int64_t)holder;
	if (!(q->how->want & READ_INDICES) || read == MQD_UNKNOWN || write == MQD_UNKNOWN)
		return;
	r->read_now = read;
	r->write_now = write;
	r->backlog = write > read ? write - read : 0;
}

static const char *state_of(const struct queue_row *r)
{
	if (r->holder != INT64_MIN)
		return "suspended";
	if (r->on_hw < 0)
		return r->turns ? "turns" : "unknown";
	if (!r->on_hw)
		return "off-hardware";
	return r->backlog == MQD_UNKNOWN ? "mapped" : r->backlog ? "running" : "idle";
}

int queue_rows_load_holdings(struct queue_rows *q)
{
	bool live = host_is_live() && pids_are_host() && !q->how->mqds_file;
	bool wanted = q->how->want & (READ_HOLDER | READ_INDICES);
	// Only gpq snapshot notes these, and it always writes a MANIFEST: other trees are not
	// searched for them.
	q->noted = wanted && !host_is_live() && !q->how->mqds_file &&
		   host_access("/MANIFEST", F_OK) == 0;
	if (!live || !(q->how->want & READ_HOLDER))
		return GPQ_OK;
	q->nholdings = kfd_holdings(&q->holdings);
	return GPQ_OK;
}

void queue_rows_fill_live(const struct queue_rows *q, struct queue_row *r)
{
	const struct kfd_holding *h = holding_of(q, r);
	bool live = host_is_live() && pids_are_host() && !q->how->mqds_file;
	if (h && h->answer.holder)
		r->holder = h->answer.holder;
	if (live && (q->how->want & READ_INDICES))
		fill_indices(r);
	if (q->noted && r->qid != KFD_UNKNOWN)
		fill_recorded(q, r);
	r->state = state_of(r);
}

static bool is_off(const struct queue_row *r)
{
	return r->state && strcmp(r->state, "off-hardware") == 0;
}

// Among the rows of one process: is this queue off along with all others of its context on its GPU?
static bool all_off(const struct queue_row *rows, size_t n, const struct queue_row *r)
{
	if (!is_off(r) || r->gpu_id == KFD_UNKNOWN)
		return false;
	for (size_t i = 0; i < n; i++)
		if (rows[i].gpu_id == r->gpu_id && rows[i].context == r->context &&
		    rows[i].qid != KFD_UNKNOWN && !is_off(&rows[i]))
			return false;
	return true;
}

// Is there nobody who could have suspended it? Debuggers reach the primary context alone. They
// trace its process, unless the driver lets them detach and go on.
static bool cannot_be_held(const struct queue_rows *q, const struct queue_row *r)
{
	return r->context != KFD_UNKNOWN ||
	       (r->traced == 0 &&
		kfd_driver_fact(&q->driver, KFD_FACT_UNTRACED_DEBUGGER) == KFD_ANSWER_NO);
}

// Only the driver takes all queues of a process off a GPU, when no debugger can have done so. In
// two steps, as each queue is judged by the states of the others.
static void find_evicted(const struct queue_rows *q, struct queue_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct queue_row *r = &rows[i];
		bool off = all_off(rows, n, r);
		r->evicted = off && cannot_be_held(q, r);
		r->doubtful = off && !r->evicted && r->traced == 0;
	}
	for (size_t i = 0; i < n; i++)
		if (rows[i].evicted)
			rows[i].state = "evicted";
}

void queue_rows_find_evicted(struct queue_rows *q)
{
	for (size_t i = 0, n; i < q->n; i += n) {
		for (n = 1; i + n < q->n && q->rows[i + n].pid == q->rows[i].pid;)
			n++;
		find_evicted(q, &q->rows[i], n);
	}
}
