// One side of the experiment: its command and what that starts; workload.h.
#include "common/bench/workload.h"

#include "common/host/buf.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND   1000000000ull
#define HOLD_NS  (60 * SECOND) // deadline of the holds, should this process stop
#define RENEW_NS (20 * SECOND)

const char *const side_name[] = {"online", "offline", NULL};

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

// The next process of the folder that has queues and does not belong to the side yet; 0: none.
static pid_t next_other(const struct workload *s, DIR *d)
{
	for (struct dirent *e; d && (e = readdir(d));) {
		struct buf names = {0};
		pid_t pid;
		bool found = proc_parse_pid(e->d_name, &pid) && !group_has(&s->group, pid) &&
			     group_list_queues(pid, &names);
		buf_fini(&names);
		if (found)
			return pid;
	}
	return 0;
}

static void find_descendants(struct workload *s)
{
	DIR *d = s->child.pid ? host_opendir("/sys/class/kfd/kfd/proc") : NULL;
	for (pid_t pid; (pid = next_other(s, d));)
		if (descends(pid, s->child.pid))
			group_add(&s->group, pid, NULL);
	if (d)
		closedir(d);
}

static bool take_chosen(void *arg, size_t side, pid_t pid, struct kfd_selection *sel)
{
	struct workload *s = arg;
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
	s->newcomers.events = s->child.out = -1;
}

void workload_attach(struct workload *s, uint64_t grace)
{
	s->group.attach = true;
	s->group.grace = (unsigned)grace;
	s->group.limit_ns = HOLD_NS;
}

int workload_look(struct workload *s, struct kfd_failure *f)
{
	find_descendants(s);
	if (s->begun && spec_set_has(s->specs, s->side))
		spec_set_look(s->specs, &s->newcomers, take_chosen, s);
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

pid_t workload_lost(const struct workload *s, char name[64], size_t *count)
{
	pid_t first = 0;
	*count = 0;
	for (size_t i = 0; i < s->group.n && s->child_start; i++) {
		const struct kfd_target *t = &s->group.v[i]->target;
		struct proc p;
		if (t->start < s->child_start || getpgid(t->pid) == s->child.pid ||
		    !kfd_target_alive(t) || proc_read(&p, t->pid))
			continue;
		if (!(*count)++)
			snprintf(name, 64, "%s", p.comm);
		first = first ? first : t->pid;
	}
	return first;
}

pid_t workload_stranger(const struct workload *s, char name[64])
{
	DIR *d = s->child_start ? host_opendir("/sys/class/kfd/kfd/proc") : NULL;
	struct proc p;
	pid_t pid;
	while ((pid = next_other(s, d)))
		if (kfd_target_start(pid) >= s->child_start && !proc_read(&p, pid)) {
			snprintf(name, 64, "%s", p.comm);
			break;
		}
	if (d)
		closedir(d);
	return pid;
}

void workload_fini(struct workload *s)
{
	newcomers_fini(&s->newcomers);
	group_fini(&s->group);
	child_fini(&s->child);
}
