// Two moments side by side; see host_state.h.
#include "common/state/host_state.h"

#include <string.h>

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

// Unknown start times agree with any.
static int compare(const struct state_queue *a, const struct state_queue *b)
{
	const struct queue_row *x = a->row, *y = b->row;
	const bool starts = a->start_ticks != KFD_UNKNOWN && b->start_ticks != KFD_UNKNOWN;
	int r = ORDER(x->pid, y->pid);
	r = r || !starts ? r : ORDER(a->start_ticks, b->start_ticks);
	r = r ? r : ORDER(x->context + 1, y->context + 1); // none: first
	return r ? r : ORDER(x->qid, y->qid);
}

static bool differ(uint64_t a, uint64_t b)
{
	return a != KFD_UNKNOWN && b != KFD_UNKNOWN && a != b;
}

static bool texts_differ(const char *a, const char *b)
{
	return a && b && *a && *b && strcmp(a, b) != 0;
}

static bool is_certain(const struct queue_row *r)
{
	return r->match && strcmp(r->match, "likely") != 0;
}

static bool recycled(const struct queue_row *a, const struct queue_row *b)
{
	return differ(a->gpu_id, b->gpu_id) || texts_differ(a->type, b->type) ||
	       (is_certain(a) && is_certain(b) && differ(a->v[MQD_V_BASE], b->v[MQD_V_BASE]));
}

static uint64_t grown(uint64_t a, uint64_t b)
{
	return a == KFD_UNKNOWN || b == KFD_UNKNOWN || b < a ? KFD_UNKNOWN : b - a;
}

static void measure(struct qdiff *d)
{
	const struct state_queue *a = d->before, *b = d->after;
	d->evicted_ns = grown(a->row->evicted_ns, b->row->evicted_ns);
	if (!a->pointers || !b->pointers || host_state_is_stale(a) || host_state_is_stale(b))
		return;
	d->consumed = grown(a->consumed, b->consumed);
	d->submitted = grown(a->submitted, b->submitted);
	d->unit = d->consumed == KFD_UNKNOWN && d->submitted == KFD_UNKNOWN ? NULL : b->unit;
}

static bool has_grown(uint64_t v)
{
	return v != KFD_UNKNOWN && v > 0;
}

static void name_changes(struct buf *b, const struct qdiff *d)
{
	const struct queue_row *a = d->before->row, *c = d->after->row;
	const uint64_t *x = a->v, *y = c->v;
	const struct {
		bool is;
		const char *word;
	} all[] = {
		{d->before->on_hw == 1 && d->after->on_hw == 0, "off"},
		{d->before->on_hw == 0 && d->after->on_hw == 1, "on"},
		{texts_differ(d->before->slots, d->after->slots), "moved"},
		{differ(x[MQD_V_RING], y[MQD_V_RING]) ||
			 differ(x[MQD_V_RING_BYTES], y[MQD_V_RING_BYTES]),
		 "ring"},
		{differ(x[MQD_V_QUEUE_PRIO], y[MQD_V_QUEUE_PRIO]) ||
			 differ(x[MQD_V_PIPE_PRIO], y[MQD_V_PIPE_PRIO]),
		 "priority"},
		{has_grown(d->evicted_ns), "evicted"},
		{has_grown(d->consumed) || has_grown(d->submitted), "progress"},
		{a->holder < 0 && c->holder >= 0, "suspended"},
		{a->holder >= 0 && c->holder < 0, "resumed"},
	};
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].is)
			buf_printf(b, "%s%s", b->len ? " " : "", all[i].word);
}

static void report(void (*each)(void *arg, const struct qdiff *d), void *arg, struct buf *text,
		   const struct state_queue *a, const struct state_queue *b)
{
	struct qdiff d = {.before = a,
			  .after = b,
			  .consumed = KFD_UNKNOWN,
			  .submitted = KFD_UNKNOWN,
			  .evicted_ns = KFD_UNKNOWN};
	text->len = 0;
	if (a && b) {
		measure(&d);
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
	struct buf text = {0};
	size_t i = 0, j = 0;
	while (i < before->n || j < after->n) {
		const struct state_queue *a = i < before->n ? &before->queues[i] : NULL;
		const struct state_queue *b = j < after->n ? &after->queues[j] : NULL;
		int order = !a ? 1 : !b ? -1 : compare(a, b);
		i += order <= 0;
		j += order >= 0;
		if (order == 0 && recycled(a->row, b->row)) {
			report(each, arg, &text, a, NULL);
			a = NULL;
		}
		report(each, arg, &text, order <= 0 ? a : NULL, order >= 0 ? b : NULL);
	}
	buf_fini(&text);
}
