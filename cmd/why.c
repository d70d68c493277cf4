// gpq why: options and columns. common/why/why.h judges the queues.
#include "cmd/why.h"

#include "common/cli/stop.h"
#include "common/cli/text.h"
#include "common/host/dlopen.h"
#include "common/host/root.h"

#define OVER_MAX    86400000000000u // ns
#define LOOKS       50             // of --stuck-after, at least, unless they are closer than --over
#define PROFILE_MAX 3600000000000u // ns
#define LOOKS_MAX   100000         // of --waves
#define HOLD_MAX    60000000000u   // ns

static const struct why_opts defaults = {.over = 100000000,
					 .sample = 3,
					 .every = 100000000,
					 .max_hold = 200000000,
					 .watch = WATCH_OFF,
					 .profile = WHY_NO_PROFILE};

static const struct opt opts[] = {
	PICK_OPTS(why_opts),
	PICK_QUEUES_OPTS(why_opts),
	OPT(why_opts, over, "over", 0, OPT_NS, "TIME", "time between its two looks (100ms)"),
	OPT(why_opts, stuck_after, "stuck-after", 0, OPT_NS, "TIME",
	    "exit with 7 if a queue stands for so long;\nif so, gpq goes on looking until then"),
	OPT(why_opts, profile, "profile", 0, OPT_SEC, "SEC",
	    "look 1,000 times a second for so long:\nwhat share of time is which kernel and state"),
	OPT(why_opts, folded, "folded", 0, OPT_FLAG, "",
	    "\nprofile as stacks for flame graph tools"),
	OPT(why_opts, flame, "flame", 0, OPT_STR, "FILE", "\nprofile as a flame graph (SVG)"),
	OPT(why_opts, perfetto, "perfetto", 0, OPT_STR, "FILE",
	    "\nprofile as a timeline for the Perfetto UI"),
	OPT(why_opts, dmesg, "dmesg", 0, OPT_STR, "FILE",
	    "\nthe kernel's log of the host: what dmesg or\njournalctl -k printed"),
	OPT(why_opts, stacks, "stacks", 0, OPT_FLAG, "",
	    "also stacks of its threads that sleep;\nnothing is stopped for them"),
	OPT(why_opts, waves, "waves", 0, OPT_FLAG, "",
	    "where in its kernels each process stands;\nits queues are taken off for each sample"),
	OPT(why_opts, registers, "registers", 0, OPT_FLAG, "",
	    "\n--waves also with the registers of a wave of its\nfirst row"),
	OPT(why_opts, core, "core", 0, OPT_STR, "FILE",
	    "\n--waves of a GPU core: of gpq core, or gpucore.PID"),
	OPT(why_opts, sample, "sample", 0, OPT_U64, "N", "\nnumber of samples of --waves (3)"),
	OPT(why_opts, every, "every", 0, OPT_SEC, "SEC",
	    "\ntime from one sample of --waves to the next (100ms),\nat least 50 times as long as "
	    "queues are off"),
	OPT(why_opts, max_hold, "max-hold", 0, OPT_NS, "TIME",
	    "\nqueues come back after so long, whatever was read\n(200ms)"),
	OPT(why_opts, force, "force", 0, OPT_FLAG, "",
	    "\n--waves also where the GPU did not let go of queues\nbefore; the driver may reset "
	    "it"),
	RINGS_ATTACH_OPT(why_opts),
	KERNELS_OPTS(why_opts),
	WATCH_OPT(why_opts),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_RANGE("over", 0, OVER_MAX, "a second is long", "--over: more than 24h"),
	RULE_RANGE("stuck-after", 1, OVER_MAX, "for example --stuck-after 5m",
		   "--stuck-after: more than 0, at most 24h"),
	ATTACH_RULE,
	RULE_NEEDS("sample every max-hold force", "waves", "add --waves", "--%1 is one of --waves"),
	RULE_RANGE("sample", 1, LOOKS_MAX, "for example --sample 3",
		   "--sample: at least 1, at most 100000"),
	RULE_RANGE("every", 1, OVER_MAX, "for example --every 1s",
		   "--every: more than 0, at most 24h"),
	RULE_RANGE("max-hold", 1000000, HOLD_MAX, "for example --max-hold 200ms",
		   "--max-hold: at least 1ms, at most 1m"),
	RULE_NEEDS("perfetto", "profile", "for example --profile 5s",
		   "--perfetto is a form of --profile"),
	RULE_NEEDS("folded flame", "profile waves core", "for example --profile 5s",
		   "--%1 is a form of --profile and of --waves"),
	RULE_NEEDS("registers", "waves core", "add --waves", "--registers is one of --waves"),
	RULE_EXCLUDES("folded", "registers", "leave out one of them", ""),
	RULE_EXCLUDES("core", PICK_NAMES " " PICK_QUEUES_NAMES, "leave out one of them",
		      "--core: a core has all queues of one process"),
	RULE_EXCLUDES("core", "sample every max-hold force attach", "leave out one of them", ""),
	RULE_EXCLUDES("core", "profile watch stuck-after stacks over", "leave out one of them", ""),
	RULE_EXCLUDES("waves", "profile watch stuck-after stacks over", "leave out one of them",
		      ""),
	RULE_EXCLUDES("waves", "attach", "leave out --attach",
		      "--waves asks the driver's debug interface anyway"),
	RULE_RANGE("profile", 1, PROFILE_MAX, "for example --profile 5s",
		   "--profile: more than 0, at most 1h"),
	RULE_EXCLUDES("dmesg", "profile waves core", "leave out one of them",
		      "--dmesg: --%2 does not judge by the kernel's log"),
	RULE_CHOOSE("profile watch"),
	RULE_CHOOSE("profile stuck-after"),
	RULE_CHOOSE("profile stacks"),
	RULE_EXCLUDES("flame=- perfetto=-", "", "name a file",
		      "--%1 -: standard output has the result"),
	RULE_EXCLUDES("folded", ROWS_NAMES, "leave out one of them",
		      "--folded writes stacks: it has no columns, rows or other forms"),
	KERNELS_RULE,
	WATCH_RULES,
	{0},
};

// A queue, and what it is doing. Unknown members are null.
struct why_row {
	struct queue_row q;
	const char *state, *detail, *remedy, *exceptions, *inversion;
	int8_t stuck;
	const char *pointers;
	uint64_t read, write, backlog, taken, slot_write, stood_ns;
	const char *next, *kernel, *demangled;
	uint64_t at_work, signal;
	int64_t value;
	uint64_t by_qid, by_index;
	const char *by_type, *by_kernel;
	uint64_t root_qid;
	const char *root_state;
	int64_t root_pid, by_pid;
	const char *by_name;
	uint64_t over_ns;
};

#define ROW why_row
static const struct out_col cols[] = {
	RING_OWNER_COLS(D),
	COL(q.type, "TYPE", "type", STR, D | W, "compute, sdma or sdma-xgmi"),
	COL(state, "STATE", "state", STR, D,
	    "running, hung-or-long, idle, idle-or-running, waits-barrier, waits-external, "
	    "waits-slot, behind, deadlock, not-published, doorbell-lost, stopped, suspended, "
	    "evicted, suspended-or-evicted, suspended-or-reset, error, reset, lost, unknown"),
	COL(stuck, "STUCK", "stuck", BOOL, M,
	    "will not go on by itself: deadlock, not-published, doorbell-lost, error, reset or "
	    "lost, "
	    "or behind such a queue; or has not for --stuck-after"),
	COL(backlog, "BACKLOG", "backlog", U64, D,
	    "AQL packets, SDMA bytes or PM4 dwords that wait"),
	COL(taken, "TAKEN", "taken", U64, D | W, "of them taken between the two looks"),
	COL(next, "NEXT", "next", STR, D | W, "type of the next packet, as of gpq packets"),
	COL(kernel, "KERNEL", "kernel", STR, D | W | T | OUT_MANGLED,
	    "kernel at work, as far as known; else that of the next packet, or of the last one"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "the same for people"),
	COL(detail, "DETAIL", "detail", STR, D | T | OUT_BELOW, "the evidence in a sentence"),
	COL(remedy, "DO", "do", STR, M | T, "what to do about the state"),
	COL(read, "READ", "read", U64, M, "read index"),
	COL(write, "WRITE", "write", U64, M, "write index"),
	COL(pointers, "POINTERS", "pointers", STR, M,
	    "where both are from: process (its memory), live (its slot), saved (its MQD)"),
	COL(slot_write, "SLOT_WRITE", "slot_write", U64, M,
	    "write index that the hardware slot has seen, of queues that may be hung; null: not "
	    "looked up, or in no slot"),
	COL(q.on_hw, "ON_HW", "on_hw", BOOL, M, "in a hardware slot, as of gpq queues"),
	COL(stood_ns, "STOOD", "stood_ns", NS, M,
	    "for how long, at least, no packet was taken: since gpq first looked, or its kernel "
	    "began; null on a host recorded without its looks"),
	COL(at_work, "AT_WORK", "at_work", U64, M, "index of the packet at work, as far as known"),
	COL(signal, "SIGNAL", "signal", HEX, M, "signal that is waited for, or that is to come"),
	COL(value, "SIGNAL_VALUE", "signal_value", I64, M, "its value"),
	COL(by_qid, "BY_QID", "by_qid", U64, M, "queue of the packet that sets it"),
	COL(by_index, "BY_INDEX", "by_index", U64, M, "index of that packet"),
	COL(by_type, "BY_TYPE", "by_type", STR, M, "its type"),
	COL(by_kernel, "BY_KERNEL", "by_kernel", STR, M, "its kernel"),
	COL(root_qid, "ROOT_QID", "root_qid", U64, M, "queue that is waited for in the end"),
	COL(root_state, "ROOT_STATE", "root_state", STR, M, "its state"),
	COL(root_pid, "ROOT_PID", "root_pid", I64, M, "its process, if that is another one"),
	COL(by_pid, "BY_PID", "by_pid", I64, M,
	    "process that has the queue suspended; or that of BY_QID, if it is another one"),
	COL(by_name, "BY_COMMAND", "by_command", STR, M, "its command name"),
	COL(exceptions, "EXCEPTIONS", "exceptions", STR, M,
	    "exceptions that the driver noted for it; none"),
	COL(inversion, "INVERSION", "inversion", STR, M | T,
	    "a queue of lower priority is in a slot meanwhile: which one"),
	COL(over_ns, "OVER", "over_ns", NS, M, "time between the two looks"),
};
#undef ROW

// A process, and what its queues make of it.
struct verdict_row {
	struct queue_row q; // the queue that the verdict is about
	const char *state, *verdict, *host, *stacks, *remedy;
	int8_t stuck;
	uint64_t queues, stuck_queues, waiting, stood_ns;
};

#define ROW verdict_row
static const struct out_col process_cols[] = {
	COL(q.pid, "PID", "pid", I64, D, "process, as the host numbers it"),
	COL(q.process.comm, "COMMAND", "command", STR, D | T, "command name, up to 15 bytes"),
	WHOSE_COLS(q.process, M),
	COL(state, "STATE", "state", STR, D, "the worst state of its queues, or that of its root"),
	COL(stuck, "STUCK", "stuck", BOOL, M, "a queue of it is stuck"),
	COL(q.qid, "QID", "qid", U64, D, "the queue with that state"),
	COL(stood_ns, "STOOD", "stood_ns", NS, D,
	    "for how long, at least, that queue took no packet"),
	COL(waiting, "WAITING", "waiting", U64, D, "queues that wait behind it"),
	COL(queues, "QUEUES", "queues", U64, M, "queues that were chosen"),
	COL(stuck_queues, "STUCK_QUEUES", "stuck_queues", U64, M, "of them stuck"),
	COL(verdict, "VERDICT", "verdict", STR, D | T, "the verdict in a sentence"),
	COL(host, "HOST", "host", STR, M | T,
	    "where its threads stand, as functions of the kernel, if something may be wrong"),
	COL(stacks, "STACKS", "stacks", STR, M | T,
	    "a line for each stack of its threads that sleep; null without --stacks"),
	COL(remedy, "DO", "do", STR, M | T, "what to do about it"),
};

const struct out_table why_process_table = {"processes", "process", OUT_COLS(process_cols)};
static const struct out_table why_table = {"queues", "queue", OUT_COLS(cols)};
static const struct schema schema = {"gpq.why", 1, SCHEMA_TABLES(&why_table, &why_process_table),
				     NULL};
static const struct schema wave_schema = {
	"gpq.why.waves", 1, SCHEMA_TABLES(&why_wave_table, &why_register_table), NULL};
static const struct schema profile_schema = {"gpq.why.profile", 1,
					     SCHEMA_TABLES(&why_profile_table), NULL};

static int64_t pid_of(const struct why *w, size_t queue)
{
	return w->v[queue].q->row->pid;
}

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
	if (pid_of(w, d->by.queue) != r->q.pid) {
		r->by_pid = pid_of(w, d->by.queue);
		r->by_name = w->v[d->by.queue].q->row->process.comm;
	}
}

static void fill_why_indices(struct why_row *r, const struct why_queue *x)
{
	r->read = x->now.read;
	r->write = x->now.write;
	r->backlog = x->now.write - x->now.read;
	r->pointers = x->pointers;
	r->taken = why_taken(x);
	r->stood_ns = x->once ? U64_NULL : x->stood_ns;
	r->next = x->next.type;
}

static void fill_why_row(struct why_row *r, const struct why *w, const struct why_queue *x)
{
	out_clear(&why_table, r);
	r->q = *x->q->row;
	r->state = why_state_word(x->state);
	r->detail = x->detail;
	r->remedy = x->remedy;
	if (x->state == WHY_WAITS_SLOT && *x->q->inversion.text)
		r->inversion = x->q->inversion.text;
	r->stuck = x->state == WHY_UNKNOWN ? -1 : x->stuck;
	r->slot_write = x->q->slot_write;
	r->by_pid = x->by_pid ? x->by_pid : I64_NULL;
	r->by_name = *x->by_name ? x->by_name : NULL;
	r->over_ns = x->over_ns;
	if (x->pointers)
		fill_why_indices(r, x);
	fill_why_cause(r, w, x->because);
	if (x->state == WHY_HUNG_OR_LONG && why_last_runs(x)) {
		r->signal = x->last.completion;
		r->value = x->last_value;
	}
	if (x->work.queue != SIZE_MAX && x->work_sure)
		r->at_work = x->work.index;
	if (x->root != SIZE_MAX) {
		r->root_qid = w->v[x->root].q->row->qid;
		r->root_state = why_state_word(w->v[x->root].state);
		if (pid_of(w, x->root) != r->q.pid)
			r->root_pid = pid_of(w, x->root);
	}
}

static void fill_verdict_row(struct verdict_row *r, const struct why *w,
			     const struct why_process *p)
{
	const struct why_queue *x = &w->v[p->worst];
	*r = (struct verdict_row){.q = *x->q->row,
				  .state = why_state_word(x->state),
				  .stuck = p->stuck > 0,
				  .queues = p->chosen,
				  .stuck_queues = p->stuck,
				  .waiting = p->waiting,
				  .stood_ns = x->pointers && !x->once ? x->stood_ns : U64_NULL,
				  .verdict = p->text,
				  .host = p->host,
				  .stacks = p->stacks,
				  .remedy = x->remedy};
}

void why_say_line(struct buf *b, size_t indent, const char *what, const char *text)
{
	SCOPED(buf_fini) struct buf line = {0};
	if (!text)
		return;
	text_escape(&line, what, strlen(what));
	text_escape(&line, text, strlen(text));
	buf_fill(b, ' ', indent);
	text_wrap(b, indent, indent + 4, line.data, line.len);
}

static void say_stacks(struct buf *b, const char *stacks)
{
	SCOPED(buf_fini) struct buf copy = {0};
	buf_puts(&copy, stacks ? stacks : "");
	for (char *rest = copy.data, *line; (line = strsep(&rest, "\n"));)
		if (*line)
			why_say_line(b, 2, "", line);
}

// "pid 4711 python3: VERDICT", and where the threads stand.
static void say_verdict(struct buf *b, const struct verdict_row *r)
{
	SCOPED(buf_fini) struct buf who = {0};
	buf_printf(&who, "pid %" PRId64 " %s: ", r->q.pid,
		   r->q.process.comm ? r->q.process.comm : "?");
	why_say_line(b, 0, who.data, r->verdict);
	why_say_line(b, 2, "host: ", r->host);
	say_stacks(b, r->stacks);
}

bool why_says_verdicts(const struct out_opts *form)
{
	return form->mode == OUT_TABLE && !form->table_name &&
	       (!form->columns || *form->columns == '+');
}

void why_say(struct buf *to, const struct why *w, bool last)
{
	struct verdict_row r = {0};
	for (unsigned rank = last ? WHY_RANKS : 1; rank--;)
		for (size_t i = 0; i < w->rings->nprocesses; i++) {
			const struct why_process *p = &w->processes[i];
			if (!p->chosen || (last && why_rank(w->v[p->worst].state) != rank))
				continue;
			const char *above = r.remedy;
			fill_verdict_row(&r, w, p);
			if (above && (!last || !r.remedy || strcmp(above, r.remedy) != 0))
				why_say_line(to, 2, "do: ", above);
			say_verdict(to, &r);
		}
	if (to->len)
		why_say_line(to, 2, "do: ", r.remedy);
}

static void say_verdicts(struct out *o, const struct out_opts *form, const struct why *w)
{
	SCOPED(buf_fini) struct buf lines = {0};
	if (form->filter || form->all || form->noheadings)
		return;
	why_say(&lines, w, out_fits(o));
	if (lines.len)
		out_title(o, "%.*s", (int)lines.len - 1, lines.data);
}

int why_print_processes(struct out *o, const struct why *w)
{
	struct verdict_row r;
	int status = out_begin(o, &why_process_table, false);
	for (size_t i = 0; status != GPQ_USAGE && i < w->rings->nprocesses; i++) {
		if (!w->processes[i].chosen)
			continue;
		fill_verdict_row(&r, w, &w->processes[i]);
		if (out_row(o, &r) && r.stuck)
			status = GPQ_STUCK;
	}
	out_end(o);
	return status;
}

// Returns false if --filter leaves the row out.
static bool print_why_queue(struct out *o, const struct why *w, const struct why_queue *x,
			    struct kernels *kernels)
{
	SCOPED(buf_fini) struct buf exceptions = {0};
	struct why_row r;
	char text[2][24];
	fill_why_row(&r, w, x);
	why_exceptions_text(&exceptions, x->exceptions);
	r.exceptions = x->exceptions == U64_NULL ? NULL : exceptions.data;
	const uint64_t object = x->work.queue != SIZE_MAX ? x->work.kernel
				: x->next.type            ? x->next.kernel_object
							  : x->last.kernel_object;
	if (object)
		r.kernel = kernels_shown(kernels, x->q, object, o, text[0]);
	if (x->because && x->because->by.kernel)
		r.by_kernel = kernels_shown(kernels, &w->rings->v[x->because->by.queue],
					    x->because->by.kernel, o, text[1]);
	r.demangled = kernels_readable(kernels, r.kernel);
	if (!out_row(o, &r))
		return false;
	if (x->problem)
		rings_warn(w->rings, x->q, x->problem);
	else if (x->unread)
		err_note("pid %d: queue %" PRIu64 ": signals or packets that it is judged by "
			 "cannot be read, or are none",
			 (int)r.q.pid, r.q.qid);
	return true;
}

// Prints the chosen queues: what is stuck first, and of these the worst. Returns GPQ_OK; GPQ_STUCK
// if one is stuck; else GPQ_PARTIAL if a ring or a signal could not be read: then sets *unread for
// a ring. Rows that
// --filter leaves out do not count.
static int print_why(struct out *o, const struct why *w, struct kernels *kernels, bool *unread)
{
	bool stuck = false, partial = false;
	const int status = out_begin(o, &why_table, false);
	if (status)
		return status;
	for (unsigned place = 0; place < 2 * WHY_RANKS; place++)
		for (size_t i = 0; i < w->n; i++) {
			const struct why_queue *x = &w->v[i];
			const unsigned rank = why_rank(x->state) + (x->stuck ? 0 : WHY_RANKS);
			if (!x->q->chosen || rank != place || !print_why_queue(o, w, x, kernels))
				continue;
			*unread |= !x->pointers;
			partial |= x->state == WHY_UNKNOWN;
			stuck |= x->stuck;
		}
	out_end(o);
	return stuck ? GPQ_STUCK : partial ? GPQ_PARTIAL : GPQ_OK;
}

const char *why_kernel_name(void *kernels, const struct ring_queue *q, uint64_t object)
{
	const char *name = kernels_name(kernels, q, object),
		   *text = kernels_readable(kernels, name);
	return text ? text : name;
}

static void add_stacks(struct why *w)
{
	pid_t pid;
	const int error = why_read_stacks(w, &pid);
	const bool live = host_is_live();
	if (error == ENOPKG)
		err_warn(LIB_MEND("libdw", "libdw1", ""),
			 LIB_WHY("--stacks: ", "libdw", "libdw.so.1", ""));
	else if (error)
		err_warn(live && (error == EACCES || error == EPERM) ? "as root" : NULL,
			 "--stacks: pid %d: %s", (int)pid,
			 !live && error == ENOENT ? "none was recorded" : strerror(error));
}

static int look_and_print(struct cmd *c, struct out *out, struct rings *rings)
{
	const struct why_opts *o = c->opts;
	const uint64_t apart = o->stuck_after / LOOKS;
	struct kernels kernels;
	const struct why_how how = {.evictions = o->evictions,
				    .log = o->log,
				    .heads = o->heads,
				    .over_ns = apart > o->over ? apart : o->over,
				    .stuck_after_ns = o->stuck_after,
				    .name = why_kernel_name,
				    .arg = &kernels};
	struct why w;
	bool unread = false;
	kernels_begin(&kernels, rings, NULL);
	kernels.demangles = c->out.demangle; // in verdicts also where no column shows it
	why_look_on(&w, rings, &how);
	if (o->stacks)
		add_stacks(&w);
	int status = GPQ_OK;
	const bool says = why_says_verdicts(&c->out);
	if (!says)
		status = why_print_processes(out, &w);
	else if (!out_fits(out))
		say_verdicts(out, &c->out, &w);
	if (!status || status == GPQ_STUCK) {
		const int queues = print_why(out, &w, &kernels, &unread);
		status = status ? status : queues;
	}
	if (says && out_fits(out))
		say_verdicts(out, &c->out, &w);
	if (unread && status != GPQ_STUCK)
		status = rings_unread(rings);
	why_fini(&w);
	kernels_end(&kernels);
	return status;
}

static int list_why(struct cmd *c)
{
	const struct why_opts *o = c->opts;
	const struct rings_how how = {.pick = &o->pick,
				      .queues = &o->queues,
				      .attach = o->attach,
				      .want = READ_HOLDER | READ_CU,
				      .whole = true};
	SCOPED(rings_fini) struct rings rings = {0};
	c->out.fits = o->watch == WATCH_OFF;
	struct out *out = out_open(&c->out);
	int status = rings_load(&rings, &how);
	if (o->stuck_after && !host_is_live() && !rings_record(&rings) && c->sysroots->n < 2)
		err_warn(NULL,
			 "--stuck-after: nothing moves on a recorded host, however long one looks");
	if (!status || status == GPQ_PARTIAL) {
		if (o->evictions)
			evictions_read(o->evictions);
		const int looked = look_and_print(c, out, &rings);
		status = status ? status : looked;
	}
	const int written = out_close(out);
	return written ? written : status;
}

static int run_why(struct cmd *c)
{
	struct why_opts *o = c->opts;
	kernels_choose(c, &o->kernels);
	if (o->waves || o->core) {
		c->out.schema = &wave_schema;
		return why_waves(c);
	}
	if (o->profile != WHY_NO_PROFILE) {
		c->out.schema = &profile_schema;
		return why_profile(c);
	}
	SCOPED(why_heads_fini) struct why_heads heads = {0};
	SCOPED(klog_fini) struct klog log = {0};
	if (o->dmesg) {
		const int read = why_read_log(&log, o->dmesg);
		if (read)
			return read;
		o->log = &log;
	}
	// The driver reports only evictions that begin from now on, so only --watch learns of them.
	if (o->watch != WATCH_OFF)
		o->evictions = evictions_open();
	o->heads = &heads;
	int status = c->sysroots->n > 1 ? why_look_before(c->sysroots, &heads) : GPQ_OK;
	status = status ? status : watch_run(c, o->watch, list_why);
	evictions_close(o->evictions);
	return status;
}

static const struct out_table *const *why_prints(const struct cmd *c)
{
	const struct why_opts *o = c->opts;
	static const struct out_table *const queues[] = {&why_table, NULL}, *const waves[] = {
										    &why_wave_table,
										    NULL};
	if (o->profile != WHY_NO_PROFILE)
		return profile_schema.tables;
	if (o->waves || o->core)
		return o->registers ? wave_schema.tables : waves;
	return why_says_verdicts(&c->out) ? queues : schema.tables;
}

static int check_why(struct cmd *c)
{
	const struct why_opts *o = c->opts;
	if (c->sysroots->n < 2 || !(o->waves || o->core || o->profile != WHY_NO_PROFILE))
		return GPQ_OK;
	return err_fail(GPQ_USAGE, "name the host alone",
			"--sysroot for an earlier moment and --%s exclude each other",
			o->waves  ? "waves"
			: o->core ? "core"
				  : "profile");
}

static unsigned why_needs(const struct cmd *c)
{
	const struct why_opts *o = c->opts;
	return o->core || host_only_dumps() ? 0 : NEED_KFD;
}

const struct cmd_spec why_spec = {
	.synopsis = "[-p PID[,PID...]] [--container ID|NAME] [-Q [PID:]ID] [--over TIME] "
		    "[--stuck-after TIME] [--stacks] [--watch SEC]\n"
		    "--profile SEC [--folded] [--flame FILE] [--perfetto FILE] ...\n"
		    "--waves -p PID [--sample N] [--every SEC] [--max-hold TIME] ...\n"
		    "--core FILE",
	.description =
		"Says of each process whether it runs or hangs, and of each queue what it is "
		"doing, and on what it waits:\n"
		"which kernel does not end, which signal is not set, and which packet of "
		"which queue sets it; or,\n"
		"with --profile, which share of the time goes where;\n"
		"with --waves, at which instruction and source line its waves are.\n"
		"As root; else with --attach. Exit status 7: something is stuck.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct why_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&why_table, &why_process_table, &why_profile_table, &why_wave_table,
				&why_register_table),
	.schemas = SCHEMAS(&schema, &profile_schema, &wave_schema),
	.check = check_why,
	.needs = why_needs,
	.prints = why_prints,
	.run = run_why,
};
