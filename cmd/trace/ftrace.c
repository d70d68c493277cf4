// gpq trace --ftrace: the kernel's side by itself, or with logs on one time line.
//
// Log and trace must have the same clock. A log has microseconds of CLOCK_MONOTONIC. A trace has
// the clock that trace_clock was set to, and only traces that gpq recorded say which.
#include "cmd/trace/ftrace.h"

#include "common/cli/input.h"
#include "common/cli/stop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A function or event, in one process.
struct function {
	struct ftrace_text name;
	uint32_t process, key; // of the kernel's; of the histogram
	bool event;
	uint64_t entries, returns, timed, failed, total_ns, max_ns;
	uint64_t first_ns, last_ns; // FTRACE_UNKNOWN
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
	COL(qid, "QID", "queue_id", I64, D, "KFD's number of the queue"),
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
	    "the same number"),
	COL(log_records, "LOG_RECORDS", "log_records", U64, D, "of it in the log"),
	COL(kernel_records, "KERNEL_RECORDS", "kernel_records", U64, D, "in the trace"),
};
#undef ROW
const struct out_table trace_kernel_process_table = {"processes", "process",
						     OUT_COLS(process_cols)};

static const struct schema_member members[] = {
	{"clock", SCHEMA_TEXT, "of the trace; null: nobody says", NULL, NULL},
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

// --- functions ---

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

// Calls seen to begin, and those of which only the return is in the trace.
static uint64_t calls_of(const struct function *f)
{
	return f->returns - f->timed > UINT64_MAX - f->entries ? f->entries
							       : f->entries + f->returns - f->timed;
}

// Functions with most time inside come first, then those with most calls.
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

static uint64_t us_of(uint64_t ns)
{
	return ns == FTRACE_UNKNOWN ? U64_NULL : ns / 1000;
}

static void function_out(struct kernel_side *k, const struct functions *fs,
			 const struct function *f, struct buf *b)
{
	const struct ftrace_process *p = &k->f.processes[f->process];
	bool returns = f->returns > 0;
	size_t command;
	struct function_row r = {
		.times = trace_times_in(&fs->us, f->key),
		.calls = calls_of(f),
		.returns = f->event ? U64_NULL : f->returns,
		.failed = returns ? f->failed : U64_NULL,
		.total_ns = f->timed ? f->total_ns : U64_NULL,
		.first_us = us_of(f->first_ns),
		.last_us = us_of(f->last_ns),
		.pid = p->tgid >= 0 ? p->tgid : I64_NULL,
		.tid = p->tid >= 0 ? p->tid : I64_NULL,
		.kind = f->event ? "event" : "function",
	};
	b->len = 0;
	ftrace_string(b, f->name);
	command = ftrace_string(b, p->comm);
	r.name = b->data;
	r.command = p->comm.len ? b->data + command : NULL;
	r.times.max_ns = f->timed ? f->max_ns : U64_NULL;
	out_row(k->t->out, &r);
}

static void functions_out(struct kernel_side *k)
{
	struct functions fs = {0};
	struct buf b = {0};
	for (size_t i = 0; i < k->f.n; i++) {
		const struct ftrace_record *r = &k->f.v[i];
		if (r->process != FTRACE_NONE && ftrace_wanted(k, r))
			count_call(&fs, r);
	}
	if (fs.n)
		qsort(fs.v, fs.n, sizeof(*fs.v), by_time_inside);
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
	buf_fini(&b);
}

// --- with logs ---

static void processes_out(struct kernel_side *k)
{
	const struct amdlog_summary *s = &k->t->sum;
	struct buf b = {0};
	trace_table(k->t, &trace_kernel_process_table, "Processes of the log", 0, 0);
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct ftrace_process *p = ftrace_of_log(&k->f, i);
		struct process_row r = {
			.pid = trace_pid(k->t, i),
			.kernel_pid = p ? ftrace_pid(p) : I64_NULL,
			.matched = p ? p->matched : NULL,
			.log_records = s->processes[i].records,
			.kernel_records = p ? p->records : U64_NULL,
		};
		if (!s->processes[i].records)
			continue;
		b.len = 0;
		if (p && p->comm.len)
			r.command = (ftrace_string(&b, p->comm), b.data);
		out_row(k->t->out, &r);
	}
	out_end(k->t->out);
	buf_fini(&b);
}

static void kernel_queues_out(struct kernel_side *k)
{
	trace_table(k->t, &trace_kernel_queue_table, "Queues of the log", 0, 0);
	for (uint32_t i = 0; i < k->t->sum.nqueues; i++) {
		const struct ftrace_queue *q = ftrace_queue_of(&k->f, i);
		struct queue_row r = {trace_queue_of(k->t, i), I64_NULL, I64_NULL, I64_NULL,
				      U64_NULL};
		if (!trace_queue_shown(&k->t->sum.queues[i]))
			continue;
		if (q) {
			const struct ftrace_process *p = &k->f.processes[q->process];
			r.kernel_pid = ftrace_pid(p);
			r.gpu = q->gpu;
			r.qid = q->qid;
			r.created_us = us_of(q->created_ns);
		}
		out_row(k->t->out, &r);
	}
	out_end(k->t->out);
}

// --- notes ---

__attribute__((format(printf, 3, 4))) static void say_note(struct json *j, uint64_t n,
							   const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	if (!n)
		return;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (j)
		json_str(j, NULL, b.data);
	else
		err_warn(NULL, "%s", b.data);
	buf_fini(&b);
}

static void notes_out(struct kernel_side *k)
{
	const struct ftrace *f = &k->f;
	struct json *j = out_json(k->t->out);
	uint64_t by_number = 0;
	for (size_t i = 0; i < k->f.nprocesses; i++)
		by_number += k->f.processes[i].matched &&
			     strcmp(k->f.processes[i].matched, "number") == 0;
	if (j) {
		json_str(j, "clock", k->clock);
		json_begin(j, "notes", '[');
	}
	say_note(j, !f->n && k->opts->ftrace,
		 "the trace is empty: nothing of what was traced happened");
	say_note(j, !k->opts->ftrace, "there is no trace of the kernel");
	say_note(j, k->f.odd_events, "%" PRIu64 " lines of the events' file are no events",
		 k->f.odd_events);
	say_note(j, f->losses,
		 "events were lost at %" PRIu64 " places, %" PRIu64
		 " that the kernel counted; calls across them have no length; a larger "
		 "buffer_size_kb "
		 "loses fewer",
		 f->losses, f->lost);
	say_note(j, f->overwritten,
		 "%" PRIu64 " older events were overwritten in the buffer before it was saved",
		 f->overwritten);
	say_note(j, f->odd, "%" PRIu64 " of %" PRIu64 " lines are no trace records", f->odd,
		 f->lines);
	say_note(j, f->untimed,
		 "%" PRIu64 " records have no time in seconds: trace_clock counted something else",
		 f->untimed);
	say_note(j, f->epochs,
		 "the clock went backwards %" PRIu32
		 " times: runs one behind the other, or a clock that was set",
		 f->epochs);
	say_note(j, f->unpaired, "%" PRIu64 " returns have no entry in the trace", f->unpaired);
	say_note(j, by_number,
		 "processes of the log found by their number alone: %" PRIu64
		 "; in a container it is another",
		 by_number);
	if (j)
		json_end(j, ']');
}

// --- the run ---

static void ftrace_event(struct trace *t, const struct amdlog_event *e)
{
	struct kernel_side *k = t->asked;
	if (k->opts->list)
		ftrace_list_event(k, e);
	if (k->opts->breakdown)
		ftrace_breakdown_event(k, e);
}

// By report: that of functions, --breakdown, --list.
static const struct trace_ask ask_functions = {.schema = &trace_ftrace_schema,
					       .table = &trace_function_table,
					       .event = ftrace_event,
					       .kinds = AMDLOG_KINDS_PLACED};
static const struct trace_ask ask_breakdown = {.schema = &trace_breakdown_schema,
					       .table = &trace_suspension_table,
					       .event = ftrace_event,
					       .kinds = AMDLOG_KINDS_PLACED};
static const struct trace_ask ask_list = {.schema = &trace_timeline_schema,
					  .table = &trace_timeline_table,
					  .event = ftrace_event,
					  .kinds = UINT32_MAX};

static int load_kernel(struct kernel_side *k)
{
	const char *name = k->opts->ftrace, *said = k->opts->ftrace_clock;
	int status = input_read(&k->text, name);
	if (status)
		return status;
	ftrace_read(&k->f, k->text.data ? k->text.data : "", k->text.len);
	k->clock = said ? said : k->f.clock[0] ? k->f.clock : NULL;
	if (!k->f.n && !*k->f.clock) // gpq's own may hold nothing
		return err_fail(GPQ_FAILED, "give what tracefs's trace or trace-cmd report printed",
				"--ftrace %s: no trace record in it", input_name(name));
	if ((k->several || k->opts->events) && (!k->clock || strcmp(k->clock, "mono") != 0))
		return err_fail(GPQ_USAGE,
				k->clock ? "record it with trace_clock mono"
					 : "say --ftrace-clock mono if trace_clock was mono",
				"--ftrace %s: its clock is %s, that of the log is mono",
				input_name(name), k->clock ? k->clock : "not known");
	return GPQ_OK;
}

static int load_events(struct kernel_side *k)
{
	struct buf text = {0};
	int status = input_read(&text, k->opts->events);
	if (!status)
		ftrace_read_events(&k->f, text.data ? text.data : "", text.len);
	buf_fini(&text);
	return status;
}

static int load_trace(struct kernel_side *k)
{
	int status = k->opts->ftrace ? load_kernel(k) : GPQ_OK;
	if (!k->opts->ftrace)
		k->clock = "mono"; // of events
	return !status && k->opts->events ? load_events(k) : status;
}

// --- what is chosen ---

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

// By the number in the log where the process is known there, else by the kernel's.
static bool process_wanted(const struct kernel_side *k, uint32_t process)
{
	const struct ftrace_process *p;
	if (!k->opts->pick.pids.n)
		return true;
	if (process == FTRACE_NONE)
		return false;
	p = &k->f.processes[process];
	return pids_has(
		&k->opts->pick.pids,
		(pid_t)(p->log != FTRACE_NONE ? k->t->sum.processes[p->log].pid : ftrace_pid(p)));
}

bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process)
{
	const struct amdlog_filter *f = &k->t->sum.filter;
	uint64_t us = ns == FTRACE_UNKNOWN ? FTRACE_UNKNOWN : ns / 1000;
	if (us == FTRACE_UNKNOWN && (k->opts->since || k->opts->until))
		return false;
	return (!k->opts->since || us >= f->since_us) && (!k->opts->until || us <= f->until_us) &&
	       process_wanted(k, process);
}

bool ftrace_wanted(const struct kernel_side *k, const struct ftrace_record *r)
{
	return ftrace_wanted_at(k, r->time_ns, r->process);
}

// Without a log, times count from the first record of the trace.
static void base_filter(struct kernel_side *k)
{
	struct amdlog_filter *f = &k->t->sum.filter;
	uint64_t first = k->f.n         ? us_of(k->f.v[0].time_ns)
			 : k->f.nevents ? k->f.events[0].time_ns / 1000
					: U64_NULL;
	if (k->several || first == U64_NULL)
		return;
	f->since_us += f->since_relative ? first : 0;
	f->until_us = !f->until_relative                 ? f->until_us
		      : f->until_us > UINT64_MAX - first ? UINT64_MAX
							 : f->until_us + first;
}

static int ftrace_tables_out(struct kernel_side *k)
{
	struct trace *t = k->t;
	int status = GPQ_OK;
	if (k->opts->list) {
		ftrace_list(k);
	} else if (k->opts->breakdown) {
		status = ftrace_breakdown(k);
	} else {
		functions_out(k);
		if (!t->one_table && k->several) {
			processes_out(k);
			kernel_queues_out(k);
		}
	}
	notes_out(k);
	return status;
}

static int report_ftrace(struct kernel_side *k, int status)
{
	struct trace *t = k->t;
	bool drawn_only = trace_to_stdout(k->opts->perfetto);
	int drawn, written, told = GPQ_OK;
	amdlog_summary_finish(&t->sum);
	ftrace_match(&k->f, &t->sum);
	base_filter(k);
	if (k->opts->perfetto)
		ftrace_draw(k);
	if (!drawn_only)
		told = ftrace_tables_out(k);
	drawn = trace_perfetto_close(t);
	written = out_close(t->out);
	if (written || drawn)
		return written ? written : drawn;
	return status == GPQ_STOPPED ? trace_stopped(t) : status ? status : told;
}

static int run_ftrace(struct kernel_side *k, struct cmd *c)
{
	struct trace *t = k->t;
	bool columns = c->out.columns || c->out.all;
	bool flat = c->out.mode == OUT_RAW || c->out.mode == OUT_PAIRS || c->out.mode == OUT_CSV;
	int status = load_trace(k);
	t->one_table = k->opts->list || columns || flat;
	c->out.several = !t->one_table;
	t->out = out_open(&c->out);
	if (!status && t->one_table)
		status = trace_begin_table(t);
	if (!status)
		status = trace_perfetto_open(t, c->argc, c->argv);
	if (status) {
		trace_perfetto_close(t);
		out_close(t->out);
		return status;
	}
	stop_watch();
	return report_ftrace(k, c->argc ? trace_scan(t, c, c->argc, c->argv) : GPQ_OK);
}

int trace_ftrace(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	struct trace_opts given = *(const struct trace_opts *)c->opts, opts = given;
	struct trace t = {.ask = given.list        ? &ask_list
				 : given.breakdown ? &ask_breakdown
						   : &ask_functions,
			  .by = BY_NOTHING};
	struct kernel_side k = {.opts = &given, .t = &t, .several = c->argc > 0};
	struct cmd of_log = *c;
	int status;
	opts.list = false; // the time line writes its own rows
	of_log.opts = &opts;
	of_log.out.schema = t.ask->schema;
	trace_open(&t, &of_log, filter, grep);
	t.asked = &k;
	status = run_ftrace(&k, &of_log);
	t.asked = NULL;
	trace_close(&t);
	ftrace_fini(&k.f);
	buf_fini(&k.text);
	intern_fini(&k.apis);
	free(k.rows);
	free(k.dispatches);
	return status;
}
