// The part that a goal leaves to lower classes; goal.h.
#include "common/sched/goal.h"

#include "common/cli/text.h"

#define MOST 0.9 // of the contended time

bool goal_parse(struct goal *g, const char *text)
{
	char *end;
	const size_t n = *text == 'p' ? strspn(text + 1, "0123456789.") : 0;
	g->percent = strtod(text + (n > 0), &end);
	if (!n || end != text + 1 + n || !(g->percent >= 50 && g->percent <= 99.99))
		return false;
	end += strspn(end, " ");
	if (*end != '<')
		return false;
	end++;
	end += strspn(end, " ");
	return parse_duration(end, &g->limit_ns) && g->limit_ns;
}

void goal_count(struct goal *g, struct policy *p, uint64_t now_ns, uint64_t ns)
{
	const double may = (100 - g->percent) / 100;
	const unsigned window = may * 20 < 2 ? (unsigned)(2 / may + 0.5) : 20;
	if (now_ns - ns < g->since_ns)
		return;
	g->n++;
	g->over += ns > g->limit_ns;
	const bool missed = g->over > may * window + 0.001;
	if (!missed && g->n < window)
		return;
	p->part = missed ? p->part / 2 : p->part * 1.25;
	if (p->part < may / 4)
		p->part = missed ? 0 : may / 4;
	p->part = p->part > MOST ? MOST : p->part;
	p->kind = p->part > 0 ? POLICY_GOAL : POLICY_STRICT;
	g->n = g->over = 0;
	g->since_ns = now_ns;
}
