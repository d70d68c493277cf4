// Counts over time; see series.h.
#include "common/amdlog/analysis/series.h"

// The index of the track's point of an interval, made if it is new; AMDLOG_NONE: too many points.
static uint32_t point_of(struct amdlog_series *s, struct series_track *t, uint64_t interval)
{
	s->keys.max_entries = SERIES_POINTS_MAX;
	uint32_t n = pair_put(&s->keys, t->number, interval);
	if (n == INTERN_NONE) {
		s->incomplete = true;
		return AMDLOG_NONE;
	}
	ARRAY_REACH(s->points, s->points_cap, n, 0);
	if (t->first == t->end)
		t->first = t->end = interval;
	t->first = interval < t->first ? interval : t->first;
	t->end = interval >= t->end ? interval + 1 : t->end;
	return n;
}

static void point_count(struct series_point *p, const struct amdlog_event *e)
{
	const struct amdlog_packet *packet = e->packet;
	enum amdlog_kind kind = e->record->kind;
	uint64_t backlog = packet ? amdlog_packet_backlog(packet) : AMDLOG_UNKNOWN;
	p->launches += kind == AMDLOG_KERNEL;
	p->dispatches += kind == AMDLOG_DISPATCH;
	p->barriers += kind == AMDLOG_BARRIER_AND || kind == AMDLOG_BARRIER_OR;
	if (backlog == AMDLOG_UNKNOWN)
		return;
	backlog = backlog > UINT32_MAX ? UINT32_MAX : backlog;
	p->backlog_n++;
	p->backlog_sum += backlog;
	p->backlog_max = backlog > p->backlog_max ? (uint32_t)backlog : p->backlog_max;
}

void amdlog_series_add(struct amdlog_series *s, const struct amdlog_event *e)
{
	uint64_t us = e->record->time_us, interval = us / s->width_us;
	uint32_t all, own;
	if (us == AMDLOG_UNKNOWN)
		return;
	s->all.series = s;
	s->all.number = AMDLOG_NONE;
	all = point_of(s, &s->all, interval);
	if (all == AMDLOG_NONE)
		return;
	point_count(&s->points[all], e);
	if (!e->packet || e->queue == AMDLOG_NONE)
		return;
	ARRAY_REACH(s->queues, s->cap, e->queue, 0);
	s->nqueues = e->queue >= s->nqueues ? e->queue + 1 : s->nqueues;
	s->queues[e->queue].series = s;
	s->queues[e->queue].number = e->queue;
	own = point_of(s, &s->queues[e->queue], interval);
	if (own == AMDLOG_NONE)
		return;
	s->points[all].queues += s->points[own].queues == 0;
	s->points[own].queues = 1;
	point_count(&s->points[own], e);
}

void amdlog_series_finish(struct amdlog_series *s, const struct amdlog_span *span)
{
	if (span->first_us > span->last_us)
		return;
	s->all.first = span->first_us / s->width_us;
	s->all.end = span->last_us / s->width_us + 1;
	uint64_t n = s->all.end - s->all.first;
	if (n <= SERIES_INTERVALS_MAX)
		return;
	s->least_us = (n / SERIES_INTERVALS_MAX + 1) * s->width_us;
	s->all.end = s->all.first + SERIES_INTERVALS_MAX;
	for (uint32_t i = 0; i < s->nqueues; i++) {
		struct series_track *t = &s->queues[i];
		t->end = t->end < s->all.end ? t->end : s->all.end;
	}
}

struct series_point amdlog_series_at(const struct series_track *t, uint64_t interval)
{
	uint32_t n = t->series ? pair_find(&t->series->keys, t->number, interval) : INTERN_NONE;
	if (n == INTERN_NONE)
		return (struct series_point){0};
	return t->series->points[n];
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
	intern_fini(&s->keys);
	free(s->points);
	free(s->queues);
	*s = (struct amdlog_series){0};
}
