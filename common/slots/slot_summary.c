// Slot occupancy, over-subscription, queues without a slot; see slot_rows.h.
#include "common/slots/slot_rows.h"

// --- what each queue does ---

enum mapped { MAPPED_NO, MAPPED_YES, MAPPED_UNKNOWN };

static enum mapped mqd_is_mapped(const struct slot_summary *s, const struct slot_rows *l,
				 uint32_t mqd)
{
	if (s->on[mqd])
		return MAPPED_YES;
	switch (l->queues.verdicts[mqd]) {
	case RESIDENCY_OFF: return MAPPED_NO;
	case RESIDENCY_ON:
	case RESIDENCY_TURNS: return MAPPED_YES;
	default: return MAPPED_UNKNOWN;
	}
}

// --- over-subscription ---

struct load { // numbers of queues of one GPU and type: mapped, and perhaps mapped
	uint64_t wanted, unknown;
};

// Counts the queues that are of the GPU and type of `slots`.
static struct load load_of(const struct slot_summary *s, const struct slot_rows *l,
			   const struct queue_row *slots)
{
	const struct mqds *m = &l->queues.mqds;
	struct load load = {0};
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const char *type = queue_rows_mqd_type(&l->queues, i);
		if (m->queues[i].gpu_id != slots->gpu_id || !type || strcmp(type, slots->type) != 0)
			continue;
		enum mapped is = mqd_is_mapped(s, l, i);
		load.wanted += is == MAPPED_YES;
		load.unknown += is == MAPPED_UNKNOWN;
	}
	return load;
}

static uint64_t gws_processes(const struct rls *r, const struct rls_node *n)
{
	uint64_t sum = 0;
	for (uint32_t i = n->process; i < n->process + n->processes; i++)
		sum += r->processes[i].gws > 0;
	return sum;
}

static void judge_over(struct hqd_occupancy *o, const struct slot_rows *l, const struct load *load)
{
	const struct rls_node *n = rls_find(&l->queues.rls, (uint32_t)o->q.gpu_id);
	bool list = n && n->state == RLS_DUMP && !n->damaged;
	bool many = load->wanted > o->slots;
	if (list)
		o->over = n->chained;
	else if (many || !load->unknown)
		o->over = many;
	if (o->over != 1)
		return;
	o->why = many || !list                          ? "compute queues"
		 : gws_processes(&l->queues.rls, n) > 1 ? "gws"
							: "processes";
}

// --- occupancy ---

// Finds or adds the record of the type and XCC of `r`; those of its GPU begin at `first`.
static struct hqd_occupancy *occupancy_of(struct slot_summary *s, size_t first,
					  const struct hqd_row *r)
{
	for (size_t i = first; i < s->nxccs; i++)
		if (s->xccs[i].xcc == r->xcc && strcmp(s->xccs[i].q.type, r->q.type) == 0)
			return &s->xccs[i];
	struct hqd_occupancy *o = ARRAY_ADD(s->xccs, s->cap_xccs, s->nxccs);
	*o = (struct hqd_occupancy){.q = r->q, .xcc = r->xcc, .over = -1};
	return o;
}

static void finish_xcc(struct hqd_occupancy *o, const struct slot_summary *s,
		       const struct slot_rows *l)
{
	const struct load load = load_of(s, l, &o->q);
	o->free = o->used == UINT64_MAX ? UINT64_MAX : o->slots - o->used;
	o->rate = o->used == UINT64_MAX ? __builtin_nan("") : (double)o->used / (double)o->slots;
	o->queues = l->has_mqds ? load.wanted : UINT64_MAX;
	// An SDMA queue gets its slot when it is created: there are never more queues than slots.
	if (queue_row_is_sdma(&o->q))
		o->over = 0;
	else if (l->has_mqds)
		judge_over(o, l, &load);
}

static void count_slots(struct slot_summary *s, const struct slot_rows *l)
{
	size_t first = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct hqd_row *r = &l->rows[i];
		if (!r->from.s || r->from.s->kind == HQD_HIQ)
			continue;
		if (s->nxccs && s->xccs[s->nxccs - 1].q.gpu_id != r->q.gpu_id)
			first = s->nxccs;
		struct hqd_occupancy *o = occupancy_of(s, first, r);
		o->slots++;
		if (r->active < 0)
			o->used = UINT64_MAX;
		else if (o->used != UINT64_MAX)
			o->used += (uint64_t)r->active;
	}
	for (size_t i = 0; i < s->nxccs; i++)
		finish_xcc(&s->xccs[i], s, l);
}

// --- processes that share a GPU ---

static bool is_oversubscribed(const struct slot_summary *s, uint64_t gpu_id)
{
	for (size_t i = 0; i < s->nxccs; i++)
		if (s->xccs[i].q.gpu_id == gpu_id && s->xccs[i].over == 1)
			return true;
	return false;
}

static struct hqd_sharer *sharer_of(struct slot_summary *s, const struct slot_rows *l, uint32_t mqd)
{
	const uint32_t gpu_id = l->queues.mqds.queues[mqd].gpu_id;
	const pid_t pid = slot_rows_pid(l, mqd);
	for (size_t i = 0; i < s->nsharers; i++)
		if (s->sharers[i].q.gpu_id == gpu_id &&
		    s->sharers[i].q.pid == (pid < 0 ? INT64_MIN : pid))
			return &s->sharers[i];
	struct hqd_sharer *to = ARRAY_ADD(s->sharers, s->cap_sharers, s->nsharers);
	to->queues = to->slots = 0;
	queue_row_clear(&to->q);
	queue_row_set_gpu(&l->queues, &to->q, gpu_id);
	queue_row_set_process(&l->queues, &to->q, pid);
	return to;
}

static int most_first(const void *a, const void *b)
{
	const struct hqd_sharer *x = a, *y = b;
	int r = ORDER(x->q.gpu_id, y->q.gpu_id);
	r = r ? r : ORDER(y->queues, x->queues);
	return r ? r : ORDER(x->q.pid, y->q.pid);
}

static void count_sharers(struct slot_summary *s, const struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	for (uint32_t i = 0; i < m->nqueues; i++) {
		if (m->queues[i].kind != MQD_COMPUTE || mqd_is_mapped(s, l, i) == MAPPED_NO ||
		    !is_oversubscribed(s, m->queues[i].gpu_id))
			continue;
		struct hqd_sharer *to = sharer_of(s, l, i);
		to->queues++;
		to->slots += s->on[i] != 0;
	}
	ARRAY_SORT(s->sharers, s->nsharers, most_first);
}

// --- queues without a slot ---

static void set_reason(struct hqd_waiting *w, const char *why, const char *reason)
{
	w->why = why;
	w->reason = reason;
}

// True if the dump has slots of the queue's GPU and type but does not tell whether they are in use.
static bool is_unclear(const struct slot_summary *s, const struct hqd_waiting *w)
{
	for (size_t i = 0; i < s->nxccs; i++)
		if (s->xccs[i].q.gpu_id == w->q.gpu_id &&
		    strcmp(s->xccs[i].q.type, w->q.type) == 0 && s->xccs[i].used == UINT64_MAX)
			return true;
	return false;
}

static void find_reason(struct hqd_waiting *w, const struct slot_summary *s,
			const struct slot_rows *l)
{
	const struct hqds_node *n = NULL;
	for (size_t i = 0; i < l->hqds.nnodes && !n; i++)
		if (l->hqds.nodes[i].gpu_id == w->q.gpu_id)
			n = &l->hqds.nodes[i];
	enum residency verdict = l->queues.verdicts[w->q.mqd.index];
	if (n && n->stopped)
		set_reason(w, "no-slots", "its GPU is stopped: suspended, resetting or broken");
	else if (w->q.now.holder != INT64_MIN)
		set_reason(w, "suspended", "gpq suspend holds it off");
	else if (verdict == RESIDENCY_OFF)
		set_reason(w, "off",
			   "not to run: evicted, suspended by a debugger, or disabled by its "
			   "program; the dumps do not tell which");
	else if (!n)
		set_reason(w, "no-slots",
			   l->captured && !l->how->hqds_file
				   ? "no dump of slots was given: --hqds FILE"
				   : "the dump of slots does not have its GPU");
	else if (is_unclear(s, w))
		set_reason(w, "unknown", "whether these slots are in use the dump does not tell");
	else if (is_oversubscribed(s, w->q.gpu_id) || verdict == RESIDENCY_TURNS)
		set_reason(w, "takes-turns",
			   "its GPU is over-subscribed and queues take turns: --sample shows how "
			   "often it runs");
	else if (verdict == RESIDENCY_ON || s->on[w->q.mqd.index])
		set_reason(w, "moving",
			   "mapped: it was just put on or taken off while the slots were read");
	else
		set_reason(w, "unknown", residency_text(verdict));
}

// Did a queue that takes turns have work when it was taken off? The pointers in its MQD are of then
// if dword 130 is 0, and the firmware writes that dword [debugfs.mqd-active], [debugfs.mqd-stale].
static bool had_work(const struct slot_rows *l, const struct queue_row *r)
{
	const struct mqd *q = &l->queues.mqds.queues[r->mqd.index];
	const enum gfx_gen gen = l->queues.gens[r->mqd.index];
	const uint64_t waits = queue_row_waiting(r, r->v[MQD_V_RPTR], r->v[MQD_V_WPTR]);
	bool off = l->queues.verdicts[r->mqd.index] == RESIDENCY_TURNS;
	uint64_t active = 0;
	for (unsigned x = 0; x < q->dumps; x++)
		off &= mqd_get(&l->queues.mqds, q, gen, x, MQD_V_ACTIVE, &active) && !active;
	return off && gfx_caps(gen)->active_written && waits && waits != MQD_UNKNOWN;
}

// The XCCs that a queue belongs on, as bits. SDMA queues count as on XCC 0. A PM4 queue runs on one
// XCC, though it has an MQD for each (kfd_mqd_manager_v9.c, pm4_target_xcc).
static uint64_t belongs_on(const struct slot_summary *s, const struct slot_rows *l, uint32_t mqd)
{
	const struct mqd *q = &l->queues.mqds.queues[mqd];
	if (q->kind == MQD_SDMA || q->dumps < 2 || !l->queues.summaries[mqd].v[MQD_V_AQL])
		return s->on[mqd] ? s->on[mqd] : 1;
	return q->dumps >= HQDSUM_XCCS ? UINT64_MAX : (1ull << q->dumps) - 1;
}

static void find_waiting(struct slot_summary *s, const struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const uint8_t kind = m->queues[i].kind;
		const uint64_t belongs = belongs_on(s, l, i);
		if ((kind != MQD_COMPUTE && kind != MQD_SDMA) || !(belongs & ~s->on[i]))
			continue;
		struct hqd_waiting *w = ARRAY_ADD(s->waiting, s->cap_waiting, s->nwaiting);
		*w = (struct hqd_waiting){
			.xccs = (uint64_t)__builtin_popcountll(belongs),
			.missing = (uint64_t)__builtin_popcountll(belongs & ~s->on[i]),
		};
		queue_row_clear(&w->q);
		slot_rows_set_mqd(l, &w->q, i);
		find_reason(w, s, l);
		if (!s->on[i] && strcmp(w->why, "takes-turns") == 0 && had_work(l, &w->q))
			slot_rows_find_inversion(&w->inversion, l, &w->q);
	}
}

void slot_summary_make(struct slot_summary *s, const struct slot_rows *l)
{
	*s = (struct slot_summary){0};
	s->on = xcalloc(l->queues.mqds.nqueues + 1, sizeof(*s->on));
	for (size_t i = 0; i < l->n; i++) {
		const struct hqd_row *r = &l->rows[i];
		if (r->from.s && r->q.mqd.index != UINT32_MAX && r->active == 1)
			s->on[r->q.mqd.index] |= 1ull << (r->xcc < HQDSUM_XCCS ? r->xcc : 0);
	}
	count_slots(s, l);
	count_sharers(s, l);
	find_waiting(s, l);
}

void slot_summary_fini(struct slot_summary *s)
{
	free(s->xccs);
	free(s->sharers);
	free(s->waiting);
	free(s->on);
	*s = (struct slot_summary){0};
}
