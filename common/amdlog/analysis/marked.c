// Queues in marked windows; see marked.h.
#include "common/amdlog/analysis/marked.h"

#include "common/host/buf.h"

#include <stdlib.h>
#include <string.h>

static struct marked_cell *marked_cell_at(struct amdlog_marked *m, size_t window, uint32_t queue)
{
	struct pair key = {window, queue};
	uint32_t n, before = m->pairs.n;
	m->pairs.max_entries = MARKED_MAX;
	n = intern_put(&m->pairs, &key, sizeof(key));
	if (n == INTERN_NONE) {
		m->incomplete = true;
		return NULL;
	}
	ARRAY_REACH(m->cells, m->cells_cap, n, 0);
	if (n == before) {
		memset(&m->cells[n], 0xff, sizeof(m->cells[n])); // AMDLOG_UNKNOWN
		m->cells[n].dispatches = 0;
	}
	return &m->cells[n];
}

// The time from one dispatch to the next, as far as windows lie in it.
static void mark_gap(struct amdlog_marked *m, uint32_t queue, uint64_t begin, uint64_t end)
{
	const struct amdlog_windows *w = m->windows;
	size_t i = amdlog_windows_seek(w, begin);
	while ((i = amdlog_windows_next(w, i, begin, end)) < w->n) {
		struct marked_cell *c = marked_cell_at(m, i, queue);
		if (!c)
			return;
		if (c->gap_begin_us == AMDLOG_UNKNOWN ||
		    end - begin > c->gap_end_us - c->gap_begin_us) {
			c->gap_begin_us = begin;
			c->gap_end_us = end;
		}
		if (w->v[i].end_us <= end && c->after_us == AMDLOG_UNKNOWN)
			c->after_us = end;
		i++;
	}
}

static void mark_pointers(struct marked_cell *c, const struct amdlog_packet *p)
{
	uint64_t backlog = amdlog_packet_backlog(p);
	if (backlog == AMDLOG_UNKNOWN)
		return;
	// Records of several threads may be out of order by a few.
	if (c->rptr_low == AMDLOG_UNKNOWN || amdlog_backlog(c->rptr_low, p->rptr) < 0)
		c->rptr_low = p->rptr;
	if (c->rptr_high == AMDLOG_UNKNOWN || amdlog_backlog(c->rptr_high, p->rptr) > 0)
		c->rptr_high = p->rptr;
	if (c->backlog_max == AMDLOG_UNKNOWN || backlog > c->backlog_max)
		c->backlog_max = backlog;
}

// A packet within windows.
static void mark_packet(struct amdlog_marked *m, const struct amdlog_event *e)
{
	const struct amdlog_windows *w = m->windows;
	uint64_t us = e->record->time_us;
	for (size_t i = amdlog_windows_seek(w, us ? us - 1 : 0);
	     (i = amdlog_windows_next(w, i, us ? us - 1 : 0, us + 1)) < w->n; i++) {
		if (w->v[i].begin_us > us || w->v[i].end_us < us)
			continue;
		struct marked_cell *c = marked_cell_at(m, i, e->queue);
		if (!c)
			return;
		c->dispatches += e->record->kind == AMDLOG_DISPATCH;
		mark_pointers(c, e->packet);
	}
}

void amdlog_marked_add(struct amdlog_marked *m, const struct amdlog_event *e)
{
	uint64_t us = e->record->time_us;
	uint64_t *last_us;
	if (!e->packet || e->queue == AMDLOG_NONE || us == AMDLOG_UNKNOWN || !m->windows->n)
		return;
	mark_packet(m, e);
	if (e->record->kind != AMDLOG_DISPATCH)
		return;
	ARRAY_REACH(m->last_us, m->last_cap, e->queue, 0xff);
	last_us = &m->last_us[e->queue];
	if (*last_us != AMDLOG_UNKNOWN && us > *last_us)
		mark_gap(m, e->queue, *last_us, us);
	if (*last_us == AMDLOG_UNKNOWN || us > *last_us)
		*last_us = us;
}

const struct marked_cell *amdlog_marked_of(const struct amdlog_marked *m, size_t window,
					   uint32_t queue)
{
	struct pair key = {window, queue};
	uint32_t n = intern_find(&m->pairs, &key, sizeof(key));
	return n == INTERN_NONE ? NULL : &m->cells[n];
}

void amdlog_marked_fini(struct amdlog_marked *m)
{
	intern_fini(&m->pairs);
	free(m->cells);
	free(m->last_us);
	*m = (struct amdlog_marked){0};
}
