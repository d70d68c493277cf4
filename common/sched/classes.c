// Who belongs to which class; sched.h.
#include "common/sched/sched_priv.h"

#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>

// A holder that takes longer is left to its deadline: hints do not wait for it.
#define PATIENCE_MS 2000

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

static bool take(void *arg, size_t number, pid_t pid, struct kfd_selection *sel)
{
	struct sched *s = arg;

	return group_add(&s->classes[number].group, pid, sel) != NULL;
}

static void say_failures(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		const bool failed = group_has_failed(m, clock_ns());

		if ((failed || m->silent) && !m->said)
			err_warn("gpq sched --status shows it", "pid %d%s: %s", (int)m->target.pid,
				 failed ? " is not held" : "", m->failure.text);
		m->said |= failed || m->silent;
	}
}

int sched_find(struct sched *s, bool attach)
{

	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;

		g->dry = !attach;
		g->attach = attach && (i > 0 || s->opts.activity);
		g->grace = (unsigned)s->opts.grace;
		g->nowait = true;
		g->patience_ms = PATIENCE_MS;
		g->limit_ns = s->opts.policy.max_hold_ns;
		g->idle_ns = s->opts.hold_idle ? 0 : SCHED_IDLE_NS;
	}
	const int status = spec_set_look(&s->specs, &s->newcomers, take, s);
	for (size_t i = 0; i < s->n; i++)
		say_failures(&s->classes[i].group);
	return status;
}
