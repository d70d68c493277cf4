// gpq suspend --method criu: pauses whole processes, with a word about what that means.
#include "cmd/suspend/suspend.h"

#include "common/holder/criu.h"

static const char hazards[] =
	"nothing resumes a process paused by this method but gpq resume, not even the end of gpq, "
	"and a checkpoint of it meanwhile makes it impossible";

static void pause_one(struct target *t, struct out *o)
{
	struct held_row row = {.pid = (uint64_t)t->pid,
			       .gpu = U64_NULL,
			       .qid = U64_NULL,
			       .context = U64_NULL,
			       .latency_ns = U64_NULL,
			       .saved_bytes = U64_NULL,
			       .backlog = U64_NULL,
			       .holder = U64_NULL,
			       .until_ns = U64_NULL};
	bool already = false;

	t->failed = kfd_target_pin(&t->pin, t->pid, 0, &t->failure) < 0 ||
		    kfd_criu_pause(&t->pin, &already, &t->failure) < 0;
	row.at_ns = held_now();
	row.result = already ? "already" : "suspended";
	if (!t->failed)
		out_row(o, &row);
}

int suspend_criu(struct cmd *c, struct targets *all)
{
	int status, failed, end;
	struct out *o;

	if (suspend_has_details(c->opts) || c->argc)
		return err_fail(GPQ_USAGE, "leave out the other options",
				"--method criu pauses whole processes, and has no deadline");
	err_warn("see gpq-suspend(1)", "--method criu: %s", hazards);
	o = out_open(&c->out);
	if (!o)
		return err_fail(GPQ_FAILED, NULL, "out of memory");
	status = out_begin(o, &held_table, false);
	for (size_t i = 0; i < all->n && !status; i++)
		pause_one(&all->v[i], o);
	if (!status)
		out_end(o);
	end = out_close(o);
	failed = targets_report(all);
	return status ? status : end ? end : failed;
}
