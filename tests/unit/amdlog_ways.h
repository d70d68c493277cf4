// Reading a log in blocks by several threads, and scanning it from front to end: what the tests of
// both share.
#pragma once

#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/reading.h"
#include "common/cli/opts.h"
#include "common/host/blocks.h"
#include "common/host/std.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4

// With sanitizers one of so many bytes, filters, files and random cases is tried: each try makes
// tables of its own, whose pages cost more than what is tested, and what is said of it is compared
// at all of them without.
#ifdef __SANITIZE_ADDRESS__
enum { OF_BYTES = 39, OF_FILTERS = 7, OF_FILES = 9 };
#else
enum { OF_BYTES = 1, OF_FILTERS = 1, OF_FILES = 1 };
#endif

// What a thread finds out of a block.
struct found {
	struct block_result result;
	struct grep_hits hits;
};

struct run {
	struct amdlog_summary sum;
	struct amdlog_reading reading;
	struct block_reader *readers[THREADS];
	struct grepper *greppers[THREADS];
	const char *text; // of a stream
	size_t left, step;
	uint64_t items, results;
	uint64_t events, sum_of_events; // how many, and what they say
	uint64_t scanned;               // bytes of lines that blocks left to the scanner
};

static inline bool names_layer(void *ctx, const char *name, size_t len)
{
	(void)ctx;
	return memmem(name, len, "layer", 5);
}

static const pid_t pids[] = {4711, 5711, 182280};
static const struct filter {
	struct amdlog_filter f;
	const char *grep, *grep_not; // regular expressions
	uint32_t kinds;              // taken one by one
	bool resumed;                // a part of a log
} filters[] = {
	{.f = {.until_us = AMDLOG_UNKNOWN}},
	{.f = {.until_us = AMDLOG_UNKNOWN, .pids = pids, .npids = 3}},
	{.f = {.since_us = 90001100, .until_us = 90001950}},
	{.f = {.since_us = 300, .since_relative = true, .until_us = 90001950}},
	{.f = {.until_us = 700, .until_relative = true, .pids = pids, .npids = 1}},
	{.f = {.until_us = AMDLOG_UNKNOWN, .kernel = names_layer}},
	{.f = {.until_us = AMDLOG_UNKNOWN, .text = true},
	 .grep = "rptr=[^,]*, wptr|hipLaunch\\w+\\s"},
	{.f = {.until_us = AMDLOG_UNKNOWN, .text = true},
	 .grep = "^:[34]:[^_]+:",
	 .grep_not = "Success$"},
	{.f = {.until_us = 700, .until_relative = true, .text = true},
	 .grep_not = "(?s)\\d{4} us.*=0x"},
	{.f = {.until_us = AMDLOG_UNKNOWN}, .kinds = UINT32_MAX},
	{.f = {.until_us = AMDLOG_UNKNOWN}, .resumed = true},
	{.f = {.until_us = AMDLOG_UNKNOWN, .text = true},
	 .grep = "hip\\w+\\s",
	 .kinds = UINT32_MAX,
	 .resumed = true},
};
#define FILTERS (sizeof(filters) / sizeof(filters[0]))
static const struct filter *filter; // the one that is tried
static struct grep *grep;
// The block readers' loop: 0 is the one that runs anywhere. One that this processor does not have:
// the fastest it has.
#define LOOPS 2
static unsigned loop = LOOPS - 1;

// Everything the summary and the scanner know, as text.
static inline void dump(struct run *r, struct buf *out)
{
	struct amdlog_part part = {.file = (char *)(uintptr_t) "log",
				   .counts = r->reading.scan->counts,
				   .mended = r->reading.reassembly->mended,
				   .sum = &r->sum};
	out->len = 0;
	amdlog_partial_write(out, &part);
	buf_printf(out, "%u queues, %u kernels, %llu steps back, events %llu %llx\n",
		   r->sum.nqueues, r->sum.nkernels, (unsigned long long)r->sum.totals.steps_back,
		   (unsigned long long)r->events, (unsigned long long)r->sum_of_events);
}

static inline void finish(struct run *r, struct buf *out)
{
	amdlog_reading_end(&r->reading);
	dump(r, out);
	for (unsigned i = 0; i < THREADS; i++) {
		block_reader_free(r->readers[i]);
		grepper_free(r->greppers[i]);
	}
	amdlog_reading_fini(&r->reading);
	amdlog_summary_fini(&r->sum);
}

static inline void mix(struct run *r, const void *data, size_t n)
{
	const unsigned char *p = data;
	while (n--)
		r->sum_of_events = (r->sum_of_events ^ *p++) * UINT64_C(0x100000001b3);
}

// All that is known of a record that is taken one by one, in order.
static inline void take_event(void *ctx, const struct amdlog_event *e)
{
	const struct amdlog_record *rec = e->record;
	const uint64_t values[] = {
		rec->offset,       rec->time_us,    rec->level,
		rec->style,        rec->kind,       rec->ended,
		rec->msg_len,      rec->len,        (uint64_t)(rec->msg - rec->text),
		e->thread_id->tid, e->queue,        (uint64_t)e->thread_id->pid,
		e->kernel,         e->cut,          e->packet ? e->packet->wptr : 1,
		e->stream,         e->stream_queue, e->packet ? e->packet->grid[0] : 1,
	};
	struct run *r = ctx;
	r->events++;
	mix(r, values, sizeof(values));
	mix(r, rec->text, rec->len);
	if (e->packet) {
		const struct amdlog_packet *p = e->packet;
		const uint64_t fields[] = {p->hwq,     p->swq,          p->kernel_obj,
					   p->rptr,    (uint64_t)p->id, p->workgroup[0],
					   p->grid[1], p->grid[2],      p->workgroup[1],
					   p->whole,   p->ends,         p->workgroup[2]};
		mix(r, fields, sizeof(fields));
	}
	if (rec->kind == AMDLOG_API_ENTRY || rec->kind == AMDLOG_API_RETURN)
		mix(r, &rec->name_len, sizeof(rec->name_len));
}

static inline void begin(struct run *r, unsigned threads)
{
	*r = (struct run){.text = NULL};
	amdlog_summary_init(&r->sum, &filter->f);
	if (filter->resumed)
		r->sum.part.resumed = true;
	amdlog_reading_init(&r->reading, &r->sum, grep);
	r->reading.ctx = r;
	r->reading.event = filter->kinds ? take_event : NULL;
	for (unsigned i = 0; i < threads; i++) {
		assert_non_null(r->readers[i] = amdlog_reading_worker(&r->reading, filter->kinds));
		block_reader_use(r->readers[i], loop);
		assert_true(!grep || (r->greppers[i] = grepper_new(grep)));
	}
}

static inline void in_order(const char *text, size_t len, struct buf *out)
{
	struct run r;
	begin(&r, 0);
	amdlog_scan_feed(r.reading.scan, text, len);
	finish(&r, out);
}

static inline void init(void *ctx, struct block *b)
{
	(void)ctx;
	b->user = calloc(1, sizeof(struct found));
	assert_non_null(b->user);
}

static inline void fini(void *ctx, struct block *b)
{
	struct found *f = b->user;
	(void)ctx;
	if (f) {
		block_result_fini(&f->result);
		grep_hits_fini(&f->hits);
	}
	free(f);
}

static inline void work(void *ctx, unsigned worker, struct block *b)
{
	struct run *r = ctx;
	struct found *f = b->user;
	struct grep_hits *hits = grep ? &f->hits : NULL;
	if (b->lines && grep) {
		grepper_lines(r->greppers[worker], b->text, b->len, hits);
		assert_int_equal(hits->error, 0);
	}
	f->result.slow = !b->lines || !amdlog_reading_settled(&r->reading);
	if (!f->result.slow)
		block_read(r->readers[worker], &f->result, hits, b->text, b->len);
}

static inline int take(void *ctx, struct block *b)
{
	struct run *r = ctx;
	struct found *f = b->lines ? b->user : NULL;
	struct block_result *d = f ? &f->result : NULL;
	if (d && !d->slow) {
		r->results++;
		r->items += d->nitems;
		for (uint32_t i = 0; i < d->nitems; i++)
			r->scanned += d->items[i].what == BLOCK_LINES ? d->items[i].r.len : 0;
	}
	amdlog_reading_take(&r->reading, b->text, b->len, d, f && grep ? &f->hits : NULL);
	return 0;
}

static inline ssize_t give(void *ctx, char *to, size_t n)
{
	struct run *r = ctx;
	n = n < r->left ? n : r->left;
	n = r->step && n > r->step ? r->step : n;
	memcpy(to, r->text, n);
	r->text += n;
	r->left -= n;
	return (ssize_t)n;
}

// As a file (`fd`), or as a stream that gives `step` bytes at once.
static inline void in_blocks(const char *text, size_t len, int fd, size_t step, size_t size,
			     unsigned threads, struct buf *out)
{
	struct run r;
	struct blocks_job job = {.work = work, .take = take, .init = init, .fini = fini};
	struct blocks_input in = {.fd = fd, .to = len, .read = give, .eager = step > 0};
	begin(&r, threads);
	r.text = text;
	r.left = len;
	r.step = step;
	job.ctx = in.ctx = &r;
	assert_int_equal(blocks_run(&in, &job, threads, size), 0);
	finish(&r, out);
}

static inline int file_of(const char *text, size_t len)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	return fd;
}

static inline void same(const char *name, const struct buf *want, const struct buf *got,
			size_t size, unsigned threads)
{
	size_t at, from;
	if (want->len == got->len && !memcmp(want->data, got->data, want->len))
		return;
	for (at = 0; at < want->len && at < got->len && want->data[at] == got->data[at];)
		at++;
	from = at > 60 ? at - 60 : 0;
	print_error("%s: blocks of %zu bytes, %u threads:\nwant ...%.120s\ngot  ...%.120s\n", name,
		    size, threads, want->data + from, got->data + from);
	fail();
}

static inline void check_filtered(const char *name, const char *text, size_t len)
{
	static const size_t sizes[] = {61, 300, 1000, 4096, 65536, 0};
	struct buf want = {0}, got = {0};
	int fd = file_of(text, len);
	in_order(text, len, &want);
	// Filters make no difference to how blocks are cut.
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i += filter == filters ? 1 : 3) {
		for (unsigned threads = 1; threads <= THREADS; threads += threads == 1 ? 1 : 2) {
			in_blocks(text, len, fd, 0, sizes[i], threads, &got);
			same(name, &want, &got, sizes[i], threads);
			loop = 0;
			in_blocks(text, len, -1, 0, sizes[i], threads, &got);
			same(name, &want, &got, sizes[i], threads);
			loop = 1;
			in_blocks(text, len, -1, 97, sizes[i], threads, &got);
			same(name, &want, &got, sizes[i], threads);
			loop = LOOPS - 1;
		}
	}
	close(fd);
	buf_fini(&want);
	buf_fini(&got);
}

static inline void make_grep(void)
{
	char *v[] = {(char *)(uintptr_t)filter->grep, (char *)(uintptr_t)filter->grep_not};
	if (!filter->f.text)
		return;
	assert_non_null(grep = grep_new(':'));
	assert_int_equal(grep_add(grep, GREP_WANT, "", &(struct words){v, filter->grep != NULL}),
			 0);
	assert_int_equal(
		grep_add(grep, GREP_DROP, "", &(struct words){v + 1, filter->grep_not != NULL}), 0);
}

static inline void check_all_ways(const char *name, const char *text, size_t len)
{
	for (size_t i = 0; i < FILTERS; i += OF_FILTERS) {
		filter = &filters[i];
		make_grep();
		check_filtered(name, text, len);
		grep_free(grep);
		grep = NULL;
	}
	filter = filters;
}

// Numbers that look random, the same ones always.
static inline unsigned any_below(unsigned *random, unsigned below)
{
	*random = *random * 1103515245 + 12345;
	return (*random >> 16) % below;
}
