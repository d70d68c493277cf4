// gpq why: options and columns. common/why/why.h judges the queues.
#include "cmd/why.h"

#include "common/why/why.h"

#define OVER_MAX    60000000000u   // ns
#define PROFILE_MAX 3600000000000u // ns

static const struct why_opts defaults = {
	.over = 100000000, .watch = WATCH_OFF, .profile = WHY_NO_PROFILE};

static const struct opt opts[] = {
	PICK_OPTS(why_opts),
	PICK_QUEUES_OPTS(why_opts),
	OPT(why_opts, over, "over", 0, OPT_NS, "T", "time between its two looks (100ms)"),
	OPT(why_opts, profile, "profile", 0, OPT_NS, "T",
	    "look 1,000 times a second for so long:\nwhat share of time is which kernel and state"),
	OPT(why_opts, folded, "folded", 0, OPT_FLAG, "",
	    "\nprofile as stacks for flame graph tools"),
	OPT(why_opts, perfetto, "perfetto", 0, OPT_STR, "FILE",
	    "\nprofile as a timeline for the Perfetto UI"),
	RINGS_ATTACH_OPT(why_opts),
	KERNELS_OPTS(why_opts),
	WATCH_OPT(why_opts),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_RANGE("over", 0, OVER_MAX, "a second is long", "--over: more than 60s"),
	ATTACH_RULE,
	RULE_NEEDS("folded perfetto", "profile", "for example --profile 5s",
		   "--%1 is a form of --profile"),
	RULE_RANGE("profile", 1, PROFILE_MAX, "for example --profile 5s",
		   "--profile: more than 0, at most 1h"),
	RULE_CHOOSE("profile watch"),
	RULE_EXCLUDES("perfetto=-", "", "name a file",
		      "--perfetto -: standard output has the result"),
	RULE_EXCLUDES("folded", ROWS_NAMES, "leave out one of them",
		      "--folded writes stacks: it has no columns, rows or other forms"),
	KERNELS_RULE,
	{0},
};

// A queue, and what it is doing. Unknown members are null.
struct why_row {
	struct queue_row q;
	const char *state, *detail, *exceptions;
	int8_t stuck;
	uint64_t read, write, backlog, taken, slot_write;
	const char *next, *kernel, *demangled;
	uint64_t signal;
	int64_t value;
	uint64_t by_qid, by_index;
	const char *by_type, *by_kernel;
	int64_t by_pid;
	const char *by_name;
	uint64_t over_ns;
};

#define ROW why_row
static const struct out_col cols[] = {
	RING_OWNER_COLS(D),
	COL(q.type, "TYPE", "type", STR, D, "compute, sdma or sdma-xgmi"),
	COL(state, "STATE", "state", STR, D,
	    "computing, computing-or-hung, idle, waits-barrier, waits-external, deadlock, "
	    "not-published, doorbell-lost, takes-turns, suspended, evicted, suspended-or-evicted, "
	    "suspended-or-reset, error, unknown"),
	COL(stuck, "STUCK", "stuck", BOOL, M,
	    "deadlock, not-published, doorbell-lost or error: it will not go on by itself"),
	COL(backlog, "BACKLOG", "backlog", U64, D,
	    "AQL packets, SDMA bytes or PM4 dwords that wait"),
	COL(taken, "TAKEN", "taken", U64, D, "of them taken between the two looks"),
	COL(next, "NEXT", "next", STR, D, "type of the next packet, as of gpq packets"),
	COL(kernel, "KERNEL", "kernel", STR, D | T | OUT_MANGLED,
	    "kernel of the next packet; where nothing waits, of the one taken last"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "the same for people"),
	COL(detail, "DETAIL", "detail", STR, D, "the evidence in a sentence"),
	COL(read, "READ", "read", U64, M, "read index"),
	COL(write, "WRITE", "write", U64, M, "write index"),
	COL(slot_write, "SLOT_WRITE", "slot_write", U64, M,
	    "write index that the hardware slot has seen, of queues that may be hung; null: not "
	    "looked up, or in no slot"),
	COL(q.on_hw, "ON_HW", "on_hw", BOOL, M, "in a hardware slot, as of gpq queues"),
	COL(signal, "SIGNAL", "signal", HEX, M, "signal that is waited for, or that is to come"),
	COL(value, "VALUE", "signal_value", I64, M, "its value"),
	COL(by_qid, "BY_QID", "by_qid", U64, M, "queue of the packet that sets it"),
	COL(by_index, "BY_INDEX", "by_index", U64, M, "index of that packet"),
	COL(by_type, "BY_TYPE", "by_type", STR, M, "its type"),
	COL(by_kernel, "BY_KERNEL", "by_kernel", STR, M, "its kernel"),
	COL(by_pid, "BY_PID", "by_pid", I64, M, "process that has the queue suspended"),
	COL(by_name, "BY_COMMAND", "by_command", STR, M, "its command name"),
	COL(exceptions, "EXCEPTIONS", "exceptions", STR, M,
	    "exceptions that the driver noted for it; none"),
	COL(over_ns, "OVER", "over_ns", NS, M, "time between the two looks"),
};

static const struct out_table why_table = {"queues", "queue", OUT_COLS(cols)};
static const struct schema schema = {"gpq.why", 1, SCHEMA_TABLES(&why_table), NULL};
static const struct schema profile_schema = {"gpq.why.profile", 1,
					     SCHEMA_TABLES(&why_profile_table), NULL};

static void fill_why_cause(struct why_row *r, const struct why *w, const struct why_dep *d)
{
	if (!d)
		return;
	r->signal = d->signal ? d->signal : U64_NULL;
	r->value = d->known ? d->value : I64_NULL;
	if (d->by.queue == SIZE_MAX)
		return;
	r->by_qid = w->v[d->by.queue].q->row->qid;
	r->by_index = d->by.index;
	r->by_type = d->by.type;
}

static void fill_why_indices(struct why_row *r, const struct why_queue *x)
{
	r->read = x->now.read;
	r->write = x->now.write;
	r->backlog = x->now.write - x->now.read;
	r->taken = why_taken(x);
	r->next = x->next.type;
}

static void fill_why_row(struct why_row *r, const struct why *w, const struct why_queue *x)
{
	out_clear(&why_table, r);
	r->q = *x->q->row;
	r->state = why_state_word(x->state);
	r->detail = x->detail;
	r->stuck = x->state == WHY_UNKNOWN ? -1 : why_is_stuck(x->state);
	r->slot_write = x->q->slot_write;
	r->by_pid = x->by_pid ? x->by_pid : I64_NULL;
	r->by_name = *x->by_name ? x->by_name : NULL;
	r->over_ns = w->over_ns;
	if (!x->problem)
		fill_why_indices(r, x);
	fill_why_cause(r, w, x->because);
	if (x->state == WHY_COMPUTING && x->has_last_value && !why_taken(x)) {
		r->signal = x->last.completion;
		r->value = x->last_value;
	}
}

// Prints the chosen queues. Returns GPQ_OK, or GPQ_PARTIAL if one is stuck. Sets *unread if a ring
// could not be read.
static int print_why(struct out *o, const struct why *w, bool *unread)
{
	struct kernels kernels;
	SCOPED(buf_fini) struct buf exceptions = {0};
	struct why_row r;
	int status = GPQ_OK;
	kernels_begin(&kernels, w->rings, o);
	for (size_t i = 0; i < w->n; i++) {
		const struct why_queue *x = &w->v[i];
		if (!x->q->chosen)
			continue;
		fill_why_row(&r, w, x);
		exceptions.len = 0;
		why_exceptions_text(&exceptions, x->exceptions);
		r.exceptions = x->exceptions == U64_NULL ? NULL : exceptions.data;
		const uint64_t object =
			x->next.type ? x->next.kernel_object : x->last.kernel_object;
		if (object)
			r.kernel = kernels_name(&kernels, x->q, object);
		if (x->because && x->because->by.kernel)
			r.by_kernel = kernels_name(&kernels, &w->rings->v[x->because->by.queue],
						   x->because->by.kernel);
		r.demangled = kernels_readable(&kernels, r.kernel);
		out_row(o, &r);
		*unread |= x->problem != RING_OK;
		if (x->problem)
			rings_warn(w->rings, x->q, x->problem);
		else if (x->unread)
			err_note("pid %d: queue %" PRIu64
				 ": signals or packets that it is judged by "
				 "cannot be read, or are none",
				 (int)r.q.pid, r.q.qid);
		if (why_is_stuck(x->state))
			status = GPQ_PARTIAL;
	}
	kernels_end(&kernels);
	return status;
}

static int list_why(struct cmd *c)
{
	const struct why_opts *o = c->opts;
	const struct rings_how how = {.pick = &o->pick,
				      .queues = &o->queues,
				      .attach = o->attach,
				      .want = READ_HOLDER,
				      .whole = true};
	SCOPED(rings_fini) struct rings rings = {0};
	struct why w;
	struct out *out = out_open(&c->out);
	int status = out_begin(out, &why_table, false);
	if (!status)
		status = rings_load(&rings, &how);
	if (!status || status == GPQ_PARTIAL) {
		if (o->evictions)
			evictions_read(o->evictions);
		why_look(&w, &rings, o->evictions, o->over);
		bool unread = false;
		const int printed = print_why(out, &w, &unread);
		status = status ? status : unread ? rings_unread(&rings) : printed;
		why_fini(&w);
	}
	out_end(out);
	const int written = out_close(out);
	return written ? written : status;
}

static int run_why(struct cmd *c)
{
	struct why_opts *o = c->opts;
	kernels_choose(c, &o->kernels);
	if (o->profile != WHY_NO_PROFILE) {
		c->out.schema = &profile_schema;
		return why_profile(c);
	}
	// The driver reports only evictions that begin from now on, so only --watch learns of them.
	if (o->watch != WATCH_OFF)
		o->evictions = evictions_open();
	const int status = watch_run(c, o->watch, list_why);
	evictions_close(o->evictions);
	return status;
}

const struct cmd_spec why_spec = {
	.synopsis = "[-p PID[,PID...]] [--container ID|NAME] [--comm REGEX] [-Q [PID:]ID] "
		    "[--gpu GPU] [--over T] [--attach] [--watch SEC]\n"
		    "--profile T [--folded] [--perfetto FILE] ...",
	.description = "Says of each queue what it is doing, and on what it waits: which signal, "
		       "and which\n"
		       "packet of which queue sets it; or, with --profile, which share of the time "
		       "goes where.\n"
		       "As root; else with --attach. Exit status 3: something is stuck.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct why_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&why_table, &why_profile_table),
	.schemas = SCHEMAS(&schema, &profile_schema),
	.run = run_why,
};
