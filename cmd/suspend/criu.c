// gpq suspend --method criu: pauses whole processes by the driver's checkpoint ioctl, and warns.
#include "cmd/suspend/suspend.h"
#include "common/host/clock.h"

static const char hazards[] =
	"nothing resumes a process paused by this method but gpq resume, not even the end of gpq, "
	"and a checkpoint of it meanwhile makes it impossible";

static void pause_all(struct out *o, void *arg)
{
	struct group *all = arg;
	for (size_t i = 0; i < all->n; i++) {
		struct group_member *m = all->v[i];
		struct held_row row;
		bool already = false;
		member_set_failed(m,
				  kfd_target_pin(&m->target, m->target.pid, 0, &m->failure) < 0 ||
					  kfd_criu_pause(&m->target, &already, &m->failure) < 0);
		m->answered_ns = clock_ns();
		row = held_row_of(m, NULL);
		row.result = already ? "already" : "suspended";
		if (m->state != MEMBER_FAILED)
			out_row(o, &row);
	}
}

static const struct opt_rule criu_rules[] = {
	RULE_EXCLUDES(SUSPEND_DETAILS, "method", "leave out the other options",
		      "--method criu pauses whole processes, and has no deadline"),
	{0},
};

int suspend_criu(struct cmd *c, struct group *all)
{
	int status, failed;
	status = cmd_check(c, criu_rules);
	if (status)
		return status;
	err_warn("see gpq-suspend(1)", "--method criu: %s", hazards);
	status = held_write(&c->out, &held_table, pause_all, all);
	failed = targets_report(all);
	return status ? status : failed;
}
