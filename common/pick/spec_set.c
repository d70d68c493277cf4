// SPECs, and the processes that fit them; spec_set.h.
#include "common/pick/spec_set.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/clock.h"
#include "common/host/proc.h"

// ---- one SPEC

const struct opt pick_spec_keys[] = {PICK_OPTS(pick_spec), PICK_QUEUES_OPTS(pick_spec), {0}};

static int unknown_key(const char *option, const char *key)
{
	const char *names[COUNT(pick_spec_keys)] = {0};
	SCOPED(buf_fini) struct buf next = {0};
	buf_puts(&next, "KEY=VALUE chooses, as comm=train or container=serve");
	for (size_t i = 0; pick_spec_keys[i].name; i++)
		names[i] = pick_spec_keys[i].name;
	const char *guess = opts_suggest(key, names);
	for (size_t i = 0; !guess && names[i]; i++)
		if (strcmp(names[i], "type") != 0 && strcmp(names[i], "prio") != 0) // refused
			buf_printf(&next, "%s%s", i ? ", " : "; keys: ", names[i]);
	return err_fail(GPQ_USAGE, next.data, "%s: %s is no key%s%s", option,
			*key ? key : "(nothing)", guess ? ", did you mean " : "",
			guess ? guess : "");
}

// Stores a condition: "KEY=VALUE", or "KEY" of a flag.
static int store_condition(struct pick_spec *s, const char *option, char *condition)
{
	char *value = strchr(condition, '=');
	if (value)
		*value++ = '\0';
	const struct opt *o = opts_find(pick_spec_keys, condition, 0);
	if (!o)
		return unknown_key(option, condition);
	if (opt_arg(o) && (!value || !*value))
		return err_fail(GPQ_USAGE, NULL, "%s: %s needs a value: %s=%s", option, condition,
				condition, opt_arg(o));
	if (!opt_arg(o) && value)
		return err_fail(GPQ_USAGE, NULL, "%s: %s takes no value", option, condition);
	return opts_store(o, s, value);
}

bool pick_spec_begins(const char *text)
{
	char key[32];
	const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz-");
	const bool ends = !text[n] || text[n] == ',';
	snprintf(key, sizeof(key), "%.*s", (int)n, text);
	const struct opt *o = ends ? opts_find(pick_spec_keys, key, 0) : NULL;
	return (text[n] == '=' && *text != '-' && n) || (o && !opt_arg(o));
}

// Ends the condition at `text` and gives the next one, or NULL; "\," becomes ",".
static char *next_condition(char *text)
{
	char *to = text;
	for (; *text && !(*text == ',' && pick_spec_begins(text + 1)); text++) {
		text += text[0] == '\\' && text[1] == ',';
		*to++ = *text;
	}
	char *next = *text ? text + 1 : NULL;
	*to = '\0';
	return next;
}

int pick_spec_parse(struct pick_spec *s, const char *option, const char *text)
{
	int status = GPQ_OK;
	*s = (struct pick_spec){.own = xstrdup(text)};
	for (char *at = s->own, *next; at && !status; at = next) {
		next = next_condition(at);
		status = store_condition(s, option, at);
	}
	return status;
}

void pick_spec_fini(struct pick_spec *s)
{
	const struct opt_set set[] = {{pick_spec_keys, s, NULL, NULL}, {0}};
	opts_fini(set);
	free(s->own);
	*s = (struct pick_spec){0};
}

// ---- several SPECs

static bool any_lives(const struct pids *pids)
{
	struct proc one;
	for (size_t i = 0; i < pids->n; i++)
		if (proc_read(&one, pids->v[i]) == 0)
			return true;
	return false;
}

static int check_spec_queues(const struct spec *v, const char *option)
{
	const struct pick_opts *o = &v->spec.pick;
	if (v->spec.queues.types.n || v->spec.queues.prio)
		return err_fail(GPQ_USAGE, "choose by gpu= or queue=",
				"%s: type and prio do not choose queues that come later", option);
	if (o->pids.given && !o->tree && !o->ns_pid)
		return pick_queues_check(&v->queues, &o->pids);
	for (size_t i = 0; i < v->queues.n; i++)
		if (!v->queues.named[i].pid)
			return err_fail(GPQ_USAGE, "write queue=PID:ID",
					"%s: queue %u: of which process?", option,
					(unsigned)v->queues.named[i].id);
	return GPQ_OK;
}

int spec_check(const char *option, const char *text, bool *processes)
{
	struct spec v = {0};
	int status = pick_spec_parse(&v.spec, option, text);
	status = status ? status : pick_queues_init(&v.queues, &v.spec.queues);
	status = status ? status : check_spec_queues(&v, option);
	status = status ? status : pick_check(&v.spec.pick);
	*processes = pick_asks(&v.spec.pick);
	pick_queues_fini(&v.queues);
	pick_spec_fini(&v.spec);
	return status;
}

static int check_spec_processes(const struct spec *v, const char *option, const char *text)
{
	const struct pick_opts *o = &v->spec.pick;
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	SCOPED(pick_fini) struct pick pick;
	int status = pick_init(&pick, o, &processes);
	if (!status && o->pids.given && !o->ns_pid && !any_lives(&o->pids))
		status = err_fail(GPQ_NOTFOUND, "gpq queues lists those that own queues",
				  "%s: %s: there is no such process", option, text);
	return status;
}

int spec_set_add(struct spec_set *s, size_t number, const char *option, const char *text)
{
	struct spec *v = xcalloc(1, sizeof(*v)); // a spec points into itself, so it must not move
	size_t at = s->n;
	array_grow(&s->v, &s->cap, s->n++, sizeof(struct spec *));
	for (; at && s->v[at - 1]->number > number; at--)
		s->v[at] = s->v[at - 1];
	s->v[at] = v;
	v->number = number;
	v->words = xasprintf("%s %s", option, text);
	int status = pick_spec_parse(&v->spec, option, text);
	status = status ? status : pick_queues_init(&v->queues, &v->spec.queues);
	status = status ? status : check_spec_queues(v, option);
	status = status || s->later ? status : check_spec_processes(v, option, text);
	status = status ? status : pick_queues_load_gpus(&v->queues, &v->gpus);
	return status;
}

int spec_set_add_pids(struct spec_set *s, size_t number, const char *option,
		      const struct pids *pids)
{
	SCOPED(buf_fini) struct buf text = {0};
	struct proc p;
	int status = GPQ_OK;
	if (!pids->given)
		return GPQ_OK;
	for (size_t i = 0; i < pids->n && !status; i++) {
		if (proc_read(&p, pids->v[i]))
			status = err_fail(GPQ_NOTFOUND, "gpq queues shows who has queues",
					  "%s: pid %d: no such process", option, (int)pids->v[i]);
		buf_printf(&text, "%s%d", i ? "," : "pid=", (int)pids->v[i]);
	}
	if (!status && !pids->n)
		status = err_fail(GPQ_NOTFOUND, NULL, "%s: no process is named", option);
	return status ? status : spec_set_add(s, number, option, text.data);
}

bool spec_set_has(const struct spec_set *s, size_t number)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i]->number == number)
			return true;
	return false;
}

void spec_set_fini(struct spec_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		pick_queues_fini(&s->v[i]->queues);
		kfd_topology_fini(&s->v[i]->gpus);
		pick_spec_fini(&s->v[i]->spec);
		free(s->v[i]->words);
		free(s->v[i]);
	}
	free(s->v);
	*s = (struct spec_set){0};
}

// Starts a pick for each SPEC. Messages are shown at the first look only: later failures, such as
// the end of the process of ns-pid, are no mistakes of the user.
static struct pick *start_picks(const struct spec_set *s, struct process_cache *processes,
				bool first, int *status)
{
	struct pick *picks = xcalloc(s->n + 1, sizeof(*picks));
	SCOPED(buf_fini) struct buf said = {0};
	if (!first)
		err_gather(&said);
	for (size_t i = 0; i < s->n; i++) {
		const int failed = pick_init(&picks[i], &s->v[i]->spec.pick, processes);
		if (failed)
			picks[i].opts = NULL; // this SPEC chooses nothing now
		*status = failed && first ? failed : *status;
	}
	err_gather(NULL);
	return picks;
}

static void end_picks(const struct spec_set *s, struct pick *picks)
{
	for (size_t i = 0; i < s->n; i++)
		pick_fini(&picks[i]);
	free(picks);
}

// Returns the first SPEC that the process fits, and in *sel which of its queues; or NULL. Marks
// those that it is the first process to fit.
static const struct spec *first_fitting_spec(const struct spec_set *s, const struct pick *picks,
					     pid_t pid, struct kfd_selection **sel)
{
	const struct spec *first = NULL;
	for (size_t i = 0; i < s->n; i++) {
		struct spec *v = s->v[i];
		if (!picks[i].opts || !pick_keeps(&picks[i], pid))
			continue;
		struct kfd_selection *one = xcalloc(1, sizeof(*one));
		pick_queues_select(&v->queues, pid, &v->gpus, one);
		const bool fits = !v->queues.n || one->num_ids;
		v->fits += fits;
		if (fits && first && first->number != v->number)
			v->taker = first;
		else
			v->taken |= fits;
		if (fits && !first) {
			first = v;
			*sel = one;
		} else {
			free(one);
		}
	}
	return first;
}

enum { MISSES = 2 }; // looks at which a process that was taken fits nothing, before it is let go

int spec_set_look(const struct spec_set *s, struct newcomers *newcomers,
		  bool (*take)(void *arg, size_t number, pid_t pid, struct kfd_selection *sel,
			       bool again),
		  void *arg)
{
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	const uint64_t now = clock_ns();
	const bool first = !newcomers->v;
	int status = GPQ_OK;
	bool failed = false;
	if (!s->n || !newcomers_scan(newcomers, now))
		return GPQ_OK;
	struct pick *picks = start_picks(s, &processes, first, &status);
	for (size_t i = 0; i < s->n; i++)
		failed |= !picks[i].opts;
	for (size_t i = 0; i < newcomers->n; i++) {
		struct newcomer *c = &newcomers->v[i];
		struct kfd_selection *sel = NULL;
		if (!newcomer_take(c, now) || pick_is_ours(c->pid, &processes))
			continue;
		const struct spec *v = first_fitting_spec(s, picks, c->pid, &sel);
		c->misses = v ? 0 : c->misses + 1;
		if (c->taken && !v && (failed || c->of_tree || c->misses < MISSES))
			continue;
		if (v || c->taken)
			c->taken = take(arg, v ? v->number : SPEC_NONE, c->pid, sel, c->taken) && v;
		c->of_tree = v && v->spec.pick.tree;
		c->done = c->taken && !newcomers->again;
		c->left_out = v && !c->taken;
	}
	end_picks(s, picks);
	return status;
}

size_t spec_set_number(const struct spec_set *s, struct spec_look *l, pid_t pid)
{
	int ignored = 0;
	l->picks = l->picks ? l->picks : start_picks(s, &l->processes, false, &ignored);
	for (size_t i = 0; i < s->n; i++)
		if (l->picks[i].opts && !s->v[i]->queues.n && pick_keeps(&l->picks[i], pid))
			return s->v[i]->number;
	return SPEC_NONE;
}

void spec_look_fini(struct spec_look *l, const struct spec_set *s)
{
	if (l->picks)
		end_picks(s, l->picks);
	process_cache_fini(&l->processes);
	*l = (struct spec_look){0};
}

void spec_set_name_unused(const struct spec_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct spec *v = s->v[i];
		if (!v->fits)
			err_hint("gpq ps -a lists what can be chosen", "%s: fits nothing now",
				 v->words);
		else if (!v->taken)
			err_hint("the first that a process fits has it",
				 "%s: chooses none: what it fits (%zu) belongs to those before it, "
				 "as %s",
				 v->words, v->fits, v->taker->words);
	}
}
