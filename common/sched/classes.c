// Who belongs to which class; sched.h.
#include "common/sched/sched_priv.h"

#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

// A holder that takes longer is left to its deadline: hints do not wait for it.
#define PATIENCE_MS 2000

// KEPT: descriptors of the scheduler itself; hints (hints.h) have a quarter of the others at most.
// EACH: of a member, while it is attached to. A user but root has one part in USER_PART of all.
enum { KEPT = 128, EACH = 4, MEMBERS_MIN = 16, MEMBERS_MAX = 2048, USER_PART = 4 };

void sched_add_class(struct sched *s, const char *name)
{
	struct sched_class *c;
	s->classes = xreallocarray(s->classes, s->n + 1, sizeof(*s->classes));
	c = &s->classes[s->n++];
	*c = (struct sched_class){.name = name};
	hist_init(&c->off);
	hist_init(&c->on);
}

static struct sched_class *class_of(struct sched *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->classes[i].name, name) == 0)
			return &s->classes[i];
	sched_add_class(s, name);
	return &s->classes[s->n - 1];
}

int sched_add_spec(struct sched *s, const char *name, const char *option, const char *text)
{
	const struct sched_class *c = class_of(s, name);
	return spec_set_add(&s->specs, (size_t)(c - s->classes), option, text);
}

void classes_fini(struct sched *s)
{
	for (size_t i = 0; i < s->n; i++)
		group_fini(&s->classes[i].group);
	free(s->classes);
	spec_set_fini(&s->specs);
}

// ---- bounds: each member takes descriptors, and a holder

void sched_raise_limit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

// Members that the descriptors are enough for, beside those of hints and of the scheduler itself.
static size_t most_members(void)
{
	struct rlimit files = {.rlim_cur = 0};
	size_t left;
	getrlimit(RLIMIT_NOFILE, &files);
	left = files.rlim_cur > KEPT ? (files.rlim_cur - KEPT) * 3 / 4 / EACH : 0;
	return left < MEMBERS_MIN ? MEMBERS_MIN : left > MEMBERS_MAX ? MEMBERS_MAX : left;
}

// Is there room for one more process of this user? One that is a member already has its place.
static bool has_room(struct sched *s, uint64_t user)
{
	const size_t most = most_members();
	size_t all = 0, same = 0;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].group.n; k++) {
			all++;
			same += s->classes[i].group.v[k]->user == user;
		}
	const bool full = user != 0 && same >= most / USER_PART;
	if ((full || all >= most) && !s->said_full)
		err_warn("gpq sched --status counts them (LEFT-OUT)",
			 "%zu processes%s%s are as many as can be held: further ones run",
			 full ? same : all, full ? " of user " : "", full ? proc_user(user) : "");
	s->said_full |= full || all >= most;
	return !full && all < most;
}

static bool take_into_class(void *arg, size_t number, pid_t pid, struct kfd_selection *sel)
{
	struct sched *s = arg;
	struct group *g = &s->classes[number].group;
	struct proc p = {.uid = UINT64_MAX};
	proc_read(&p, pid);
	if (!g->dry && !group_has(g, pid) && !has_room(s, p.uid)) {
		free(sel);
		return false;
	}
	struct group_member *m = group_add(g, pid, sel);
	if (m)
		m->user = p.uid;
	return m != NULL;
}

static void say_failures(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		// After exec, one that owns no queue yet is to be attached to later.
		const bool failed = !m->said && group_has_failed(m, clock_ns()) &&
				    group_list_queues(m->target.pid, NULL);
		if ((failed || m->state == MEMBER_SILENT) && !m->said)
			err_warn("gpq sched --status shows it", "pid %d%s: %s", (int)m->target.pid,
				 failed ? " is not held" : "", m->failure.text);
		m->said |= failed || m->state == MEMBER_SILENT;
	}
}

int sched_find(struct sched *s, bool attach)
{

	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;
		g->dry = !attach;
		g->attach = attach && (i > 0 || s->opts.activity);
		g->grace = (unsigned)s->opts.grace;
		g->nowait = g->pass = true;
		g->patience_ms = PATIENCE_MS;
		g->limit_ns = s->opts.policy.max_hold_ns;
		g->idle_ns = s->opts.hold_idle ? 0 : SCHED_IDLE_NS;
	}
	s->newcomers.wait = attach;
	const int status = spec_set_look(&s->specs, &s->newcomers, take_into_class, s);
	for (size_t i = 0; i < s->n; i++)
		say_failures(&s->classes[i].group);
	return status;
}
