// The queues of a host at one moment, and two moments compared; see host_state.h.
#include "common/snapshot/host_state.h"
#include "common/reader/reader.h"

#include "common/cli/text.h"
#include "common/cli/err.h"
#include "common/cli/input.h"
#include "common/host/proc.h"
#include "common/host/root.h"

// --- the hardware slots of a queue ---

static unsigned xcc_of(const struct hqd *s)
{
	return s->xcc < 0 ? 0 : (unsigned)s->xcc;
}

// Writes the queue's slot on each XCC to q->slots. Each XCC has its own MQD, but all have the same
// doorbell, which is unique on a GPU.
static void name_slots(struct state_queue *q, const struct hqds *h, const struct hqd *first)
{
	size_t len = 0;
	uint64_t doorbell = 0, v;
	bool same = true;
	hqd_cp_get(h, first, MQD_V_DOORBELL, &doorbell);
	for (size_t i = 0; i < h->nslots && len < sizeof(q->slots); i++) {
		const struct hqd *s = &h->slots[i];
		if (s->node != first->node || !hqd_cp_get(h, s, MQD_V_DOORBELL, &v) ||
		    v != doorbell || (s != first && xcc_of(s) == xcc_of(first)))
			continue;
		same &= s->pipe == first->pipe && s->queue == first->queue;
		len += (size_t)snprintf(q->slots + len, sizeof(q->slots) - len, "%s%u:p%uq%u",
					len ? "," : "", xcc_of(s), s->pipe, s->queue);
	}
	if (same)
		snprintf(q->slots, sizeof(q->slots), "p%uq%u", first->pipe, first->queue);
}

// Sets on_hw and slots. A queue in no slot keeps row.on_hw, as it may be mapped all the same:
// queues take turns if there are more queues than slots, or more processes than VMIDs.
static void place_queue(struct state_queue *q, const struct host_state *m, const struct hqds *h,
			const struct hqd *slot)
{
	q->on_hw = slot ? 1 : q->row.on_hw;
	if (slot)
		name_slots(q, h, slot);
	else if (m->has_slots && q->row.v[MQD_V_BASE] != MQD_UNKNOWN && !queue_row_is_sdma(&q->row))
		snprintf(q->slots, sizeof(q->slots), "none");
}

// --- the progress of a queue ---

static void count_progress(struct state_queue *q, const struct host_state *m, uint64_t rptr,
			   uint64_t wptr)
{
	const struct queue_row *r = &q->row;
	const enum gfx_gen gen = queue_rows_gen(&m->list, (uint32_t)r->gpu_id);
	uint64_t read, write;
	if (!(r->packets || queue_row_is_sdma(r)) ||
	    !queue_row_indices(r, rptr, wptr, gfx_caps(gen)->whole_wptr, &read, &write))
		return;
	q->submitted = write;
	q->consumed = read;
	q->unit = queue_row_is_sdma(r) ? "bytes" : queue_row_is_aql(r) ? "packets" : "dwords";
}

static void read_pointers(struct state_queue *q, const struct host_state *m, const struct hqds *h,
			  const struct hqd *slot)
{
	const struct queue_row *r = &q->row;
	uint64_t rptr = r->v[MQD_V_RPTR], wptr = r->v[MQD_V_WPTR];
	if (slot && hqd_cp_get(h, slot, MQD_V_RPTR, &rptr) &&
	    hqd_cp_get(h, slot, MQD_V_WPTR, &wptr)) {
		q->pointers = "live";
		count_progress(q, m, rptr, wptr);
	} else if (q->on_hw != 0 && r->now.read != MQD_UNKNOWN && r->now.write != MQD_UNKNOWN) {
		q->pointers = "process";
		q->consumed = r->now.read;
		q->submitted = r->now.write;
		q->unit = queue_row_is_sdma(r) ? "bytes" : "packets"; // `now` has no PM4 indices
	} else if (rptr != MQD_UNKNOWN && wptr != MQD_UNKNOWN) {
		q->pointers = q->on_hw == 0 ? "saved" : "stale";
		count_progress(q, m, rptr, wptr);
	}
}

// --- loading a moment ---

// Orders queues by what identifies them: the id or, in dumps alone, doorbell, MQD and GPU. An
// unknown start time of a process equals any.
static int compare_state_queues(const struct state_queue *a, const struct state_queue *b)
{
	const struct queue_row *x = &a->row, *y = &b->row;
	const bool starts = a->start_ticks != KFD_UNKNOWN && b->start_ticks != KFD_UNKNOWN;
	int r = ORDER(x->pid, y->pid);
	r = r || !starts ? r : ORDER(a->start_ticks, b->start_ticks);
	r = r ? r : ORDER(x->context + 1, y->context + 1); // UINT64_MAX (primary) wraps: first
	r = r ? r : ORDER(x->qid, y->qid);
	if (r || x->qid != KFD_UNKNOWN)
		return r;
	r = ORDER(x->v[MQD_V_DOORBELL], y->v[MQD_V_DOORBELL]);
	r = r ? r : ORDER(x->v[MQD_V_BASE], y->v[MQD_V_BASE]);
	return r ? r : ORDER(x->gpu_id, y->gpu_id);
}

static int by_identity(const void *a, const void *b)
{
	return compare_state_queues(a, b);
}

static void fill_state_queues(struct host_state *m, const struct hqds *h)
{
	m->queues = xcalloc(m->list.n + 1, sizeof(*m->queues));
	for (size_t i = 0; i < m->list.n; i++) {
		const struct queue_row *r = &m->list.rows[i];
		if (m->by_doorbell ? r->v[MQD_V_DOORBELL] == MQD_UNKNOWN : r->qid == KFD_UNKNOWN)
			continue;
		struct state_queue *q = &m->queues[m->n++];
		*q = (struct state_queue){.row = *r,
					  .start_ticks = KFD_UNKNOWN,
					  .consumed = KFD_UNKNOWN,
					  .submitted = KFD_UNKNOWN};
		if (q > m->queues && q[-1].row.pid == r->pid)
			q->start_ticks = q[-1].start_ticks;
		else if (proc_start_ticks((pid_t)r->pid, &q->start_ticks))
			q->start_ticks = KFD_UNKNOWN;
		const struct hqd *slot = hqds_find(h, r->gpu_id, r->v[MQD_V_BASE]);
		place_queue(q, m, h, slot);
		read_pointers(q, m, h, slot);
	}
	if (m->by_doorbell && m->n < m->list.n)
		err_note("left out: %zu queue%s whose doorbells are unknown", m->list.n - m->n,
			 text_s(m->list.n - m->n));
	if (m->by_doorbell)
		ARRAY_SORT(m->queues, m->n, by_identity);
}

static int load_moment(struct host_state *m, const char *dir, const struct host_choice *by)
{
	SCOPED(hqds_fini) struct hqds slots = {0};
	SCOPED(buf_fini) struct buf text = {0};
	// The dumps (hqds, mqds) are read first and in a row, as they must be of the same moment.
	m->has_slots = reader_read(&text, HQDS_PATH) >= 0;
	if (!m->has_slots)
		err_note("%s: %s: %s: slots are unknown", dir, HQDS_PATH, strerror(errno));
	else
		hqds_parse(&slots, text.data ? text.data : "", text.len);
	int status = queue_rows_load(&m->list, &m->processes, &m->how);
	if (!status && m->list.mqds_error)
		err_note("%s: mqds: %s: on or off, priorities and pointers are unknown", dir,
			 strerror(m->list.mqds_error));
	if (!status && by)
		status = host_choose(&m->list, by);
	if (!status)
		fill_state_queues(m, &slots);
	host_read_line(m->host, sizeof(m->host), "/proc/sys/kernel/hostname");
	host_read_line(m->boot_id, sizeof(m->boot_id), "/proc/sys/kernel/random/boot_id");
	m->at_ns = proc_recorded_ns();
	return status;
}

int host_state_load(struct host_state *m, const char *dir, const struct host_choice *by)
{
	*m = (struct host_state){.name = dir,
				 .how = {.want = READ_GPU | READ_TYPE | READ_SIZE | READ_EVICTED |
						 READ_STATUS | READ_CMDLINE | READ_CONTAINER |
						 READ_MQD | READ_INDICES | READ_HOLDER,
					 .likely = true}};
	if (by)
		m->how.want |= host_choice_reads(by);
	int status = input_root(dir, "");
	m->by_doorbell = host_only_dumps() != NULL;
	if (!status && !m->by_doorbell && host_access("/sys/class/kfd/kfd", F_OK))
		status =
			err_fail(GPQ_UNSUPPORTED, "is it a directory that gpq snapshot made?",
				 "%s: no KFD driver: /sys/class/kfd/kfd: %s", dir, strerror(errno));
	status = status ? status : load_moment(m, dir, by);
	host_set_root(NULL);
	return status;
}

void host_state_drop_hidden(struct host_state *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->n; i++)
		if (!m->queues[i].row.hidden)
			m->queues[kept++] = m->queues[i];
	m->n = kept;
}

void host_state_fini(struct host_state *m)
{
	free(m->queues);
	queue_rows_fini(&m->list);
	process_cache_fini(&m->processes);
	*m = (struct host_state){0};
}

// --- two moments side by side ---

static bool numbers_differ(uint64_t a, uint64_t b)
{
	return a != KFD_UNKNOWN && b != KFD_UNKNOWN && a != b;
}

static bool texts_differ(const char *a, const char *b)
{
	return a && b && *a && *b && strcmp(a, b) != 0;
}

static bool is_certain(const struct queue_row *r)
{
	return r->mqd.match && strcmp(r->mqd.match, "likely") != 0;
}

static bool is_recycled(const struct queue_row *a, const struct queue_row *b)
{
	return numbers_differ(a->gpu_id, b->gpu_id) || texts_differ(a->type, b->type) ||
	       (is_certain(a) && is_certain(b) &&
		numbers_differ(a->v[MQD_V_BASE], b->v[MQD_V_BASE]));
}

static uint64_t growth(uint64_t a, uint64_t b)
{
	return a == KFD_UNKNOWN || b == KFD_UNKNOWN || b < a ? KFD_UNKNOWN : b - a;
}

static void measure_change(struct qdiff *d)
{
	const struct state_queue *a = d->before, *b = d->after;
	d->evicted_ns = growth(a->row.usage.evicted_ns, b->row.usage.evicted_ns);
	if (!a->pointers || !b->pointers || host_state_is_stale(a) || host_state_is_stale(b))
		return;
	d->consumed = growth(a->consumed, b->consumed);
	d->submitted = growth(a->submitted, b->submitted);
	d->unit = d->consumed == KFD_UNKNOWN && d->submitted == KFD_UNKNOWN ? NULL : b->unit;
}

static bool has_work(const struct state_queue *q)
{
	return q->on_hw != 0 && q->row.now.holder == INT64_MIN && q->submitted > q->consumed;
}

// Nothing was consumed of what there was at both moments, though the queue is on the hardware.
static bool is_stalled(const struct qdiff *d)
{
	return d->consumed == 0 && has_work(d->before) && has_work(d->after);
}

static bool has_grown(uint64_t v)
{
	return v != KFD_UNKNOWN && v > 0;
}

static void name_changes(struct buf *b, const struct qdiff *d)
{
	const struct queue_row *a = &d->before->row, *c = &d->after->row;
	const uint64_t *x = a->v, *y = c->v;
	const bool off = d->before->on_hw == 1 && d->after->on_hw == 0,
		   on = d->before->on_hw == 0 && d->after->on_hw == 1;
	const struct {
		bool is;
		const char *word;
	} all[] = {
		{off, "off"},
		{on, "on"},
		{!off && !on && texts_differ(d->before->slots, d->after->slots), "moved"},
		{numbers_differ(x[MQD_V_RING], y[MQD_V_RING]) ||
			 numbers_differ(x[MQD_V_RING_BYTES], y[MQD_V_RING_BYTES]),
		 "ring"},
		{numbers_differ(x[MQD_V_QUEUE_PRIO], y[MQD_V_QUEUE_PRIO]) ||
			 numbers_differ(x[MQD_V_PIPE_PRIO], y[MQD_V_PIPE_PRIO]),
		 "priority"},
		{has_grown(d->evicted_ns), "evicted"},
		{has_grown(d->consumed) || has_grown(d->submitted), "progress"},
		{d->stalled, "stalled"},
		{a->now.holder < 0 && c->now.holder >= 0, "suspended"},
		{a->now.holder >= 0 && c->now.holder < 0, "resumed"},
	};
	for (unsigned i = 0; i < COUNT(all); i++)
		if (all[i].is)
			buf_printf(b, "%s%s", b->len ? " " : "", all[i].word);
}

static void report_change(void (*each)(void *arg, const struct qdiff *d), void *arg,
			  struct buf *text, const struct state_queue *a,
			  const struct state_queue *b, bool apart)
{
	struct qdiff d = {.before = a,
			  .after = b,
			  .consumed = KFD_UNKNOWN,
			  .submitted = KFD_UNKNOWN,
			  .evicted_ns = KFD_UNKNOWN};
	text->len = 0;
	if (a && b) {
		measure_change(&d);
		d.stalled = apart && is_stalled(&d);
		name_changes(text, &d);
		d.changes = text->len ? text->data : NULL;
	} else {
		d.changes = a ? "went" : "came";
	}
	each(arg, &d);
}

void qdiff_run(const struct host_state *before, const struct host_state *after,
	       void (*each)(void *arg, const struct qdiff *d), void *arg)
{
	SCOPED(buf_fini) struct buf text = {0};
	const bool apart = before->at_ns && after->at_ns > before->at_ns;
	size_t i = 0, j = 0;
	while (i < before->n || j < after->n) {
		const struct state_queue *a = i < before->n ? &before->queues[i] : NULL;
		const struct state_queue *b = j < after->n ? &after->queues[j] : NULL;
		int order = !a ? 1 : !b ? -1 : compare_state_queues(a, b);
		i += order <= 0;
		j += order >= 0;
		if (order == 0 && is_recycled(&a->row, &b->row)) {
			report_change(each, arg, &text, a, NULL, apart);
			a = NULL;
		}
		report_change(each, arg, &text, order <= 0 ? a : NULL, order >= 0 ? b : NULL,
			      apart);
	}
}
