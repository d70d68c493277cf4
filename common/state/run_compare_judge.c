// By what can a program's queues be found in the next run? See run_compare.h.
//
// Each strategy is judged by what would break it: fixed ids by ids that change or that two programs
// share; priority by priorities that change or that two programs share; the PID by nothing, but it
// has to be looked up each time.
#include "common/state/run_compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MENTIONED = 2 }; // examples in the evidence

// Adds to the evidence.
static void say(struct run_compare_strategy *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct run_compare_strategy *s, const char *fmt, ...)
{
	va_list ap;
	if (s->evidence.len)
		buf_puts(&s->evidence, "; ");
	va_start(ap, fmt);
	buf_vprintf(&s->evidence, fmt, ap);
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
		say(s, "%.60s (process %" PRIu64 "): %s", name(g->program), g->worker + 1, what);
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

// Something must have been repeated to be the same again.
static bool was_repeated(const struct run_compare *r)
{
	bool any = false;
	for (size_t i = 0; i < r->nprograms; i++)
		any |= r->programs[i].seen > 1;
	return any;
}

static unsigned changing_ids(const struct run_compare *r, struct run_compare_strategy *s)
{
	unsigned n = 0;
	for (size_t i = 0; i < r->nprograms; i++) {
		const struct run_compare_program *g = &r->programs[i];
		char text[120];
		if (g->same[SAME_IDS] != 0)
			continue;
		snprintf(text, sizeof(text),
			 "ids differ between its %" PRIu64 " runs (%" PRIu64 " to %" PRIu64
			 " queues)",
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
		char text[64];
		if (!r->pairs[i].both.ids_text.len)
			continue;
		snprintf(text, sizeof(text), "ids %s", r->pairs[i].both.ids_text.data);
		if (++n <= MENTIONED)
			say_pair(s, &r->pairs[i], text);
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
	char what[120];
	for (size_t i = 0; i < r->nprograms; i++)
		if (r->programs[i].same[SAME_PRIOS] == 0 && ++n <= MENTIONED)
			say_program(s, &r->programs[i], "priorities differ between its runs");
	for (size_t i = 0; i < r->npairs; i++) {
		if (!r->pairs[i].both.prios)
			continue;
		struct buf text = {0};
		run_compare_prios_text(&text, r, r->pairs[i].both.prios, ",");
		snprintf(what, sizeof(what), "%s %s", r->levels ? "priority level" : "priority",
			 text.data);
		if (++n <= MENTIONED)
			say_pair(s, &r->pairs[i], what);
		buf_fini(&text);
	}
	return n;
}

static void judge_priority(const struct run_compare *r, struct run_compare_strategy *s)
{
	s->works = unfit_priorities(r, s) > 0 ? 0 : -1;
	if (!s->works)
		return;
	bool known = true;
	for (size_t i = 0; i < r->nprocs; i++)
		known &= !r->procs[i].compute || r->procs[i].has.prios;
	if (!known) {
		say(s, "priorities are unknown: they need the dumps of debugfs");
	} else if (!r->npairs) {
		say(s, "no two programs ran side by side");
	} else if (!was_repeated(r)) {
		say(s, "no program is in two runs");
	} else {
		s->works = 1;
		for (size_t i = 0; i < r->nprograms && i < 4; i++) {
			struct buf text = {0};
			run_compare_prios_text(&text, r, r->programs[i].ever.prios, ",");
			say_program(s, &r->programs[i], text.data ? text.data : "none");
			buf_fini(&text);
		}
	}
}

static void judge_pid(const struct run_compare *r, struct run_compare_strategy *s)
{
	bool same = was_repeated(r);
	for (size_t i = 0; i < r->nprograms; i++)
		same &= r->programs[i].same[SAME_IDS] != 0;
	s->works = r->nprocs ? 1 : -1;
	if (r->nprocs)
		say(s,
		    "a queue belongs to one process; its PID is to be looked up in every run "
		    "(gpq queues --comm, --container, --tree)%s",
		    same ? "; ids are the same in every run, so PID and id name one queue" : "");
	else
		say(s, "no process has a queue in any of the runs");
}

void run_compare_judge(struct run_compare *r)
{
	static const struct {
		const char *name;
		void (*judge)(const struct run_compare *, struct run_compare_strategy *);
	} all[QRUNS_STRATEGIES] = {
		[QRUNS_FIXED] = {"fixed-ids", judge_fixed},
		[QRUNS_PRIORITY] = {"priority", judge_priority},
		[QRUNS_PID] = {"pid", judge_pid},
	};
	bool chosen = false;
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		struct run_compare_strategy *s = &r->strategies[i];
		s->name = all[i].name;
		all[i].judge(r, s);
		s->chosen = s->works > 0 && !chosen;
		chosen |= s->chosen;
	}
}
