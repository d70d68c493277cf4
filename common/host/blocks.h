// An input as blocks of whole lines, worked on by several threads and taken in order.
//
// Each block passes four steps, each by any thread: `work` runs in parallel, `take` for one block
// at a time in the order of the input, `finish` in parallel again, `put` in order. So the result
// does not depend on the number of threads. Memory is bounded: a thread that is too far ahead
// waits.
#pragma once

#include "common/host/std.h"

#define BLOCKS_SIZE ((size_t)256 * 1024) // usual bytes of a block, to fit a core's own cache
#define BLOCKS_PAD  128                  // bytes behind a block's text that may be read

// A line that extends more bytes than this behind the end of its block is cut.
#define BLOCKS_LOOK ((size_t)64 * 1024)

struct blocks_input {
	// A regular file is read from offset `from` up to `to`, a line's start, by all threads.
	// Without `fd` (-1) one thread at a time calls `read`: as read(2), 0 at the end.
	int fd;
	uint64_t from, to;
	ssize_t (*read)(void *ctx, char *to, size_t n);
	void *ctx;
	bool eager; // a block is what one read gives, full or not
};

// Sets *start to where the first line at or behind `at` begins, at most `end`. False with errno.
bool blocks_line_start(int fd, uint64_t at, uint64_t end, uint64_t *start);

struct block {
	const char *text;
	size_t len;
	bool lines; // the text is whole lines, the last newline included
	void *user; // the job's data, made by `init` and shared by all blocks in this memory
};

struct blocks_job {
	void *ctx;
	// Works on a block, in parallel. `worker`: number of the thread, from 0. May be NULL.
	void (*work)(void *ctx, unsigned worker, struct block *b);
	// Takes a block, in order. A result other than 0 ends the run, and blocks_run() returns it.
	int (*take)(void *ctx, struct block *b);
	// Called after `take` for every block that was taken. `finish` and `put` may both be NULL.
	// A result of `put` other than 0 ends the run, as that of `take` does.
	void (*finish)(void *ctx, struct block *b);
	int (*put)(void *ctx, struct block *b);
	// Make and free block.user. May be NULL.
	void (*init)(void *ctx, struct block *b);
	void (*fini)(void *ctx, struct block *b);
};

// Returns 0, the result of `take`, or -errno if reading failed. If the file is truncated meanwhile,
// its new end counts. `size`: of a block, 0 is BLOCKS_SIZE. The caller is one of the threads; if
// others cannot be started, it works alone.
int blocks_run(const struct blocks_input *in, const struct blocks_job *job, unsigned threads,
	       size_t size);
