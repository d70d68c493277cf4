// libFuzzer target: lines of raw samples (common/bench/raw.c, ab_result.c, common/out/members.c,
// jsonin.c).
//
// Beside not crashing: what was taken for a sample is written and read again as the same, and can
// be added up.
#include "common/bench/ab.h"
#include "common/bench/raw.h"
#include "common/bench/require.h"
#include "tests/fuzz/require.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cycle(const struct bench_context *context, const struct cycle *c)
{
	static struct bench_context again_context;
	struct cycle again;
	struct buf line = {0}, same = {0};
	raw_write(&line, context, c);
	require(raw_read(line.data, line.len - 1, &again_context, &again));
	raw_write(&same, &again_context, &again);
	require(line.len == same.len && memcmp(line.data, same.data, line.len) == 0);
	buf_fini(&line);
	buf_fini(&same);
}

static void check_sum(const struct cycle *c)
{
	static struct load_run run;
	const struct words none = {0};
	struct requirements goals = {0};
	struct judged *v;
	require(result_add(&run.result, c) == 0);
	require(require_parse(&goals, &none, &none, REQUIRE_PREEMPT) == 0);
	require_judge(&goals, &run, &v);
	free(v);
	require_fini(&goals);
	result_fini(&run.result);
}

static bool copy_run(struct buf *to, const char *text, size_t len)
{
	static struct bench_context context;
	struct ab_run run;
	bool ok = ab_read(text, len, &context, &run);
	to->len = 0;
	if (ok)
		ab_write(to, &context, &run);
	ab_run_fini(&run);
	return ok;
}

static void check_run(const char *text, size_t len)
{
	struct buf line = {0}, same = {0};
	if (copy_run(&line, text, len)) {
		require(copy_run(&same, line.data, line.len));
		require(line.len == same.len && memcmp(line.data, same.data, line.len) == 0);
	}
	buf_fini(&line);
	buf_fini(&same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench_context context;
	struct cycle c;
	struct ab_run run;
	if (raw_read((const char *)data, size, &context, &c)) {
		check_cycle(&context, &c);
		check_sum(&c);
	}
	if (ab_read((const char *)data, size, &context, &run)) {
		struct ab_result a = {0};
		struct queue_sets all;
		ab_result_add(&a, &run);
		ab_judge(&a, run.mode, SIZE_MAX);
		queue_sets_compare(&all, a.queue_set, a.nqueue_sets);
		queue_sets_fini(&all);
		ab_result_fini(&a);
	}
	ab_run_fini(&run);
	check_run((const char *)data, size);
	return 0;
}
