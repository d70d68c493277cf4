// libFuzzer target: the questions of gpq trace over any bytes. The input is a file of marks, a zero
// byte, and a log. What must hold: no crash, no leak, and what is counted twice is the same.
#include "common/amdlog/analysis/compare.h"
#include "common/amdlog/analysis/latency.h"
#include "common/amdlog/analysis/windows.h"
#include "common/amdlog/model/reading.h"
#include "common/amdlog/analysis/series.h"
#include "common/amdlog/model/streams.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Each interval is looked up, and a log of few lines can have a million of them.
#define SUMMED_MAX 2000

struct asked {
	struct amdlog_summary sum;
	struct amdlog_reading reading;
	struct amdlog_side side;
	struct amdlog_series series;
	struct amdlog_windows windows;
	struct amdlog_marked marked;
	struct amdlog_streams streams;
	struct amdlog_latency latency;
	uint64_t dispatches;
};

static void take(void *ctx, const struct amdlog_event *e)
{
	struct asked *a = ctx;
	a->dispatches += e->record->kind == AMDLOG_DISPATCH && e->record->time_us != AMDLOG_UNKNOWN;
	amdlog_side_add(&a->side, e);
	amdlog_series_add(&a->series, e);
	amdlog_marked_add(&a->marked, e);
	amdlog_streams_add(&a->streams, &a->sum, e);
	amdlog_latency_add(&a->latency, &a->sum, e);
}

static void read_marks(struct amdlog_windows *w, const uint8_t *data, size_t size)
{
	size_t line;
	amdlog_windows_read(w, (const char *)data, size, &line);
	amdlog_windows_sort(w);
	for (size_t i = 0; i < w->n; i++) {
		if (w->v[i].end_us < w->v[i].begin_us ||
		    !memchr(w->v[i].label, 0, WINDOW_LABEL_MAX))
			abort();
	}
}

static void compare_with_itself(struct asked *a)
{
	struct amdlog_side both[2] = {a->side, a->side};
	struct amdlog_comparison c;
	struct buf text = {0};
	amdlog_compare(&c, both);
	amdlog_compare_text(&c, &text);
	if (c.only[0] || c.only[1] || c.both != c.nkernels || c.shared + c.unsure != c.queues[0])
		abort();
	buf_fini(&text);
	amdlog_compare_fini(&c);
}

static void check(struct asked *a)
{
	const struct gaps_queue *g = amdlog_gaps_of(&a->side.gaps, GAPS_ALL);
	const struct series_track *all = &a->series.all;
	bool summed = all->end - all->first <= SUMMED_MAX;
	uint64_t end = summed ? all->end : all->first + SUMMED_MAX;
	uint64_t n = amdlog_series_sum(all, all->first, end).dispatches;
	uint64_t errors = a->sum.errors.left_out;
	struct hist h;
	if ((g ? g->count : 0) != a->dispatches || n > a->dispatches ||
	    (n < a->dispatches && summed && !a->series.least_us))
		abort();
	for (uint32_t i = 0; i < a->sum.errors.n; i++)
		errors += a->sum.errors.v[i].count;
	if (errors != a->sum.totals.api_errors + a->sum.totals.kinds[AMDLOG_QUEUE_ERROR])
		abort();
	for (uint32_t i = 0; i < a->sum.napis; i++) {
		keyed_histogram_get(&a->sum.api_times, i, &h);
		if (h.count != a->sum.apis[i].timed)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct amdlog_filter all = {.until_us = AMDLOG_UNKNOWN};
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t marks = end ? (size_t)(end - data) : 0, from = end ? marks + 1 : 0;
	struct asked a = {.series.width_us = 1000, .side.gaps.keep = 3};
	read_marks(&a.windows, data, marks);
	a.marked.windows = &a.windows;
	a.side.sum = &a.sum;
	amdlog_summary_init(&a.sum, &all);
	a.sum.want_api = true;
	amdlog_reading_init(&a.reading, &a.sum, NULL);
	a.reading.ctx = &a;
	a.reading.event = take;
	amdlog_scan_feed(a.reading.scan, (const char *)data + from, size - from);
	amdlog_scan_end(a.reading.scan);
	amdlog_reassembly_end(a.reading.reassembly);
	amdlog_summary_finish(&a.sum);
	amdlog_series_finish(&a.series, &a.sum.totals.span);
	amdlog_streams_join(&a.streams, &a.sum);
	compare_with_itself(&a);
	check(&a);
	amdlog_side_fini(&a.side);
	amdlog_series_fini(&a.series);
	amdlog_marked_fini(&a.marked);
	amdlog_streams_fini(&a.streams);
	amdlog_latency_fini(&a.latency);
	amdlog_windows_fini(&a.windows);
	amdlog_reading_fini(&a.reading);
	amdlog_summary_fini(&a.sum);
	return 0;
}
