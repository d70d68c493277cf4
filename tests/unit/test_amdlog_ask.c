// What the questions of gpq trace are answered from: distributions by key, times without a
// dispatch, counts over time. The expected values are worked out here, the slow way.
#include "common/amdlog/analysis/gaps.h"
#include "common/amdlog/analysis/series.h"
#include "common/amdlog/analysis/windows.h"
#include "common/stats/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_keyed_histogram(void **state)
{
	struct keyed_histogram s = {0};
	struct hist *want = calloc(50, sizeof(*want)), got;
	struct rng rng = {1};
	(void)state;
	for (unsigned i = 0; i < 50; i++)
		hist_init(&want[i]);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t key = (uint32_t)rng_below(&rng, 50);
		uint64_t value = rng_next(&rng) >> rng_below(&rng, 64);
		if (key == 7) // never used
			continue;
		keyed_histogram_add(&s, key, value);
		hist_add(&want[key], value);
		if (i == 10000)
			assert_true(keyed_histogram_get(&s, key, &got)); // asked for in between
	}
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(keyed_histogram_get(&s, i, &got), i != 7);
		assert_memory_equal(&got, &want[i], sizeof(got));
	}
	assert_false(keyed_histogram_get(&s, 4000000000u, &got));
	assert_false(s.incomplete);
	keyed_histogram_add(&s, 4000000000u, 1); // no dense number
	assert_true(s.incomplete);
	keyed_histogram_fini(&s);
	free(want);
}

static int by_length(const void *a, const void *b)
{
	const struct amdlog_gap *x = a, *y = b;
	uint64_t m = x->end_us - x->begin_us, n = y->end_us - y->begin_us;
	if (m != n)
		return m < n ? 1 : -1;
	return x->begin_us < y->begin_us ? -1 : x->begin_us > y->begin_us;
}

// The longest of random gaps, many of them equal, against all of them sorted.
static void test_gaps_keep_the_longest(void **state)
{
	enum { N = 3000, KEEP = 17 };
	struct amdlog_gap *all = calloc(N, sizeof(*all));
	struct amdlog_gaps g = {.keep = KEEP};
	const struct gaps_queue *q;
	struct rng rng = {2};
	uint64_t us = 1000;

	(void)state;
	amdlog_gaps_add(&g, 3, us, 0);
	for (unsigned i = 0; i < N; i++) {
		all[i].begin_us = us;
		us += 1 + rng_below(&rng, 200);
		all[i].end_us = us;
		amdlog_gaps_add(&g, 3, us, i + 1);
	}
	qsort(all, N, sizeof(*all), by_length);
	q = amdlog_gaps_of(&g, 3);
	assert_non_null(q);
	assert_int_equal(q->count, N + 1);
	assert_int_equal(q->nworst, KEEP);
	qsort(q->worst, KEEP, sizeof(*q->worst), by_length);
	for (unsigned i = 0; i < KEEP; i++) {
		assert_int_equal(q->worst[i].begin_us, all[i].begin_us);
		assert_int_equal(q->worst[i].end_us, all[i].end_us);
	}
	assert_null(amdlog_gaps_of(&g, 2));
	assert_null(amdlog_gaps_of(&g, 99));
	amdlog_gaps_fini(&g);
	free(all);
}

// Records of several threads step back: such a dispatch ends no gap and begins none.
static void test_gaps_steps_back(void **state)
{
	struct amdlog_gaps g = {.keep = 4};
	const struct gaps_queue *q;
	struct hist h;
	(void)state;
	amdlog_gaps_add(&g, 0, 100, 5);
	amdlog_gaps_add(&g, 0, 90, 6);
	amdlog_gaps_add(&g, 0, AMDLOG_UNKNOWN, 7);
	amdlog_gaps_add(&g, 1, 150, 8);
	amdlog_gaps_add(&g, 0, 250, 9);
	amdlog_gaps_add(&g, GAPS_ALL, 260, 1); // of no known queue
	q = amdlog_gaps_of(&g, 0);
	assert_int_equal(q->nworst, 1);
	assert_int_equal(q->worst[0].begin_us, 100);
	assert_int_equal(q->worst[0].end_us, 250);
	assert_int_equal(q->worst[0].backlog, 5);
	assert_true(keyed_histogram_get(&g.lengths, GAPS_ALL + 1, &h));
	assert_int_equal(h.count, 3); // 100 to 150, to 250, to 260
	assert_int_equal(h.max, 100);
	assert_true(keyed_histogram_get(&g.lengths, 1, &h));
	assert_int_equal(h.count, 1);
	assert_false(keyed_histogram_get(&g.lengths, 2, &h));
	amdlog_gaps_fini(&g);
}

static void add_dispatch(struct amdlog_series *s, uint32_t queue, uint64_t us, uint64_t backlog)
{
	struct amdlog_record r = {.kind = AMDLOG_DISPATCH, .time_us = us};
	struct amdlog_packet p = {.rptr = 1000, .wptr = 1000 + backlog};
	struct amdlog_event e = {.record = &r, .packet = &p, .queue = queue};
	amdlog_series_add(s, &e);
}

// Time goes on, then far back, then on: as counted in a plain array.
static void test_series(void **state)
{
	enum { INTERVALS = 5000, QUEUES = 5 };
	uint32_t(*want)[INTERVALS] = calloc(QUEUES, sizeof(*want));
	struct amdlog_series s = {.width_us = 10};
	struct rng rng = {3};

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t q = (uint32_t)rng_below(&rng, QUEUES);
		uint64_t us = 3000 * 10 + rng_below(&rng, 10 + i);
		if (i % 3 == 0)
			us = 30000 - rng_below(&rng, 10 + i);
		add_dispatch(&s, q, us, i % 7);
		want[q][us / 10]++;
	}
	for (unsigned i = 0; i < INTERVALS; i++) {
		uint32_t all = 0, queues = 0;
		for (unsigned q = 0; q < QUEUES; q++) {
			assert_int_equal(amdlog_series_at(&s.queues[q], i).dispatches, want[q][i]);
			all += want[q][i];
			queues += want[q][i] > 0;
		}
		assert_int_equal(amdlog_series_at(&s.all, i).dispatches, all);
		assert_int_equal(amdlog_series_at(&s.all, i).queues, queues);
	}
	assert_int_equal(amdlog_series_sum(&s.all, 0, INTERVALS).dispatches, 20000);
	assert_int_equal(amdlog_series_sum(&s.all, 0, INTERVALS).backlog_max, 6);
	// Of several intervals the most queues that were busy at once.
	assert_int_equal(amdlog_series_sum(&s.all, 0, INTERVALS).queues, QUEUES);
	assert_false(s.incomplete);
	assert_int_equal(s.least_us, 0);
	amdlog_series_fini(&s);
	free(want);
}

// The longest series there may be, and one interval more; steadily backwards, which must not take
// the square of the time.
static void test_series_limit(void **state)
{
	struct amdlog_series s = {.width_us = 1000};
	uint64_t last = (uint64_t)SERIES_INTERVALS_MAX + 99;
	(void)state;
	for (uint64_t i = last; i >= 100; i--)
		add_dispatch(&s, AMDLOG_NONE, i * 1000 + 999, 0);
	amdlog_series_finish(&s, &(struct amdlog_span){100000, last * 1000 + 999});
	assert_int_equal(s.least_us, 0);
	assert_false(s.incomplete);
	assert_int_equal(s.all.end - s.all.first, SERIES_INTERVALS_MAX);
	assert_int_equal(amdlog_series_sum(&s.all, 0, last + 1).dispatches, SERIES_INTERVALS_MAX);
	add_dispatch(&s, AMDLOG_NONE, 99 * 1000, 0);
	amdlog_series_finish(&s, &(struct amdlog_span){99000, last * 1000 + 999});
	assert_true(s.least_us > 1000);
	assert_int_equal(s.all.first, 99);
	assert_int_equal(s.all.end, last);
	assert_int_equal(amdlog_series_sum(&s.all, s.all.first, s.all.end).dispatches,
			 SERIES_INTERVALS_MAX);
	// A clock that means nothing
	add_dispatch(&s, AMDLOG_NONE, UINT64_MAX - 1, 0);
	add_dispatch(&s, AMDLOG_NONE, AMDLOG_UNKNOWN, 0);
	amdlog_series_finish(&s, &(struct amdlog_span){99000, UINT64_MAX - 1});
	assert_int_equal(s.all.end, last);
	assert_false(s.incomplete);
	amdlog_series_fini(&s);
}

static size_t overlapping(const struct amdlog_windows *w, uint64_t begin, uint64_t end)
{
	size_t n = 0;
	for (size_t i = 0; (i = amdlog_windows_next(w, i, begin, end)) < w->n; i++)
		n++;
	return n;
}

// Windows that overlap each other, looked up in all places, against a look at each of them.
static void test_windows(void **state)
{
	struct amdlog_windows w = {0};
	struct rng rng = {4};
	char text[64];
	size_t line;
	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		uint64_t begin = rng_below(&rng, 1000);
		int n = snprintf(text, sizeof(text), "%u %u w%u\n", (unsigned)begin,
				 (unsigned)(begin + rng_below(&rng, i % 50 ? 20 : 500)), i);
		assert_int_equal(amdlog_windows_read(&w, text, (size_t)n, &line), WINDOWS_OK);
	}
	amdlog_windows_sort(&w);
	for (uint64_t begin = 0; begin < 1600; begin += 3) {
		for (uint64_t end = begin + 1; end < begin + 40; end += 5) {
			size_t want = 0;
			for (size_t i = 0; i < w.n; i++)
				want += w.v[i].begin_us < end && w.v[i].end_us > begin;
			assert_int_equal(overlapping(&w, begin, end), want);
		}
	}
	amdlog_windows_fini(&w);
}

// Every cut of a file that has all forms: no crash, and no window but those in front of the cut.
static void test_windows_cut(void **state)
{
	static const char all[] =
		"10 20 a\n{\"begin_us\":30,\"end_us\":40,\"label\":\"b\"}\n5s 6s\n"
		"{\"record\":\"queue\",\"pid\":1,\"result\":\"suspended\",\"at_ns\":7000,"
		"\"latency_ns\":1000}\n"
		"{\"record\":\"queue\",\"pid\":1,\"result\":\"resumed\",\"at_ns\":9000}\n";
	size_t line;
	(void)state;
	for (size_t len = 0; len < sizeof(all); len++) {
		struct amdlog_windows w = {0};
		enum windows_fault fault = amdlog_windows_read(&w, all, len, &line);
		assert_true(w.n <= 4);
		if (len == sizeof(all) - 1) {
			assert_int_equal(fault, WINDOWS_OK);
			assert_int_equal(w.n, 4);
			assert_int_equal(w.v[2].begin_us, 5000000);
			assert_int_equal(w.v[3].begin_us, 6);
			assert_int_equal(w.v[3].end_us, 9);
			assert_string_equal(w.v[3].label, "pid 1");
		}
		amdlog_windows_fini(&w);
	}
}

// What gpq resume --ndjson prints, without what gpq suspend printed before: no window.
static void test_windows_resumed_only(void **state)
{
	static const char line[] =
		"{\"record\":\"queue\",\"pid\":1,\"result\":\"resumed\",\"at_ns\":9000}\n"
		"{\"record\":\"queue\",\"pid\":1,\"result\":\"resumed\",\"at_ns\":9000}\n";
	struct amdlog_windows w = {0};
	size_t at;
	(void)state;
	assert_int_equal(amdlog_windows_read(&w, line, strlen(line), &at), WINDOWS_OK);
	assert_int_equal(w.n, 0);
	amdlog_windows_fini(&w);
}

// One line of each form, with the window that it tells, counted by hand.
static void test_windows_forms(void **state)
{
	static const struct {
		const char *text;
		enum windows_fault fault;
		uint64_t begin, end; // end 0: no window
		const char *label;
	} rows[] = {
		{"10 20 a", WINDOWS_OK, 10, 20, "a"},
		{" 10 20 a", WINDOWS_OK, 10, 20, "a"},
		{"\t \t10 20 a", WINDOWS_OK, 10, 20, "a"},
		{"10 20 a \t\r", WINDOWS_OK, 10, 20, "a"},
		{"# 10 20 a", WINDOWS_OK, 0, 0, NULL},
		{"  # 10 20 a", WINDOWS_OK, 0, 0, NULL},
		{"", WINDOWS_OK, 0, 0, NULL},
		{" \t\r", WINDOWS_OK, 0, 0, NULL},
		{"\t{\"begin_us\":10,\"end_us\":20,\"label\":\"a\"}", WINDOWS_OK, 10, 20, "a"},
		{"{\"begin_us\":10}", WINDOWS_OK, 10, UINT64_MAX, ""},
		{"{\"begin_us\":20,\"end_us\":20}", WINDOWS_OK, 20, 20, ""},
		{"{\"begin_us\":21,\"end_us\":20}", WINDOWS_BACKWARDS, 0, 0, NULL},
		{"{\"begin_ns\":10999,\"end_ns\":20000,\"label\":\"b\"}", WINDOWS_OK, 10, 20, "b"},
		{"{\"begin_ns\":10000}", WINDOWS_OK, 10, UINT64_MAX, ""},
		{"{\"begin_ns\":21000,\"end_ns\":20999}", WINDOWS_BACKWARDS, 0, 0, NULL},
		{"{\"begin_us\":10,\"begin_ns\":15000,\"end_us\":20,\"end_ns\":30000}", WINDOWS_OK,
		 10, 20, ""},
		{"{\"end_us\":20}", WINDOWS_OK, 0, 0, NULL},
		{"{\"record\":\"preempt_cycle\",\"cycle\":3,\"at_ns\":1000,\"suspend_ns\":20000,"
		 "\"held_ns\":300000,\"resume_ns\":4000000}",
		 WINDOWS_OK, 1, 4321, "cycle 3"},
		{"{\"record\":\"preempt_cycle\",\"at_ns\":1000,\"suspend_ns\":0,\"held_ns\":0,"
		 "\"resume_ns\":1000}",
		 WINDOWS_OK, 1, 2, ""},
		{"{\"record\":\"preempt_cycle\",\"suspend_ns\":1,\"held_ns\":1,\"resume_ns\":1}",
		 WINDOWS_OK, 0, 0, NULL},
		{"{\"record\":\"preempt_cycle\",\"at_ns\":1,\"held_ns\":1,\"resume_ns\":1}",
		 WINDOWS_OK, 0, 0, NULL},
		{"{\"record\":\"preempt_cycle\",\"at_ns\":1,\"suspend_ns\":1,\"resume_ns\":1}",
		 WINDOWS_OK, 0, 0, NULL},
		{"{\"record\":\"preempt_cycle\",\"at_ns\":1,\"suspend_ns\":1,\"held_ns\":1}",
		 WINDOWS_OK, 0, 0, NULL},
		{"{\"record\":\"queue\",\"pid\":7,\"result\":\"suspended\",\"at_ns\":9000,"
		 "\"latency_ns\":2000,\"until_ns\":30000}",
		 WINDOWS_OK, 7, 30, "pid 7"},
		{"{\"record\":\"queue\",\"pid\":7,\"result\":\"suspended\",\"at_ns\":9000}",
		 WINDOWS_OK, 9, UINT64_MAX, "pid 7"},
		{"{\"record\":\"queue\",\"pid\":7,\"result\":\"failed\",\"at_ns\":9000}",
		 WINDOWS_OK, 0, 0, NULL},
		{"{\"record\":\"queue\",\"result\":\"suspended\",\"at_ns\":9000}", WINDOWS_OK, 0, 0,
		 NULL},
		{"{\"record\":\"queue\",\"pid\":7,\"result\":\"suspended\"}", WINDOWS_OK, 0, 0,
		 NULL},
		{"{\"record\":\"other\",\"pid\":7,\"result\":\"suspended\",\"at_ns\":9000}",
		 WINDOWS_OK, 0, 0, NULL},
		{"{\"begin_us\":10", WINDOWS_NO_JSON, 0, 0, NULL},
		{"{\"begin_us\":10,\"end_us\":20} x", WINDOWS_NO_JSON, 0, 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct amdlog_windows w = {0};
		size_t line;
		const enum windows_fault fault =
			amdlog_windows_read(&w, rows[i].text, strlen(rows[i].text), &line);
		if (fault != rows[i].fault || w.n != (rows[i].end != 0))
			fail_msg("row %zu: fault %d, %zu windows", i, fault, w.n);
		if (w.n && (w.v[0].begin_us != rows[i].begin || w.v[0].end_us != rows[i].end))
			fail_msg("row %zu: %ju to %ju", i, (uintmax_t)w.v[0].begin_us,
				 (uintmax_t)w.v[0].end_us);
		if (w.n)
			assert_string_equal(w.v[0].label, rows[i].label);
		amdlog_windows_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keyed_histogram),
		cmocka_unit_test(test_gaps_keep_the_longest),
		cmocka_unit_test(test_gaps_steps_back),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_series_limit),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_windows_cut),
		cmocka_unit_test(test_windows_forms),
		cmocka_unit_test(test_windows_resumed_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
