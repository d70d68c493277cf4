// Grid and workgroup shapes, and the unresolved items of a part of a log (partial.h).
#include "common/amdlog/model/summary_priv.h"

#include <string.h>

// Which of two shapes of the same size is shown must not depend on which came first.
static int order(const uint64_t a[3], const uint64_t b[3])
{
	for (int i = 0; i < 3; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

uint64_t amdlog_items(const uint64_t dim[3])
{
	uint64_t n;
	if (dim[0] == AMDLOG_UNKNOWN || __builtin_mul_overflow(dim[0], dim[1], &n) ||
	    __builtin_mul_overflow(n, dim[2], &n))
		return AMDLOG_UNKNOWN;
	return n;
}

void shapes_add(struct amdlog_shapes *s, const uint64_t dim[3])
{
	bool none = s->items_min > s->items_max;
	uint64_t items = amdlog_items(dim);
	if (items == AMDLOG_UNKNOWN)
		return;
	if (none || items < s->items_min || (items == s->items_min && order(dim, s->min) < 0)) {
		s->items_min = items;
		memcpy(s->min, dim, sizeof(s->min));
	}
	if (none || items > s->items_max || (items == s->items_max && order(dim, s->max) > 0)) {
		s->items_max = items;
		memcpy(s->max, dim, sizeof(s->max));
	}
}

void shapes_merge(struct amdlog_shapes *to, const struct amdlog_shapes *from)
{
	if (from->items_min > from->items_max)
		return;
	shapes_add(to, from->min);
	shapes_add(to, from->max);
}

const struct amdlog_unresolved unresolved_blank = {
	.process = AMDLOG_NONE,
	.queue = AMDLOG_NONE,
	.thread = AMDLOG_NONE,
	.object = AMDLOG_UNKNOWN,
	.span = SPAN_NONE,
	.grid = SHAPES_NONE,
	.workgroup = SHAPES_NONE,
};

// Counts for the one of this key, made when it is new; NULL: there are too many.
static struct amdlog_unresolved *open_add(struct amdlog_summary *s,
					  const struct amdlog_unresolved *key,
					  const struct amdlog_event *e)
{
	uint64_t bytes[5] = {key->process, key->queue, key->thread, key->object, key->value};
	uint32_t n = intern_put(&s->part.open_keys, bytes, sizeof(bytes));
	if (n > s->part.nopen) {
		s->no_memory = true;
		return NULL;
	}
	if (n == s->part.nopen) {
		ARRAY_GROW(s->part.open, s->part.open_cap, n);
		s->part.open[s->part.nopen++] = *key;
	}
	s->part.open[n].n++;
	s->part.open[n].torn += key->value && e->torn;
	span_add(&s->part.open[n].span, e->record->time_us);
	return &s->part.open[n];
}

void unresolved_dispatch(struct amdlog_summary *s, const struct amdlog_thread *t,
			 const struct amdlog_event *e, bool head)
{
	struct amdlog_unresolved key = unresolved_blank, *o;
	if (!head && e->packet->kernel_obj == AMDLOG_UNKNOWN)
		return; // there is nothing to name it by
	key.process = t->process;
	key.queue = e->queue;
	key.thread = head ? (uint32_t)(t - s->threads) : AMDLOG_NONE;
	key.object = e->packet->kernel_obj;
	o = open_add(s, &key, e);
	if (!o)
		return;
	shapes_add(&o->grid, e->packet->grid);
	shapes_add(&o->workgroup, e->packet->workgroup);
}

void unresolved_value(struct amdlog_summary *s, const struct amdlog_event *e)
{
	struct amdlog_unresolved key = unresolved_blank;
	key.process = s->threads[e->record->thread].process;
	key.object = e->packet->hwq;
	key.value = true;
	open_add(s, &key, e);
}
