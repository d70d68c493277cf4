// Reads a whole kernel trace: lines, their order, processes of threads, pairs of entry and return.
// Also reads events of `gpq events`; see ftrace.h.
#include "common/ftrace/ftrace_priv.h"

#include "common/out/members.h"

#define CALLS_OPEN 64 // nested calls of a thread; deeper ones are not paired

// Reads a comment: of the kernel, how many entries the buffer holds and how many were written to
// it; of gpq, the clock and the processes of threads ("# task: TID TGID NSPID").
static void read_comment(struct ftrace *f, struct rest s)
{
	static const char clock_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	uint64_t held, written, tid, tgid, ns_pid;
	size_t n = 0;
	if (ftrace_take(&s, "# entries-in-buffer/entries-written:~@/@", &held, &written)) {
		f->overwritten += written > held ? written - held : 0;
	} else if (ftrace_take(&s, "# task:~@~@~@", &tid, &tgid, &ns_pid)) {
		if (tid <= INT32_MAX && tgid <= INT32_MAX && ns_pid <= INT32_MAX)
			*ARRAY_ADD(f->tasks, f->task_cap, f->ntasks) =
				(struct ftrace_task){(int64_t)tid, (int64_t)tgid, (int64_t)ns_pid};
	} else if (ftrace_take(&s, "# clock: ")) {
		while (s.at + n < s.end && s.at[n] && strchr(clock_bytes, s.at[n]))
			n++;
		if (n < sizeof(f->clock)) {
			memcpy(f->clock, s.at, n);
			f->clock[n] = '\0';
		}
	}
}

// The time of the last record of each CPU, in the present epoch.
struct clocks {
	uint64_t *last;
	size_t cap;
};

// Counts a record and sets its epoch. A record older than the one before of the same CPU begins a
// new epoch: the clock was set back, or the text is of several runs.
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
			read_comment(f, (struct rest){at, next});
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

// Gives records of lost events, which have no time, that of the next record.
static void time_losses(struct ftrace *f)
{
	const struct ftrace_record *next = NULL;
	for (size_t i = f->n; i-- > 0;) {
		struct ftrace_record *r = &f->v[i];
		if (r->kind != FTRACE_LOST) {
			next = r;
		} else if (next) {
			r->time_ns = next->time_ns;
			r->epoch = next->epoch;
		}
	}
}

// --- order of records, and pairs of entry and return ---

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

COMPARE_BY_BOTH(by_thread, struct thread_place, tid, record)

static void order_threads(struct ftrace *f)
{
	SCOPED(free_at) struct thread_place *v = xcalloc(f->n + 1, sizeof(*v));
	uint32_t losses = 0;
	for (size_t i = 0; i < f->n; i++) {
		losses += f->v[i].kind == FTRACE_LOST;
		f->v[i].losses = losses;
		if (f->v[i].tid >= 0)
			v[f->nby_thread++] = (struct thread_place){f->v[i].tid, i};
	}
	ARRAY_SORT(v, f->nby_thread, by_thread);
	f->by_thread = xcalloc(f->nby_thread + 1, sizeof(*f->by_thread));
	for (size_t i = 0; i < f->nby_thread; i++)
		f->by_thread[i] = v[i].record;
}

COMPARE_BY_BOTH(by_task, struct ftrace_task, tid, tgid)
COMPARE_BY(by_tid, struct ftrace_task, tid)

// Returns the process that comments "# task:" name for a thread; -1: none, or several, if the
// number was given to another thread.
static int64_t named_process(const struct ftrace *f, int64_t tid)
{
	const struct ftrace_task key = {.tid = tid};
	size_t first = ARRAY_BELOW(f->tasks, f->ntasks, &key, by_tid);
	int64_t tgid = first < f->ntasks && f->tasks[first].tid == tid ? f->tasks[first].tgid : -1;
	bool again = first + 1 < f->ntasks && f->tasks[first + 1].tid == tid;
	return again && f->tasks[first + 1].tgid != tgid ? -1 : tgid;
}

// Sets the process of those records of a thread that do not name it. If the others name different
// processes, it stays unknown: the thread's number was given to another thread.
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
			r->entry = open[depth];
			r->inside_ns = r->time_ns - r->entry->time_ns;
			open[depth]->joined = true;
		} else {
			f->unpaired++;
		}
	}
}

void ftrace_read(struct ftrace *f, const char *text, size_t len)
{
	read_lines(f, text, len);
	time_losses(f);
	ARRAY_SORT(f->tasks, f->ntasks, by_task);
	ARRAY_SORT(f->v, f->n, by_epoch_and_time);
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

// --- events of `gpq events --ndjson` ---

static const struct member event_members[] = {
	MEMBER(u64, ftrace_event, time_ns, "time_ns"),
	MEMBER(u64, ftrace_event, pid, "pid"),
	MEMBER(u64, ftrace_event, ns_pid, "ns_pid"),
	MEMBER(u64, ftrace_event, gpu, "gpu_id"),
	MEMBER(u64, ftrace_event, qid, "qid"),
	MEMBER(text, ftrace_event, name, "event"),
	MEMBER(text, ftrace_event, command, "command"),
	MEMBER(text, ftrace_event, clock, "clock"),
	MEMBER(text, ftrace_event, detail, "detail"),
	MEMBER(text, ftrace_event, source, "source"),
	{0},
};

static bool read_event(struct ftrace_event *e, const char *line, size_t len)
{
	const struct member_row rows[] = {{event_members, e}, {NULL, NULL}};
	struct jsonin_value key, value;
	struct jsonin j;
	*e = (struct ftrace_event){.time_ns = FTRACE_UNKNOWN,
				   .pid = UINT64_MAX,
				   .ns_pid = UINT64_MAX,
				   .gpu = UINT64_MAX,
				   .qid = UINT64_MAX,
				   .process = FTRACE_NONE};
	if (!jsonin_open(&j, line, len, '{'))
		return false;
	while (jsonin_next(&j, &key, &value)) {
		if (!members_take(rows, &key, &value))
			return false;
	}
	return !j.failed && e->time_ns != FTRACE_UNKNOWN && e->name[0];
}

static void set_event_process(struct ftrace *f, struct ftrace_event *e)
{
	if (e->pid > INT32_MAX)
		return;
	e->process = ftrace_add_process(f, (int64_t)e->pid, -1);
	struct ftrace_process *p = &f->processes[e->process];
	if (!p->ns_pid && e->ns_pid <= INT32_MAX)
		p->ns_pid = (int64_t)e->ns_pid;
}

COMPARE_BY_BOTH(by_event_time, struct ftrace_event, time_ns, order)

// Gives processes without a name in the trace the name that an event has. Called last: the names
// point into the array of events, which moves when it grows.
static void name_event_processes(struct ftrace *f)
{
	for (size_t i = 0; i < f->nevents; i++) {
		const struct ftrace_event *e = &f->events[i];
		struct ftrace_process *p =
			e->process == FTRACE_NONE ? NULL : &f->processes[e->process];
		if (p && !p->comm.len && e->command[0])
			p->comm = (struct ftrace_text){e->command, (uint32_t)strlen(e->command)};
	}
}

void ftrace_read_events(struct ftrace *f, const char *text, size_t len)
{
	const char *end = text + len;
	for (const char *at = text, *next; at < end; at = next + 1) {
		struct ftrace_event e;
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		if (read_event(&e, at, (size_t)(next - at))) {
			set_event_process(f, &e);
			e.order = f->nevents;
			*ARRAY_ADD(f->events, f->event_cap, f->nevents) = e;
		} else {
			f->odd_events++;
		}
	}
	ARRAY_SORT(f->events, f->nevents, by_event_time);
	name_event_processes(f);
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
