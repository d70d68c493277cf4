// By what can a program's queues be found in the next run? See run_compare.h.
//
// Each strategy is judged by what would break it: fixed ids by ids that change or that two programs
// share; priority by priorities that change or that two programs share; the PID by nothing, but it
// has to be looked up each time.
#include "common/state/run_compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MENTIONED = 2 }; // examples in the evidence

// Adds to the evidence; what does not fit is left out.
static void say(struct run_compare_strategy *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct run_compare_strategy *s, const char *fmt, ...)
{
	size_t len = strlen(s->evidence);
	va_list ap;
	if (len && len + 2 < sizeof(s->evidence)) {
		memcpy(s->evidence + len, "; ", 3);
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(s->evidence + len, sizeof(s->evidence) - len, fmt, ap);
	va_end(ap);
}

static const char *name(const char *program)
{
	return program ? program : "an unknown program";
}

static void say_program(struct run_compare_strategy *s, const struct run_compare_program *g,
			const char *what)
{
	if (g->worker)
		say(s, "%.60s (process %u): %s", name(g->program), g->worker + 1, what);
	else
		say(s, "%.60s: %s", name(g->program), what);
}

static void say_pair(struct run_compare_strategy *s, const struct run_compare_pair *p,
		     const char *what)
{
	if (strcmp(name(p->a), name(p->b)) == 0)
		say(s, "two processes of %.60s share %.60s", name(p->a), what);
	else
		say(s, "%.60s and %.60s share %.60s", name(p->a), name(p->b), what);
}

static void prios_text(const struct run_compare *r, uint32_t prios, char text[100])
{
	size_t len = 0;
	text[0] = '\0';
	for (unsigned i = 0; i < 32 && len < 90; i++)
		if (prios >> i & 1 && r->levels)
			len += (size_t)snprintf(text + len, 100 - len, "%s%s", len ? "," : "",
						prio_level_name(i));
		else if (prios >> i & 1)
			len += (size_t)snprintf(text + len, 100 - len, "%s%u", len ? "," : "", i);
}

// Something must have been repeated to be the same again.
static bool was_repeated(const struct run_compare *r)
{
	for (size_t i = 0; i < r->nprograms; i++)
		if (r->programs[i].seen > 1)
			return true;
	return false;
}

static bool ids_change(const struct run_compare *r)
{
	for (size_t i = 0; i < r->nprograms; i++)
		if (r->programs[i].same_ids == 0)
			return true;
	return false;
}

static unsigned changing_ids(const struct run_compare *r, struct run_compare_strategy *s)
{
	unsigned n = 0;
	for (size_t i = 0; i < r->nprograms; i++) {
		const struct run_compare_program *g = &r->programs[i];
		char text[80];
		if (g->same_ids != 0)
			continue;
		snprintf(text, sizeof(text), "ids differ between its %u runs (%u to %u queues)",
			 g->seen, g->queues_min, g->queues_max);
		if (++n <= MENTIONED)
			say_program(s, g, text);
	}
	return n;
}

static unsigned shared_ids(const struct run_compare *r, struct run_compare_strategy *s)
{
	unsigned n = 0;
	for (size_t i = 0; i < r->npairs; i++) {
		struct buf ids = {0};
		char text[64];
		if (qset_count(&r->pairs[i].ids) == 0)
			continue;
		qset_text(&r->pairs[i].ids, &ids);
		snprintf(text, sizeof(text), "ids %s", ids.data ? ids.data : "?");
		if (++n <= MENTIONED)
			say_pair(s, &r->pairs[i], text);
		buf_fini(&ids);
	}
	return n;
}

static void judge_fixed(const struct run_compare *r, struct run_compare_strategy *s)
{
	const unsigned broken = changing_ids(r, s) + shared_ids(r, s);
	s->works = broken ? 0 : was_repeated(r) ? 1 : -1;
	if (s->works > 0)
		say(s, "each program had the same ids in all its runs, and %s",
		    r->npairs ? "no two share any" : "no other ran beside it");
	else if (s->works < 0)
		say(s, "no program is in two runs");
}

static unsigned unfit_priorities(const struct run_compare *r, struct run_compare_strategy *s)
{
	unsigned n = 0;
	char text[100], what[120];
	for (size_t i = 0; i < r->nprograms; i++)
		if (r->programs[i].same_prios == 0 && ++n <= MENTIONED)
			say_program(s, &r->programs[i], "priorities differ between its runs");
	for (size_t i = 0; i < r->npairs; i++) {
		if (!r->pairs[i].prios)
			continue;
		prios_text(r, r->pairs[i].prios, text);
		snprintf(what, sizeof(what), "%s %s", r->levels ? "priority level" : "priority",
			 text);
		if (++n <= MENTIONED)
			say_pair(s, &r->pairs[i], what);
	}
	return n;
}

static bool priorities_known(const struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++)
		if (r->procs[i].compute && !r->procs[i].prios)
			return false;
	return true;
}

static void judge_priority(const struct run_compare *r, struct run_compare_strategy *s)
{
	char text[100];
	const bool broken = unfit_priorities(r, s) > 0;
	s->works = 0;
	if (broken)
		return;
	s->works = -1;
	if (!priorities_known(r)) {
		say(s, "priorities are unknown: they need the dumps of debugfs");
	} else if (!r->npairs) {
		say(s, "no two programs ran side by side");
	} else if (!was_repeated(r)) {
		say(s, "no program is in two runs");
	} else {
		s->works = 1;
		for (size_t i = 0; i < r->nprograms && i < 4; i++) {
			prios_text(r, r->programs[i].prios, text);
			say_program(s, &r->programs[i], *text ? text : "none");
		}
	}
}

static void judge_pid(const struct run_compare *r, struct run_compare_strategy *s)
{
	s->works = r->nprocs ? 1 : -1;
	if (r->nprocs)
		say(s,
		    "a queue belongs to one process; its PID is to be looked up in every run "
		    "(gpq queues --comm, --container, --tree)%s",
		    was_repeated(r) && !ids_change(r)
			    ? "; ids are the same in every run, so PID and id name one queue"
			    : "");
	else
		say(s, "no process has a queue in any of the runs");
}

void run_compare_judge(struct run_compare *r)
{
	static void (*const judge[QRUNS_STRATEGIES])(const struct run_compare *,
						     struct run_compare_strategy *) = {
		[QRUNS_FIXED] = judge_fixed,
		[QRUNS_PRIORITY] = judge_priority,
		[QRUNS_PID] = judge_pid,
	};
	bool chosen = false;
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		struct run_compare_strategy *s = &r->strategies[i];
		judge[i](r, s);
		s->chosen = s->works > 0 && !chosen;
		chosen |= s->chosen;
	}
}
