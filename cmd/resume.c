// gpq resume: puts suspended queues back on the GPU.
#include "cmd/suspend/suspend.h"

// Holders that do not answer in time are killed, which resumes the queues. Times count from the
// requests, for all holders together.
#define SOON_MS     1000  // time for stopped holders (SIGSTOP)
#define PATIENCE_MS 20000 // time for other holders: the driver takes 9 s to give up on a silent GPU

struct resume_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	bool all, keep;
};

static const struct opt opts[] = {
	PICK_OPTS(resume_opts),
	PICK_QUEUES_OPTS(resume_opts),
	OPT(resume_opts, all, "all", 'a', OPT_FLAG, "", "everything that gpq suspended"),
	OPT(resume_opts, keep, "keep", 0, OPT_FLAG, "",
	    "stay attached,\nwhich makes the next suspend quicker"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_EXCLUDES("filter", "", "choose queues by --queue, --gpu ...",
		      "--filter chooses rows to show, not queues to resume"),
	RULE_EXCLUDES("all", PICK_NAMES, "choose one",
		      "--all excludes options that choose processes"),
	{0},
};

// Ends the pause (criu.c) of members that have no holder.
static void resume_paused(struct group *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct group_member *m = all->v[i];
		if (m->state == MEMBER_FAILED && m->target.pidfd >= 0 && m->link.fd < 0 &&
		    m->failure.status == GPQ_NOTFOUND)
			member_set_failed(m, kfd_criu_resume(&m->target, &m->failure) < 0);
	}
}

// Kills a holder: the driver then resumes the queues.
static void end_holder(struct group_member *m)
{
	if (!kfd_holder_kill(&m->link, &m->target, &m->failure))
		return;
	err_warn(NULL, "pid %d: its holder did not answer and was killed; the queues run",
		 (int)m->target.pid);
	m->answered_ns = clock_ns();
	member_set_failed(m, false);
}

// Waits for the end of a holder that announced it (`ended`); kills one that does not answer or end.
static void finish_holder(struct group_member *m)
{
	if (m->state == MEMBER_FAILED && (m->link.deaf || m->failure.status == GPQ_DEADLINE))
		end_holder(m);
	if (m->state != MEMBER_FAILED && m->link.answer.ended && !kfd_link_wait_end(&m->link)) {
		member_set_failed(m, true);
		kfd_fail(&m->failure, KFD_FAULT_HOLDER_SILENT, KFD_END_MS / 1000);
		end_holder(m);
	}
}

static void explain_resumed(const struct group_member *m, const struct kfd_outcome *q)
{
	if (q->result == KFD_RESULT_UNKNOWN)
		held_unknown(m, q);
	if (q->result == KFD_RESULT_REFUSED)
		err_warn("see the kernel log", "pid %d: queue %u: the driver did not put it back",
			 (int)m->target.pid, q->queue.queue_id);
}

static int show_resumed(struct cmd *c, const struct group *all)
{
	struct held_sum sum = {0};
	c->out.none = "gpq has suspended nothing that could be resumed";
	struct out *o = out_open(&c->out);
	int status = held_begin(o);
	for (size_t i = 0; i < all->n && !status; i++) {
		const struct group_member *m = all->v[i];
		for (size_t k = 0; k < m->link.answer.num && m->state != MEMBER_FAILED; k++) {
			const struct kfd_outcome *q = &m->link.answer.queues[k];
			struct held_row row = held_row_of(m, q);
			const bool beyond = held_is_unreached(m, q->queue.queue_id);
			explain_resumed(m, q);
			held_count(&sum, beyond && q->result == KFD_RESULT_UNKNOWN
						 ? GPQ_UNSUPPORTED
						 : held_status(q->result));
			held_write(o, &row);
		}
	}
	status = out_finish(o, status);
	return status ? status : held_sum_status(&sum);
}

// Asks all holders; waits for the followers that were told to end, and for the answers. Returns
// true if there was such a follower.
static bool resume_members(struct group *all, const struct resume_opts *o, struct ending *ending)
{
	struct group_talk talk = {.request = o->keep ? "resume keep" : "resume",
				  .select = true,
				  .soon_ms = SOON_MS,
				  .limit_ms = PATIENCE_MS};
	group_request(all, &talk);
	resume_paused(all);
	talk.since_ns = clock_ns();
	const bool any = followers_gone(ending);
	group_answers(all, &talk);
	for (size_t i = 0; i < all->n; i++)
		finish_holder(all->v[i]);
	return any;
}

static int find_held(struct group *all, const struct resume_opts *o, enum targets_among among)
{
	struct pick_opts held = {.pids.given = true}; // processes count as named by -p
	int status = GPQ_OK;
	if (!o->all)
		return targets_find(all, &o->pick, &o->queues, among);
	*all = (struct group){.dry = true};
	targets_find_held(&held.pids);
	if (held.pids.n)
		status = targets_find(all, &held, &o->queues, among);
	free(held.pids.v);
	return status;
}

static bool was_held(const struct group_member *m)
{
	for (size_t i = 0; i < m->link.answer.num && m->state != MEMBER_FAILED; i++)
		if (m->link.answer.queues[i].result == KFD_RESULT_RESUMED)
			return true;
	return false;
}

static bool is_news(const struct group_member *m, const void *known)
{
	return !group_has(known, m->target.pid) || was_held(m);
}

// Resumes processes that followers suspended before they ended, and adds them to `all`.
static int look_again(struct group *all, const struct resume_opts *o)
{
	struct ending none = {0};
	SCOPED(group_fini) struct group more;
	int status = find_held(&more, o, AMONG_HELD_IF_ANY);
	if (!status) {
		resume_members(&more, o, &none);
		group_keep(&more, is_news, all);
		group_move(all, &more);
	}
	return status;
}

static int resume_found(struct cmd *c, struct group *all, struct ending *ending)
{
	const struct resume_opts *o = c->opts;
	int status, failed, again = GPQ_OK;
	if (resume_members(all, o, ending) && !o->queues.ids.n)
		again = look_again(all, o);
	if (o->queues.ids.n)
		targets_find_unreached(all);
	// A search of /proc for followers is not worth it if a process was named: they look each
	// second.
	if (pick_needs_host(&o->pick))
		followers_look();
	status = show_resumed(c, all);
	failed = targets_report(all);
	failed = failed ? failed : again;
	if (!failed || status == GPQ_PIPE)
		return status;
	return status ? GPQ_PARTIAL : failed;
}

static int run_resume(struct cmd *c)
{
	const struct resume_opts *o = c->opts;
	struct ending ending = {0};
	SCOPED(group_fini) struct group all = {0};
	size_t ended = 0;
	if (o->all || pick_needs_host(&o->pick))
		ended = followers_end(&ending, o->all ? NULL : &o->pick);
	int status = find_held(&all, o, ended ? AMONG_HELD_IF_ANY : AMONG_HELD);
	if (!status)
		status = resume_found(c, &all, &ending);
	free(ending.v);
	return status;
}

static const struct out_table *const tables[] = {&held_table, NULL};
static const struct schema schema = {"gpq.resume", 1, tables, NULL};

const struct cmd_spec resume_spec = {
	.synopsis = "-p PID[,PID...] [-Q ID,...] [--gpu GPU] [--tree] [--keep]\n"
		    "--container ID ...\n"
		    "--all",
	.description =
		"Puts queues that gpq suspend took off the GPU back. When it returns, they are "
		"back.\ngpq suspend --list shows what is held.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct resume_opts),
	.tables = tables,
	.schemas = SCHEMAS(&schema),
	.run = run_resume,
};
