// Counts over many readings how often each queue was in a slot, and moved; see slot_rows.h.
#include "common/slots/slot_rows.h"

static uint64_t taken_by_slot(const struct hqd_row *r)
{
	return queue_row_taken(&r->q, r->q.v[MQD_V_RPTR], r->q.v[MQD_V_WPTR],
			       gfx_caps(r->from.gen)->whole_wptr);
}

static struct hqd_seen *find_seen(struct slot_samples *s, size_t slot, const struct hqd_row *r)
{
	const uint64_t *y = r->q.v;
	for (size_t i = 0; i < s->n; i++) {
		const uint64_t *x = s->seen[i].row.q.v;
		if (s->seen[i].slot == slot && x[MQD_V_BASE] == y[MQD_V_BASE] &&
		    x[MQD_V_RING] == y[MQD_V_RING] && x[MQD_V_DOORBELL] == y[MQD_V_DOORBELL])
			return &s->seen[i];
	}
	return NULL;
}

static void add_sample(struct slot_samples *s, size_t slot, const struct hqd_row *r)
{
	struct hqd_seen *seen = find_seen(s, slot, r);
	if (!seen) {
		seen = ARRAY_ADD(s->seen, s->cap, s->n);
		*seen = (struct hqd_seen){.slot = slot, .first = taken_by_slot(r)};
	} else if (seen->row.q.v[MQD_V_RPTR] != r->q.v[MQD_V_RPTR] ||
		   seen->row.q.v[MQD_V_WPTR] != r->q.v[MQD_V_WPTR]) {
		seen->moved++;
	}
	seen->row = *r;
	seen->row.from.s = NULL;
	seen->last = taken_by_slot(r);
	seen->active++;
	seen->busy += r->idle == 0;
}

void slot_samples_add(struct slot_samples *s, const struct slot_rows *l)
{
	s->samples++;
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].active == 1 && !l->rows[i].q.hidden)
			add_sample(s, i, &l->rows[i]);
}

static int by_movement(const void *a, const void *b)
{
	const struct hqd_seen *x = a, *y = b;
	int r = ORDER(y->moved, x->moved);
	r = r ? r : ORDER(y->active, x->active);
	return r ? r : ORDER(x->slot, y->slot);
}

void slot_samples_finish(struct slot_samples *s)
{
	const double all = (double)s->samples;
	ARRAY_SORT(s->seen, s->n, by_movement);
	for (size_t i = 0; i < s->n; i++) {
		struct hqd_seen *x = &s->seen[i];
		x->share = (double)x->active / all;
		x->moved_share = s->samples > 1 ? (double)x->moved / (all - 1) : __builtin_nan("");
		x->busy_share = x->row.idle < 0 ? __builtin_nan("") : (double)x->busy / all;
		x->consumed = KFD_UNKNOWN;
		// Registers are read one after the other, so that pointers may seem to go back.
		if (x->first != KFD_UNKNOWN && x->last != KFD_UNKNOWN && x->last >= x->first)
			x->consumed = (x->last - x->first) / queue_row_unit(&x->row.q);
	}
}

void slot_samples_fini(struct slot_samples *s)
{
	free(s->seen);
	*s = (struct slot_samples){0};
}
