// Blocks of a file: all of its bytes once, in order, whatever the size; and of one that is
// truncated while it is read, what is left of it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <pthread.h>

// Locks and unlocks in pairs: a lock that knows its thread refuses all else.
static int init_strict(pthread_mutex_t *m)
{
	pthread_mutexattr_t strict;
	pthread_mutexattr_init(&strict);
	pthread_mutexattr_settype(&strict, PTHREAD_MUTEX_ERRORCHECK);
	return pthread_mutex_init(m, &strict);
}

static void must(int error)
{
	if (error)
		abort();
}

#define pthread_mutex_init(m, attr) must(init_strict(m))
#define pthread_mutex_lock(m)       must(pthread_mutex_lock(m))
#define pthread_mutex_unlock(m)     must(pthread_mutex_unlock(m))
#define pthread_mutex_destroy(m)    must(pthread_mutex_destroy(m))
#define pthread_cond_wait(c, m)     must(pthread_cond_wait(c, m))
#include "common/host/blocks.c" // NOLINT(bugprone-suspicious-include)

#define LINE_LEN 64
#define LINES    200000 // 12.8 MB

struct taken {
	int fd;
	uint64_t next;   // number of the line that must come next
	uint64_t cut_at; // bytes of the file after the first block; 0: it stays
	uint64_t blocks;
	uint64_t put;          // blocks
	uint64_t stop_at;      // take() ends it with this block; 0: with the last one
	_Atomic uint64_t seen; // bytes that work() looked at
};

// A file of numbered lines, whole again when it was cut. Made once: that takes most of the time.
static int numbered_file(void)
{
	static int fd = -1;
	static char *text;
	const size_t len = (size_t)LINES * LINE_LEN;
	struct stat st;
	if (fd < 0) {
		fd = memfd_create("blocks", MFD_CLOEXEC);
		text = malloc(len + 1);
		assert_true(fd >= 0 && text);
		for (size_t i = 0; i < LINES; i++)
			snprintf(text + i * LINE_LEN, LINE_LEN + 1, "%-*zu\n", LINE_LEN - 1, i);
	}
	assert_int_equal(fstat(fd, &st), 0);
	const size_t has = (size_t)st.st_size;
	assert_int_equal(pwrite(fd, text + has, len - has, st.st_size), (ssize_t)(len - has));
	return fd;
}

static void look(void *ctx, unsigned worker, struct block *b)
{
	struct taken *t = ctx;
	uint64_t n = 0;
	(void)worker;
	for (size_t i = 0; i < b->len; i += 512)
		n += b->text[i] ? 512 : 0;
	t->seen += n;
}

static int check(void *ctx, struct block *b)
{
	struct taken *t = ctx;
	size_t at = 0;
	for (; at < b->len; at += LINE_LEN)
		assert_int_equal(strtoull(b->text + at, NULL, 10), t->next++);
	if (!t->blocks++ && t->cut_at)
		assert_int_equal(ftruncate(t->fd, (off_t)t->cut_at), 0);
	return 0;
}

static void test_all_of_it(void **state)
{
	static const size_t sizes[] = {65536, 100000, 0, 5000000};
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct taken t = {.fd = numbered_file()};
		const struct blocks_job job = {.ctx = &t, .work = look, .take = check};
		const struct blocks_input in = {.fd = t.fd, .to = (uint64_t)LINES * LINE_LEN};
		assert_int_equal(blocks_run(&in, &job, 1 + i % 3, sizes[i / 2]), 0);
		assert_int_equal(t.next, LINES);
	}
}

// A line that is longer than blocks and than how far they look for its end: what begins within it
// does not claim to be of whole lines.
static int check_lines(void *ctx, struct block *b)
{
	struct taken *t = ctx;
	if (b->lines) {
		assert_int_equal(b->text[b->len - 1], '\n');
		assert_true(!t->next || t->seen == '\n');
	}
	t->next += b->len;
	t->seen = (unsigned char)b->text[b->len - 1];
	return 0;
}

static void test_long_line(void **state)
{
	enum { LONG = 400000 };
	struct taken t = {.fd = memfd_create("blocks", MFD_CLOEXEC)};
	const struct blocks_job job = {.ctx = &t, .take = check_lines};
	const struct blocks_input in = {.fd = t.fd, .to = 6 + LONG + 7};
	char *text = malloc(LONG);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	assert_int_equal(write(t.fd, "short\n", 6), 6);
	assert_int_equal(write(t.fd, text, LONG), LONG);
	assert_int_equal(write(t.fd, "\nabc\nd\n", 7), 7);
	free(text);
	assert_int_equal(blocks_run(&in, &job, 1, 65536), 0);
	assert_int_equal(t.next, 6 + LONG + 7);
	close(t.fd);
}

// Other threads may have read what lies behind by then.
static void test_truncated(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct taken t = {.fd = numbered_file()};
		const struct blocks_job job = {.ctx = &t, .work = look, .take = check};
		const struct blocks_input in = {.fd = t.fd, .to = (uint64_t)LINES * LINE_LEN};
		uint64_t left = 5000 + (uint64_t)(LINES - 5000) * (i / 4) / 10;
		unsigned threads = 1 + i % 4;
		t.cut_at = left * LINE_LEN;
		assert_int_equal(blocks_run(&in, &job, threads, 0), 0);
		assert_in_range(t.next, left, threads == 1 ? left : LINES);
	}
}

static int take_number(void *ctx, struct block *b)
{
	struct taken *t = ctx;
	*(uint64_t *)b->user = t->blocks++;
	return t->stop_at && t->blocks == t->stop_at ? 7 : 0;
}

static void finish_number(void *ctx, struct block *b)
{
	uint64_t *number = b->user;
	look(ctx, 0, b);
	*number += 1000;
}

static int put_number(void *ctx, struct block *b)
{
	struct taken *t = ctx;
	assert_int_equal(*(uint64_t *)b->user, 1000 + t->put++);
	return 0;
}

static void make_number(void *ctx, struct block *b)
{
	(void)ctx;
	assert_non_null(b->user = calloc(1, sizeof(uint64_t)));
}

static void free_number(void *ctx, struct block *b)
{
	(void)ctx;
	free(b->user);
}

// Every block that was taken is finished and put, in order, also when taking ends early.
static void test_put(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct taken t = {.fd = numbered_file(), .stop_at = i / 4 * 20};
		const struct blocks_job job = {.ctx = &t,
					       .work = look,
					       .take = take_number,
					       .finish = finish_number,
					       .put = put_number,
					       .init = make_number,
					       .fini = free_number};
		const struct blocks_input in = {.fd = t.fd, .to = (uint64_t)LINES * LINE_LEN};
		assert_int_equal(blocks_run(&in, &job, 1 + i % 4, 65536), t.stop_at ? 7 : 0);
		assert_int_equal(t.put, t.stop_at ? t.stop_at : 196);
		assert_int_equal(t.put, t.blocks);
	}
}

// Where the first line begins that begins at a place or behind it.
static void test_line_start(void **state)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);
	static const struct {
		uint64_t at, start;
	} cases[] = {{0, 0}, {1, 4}, {3, 4},  {4, 4},   {5, 8},
		     {7, 8}, {8, 8}, {9, 10}, {10, 10}, {99, 10}};

	(void)state;
	assert_int_equal(write(fd, "abc\ndef\ngh", 10), 10);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t start = 0;
		assert_true(blocks_line_start(fd, cases[i].at, 10, &start));
		assert_int_equal(start, cases[i].start);
	}
	// The file has become shorter than it was.
	uint64_t start = 0;
	alarm(600);
	assert_true(blocks_line_start(fd, 9, 99, &start));
	alarm(0);
	assert_int_equal(start, 99);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it),  cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_put),        cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_line_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
