// Blocks of an input, for several threads (see blocks.h).
//
// A ring of places, each with the memory of a block. A thread that is free puts or takes the oldest
// block, if that block is ready and no other thread does so. Otherwise it finishes a block, or
// fills the next free place and works on it.
//
// Files are read, not mapped: the copy lies in the core's own cache when a thread works on it,
// threads that map and unmap would wait for each other (page tables are shared), and a file that is
// truncated meanwhile, or a disk that fails, does not cause a signal. Offsets within a page are the
// same in file and memory, as copying is slower otherwise.
#include "common/host/blocks.h"

#include <pthread.h>

#define THREADS_MAX     64
#define PLACES_A_THREAD 3
#define PAGE            ((size_t)4096)
#define LOOK_FIRST      ((size_t)4096) // bytes to search first: nearly all lines are shorter

enum state { FREE, BUSY, READY, TAKEN, FINISHED };

struct place {
	enum state state;
	uint64_t number;
	int error;
	bool ended; // the input has nothing behind this block
	struct block block;
	char *memory; // begins at a page
};

struct run {
	const struct blocks_input *in;
	const struct blocks_job *job;
	size_t size;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;              // threads that wait for `changed`
	uint64_t next, taken, put;     // numbers of the next block to fill, to take, to put
	bool taking, putting, reading; // a thread is taking, putting, or reading a stream
	bool ended;                    // no further block can be filled
	bool stopped;
	int status;
	char *rest; // beginning of the line that a stream's last block did not end
	size_t rest_len;
	bool in_line; // the last block of a stream ended within a line
	unsigned nplaces;
	struct place *places;
};

struct worker {
	struct run *run;
	unsigned number;
	pthread_t thread;
};

// Reads `n` bytes at offset `at`, or fewer at the file's end. Returns their number, or -1 with
// errno.
static ssize_t read_at(int fd, char *to, size_t n, uint64_t at)
{
	size_t got = 0;
	while (got < n) {
		ssize_t r = pread(fd, to + got, n - got, (off_t)(at + got));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (!r)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

bool blocks_line_start(int fd, uint64_t at, uint64_t end, uint64_t *start)
{
	char buf[65536];
	const char *newline = NULL;
	uint64_t from = at - (at > 0);
	ssize_t n;
	*start = at < end ? at : end;
	if (!at || at >= end)
		return true;
	for (; !newline && from < end; from += (uint64_t)n) {
		n = read_at(fd, buf, sizeof(buf), from);
		if (n < 0)
			return false;
		newline = memchr(buf, '\n', (size_t)n);
		if (newline)
			*start = from + (uint64_t)(newline - buf) + 1;
		if (!n)
			break;
	}
	*start = newline && *start < end ? *start : end;
	return true;
}

// The part of a file that is in the memory of a place.
struct window {
	const struct run *run;
	char *p;
	uint64_t at; // offset of p[0] in the file
	size_t n;    // bytes read so far
	size_t max;  // bytes up to the end of the input
	bool ended;  // the file is shorter than it was
};

// Reads until the window has `n` bytes, or the file ends. False with errno.
static bool window_extend(struct window *w, size_t n)
{
	ssize_t got;
	n = n < w->max ? n : w->max;
	if (n <= w->n || w->ended)
		return true;
	got = read_at(w->run->in->fd, w->p + w->n, n - w->n, w->at + w->n);
	if (got < 0)
		return false;
	w->n += (size_t)got;
	w->ended = w->n < n;
	return true;
}

// Finds the first line that begins at or behind `at`. If none begins within BLOCKS_LOOK bytes, sets
// *found to false and *border to `at`. False with errno.
static bool find_border(struct window *w, size_t at, size_t *border, bool *found)
{
	const char *newline = NULL;
	for (size_t look = LOOK_FIRST; at <= w->n && !newline; look = BLOCKS_LOOK) {
		if (!window_extend(w, at + look))
			return false;
		newline = memchr(w->p + at - 1, '\n', (w->n - at < look ? w->n - at : look) + 1);
		if (look == BLOCKS_LOOK)
			break;
	}
	*found = newline;
	*border = newline ? (size_t)(newline - w->p) + 1 : at;
	return true;
}

// Reads block `number` of a file: the lines that begin in its share of the bytes. All shares have
// the same size. Two adjacent blocks look for their border in the same way, so they find the same
// one. False with errno.
static bool fill_from_file(struct run *run, struct place *p)
{
	const struct blocks_input *in = run->in;
	uint64_t first = in->from + p->number * run->size, left = in->to - first;
	size_t lead = p->number > 0, share = left < run->size ? (size_t)left : run->size;
	size_t start = 0, end;
	bool begins = true, ends = true;
	struct window w = {.run = run, .at = first - lead, .max = SIZE_MAX};
	w.p = p->memory + w.at % PAGE;
	w.max = left < SIZE_MAX / 2 ? (size_t)left + lead : SIZE_MAX;
	if (!window_extend(&w, lead + share + LOOK_FIRST))
		return false;
	if (lead && !find_border(&w, lead, &start, &begins))
		return false;
	p->ended = share == left || w.n < lead + share;
	end = w.n;
	if (share < left && w.n >= lead + share && !find_border(&w, lead + share, &end, &ends))
		return false;
	p->block.text = w.p + start;
	p->block.len = end > start ? end - start : 0;
	p->block.lines = begins && end > start && w.p[end - 1] == '\n';
	memset(w.p + w.n, 0, BLOCKS_PAD);
	return true;
}

// Reads the next block of a stream: the rest of the last one and new bytes, up to the end of the
// last complete line. False with errno.
static bool fill_from_stream(struct run *run, struct place *p)
{
	const struct blocks_input *in = run->in;
	bool in_line = run->in_line;
	size_t n = run->rest_len;
	const char *newline;
	ssize_t got = 1;
	memcpy(p->memory, run->rest, n);
	run->rest_len = 0;
	do {
		got = in->read(in->ctx, p->memory + n, run->size - n);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 && n < run->size && !in->eager);
	p->ended = got <= 0;
	newline = memrchr(p->memory, '\n', n);
	if (newline && got > 0) {
		run->rest_len = n - (size_t)(newline + 1 - p->memory);
		n -= run->rest_len;
		memcpy(run->rest, newline + 1, run->rest_len);
	}
	run->in_line = n ? p->memory[n - 1] != '\n' : in_line;
	p->block.text = p->memory;
	p->block.len = n;
	p->block.lines = !in_line && n && !run->in_line;
	memset(p->memory + n, 0, BLOCKS_PAD);
	return got >= 0;
}

static void fill_block(struct run *run, struct place *p)
{
	bool file = run->in->fd >= 0, ok = file ? fill_from_file(run, p) : fill_from_stream(run, p);
	p->error = ok ? 0 : errno;
	p->ended |= !ok;
	if (!ok && file)
		p->block.len = 0;
}

// Unlocks before it wakes threads: otherwise they would wake up to wait for the lock.
static void unlock_and_wake(struct run *run, bool wake)
{
	wake &= run->waiting > 0;
	pthread_mutex_unlock(&run->lock);
	if (wake)
		pthread_cond_broadcast(&run->changed);
}

// Fills the next block and works on it. Called with the lock held, and returns with it. The ready
// block needs no wake-up: the thread that worked on it, or the one that takes blocks, looks at the
// oldest block next.
static void fill_and_work(struct worker *me)
{
	struct run *run = me->run;
	uint64_t number = run->next++;
	struct place *p = &run->places[number % run->nplaces];
	p->state = BUSY;
	p->number = number;
	run->reading = run->in->fd < 0;
	pthread_mutex_unlock(&run->lock);
	fill_block(run, p);
	pthread_mutex_lock(&run->lock);
	run->reading = false;
	run->ended |= p->ended;
	unlock_and_wake(run, run->in->fd < 0); // another thread may read the stream
	if (run->job->work && p->block.len)
		run->job->work(run->job->ctx, me->number, &p->block);
	pthread_mutex_lock(&run->lock);
	p->state = READY;
}

// Ends a step; the first failure ends the run. Called with the lock held, and returns with it.
// Threads that wait for room are woken when several places are free, not for every block; threads
// that can finish a block, at once.
static void step_done(struct run *run, int status, bool ended)
{
	run->status = run->status ? run->status : status;
	run->stopped |= status || ended;
	unlock_and_wake(run, run->stopped || run->job->finish ||
				     run->next - run->put <= run->nplaces / 2);
	pthread_mutex_lock(&run->lock);
}

static void take_next_block(struct run *run, struct place *p)
{
	int status;
	run->taking = true;
	pthread_mutex_unlock(&run->lock);
	status = p->block.len ? run->job->take(run->job->ctx, &p->block) : 0;
	status = status ? status : -p->error;
	pthread_mutex_lock(&run->lock);
	run->taking = false;
	run->taken++;
	p->state = run->job->finish ? TAKEN : FREE;
	run->put += !run->job->finish;
	// If the file was truncated, blocks behind its new end do not count any more.
	step_done(run, status, p->ended);
}

static void finish_block(struct run *run, struct place *p)
{
	p->state = BUSY;
	pthread_mutex_unlock(&run->lock);
	run->job->finish(run->job->ctx, &p->block);
	pthread_mutex_lock(&run->lock);
	p->state = FINISHED;
}

static void put_block(struct run *run, struct place *p)
{
	int status;
	run->putting = true;
	pthread_mutex_unlock(&run->lock);
	status = run->job->put(run->job->ctx, &p->block);
	pthread_mutex_lock(&run->lock);
	run->putting = false;
	run->put++;
	p->state = FREE;
	step_done(run, status, false);
}

// Returns a block that was taken and that no thread is finishing, or NULL.
static struct place *next_to_finish(const struct run *run)
{
	for (uint64_t n = run->put; n < run->taken; n++) {
		if (run->places[n % run->nplaces].state == TAKEN)
			return &run->places[n % run->nplaces];
	}
	return NULL;
}

// Is there a block to be filled, and room for it?
static bool may_fill(const struct run *run)
{
	const struct blocks_input *in = run->in;
	if (run->stopped || run->ended || run->reading || run->next - run->put >= run->nplaces)
		return false;
	return in->fd < 0 || run->next * run->size < in->to - in->from;
}

static void *block_worker(void *arg)
{
	struct worker *me = arg;
	struct run *run = me->run;
	struct place *p;
	pthread_mutex_lock(&run->lock);
	while (!run->stopped || run->put < run->taken) {
		struct place *to_put = &run->places[run->put % run->nplaces];
		struct place *to_take = &run->places[run->taken % run->nplaces];
		if (run->put < run->taken && to_put->state == FINISHED && !run->putting)
			put_block(run, to_put);
		else if (!run->stopped && !run->taking && run->taken < run->next &&
			 to_take->state == READY)
			take_next_block(run, to_take);
		else if ((p = next_to_finish(run)))
			finish_block(run, p);
		else if (may_fill(run))
			fill_and_work(me);
		else {
			run->waiting++;
			pthread_cond_wait(&run->changed, &run->lock);
			run->waiting--;
		}
	}
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

static void make_places(struct run *run)
{
	// Room for the offset in the first page, the byte before the block, the block, and the rest
	// of its last line.
	size_t memory = PAGE + 1 + run->size + BLOCKS_LOOK + BLOCKS_PAD;
	run->places = xcalloc(run->nplaces, sizeof(*run->places));
	run->rest = xmalloc(run->size);
	for (unsigned i = 0; i < run->nplaces; i++) {
		struct place *p = &run->places[i];
		p->memory = xcheck(aligned_alloc(PAGE, memory + -memory % PAGE));
		if (run->job->init)
			run->job->init(run->job->ctx, &p->block);
	}
}

static void free_places(struct run *run)
{
	for (unsigned i = 0; i < run->nplaces; i++) {
		if (run->job->fini)
			run->job->fini(run->job->ctx, &run->places[i].block);
		free(run->places[i].memory);
	}
	free(run->places);
	free(run->rest);
}

static void run_threads(struct run *run, unsigned threads)
{
	struct worker workers[THREADS_MAX];
	unsigned n = 1;
	workers[0] = (struct worker){.run = run};
	for (; n < threads; n++) {
		workers[n] = (struct worker){.run = run, .number = n};
		if (pthread_create(&workers[n].thread, NULL, block_worker, &workers[n]))
			break;
	}
	block_worker(&workers[0]);
	while (--n)
		pthread_join(workers[n].thread, NULL);
}

int blocks_run(const struct blocks_input *in, const struct blocks_job *job, unsigned threads,
	       size_t size)
{
	struct run run = {.in = in, .job = job, .size = size ? size : BLOCKS_SIZE};
	if (in->fd >= 0 && in->from >= in->to)
		return 0;
	threads = threads ? threads : 1;
	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	run.nplaces = threads > 1 ? threads * PLACES_A_THREAD : 1;
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.changed, NULL);
	make_places(&run);
	run_threads(&run, threads);
	free_places(&run);
	pthread_cond_destroy(&run.changed);
	pthread_mutex_destroy(&run.lock);
	return run.status;
}
