// libFuzzer target: lines of raw samples (common/bench/raw.c, ab_result.c, common/cli/members.c,
// jsonin.c).
//
// Beside not crashing: what was taken for a sample is written and read again as the same, and can
// be added up.
#include "common/bench/ab.h"
#include "common/bench/raw.h"
#include "common/bench/result.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void check_cycle(const struct bench_context *context, const struct cycle *c)
{
	static struct bench_context again_context;
	struct cycle again;
	struct buf line = {0};
	raw_write(&line, context, c);
	require(raw_read(line.data, line.len - 1, &again_context, &again));
	require(memcmp(c, &again, sizeof(again)) == 0);
	buf_fini(&line);
}

static void check_sum(const struct cycle *c)
{
	const struct result_goals goals = {1, 1, 1, 1};
	struct result_verdict v[RESULT_GOALS];
	struct result r = {0};
	require(result_add(&r, c) == 0);
	result_judge(r.of[0], &goals, v);
	result_fini(&r);
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
		ab_judge(&a, run.mode);
		queue_sets_compare(&all, a.queue_set, a.nqueue_sets);
		queue_sets_fini(&all);
		ab_result_fini(&a);
	}
	ab_run_fini(&run);
	return 0;
}
