// gpq resume: puts suspended queues back on the GPU.
#include "cmd/suspend/follow.h"
#include "common/host/clock.h"
#include "common/host/xalloc.h"

#include <stdio.h>
#include <stdlib.h>

// A holder that is stopped will not answer; one that is silent for long is stuck. Either is ended,
// which resumes as well. The driver itself takes 9 s to give up on a GPU that does not answer.
// Both count from the asking, for all together.
#define SOON_MS     1000
#define PATIENCE_MS 20000

struct resume_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	bool all, keep;
};

static const struct opt opts[] = {
	PICK_OPTS(resume_opts),
	PICK_QUEUES_OPTS(resume_opts),
	OPT(resume_opts, all, "all", 'a', OPT_FLAG, NULL, "everything that gpq suspended"),
	OPT(resume_opts, keep, "keep", 0, OPT_FLAG, NULL,
	    "stay attached,\nwhich makes the next suspend quicker"),
	{0},
};

// Without a holder, there may be a record of a pause.
static void ask(struct target *t, const struct resume_opts *o)
{
	struct kfd_failure *f = &t->failure;
	struct buf request = {0};
	if (t->failed) // no queue of it is chosen
		return;
	t->failed = kfd_target_pin(&t->pin, t->pid, 0, f) < 0;
	if (t->failed)
		return;
	buf_puts(&request, o->keep ? "resume keep" : "resume");
	target_words(t, &request);
	t->failed = kfd_link_open(&t->link, &t->pin, false, f) < 0;
	if (!t->failed)
		t->failed = kfd_link_send(&t->link, request.data, f) < 0;
	else if (f->status == GPQ_NOTFOUND)
		t->failed = kfd_criu_resume(&t->pin, f) < 0;
	buf_fini(&request);
}

// The driver resumes the queues when their holder dies, so killing it is the last resort.
static void end_holder(struct target *t)
{
	if (!kfd_holder_kill(&t->link, &t->pin, &t->failure))
		return;
	err_warn(NULL, "pid %d: its holder did not answer and was killed; the queues run",
		 (int)t->pid);
	t->failed = false;
}

static bool receive(struct target *t, uint64_t asked_ns, unsigned ms)
{
	const uint64_t gone_ms = (clock_ns() - asked_ns) / 1000000;
	return kfd_link_receive(&t->link, gone_ms < ms ? ms - (unsigned)gone_ms : 1, &t->failure) ==
	       0;
}

static void take(struct target *t, uint64_t asked_ns)
{
	if (!t->failed && t->link.fd >= 0) {
		t->failed = !receive(t, asked_ns, SOON_MS);
		if (t->failed && !t->link.deaf && t->failure.status == GPQ_DEADLINE &&
		    !kfd_holder_is_stopped(&t->link))
			t->failed = !receive(t, asked_ns, PATIENCE_MS);
	}
	if (t->failed && (t->link.deaf || t->failure.status == GPQ_DEADLINE))
		end_holder(t);
	t->at_ns = clock_ns();
	if (!t->failed && t->link.answer.ended && !kfd_link_wait_end(&t->link)) {
		t->failed = true;
		kfd_fail(&t->failure, KFD_FAULT_HOLDER_SILENT, KFD_END_MS / 1000);
		end_holder(t);
	}
}

static void explain(const struct target *t, const struct kfd_outcome *q)
{
	if (q->result == KFD_RESULT_UNKNOWN)
		held_unknown(t, q);
	if (q->result == KFD_RESULT_REFUSED)
		err_warn("see the kernel log", "pid %d: queue %u: the driver did not put it back",
			 (int)t->pid, q->queue.queue_id);
}

struct report {
	const struct targets *all;
	struct held_sum sum;
};

static void write_rows(struct out *o, void *arg)
{
	struct report *r = arg;
	for (size_t i = 0; i < r->all->n; i++) {
		const struct target *t = &r->all->v[i];
		for (size_t k = 0; k < t->link.answer.num && !t->failed; k++) {
			const struct kfd_outcome *q = &t->link.answer.queues[k];
			struct held_row row = held_row_of(t, q);
			bool beyond = held_is_unreached(t, q->queue.queue_id);
			explain(t, q);
			held_count(&r->sum, beyond && q->result == KFD_RESULT_UNKNOWN
						    ? GPQ_UNSUPPORTED
						    : held_status(q->result));
			out_row(o, &row);
		}
	}
}

static int show(struct cmd *c, const struct targets *all)
{
	struct report r = {.all = all};
	int status = held_write(&c->out, &held_table, write_rows, &r);
	return status ? status : held_sum_status(&r.sum);
}

// Asks all holders, and then waits for their answers and for followers. Was there a follower?
static bool resume(struct targets *all, const struct resume_opts *o, struct ending *ending)
{
	uint64_t asked_ns;
	bool any;
	for (size_t i = 0; i < all->n; i++)
		ask(&all->v[i], o);
	asked_ns = clock_ns();
	any = followers_gone(ending);
	for (size_t i = 0; i < all->n; i++)
		take(&all->v[i], asked_ns);
	return any;
}

static int find(struct targets *all, const struct resume_opts *o, enum targets_among among)
{
	struct pick_opts held = {.pids.given = true}; // as if they had been named
	int status = GPQ_OK;
	if (!o->all)
		return targets_find(all, &o->pick, &o->queues, among);
	*all = (struct targets){0};
	targets_find_held(&held.pids);
	if (held.pids.n)
		status = targets_find(all, &held, &o->queues, among);
	free(held.pids.v);
	return status;
}

static bool was_held(const struct target *t)
{
	for (size_t i = 0; i < t->link.answer.num && !t->failed; i++)
		if (t->link.answer.queues[i].result == KFD_RESULT_RESUMED)
			return true;
	return false;
}

// Adds what followers took in before they were gone, and resumes it.
static int look_again(struct targets *all, const struct resume_opts *o)
{
	struct ending none = {0};
	struct targets more;
	int status = find(&more, o, AMONG_HELD_IF_ANY);
	if (!status)
		resume(&more, o, &none);
	for (size_t i = 0; i < more.n && !status; i++) {
		struct target *t = &more.v[i];
		if (targets_has(all, t->pid) && !was_held(t))
			continue;
		all->v = xreallocarray(all->v, all->n + 1, sizeof(*all->v));
		all->v[all->n++] = *t;
		*t = (struct target){.pin.pidfd = -1, .link.fd = -1};
	}
	targets_fini(&more);
	return status;
}

static int finish(struct cmd *c, struct targets *all, struct ending *ending)
{
	const struct resume_opts *o = c->opts;
	int status, failed, again = GPQ_OK;
	if (resume(all, o, ending) && !o->queues.ids.n)
		again = look_again(all, o);
	if (o->queues.ids.n)
		targets_find_unreached(all);
	// They look each second by themselves; all of /proc is not searched for one process that is
	// named.
	if (pick_needs_host(&o->pick))
		followers_look();
	status = show(c, all);
	failed = targets_report(all);
	failed = failed ? failed : again;
	if (!failed || status == GPQ_PIPE)
		return status;
	return status ? GPQ_PARTIAL : failed;
}

static int run(struct cmd *c)
{
	const struct resume_opts *o = c->opts;
	struct ending ending = {0};
	struct targets all;
	size_t ended = 0;
	int status;
	if (c->out.filter)
		return err_fail(GPQ_USAGE, "choose queues by --queue, --gpu ...",
				"--filter chooses rows to show, not queues to resume");
	if (o->all && pick_asks(&o->pick))
		return err_fail(GPQ_USAGE, "choose one",
				"--all excludes options that choose processes");
	if (o->all || pick_needs_host(&o->pick))
		ended = followers_end(&ending, o->all ? NULL : &o->pick);
	status = find(&all, o, ended ? AMONG_HELD_IF_ANY : AMONG_HELD);
	if (!status)
		status = finish(c, &all, &ending);
	targets_fini(&all);
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
		"back.",
	.opts = opts,
	.opts_size = sizeof(struct resume_opts),
	.tables = tables,
	.schemas = SCHEMAS(&schema),
	.run = run,
};
