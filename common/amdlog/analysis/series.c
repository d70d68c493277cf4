// Counts over time; see series.h.
#include "common/amdlog/analysis/series.h"

#include <stdlib.h>
#include <string.h>

// Makes room for the interval: as much again as is needed, on the side where it was missing, so
// that time going backwards is no slower than time going on.
static bool grow(struct amdlog_series *s, struct series_track *t, uint64_t interval)
{
	bool empty = t->first == t->end;
	uint64_t first = empty || interval < t->first ? interval : t->first;
	uint64_t end = empty || interval >= t->end ? interval + 1 : t->end;
	uint64_t need = end - first, cap = need < 32 ? 64 : 2 * need, front;
	struct series_point *points;

	if (s->points - t->cap + cap > 2 * (uint64_t)SERIES_POINTS_MAX)
		return false;
	points = calloc(cap, sizeof(*points));
	if (!points)
		return false;
	s->points += cap - t->cap;
	t->cap = (uint32_t)cap;
	front = !empty && interval < t->base ? cap - need : 0;
	front = front < first ? front : first;
	if (!empty)
		memcpy(points + (t->first - (first - front)), t->points + (t->first - t->base),
		       (t->end - t->first) * sizeof(*points));
	free(t->points);
	t->points = points;
	t->base = first - front;
	return true;
}

static struct series_point *point_of(struct amdlog_series *s, struct series_track *t,
				     uint64_t interval)
{
	if (!t->cap || interval < t->base || interval - t->base >= t->cap) {
		if (!grow(s, t, interval))
			return NULL;
	}
	if (t->first == t->end) {
		t->first = interval;
		t->end = interval + 1;
	}
	t->first = interval < t->first ? interval : t->first;
	t->end = interval >= t->end ? interval + 1 : t->end;
	return &t->points[interval - t->base];
}

static struct series_track *track_of(struct amdlog_series *s, uint32_t queue)
{
	uint32_t cap = s->cap ? s->cap : 16;
	struct series_track *bigger;

	while (cap <= queue)
		cap *= 2;
	if (cap != s->cap) {
		bigger = realloc(s->queues, cap * sizeof(*bigger));
		if (!bigger)
			return NULL;
		memset(bigger + s->cap, 0, (cap - s->cap) * sizeof(*bigger));
		s->queues = bigger;
		s->cap = cap;
	}
	s->nqueues = queue >= s->nqueues ? queue + 1 : s->nqueues;
	return &s->queues[queue];
}

// False when the log is longer than so many intervals; then says which length would do.
static bool fits(struct amdlog_series *s, uint64_t interval)
{
	const struct series_track *t = &s->all;
	uint64_t first = t->first < interval ? t->first : interval;
	uint64_t end = t->end > interval ? t->end : interval + 1;
	uint64_t least;

	if (t->first == t->end || end - first <= SERIES_INTERVALS_MAX)
		return true;
	least = ((end - first) / SERIES_INTERVALS_MAX + 1) * s->width_us;
	s->least_us = least > s->least_us ? least : s->least_us;
	return false;
}

static void count(struct series_point *p, const struct amdlog_event *e)
{
	const struct amdlog_packet *packet = e->packet;
	enum amdlog_kind kind = e->record->kind;
	int64_t backlog;

	p->launches += kind == AMDLOG_KERNEL;
	p->dispatches += kind == AMDLOG_DISPATCH;
	p->barriers += kind == AMDLOG_BARRIER_AND || kind == AMDLOG_BARRIER_OR;
	if (!packet || packet->rptr == AMDLOG_UNKNOWN || packet->wptr == AMDLOG_UNKNOWN)
		return;
	backlog = amdlog_backlog(packet->rptr, packet->wptr);
	backlog = backlog < 0 ? 0 : backlog > UINT32_MAX ? UINT32_MAX : backlog;
	p->backlog_n++;
	p->backlog_sum += (uint64_t)backlog;
	p->backlog_max = backlog > p->backlog_max ? (uint32_t)backlog : p->backlog_max;
}

void amdlog_series_add(struct amdlog_series *s, const struct amdlog_event *e)
{
	uint64_t us = e->record->time_us, interval = us / s->width_us;
	struct series_point *all, *own = NULL;
	struct series_track *track;

	if (us == AMDLOG_UNKNOWN || !fits(s, interval))
		return;
	all = point_of(s, &s->all, interval);
	if (!all) {
		s->incomplete = true;
		return;
	}
	count(all, e);
	if (!e->packet || e->queue == AMDLOG_NONE)
		return;
	track = track_of(s, e->queue);
	own = track ? point_of(s, track, interval) : NULL;
	if (!own) {
		s->incomplete = true;
		return;
	}
	all->queues += own->queues == 0;
	own->queues = 1;
	count(own, e);
}

static void cover(struct amdlog_series *s, uint64_t us)
{
	uint64_t interval = us / s->width_us;

	if (fits(s, interval) && !point_of(s, &s->all, interval))
		s->incomplete = true;
}

void amdlog_series_cover(struct amdlog_series *s, const struct amdlog_span *span)
{
	if (span->first_us > span->last_us)
		return;
	cover(s, span->first_us);
	cover(s, span->last_us);
}

struct series_point amdlog_series_at(const struct series_track *t, uint64_t interval)
{
	if (interval < t->first || interval >= t->end)
		return (struct series_point){0};
	return t->points[interval - t->base];
}

struct series_point amdlog_series_sum(const struct series_track *t, uint64_t from, uint64_t to)
{
	struct series_point sum = {0};

	for (uint64_t i = from; i < to; i++) {
		struct series_point p = amdlog_series_at(t, i);

		sum.launches += p.launches;
		sum.dispatches += p.dispatches;
		sum.barriers += p.barriers;
		sum.queues = p.queues > sum.queues ? p.queues : sum.queues;
		sum.backlog_n += p.backlog_n;
		sum.backlog_sum += p.backlog_sum;
		sum.backlog_max = p.backlog_max > sum.backlog_max ? p.backlog_max : sum.backlog_max;
	}
	return sum;
}

void amdlog_series_fini(struct amdlog_series *s)
{
	for (uint32_t i = 0; i < s->nqueues; i++)
		free(s->queues[i].points);
	free(s->queues);
	free(s->all.points);
	*s = (struct amdlog_series){0};
}
