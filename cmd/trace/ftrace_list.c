// gpq trace --list --ftrace: records of the log and of the Linux kernel's trace, holds and events,
// by time.
#include "cmd/trace/ftrace.h"

#include "common/amdlog/read/detail.h"

// A record of the log, kept until all can be sorted.
struct logged_row {
	uint64_t time_us, duration_us;
	uint32_t thread, queue, kernel; // indices in the summary
	uint32_t api;                   // index in k->apis; INTERN_NONE: no API call
	enum amdlog_kind kind;
};

struct timeline_row {
	uint64_t time_us, thread, duration_ns, hwq;
	int64_t pid, log_pid, tid, cpu, gpu, qid, result;
	const char *source, *command, *kind, *name, *demangled, *args, *clock, *matched;
};

#define ROW timeline_row
static const struct out_col cols[] = {
	COL(time_us, "TIME_US", "time_us", U64, D, "CLOCK_MONOTONIC, or the trace's own clock"),
	COL(source, "SOURCE", "source", STR, D,
	    "log, kernel, gpq (holds), driver or polled (as by gpq events)"),
	COL(pid, "PID", "pid", I64, D, "process, as the kernel numbers it"),
	COL(log_pid, "LOG_PID", "log_pid", I64, M, "the same, as the log numbers it"),
	COL(matched, "MATCHED", "matched", STR, M, "how one was found for the other"),
	COL(command, "COMMAND", "command", STR, D | T, "name of the thread"),
	COL(tid, "TID", "tid", I64, M, "thread, as the kernel numbers it"),
	COL(thread, "THREAD", "thread", HEX, M, "thread, as the log names it: pthread_self()"),
	COL(cpu, "CPU", "cpu", I64, M, "processor"),
	COL(kind, "KIND", "kind", STR, D, "kind of the record"),
	COL(name, "NAME", "name", STR, D | T | OUT_MANGLED,
	    "function, event, API function, GPU kernel; of a hold: who holds"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "the same for people"),
	COL(duration_ns, "INSIDE", "inside_ns", NS, D,
	    "of a return: since its entry; of a hold's end: since its begin"),
	COL(result, "RETURNED", "returned", I64, D, "of a return"),
	COL(gpu, "GPU", "gpu_id", I64, M, "KFD's number of the GPU"),
	COL(qid, "QID", "qid", I64, D, "KFD's number of the queue"),
	COL(hwq, "HWQ", "hwq", HEX, D, "its ring address"),
	COL(args, "ARGS", "args", STR, D | T, "arguments, as the trace has them"),
	COL(clock, "CLOCK", "clock", STR, M,
	    "of an event: whose time it is: driver, read (of reading it), polled (before it)"),
};
#undef ROW
const struct out_table trace_timeline_table = {"records", "record", OUT_COLS(cols)};

// What is no kernel has its name where readable names of kernels are shown, too.
static void timeline_row_out(struct kernel_side *k, struct timeline_row *r)
{
	if (!r->demangled && out_mode(k->t->out) == OUT_TABLE)
		r->demangled = r->name;
	out_row(k->t->out, r);
}

static void timeline_event(struct trace *t, const struct amdlog_event *e)
{
	struct kernel_side *k = t->kernel;
	const struct amdlog_record *r = e->record;
	bool returns = r->kind == AMDLOG_API_RETURN;
	struct logged_row row = {
		.time_us = r->time_us,
		.duration_us = returns ? amdlog_api_duration(r) : AMDLOG_UNKNOWN,
		.thread = r->thread,
		.queue = e->queue,
		.kernel = e->kernel,
		.api = r->name_len ? intern_put(&k->apis, r->msg, r->name_len) : INTERN_NONE,
		.kind = r->kind,
	};
	*ARRAY_ADD(k->rows, k->row_cap, k->nrows) = row;
}

static struct timeline_row no_row(void)
{
	struct timeline_row r = {0};
	out_clear(&trace_timeline_table, &r);
	return r;
}

static void log_record_out(struct kernel_side *k, const struct logged_row *l)
{
	const struct amdlog_summary *s = &k->t->sum;
	const struct amdlog_thread *h = &s->threads[l->thread];
	const struct ftrace_process *p = ftrace_of_log(&k->f, h->process);
	uint32_t queue = l->queue;
	struct timeline_row r = no_row();
	r.time_us = l->time_us;
	r.source = "log";
	r.log_pid = trace_pid(k->t, h->process);
	r.pid = p ? ftrace_pid(p) : I64_NULL;
	r.matched = p ? p->matched : NULL;
	r.thread = h->id.tid;
	r.kind = amdlog_kind_name(l->kind);
	r.duration_ns = trace_ns(l->duration_us);
	if (l->kernel != AMDLOG_NONE) {
		r.name = s->kernels[l->kernel].name;
		r.demangled = trace_name_shown(k->t, l->kernel);
	} else if (l->api != INTERN_NONE) {
		r.name = k->apis.entries[l->api].bytes;
	}
	while (queue != AMDLOG_NONE && s->queues[queue].merged != AMDLOG_NONE)
		queue = s->queues[queue].merged;
	if (queue != AMDLOG_NONE) {
		const struct ftrace_queue *q = ftrace_queue_of(&k->f, queue);
		r.hwq = s->queues[queue].hwq;
		r.qid = q ? q->qid : I64_NULL;
		r.gpu = q ? q->gpu : I64_NULL;
	}
	timeline_row_out(k, &r);
}

static void set_process(const struct kernel_side *k, struct timeline_row *r,
			const struct ftrace_process *p)
{
	r->pid = p->tgid >= 0 ? p->tgid : I64_NULL;
	r->log_pid = ftrace_log_pid(k, p);
	r->matched = p->matched;
}

static void kernel_record_out(struct kernel_side *k, const struct ftrace_record *r, struct buf *b)
{
	int64_t ring = ftrace_call_arg(r, "ring");
	struct timeline_row row = no_row();
	b->len = 0;
	ftrace_string(b, r->comm);
	size_t name = ftrace_string(b, r->name);
	size_t args = ftrace_string(b, r->args);
	row.time_us = ftrace_us(r->time_ns);
	row.source = "kernel";
	if (r->process != FTRACE_NONE)
		set_process(k, &row, &k->f.processes[r->process]);
	row.command = r->comm.len ? b->data : NULL;
	row.tid = r->tid >= 0 ? r->tid : I64_NULL;
	row.cpu = r->cpu;
	row.kind = ftrace_kind_name(r->kind);
	row.name = r->name.len ? b->data + name : NULL;
	row.duration_ns = r->inside_ns;
	row.result = ftrace_arg(r, "ret");
	row.gpu = ftrace_call_arg(r, "gpu");
	row.qid = ftrace_qid(r);
	row.hwq = ring == I64_NULL ? U64_NULL : (uint64_t)ring;
	row.args = r->args.len ? b->data + args : NULL;
	if (r->kind == FTRACE_LOST && r->lost != FTRACE_UNKNOWN) {
		b->len = 0;
		buf_printf(b, "%llu events", (unsigned long long)r->lost);
		row.args = b->data;
		row.command = NULL;
	}
	timeline_row_out(k, &row);
}

static void hold_out(struct kernel_side *k, const struct ftrace_mark *m, struct buf *b)
{
	const struct ftrace_hold *h = &k->f.holds[m->hold];
	const struct ftrace_process *by = &k->f.processes[h->holder];
	const struct ftrace_process *target = &k->f.processes[h->target];
	struct timeline_row r = no_row();
	b->len = 0;
	set_process(k, &r, target);
	ftrace_string(b, target->comm);
	size_t name = ftrace_string(b, by->comm);
	size_t args = b->len;
	buf_printf(b, "by=%lld queues=%lld", (long long)ftrace_pid(by), (long long)m->queues);
	if (m->end)
		buf_printf(b, " end=%s", h->ended);
	r.time_us = (m->end ? h->end_ns : h->begin_ns) / 1000;
	r.duration_ns = m->end ? h->end_ns - h->begin_ns : U64_NULL;
	r.source = "gpq";
	r.kind = m->end ? "hold-end" : "hold-begin";
	r.command = target->comm.len ? b->data : NULL;
	r.name = by->comm.len ? b->data + name : NULL;
	r.args = b->data + args;
	timeline_row_out(k, &r);
}

static int64_t signed_or_null(uint64_t n)
{
	return n > INT64_MAX ? I64_NULL : (int64_t)n;
}

static void event_out(struct kernel_side *k, const struct ftrace_event *e, struct buf *b)
{
	const bool own = strcmp(e->clock, "driver") == 0 || !e->clock[0];
	struct timeline_row r = no_row();
	b->len = 0;
	if (e->process != FTRACE_NONE)
		set_process(k, &r, &k->f.processes[e->process]);
	if (!own)
		buf_printf(b, "clock=%s%s", e->clock, e->detail[0] ? " " : "");
	buf_puts(b, e->detail);
	r.time_us = e->time_ns / 1000;
	r.source = e->source[0] ? e->source : NULL;
	r.kind = "event";
	r.name = e->name;
	r.command = e->command[0] ? e->command : NULL;
	r.gpu = signed_or_null(e->gpu);
	r.qid = signed_or_null(e->qid);
	r.clock = e->clock[0] ? e->clock : NULL;
	r.args = b->len ? b->data : NULL;
	timeline_row_out(k, &r);
}

// A row to write: `of` tells its source, `at` the index in the array of that source.
struct place {
	bool apart; // a row of the log, whose clock is not the trace's: it follows all of the trace
	uint64_t time_us;
	enum { OF_KERNEL, OF_HOLD, OF_EVENT, OF_LOG } of; // rows of equal time are in this order
	size_t at;
};

struct places {
	struct place *v;
	size_t n, cap;
};

static int by_time_and_source(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = ORDER(x->apart, y->apart);
	order = order ? order : ORDER(x->time_us, y->time_us);
	order = order ? order : ORDER(x->of, y->of);
	return order ? order : ORDER(x->at, y->at);
}

static void add_place(struct places *p, uint64_t ns, int of, size_t at)
{
	*ARRAY_ADD(p->v, p->cap, p->n) = (struct place){false, ftrace_us(ns), of, at};
}

// Adds records of the trace, each followed by the holds that begin or end with it.
static void add_kernel(const struct kernel_side *k, struct places *p)
{
	for (size_t i = 0, m = 0; i < k->f.n; i++) {
		if (ftrace_wanted(k, &k->f.v[i]))
			add_place(p, k->f.v[i].time_ns, OF_KERNEL, i);
		for (; m < k->f.nmarks && k->f.marks[m].record == i; m++) {
			if (ftrace_wanted_at(k, k->f.v[i].time_ns,
					     k->f.holds[k->f.marks[m].hold].target))
				add_place(p, k->f.v[i].time_ns, OF_HOLD, m);
		}
	}
}

static void place_out(struct kernel_side *k, const struct place *p, struct buf *b)
{
	switch (p->of) {
	case OF_KERNEL: kernel_record_out(k, &k->f.v[p->at], b); break;
	case OF_HOLD: hold_out(k, &k->f.marks[p->at], b); break;
	case OF_EVENT: event_out(k, &k->f.events[p->at], b); break;
	case OF_LOG: log_record_out(k, &k->rows[p->at]); break;
	}
}

static int report_timeline(struct trace *t)
{
	struct kernel_side *k = t->kernel;
	struct places p = {0};
	SCOPED(buf_fini) struct buf b = {0};
	add_kernel(k, &p);
	for (size_t i = 0; i < k->f.nevents; i++) {
		if (ftrace_wanted_at(k, k->f.events[i].time_ns, k->f.events[i].process))
			add_place(&p, k->f.events[i].time_ns, OF_EVENT, i);
	}
	for (size_t i = 0; i < k->nrows; i++)
		*ARRAY_ADD(p.v, p.cap, p.n) =
			(struct place){k->apart, k->rows[i].time_us, OF_LOG, i};
	// The records of a trace alone are in order; sorting would mix epochs, whose times overlap.
	if (k->nrows || k->f.nevents)
		ARRAY_SORT(p.v, p.n, by_time_and_source);
	for (size_t i = 0; i < p.n; i++)
		place_out(k, &p.v[i], &b);
	out_end(k->t->out);
	free(p.v);
	return GPQ_OK;
}

static const struct trace_view views[] = {{.table = &trace_timeline_table, .by = BY_NOTHING}, {0}};

const struct trace_ask ftrace_list = {
	.schema = &trace_timeline_schema,
	.views = views,
	.begin = ftrace_load,
	.event = timeline_event,
	.kinds = UINT32_MAX,
	.report = report_timeline,
};
