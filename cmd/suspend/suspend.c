// gpq suspend: option table; requests to the holders (common/holder/holder.h), one per process.
//
// Each holder suspends its process's queues by a hold that is tied to the connection. Only after
// the results are printed, `hold` makes these holds lasting: if gpq ends earlier, for whatever
// reason, nothing stays suspended.
#include "cmd/suspend/follow.h"
#include "common/host/clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const methods[] = {"debug", "criu", NULL};

static const struct opt opts[] = {
	PICK_OPTS(suspend_opts),
	PICK_QUEUES_OPTS(suspend_opts),
	OPT(suspend_opts, grace, "grace", 0, OPT_U64, "N",
	    "\ntime for waves to end before they are saved,\n0 to 255 x 1000 GPU clocks"),
	OPT(suspend_opts, for_ns, "for", 0, OPT_NS, "DURATION", "resume by itself after this time"),
	OPT(suspend_opts, verify, "verify", 0, OPT_FLAG, NULL,
	    "prove that the queues stand still:\nwatch the read indices, read the saved waves"),
	OPT(suspend_opts, idle, "if-idle", 0, OPT_FLAG, NULL, "\nonly queues without work"),
	OPT(suspend_opts, all_or_none, "all-or-none", 0, OPT_FLAG, NULL,
	    "\nif one process or queue cannot be held, none is"),
	OPT(suspend_opts, once, "once", 0, OPT_FLAG, NULL,
	    "\nleave processes alone that come to fit later"),
	OPT(suspend_opts, no_trace, "no-trace", 0, OPT_FLAG, NULL,
	    "\nhold without tracing,\nwhere the driver allows it (see gpq-suspend(1))"),
	OPT(suspend_opts, dry, "dry-run", 0, OPT_FLAG, NULL,
	    "show what would be held;\nsuspend nothing and run no COMMAND"),
	OPT(suspend_opts, marks, "marks", 0, OPT_STR, "FILE",
	    "\nwith COMMAND: append times of suspend, resume"),
	OPT(suspend_opts, list, "list", 'l', OPT_FLAG, NULL, "show what is suspended and by whom"),
	WATCH_OPT(suspend_opts),
	OPT_ONE_OF(suspend_opts, method, "method", 0, "METHOD",
		   "\ndebug, or criu\n(dangerous: see gpq-suspend(1))", methods),
	{0},
};

static const struct suspend_opts defaults = {.for_ns = NO_DEADLINE, .watch = WATCH_OFF};

static void request(struct buf *b, const struct suspend_opts *o, const struct target *t)
{
	buf_printf(b, "suspend tie grace=%u", (unsigned)o->grace);
	if (o->for_ns != NO_DEADLINE)
		buf_printf(b, " for_ns=%llu", (unsigned long long)o->for_ns);
	if (o->idle)
		buf_puts(b, " idle");
	if (o->no_trace)
		buf_puts(b, " notrace");
	if (o->verify)
		buf_puts(b, " addresses");
	target_words(t, b);
}

static void send_request(struct target *t, const struct suspend_opts *o)
{
	struct kfd_failure *f = &t->failure;
	struct buf b = {0};
	t->failed = kfd_link_open(&t->link, &t->pin, true, f) < 0;
	kfd_step(2);
	if (!t->failed) {
		request(&b, o, t);
		t->failed = kfd_link_send(&t->link, b.data, f) < 0;
	}
	buf_fini(&b);
}

static void abandon(struct target *t)
{
	kfd_link_abandon(&t->link, &t->pin, &t->failure);
}

static void take_answer(struct target *t, const struct suspend_opts *o)
{
	if (!t->failed)
		t->failed = !target_receive(t);
	// An existing holder was just ending, as at its deadline: send the request to a new one.
	if (t->failed && t->link.lost && !t->link.started) {
		kfd_link_close(&t->link);
		send_request(t, o);
		if (!t->failed)
			t->failed = !target_receive(t);
	}
	t->at_ns = clock_ns();
	if (t->failed)
		abandon(t);
}

// All requests are sent before the first answer is waited for, so that all targets are worked on at
// once.
static void ask_all(struct targets *all, const struct suspend_opts *o)
{
	for (size_t i = 0; i < all->n; i++) {
		struct target *t = &all->v[i];
		if (t->failed)
			continue;
		t->failed = kfd_target_pin(&t->pin, t->pid, 0, &t->failure) < 0;
		kfd_step(1);
		if (!t->failed)
			send_request(t, o);
		kfd_step(3);
	}
	for (size_t i = 0; i < all->n; i++)
		take_answer(&all->v[i], o);
	kfd_step(4);
}

// Warns why a queue was not suspended, where the column RESULT is not enough.
static void explain(const struct target *t, const struct kfd_outcome *q)
{
	switch (q->result) {
	case KFD_RESULT_TIMEOUT:
		err_warn("see the kernel log",
			 "pid %d: queue %u: the GPU did not answer within "
			 "%llu s; the driver resets it, and every process on it dies",
			 (int)t->pid, q->queue.queue_id,
			 (unsigned long long)(q->latency_ns / 1000000000u));
		break;
	case KFD_RESULT_REFUSED:
		err_warn("see the kernel log",
			 "pid %d: queue %u: the hardware did not let go of it; "
			 "it was resumed",
			 (int)t->pid, q->queue.queue_id);
		break;
	case KFD_RESULT_UNKNOWN: held_unknown(t, q); break;
	case KFD_RESULT_CLOSING:
		err_warn(NULL, "pid %d: queue %u is being destroyed", (int)t->pid,
			 q->queue.queue_id);
		break;
	default: break;
	}
}

struct report {
	const struct targets *all;
	struct held_sum sum;
};

// A row per queue, unless `o` is NULL, and how it went.
static void write_rows(struct out *o, void *arg)
{
	struct report *r = arg;
	for (size_t i = 0; i < r->all->n; i++) {
		const struct target *t = &r->all->v[i];
		if (t->failed)
			continue;
		for (size_t k = 0; k < t->link.answer.num; k++) {
			const struct kfd_outcome *q = &t->link.answer.queues[k];
			struct held_row row = held_row_of(t, q);
			int status = held_status(q->result);
			if (t->seen)
				status = proofs_fill(&t->seen[k], &row, status);
			if (q->result == KFD_RESULT_UNKNOWN &&
			    held_is_unreached(t, q->queue.queue_id))
				continue; // its row follows
			explain(t, q);
			held_count(&r->sum, status);
			if (o)
				out_row(o, &row);
		}
		held_unreached(o, t, &r->sum);
		if (!t->link.answer.num && !r->sum.failed)
			err_note("pid %d: no queue yet; those that appear will be suspended",
				 (int)t->pid);
	}
}

static int show(struct cmd *c, const struct targets *all)
{
	struct report r = {.all = all};
	int status;
	for (size_t i = 0; i < all->n && !c->out.columns; i++)
		if (all->v[i].num_unreached)
			c->out.columns = "+CONTEXT";
	status = held_write(&c->out, &held_table, write_rows, &r);
	return status ? status : held_sum_status(&r.sum);
}

// Nothing stays suspended; what we started has ended when we have.
static void let_go(struct targets *all)
{
	for (size_t i = 0; i < all->n; i++)
		abandon(&all->v[i]);
}

// Makes the holds lasting: from now on the queues stay suspended without gpq. A holder that has no
// queue and follows no new ones ends. One that ended at its deadline is no failure.
static void confirm(struct targets *all)
{
	uint64_t until;
	for (size_t i = 0; i < all->n; i++) {
		struct target *t = &all->v[i];
		if (t->failed)
			continue;
		if (!t->link.answer.held && !t->link.answer.follows) {
			abandon(t);
			continue;
		}
		until = t->link.answer.until_ns;
		t->failed = kfd_link_send(&t->link, "hold", &t->failure) < 0 || !target_receive(t);
		if (t->failed && t->link.lost && until && clock_ns() >= until)
			t->failed = false;
		else if (t->failed)
			abandon(t);
	}
}

// --all-or-none: the status of the first process or queue that is not held, after a message; else
// 0.
static int first_failure(const struct targets *all)
{
	int status = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct target *t = &all->v[i];
		if (t->failed && !status)
			status = t->failure.status;
		if (t->num_unreached && !t->failed) {
			err_warn(NULL, "pid %d: %zu queues of secondary contexts cannot be held",
				 (int)t->pid, t->num_unreached);
			status = status ? status : GPQ_UNSUPPORTED;
		}
		for (size_t k = 0; k < t->link.answer.num && !t->failed; k++) {
			const struct kfd_outcome *q = &t->link.answer.queues[k];
			int of_queue = held_status(q->result);
			if (of_queue)
				err_warn(NULL, "pid %d: queue %u: %s", (int)t->pid,
					 q->queue.queue_id, kfd_result_name(q->result));
			status = status ? status : of_queue;
		}
	}
	return status;
}

#define NONE_HELD "--all-or-none: nothing stays suspended"

static int hold_none(struct cmd *c, struct targets *all, int status)
{
	const struct targets none = {0};
	targets_report(all);
	let_go(all);
	err_fail((enum gpq_exit)status, NULL, NONE_HELD);
	show(c, &none);
	return status;
}

// Those that were made lasting before another failed.
static void undo(struct targets *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct target *t = &all->v[i];
		struct buf b = {0};
		buf_puts(&b, "resume");
		target_words(t, &b);
		if (!t->failed &&
		    (kfd_link_send(&t->link, b.data, &t->failure) < 0 || !target_receive(t)))
			abandon(t);
		buf_fini(&b);
	}
}

bool suspend_newcomer(struct targets *one, const struct suspend_opts *o, bool lasting)
{
	ask_all(one, o);
	if (!one->v[0].failed && lasting)
		confirm(one);
	return !one->v[0].failed;
}

// Do processes that come later belong to the hold? Not where queues were chosen one by one.
static bool follows(const struct suspend_opts *o)
{
	return pick_needs_host(&o->pick) && !o->once && !o->idle && !o->queues.ids.n &&
	       !o->queues.types.n && !o->queues.prio;
}

static int run_command(struct cmd *c, struct targets *all, struct marks *marks)
{
	struct report r = {.all = all};
	int status, failed;
	write_rows(NULL, &r);
	status = held_sum_status(&r.sum);
	failed = targets_report(all);
	if (!status)
		status = failed;
	if (!status && marks)
		status = marks_suspended(marks, all);
	if (!status)
		return run_held(c->argv, all,
				follows(c->opts) ? follow_start(c->opts, all, true) : -1, marks);
	let_go(all);
	return status;
}

static int suspend_all(struct cmd *c, struct targets *all, struct marks *marks)
{
	const struct suspend_opts *o = c->opts;
	int status, failed;
	kfd_step_init("gpq");
	ask_all(all, o);
	targets_find_unreached(all);
	if (o->verify)
		proofs_take(all);
	if (c->argc)
		return run_command(c, all, marks);
	status = o->all_or_none ? first_failure(all) : 0;
	if (status)
		return hold_none(c, all, status);
	signal(SIGPIPE, SIG_IGN); // a reader that went away undoes nothing
	status = show(c, all);
	kfd_step(5);
	// Standard output that cannot be written is a failure, and a failure holds nothing.
	if (status != GPQ_FAILED && status != GPQ_USAGE && status != GPQ_UNSUPPORTED)
		confirm(all);
	else
		let_go(all);
	failed = targets_report(all);
	if (failed && o->all_or_none) {
		undo(all);
		return err_fail((enum gpq_exit)failed, NULL, NONE_HELD);
	}
	if (follows(o) && (!status || status == GPQ_PARTIAL) &&
	    (!failed || failed == GPQ_PARTIAL) && follow_start(o, all, false) < 0)
		failed = GPQ_PARTIAL;
	if (!failed || status == GPQ_PIPE)
		return status;
	return status || failed == GPQ_PARTIAL ? GPQ_PARTIAL : failed;
}

bool suspend_has_details(const struct suspend_opts *o)
{
	return pick_queues_asks(&o->queues) || o->grace || o->for_ns != NO_DEADLINE || o->verify ||
	       o->idle || o->no_trace || o->all_or_none || o->once || o->dry || o->marks;
}

static int check_list(const struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	if (!suspend_has_details(o) && !pick_needs_host(&o->pick) && !o->method && !c->argc)
		return 0;
	return err_fail(GPQ_USAGE, "of the other options only -p and --watch go with it",
			"--list shows what is suspended, and suspends nothing");
}

// Refuses combinations of options that would not have the effect they suggest.
static int check(const struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	struct kfd_failure f;
	if (o->list)
		return check_list(c);
	if (o->watch != WATCH_OFF)
		return err_fail(GPQ_USAGE, "add --list",
				"--watch repeats a listing: suspending is done once");
	if (c->out.filter)
		return err_fail(GPQ_USAGE, "choose queues by --queue, --gpu, --prio ...",
				"--filter chooses rows to show, not queues to suspend");
	if (o->grace > KFD_GRACE_MAX) {
		kfd_fail(&f, KFD_FAULT_GRACE, (long)o->grace);
		return err_fail(GPQ_USAGE, NULL, "%s", f.text);
	}
	if (!o->for_ns || (o->for_ns > INT64_MAX && o->for_ns != NO_DEADLINE))
		return err_fail(GPQ_USAGE, "without --for they are off until gpq resume",
				"--for: no time at all, or more than 292 years");
	// As after `-- $CMD` with an empty variable.
	if (!c->argc && strcmp(c->argv[-1], "--") == 0)
		return err_fail(GPQ_USAGE, "without -- they are off until gpq resume",
				"no COMMAND behind --");
	if (o->marks && !c->argc)
		return err_fail(GPQ_USAGE,
				"without one, gpq suspend --ndjson and gpq resume --ndjson "
				"write marks",
				"--marks goes with a COMMAND");
	return 0;
}

static int list(struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	return held_list(c, &o->pick.pids);
}

static int run(struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	struct marks *marks = NULL;
	struct targets all;
	int status = check(c);
	if (status)
		return status;
	if (o->list)
		return watch_run(c, o->watch, list);
	if (o->verify && !c->out.columns)
		c->out.columns = "+PROOF,SAVED,BACKLOG";
	status = targets_find(&all, &o->pick, &o->queues, AMONG_OPEN);
	if (!status && o->dry)
		status = suspend_dry(c, &all);
	else if (!status && o->marks && !(marks = marks_open(o->marks)))
		status = GPQ_FAILED;
	if (!status && !o->dry)
		status = o->method ? suspend_criu(c, &all) : suspend_all(c, &all, marks);
	marks_close(marks);
	targets_fini(&all);
	return status;
}

static const struct out_table *const tables[] = {&held_table, &holders_table, NULL};
const struct schema suspend_schema = {"gpq.suspend", 1, SCHEMA_TABLES(&held_table), NULL};

static unsigned needs(const struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	return o->dry ? NEED_KFD : NEED_LIVE;
}

const struct cmd_spec suspend_spec = {
	.synopsis = "-p PID[,PID...] [-Q ID,...] [--gpu GPU] [--prio LEVEL|MIN[:MAX]] [--tree] "
		    "[--grace N]\n"
		    "--container ID ...\n"
		    "-p PID ... -- COMMAND [ARGS]\n"
		    "--list [--watch SEC]",
	.description =
		"Takes the queues of processes off the GPU and keeps them off until gpq resume, "
		"until --for has\npassed, or until COMMAND has ended. When it returns, they are "
		"off; whatever dies, they come back.",
	.operands = "COMMAND [ARGS]",
	.opts = opts,
	.opts_size = sizeof(struct suspend_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&suspend_schema, &holders_schema),
	.stop_at_operand = true,
	.needs = needs,
	.run = run,
};
