// gpq trace --series --svg: the series as a picture: dispatches, backlog and busy queues, one below
// the other on one axis of time. Nothing in it but shapes and text; it brings its own background,
// so that it can be read on light and on dark pages.
#include "cmd/trace/trace.h"

#include "common/amdlog/analysis/series.h"
#include "common/bench/plot.h"
#include "common/cli/text.h"
#include "common/host/xalloc.h"
#include "common/stats/maths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PANELS = 3, PANEL_WIDTH = 760, PANEL_HEIGHT = 356, POINTS = 2000, LINES = 6, LEAST_TOP = 4 };

// What is drawn: the intervals in steps of some, so that no line has more than POINTS points.
struct drawing {
	struct trace *t;
	const struct amdlog_series *s;
	struct buf out;
	uint64_t first, count, step; // intervals
	double *x, *y;
	size_t n;
	const uint32_t *queues;
	uint32_t nqueues; // with lines of their own
};

enum panel { DISPATCHES, BACKLOG, QUEUES };

static double value_of(const struct drawing *d, enum panel panel, const struct series_point *p,
		       uint64_t intervals)
{
	uint64_t work = amdlog_has_packets(&d->t->sum) ? p->dispatches : p->launches;

	switch (panel) {
	case DISPATCHES: return (double)work * 1e6 / ((double)d->s->width_us * (double)intervals);
	case BACKLOG: return p->backlog_n ? p->backlog_max : NAN;
	case QUEUES: return p->queues;
	}
	return 0;
}

// Fills x and y; the last value is repeated at the end of its interval. Returns the greatest one.
static double fill(struct drawing *d, enum panel panel, const struct series_track *track)
{
	double max = 0;

	d->n = 0;
	for (uint64_t i = 0; i < d->count; i += d->step) {
		uint64_t to = i + d->step < d->count ? i + d->step : d->count;
		struct series_point p = amdlog_series_sum(track, d->first + i, d->first + to);

		d->x[d->n] = (double)(i * d->s->width_us) / 1e6;
		d->y[d->n++] = value_of(d, panel, &p, to - i);
		max = maths()->fmax(max, d->y[d->n - 1]);
	}
	if (d->n) {
		d->x[d->n] = (double)(d->count * d->s->width_us) / 1e6;
		d->y[d->n] = d->y[d->n - 1];
		d->n++;
	}
	return max;
}

static void queue_name(const struct drawing *d, uint32_t q, char name[64])
{
	const struct amdlog_queue *queue = &d->t->sum.queues[q];
	int64_t pid = d->t->sum.processes[queue->process].pid;

	if (pid < 0)
		snprintf(name, 64, "0x%" PRIx64, queue->hwq);
	else
		snprintf(name, 64, "%" PRId64 " 0x%" PRIx64, pid, queue->hwq);
}

static void draw_lines(struct drawing *d, struct plot *p, enum panel panel)
{
	char name[64];

	fill(d, panel, &d->s->all);
	plot_line(p, d->x, d->y, d->n, "all queues");
	for (uint32_t i = 0; panel != QUEUES && i < d->nqueues; i++) {
		fill(d, panel, &d->s->queues[d->queues[i]]);
		queue_name(d, d->queues[i], name);
		plot_line(p, d->x, d->y, d->n, name);
	}
}

// Marked windows as bands, where they lie within the picture.
static void draw_marks(struct drawing *d, struct plot *p)
{
	const struct amdlog_windows *w = &d->t->marks;
	uint64_t from = d->first * d->s->width_us, to = from + d->count * d->s->width_us;

	for (size_t i = 0; i < w->n; i++) {
		uint64_t begin = w->v[i].begin_us > from ? w->v[i].begin_us : from;
		uint64_t end = w->v[i].end_us < to ? w->v[i].end_us : to;

		if (begin <= end)
			plot_band(p, (double)(begin - from) / 1e6, (double)(end - from) / 1e6);
	}
}

static void draw_panel(struct drawing *d, enum panel panel, int place)
{
	static const char *const packets[PANELS] = {"Dispatches", "Backlog: most packets waiting",
						    "Hardware queues that got packets"};
	static const char *const units[PANELS] = {"dispatches per second", "packets", "queues"};
	bool launches = panel == DISPATCHES && !amdlog_has_packets(&d->t->sum);
	double max = fill(d, panel, &d->s->all);
	struct plot p;
	char x[96], title[128], width[24];

	snprintf(title, sizeof(title), "%s, in intervals of %s",
		 launches ? "Launches" : packets[panel],
		 text_ns(width, d->s->width_us * d->step * 1000));
	snprintf(x, sizeof(x), "seconds from %.6f s on (CLOCK_MONOTONIC)",
		 (double)d->first * (double)d->s->width_us / 1e6);
	buf_printf(&d->out, "<g transform=\"translate(0 %d)\">\n", place * PANEL_HEIGHT);
	plot_open(&p, &d->out, title,
		  (struct plot_axis){x, PLOT_SECONDS, 0, (double)(d->count * d->s->width_us) / 1e6,
				     false},
		  (struct plot_axis){launches ? "launches per second" : units[panel], PLOT_RATE, 0,
				     maths()->fmax(max, LEAST_TOP), false});
	draw_marks(d, &p);
	draw_lines(d, &p, panel);
	plot_close(&p);
	buf_puts(&d->out, "</g>\n");
}

// Panels the log has values for: a level without packets has no backlog and no queues, some
// releases have packets without backlog.
static int choose_panels(const struct drawing *d, enum panel chosen[PANELS])
{
	const struct series_track *all = &d->s->all;
	int n = 0;

	chosen[n++] = DISPATCHES;
	if (amdlog_series_sum(all, all->first, all->end).backlog_n)
		chosen[n++] = BACKLOG;
	if (amdlog_has_packets(&d->t->sum))
		chosen[n++] = QUEUES;
	return n;
}

static void draw(struct drawing *d)
{
	enum panel chosen[PANELS];
	int n = choose_panels(d, chosen);

	buf_printf(&d->out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		   "height=\"%d\">\n",
		   PANEL_WIDTH, n * PANEL_HEIGHT, PANEL_WIDTH, n * PANEL_HEIGHT);
	for (int i = 0; i < n; i++)
		draw_panel(d, chosen[i], i);
	buf_puts(&d->out, "</svg>\n");
}

int trace_series_svg(struct trace *t)
{
	const struct amdlog_series *s = t->asked;
	struct drawing d = {.t = t, .s = s, .first = s->all.first};
	uint32_t *queues;
	int status;

	d.count = s->all.end - s->all.first;
	d.step = d.count / POINTS + 1;
	d.x = xcalloc(POINTS + 2, sizeof(*d.x));
	d.y = xcalloc(POINTS + 2, sizeof(*d.y));
	d.queues = queues = trace_series_queues(t, &d.nqueues);
	d.nqueues = d.nqueues < LINES ? d.nqueues : LINES - 1;
	draw(&d);
	status = out_file("--svg ", t->opts->svg, &d.out);
	free(d.x);
	free(d.y);
	free(queues);
	buf_fini(&d.out);
	return status;
}
