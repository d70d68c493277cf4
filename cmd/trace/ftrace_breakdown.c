// gpq trace --breakdown: each suspension of queues in steps, and the steps of many in percentiles
// (common/ftrace/suspensions.c).
#include "cmd/trace/ftrace.h"

#include "common/stats/samples.h"

#include <math.h>

static const struct {
	const char *name, *what;
} steps[STEPS] = {
	[STEP_ENTER] = {"enter", "from the ioctl's begin: the target is found and locked"},
	[STEP_UNMAP] = {"unmap", "the runlist is unmapped, without the wait for it"},
	[STEP_SAVE] = {"save", "wait until the waves are saved"},
	[STEP_MAP] = {"map", "the other queues are mapped again"},
	[STEP_REST] = {"rest",
		       "all else in suspend_queues, as copying the headers of what was saved"},
	[STEP_LEAVE] = {"leave", "to the ioctl's end: the answer"},
	[STEP_TOTAL] = {"total", "from the ioctl's begin to its end"},
};

struct suspension_row {
	uint64_t number, time_us, ns[STEPS], last_us, next_us;
	int64_t pid, target, log_pid, queue, count, result;
	const char *command;
};

#define ROW suspension_row
static const struct out_col cols[] = {
	COL(number, "NUMBER", "number", U64, D, "number in the trace, from 1 on"),
	COL(time_us, "TIME_US", "time_us", U64, D, "when it began, by the trace's clock"),
	COL(pid, "PID", "pid", I64, D, "process that asked, as the kernel numbers it"),
	COL(command, "COMMAND", "command", STR, D | T, "its name"),
	COL(target, "TARGET", "target", I64, D, "process whose queues they are, as it asked"),
	COL(log_pid, "LOG_PID", "log_pid", I64, M, "that process, as the log numbers it"),
	COL(queue, "QID", "qid", I64, M, "the first queue of those asked for"),
	COL(count, "QUEUES", "queues", I64, D | W, "queues that were asked for"),
	COL(result, "RETURNED", "returned", I64, D,
	    "queues that were suspended; below 0: an error"),
	COL(ns[STEP_ENTER], "ENTER", "enter_ns", NS, D | W,
	    "ioctl: the target is found and locked"),
	COL(ns[STEP_UNMAP], "UNMAP", "unmap_ns", NS, D,
	    "the runlist is unmapped, without the wait"),
	COL(ns[STEP_SAVE], "SAVE", "save_ns", NS, D, "wait until the waves are saved"),
	COL(ns[STEP_MAP], "MAP", "map_ns", NS, D, "the other queues are mapped again"),
	COL(ns[STEP_REST], "REST", "rest_ns", NS, D, "all else in suspend_queues"),
	COL(ns[STEP_LEAVE], "LEAVE", "leave_ns", NS, D, "to the ioctl's end"),
	COL(ns[STEP_TOTAL], "TOTAL", "total_ns", NS, D, "of the ioctl"),
	COL(last_us, "LAST_US", "last_us", U64, M,
	    "last dispatch of the target before, in the log"),
	COL(next_us, "NEXT_US", "next_us", U64, M, "first dispatch of it after"),
};
#undef ROW
const struct out_table trace_suspension_table = {"suspensions", "suspension", OUT_COLS(cols)};

struct step_row {
	const char *name, *what;
	uint64_t count, p50_ns, p90_ns, p99_ns, max_ns;
};

#define ROW step_row
static const struct out_col step_cols[] = {
	COL(name, "STEP", "step", STR, D, "step, as in the columns of suspensions"),
	COL(count, "COUNT", "count", U64, D, "suspensions in which it was seen"),
	COL(p50_ns, "P50", "p50_ns", NS, D, "median"),
	COL(p90_ns, "P90", "p90_ns", NS, D, "90th percentile; null of fewer than 10"),
	COL(p99_ns, "P99", "p99_ns", NS, D, "99th percentile; null of fewer than 100"),
	COL(max_ns, "MAX", "max_ns", NS, D, "the longest"),
	COL(what, "WHAT", "what", STR, D, "what it is"),
};
#undef ROW
const struct out_table trace_step_table = {"steps", "step", OUT_COLS(step_cols)};

// --- dispatches of the log ---

static void breakdown_event(struct trace *t, const struct amdlog_event *e)
{
	struct kernel_side *k = t->kernel;
	const struct amdlog_record *r = e->record;
	if (r->kind == AMDLOG_DISPATCH && r->time_us != AMDLOG_UNKNOWN)
		*ARRAY_ADD(k->dispatches, k->dispatch_cap, k->ndispatches) =
			(struct dispatch_time){t->sum.threads[r->thread].process, r->time_us};
}

COMPARE_BY_BOTH(by_dispatch, struct dispatch_time, process, time_us)

// Returns how many of k->dispatches, sorted by process and time, are before this process and time.
static size_t dispatches_before(const struct kernel_side *k, uint32_t process, uint64_t time_us)
{
	const struct dispatch_time at = {process, time_us};
	return ARRAY_BELOW(k->dispatches, k->ndispatches, &at, by_dispatch);
}

// Returns the target if it is in the log, else NULL. Its pid is of the caller's PID namespace, but
// is looked up as one of the initial namespace: wrong if the caller ran in a container.
static const struct ftrace_process *target_of(const struct kernel_side *k, int64_t pid)
{
	uint32_t process = ftrace_numbered(&k->f, pid);
	if (process == FTRACE_NONE || k->f.processes[process].log == FTRACE_NONE)
		return NULL;
	return &k->f.processes[process];
}

static void dispatches_around(const struct kernel_side *k, const struct ftrace_suspension *s,
			      struct suspension_row *r)
{
	const struct ftrace_process *p = target_of(k, s->target);
	uint64_t begin = s->begin_ns / 1000, end = s->end_ns / 1000;
	r->log_pid = I64_NULL;
	r->last_us = r->next_us = U64_NULL;
	if (!p)
		return;
	r->log_pid = trace_pid(k->t, p->log);
	if (k->apart)
		return;
	size_t before = dispatches_before(k, p->log, begin);
	size_t after = dispatches_before(k, p->log, end);
	if (before && k->dispatches[before - 1].process == p->log)
		r->last_us = k->dispatches[before - 1].time_us;
	if (after < k->ndispatches && k->dispatches[after].process == p->log)
		r->next_us = k->dispatches[after].time_us;
}

// --- which suspensions, and the report ---

// Suspensions that --breakdown asks for.
struct which {
	bool all;
	uint64_t number;  // number of the suspension, from 1 on; 0: not by number
	uint64_t time_us; // time within the suspension; U64_NULL: not by time
};

// Reads "all", a time (8.19s), or the number of the suspension.
static bool parse_which(const char *arg, struct which *w)
{
	uint64_t n;
	*w = (struct which){.all = strcmp(arg, "all") == 0, .time_us = U64_NULL};
	if (w->all)
		return true;
	if (parse_u64(arg, &n)) {
		w->number = n;
		return n > 0;
	}
	if (!parse_duration(arg, &n))
		return false;
	w->time_us = n / 1000;
	return true;
}

int ftrace_breakdown_check(const char *arg)
{
	struct which w;
	return parse_which(arg, &w)
		       ? GPQ_OK
		       : err_fail(GPQ_USAGE, "give its number (1), a time in it (8.19s), or all",
				  "--breakdown: %s is no suspension", arg);
}

static bool suspension_chosen(const struct kernel_side *k, const struct which *w,
			      const struct ftrace_suspension *s, size_t number)
{
	const struct amdlog_filter *f = &k->t->sum.filter;
	uint64_t begin = s->begin_ns / 1000, end = s->end_ns / 1000;
	if ((k->opts->since && end < f->since_us) || (k->opts->until && begin > f->until_us))
		return false;
	if (k->opts->pick.pids.n && !pids_has(&k->opts->pick.pids, (pid_t)s->target))
		return false;
	return w->all || number == w->number ||
	       (w->time_us != U64_NULL && begin <= w->time_us && w->time_us <= end);
}

static void suspension_out(struct kernel_side *k, const struct ftrace_suspension *s, size_t number)
{
	const struct ftrace_process *p = &k->f.processes[s->process];
	SCOPED(buf_fini) struct buf b = {0};
	struct suspension_row r = {
		.number = number,
		.time_us = s->begin_ns / 1000,
		.pid = p->tgid >= 0 ? p->tgid : I64_NULL,
		.target = s->target,
		.queue = s->queue,
		.count = s->count,
		.result = s->result,
	};
	memcpy(r.ns, s->ns, sizeof(r.ns));
	dispatches_around(k, s, &r);
	if (p->comm.len)
		r.command = (ftrace_string(&b, p->comm), b.data);
	out_row(k->t->out, &r);
}

static uint64_t percentile(struct samples *s, double p)
{
	double v = samples_carry(s->n, p) || p == 0.5 || p == 1 ? samples_percentile(s, p) : NAN;
	return isnan(v) ? U64_NULL : (uint64_t)v;
}

static void steps_out(struct kernel_side *k, struct samples all[STEPS])
{
	trace_table(k->t, &trace_step_table, "Steps", 0, 0);
	for (int i = 0; i < STEPS; i++) {
		struct step_row r = {
			.name = steps[i].name,
			.what = steps[i].what,
			.count = all[i].n,
			.p50_ns = percentile(&all[i], 0.5),
			.p90_ns = percentile(&all[i], 0.9),
			.p99_ns = percentile(&all[i], 0.99),
			.max_ns = percentile(&all[i], 1),
		};
		out_row(k->t->out, &r);
	}
	out_end(k->t->out);
}

static int no_suspension(const struct ftrace_suspensions *all)
{
	return err_fail(GPQ_NOTFOUND,
			all->n ? "see --breakdown all"
			       : "suspend_queues must be traced at entry and return",
			"--breakdown: %s",
			all->n ? "no suspension of the trace is that one"
			       : "no suspension of queues is in the trace");
}

static void suspensions_out(struct kernel_side *k, const struct ftrace_suspensions *all,
			    const struct which *w)
{
	struct samples ns[STEPS] = {{0}};
	trace_table(k->t, &trace_suspension_table, "Suspensions", 0, 0);
	for (size_t i = 0; i < all->n; i++) {
		if (!suspension_chosen(k, w, &all->v[i], i + 1))
			continue;
		suspension_out(k, &all->v[i], i + 1);
		for (int j = 0; j < STEPS; j++) {
			uint64_t step = all->v[i].ns[j];
			samples_add(&ns[j], step == FTRACE_UNKNOWN ? NAN : (double)step);
		}
	}
	out_end(k->t->out);
	if (!k->t->one_table)
		steps_out(k, ns);
	for (int j = 0; j < STEPS; j++)
		samples_fini(&ns[j]);
}

static int report_breakdown(struct trace *t)
{
	struct kernel_side *k = t->kernel;
	struct ftrace_suspensions all = ftrace_suspensions(&k->f);
	struct which w;
	size_t found = 0;
	parse_which(k->opts->breakdown, &w);
	for (size_t i = 0; i < all.n; i++)
		found += suspension_chosen(k, &w, &all.v[i], i + 1);
	ARRAY_SORT(k->dispatches, k->ndispatches, by_dispatch);
	// Programs get a document also if no suspension is found.
	if (found || out_mode(k->t->out) != OUT_TABLE)
		suspensions_out(k, &all, &w);
	int status = found ? GPQ_OK : no_suspension(&all);
	free(all.v);
	return status;
}

static const struct trace_view views[] = {{.table = &trace_suspension_table, .by = BY_NOTHING},
					  {0}};

const struct trace_ask ftrace_breakdown = {
	.schema = &trace_breakdown_schema,
	.views = views,
	.begin = ftrace_load,
	.event = breakdown_event,
	.kinds = AMDLOG_KINDS_PLACED,
	.report = report_breakdown,
};
