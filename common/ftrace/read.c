// A kernel trace as a whole: order, processes of threads, pairs of entry and return; ftrace.h.
#include "common/ftrace/ftrace_priv.h"

#include "common/host/buf.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_OPEN 64 // nested calls of a thread

// The decimal number at *at, behind blanks or a slash; at most 18 digits. False: there is none.
static bool next_number(const char **at, uint64_t *n)
{
	size_t digits;
	*at += strspn(*at, " /");
	digits = strspn(*at, "0123456789");
	*n = strtoull(*at, NULL, 10);
	*at += digits;
	return digits && digits <= 18;
}

static void add_task(struct ftrace *f, const char *at)
{
	uint64_t tid, tgid, ns_pid;
	if (next_number(&at, &tid) && next_number(&at, &tgid) && next_number(&at, &ns_pid) &&
	    tid <= INT32_MAX && tgid <= INT32_MAX && ns_pid <= INT32_MAX)
		*ARRAY_ADD(f->tasks, f->task_cap, f->ntasks) =
			(struct ftrace_task){(int64_t)tid, (int64_t)tgid, (int64_t)ns_pid};
}

// What is behind `key` in a comment; NULL: it begins otherwise.
static const char *comment_value(const char *text, const char *key)
{
	size_t len = strlen(key);
	return strncmp(text, key, len) == 0 ? text + len : NULL;
}

// "# clock: mono" and "# task: 167 167 7" of gpq, "# entries-in-buffer/entries-written: 422/29712
// #P:2"
static void read_comment(struct ftrace *f, const char *line, size_t len)
{
	char text[128];
	const char *at;
	uint64_t held, written;
	size_t n;
	if (len >= sizeof(text))
		return;
	memcpy(text, line, len);
	text[len] = '\0';
	if ((at = comment_value(text, "# entries-in-buffer/entries-written:"))) {
		if (next_number(&at, &held) && next_number(&at, &written) && written > held)
			f->overwritten += written - held;
	} else if ((at = comment_value(text, "# task:"))) {
		add_task(f, at);
	} else if ((at = comment_value(text, "# clock: "))) {
		n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_-");
		if (n < sizeof(f->clock)) {
			memcpy(f->clock, at, n);
			f->clock[n] = '\0';
		}
	}
}

// The time of the last record of each CPU.
struct clocks {
	uint64_t *last;
	size_t cap;
};

// A CPU's own records are in order, unless its clock was set back or the text is of several runs.
static void place_record(struct ftrace *f, struct clocks *c, struct ftrace_record *r)
{
	uint64_t *last;
	if (r->kind == FTRACE_LOST) {
		f->losses++;
		f->lost += r->lost != FTRACE_UNKNOWN ? r->lost : 0;
	} else if (r->time_ns == FTRACE_UNKNOWN) {
		f->untimed++;
	} else {
		ARRAY_REACH(c->last, c->cap, (size_t)r->cpu, 0);
		last = &c->last[r->cpu];
		if (r->time_ns < *last) {
			f->epochs++;
			memset(c->last, 0, c->cap * sizeof(*c->last));
		}
		*last = r->time_ns;
	}
	r->epoch = f->epochs;
}

static void read_lines(struct ftrace *f, const char *text, size_t len)
{
	const char *end = text + len;
	struct clocks clocks = {0};
	struct ftrace_record r;
	for (const char *at = text, *next; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		if (next == at)
			continue;
		if (*at == '#' || (next - at > 5 && memcmp(at, "cpus=", 5) == 0)) {
			read_comment(f, at, (size_t)(next - at));
			continue;
		}
		f->lines++;
		if (!ftrace_line(at, (size_t)(next - at), &r)) {
			f->odd++;
			continue;
		}
		place_record(f, &clocks, &r);
		*ARRAY_ADD(f->v, f->cap, f->n) = r;
	}
	free(clocks.last);
}

// A note about lost events has no time. It gets that of the next record.
static void time_losses(struct ftrace *f)
{
	const struct ftrace_record *next = NULL;
	for (size_t i = f->n; i-- > 0;) {
		struct ftrace_record *r = &f->v[i];
		if (r->kind != FTRACE_LOST)
			next = r;
		else if (next && next->epoch == r->epoch)
			r->time_ns = next->time_ns;
		else if (next) {
			r->time_ns = next->time_ns;
			r->epoch = next->epoch;
		}
	}
}

// --- orders: by time, and by thread ---

static int by_epoch_and_time(const void *a, const void *b)
{
	const struct ftrace_record *x = a, *y = b;
	int order = ORDER(x->epoch, y->epoch);
	order = order ? order : ORDER(x->time_ns, y->time_ns);
	if (order)
		return order;
	// Equal times stay in the order of the text, to which `args` points.
	return ORDER((uintptr_t)x->args.at, (uintptr_t)y->args.at);
}

struct thread_place {
	int64_t tid;
	size_t record;
};

static int by_thread(const void *a, const void *b)
{
	const struct thread_place *x = a, *y = b;
	return x->tid != y->tid ? ORDER(x->tid, y->tid) : ORDER(x->record, y->record);
}

static void order_threads(struct ftrace *f)
{
	struct thread_place *v = xcalloc(f->n + 1, sizeof(*v));
	uint32_t losses = 0;
	for (size_t i = 0; i < f->n; i++) {
		losses += f->v[i].kind == FTRACE_LOST;
		f->v[i].losses = losses;
		if (f->v[i].tid >= 0)
			v[f->nby_thread++] = (struct thread_place){f->v[i].tid, i};
	}
	qsort(v, f->nby_thread, sizeof(*v), by_thread);
	f->by_thread = xcalloc(f->nby_thread + 1, sizeof(*f->by_thread));
	for (size_t i = 0; i < f->nby_thread; i++)
		f->by_thread[i] = v[i].record;
	free(v);
}

// The process that a comment names for the thread. -1: none.
static int64_t named_process(const struct ftrace *f, int64_t tid)
{
	size_t from = 0, to = f->ntasks;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (f->tasks[mid].tid < tid)
			from = mid + 1;
		else
			to = mid;
	}
	// If the number was given to another thread, it is there twice.
	if (from == f->ntasks || f->tasks[from].tid != tid ||
	    (from + 1 < f->ntasks && f->tasks[from + 1].tid == tid &&
	     f->tasks[from + 1].tgid != f->tasks[from].tgid))
		return -1;
	return f->tasks[from].tgid;
}

// Sets the process of a thread's records that do not say it. A number is given to another thread
// when its thread has ended: if lines name different processes, those that name none stay unknown.
static void fill_processes(struct ftrace *f, const size_t *records, size_t n)
{
	int64_t tgid = named_process(f, f->v[records[0]].tid);
	for (size_t i = 0; i < n; i++) {
		int64_t this = f->v[records[i]].tgid;
		if (this >= 0 && tgid >= 0 && this != tgid)
			return;
		tgid = this >= 0 ? this : tgid;
	}
	for (size_t i = 0; i < n; i++)
		f->v[records[i]].tgid = tgid;
}

static bool same_name(const struct ftrace_record *a, const struct ftrace_record *b)
{
	return a->name.len == b->name.len && memcmp(a->name.at, b->name.at, a->name.len) == 0;
}

static void join_thread(struct ftrace *f, const size_t *records, size_t n)
{
	struct ftrace_record *open[CALLS_OPEN];
	unsigned depth = 0;
	for (size_t i = 0; i < n; i++) {
		struct ftrace_record *r = &f->v[records[i]];
		const struct ftrace_record *last = i ? &f->v[records[i - 1]] : r;
		unsigned match = depth;
		if (r->losses != last->losses || r->epoch != last->epoch)
			match = depth = 0;
		if (r->time_ns == FTRACE_UNKNOWN)
			continue;
		if (r->kind == FTRACE_ENTRY && depth < CALLS_OPEN)
			open[depth++] = r;
		if (r->kind != FTRACE_RETURN)
			continue;
		while (match && !same_name(open[match - 1], r))
			match--;
		if (match) {
			depth = match - 1;
			r->inside_ns = r->time_ns - open[depth]->time_ns;
			open[depth]->joined = true;
		} else {
			f->unpaired++;
		}
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct ftrace_task *x = a, *y = b;
	return x->tid != y->tid ? ORDER(x->tid, y->tid) : ORDER(x->tgid, y->tgid);
}

void ftrace_read(struct ftrace *f, const char *text, size_t len)
{
	read_lines(f, text, len);
	time_losses(f);
	if (f->ntasks)
		qsort(f->tasks, f->ntasks, sizeof(*f->tasks), by_tid);
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_epoch_and_time);
	order_threads(f);
	for (size_t i = 0, n; i < f->nby_thread; i += n) {
		const size_t *thread = &f->by_thread[i];
		for (n = 1; i + n < f->nby_thread && f->v[thread[n]].tid == f->v[*thread].tid;)
			n++;
		fill_processes(f, thread, n);
		join_thread(f, thread, n);
	}
	ftrace_find_processes(f);
	ftrace_find_holds(f);
}

void ftrace_fini(struct ftrace *f)
{
	free(f->v);
	free(f->tasks);
	free(f->by_thread);
	free(f->processes);
	intern_fini(&f->numbers);
	free(f->queues);
	free(f->holds);
	free(f->marks);
	free(f->events);
	free(f->of_log);
	free(f->of_queue);
	*f = (struct ftrace){0};
}
