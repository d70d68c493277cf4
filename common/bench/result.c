// Adding up cycles; result.h.
#include "common/bench/result.h"

#include "common/host/maths.h"
#include "common/host/number.h"

#include <math.h>

#define NAME(name, value, help)  #name,
#define VALUE(name, value, help) (value),
#define HELP(name, value, help)  (help),
const char *const result_metric_name[METRICS] = {RESULT_METRICS(NAME)};
const char *const result_metric_help[METRICS] = {RESULT_METRICS(HELP)};

uint64_t bench_ns(double v)
{
	return !isfinite(v) ? UINT64_MAX : (uint64_t)maths()->llround(v);
}

static double ns(uint64_t v)
{
	return v == CYCLE_NONE ? NAN : (double)v;
}

double result_metric(const struct cycle *c, enum result_metric m)
{
	const double values[METRICS] = {RESULT_METRICS(VALUE)};
	return values[m];
}

void result_fini(struct result *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		for (unsigned m = 0; m < METRICS; m++) {
			samples_fini(&r->of[i]->metric[m]);
			for (size_t k = 0; k < r->of[i]->nrepeats; k++)
				samples_fini(&r->of[i]->repeat[k].metric[m]);
		}
		free(r->of[i]->repeat);
		free(r->of[i]->part);
		free(r->of[i]);
	}
	r->n = 0;
}

// Finds or adds a setting. Settings are kept sorted, since cycles come in random order.
static struct result_setting *result_setting_of(struct result *r, const struct cycle_setting *set)
{
	unsigned at = 0;
	while (at < r->n && plan_compare(&r->of[at]->set, set) < 0)
		at++;
	if (at < r->n && plan_compare(&r->of[at]->set, set) == 0)
		return r->of[at];
	if (r->n == PLAN_SETTINGS_MAX) {
		errno = E2BIG;
		return NULL;
	}
	struct result_setting *s = xcalloc(1, sizeof(*s));
	s->set = *set;
	memmove(&r->of[at + 1], &r->of[at], (r->n - at) * sizeof(struct result_setting *));
	r->of[at] = s;
	r->n++;
	for (unsigned i = 0; i < r->n; i++)
		r->settings.setting[i] = r->of[i]->set;
	r->settings.n = r->n;
	for (unsigned i = 0; i < r->n; i++)
		plan_name(&r->settings, &r->of[i]->set, r->of[i]->name);
	return s;
}

// False for a cycle that stopped early, or whose line in a file lacks members.
static bool is_whole_cycle(const struct cycle *c)
{
	const uint64_t needed[] = {c->suspend_ns,     c->held_ns,         c->resume_ns,
				   c->gap_ns,         c->suspend_packets, c->held_packets,
				   c->resume_packets, c->gap_packets,     c->backlog_packets};
	for (size_t i = 0; i < COUNT(needed); i++)
		if (needed[i] == CYCLE_NONE)
			return false;
	return true;
}

static void result_add_effect(struct result_effect *e, const struct cycle *c)
{
	if (c->baseline_ns != CYCLE_NONE && c->baseline_packets != CYCLE_NONE) {
		e->baseline_ns += c->baseline_ns;
		e->baseline_packets += c->baseline_packets;
	}
	if (!is_whole_cycle(c))
		return;
	e->cycles_ns += c->suspend_ns + c->held_ns + c->resume_ns + c->gap_ns;
	e->cycles_packets +=
		c->suspend_packets + c->held_packets + c->resume_packets + c->gap_packets;
	if (c->suspend_ioctl_ns != CYCLE_NONE && c->resume_ioctl_ns != CYCLE_NONE)
		e->calls_ns += c->suspend_ioctl_ns + c->resume_ioctl_ns;
	e->held_ns += c->held_ns;
	e->held_packets += c->held_packets;
	e->gap_ns += c->gap_ns;
	e->gap_packets += c->gap_packets;
}

static void result_add_saved(struct result_setting *s, const struct cycle *c)
{
	if (!c->xccs)
		return;
	s->saved_cycles++;
	s->xccs = c->xccs > s->xccs ? c->xccs : s->xccs;
	for (unsigned i = 0; i < c->xccs; i++) {
		s->saved_sum[i] += c->saved_bytes[i];
		s->saved_max[i] = greater(s->saved_max[i], c->saved_bytes[i]);
	}
}

static void result_add_repeat(struct result_setting *s, const struct cycle *c)
{
	if (c->repeat >= RESULT_REPEATS_MAX)
		return;
	ARRAY_REACH(s->repeat, s->nrepeats, c->repeat, 0);
	for (unsigned m = 0; m < METRICS; m++)
		samples_add(&s->repeat[c->repeat].metric[m],
			    result_metric(c, (enum result_metric)m));
}

int result_add(struct result *r, const struct cycle *c)
{
	struct result_setting *s = result_setting_of(r, &c->set);
	if (!s)
		return -1;
	s->warmup += c->warmup;
	if (c->warmup)
		return 0;
	s->count[c->result]++;
	s->queues += c->suspend_ns == CYCLE_NONE ? 0 : c->queues;
	for (unsigned m = 0; m < METRICS; m++)
		samples_add(&s->metric[m], result_metric(c, (enum result_metric)m));
	result_add_effect(&s->effect, c);
	if (!s->nparts || s->part[s->nparts - 1].baseline_ns)
		*ARRAY_ADD(s->part, s->cap_parts, s->nparts) = (struct result_effect){0};
	result_add_effect(&s->part[s->nparts - 1], c);
	result_add_saved(s, c);
	result_add_repeat(s, c);
	return 0;
}

static double packet_rate(uint64_t packets, uint64_t ns)
{
	return ns ? (double)packets / ((double)ns / 1e9) : NAN;
}

size_t result_parts(const struct result_setting *s)
{
	return s->nparts - (s->nparts && !s->part[s->nparts - 1].baseline_ns);
}

static void effect_subtract(struct result_effect *e, const struct result_effect *part)
{
	e->cycles_ns -= part->cycles_ns;
	e->cycles_packets -= part->cycles_packets;
	e->held_ns -= part->held_ns;
	e->held_packets -= part->held_packets;
	e->gap_ns -= part->gap_ns;
	e->gap_packets -= part->gap_packets;
	e->baseline_ns -= part->baseline_ns;
	e->baseline_packets -= part->baseline_packets;
	e->calls_ns -= part->calls_ns;
}

struct result_rates result_rates(const struct result_setting *s, size_t without)
{
	struct result_effect left = s->effect, *e = &left;
	// Cycles behind the last baseline window belong to its part.
	for (size_t i = without; i < s->nparts && (i == without || !s->part[i].baseline_ns); i++)
		effect_subtract(e, &s->part[i]);
	struct result_rates v = {
		.baseline = packet_rate(e->baseline_packets, e->baseline_ns),
		.held = packet_rate(e->held_packets, e->held_ns),
		.gap = packet_rate(e->gap_packets, e->gap_ns),
		.held_share = e->cycles_ns ? (double)e->held_ns / (double)e->cycles_ns : NAN,
		.loss = NAN,
		.effect = NAN,
		.cost = e->calls_ns ? (double)e->calls_ns / (double)e->cycles_ns : NAN,
	};
	if (v.baseline > 0 && e->cycles_ns)
		v.loss = 1 - packet_rate(e->cycles_packets, e->cycles_ns) / v.baseline;
	v.effect = v.loss - v.held_share;
	return v;
}

double result_least_period(struct result_setting *s)
{
	return CYCLE_COSTS * samples_percentile(&s->metric[METRIC_cost], 0.9);
}
