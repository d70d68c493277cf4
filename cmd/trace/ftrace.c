// gpq trace --ftrace: the Linux kernel's trace by itself, or with logs on one time line.
//
// A log has microseconds of CLOCK_MONOTONIC. A trace has the clock that trace_clock was set to,
// which only traces that gpq recorded name (ftrace_join.c).
#include "cmd/trace/ftrace.h"

#include "common/cli/input.h"

// A kernel function or event, in one process.
struct function {
	struct ftrace_text name;
	uint32_t process; // index in the trace's processes
	uint32_t key;     // key of the function's durations in functions.us
	bool event;
	uint64_t entries, returns, timed, failed, total_ns, max_ns;
	uint64_t first_ns, last_ns; // FTRACE_UNKNOWN: no record with a time
};

struct functions {
	struct function *v;
	size_t n, cap;
	struct intern names, keys;
	struct keyed_histogram us;
};

struct function_row {
	struct trace_times times;
	uint64_t calls, returns, failed, total_ns, first_us, last_us;
	int64_t pid, tid;
	const char *name, *kind, *command;
};

#define ROW function_row
static const struct out_col function_cols[] = {
	COL(name, "FUNCTION", "function", STR, D, "function of the kernel, or event"),
	COL(kind, "KIND", "kind", STR, M, "function or event"),
	COL(pid, "PID", "pid", I64, D, "process, as the kernel numbers it"),
	COL(tid, "TID", "tid", I64, M, "thread, where its process is not known"),
	COL(command, "COMMAND", "command", STR, D | T, "name of the process"),
	COL(calls, "CALLS", "calls", U64, D, "calls that were seen to begin or to end"),
	COL(returns, "RETURNS", "returns", U64, M, "returns that were seen"),
	COL(failed, "FAILED", "failed", U64, D, "of these: with a result below 0"),
	COL(times.count, "TIMED", "timed", U64, D, "calls of which begin and end were seen"),
	COL(total_ns, "TOTAL", "total_ns", NS, D, "time inside of these, with what they call"),
	COL(times.p50_ns, "P50", "p50_ns", NS, D, "median of that"),
	COL(times.p90_ns, "P90", "p90_ns", NS, D, "90th percentile"),
	COL(times.p99_ns, "P99", "p99_ns", NS, D, "99th percentile"),
	COL(times.max_ns, "MAX", "max_ns", NS, D, "the longest"),
	COL(first_us, "FIRST_US", "first_us", U64, M, "first seen, by the trace's clock"),
	COL(last_us, "LAST_US", "last_us", U64, M, "last seen"),
};
#undef ROW
const struct out_table trace_function_table = {"functions", "function", OUT_COLS(function_cols)};

struct queue_row {
	struct trace_queue of;
	int64_t kernel_pid, gpu, qid;
	uint64_t created_us;
};

#define ROW queue_row
static const struct out_col queue_cols[] = {
	COL(of.at.pid, "PID", "pid", I64, D, "process, as the log numbers it"),
	COL(of.q.hwq, "HWQ", "hwq", HEX, D, "ring address"),
	COL(of.q.swq, "SWQ", "swq", HEX, M, "address of the hsa_queue_t"),
	COL(kernel_pid, "KERNEL_PID", "kernel_pid", I64, D, "process, as the kernel numbers it"),
	COL(gpu, "GPU", "gpu_id", I64, D, "KFD's number of the GPU"),
	COL(qid, "QID", "qid", I64, D, "KFD's number of the queue"),
	COL(created_us, "CREATED_US", "created_us", U64, D, "when CREATE_QUEUE returned"),
	COL(of.q.dispatches, "DISPATCHES", "dispatches", U64, D, "dispatch packets in the log"),
	COL(of.at.span.first_us, "FIRST_US", "first_us", U64, D, "first packet in the log"),
	COL(of.at.span.last_us, "LAST_US", "last_us", U64, D, "last packet"),
};
#undef ROW
const struct out_table trace_kernel_queue_table = {"queues", "queue", OUT_COLS(queue_cols)};

struct process_row {
	int64_t pid, kernel_pid;
	const char *command, *matched;
	uint64_t log_records, kernel_records;
};

#define ROW process_row
static const struct out_col process_cols[] = {
	COL(pid, "PID", "pid", I64, D, "process, as the log numbers it"),
	COL(kernel_pid, "KERNEL_PID", "kernel_pid", I64, D, "as the kernel numbers it"),
	COL(command, "COMMAND", "command", STR, D | T, "name of the process"),
	COL(matched, "MATCHED", "matched", STR, D,
	    "known by: queue, the ring of a queue it created; namespace, its number there; number, "
	    "the same number; given, --pid-map; guess, see the notes"),
	COL(log_records, "LOG_RECORDS", "log_records", U64, D, "of it in the log"),
	COL(kernel_records, "KERNEL_RECORDS", "kernel_records", U64, D, "in the trace"),
};
#undef ROW
const struct out_table trace_kernel_process_table = {"processes", "process",
						     OUT_COLS(process_cols)};

static const struct schema_member members[] = {
	{"clock", SCHEMA_TEXT, "of the trace; null: nobody says", NULL, NULL},
	{"offset_ns", SCHEMA_NUMBER, "what was added to its times; null: nothing", NULL, NULL},
	{"notes", SCHEMA_LIST, "what the trace does not tell, and why", &trace_text, NULL},
	{0}};
const struct schema trace_ftrace_schema = {"gpq.trace.ftrace", 1,
					   SCHEMA_TABLES(&trace_function_table,
							 &trace_kernel_process_table,
							 &trace_kernel_queue_table),
					   members};
const struct schema trace_timeline_schema = {"gpq.trace.timeline", 1,
					     SCHEMA_TABLES(&trace_timeline_table), members};
const struct schema trace_breakdown_schema = {
	"gpq.trace.breakdown", 1, SCHEMA_TABLES(&trace_suspension_table, &trace_step_table),
	members};

// --- functions of the trace ---

static struct function *function_of(struct functions *fs, const struct ftrace_record *r)
{
	bool event = r->kind == FTRACE_EVENT;
	uint64_t name = (uint64_t)intern_put(&fs->names, r->name.at, r->name.len) << 1 | event;
	uint32_t i = pair_value(&fs->keys, name, r->process);
	if (i == INTERN_NONE) {
		i = (uint32_t)fs->n;
		*ARRAY_ADD(fs->v, fs->cap, fs->n) = (struct function){.name = r->name,
								      .process = r->process,
								      .key = i,
								      .event = event,
								      .first_ns = FTRACE_UNKNOWN,
								      .last_ns = FTRACE_UNKNOWN};
		pair_set(&fs->keys, name, r->process, i);
	}
	return &fs->v[i];
}

static void count_call(struct functions *fs, const struct ftrace_record *r)
{
	struct function *f = function_of(fs, r);
	if (r->time_ns != FTRACE_UNKNOWN) {
		f->first_ns = r->time_ns < f->first_ns ? r->time_ns : f->first_ns;
		f->last_ns = f->last_ns == FTRACE_UNKNOWN || r->time_ns > f->last_ns ? r->time_ns
										     : f->last_ns;
	}
	if (r->kind != FTRACE_RETURN) {
		f->entries++;
		return;
	}
	f->returns++;
	f->failed += ftrace_arg(r, "ret") < 0 && ftrace_arg(r, "ret") != FTRACE_NO_ARG;
	if (r->inside_ns == FTRACE_UNKNOWN)
		return;
	keyed_histogram_add(&fs->us, f->key, r->inside_ns / 1000);
	f->timed++;
	f->total_ns += r->inside_ns;
	f->max_ns = r->inside_ns > f->max_ns ? r->inside_ns : f->max_ns;
}

// Returns the number of calls: those whose entry is in the trace, and those with a return alone.
static uint64_t calls_of(const struct function *f)
{
	return f->returns - f->timed > UINT64_MAX - f->entries ? f->entries
							       : f->entries + f->returns - f->timed;
}

// Sorts functions by the time inside of them, then by calls, greatest first.
static int by_time_inside(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	uint32_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = ORDER(y->total_ns, x->total_ns);
	order = order ? order : ORDER(calls_of(y), calls_of(x));
	order = order ? order : memcmp(x->name.at, y->name.at, len);
	order = order ? order : ORDER(x->name.len, y->name.len);
	return order ? order : ORDER(x->process, y->process);
}

static void function_out(struct kernel_side *k, const struct functions *fs,
			 const struct function *f, struct buf *b)
{
	const struct ftrace_process *p = &k->f.processes[f->process];
	bool returns = f->returns > 0;
	struct function_row r = {
		.times = trace_times_in(&fs->us, f->key),
		.calls = calls_of(f),
		.returns = f->event ? U64_NULL : f->returns,
		.failed = returns ? f->failed : U64_NULL,
		.total_ns = f->timed ? f->total_ns : U64_NULL,
		.first_us = ftrace_us(f->first_ns),
		.last_us = ftrace_us(f->last_ns),
		.pid = p->tgid >= 0 ? p->tgid : I64_NULL,
		.tid = p->tid >= 0 ? p->tid : I64_NULL,
		.kind = f->event ? "event" : "function",
	};
	b->len = 0;
	ftrace_string(b, f->name);
	size_t command = ftrace_string(b, p->comm);
	r.name = b->data;
	r.command = p->comm.len ? b->data + command : NULL;
	r.times.max_ns = f->timed ? f->max_ns : U64_NULL;
	out_row(k->t->out, &r);
}

static void functions_out(struct kernel_side *k)
{
	struct functions fs = {0};
	SCOPED(buf_fini) struct buf b = {0};
	for (size_t i = 0; i < k->f.n; i++) {
		const struct ftrace_record *r = &k->f.v[i];
		if (r->process != FTRACE_NONE && ftrace_wanted(k, r))
			count_call(&fs, r);
	}
	ARRAY_SORT(fs.v, fs.n, by_time_inside);
	trace_table(k->t, &trace_function_table, "Functions and events of the kernel", 0, 0);
	for (size_t i = 0; i < fs.n; i++)
		function_out(k, &fs, &fs.v[i], &b);
	out_end(k->t->out);
	if (fs.us.incomplete)
		err_warn("use --pid, --since or --until",
			 "too many functions: times of some are left out");
	free(fs.v);
	intern_fini(&fs.names);
	intern_fini(&fs.keys);
	keyed_histogram_fini(&fs.us);
}

// --- the trace with logs ---

TRACE_COUNT(count_log_processes, sum.nprocesses)
TRACE_COUNT(count_log_queues, sum.nqueues)

static bool rank_log_process(struct trace *t, uint32_t i, struct trace_rank *r)
{
	(void)r;
	return t->sum.processes[i].records > 0;
}

static void log_process_out(struct trace *t, uint32_t i)
{
	const struct ftrace_process *p = ftrace_of_log(&t->kernel->f, i);
	SCOPED(buf_fini) struct buf b = {0};
	struct process_row r = {
		.pid = trace_pid(t, i),
		.kernel_pid = p ? ftrace_pid(p) : I64_NULL,
		.matched = p ? p->matched : NULL,
		.log_records = t->sum.processes[i].records,
		.kernel_records = p ? p->records : U64_NULL,
	};
	if (p && p->comm.len)
		r.command = (ftrace_string(&b, p->comm), b.data);
	out_row(t->out, &r);
}

static bool rank_log_queue(struct trace *t, uint32_t i, struct trace_rank *r)
{
	(void)r;
	return trace_queue_shown(&t->sum.queues[i]);
}

static void log_queue_out(struct trace *t, uint32_t i)
{
	const struct ftrace *f = &t->kernel->f;
	const struct ftrace_queue *q = ftrace_queue_of(f, i);
	struct queue_row r = {trace_queue_of(t, i), I64_NULL, I64_NULL, I64_NULL, U64_NULL};
	if (q) {
		r.kernel_pid = ftrace_pid(&f->processes[q->process]);
		r.gpu = q->gpu;
		r.qid = q->qid;
		r.created_us = ftrace_us(q->created_ns);
	}
	out_row(t->out, &r);
}

static const struct trace_view views[] = {
	{.table = &trace_function_table, .by = BY_NOTHING, .alone = true},
	{&trace_kernel_process_table, "Processes of the log", BY_OTHERS, false, count_log_processes,
	 rank_log_process, log_process_out, NULL},
	{&trace_kernel_queue_table, "Queues of the log", BY_OTHERS, false, count_log_queues,
	 rank_log_queue, log_queue_out, NULL},
	{0},
};

static int report_functions(struct trace *t)
{
	functions_out(t->kernel);
	if (!t->one_table && t->kernel->several)
		trace_views_out(t);
	return GPQ_OK;
}

// --- notes on the trace ---

static void ftrace_notes(const struct kernel_side *k)
{
	const struct ftrace *f = &k->f;
	const struct trace *t = k->t;
	struct json *j = out_json(t->out);
	uint64_t by_number = 0;
	for (size_t i = 0; i < f->nprocesses; i++)
		by_number +=
			f->processes[i].matched && strcmp(f->processes[i].matched, "number") == 0;
	if (j) {
		json_str(j, "clock", k->clock);
		json_i64(j, "offset_ns", k->moved ? k->offset_ns : I64_NULL);
		json_begin(j, "notes", '[');
	}
	if (!f->n && k->opts->ftrace)
		trace_note(t, "the trace is empty: nothing of what was traced happened");
	if (!k->opts->ftrace)
		trace_note(t, "there is no trace of the kernel");
	if (f->odd_events)
		trace_note(t, "%" PRIu64 " line%s of the events' file %s no event%s", f->odd_events,
			   text_s(f->odd_events), text_are(f->odd_events), text_s(f->odd_events));
	if (f->losses)
		trace_note(t,
			   "events were lost at %" PRIu64 " place%s, %" PRIu64
			   " that the kernel counted; calls across them have no length; a larger "
			   "buffer_size_kb loses fewer",
			   f->losses, text_s(f->losses), f->lost);
	if (f->overwritten)
		trace_note(t,
			   "%" PRIu64
			   " older event%s overwritten in the buffer before it was saved",
			   f->overwritten, f->overwritten == 1 ? " was" : "s were");
	if (f->odd)
		trace_note(t, "%" PRIu64 " of %" PRIu64 " lines %s no trace record%s", f->odd,
			   f->lines, text_are(f->odd), text_s(f->odd));
	if (f->untimed)
		trace_note(t,
			   "%" PRIu64 " records have no time in seconds: trace_clock counted "
			   "something else",
			   f->untimed);
	if (f->epochs)
		trace_note(t,
			   "the clock went backwards %" PRIu32
			   " times: runs one behind the other, or a clock that was set",
			   f->epochs);
	if (f->unpaired)
		trace_note(t, "%" PRIu64 " returns have no entry in the trace", f->unpaired);
	if (by_number)
		trace_note(t,
			   "processes of the log found by their number alone: %" PRIu64
			   "; in a container it is another",
			   by_number);
	ftrace_join_notes(k);
	if (j)
		json_end(j, ']');
}

// --- reading the trace ---

static int load_kernel(struct kernel_side *k)
{
	const char *name = k->opts->ftrace, *said = k->opts->ftrace_clock;
	int status = input_read(&k->text, name);
	if (status)
		return status;
	ftrace_read(&k->f, k->text.data ? k->text.data : "", k->text.len);
	k->clock = said ? said : k->f.clock[0] ? k->f.clock : NULL;
	if (!k->f.n && !*k->f.clock) // a recording of gpq names its clock, and may be empty
		return err_fail(GPQ_FAILED, "give what tracefs's trace or trace-cmd report printed",
				"--ftrace %s: no trace record in it", input_name(name));
	k->apart = (k->several || k->opts->events) && (!k->clock || strcmp(k->clock, "mono") != 0);
	return GPQ_OK;
}

static int load_events(struct kernel_side *k)
{
	SCOPED(buf_fini) struct buf text = {0};
	int status = input_read(&text, k->opts->events);
	if (!status)
		ftrace_read_events(&k->f, text.data ? text.data : "", text.len);
	return status;
}

int ftrace_load(struct trace *t)
{
	struct kernel_side *k = t->kernel;
	int status = ftrace_join_check(k);
	if (!status && k->opts->ftrace)
		status = load_kernel(k);
	if (!k->opts->ftrace)
		k->clock = "mono"; // the clock of `gpq events`
	return !status && k->opts->events ? load_events(k) : status;
}

// --- which records are chosen ---

size_t ftrace_string(struct buf *b, struct ftrace_text text)
{
	size_t at = b->len;
	buf_append(b, text.at, text.len);
	buf_append(b, "", 1);
	return at;
}

int64_t ftrace_log_pid(const struct kernel_side *k, const struct ftrace_process *p)
{
	return p->log != FTRACE_NONE ? trace_pid(k->t, p->log) : I64_NULL;
}

// Does --pid choose the process? It means the log's pid, or the kernel's if the log lacks the
// process.
static bool process_wanted(const struct kernel_side *k, uint32_t process)
{
	if (!k->opts->pick.pids.n)
		return true;
	if (process == FTRACE_NONE)
		return false;
	const struct ftrace_process *p = &k->f.processes[process];
	return pids_has(
		&k->opts->pick.pids,
		(pid_t)(p->log != FTRACE_NONE ? k->t->sum.processes[p->log].pid : ftrace_pid(p)));
}

bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process)
{
	const struct amdlog_filter *f = &k->t->sum.filter;
	uint64_t us = ftrace_us(ns);
	if (us == U64_NULL && (k->opts->since || k->opts->until))
		return false;
	return (!k->opts->since || us >= f->since_us) && (!k->opts->until || us <= f->until_us) &&
	       process_wanted(k, process);
}

bool ftrace_wanted(const struct kernel_side *k, const struct ftrace_record *r)
{
	return ftrace_wanted_at(k, r->time_ns, r->process);
}

// Without a log, --since +TIME and --until +TIME count from the first record of the trace.
static void base_filter(struct kernel_side *k)
{
	struct amdlog_filter *f = &k->t->sum.filter;
	uint64_t first = k->f.n         ? ftrace_us(k->f.v[0].time_ns)
			 : k->f.nevents ? k->f.events[0].time_ns / 1000
					: U64_NULL;
	if (k->several || first == U64_NULL)
		return;
	f->since_us += f->since_relative ? first : 0;
	f->until_us = !f->until_relative                 ? f->until_us
		      : f->until_us > UINT64_MAX - first ? UINT64_MAX
							 : f->until_us + first;
}

// --- the run of --ftrace ---

static const struct trace_ask ask_functions = {.schema = &trace_ftrace_schema,
					       .views = views,
					       .begin = ftrace_load,
					       .report = report_functions};

const struct trace_ask *ftrace_asked_for(const struct trace_opts *o)
{
	return o->list ? &ftrace_list : o->breakdown ? &ftrace_breakdown : &ask_functions;
}

static int report_ftrace(struct kernel_side *k, int status)
{
	struct trace *t = k->t;
	amdlog_summary_finish(&t->sum);
	int told = ftrace_join(k);
	base_filter(k);
	if (k->opts->perfetto && !told)
		ftrace_draw(k);
	if (!trace_to_stdout(k->opts->perfetto) && !told) {
		told = trace_report(t);
		ftrace_notes(k);
	}
	return trace_end(t, status, told);
}

int trace_ftrace(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	const struct trace_opts *o = c->opts;
	struct trace t = {0};
	struct kernel_side k = {.opts = o, .t = &t, .several = c->argc > 0};
	trace_choose(&t, c);
	trace_open(&t, c, filter, grep);
	t.kernel = &k;
	int status = trace_begin(&t, c);
	if (!status) {
		stop_watch();
		status = report_ftrace(&k, c->argc ? trace_scan(&t, c, c->argc, c->argv) : GPQ_OK);
	}
	trace_close(&t);
	ftrace_fini(&k.f);
	buf_fini(&k.text);
	intern_fini(&k.apis);
	free(k.rows);
	free(k.dispatches);
	return status;
}
