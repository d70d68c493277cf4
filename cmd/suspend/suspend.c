// gpq suspend: option table; requests to the holders (common/holder/holder.h), one per process.
//
// A holder suspends the queues of its process by a hold that is tied to the connection. `hold`
// makes that hold lasting only after the results are printed: if gpq ends earlier, for whatever
// reason, nothing stays suspended.
#include "cmd/suspend/suspend.h"

#include <signal.h>

static const struct opt opts[] = {
	PICK_OPTS(suspend_opts),
	PICK_QUEUES_OPTS(suspend_opts),
	OPT(suspend_opts, all, "all", 0, OPT_FLAG, "",
	    "\nwhat --prio, --type or --gpu choose,\nof all processes of the host"),
	OPT(suspend_opts, grace, "grace", 0, OPT_U64, "N",
	    "\ntime for waves to end before they are saved,\n0 to 255 x 1000 GPU clocks"),
	OPT(suspend_opts, for_ns, "for", 0, OPT_SEC, "SEC", "resume by itself after this time"),
	OPT(suspend_opts, verify, "verify", 0, OPT_FLAG, "",
	    "\nprove that the queues stand still:\nwatch the read indices, read the saved waves"),
	OPT(suspend_opts, idle, "if-idle", 0, OPT_FLAG, "", "\nonly queues without work"),
	OPT(suspend_opts, all_or_none, "all-or-none", 0, OPT_FLAG, "",
	    "\nif one process or queue cannot be held, none is"),
	OPT(suspend_opts, once, "once", 0, OPT_FLAG, "",
	    "\nleave processes alone that come to fit later"),
	OPT(suspend_opts, no_trace, "no-trace", 0, OPT_FLAG, "",
	    "\nhold without tracing,\nwhere the driver allows it (see gpq-suspend(1))"),
	OPT(suspend_opts, dry, "dry-run", 0, OPT_FLAG, "",
	    "show what would be held;\nsuspend nothing and run no COMMAND"),
	OPT(suspend_opts, marks, "marks", 0, OPT_STR, "FILE",
	    "\nwith COMMAND: append times of suspend, resume"),
	OPT(suspend_opts, list, "list", 'l', OPT_FLAG, "", "show what is suspended and by whom"),
	WATCH_OPT(suspend_opts),
	OPT_ONE_OF(suspend_opts, method, "method", 0, "METHOD",
		   "\ndebug, or criu\n(dangerous: see gpq-suspend(1))", "debug\0criu"),
	{0},
};

static const struct suspend_opts defaults = {.for_ns = NO_DEADLINE, .watch = WATCH_OFF};

// Members that fail are abandoned, which ends what their holders hold for us.
static void ask_members(struct group *all, const char *request, bool select, bool start)
{
	const struct group_talk talk = {.request = request, .select = select, .start = start};
	group_request(all, &talk);
	group_answers(all, &talk);
	group_abandon_failed(all);
}

static void suspend_members(struct group *all, const struct suspend_opts *o)
{
	SCOPED(buf_fini) struct buf b = {0};
	buf_printf(&b, "suspend tie grace=%u", (unsigned)o->grace);
	if (o->for_ns != NO_DEADLINE)
		buf_printf(&b, " for_ns=%llu", (unsigned long long)o->for_ns);
	buf_puts(&b, o->idle ? " idle" : "");
	buf_puts(&b, o->no_trace ? " notrace" : "");
	buf_puts(&b, o->verify ? " addresses" : "");
	ask_members(all, b.data, true, true);
	kfd_step(4);
}

// Warns why a queue was not suspended, where the column RESULT is not enough.
static void explain_outcome(const struct group_member *m, const struct kfd_outcome *q)
{
	const int pid = (int)m->target.pid;
	switch (q->result) {
	case KFD_RESULT_TIMEOUT:
		err_warn("see the kernel log",
			 "pid %d: queue %u: the GPU did not answer within "
			 "%llu s; the driver resets it, and every process on it dies",
			 pid, q->queue.queue_id, (unsigned long long)(q->latency_ns / 1000000000u));
		break;
	case KFD_RESULT_REFUSED:
		err_warn("see the kernel log",
			 "pid %d: queue %u: the hardware did not let go of it; "
			 "it was resumed",
			 pid, q->queue.queue_id);
		break;
	case KFD_RESULT_UNKNOWN: held_unknown(m, q); break;
	case KFD_RESULT_CLOSING:
		err_warn(NULL, "pid %d: queue %u is being destroyed", pid, q->queue.queue_id);
		break;
	default: break;
	}
}

// Writes a row for each queue, unless `o` is NULL. `proofs`: readings of --verify, or NULL. Returns
// the exit status of all queues together.
static int write_rows(struct out *o, const struct group *all, const struct proof_seen *proofs)
{
	struct held_sum sum = {0};
	for (size_t i = 0; i < all->n; i++) {
		const struct group_member *m = all->v[i];
		if (m->state == MEMBER_FAILED)
			continue;
		for (size_t k = 0; k < m->link.answer.num; k++) {
			const struct kfd_outcome *q = &m->link.answer.queues[k];
			struct held_row row = held_row_of(m, q);
			int status = held_status(q->result);
			if (proofs)
				status = proofs_fill(proofs++, &row, status);
			if (q->result == KFD_RESULT_UNKNOWN &&
			    held_is_unreached(m, q->queue.queue_id))
				continue; // held_unreached() writes the queue's row
			explain_outcome(m, q);
			held_count(&sum, status);
			if (o)
				held_write(o, &row);
		}
		held_unreached(o, m, &sum);
		if (!m->link.answer.num && !sum.failed)
			err_note("pid %d: no queue yet; those that appear will be suspended",
				 (int)m->target.pid);
	}
	return held_sum_status(&sum);
}

static int show_held(struct cmd *c, const struct group *all, const struct proof_seen *proofs)
{
	int of_queues = 0;
	for (size_t i = 0; i < all->n && !c->out.columns; i++)
		if (all->v[i]->num_unreached)
			c->out.columns = "+CONTEXT_ID";
	struct out *o = out_open(&c->out);
	int status = held_begin(o);
	if (!status)
		of_queues = write_rows(o, all, proofs);
	status = out_finish(o, status);
	return status ? status : of_queues;
}

// Abandons all members: nothing stays suspended, and the holders that were started end.
static void abandon_all(struct group *all)
{
	for (size_t i = 0; i < all->n; i++)
		member_abandon(all->v[i]);
}

// Makes the holds lasting: from now on the queues stay suspended without gpq. Holders without a
// queue that follow no new ones are let go. A holder that ended at its deadline has not failed.
static void confirm_holds(struct group *all)
{
	const struct group_talk talk = {.request = "hold"};
	for (size_t i = 0; i < all->n; i++) {
		struct group_member *m = all->v[i];
		if (m->state == MEMBER_READY && !m->link.answer.held && !m->link.answer.follows)
			member_abandon(m);
	}
	group_request(all, &talk);
	group_answers(all, &talk);
	for (size_t i = 0; i < all->n; i++) {
		struct group_member *m = all->v[i];
		const uint64_t until = m->link.answer.until_ns;
		if (m->state == MEMBER_FAILED && m->link.lost && until && clock_ns() >= until)
			member_set_failed(m, false);
	}
	group_abandon_failed(all);
}

// --all-or-none: warns of queues that are not held. Returns the exit status of the first process or
// queue that is not held, or 0.
static int first_failure(const struct group *all)
{
	int status = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct group_member *m = all->v[i];
		const bool failed = m->state == MEMBER_FAILED;
		const int pid = (int)m->target.pid;
		if (failed && !status)
			status = m->failure.status;
		if (m->num_unreached && !failed) {
			err_warn(NULL, "pid %d: %zu queue%s of secondary contexts cannot be held",
				 pid, m->num_unreached, text_s(m->num_unreached));
			status = status ? status : GPQ_UNSUPPORTED;
		}
		for (size_t k = 0; k < m->link.answer.num && !failed; k++) {
			const struct kfd_outcome *q = &m->link.answer.queues[k];
			const int of_queue = held_status(q->result);
			if (of_queue)
				err_warn(NULL, "pid %d: queue %u: %s", pid, q->queue.queue_id,
					 kfd_result_name(q->result));
			status = status ? status : of_queue;
		}
	}
	return status;
}

#define NONE_HELD "--all-or-none: nothing stays suspended"

static int hold_none(struct cmd *c, struct group *all, int status)
{
	const struct group none = {0};
	targets_report(all);
	abandon_all(all);
	err_fail((enum gpq_exit)status, NULL, NONE_HELD);
	show_held(c, &none, NULL);
	return status;
}

bool suspend_newcomer(struct group *one, const struct suspend_opts *o, bool lasting)
{
	suspend_members(one, o);
	if (lasting)
		confirm_holds(one);
	return one->v[0]->state != MEMBER_FAILED;
}

// Are processes that come later to be held? Not if queues were chosen one by one.
static bool takes_newcomers(const struct suspend_opts *o)
{
	return pick_needs_host(&o->pick) && !o->once && !o->idle && !o->queues.ids.n &&
	       !o->queues.types.n && !o->queues.prio;
}

static int suspend_for_command(struct cmd *c, struct group *all, const struct proof_seen *proofs,
			       struct marks *marks)
{
	int status = write_rows(NULL, all, proofs);
	const int failed = targets_report(all);
	if (!status)
		status = failed;
	if (!status && marks)
		status = marks_suspended(marks, all);
	if (!status)
		return run_held(c->argv, all,
				takes_newcomers(c->opts) ? follow_start(c->opts, all, true) : -1,
				marks);
	abandon_all(all);
	return status;
}

static int suspend_lasting(struct cmd *c, struct group *all, const struct proof_seen *proofs)
{
	const struct suspend_opts *o = c->opts;
	int status = o->all_or_none ? first_failure(all) : 0, failed;
	if (status)
		return hold_none(c, all, status);
	signal(SIGPIPE, SIG_IGN); // the reader of the output may end: the queues stay suspended
	status = show_held(c, all, proofs);
	// Also a document without rows is written before a hold is made lasting.
	if (!status && c->out.mode == OUT_JSON && !group_failed(all))
		status = out_last(GPQ_OK);
	kfd_step(5);
	// A failure, be it only of the output (full disk), holds nothing.
	if (status != GPQ_FAILED && status != GPQ_USAGE && status != GPQ_UNSUPPORTED)
		confirm_holds(all);
	else
		abandon_all(all);
	failed = targets_report(all);
	if (failed && o->all_or_none) {
		ask_members(all, "resume", true, false); // ends the holds that were made lasting
		return err_fail((enum gpq_exit)failed, NULL, NONE_HELD);
	}
	if (takes_newcomers(o) && (!status || status == GPQ_PARTIAL) &&
	    (!failed || failed == GPQ_PARTIAL) && follow_start(o, all, false) < 0)
		failed = GPQ_PARTIAL;
	if (!failed || status == GPQ_PIPE)
		return status;
	return status || failed == GPQ_PARTIAL ? GPQ_PARTIAL : failed;
}

static int suspend_all(struct cmd *c, struct group *all, struct marks *marks)
{
	const struct suspend_opts *o = c->opts;
	kfd_step_init("gpq");
	suspend_members(all, o);
	targets_find_unreached(all);
	SCOPED(free_at) struct proof_seen *proofs = o->verify ? proofs_take(all) : NULL;
	return c->argc ? suspend_for_command(c, all, proofs, marks)
		       : suspend_lasting(c, all, proofs);
}

// ---- --method criu: pauses whole processes by the driver's checkpoint ioctl

static const char criu_hazards[] =
	"nothing resumes a process paused by this method but gpq resume, not even the end of gpq, "
	"and a checkpoint of it meanwhile makes it impossible";

static const struct opt_rule criu_rules[] = {
	RULE_EXCLUDES(SUSPEND_DETAILS, "method", "leave out the other options",
		      "--method criu pauses whole processes, and has no deadline"),
	{0},
};

static void pause_member(struct out *o, struct group_member *m)
{
	bool already = false;
	member_set_failed(m, kfd_target_pin(&m->target, m->target.pid, 0, &m->failure) < 0 ||
				     kfd_criu_pause(&m->target, &already, &m->failure) < 0);
	m->answered_ns = clock_ns();
	struct held_row row = held_row_of(m, NULL);
	row.result = already ? "already" : "suspended";
	if (m->state != MEMBER_FAILED)
		held_write(o, &row);
}

static int suspend_criu(struct cmd *c, struct group *all)
{
	err_warn("see gpq-suspend(1)", "--method criu: %s", criu_hazards);
	struct out *o = out_open(&c->out);
	int status = held_begin(o);
	for (size_t i = 0; i < all->n && !status; i++)
		pause_member(o, all->v[i]);
	status = out_finish(o, status);
	const int failed = targets_report(all);
	return status ? status : failed;
}

// ---- options of gpq suspend

static const struct opt_rule suspend_rules[] = {
	RULE_EXCLUDES(SUSPEND_DETAILS " method " PICK_HOST_NAMES, "list",
		      "of the other options only -p and --watch go with it",
		      "--list shows what is suspended, and suspends nothing"),
	RULE_EXCLUDES("all", PICK_NAMES " queue list", "choose one",
		      "--all is about every process, --%2 about some"),
	RULE_NEEDS("prio", PICK_NAMES " all list", "-p PID, --container ID, or --all for a host",
		   "no process named"),
	RULE_NEEDS("all", "prio type gpu", "add --prio, --type or --gpu",
		   "--all alone would take everything off"),
	RULE_NEEDS("watch", "list", "add --list",
		   "--watch repeats a listing: suspending is done once"),
	RULE_NEEDS("filter", "list", "choose queues by --queue, --gpu, --prio ...",
		   "--filter chooses rows to show, not queues to suspend"),
	RULE_RANGE("grace", 0, KFD_GRACE_MAX, "",
		   "grace period %v is out of range; 0 to 255 (units of 1000 GPU clocks)"),
	RULE_RANGE("for", 1, INT64_MAX, "without --for they are off until gpq resume",
		   "--for: no time at all, or more than 292 years"),
	WATCH_RULES,
	{0},
};

static int check_suspend_command(struct cmd *c)
{
	struct suspend_opts *o = c->opts;
	if (o->list)
		return GPQ_OK;
	if (o->all) // every command name matches: gpq itself and what started it stay out
		words_push(&o->pick.comms, "^", 1);
	// An empty variable in `-- $CMD` leads here.
	if (!c->argc && strcmp(c->argv[-1], "--") == 0)
		return err_fail(GPQ_USAGE, "without -- they are off until gpq resume",
				"no COMMAND behind --");
	if (o->marks && !c->argc)
		return err_fail(GPQ_USAGE,
				"without one, gpq suspend --ndjson and gpq resume --ndjson "
				"write marks",
				"--marks goes with a COMMAND");
	return o->method && !o->dry ? cmd_check(c, criu_rules) : GPQ_OK;
}

static int show_holders(struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	return held_list(c, &o->pick.pids);
}

static int run_suspend(struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	struct marks *marks = NULL;
	struct group all;
	// Elsewhere -n often is a dry run, and nobody at a terminal misses headings.
	if (!o->list && !o->dry && c->out.noheadings && c->out.mode == OUT_TABLE &&
	    isatty(STDOUT_FILENO))
		return err_fail(GPQ_USAGE, "--dry-run only shows what would be held",
				"-n leaves out headings, and the queues would be suspended");
	if (o->list && !host_is_live())
		return err_fail(GPQ_USAGE,
				"gpq why says of a recorded host what is suspended, and by whom",
				"--list asks the holders of a running host");
	if (o->list)
		return watch_run(c, o->watch, show_holders);
	if (o->verify && !c->out.columns)
		c->out.columns = "+PROOF,SAVED,BACKLOG";
	int status = targets_find(&all, &o->pick, &o->queues, AMONG_OPEN);
	if (!status && o->dry)
		status = suspend_dry(c, &all, o);
	else if (!status && o->marks && !(marks = marks_open(o->marks)))
		status = GPQ_FAILED;
	if (!status && !o->dry)
		status = o->method ? suspend_criu(c, &all) : suspend_all(c, &all, marks);
	marks_close(marks);
	group_fini(&all);
	return status;
}

const struct schema suspend_schema = {"gpq.suspend", 1, SCHEMA_TABLES(&held_table), NULL};

static const struct out_table *const *suspend_prints(const struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	return o->list ? holders_schema.tables : suspend_schema.tables;
}

static unsigned suspend_needs(const struct cmd *c)
{
	const struct suspend_opts *o = c->opts;
	return o->dry ? NEED_KFD : o->list ? 0 : NEED_LIVE | HAS_DRY_RUN;
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
	.rules = suspend_rules,
	.opts_size = sizeof(struct suspend_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&held_table, &holders_table),
	.schemas = SCHEMAS(&suspend_schema, &holders_schema),
	.stop_at_operand = true,
	.needs = suspend_needs,
	.prints = suspend_prints,
	.check = check_suspend_command,
	.run = run_suspend,
};
