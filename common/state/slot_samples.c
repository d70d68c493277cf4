// Sampling slots; see slot_samples.h.
#include "common/state/slot_samples.h"

#include "common/host/buf.h"

#include <stdlib.h>
#include <string.h>

enum { AQL_DWORDS = 16 };

// What the GPU took from the ring in all: what was written, less what waits. Write pointers count
// for ever but for gfx8's, which stay inside the ring.
static uint64_t position(const struct hqd_row *r)
{
	bool sdma = strcmp(r->kind, "sdma") == 0;
	uint64_t ring = sdma ? r->ring_bytes : r->ring_bytes / 4;
	if (r->rptr == KFD_UNKNOWN || r->wptr == KFD_UNKNOWN || r->ring_bytes == KFD_UNKNOWN ||
	    !ring || !gfx_caps(r->gen)->whole_wptr)
		return KFD_UNKNOWN;
	uint64_t waiting = (r->wptr - r->rptr) & (ring - 1);
	return waiting > r->wptr ? KFD_UNKNOWN : r->wptr - waiting;
}

static bool is_same(const struct hqd_row *a, const struct hqd_row *b)
{
	return a->mqd_addr == b->mqd_addr && a->ring_addr == b->ring_addr &&
	       a->doorbell == b->doorbell;
}

static struct hqd_seen *find(struct slot_samples *s, size_t slot, const struct hqd_row *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->seen[i].slot == slot && is_same(&s->seen[i].row, r))
			return &s->seen[i];
	return NULL;
}

static struct hqd_seen *add_seen(struct slot_samples *s, size_t slot, const struct hqd_row *r)
{
	if (ARRAY_GROW(s->seen, s->cap, s->n))
		return NULL;
	struct hqd_seen *seen = &s->seen[s->n++];
	*seen = (struct hqd_seen){.row = *r, .slot = slot, .first = position(r)};
	return seen;
}

static int add_slot(struct slot_samples *s, size_t slot, const struct hqd_row *r)
{
	struct hqd_seen *seen = find(s, slot, r);
	if (!seen) {
		seen = add_seen(s, slot, r);
		if (!seen)
			return -1;
	} else if (seen->row.rptr != r->rptr || seen->row.wptr != r->wptr) {
		seen->moved++;
	}
	seen->row = *r;
	// What the row owns stays with the list, and its names move with the array.
	seen->row.errors_text = NULL;
	if (r->error)
		seen->row.errors = NULL;
	seen->row.hqd = NULL;
	seen->last = position(r);
	seen->active++;
	seen->busy += r->idle == 0;
	return 0;
}

int slot_samples_add(struct slot_samples *s, const struct slot_rows *l)
{
	s->samples++;
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].active == 1 && !l->rows[i].hidden && add_slot(s, i, &l->rows[i]))
			return -1;
	return 0;
}

static int by_movement(const void *a, const void *b)
{
	const struct hqd_seen *x = a, *y = b;
	if (x->moved != y->moved)
		return x->moved > y->moved ? -1 : 1;
	if (x->active != y->active)
		return x->active > y->active ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

void slot_samples_finish(struct slot_samples *s)
{
	const double all = (double)s->samples;
	if (s->n)
		qsort(s->seen, s->n, sizeof(*s->seen), by_movement);
	for (size_t i = 0; i < s->n; i++) {
		struct hqd_seen *x = &s->seen[i];
		bool aql = x->row.packets && strcmp(x->row.packets, "aql") == 0;
		x->row.slot = x->row.slot_text;
		x->share = (double)x->active / all;
		x->moved_share = s->samples > 1 ? (double)x->moved / (all - 1) : __builtin_nan("");
		x->busy_share = x->row.idle < 0 ? __builtin_nan("") : (double)x->busy / all;
		x->consumed = KFD_UNKNOWN;
		// Registers are read one after the other: pointers of two moments can go backwards.
		if (x->first != KFD_UNKNOWN && x->last != KFD_UNKNOWN && x->last >= x->first)
			x->consumed = (x->last - x->first) / (aql ? AQL_DWORDS : 1);
	}
}

void slot_samples_fini(struct slot_samples *s)
{
	free(s->seen);
	*s = (struct slot_samples){0};
}
