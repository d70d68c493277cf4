// libFuzzer target: parts of logs (common/amdlog/merge/partial.c, merge.c).
//
// Beside not crashing: what was taken for a part is written and read again as the same bytes, and
// can be added to itself.
#include "common/amdlog/merge/partial.h"
#include "tests/fuzz/require.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct amdlog_part *part, int times)
{
	struct amdlog_part part2;
	struct amdlog_summary s2;
	struct buf line = {0}, again = {0};
	const char *why;
	amdlog_partial_write(&line, part);
	require(amdlog_partial_read(line.data, line.len - 1, &part2, &s2, &why));
	amdlog_partial_write(&again, &part2);
	if (times == 1)
		require(line.len == again.len && !memcmp(line.data, again.data, line.len));
	else // the first time bytes that are no text were replaced
		write_again(&part2, times - 1);
	amdlog_summary_fini(&s2);
	amdlog_part_fini(&part2);
	buf_fini(&line);
	buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct amdlog_part part;
	struct amdlog_summary s;
	struct amdlog_merge m;
	const char *why;
	if (amdlog_partial_place((const char *)data, size, &part))
		amdlog_part_fini(&part);
	if (!amdlog_partial_read((const char *)data, size, &part, &s, &why))
		return 0;
	write_again(&part, 2);
	amdlog_merge_init(&m);
	amdlog_merge_add(&m, &part, true);
	amdlog_merge_add(&m, &part, false);
	amdlog_summary_finish(&m.sum);
	amdlog_merge_fini(&m);
	amdlog_summary_fini(&s);
	amdlog_part_fini(&part);
	return 0;
}
