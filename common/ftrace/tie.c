// Guesses which process of a kernel trace is one of a log, and how far apart their clocks are,
// where neither rings nor numbers tell; ftrace.h.
//
// The runtime logs a new queue behind the return of the ioctl that made it, and its first line just
// before it opens /dev/kfd ([amdlog.queue-lines], [kfd.open]).
#include "common/ftrace/ftrace_priv.h"

#include "common/amdlog/model/summary.h"

#define TIMES_MOST 32         // queue creations of a process that are compared
#define LONG_NS    1000000000 // greatest time from the log's first line to the open of /dev/kfd
#define CLOSE_NS   5000000    // greatest time between the ioctl's return and the log's line

struct times {
	uint64_t v[TIMES_MOST];
	unsigned n;
};

static void times_add(struct times *t, uint64_t ns)
{
	if (t->n < TIMES_MOST && ns != FTRACE_UNKNOWN)
		t->v[t->n++] = ns;
}

// Is the record a call of this function that did not fail: its return, or an entry without one?
static bool is_call(const struct ftrace_record *r, const char *function)
{
	const int64_t ret = ftrace_arg(r, "ret");
	return r->process != FTRACE_NONE && !r->joined && ftrace_is(r, function) &&
	       (ret >= 0 || ret == FTRACE_NO_ARG);
}

static struct times creations_in_log(const struct amdlog_summary *s, uint32_t log)
{
	struct times t = {.n = 0};
	for (uint32_t i = 0; i < s->nqueues; i++) {
		if (s->queues[i].process == log && s->queues[i].created_us < UINT64_MAX / 1000)
			times_add(&t, s->queues[i].created_us * 1000);
	}
	return t;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

// How many times of the log are close to one of the trace that is moved by `offset`.
static unsigned times_that_fit(const struct times *log, const struct times *trace, int64_t offset)
{
	unsigned fits = 0;
	for (unsigned i = 0; i < log->n; i++) {
		unsigned j = 0;
		while (j < trace->n &&
		       distance(log->v[i], trace->v[j] + (uint64_t)offset) > CLOSE_NS)
			j++;
		fits += j < trace->n;
	}
	return fits;
}

// Finds the offset at which most times fit; of several the least. Returns how many fit.
static unsigned align_times(const struct times *log, const struct times *trace, int64_t *offset)
{
	unsigned best = 0;
	for (unsigned i = 0; i < log->n * trace->n; i++) {
		const int64_t at = (int64_t)(log->v[i / trace->n] - trace->v[i % trace->n]);
		const unsigned fits = times_that_fit(log, trace, at);
		if (fits < best || (fits == best && llabs(at) >= llabs(*offset)))
			continue;
		best = fits;
		*offset = at;
	}
	return best;
}

// The processes of the log and of the trace that may be the same.
struct ties {
	struct ftrace *f;
	const struct amdlog_summary *s;
	bool one_clock;       // log and trace have the same clock
	struct times *traced; // by process of the trace: calls by which queues are created
	uint32_t log, kernel; // the only process that is not matched; FTRACE_NONE: none, or several
	unsigned most;        // how many times fitted at f->offset_ns
};

// Sets t->traced by the calls of a function, and t->kernel. False: the trace has none.
static bool find_callers(struct ties *t, const char *function)
{
	unsigned callers = 0;
	bool any = false;
	memset(t->traced, 0, t->f->nprocesses * sizeof(*t->traced));
	for (size_t i = 0; i < t->f->n; i++) {
		if (is_call(&t->f->v[i], function))
			times_add(&t->traced[t->f->v[i].process], t->f->v[i].time_ns);
	}
	t->kernel = FTRACE_NONE;
	for (uint32_t i = 0; i < t->f->nprocesses; i++) {
		any |= t->traced[i].n > 0;
		if (t->traced[i].n && t->f->processes[i].log == FTRACE_NONE)
			t->kernel = callers++ ? FTRACE_NONE : i;
	}
	return any;
}

// Sets t->log: of the processes that create queues, if any does.
static void find_logged(struct ties *t)
{
	bool creates = false;
	unsigned n = 0;
	t->log = FTRACE_NONE;
	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		const bool has = creations_in_log(t->s, i).n > 0;
		if (t->f->of_log[i] != FTRACE_NONE || !t->s->processes[i].records ||
		    (creates && !has))
			continue;
		n = has && !creates ? 1 : n + 1;
		creates |= has;
		t->log = n == 1 ? i : FTRACE_NONE;
	}
}

// Keeps the offset at which more times fit than in the processes before.
static void keep_offset(struct ties *t, unsigned fits, int64_t offset)
{
	if (t->one_clock || fits <= t->most)
		return;
	t->most = fits;
	t->f->offset_ns = offset;
}

// Returns how many creations of the two fit, at the offset of the clocks if that is known.
static unsigned fit_of(const struct ties *t, uint32_t log, uint32_t kernel, int64_t *offset)
{
	const struct times logged = creations_in_log(t->s, log);
	*offset = t->one_clock ? 0 : t->f->offset_ns;
	return t->one_clock || t->most ? times_that_fit(&logged, &t->traced[kernel], *offset)
				       : align_times(&logged, &t->traced[kernel], offset);
}

static void guess(struct ties *t, uint32_t log, uint32_t kernel, const char *why)
{
	ftrace_match_process(t->f, kernel, log, "guess");
	t->f->processes[kernel].why = why;
}

// What matched processes tell of the offset.
static void offset_of_matched(struct ties *t)
{
	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		int64_t offset = 0;
		const uint32_t kernel = t->f->of_log[i];
		const unsigned fits = kernel == FTRACE_NONE ? 0 : fit_of(t, i, kernel, &offset);
		keep_offset(t, fits, offset);
	}
}

// Ties the only process that creates queues on either side. With one clock the times must fit.
static void tie_only(struct ties *t)
{
	int64_t offset;
	if (t->log == FTRACE_NONE || t->kernel == FTRACE_NONE)
		return;
	const unsigned fits = fit_of(t, t->log, t->kernel, &offset);
	if (!fits && (t->one_clock || t->most) && creations_in_log(t->s, t->log).n)
		return;
	guess(t, t->log, t->kernel, "the only process that creates queues");
	keep_offset(t, fits, offset);
}

// Ties a process of the log to the one of the trace whose creations of queues fit best: at least
// two of them, or one if the offset of the clocks is known.
static void tie_by_times(struct ties *t, uint32_t log)
{
	uint32_t found = FTRACE_NONE;
	unsigned best = t->one_clock || t->most ? 0 : 1;
	int64_t offset, found_at = 0;
	for (uint32_t i = 0; i < t->f->nprocesses; i++) {
		if (!t->traced[i].n || t->f->processes[i].log != FTRACE_NONE)
			continue;
		const unsigned fits = fit_of(t, log, i, &offset);
		found = fits > best ? i : fits == best ? FTRACE_NONE : found;
		found_at = fits > best ? offset : found_at;
		best = fits > best ? fits : best;
	}
	if (found == FTRACE_NONE)
		return;
	guess(t, log, found, "its queues were created at these times");
	keep_offset(t, best, found_at);
}

// Where nothing tells of queues: the only process that opens /dev/kfd, as its log begins.
static void tie_by_open(struct ties *t)
{
	if (!find_callers(t, "kfd_open") || t->log == FTRACE_NONE || t->kernel == FTRACE_NONE)
		return;
	const uint64_t first_us = t->s->processes[t->log].span.first_us;
	const struct times *opened = &t->traced[t->kernel];
	if (first_us >= UINT64_MAX / 1000 ||
	    (t->one_clock && distance(first_us * 1000, opened->v[0]) > LONG_NS))
		return;
	guess(t, t->log, t->kernel, "the only process that opens /dev/kfd");
	keep_offset(t, 1, (int64_t)(first_us * 1000 - opened->v[0]));
}

bool ftrace_tie(struct ftrace *f, const struct amdlog_summary *s, bool one_clock)
{
	static const char *const creating[] = {"kfd_ioctl_create_queue", "pqm_create_queue",
					       "create_queue_cpsch", "create_queue_nocpsch"};
	SCOPED(free_at) struct times *traced = xcalloc(f->nprocesses + 1, sizeof(*traced));
	struct ties t = {.f = f, .s = s, .one_clock = one_clock, .traced = traced};
	size_t i = 0;
	while (i < COUNT(creating) && !find_callers(&t, creating[i]))
		i++;
	if (i < COUNT(creating)) {
		offset_of_matched(&t);
		find_logged(&t);
		tie_only(&t);
		for (uint32_t log = 0; log < s->nprocesses; log++) {
			if (f->of_log[log] == FTRACE_NONE)
				tie_by_times(&t, log);
		}
	} else {
		find_logged(&t);
		tie_by_open(&t);
	}
	return t.most;
}

static uint64_t moved(uint64_t ns, int64_t by)
{
	const uint64_t back = by < 0 ? -(uint64_t)by : 0;
	return ns == FTRACE_UNKNOWN ? ns : ns < back ? 0 : ns + (uint64_t)by;
}

void ftrace_move(struct ftrace *f, int64_t by)
{
	f->offset_ns = by;
	for (size_t i = 0; i < f->n; i++)
		f->v[i].time_ns = moved(f->v[i].time_ns, by);
	for (size_t i = 0; i < f->nqueues; i++)
		f->queues[i].created_ns = moved(f->queues[i].created_ns, by);
	for (size_t i = 0; i < f->nholds; i++) {
		f->holds[i].begin_ns = moved(f->holds[i].begin_ns, by);
		f->holds[i].end_ns = moved(f->holds[i].end_ns, by);
	}
}
