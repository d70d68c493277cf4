// Reading a log in blocks by several threads says the same as scanning it from front to end, for
// every size of block, number of threads and form of input; and so does a log cut at any byte.
#include "common/amdlog/partial.h"
#include "common/amdlog/reading.h"
#include "common/cli/opts.h"
#include "common/host/blocks.h"
#include "common/host/buf.h"

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

// What a thread finds out of a block.
struct found {
	struct digest digest;
	struct grep_hits hits;
};

struct run {
	struct amdlog_summary sum;
	struct amdlog_reading reading;
	struct digester *digesters[THREADS];
	struct grepper *greppers[THREADS];
	const char *text; // of a stream
	size_t left, step;
	uint64_t items, digests;
	uint64_t events, sum_of_events; // how many, and what they say
	uint64_t scanned;               // bytes of lines that digests left to the scanner
};

static bool names_layer(void *ctx, const char *name, size_t len)
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
// The digesters' loop: 0 is the one that runs anywhere. One that this processor does not have: the
// fastest it has.
#define LOOPS 3
static unsigned loop = LOOPS - 1;

// Everything the summary and the scanner know, as text.
static void dump(struct run *r, struct buf *out)
{
	struct amdlog_part part = {.file = (char *)(uintptr_t) "log",
				   .counts = *amdlog_scan_counts(r->reading.scan),
				   .mended = amdlog_mend_count(r->reading.mend)};

	out->len = 0;
	assert_int_equal(amdlog_partial_write(out, &part, &r->sum), 0);
	assert_int_equal(
		buf_printf(out, "%u queues, %u kernels, %llu steps back, events %llu %llx\n",
			   r->sum.nqueues, r->sum.nkernels,
			   (unsigned long long)r->sum.totals.steps_back,
			   (unsigned long long)r->events, (unsigned long long)r->sum_of_events),
		0);
}

static void finish(struct run *r, struct buf *out)
{
	amdlog_reading_end(&r->reading);
	dump(r, out);
	for (unsigned i = 0; i < THREADS; i++) {
		digester_free(r->digesters[i]);
		grepper_free(r->greppers[i]);
	}
	amdlog_reading_fini(&r->reading);
	amdlog_summary_fini(&r->sum);
}

static void mix(struct run *r, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		r->sum_of_events = (r->sum_of_events ^ *p++) * UINT64_C(0x100000001b3);
}

// All that is known of a record that is taken one by one, in order.
static void take_event(void *ctx, const struct amdlog_event *e)
{
	const struct amdlog_record *rec = e->record;
	const uint64_t values[] = {
		rec->offset,  rec->time_us,    rec->level,
		rec->style,   rec->kind,       rec->ended,
		rec->msg_len, rec->len,        (uint64_t)(rec->msg - rec->text),
		e->who->tid,  e->queue,        (uint64_t)e->who->pid,
		e->kernel,    e->torn,         e->packet ? e->packet->wptr : 1,
		e->stream,    e->stream_queue, e->packet ? e->packet->grid[0] : 1,
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

static void begin(struct run *r, unsigned threads)
{
	*r = (struct run){.text = NULL};
	amdlog_summary_init(&r->sum, &filter->f);
	if (filter->resumed)
		amdlog_summary_resume(&r->sum);
	assert_true(amdlog_reading_init(&r->reading, &r->sum, grep));
	r->reading.ctx = r;
	r->reading.event = filter->kinds ? take_event : NULL;
	for (unsigned i = 0; i < threads; i++) {
		assert_non_null(r->digesters[i] = digester_new(r->reading.forms, filter->kinds));
		digester_use(r->digesters[i], loop, NULL);
		assert_true(!grep || (r->greppers[i] = grepper_new(grep)));
	}
}

static void in_order(const char *text, size_t len, struct buf *out)
{
	struct run r;

	begin(&r, 0);
	amdlog_scan_feed(r.reading.scan, text, len, 0);
	finish(&r, out);
}

static bool init(void *ctx, struct block *b)
{
	(void)ctx;
	b->user = calloc(1, sizeof(struct found));
	return b->user && digest_init(&((struct found *)b->user)->digest);
}

static void fini(void *ctx, struct block *b)
{
	struct found *f = b->user;

	(void)ctx;
	if (f) {
		digest_fini(&f->digest);
		grep_hits_fini(&f->hits);
	}
	free(f);
}

static void work(void *ctx, unsigned worker, struct block *b)
{
	const struct digest_choice *choice;
	struct digest_choice its;
	struct run *r = ctx;
	struct found *f = b->user;
	struct grep_hits *hits = grep ? &f->hits : NULL;

	if (b->lines && grep) {
		grepper_lines(r->greppers[worker], b->text, b->len, hits);
		assert_int_equal(hits->error, 0);
	}
	f->digest.slow = !b->lines || !amdlog_reading_choice(&r->reading, hits, &its, &choice);
	if (!f->digest.slow)
		digester_run(r->digesters[worker], &f->digest, choice, b->text, b->len);
}

static int take(void *ctx, struct block *b)
{
	struct run *r = ctx;
	const struct found *f = b->lines ? b->user : NULL;
	const struct digest *d = f ? &f->digest : NULL;

	if (d && !d->slow) {
		r->digests++;
		r->items += d->nitems;
		for (uint32_t i = 0; i < d->nitems; i++)
			r->scanned += d->items[i].what == DIGEST_LINES ? d->items[i].r.len : 0;
	}
	amdlog_reading_take(&r->reading, b->text, b->len, d, f && grep ? &f->hits : NULL);
	return 0;
}

static ssize_t give(void *ctx, char *to, size_t n)
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
static void in_blocks(const char *text, size_t len, int fd, size_t step, size_t size,
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

static int file_of(const char *text, size_t len)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	return fd;
}

static void same(const char *name, const struct buf *want, const struct buf *got, size_t size,
		 unsigned threads)
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

static void check_filtered(const char *name, const char *text, size_t len)
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

static void make_grep(void)
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

static void check_all_ways(const char *name, const char *text, size_t len)
{
	for (size_t i = 0; i < FILTERS; i++) {
		filter = &filters[i];
		make_grep();
		check_filtered(name, text, len);
		grep_free(grep);
		grep = NULL;
	}
	filter = filters;
}

static unsigned check_folder(const char *folder, const char *suffix)
{
	DIR *d = opendir(folder);
	struct buf path = {0}, text = {0};
	unsigned n = 0;

	for (const struct dirent *e; d && (e = readdir(d));) {
		const char *dot = strrchr(e->d_name, '.');

		if (e->d_name[0] == '.' || (suffix && (!dot || strcmp(dot, suffix) != 0)))
			continue;
		path.len = 0;
		buf_printf(&path, "%s/%s", folder, e->d_name);
		if (buf_read_at(&text, AT_FDCWD, path.data) <= 0)
			continue;
		check_all_ways(e->d_name, text.data, text.len);
		n++;
	}
	if (d)
		closedir(d);
	buf_fini(&path);
	buf_fini(&text);
	return n;
}

static void test_all_ways(void **state)
{
	const char *samples = getenv("GPQ_SAMPLES");
	char folder[4096];

	(void)state;
	assert_true(check_folder("tests/data/amdlog", ".log") > 5);
	snprintf(folder, sizeof(folder), "%s/amdlog", samples ? samples : "../shared/samples");
	check_folder(folder, NULL);
}

// Many lines of many threads, with what is rare in between: so much of it that forms are found.
static void test_mixed(void **state)
{
	struct buf part = {0}, text = {0};
	static const char *const files[] = {"rocm70.log",  "torn.log",          "rocm57.log",
					    "windows.log", "rocm63-level3.log", "rocm70.log",
					    "rocm43.log"};
	char path[128];

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		snprintf(path, sizeof(path), "tests/data/amdlog/%s", files[i % 9 < 7 ? i % 9 : 0]);
		assert_true(buf_read_at(&part, AT_FDCWD, path) > 0);
		// In most copies another process and threads of its own.
		for (char *p = part.data; i % 3 && (p = strstr(p, "[pid:4711")); p++)
			p[5] = (char)('5' + i % 5);
		buf_append(&text, part.data, part.len);
	}
	check_all_ways("mixed", text.data, text.len);
	buf_fini(&part);
	buf_fini(&text);
}

// The lines of a log that begin with a record, many times, every seventh line or so spoilt: behind
// a progress bar, in front of another record of its own or another process, torn at the end of a
// piece with the rest some lines later, wrapped by a terminal.
struct spoiler {
	struct buf *out;
	const char *end_of_line;
	unsigned random, every, wait; // lines until `rest` is written
	unsigned spoilt;
	struct buf rest;
};

static unsigned any(struct spoiler *s, unsigned below)
{
	s->random = s->random * 1103515245 + 12345;
	return (s->random >> 16) % below;
}

static void put(struct spoiler *s, const char *p, size_t len, bool ended)
{
	buf_append(s->out, p, len);
	if (ended)
		buf_append(s->out, s->end_of_line, strlen(s->end_of_line));
}

static void tear(struct spoiler *s, const char *p, size_t len, bool ended)
{
	size_t cut = 128 * (1 + any(s, (unsigned)(len / 128)));

	put(s, p, cut, ended);
	s->rest.len = 0;
	buf_append(&s->rest, p + cut, len - cut);
	s->wait = 1 + any(s, 3);
}

static void put_line(struct spoiler *s, const char *p, size_t len)
{
	unsigned what = any(s, s->every);
	char line[8192];

	assert_true(len < sizeof(line));
	memcpy(line, p, len + 1);
	if (!memcmp(line + 48, "[pid:4711", 9) && any(s, 9) == 0)
		line[53] = (char)('5' + any(s, 3));
	p = line;
	s->spoilt += what < 6;
	switch (what) {
	case 0: put(s, " 10%|#1:3: ", 11, false); break;
	case 1: put(s, p, len, false); break;
	case 2: put(s, p, len < 128 ? len : 128, false); return;
	case 3:
	case 4:
		if (len > 128 && !s->wait) {
			tear(s, p, len, what == 3);
			return;
		}
		break;
	case 5:
		put(s, p, len / 2, true);
		p += len / 2;
		len -= len / 2;
		break;
	default: break;
	}
	put(s, p, len, true);
	if (s->wait && !--s->wait)
		put(s, s->rest.data, s->rest.len, true);
}

static void spoil(struct buf *out, const char *file, size_t bytes, unsigned every,
		  const char *end_of_line)
{
	struct spoiler s = {
		.out = out, .end_of_line = end_of_line, .random = every, .every = every};
	struct buf log = {0};
	char path[128];

	out->len = 0;
	snprintf(path, sizeof(path), "tests/data/amdlog/%s", file);
	assert_true(buf_read_at(&log, AT_FDCWD, path) > 0);
	while (out->len < bytes) {
		for (const char *p = log.data, *end; (end = strchr(p, '\n')); p = end + 1) {
			if (*p == ':')
				put_line(&s, p, (size_t)(end - p));
		}
	}
	assert_true(s.spoilt >= bytes / 1000 / every);
	buf_fini(&log);
	buf_fini(&s.rest);
}

static void test_spoilt(void **state)
{
	static const char *const files[] = {"rocm70.log", "rocm57.log", "rocm63-level4.log",
					    "rocm43.log"};
	struct buf text = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (unsigned every = 7; every < 200; every *= 5) {
			spoil(&text, files[i], 60000, every, every == 35 ? "\r\n" : "\n");
			check_all_ways(files[i], text.data, text.len);
		}
	}
	buf_fini(&text);
}

// Most of a regular log must take the short way, else all of this tests nothing; and of one with
// few odd lines, too.
static void check_short_way(unsigned every, const char *end_of_line)
{
	struct buf text = {0}, log = {0};
	struct run r;
	struct blocks_job job = {.ctx = &r, .work = work, .take = take, .init = init, .fini = fini};
	struct blocks_input in = {.fd = -1, .read = give, .ctx = &r};
	uint64_t records;

	spoil(&text, "rocm70.log", 1000000, every, end_of_line);
	begin(&r, 1);
	r.text = text.data;
	r.left = text.len;
	assert_int_equal(blocks_run(&in, &job, 1, 16384), 0);
	records = amdlog_scan_counts(r.reading.scan)->records;
	assert_true(r.digests > 50);
	assert_true(r.digests * 16384 > text.len * 9 / 10);
	assert_true(r.items * 2 < records);
	assert_true(r.scanned * 10 < text.len);
	finish(&r, &log);
	buf_fini(&text);
	buf_fini(&log);
}

static void test_short_way(void **state)
{
	(void)state;
	check_short_way(UINT_MAX / 2, "\n");
	check_short_way(UINT_MAX / 2, "\r\n");
	check_short_way(500, "\n");
}

// Two copies, so that forms are known in the second, which is cut.
static void check_cuts(const char *file, size_t step)
{
	struct buf log = {0}, text = {0}, want = {0}, got = {0};
	char path[128];

	snprintf(path, sizeof(path), "tests/data/amdlog/%s", file);
	assert_true(buf_read_at(&log, AT_FDCWD, path) > 0);
	for (size_t cut = 0; cut < log.len; cut += step) {
		text.len = 0;
		buf_append(&text, log.data, log.len);
		buf_append(&text, log.data, cut);
		in_order(text.data, text.len, &want);
		loop = cut % (LOOPS - 1);
		in_blocks(text.data, text.len, -1, 0, log.len, 1, &got);
		same(file, &want, &got, log.len, 1);
		loop = LOOPS - 1;
		in_blocks(text.data, text.len, -1, 0, log.len + cut + 1, 1, &got);
		same(file, &want, &got, log.len + cut + 1, 1);
	}
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

static void test_every_cut(void **state)
{
	(void)state;
	check_cuts("torn.log", 1);
	check_cuts("rocm63-level4.log", 1);
	check_cuts("rocm70.log", 13);
}

// A log in which lines repeat, of one thread, of two processes by turns, or without any.
enum variant { ONE_THREAD, TWO_PROCESSES, NO_THREADS, VARIANTS };
static void read_repeated(struct buf *out, enum variant variant)
{
	static const char who[] = "[pid:4711 tid: 0x7fd0001006c0] ";
	unsigned n = 0;

	assert_true(buf_read_at(out, AT_FDCWD, "tests/data/amdlog/repeated.txt") > 0);
	for (char *p = out->data; variant != ONE_THREAD && (p = strstr(p, who)); n++, p++) {
		if (variant == TWO_PROCESSES) {
			p[5] += n % 2;
			continue;
		}
		out->len -= sizeof(who) - 2; // one blank more
		memmove(p + 1, p + sizeof(who) - 1, (size_t)(out->data + out->len - p));
		*p = ' ';
	}
}

static void check_byte(struct buf *text, size_t at, char other, size_t size, struct buf *want,
		       struct buf *got)
{
	char before = text->data[at];

	text->data[at] = other;
	loop = (unsigned)at % LOOPS;
	in_order(text->data, text->len, want);
	in_blocks(text->data, text->len, -1, 0, size, 1, got);
	same("a byte", want, got, at, 1);
	text->data[at] = before;
	loop = LOOPS - 1;
}

// Five copies, each a tenth of a second before the one in front of it: then what a block says of
// first times counts.
static void copy_back_in_time(struct buf *out, const struct buf *log)
{
	out->len = 0;
	for (int i = 0; i < 5; i++) {
		char *line;

		buf_append(out, log->data, log->len);
		line = out->data + out->len - log->len;
		for (char *end; (end = strchr(line, '\n')); line = end + 1)
			line[40] = (char)('9' - i);
	}
}

// What is known is looked at less closely than what is new; not so much less that it would miss any
// byte that is another one. The blocks are of two copies: one to learn from, and one.
static void test_every_byte(void **state)
{
	static const char others[] = "3 x=0,]f\r\x1b";
	struct buf log = {0}, text = {0}, want = {0}, got = {0};

	(void)state;
	for (unsigned variant = 0; variant < VARIANTS; variant++) {
		read_repeated(&log, variant);
		copy_back_in_time(&text, &log);
		for (size_t i = 0; i < log.len; i += variant == ONE_THREAD ? 1 : 3) {
			char other = others[i * 7 % (sizeof(others) - 1)];

			check_byte(&text, 3 * log.len + i, '\n', 2 * log.len, &want, &got);
			check_byte(&text, 3 * log.len + i, ':', 2 * log.len, &want, &got);
			filter = &filters[FILTERS - 3]; // all that is known of the records
			check_byte(&text, 3 * log.len + i, other, 2 * log.len, &want, &got);
			filter = filters;
		}
	}
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

// Behind lines that are known, one as they are but long.
static void test_long_lines(void **state)
{
	static const int off[] = {-700, -400, -357, -300, -256, -200, -1, 0, 1, 500};
	static const char entry[] = "\x1b[32m hipSetDevice ( ", end[] = " ) \x1b[0m\n";
	struct buf log = {0}, text = {0}, want = {0}, got = {0};
	const char *line;

	(void)state;
	read_repeated(&log, ONE_THREAD);
	line = strstr(log.data, entry);
	assert_non_null(line);
	while (line[-1] != '\n')
		line--;
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		text.len = 0;
		for (unsigned copy = 0; copy < 100; copy++)
			buf_append(&text, log.data, log.len);
		buf_append(&text, line, (size_t)(strstr(line, entry) - line) + strlen(entry));
		for (int n = AMDLOG_TEXT_MAX + off[i]; n > 0; n--)
			buf_append(&text, "x", 1);
		buf_append(&text, end, strlen(end));
		buf_append(&text, log.data, log.len);
		for (loop = 0; loop < LOOPS; loop++) {
			in_order(text.data, text.len, &want);
			in_blocks(text.data, text.len, -1, 0, 2 * AMDLOG_TEXT_MAX, 1, &got);
			same("long", &want, &got, (size_t)i, 1);
		}
	}
	loop = LOOPS - 1;
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

// Packets of a form, with numbers of any length: '#' is a decimal one, '$' a hexadecimal one.
static void put_packets(struct buf *out, const char *form, struct spoiler *s)
{
	for (const char *p = form; *p; p++) {
		unsigned digits = any(s, 4) ? 1 + any(s, 5) : 1 + any(s, 21);

		if (*p != '#' && *p != '$')
			buf_append(out, p, 1);
		for (; (*p == '#' || *p == '$') && digits; digits--)
			buf_append(out, &"0123456789abcdef"[any(s, *p == '#' ? 10 : 16)], 1);
	}
	buf_append(out, "\n", 1);
}

static void test_known_packets(void **state)
{
#define PREFIX ":4:rocvirtual.cpp           :1083: 0090001030 us: [pid:4711 tid: 0x7f00000e5400] "
#define SWQ    PREFIX "SWq=0x7f0000a1a000, "
#define HWQ    "HWq=0x7f0000b20000, "
#define GRID   "Dispatch Header = 0xb02 (type=2), grid=[#, #, #], workgroup=[#, 1, 1], "
#define END    "completion_signal=0x$, correlation_id=#, rptr=#, wptr=#"
	static const char *const forms[] = {
		SWQ HWQ GRID "private_seg_size=#, kernel_obj=0x$, kernarg_address=0x$, " END,
		SWQ HWQ GRID "kernel_obj=(nil), " END,
		SWQ HWQ GRID "kernel_obj=0x$, rptr=#, " END,
		SWQ HWQ GRID "kernel_obj=0x$, id=#, " END,
		SWQ HWQ GRID "x_grid=[#, 1, 1], kernel_obj=#, " END,
		SWQ HWQ GRID "kernel_obj=0x$, completion_signal=0x$, rptr=#wptr=#, wptr=#",
		SWQ HWQ GRID "kernel_obj=0x$z, " END,
		SWQ HWQ GRID "kernel_obj=0x$, " END " ",
		SWQ HWQ GRID "kernel_obj=0x$, completion_signal=#, wptr=#",
		SWQ HWQ GRID "kernel_obj=0x$, rptr=#, wptr=#",
		SWQ "rptr=1, " HWQ GRID END,
		SWQ "kernel_obj=0x12, " HWQ GRID END,
		PREFIX HWQ GRID "kernel_obj=0x$, completion_signal=0x$, wptr=#",
		SWQ HWQ "BarrierAND Header = 0x1503 (type=3), dep_signal=[0x$, 0x$, 0x$], " END,
		SWQ HWQ
		"X Header = 0x1503, y=[0x$], BarrierOR Header = 0x1, dep_signal=[0x$], " END,
		SWQ HWQ
		"X Header = 0x1503, y=[0x$], BarrierAND Header = 0x1, dep_signal=[0x$], " END,
	};
	const unsigned nforms = sizeof(forms) / sizeof(forms[0]);
	struct spoiler s = {.random = 1};
	struct buf text = {0}, want = {0}, got = {0};

	(void)state;
	filter = &filters[FILTERS - 3];
	for (unsigned round = 0; round < 40; round++) {
		text.len = 0;
		for (unsigned i = 0; i < 300; i++)
			put_packets(&text, forms[round < nforms ? round : any(&s, nforms)], &s);
		for (loop = 0; loop < LOOPS; loop++) {
			in_order(text.data, text.len, &want);
			in_blocks(text.data, text.len, -1, 0, 8192, 1, &got);
			same("packets", &want, &got, round, 1);
		}
	}
	loop = LOOPS - 1;
	filter = filters;
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

int main(void)
{
	filter = filters;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_ways),   cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_spoilt),     cmocka_unit_test(test_short_way),
		cmocka_unit_test(test_every_cut),  cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_long_lines), cmocka_unit_test(test_known_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
