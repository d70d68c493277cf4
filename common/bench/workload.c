// One side of the experiment: its command and what that starts; workload.h.
#include "common/bench/workload.h"

#include "common/host/buf.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <dirent.h>
#include <stdio.h>

#define SECOND   1000000000ull
#define HOLD_NS  (60 * SECOND) // deadline of the holds, should this process stop
#define RENEW_NS (20 * SECOND)

// 0, or -1 and *f when a process that lives cannot be suspended, resumed or watched.
static int check(const struct workload *s, struct kfd_failure *f)
{
	const struct group_member *m = group_failed(&s->group);

	if (!m)
		return 0;
	f->status = m->failure.status;
	snprintf(f->text, sizeof(f->text), "pid %d: %.230s", (int)m->target.pid, m->failure.text);
	return -1;
}

// Follows the parents of `pid`: cheaper than listing the descendants of `from`, as there are few
// KFD processes and many others.
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

// KFD processes of its tree that are not known yet, once they have queues.
static void find_processes(struct workload *s)
{
	DIR *d = s->child.pid ? host_opendir("/sys/class/kfd/kfd/proc") : NULL;
	struct dirent *e;
	while (d && (e = readdir(d))) {
		pid_t pid;
		struct buf names = {0};
		if (proc_parse_pid(e->d_name, &pid) && !group_has(&s->group, pid) &&
		    descends(pid, s->child.pid) && group_list_queues(pid, &names))
			group_add(&s->group, pid, NULL);
		buf_fini(&names);
	}
	if (d)
		closedir(d);
}

void workload_attach(struct workload *s, uint64_t grace)
{
	s->group.attach = true;
	s->group.grace = (unsigned)grace;
	s->group.limit_ns = HOLD_NS;
}

int workload_look(struct workload *s, struct kfd_failure *f)
{
	find_processes(s);
	group_look(&s->group);
	if (check(s, f))
		return -1;
	return s->group.held && clock_ns() > s->renew_ns ? workload_hold(s, true, f) : 0;
}

int workload_hold(struct workload *s, bool hold, struct kfd_failure *f)
{
	group_ask(&s->group, hold);
	group_wait(&s->group);
	s->renew_ns = clock_ns() + RENEW_NS;
	return check(s, f);
}

int workload_count_end(struct workload *s, uint64_t *packets, struct kfd_failure *f)
{
	return group_count_end(&s->group, packets) ? 0 : kfd_fail(f, KFD_FAULT_GONE);
}

void workload_fini(struct workload *s)
{
	group_fini(&s->group);
	child_fini(&s->child);
}
