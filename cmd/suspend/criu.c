// gpq suspend --method criu: pauses whole processes by the driver's checkpoint ioctl, and warns.
#include "cmd/suspend/suspend.h"
#include "common/host/clock.h"

static const char hazards[] =
	"nothing resumes a process paused by this method but gpq resume, not even the end of gpq, "
	"and a checkpoint of it meanwhile makes it impossible";

static void pause_all(struct out *o, void *arg)
{
	struct targets *all = arg;
	for (size_t i = 0; i < all->n; i++) {
		struct target *t = &all->v[i];
		struct held_row row;
		bool already = false;
		t->failed = kfd_target_pin(&t->pin, t->pid, 0, &t->failure) < 0 ||
			    kfd_criu_pause(&t->pin, &already, &t->failure) < 0;
		t->at_ns = clock_ns();
		row = held_row_of(t, NULL);
		row.result = already ? "already" : "suspended";
		if (!t->failed)
			out_row(o, &row);
	}
}

int suspend_criu(struct cmd *c, struct targets *all)
{
	int status, failed;
	if (suspend_has_details(c->opts) || c->argc)
		return err_fail(GPQ_USAGE, "leave out the other options",
				"--method criu pauses whole processes, and has no deadline");
	err_warn("see gpq-suspend(1)", "--method criu: %s", hazards);
	status = held_write(&c->out, &held_table, pause_all, all);
	failed = targets_report(all);
	return status ? status : failed;
}
