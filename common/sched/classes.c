// Who belongs to which class; sched.h.
#include "common/sched/sched_priv.h"

#include "common/cli/err.h"
#include "common/host/buf.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/xalloc.h"
#include "common/state/pick.h"

#include <stdlib.h>
#include <string.h>

// A holder that takes longer is left to its deadline: the others must not wait for it.
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

static bool any_lives(const struct pids *pids)
{
	struct proc one;

	for (size_t i = 0; i < pids->n; i++)
		if (proc_read(&one, pids->v[i]) == 0)
			return true;
	return false;
}

static int check_queues(const struct sched_spec *v, const char *option)
{
	const struct pick_opts *o = &v->spec.pick;

	if (v->spec.queues.types.n || v->spec.queues.prio)
		return err_fail(GPQ_USAGE, "choose by gpu= or queue=",
				"%s: type and prio do not choose queues that come later", option);
	if (o->pids.given && !o->tree && !o->ns_pid)
		return pick_queues_check(&v->queues, o->pids.v, o->pids.n);
	for (size_t i = 0; i < v->queues.n; i++)
		if (!v->queues.named[i].pid)
			return err_fail(GPQ_USAGE, "write queue=PID:ID",
					"%s: queue %u: of which process?", option,
					(unsigned)v->queues.named[i].id);
	return GPQ_OK;
}

// What is wrong now stays wrong, so that the scheduler does not start: it would choose nothing.
static int check_processes(const struct sched_spec *v, const char *option)
{
	const struct pick_opts *o = &v->spec.pick;
	struct process_cache processes = {0};
	struct pick pick;
	int status;

	status = pick_init(&pick, o, &processes);
	if (!status && o->pids.given && !o->ns_pid && !any_lives(&o->pids))
		status = err_fail(GPQ_NOTFOUND, "gpq queues lists those that own queues",
				  "%s: %s: there is no such process", option, v->spec.text);
	pick_fini(&pick);
	process_cache_fini(&processes);
	return status;
}

int sched_add_spec(struct sched *s, const char *name, const char *option, const char *text)
{
	struct sched_class *c = class_of(s, name);
	struct sched_spec *v;
	int status;

	// It points into itself: not moved again.
	c->specs = xreallocarray(c->specs, c->nspecs + 1, sizeof(struct sched_spec *));
	v = c->specs[c->nspecs++] = xcalloc(1, sizeof(*v));
	status = pick_spec_parse(&v->spec, option, text);
	if (!status)
		status = pick_queues_init(&v->queues, &v->spec.queues);
	if (!status)
		status = check_queues(v, option);
	if (!status)
		status = check_processes(v, option);
	if (!status)
		status = pick_queues_load_gpus(&v->queues, &v->gpus);
	return status;
}

void classes_fini(struct sched *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sched_class *c = &s->classes[i];

		group_fini(&c->group);
		for (size_t k = 0; k < c->nspecs; k++) {
			pick_queues_fini(&c->specs[k]->queues);
			kfd_topology_fini(&c->specs[k]->gpus);
			pick_spec_fini(&c->specs[k]->spec);
			free(c->specs[k]);
		}
		free(c->specs);
	}
	free(s->classes);
}

// Of the specs of all classes, in their order. They were right at the start: that nobody fits one
// now (the process of ns-pid has ended) is no news at each scan.
static struct pick *start_picks(struct sched *s, struct process_cache *processes)
{
	struct pick *picks = NULL;
	struct buf said = {0};
	size_t n = 0, room = 0;

	if (s->start_ns)
		err_gather(&said);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].nspecs; k++) {
			ARRAY_GROW(picks, room, n);
			if (pick_init(&picks[n++], &s->classes[i].specs[k]->spec.pick, processes))
				picks[n - 1].opts = NULL; // it chooses nothing now
		}
	err_gather(NULL);
	buf_fini(&said);
	return picks;
}

static void end_picks(const struct sched *s, struct pick *picks)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].nspecs; k++)
			pick_fini(&picks[n++]);
	free(picks);
}

// The selection among its queues. NULL: none of them is chosen.
static struct kfd_selection *select_queues(const struct sched_spec *v, pid_t pid)
{
	struct kfd_selection *sel = xcalloc(1, sizeof(*sel));

	pick_queues_select(&v->queues, pid, &v->gpus, sel);
	if (!v->queues.n || sel->num_ids)
		return sel;
	free(sel);
	return NULL;
}

// The first class that the process fits.
static bool classify(struct sched *s, const struct pick *picks, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].nspecs; k++, picks++) {
			struct kfd_selection *sel = NULL;

			if (picks->opts && pick_keeps(picks, pid))
				sel = select_queues(s->classes[i].specs[k], pid);
			if (sel)
				return group_add(&s->classes[i].group, pid, sel) != NULL;
		}
	return false;
}

static void say_failures(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];

		if (m->failed && !m->said)
			err_warn("gpq sched --status shows it", "pid %d is not held: %s",
				 (int)m->target.pid, m->failure.text);
		m->said |= m->failed;
	}
}

size_t sched_find(struct sched *s, bool attach)
{
	struct process_cache processes = {0};
	const uint64_t now = clock_ns();
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;

		g->dry = !attach;
		g->attach = attach && (i > 0 || s->opts.activity);
		g->grace = (unsigned)s->opts.grace;
		g->patience_ms = PATIENCE_MS;
		g->limit_ns = s->opts.policy.max_hold_ns;
		g->idle_ns = s->opts.hold_idle ? 0 : SCHED_IDLE_NS;
	}
	if (newcomers_scan(&s->newcomers, now)) {
		struct pick *picks = start_picks(s, &processes);

		for (size_t i = 0; i < s->newcomers.n; i++) {
			struct newcomer *c = &s->newcomers.v[i];

			if (newcomer_take(c, now))
				c->done = !pick_is_ours(c->pid, &processes) &&
					  classify(s, picks, c->pid);
		}
		end_picks(s, picks);
	}
	process_cache_fini(&processes);
	for (size_t i = 0; i < s->n; i++) {
		say_failures(&s->classes[i].group);
		n += s->classes[i].group.n;
	}
	return n;
}
