// libFuzzer target: a log read in blocks by several workers, where lines repeat and the caches
// serve, says the same as the log scanned line by line, which has no caches.
//
// The first byte chooses the size of the blocks and whether every record is taken one by one, the
// second the number of workers, the loop (of those this processor can run) and the filter. Blocks
// are read ahead of those that are taken, each by any worker, as threads do. The text is read three
// times over, so that what the first copy leaves in the caches meets the others. With
// -DAMDLOG_NO_CACHES the same without caches.
#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/reading.h"
#include "common/cli/opts.h"
#include "common/host/std.h"
#include "tests/fuzz/require.h"

#include <stdlib.h>
#include <string.h>

#define COPIES  3
#define WORKERS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool names_layer(void *ctx, const char *name, size_t len)
{
	(void)ctx;
	return memmem(name, len, "layer", 5);
}

static const pid_t pids[] = {4711, 5711, 182280};
static const struct amdlog_filter filters[] = {
	{.until_us = AMDLOG_UNKNOWN},
	{.until_us = AMDLOG_UNKNOWN, .pids = pids, .npids = 3},
	{.since_us = 90001100, .until_us = 90001950},
	{.since_us = 300, .since_relative = true, .until_us = 90001950},
	{.until_us = 700, .until_relative = true, .pids = pids, .npids = 1},
	{.until_us = AMDLOG_UNKNOWN, .kernel = names_layer},
	{.until_us = AMDLOG_UNKNOWN, .text = true},
	{.until_us = 700, .until_relative = true, .text = true},
};

// What the filters by text ask for.
static const struct grep *pattern(void)
{
	static struct grep *grep;
	static char *want[] = {(char *)(uintptr_t) "rptr=[^,]*, wptr|hipLaunch\\w+\\s"};
	if (!grep) {
		grep = grep_new(':');
		require(grep && grep_add(grep, GREP_WANT, "", &(struct words){want, 1}) == 0);
	}
	return grep;
}

// How a log is read.
struct way {
	size_t step; // of a block; 0: scanned
	uint32_t kinds;
	unsigned loop, workers;
	const struct amdlog_filter *filter;
	bool resumed;
};

// A block that is read and not taken yet.
struct ahead {
	const char *text;
	size_t len;
	bool read;
	struct block_result result;
	struct grep_hits hits;
};

struct run {
	const struct way *way;
	struct amdlog_reading reading;
	struct block_reader *reader[WORKERS];
	struct grepper *grepper[WORKERS];
	struct ahead ahead[WORKERS];
	unsigned last; // worker that read the block before
};

static void count_event(void *ctx, const struct amdlog_event *e)
{
	uint64_t *sum = ctx;
	*sum = *sum * 31 + e->record->offset + e->record->kind + e->record->msg_len + e->kernel +
	       e->queue + e->cut + e->record->style + e->record->name_len;
}

static size_t line_end(const char *text, size_t len, size_t at)
{
	const char *newline = at < len ? memchr(text + at, '\n', len - at) : NULL;
	return newline ? (size_t)(newline - text) + 1 : len;
}

static void scan(struct run *r, const char *text, size_t len)
{
	for (size_t at = 0, to; at < len; at = to) {
		to = line_end(text, len, at);
		amdlog_reading_take(&r->reading, text + at, to - at, NULL, NULL);
	}
}

static void read_block(struct run *r, struct ahead *a)
{
	bool text = r->way->filter->text;
	unsigned worker = (r->last * 5 + (unsigned)a->len) % r->way->workers;
	r->last = worker + 1;
	a->read = a->text[a->len - 1] == '\n' && amdlog_reading_settled(&r->reading);
	if (!a->read)
		return;
	if (text)
		grepper_lines(r->grepper[worker], a->text, a->len, &a->hits);
	block_read(r->reader[worker], &a->result, text ? &a->hits : NULL, a->text, a->len);
}

static void read_blocks(struct run *r, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		unsigned n = 0;
		for (; n < r->way->workers && at < len; n++) {
			size_t to = line_end(text, len, at + r->way->step);
			r->ahead[n].text = text + at;
			r->ahead[n].len = to - at;
			read_block(r, &r->ahead[n]);
			at = to;
		}
		for (unsigned i = 0; i < n; i++) {
			struct ahead *a = &r->ahead[i];
			amdlog_reading_take(&r->reading, a->text, a->len,
					    a->read ? &a->result : NULL,
					    a->read && r->way->filter->text ? &a->hits : NULL);
		}
	}
}

static void begin(struct run *r, struct amdlog_summary *sum, const struct way *way,
		  uint64_t *events)
{
	const struct grep *grep = way->filter->text ? pattern() : NULL;
	*r = (struct run){.way = way};
	amdlog_summary_init(sum, way->filter);
	sum->part.resumed = way->resumed;
	amdlog_reading_init(&r->reading, sum, grep);
	r->reading.ctx = events;
	r->reading.event = way->kinds ? count_event : NULL;
	for (unsigned i = 0; way->step && i < way->workers; i++) {
		r->reader[i] = amdlog_reading_worker(&r->reading, way->kinds);
		block_reader_use(r->reader[i], way->loop);
		r->grepper[i] = grep ? grepper_new(grep) : NULL;
	}
}

static void end(struct run *r)
{
	for (unsigned i = 0; i < WORKERS; i++) {
		block_reader_free(r->reader[i]);
		grepper_free(r->grepper[i]);
		block_result_fini(&r->ahead[i].result);
		grep_hits_fini(&r->ahead[i].hits);
	}
	amdlog_reading_fini(&r->reading);
}

// All that is known at the end, as text.
static void read_log(struct buf *out, const char *text, size_t len, const struct way *way)
{
	struct amdlog_summary sum;
	struct amdlog_part part = {.file = (char *)(uintptr_t) "log", .sum = &sum};
	static struct run r;
	uint64_t events = 0;
	begin(&r, &sum, way, &events);
	if (way->step)
		read_blocks(&r, text, len);
	else
		scan(&r, text, len);
	amdlog_reading_end(&r.reading);
	part.counts = r.reading.scan->counts;
	part.mended = r.reading.reassembly->mended;
	amdlog_partial_write(out, &part);
	buf_printf(out, "%llu steps back, events %llx\n", (unsigned long long)sum.totals.steps_back,
		   (unsigned long long)events);
	end(&r);
	amdlog_summary_fini(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf want = {0}, got = {0};
	struct way way = {0}, slow;
	size_t len;
	char *text;
	if (size < 3)
		return 0;
	len = (size - 2) * COPIES;
	way.step = data[0] & 1 ? len : (size_t)data[0] * 16 + 1;
	way.kinds = data[0] & 2 ? UINT32_MAX : 0;
	way.workers = 1 + data[1] % WORKERS;
	way.loop = data[1] / 4 & 1;
	way.filter = &filters[data[1] / 8 % 8];
	way.resumed = data[1] / 64 & 1;
	slow = way;
	slow.step = 0;
	text = calloc(1, 1 + len + AMDLOG_PAD); // a byte in front, as blocks have
	require(text != NULL);
	for (unsigned i = 0; i < COPIES; i++)
		memcpy(text + 1 + i * (size - 2), data + 2, size - 2);
	read_log(&want, text + 1, len, &slow);
	read_log(&got, text + 1, len, &way);
	require(want.len == got.len && memcmp(want.data, got.data, want.len) == 0);
	free(text);
	buf_fini(&want);
	buf_fini(&got);
	return 0;
}
