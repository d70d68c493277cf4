// libFuzzer target: a log read in blocks, where lines repeat and the caches serve, says the same as
// the log scanned from front to end, which has no caches; with each of the loops this processor can
// run. The first byte chooses the size of the blocks and what is taken one by one; the text is read
// three times over, so that what the first copy leaves in the caches meets the others.
// With -DAMDLOG_NO_CACHES the same without caches.
#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/reading.h"
#include "common/host/buf.h"

#include <stdlib.h>
#include <string.h>

#define COPIES 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_event(void *ctx, const struct amdlog_event *e)
{
	uint64_t *sum = ctx;

	*sum = *sum * 31 + e->record->offset + e->record->kind + e->record->msg_len + e->kernel +
	       e->queue + e->torn + e->record->style + e->record->name_len;
}

// All that is known at the end, as text; `step` 0: scanned.
static void read_log(struct buf *out, const char *text, size_t len, size_t step, uint32_t kinds,
		     unsigned loop)
{
	const struct amdlog_filter all = {.until_us = AMDLOG_UNKNOWN};
	struct amdlog_summary sum;
	struct amdlog_part part = {.file = (char *)(uintptr_t) "log", .sum = &sum};
	struct amdlog_reading reading;
	struct block_reader *worker;
	struct block_result result = {0};
	uint64_t events = 0;

	amdlog_summary_init(&sum, &all);
	amdlog_reading_init(&reading, &sum, NULL);
	reading.ctx = &events;
	reading.event = kinds ? count_event : NULL;
	worker = amdlog_reading_worker(&reading, kinds);
	block_reader_use(worker, loop);
	for (size_t at = 0, to; at < len; at = to) {
		const char *newline =
			at + step < len ? memchr(text + at + step, '\n', len - at - step) : NULL;
		bool lines;

		to = newline ? (size_t)(newline - text) + 1 : len;
		lines = step && text[to - 1] == '\n';
		if (lines)
			block_read(worker, &result, NULL, text + at, to - at);
		amdlog_reading_take(&reading, text + at, to - at, lines ? &result : NULL, NULL);
	}
	amdlog_reading_end(&reading);
	part.counts = reading.scan->counts;
	part.mended = reading.reassembly->mended;
	amdlog_partial_write(out, &part);
	buf_printf(out, "%llu steps back, events %llx\n", (unsigned long long)sum.totals.steps_back,
		   (unsigned long long)events);
	block_reader_free(worker);
	block_result_fini(&result);
	amdlog_reading_fini(&reading);
	amdlog_summary_fini(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf want = {0}, got = {0};
	size_t len = (size - (size > 0)) * COPIES, step;
	char *text;

	if (size < 2)
		return 0;
	text = calloc(1, 1 + len + AMDLOG_PAD); // a byte in front, as blocks have
	for (unsigned i = 0; i < COPIES; i++)
		memcpy(text + 1 + i * (size - 1), data + 1, size - 1);
	step = data[0] & 1 ? len : (size_t)data[0] * 16 + 1;
	for (unsigned loop = 0; loop < 2; loop++) {
		uint32_t kinds = data[0] & 2 ? UINT32_MAX : 0;

		want.len = got.len = 0;
		read_log(&want, text + 1, len, 0, kinds, loop);
		read_log(&got, text + 1, len, step, kinds, loop);
		if (want.len != got.len || memcmp(want.data, got.data, want.len) != 0)
			abort();
	}
	free(text);
	buf_fini(&want);
	buf_fini(&got);
	return 0;
}
