// A kernel trace as a whole: order, processes of threads, pairs of entry and return; ftrace.h.
#include "common/ftrace/ftrace.h"

#include "common/host/buf.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_OPEN 64 // of a thread, within each other

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
static const char *value_of(const char *text, const char *key)
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
	if ((at = value_of(text, "# entries-in-buffer/entries-written:"))) {
		if (next_number(&at, &held) && next_number(&at, &written) && written > held)
			f->overwritten += written - held;
	} else if ((at = value_of(text, "# task:"))) {
		add_task(f, at);
	} else if ((at = value_of(text, "# clock: "))) {
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
static void place(struct ftrace *f, struct clocks *c, struct ftrace_record *r)
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
		place(f, &clocks, &r);
		*ARRAY_ADD(f->v, f->cap, f->n) = r;
	}
	free(clocks.last);
}

// Lost events are told before the first one that was not: they have its time.
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

static int by_time(const void *a, const void *b)
{
	const struct ftrace_record *x = a, *y = b;
	int order = ORDER(x->epoch, y->epoch);
	order = order ? order : ORDER(x->time_ns, y->time_ns);
	if (order)
		return order;
	// As in the text; the names stand in it.
	return ORDER((uintptr_t)x->args.at, (uintptr_t)y->args.at);
}

struct step {
	int64_t tid;
	uint32_t at, losses; // index; places before it where events were lost
};

static int by_thread(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return x->tid != y->tid ? ORDER(x->tid, y->tid) : ORDER(x->at, y->at);
}

static struct step *steps_by_thread(const struct ftrace *f)
{
	struct step *s = xcalloc(f->n ? f->n : 1, sizeof(*s));
	uint32_t losses = 0;
	for (size_t i = 0; i < f->n; i++) {
		losses += f->v[i].kind == FTRACE_LOST;
		s[i] = (struct step){f->v[i].tid, (uint32_t)i, losses};
	}
	qsort(s, f->n, sizeof(*s), by_thread);
	return s;
}

// A number is given to another thread when its thread has ended: lines that say it differently are
// left as they are, and those that say nothing stay unknown.
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
	// A number that was given again stands twice.
	if (from == f->ntasks || f->tasks[from].tid != tid ||
	    (from + 1 < f->ntasks && f->tasks[from + 1].tid == tid &&
	     f->tasks[from + 1].tgid != f->tasks[from].tgid))
		return -1;
	return f->tasks[from].tgid;
}

static void fill_processes(struct ftrace *f, const struct step *s, size_t n)
{
	int64_t tgid = named_process(f, s->tid);
	for (size_t i = 0; i < n; i++) {
		int64_t this = f->v[s[i].at].tgid;
		if (this >= 0 && tgid >= 0 && this != tgid)
			return;
		tgid = this >= 0 ? this : tgid;
	}
	for (size_t i = 0; i < n; i++)
		f->v[s[i].at].tgid = tgid;
}

static bool same_name(const struct ftrace_record *a, const struct ftrace_record *b)
{
	return a->name.len == b->name.len && memcmp(a->name.at, b->name.at, a->name.len) == 0;
}

static void join_thread(struct ftrace *f, const struct step *s, size_t n)
{
	uint32_t open[CALLS_OPEN];
	unsigned depth = 0;
	for (size_t i = 0; i < n; i++) {
		struct ftrace_record *r = &f->v[s[i].at];
		unsigned match = depth;
		if (i && (s[i].losses != s[i - 1].losses || r->epoch != f->v[s[i - 1].at].epoch))
			match = depth = 0;
		if (r->time_ns == FTRACE_UNKNOWN)
			continue;
		if (r->kind == FTRACE_ENTRY && depth < CALLS_OPEN)
			open[depth++] = s[i].at;
		if (r->kind != FTRACE_RETURN)
			continue;
		while (match && !same_name(&f->v[open[match - 1]], r))
			match--;
		if (match) {
			depth = match - 1;
			r->inside_ns = r->time_ns - f->v[open[depth]].time_ns;
			f->v[open[depth]].joined = true;
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
	struct step *s;
	read_lines(f, text, len);
	time_losses(f);
	if (f->ntasks)
		qsort(f->tasks, f->ntasks, sizeof(*f->tasks), by_tid);
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_time);
	s = steps_by_thread(f);
	for (size_t i = 0, n; i < f->n; i += n) {
		for (n = 1; i + n < f->n && s[i + n].tid == s[i].tid;)
			n++;
		if (s[i].tid < 0)
			continue;
		fill_processes(f, s + i, n);
		join_thread(f, s + i, n);
	}
	free(s);
}

void ftrace_fini(struct ftrace *f)
{
	free(f->v);
	free(f->tasks);
	*f = (struct ftrace){0};
}
