// gpq trace --series: dispatches, backlog and busy queues over time
// (common/amdlog/analysis/series.h).
//
// People get a row for each queue, in which characters draw dispatches and backlog over time;
// programs get every interval. --svg draws dispatches, backlog and busy queues above one time axis.
#include "cmd/trace/trace.h"

#include "common/out/plot.h"
#include "common/host/maths.h"

#include <sys/ioctl.h>

enum { SPARK_LEAST = 10, SPARK_MOST = 100, SPARK_USUAL = 40, SPARK_OTHERS = 66 };

enum { PANELS = 3, POINTS = 2000, LINES = 6, LEAST_TOP = 4 };
enum panel { DISPATCHES, BACKLOG, QUEUES };

struct track_row {
	const char *queue, *course, *depth;
	int64_t pid;
	uint64_t dispatches, launches, intervals, idle, backlog_max;
	double rate_max;
};

struct interval_row {
	struct series_point p;
	int64_t pid;
	uint64_t hwq, time_us, backlog_max;
	double seconds, rate, backlog_mean;
};

#define ROW track_row
static const struct out_col track_cols[] = {
	COL(pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(queue, "HWQ_OR_ALL", "hwq_or_all", STR, D, "ring address (HWq), or all"),
	COL(dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets"),
	COL(launches, "LAUNCHES", "launches", U64, M, "kernel launches (ShaderName)"),
	COL(intervals, "INTERVALS", "intervals", U64, M, "from its first to its last packet"),
	COL(idle, "IDLE_INTERVALS", "idle_intervals", U64, D,
	    "intervals of these without a dispatch"),
	COL(rate_max, "PEAK", "peak_per_s", F64, D,
	    "dispatches each second in the interval with most of them"),
	COL(backlog_max, "DEEPEST", "backlog_max", U64, D,
	    "most packets waiting in front of a new one"),
	COL(course, "DISPATCHED", "dispatched", STR, D,
	    "dispatches over time, from none to the peak"),
	COL(depth, "DEPTHS", "depths", STR, D, "the deepest over time; blank: no packet told it"),
};
#undef ROW

#define ROW interval_row
#define COUNTS                                                                           \
	COL(p.dispatches, "DISPATCHES", "dispatches", U32, D, "dispatch packets in it"), \
		COL(p.barriers, "BARRIERS", "barriers", U32, D, "barrier packets"),      \
		COL(rate, "RATE", "rate_per_s", F64, D, "dispatches each second"),       \
		COL(backlog_mean, "BACKLOG_MEAN", "backlog_mean", F64, D,                \
		    "packets waiting in front of a new one, mean"),                      \
		COL(backlog_max, "DEEPEST", "backlog_max", U64, D, "most of these")
static const struct out_col interval_cols[] = {
	COL(time_us, "TIME_US", "time_us", U64, D, "its beginning, CLOCK_MONOTONIC"),
	COL(seconds, "SECONDS", "seconds", F64, D, "from the beginning of the first"),
	COL(p.queues, "QUEUES", "queues", U32, D, "hardware queues that got packets"),
	COL(p.launches, "LAUNCHES", "launches", U32, M, "kernel launches (ShaderName)"),
	COUNTS,
};
static const struct out_col queue_interval_cols[] = {
	COL(pid, "PID", "pid", I64, D, "process id in its own namespace"),
	COL(hwq, "HWQ", "hwq", HEX, D, "ring address"),
	COL(time_us, "TIME_US", "time_us", U64, D, "its beginning, CLOCK_MONOTONIC"),
	COL(seconds, "SECONDS", "seconds", F64, D, "from the beginning of the log's first"),
	COUNTS,
};
#undef ROW

const struct out_table trace_track_table = {"tracks", "track", OUT_COLS(track_cols)};
// The table for programs lacks the last two columns, which are drawn in characters.
static const struct out_table plain_track_table = {"tracks", "track", track_cols,
						   COUNT(track_cols) - 2};
const struct out_table trace_interval_table = {"intervals", "interval", OUT_COLS(interval_cols)};
const struct out_table trace_queue_interval_table = {"queue_intervals", "queue_interval",
						     OUT_COLS(queue_interval_cols)};

static const struct schema_member series_members[] = {
	{"interval_ns", SCHEMA_COUNT, "length of the intervals", NULL, NULL}, TRACE_NOTES, {0}};
const struct schema trace_series_schema = {
	"gpq.trace.series", 1,
	SCHEMA_TABLES(&trace_interval_table, &plain_track_table, &trace_queue_interval_table),
	series_members};

// Returns the dispatches in an interval, or launches if the log has no packets.
static uint64_t work_of(const struct trace *t, const struct series_point *p)
{
	return amdlog_has_packets(&t->sum) ? p->dispatches : p->launches;
}

static double per_second(const struct amdlog_series *s, uint64_t n)
{
	return (double)n * 1e6 / (double)s->width_us;
}

TRACE_COUNT(count_tracks, series.nqueues + 1)

static uint32_t count_one(const struct trace *t)
{
	(void)t;
	return 1;
}

// Returns the track of a row: row 0 is of all queues, row i of queue i - 1.
static const struct series_track *track_of(const struct trace *t, uint32_t i)
{
	return i ? &t->series.queues[i - 1] : &t->series.all;
}

// The track of all queues comes first, then those with most dispatches.
static bool rank_track(struct trace *t, uint32_t i, struct trace_rank *r)
{
	const struct series_track *track = track_of(t, i);
	r->by[0] = i ? ~t->sum.queues[i - 1].dispatches : 0;
	return track->first < track->end;
}

static bool rank_queue_track(struct trace *t, uint32_t i, struct trace_rank *r)
{
	return i && rank_track(t, i, r);
}

static void intervals_out(struct trace *t, uint32_t index)
{
	const struct amdlog_queue *q = index ? &t->sum.queues[index - 1] : NULL;
	const struct series_track *track = track_of(t, index);
	const struct amdlog_series *s = &t->series;
	for (uint64_t n = track->first; n < track->end; n++) {
		struct series_point p = amdlog_series_at(track, n);
		struct interval_row r = {
			.p = p,
			.pid = q ? trace_pid(t, q->process) : I64_NULL,
			.hwq = q ? q->hwq : U64_NULL,
			.time_us = n * s->width_us,
			.seconds = (double)((n - s->all.first) * s->width_us) / 1e6,
			.rate = per_second(s, work_of(t, &p)),
			.backlog_max = p.backlog_n ? p.backlog_max : U64_NULL,
			.backlog_mean = trace_mean(p.backlog_sum, p.backlog_n),
		};
		if (!amdlog_has_packets(&t->sum))
			r.p.dispatches = r.p.barriers = r.p.queues = U32_NULL;
		out_row(t->out, &r);
	}
}

// Returns the width, in characters, of a drawn column: two fit beside the other columns.
static unsigned spark_width(void)
{
	struct winsize size;
	int width = SPARK_USUAL;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = (size.ws_col - SPARK_OTHERS) / 2;
	return (unsigned)(width < SPARK_LEAST  ? SPARK_LEAST
			  : width > SPARK_MOST ? SPARK_MOST
					       : width);
}

// Draws dispatches, or the backlog (`depth`), from the first to the last interval of the log. Each
// character stands for one interval, or for several where there are more than fit.
static void draw_course(const struct trace *t, const struct series_track *track, bool depth,
			struct buf *out)
{
	const struct amdlog_series *s = &t->series;
	uint64_t all = s->all.end - s->all.first;
	uint64_t width = all < spark_width() ? all : spark_width();
	double values[SPARK_MOST], max = 0;
	for (uint64_t i = 0; i < width; i++) {
		uint64_t from = s->all.first + i * all / width;
		uint64_t to = s->all.first + (i + 1) * all / width;
		struct series_point p = amdlog_series_sum(track, from, to);
		if (depth)
			values[i] = p.backlog_n ? p.backlog_max : NAN;
		else
			values[i] = (double)work_of(t, &p) / (double)(to - from);
		max = values[i] > max ? values[i] : max;
	}
	out->len = 0;
	spark_line(out, values, width, max, spark_utf8());
}

static void track_out(struct trace *t, uint32_t index)
{
	const struct amdlog_series *s = &t->series;
	const struct series_track *track = track_of(t, index);
	struct series_point sum = amdlog_series_sum(track, track->first, track->end);
	bool packets = amdlog_has_packets(&t->sum);
	SCOPED(buf_fini) struct buf course = {0}, depth = {0};
	uint64_t most = 0;
	char name[24];
	struct track_row r = {.queue = name, .intervals = track->end - track->first};
	for (uint64_t n = track->first; n < track->end; n++) {
		struct series_point p = amdlog_series_at(track, n);
		r.idle += work_of(t, &p) == 0;
		most = work_of(t, &p) > most ? work_of(t, &p) : most;
	}
	draw_course(t, track, false, &course);
	draw_course(t, track, true, &depth);
	trace_name_queue(t, index - 1, &r.pid, name); // row 0, all queues (AMDLOG_NONE)
	r.dispatches = packets ? sum.dispatches : U64_NULL;
	r.launches = index ? U64_NULL : sum.launches;
	r.rate_max = per_second(s, most);
	r.course = course.data;
	r.backlog_max = sum.backlog_n ? sum.backlog_max : U64_NULL;
	r.depth = sum.backlog_n ? depth.data : NULL;
	out_row(t->out, &r);
}

static const struct trace_view views[] = {
	{&plain_track_table, NULL, BY_OTHERS, false, count_tracks, rank_track, track_out, NULL},
	{&trace_interval_table, NULL, BY_NOTHING, false, count_one, rank_track, intervals_out,
	 NULL},
	{&trace_queue_interval_table, NULL, BY_QUEUE, false, count_tracks, rank_queue_track,
	 intervals_out, NULL},
	{0},
};
static const struct trace_view drawn_tracks = {&trace_track_table, NULL,       BY_OTHERS, false,
					       count_tracks,       rank_track, track_out, NULL};

static void whole_report(struct trace *t)
{
	const struct amdlog_series *s = &t->series;
	char width[24];
	if (out_json(t->out))
		json_u64(out_json(t->out), "interval_ns", s->width_us * 1000);
	out_title(t->out, "%" PRIu64 " intervals of %s, from %" PRIu64 ".%06" PRIu64 " s on",
		  s->all.end - s->all.first, text_ns(width, s->width_us * 1000),
		  s->all.first * s->width_us / 1000000, s->all.first * s->width_us % 1000000);
	if (out_mode(t->out) == OUT_TABLE && !t->chosen)
		trace_view_out(t, &drawn_tracks);
	else
		trace_views_out(t);
}

// --- --svg ---

// The picture of --svg. A point stands for `step` intervals, so that no line has more than POINTS.
struct drawing {
	struct trace *t;
	const struct amdlog_series *s;
	struct buf out;
	uint64_t first, count, step; // in intervals
	double *x, *y, *bands;
	size_t n, nbands;
	const uint32_t *queues; // rows (track_of()) of queues that get lines of their own
	uint32_t nqueues;
};

static double panel_value(const struct drawing *d, enum panel panel, const struct series_point *p,
			  uint64_t intervals)
{
	switch (panel) {
	case DISPATCHES:
		return (double)work_of(d->t, p) * 1e6 /
		       ((double)d->s->width_us * (double)intervals);
	case BACKLOG: return p->backlog_n ? p->backlog_max : NAN;
	case QUEUES: return p->queues;
	}
	return 0;
}

// Fills d->x (seconds) and d->y; x also gets the end of the last interval. Returns the greatest y.
static double fill_points(struct drawing *d, enum panel panel, const struct series_track *track)
{
	double max = 0;
	d->n = 0;
	for (uint64_t i = 0; i < d->count; i += d->step) {
		uint64_t to = i + d->step < d->count ? i + d->step : d->count;
		struct series_point p = amdlog_series_sum(track, d->first + i, d->first + to);
		d->x[d->n] = (double)(i * d->s->width_us) / 1e6;
		d->y[d->n++] = panel_value(d, panel, &p, to - i);
		max = maths()->fmax(max, d->y[d->n - 1]);
	}
	d->x[d->n] = (double)(d->count * d->s->width_us) / 1e6;
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

// Sets the bands: begin and end, in seconds, of each marked window within the picture.
static void find_bands(struct drawing *d)
{
	const struct amdlog_windows *w = &d->t->marks;
	uint64_t from = d->first * d->s->width_us, to = from + d->count * d->s->width_us;
	d->bands = xcalloc(2 * w->n + 1, sizeof(*d->bands));
	for (size_t i = 0; i < w->n; i++) {
		uint64_t begin = w->v[i].begin_us > from ? w->v[i].begin_us : from;
		uint64_t end = w->v[i].end_us < to ? w->v[i].end_us : to;
		if (begin <= end) {
			d->bands[d->nbands++] = (double)(begin - from) / 1e6;
			d->bands[d->nbands++] = (double)(end - from) / 1e6;
		}
	}
}

// Draws a plot row for all queues and, except in panel QUEUES, one for each of d->queues.
static void draw_panel(struct drawing *d, struct plot *p, enum panel panel)
{
	static const char *const headings[PANELS] = {"Dispatches per second",
						     "Backlog: most packets waiting",
						     "Hardware queues that got packets"};
	bool launches = panel == DISPATCHES && !amdlog_has_packets(&d->t->sum);
	double top = maths()->fmax(fill_points(d, panel, &d->s->all),
				   panel == DISPATCHES ? 0 : LEAST_TOP);
	char name[64];
	plot_group(p, launches ? "Launches per second" : headings[panel], top, PLOT_RATE);
	plot_row(p, panel == QUEUES ? "" : "all queues", d->x, d->y, d->n, NULL);
	for (uint32_t i = 0; panel != QUEUES && d->nqueues > 1 && i < d->nqueues; i++) {
		fill_points(d, panel, track_of(d->t, d->queues[i]));
		queue_name(d, d->queues[i] - 1, name);
		plot_row(p, name, d->x, d->y, d->n, NULL);
	}
}

// Writes the heading, "run.log" or "run.log and 3 more". Of a long name only the end is shown, to
// fit a narrow screen.
static void name_logs(const struct trace *t, struct buf *out)
{
	enum { LONGEST = 34 };
	const char *path = t->nlogs && strcmp(t->logs[0], "-") != 0 ? t->logs[0] : "standard input";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);
	buf_printf(out, "%s%s", len > LONGEST ? "..." : "",
		   len > LONGEST ? name + len - LONGEST : name);
	if (t->nlogs > 1)
		buf_printf(out, " and %d more", t->nlogs - 1);
}

// Panels without values are left out: at some log levels there are no packets, so neither backlog
// nor queues are known; some releases print packets without backlog.
static void draw_picture(struct drawing *d)
{
	const struct series_track *all = &d->s->all;
	bool has[PANELS] = {true, amdlog_series_sum(all, all->first, all->end).backlog_n,
			    amdlog_has_packets(&d->t->sum)};
	char x[96], note[64], width[24];
	SCOPED(buf_fini) struct buf title = {0};
	struct plot p;
	name_logs(d->t, &title);
	snprintf(note, sizeof(note), "in intervals of %s",
		 text_ns(width, d->s->width_us * d->step * 1000));
	snprintf(x, sizeof(x), "seconds after %.6f s (CLOCK_MONOTONIC)",
		 (double)d->first * (double)d->s->width_us / 1e6);
	plot_open(&p, title.data, note,
		  (struct plot_axis){x, PLOT_SECONDS, 0, (double)(d->count * d->s->width_us) / 1e6,
				     false});
	p.bands = d->bands;
	p.nbands = d->nbands;
	p.band_name = "marked";
	for (int i = 0; i < PANELS; i++)
		if (has[i])
			draw_panel(d, &p, (enum panel)i);
	plot_close(&p, &d->out);
}

static int write_svg(struct trace *t)
{
	const struct amdlog_series *s = &t->series;
	struct drawing d = {.t = t, .s = s, .first = s->all.first};
	uint32_t *queues;
	d.count = s->all.end - s->all.first;
	d.step = d.count / POINTS + 1;
	d.x = xcalloc(POINTS + 2, sizeof(*d.x));
	d.y = xcalloc(POINTS + 2, sizeof(*d.y));
	d.queues = queues = trace_sorted(t, count_tracks(t), &d.nqueues, rank_queue_track);
	d.nqueues = d.nqueues < LINES ? d.nqueues : LINES - 1;
	find_bands(&d);
	draw_picture(&d);
	int status = out_file_or_stdout("--svg ", t->opts->svg, &d.out);
	free(d.x);
	free(d.y);
	free(d.bands);
	free(queues);
	buf_fini(&d.out);
	return status;
}

// --- the report of --series ---

static int begin_series(struct trace *t)
{
	t->series.width_us = t->opts->series / 1000;
	return trace_marks_read(t);
}

static void series_event(struct trace *t, const struct amdlog_event *e)
{
	amdlog_series_add(&t->series, e);
}

static int check_series(const struct amdlog_series *s)
{
	char next[64], width[24];
	if (s->least_us) {
		snprintf(next, sizeof(next), "use --series %" PRIu64 "ms or more",
			 s->least_us / 1000 + 1);
		return err_fail(GPQ_PARTIAL, next,
				"--series: the log has more than %u intervals of %s; the rest is "
				"left out",
				SERIES_INTERVALS_MAX, text_ns(width, s->width_us * 1000));
	}
	if (s->incomplete)
		return err_fail(GPQ_PARTIAL, "use longer intervals, or --pid",
				"--series: too many queues and intervals: some are left out");
	return GPQ_OK;
}

static int report_series(struct trace *t)
{
	struct amdlog_series *s = &t->series;
	int status = GPQ_OK;
	amdlog_series_finish(s, &t->sum.totals.span);
	if (t->one_table)
		trace_views_out(t);
	else if (!trace_to_stdout(t->opts->svg))
		whole_report(t);
	if (t->opts->svg)
		status = write_svg(t);
	return status ? status : check_series(s);
}

const struct trace_ask trace_series = {
	.schema = &trace_series_schema,
	.views = views,
	.begin = begin_series,
	.event = series_event,
	.kinds = AMDLOG_KINDS_PLACED,
	.report = report_series,
};
