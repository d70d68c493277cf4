// One side of the experiment: its command and what that starts; workload.h.
#include "common/bench/workload.h"

#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <dirent.h>

#define SECOND   1000000000ull
#define HOLD_NS  (60 * SECOND) // deadline of a hold, in case gpq itself stands still
#define RENEW_NS (20 * SECOND) // how often the deadline is renewed

const char *const side_name[] = {"online", "offline", NULL};

// Is `pid` a descendant of `from`? Follows the parents of `pid`, as listing the descendants of
// `from` would read all processes.
static bool descends(pid_t pid, pid_t from)
{
	struct proc p;
	for (unsigned depth = 0; pid > 1 && depth < 64; depth++, pid = p.ppid)
		if (pid == from)
			return true;
		else if (proc_read(&p, pid))
			return false;
	return false;
}

// The next process in the KFD folder that has queues and is not on this side yet; 0: none.
static pid_t next_other(const struct workload *s, DIR *d)
{
	for (struct dirent *e; d && (e = readdir(d));) {
		pid_t pid;
		if (proc_parse_pid(e->d_name, &pid) && !group_has(&s->group, pid) &&
		    group_list_queues(pid, NULL))
			return pid;
	}
	return 0;
}

static void find_descendants(struct workload *s)
{
	SCOPED(closedir_at) DIR *d = s->child.pid ? host_opendir("/sys/class/kfd/kfd/proc") : NULL;
	for (pid_t pid; (pid = next_other(s, d));)
		if (descends(pid, s->child.pid))
			group_add(&s->group, pid, NULL);
}

static bool take_chosen(void *arg, size_t side, pid_t pid, struct kfd_selection *sel, bool again)
{
	struct workload *s = arg;
	(void)again;
	const bool ours = side == s->side;
	if (ours && !group_has(&s->group, pid))
		group_add(&s->group, pid, sel);
	else
		free(sel);
	return ours;
}

void workload_init(struct workload *s, enum side side, const char *command,
		   const struct spec_set *specs)
{
	*s = (struct workload){.side = side, .command = command, .specs = specs};
	s->newcomers.events.fd = s->child.out = -1;
}

void workload_attach(struct workload *s, uint64_t grace)
{
	s->group.attach = true;
	s->group.grace = (unsigned)grace;
	s->group.limit_ns = HOLD_NS;
}

void workload_look(struct workload *s)
{
	find_descendants(s);
	if (s->begun && spec_set_has(s->specs, s->side))
		spec_set_look(s->specs, &s->newcomers, take_chosen, s);
	group_look(&s->group);
	if (s->group.held && !group_failed(&s->group) && clock_ns() > s->renew_ns)
		workload_hold(s, true);
}

void workload_hold(struct workload *s, bool hold)
{
	group_ask(&s->group, hold);
	group_wait(&s->group);
	s->renew_ns = clock_ns() + RENEW_NS;
}

pid_t workload_stranger(const struct workload *s, char name[64])
{
	SCOPED(closedir_at)
	DIR *d = s->child_start ? host_opendir("/sys/class/kfd/kfd/proc") : NULL;
	struct proc p;
	pid_t pid;
	while ((pid = next_other(s, d)))
		if (kfd_target_start(pid) >= s->child_start && !proc_read(&p, pid)) {
			snprintf(name, 64, "%s", p.comm);
			break;
		}
	return pid;
}

void workload_fini(struct workload *s)
{
	newcomers_fini(&s->newcomers);
	group_fini(&s->group);
	child_fini(&s->child);
}
