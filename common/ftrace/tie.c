// Guesses which process of a kernel trace is one of a log, and how far apart their clocks are,
// where neither rings nor numbers tell; ftrace.h.
//
// The runtime logs a new queue behind the return of the ioctl that made it, and its first line just
// before it opens /dev/kfd ([amdlog.queue-lines], [kfd.open]).
#include "common/ftrace/ftrace_priv.h"

#include "common/amdlog/model/summary.h"

#define TIMES_MOST 32        // queue creations of a process that are compared
#define CLOSE_NS   5000000   // so much later than the ioctl returns the log may have the queue
#define UNEVEN_NS  320000000 // how uneven that may be, where only one process is meant

struct times {
	uint64_t v[TIMES_MOST];
	unsigned n;
};

// Keeps `v` sorted: a log lists queues by their first lines, which need not be the order of
// creation.
static void times_add(struct times *t, uint64_t ns)
{
	if (t->n == TIMES_MOST || ns == FTRACE_UNKNOWN)
		return;
	unsigned at = t->n++;
	for (; at && t->v[at - 1] > ns; at--)
		t->v[at] = t->v[at - 1];
	t->v[at] = ns;
}

// How many times of the log are close to one of the trace that is moved by `offset`.
static unsigned fits_at(const struct times *log, const struct times *trace, int64_t offset)
{
	unsigned fits = 0;
	for (unsigned i = 0; i < log->n; i++) {
		unsigned j = 0;
		while (j < trace->n &&
		       llabs((int64_t)(log->v[i] - trace->v[j]) - offset) > CLOSE_NS)
			j++;
		fits += j < trace->n;
	}
	return fits;
}

struct ties {
	struct ftrace *f;
	const struct amdlog_summary *s;
	bool fixed;           // the offset is known: f->offset_ns, 0 where both have one clock
	bool opens;           // compared are openings of /dev/kfd, not creations of queues
	struct times *traced; // calls of the function, by process of the trace
};

// Returns how many times of the log are close to one of the trace at *offset. Unless the offset is
// known, *offset becomes the one at which most are, and of several such the smallest.
static unsigned fit(const struct ties *t, const struct times *log, uint32_t kernel, int64_t *offset)
{
	const struct times *trace = &t->traced[kernel];
	unsigned best = t->fixed ? fits_at(log, trace, *offset) : 0;
	for (unsigned i = 0; !t->fixed && i < log->n * trace->n; i++) {
		const int64_t at = (int64_t)(log->v[i / trace->n] - trace->v[i % trace->n]);
		const unsigned fits = fits_at(log, trace, at);
		if (fits > best || (fits == best && llabs(at) < llabs(*offset))) {
			best = fits;
			*offset = at;
		}
	}
	return best;
}

// Lays the log's times on as many of the trace, one behind the other: the runtime creates queues of
// its own before the first that it logs. *offset becomes that of the most even ones, if these are
// even enough; the shortest of them is nearest to the truth.
static void align(const struct times *log, const struct times *trace, int64_t *offset)
{
	int64_t most_even = UNEVEN_NS;
	for (unsigned from = 0; log->n > 1 && from + log->n <= trace->n; from++) {
		int64_t low = INT64_MAX, high = INT64_MIN;
		for (unsigned i = 0; i < log->n; i++) {
			const int64_t at = (int64_t)(log->v[i] - trace->v[from + i]);
			low = at < low ? at : low;
			high = at > high ? at : high;
		}
		if (high - low < most_even) {
			most_even = high - low;
			*offset = low;
		}
	}
}

// Sets t->traced by the calls of a function that did not fail: returns, and entries without one.
// False: there are none.
static bool find_callers(struct ties *t, const char *function)
{
	bool any = false;
	for (size_t i = 0; i < t->f->n; i++) {
		const struct ftrace_record *r = &t->f->v[i];
		const int64_t ret = ftrace_arg(r, "ret");
		if (r->process == FTRACE_NONE || r->joined || !ftrace_is(r, function) ||
		    (ret < 0 && ret != FTRACE_NO_ARG))
			continue;
		times_add(&t->traced[r->process], r->time_ns);
		any = true;
	}
	return any;
}

// When a process of the log created queues, or began.
static struct times logged_times(const struct ties *t, uint32_t log)
{
	struct times times = {.n = 0};
	const uint64_t first_us = t->s->processes[log].span.first_us;
	if (t->opens && first_us != AMDLOG_UNKNOWN)
		times_add(&times, first_us * 1000);
	for (uint32_t i = 0; !t->opens && i < t->s->nqueues; i++) {
		const struct amdlog_queue *q = &t->s->queues[i];
		if (q->process == log && q->merged == AMDLOG_NONE &&
		    q->created_us != AMDLOG_UNKNOWN)
			times_add(&times, q->created_us * 1000);
	}
	return times;
}

// Ties a process of the log to the one of the trace whose times fit best: two of them or, if the
// offset is fixed, one. `only`: no other process of the log may be meant. A process that is matched
// already tells the offset alone.
static void tie(struct ties *t, uint32_t log, bool only)
{
	const struct times logged = logged_times(t, log);
	const uint32_t is = t->f->of_log[log];
	unsigned callers = 0, best = 0;
	uint32_t found = FTRACE_NONE;
	int64_t found_at = 0;
	for (uint32_t i = 0; i < t->f->nprocesses; i++) {
		int64_t offset = t->f->offset_ns;
		if (!t->traced[i].n ||
		    (is == FTRACE_NONE ? t->f->processes[i].log != FTRACE_NONE : i != is))
			continue;
		const unsigned fits = fit(t, &logged, i, &offset);
		found = !callers++ || fits > best ? i : fits == best ? FTRACE_NONE : found;
		found_at = fits > best ? offset : found_at;
		best = fits > best ? fits : best;
	}
	only = only && callers == 1 && (best || !logged.n || !t->fixed);
	if (found == FTRACE_NONE || (is == FTRACE_NONE && !only && best < (t->fixed ? 1 : 2)))
		return;
	const bool all_fit = best > 1 && best == logged.n;
	if (!t->fixed && !all_fit && (only || is != FTRACE_NONE))
		align(&logged, &t->traced[found], &found_at);
	if (is == FTRACE_NONE) {
		ftrace_match_process(t->f, found, log, "guess");
		t->f->processes[found].why = !only      ? "its queues were created at these times"
					     : t->opens ? "the only process that opens /dev/kfd"
							: "the only process that creates queues";
	}
	t->f->offset_ns = t->fixed ? t->f->offset_ns : found_at;
	t->fixed |= best > 0;
}

bool ftrace_tie(struct ftrace *f, const struct amdlog_summary *s, bool one_clock)
{
	static const char *const functions[] = {"kfd_ioctl_create_queue", "pqm_create_queue",
						"create_queue_cpsch", "create_queue_nocpsch",
						"kfd_open"};
	SCOPED(free_at) struct times *traced = xcalloc(f->nprocesses + 1, sizeof(*traced));
	struct ties t = {.f = f, .s = s, .fixed = one_clock, .traced = traced};
	unsigned tell = 0, others = 0;
	size_t n = 0;
	while (n < COUNT(functions) && !find_callers(&t, functions[n]))
		n++;
	t.opens = n + 1 == COUNT(functions);
	f->offset_ns = 0;
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		if (f->of_log[i] != FTRACE_NONE)
			tie(&t, i, false);
		else
			*(logged_times(&t, i).n ? &tell : &others) += s->processes[i].records > 0;
	}
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		if (f->of_log[i] == FTRACE_NONE && s->processes[i].records &&
		    (!tell || logged_times(&t, i).n))
			tie(&t, i, (tell ? tell : others) == 1);
	}
	return t.fixed && !one_clock;
}

static uint64_t moved(uint64_t ns, int64_t by)
{
	const bool below = by < 0 && ns < -(uint64_t)by;
	return ns == FTRACE_UNKNOWN ? ns : below ? 0 : ns + (uint64_t)by;
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
