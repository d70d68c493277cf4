// Settings and their order; plan.h.
#include "common/bench/plan.h"

#include "common/cli/text.h"
#include "common/kfd/abi.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct dimension {
	const char *name;
	size_t offset;
	bool duration;
	uint64_t min, max;
} dimensions[] = {
	{"grace", offsetof(struct cycle_setting, grace), false, 0, KFD_GRACE_MAX},
	{"queues", offsetof(struct cycle_setting, queues), false, 1, KFD_MAX_QUEUES},
	{"hold", offsetof(struct cycle_setting, hold_ns), true, 0, 3600000000000},
	{"gap", offsetof(struct cycle_setting, gap_ns), true, 0, 3600000000000},
};
#define DIMENSIONS (sizeof(dimensions) / sizeof(dimensions[0]))

static uint64_t *member(const struct cycle_setting *s, const struct dimension *d)
{
	return (uint64_t *)((uintptr_t)s + d->offset);
}

static const struct dimension *find(const char *name, size_t len)
{
	for (size_t i = 0; i < DIMENSIONS; i++)
		if (strlen(dimensions[i].name) == len && !memcmp(dimensions[i].name, name, len))
			return &dimensions[i];
	return NULL;
}

int plan_compare(const struct cycle_setting *a, const struct cycle_setting *b)
{
	for (size_t i = 0; i < DIMENSIONS; i++) {
		uint64_t x = *member(a, &dimensions[i]), y = *member(b, &dimensions[i]);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

// One more value in dimension `d`: each of the first `old` settings again, with that value.
static int add_value(struct plan *p, unsigned old, const struct dimension *d, uint64_t v)
{
	if (p->n + old > PLAN_SETTINGS_MAX)
		return -1;
	for (unsigned i = 0; i < old; i++) {
		p->setting[p->n] = p->setting[i];
		*member(&p->setting[p->n++], d) = v;
	}
	return 0;
}

// The words of one dimension, sweep[0] with its name. Number of words taken, or -1.
static int add_dimension(struct plan *p, char *const *sweep, size_t n, char why[128])
{
	const char *equals = strchr(sweep[0], '=');
	const struct dimension *d = equals ? find(sweep[0], (size_t)(equals - sweep[0])) : NULL;
	unsigned old = p->n;
	size_t i = 0;
	if (!d) {
		snprintf(why, 128, "%.60s: sweeps are grace=, queues=, hold= and gap=", sweep[0]);
		return -1;
	}
	for (; i < n && (i == 0 || !strchr(sweep[i], '=')); i++) {
		const char *text = i ? sweep[i] : equals + 1;
		uint64_t v;
		bool ok = d->duration ? parse_duration(text, &v) : parse_u64(text, &v);
		if (!ok || v < d->min || v > d->max) {
			snprintf(why, 128, "%s: %.40s is out of range or no %s", d->name, text,
				 d->duration ? "duration" : "number");
			return -1;
		}
		if (i == 0)
			for (unsigned k = 0; k < old; k++)
				*member(&p->setting[k], d) = v;
		else if (add_value(p, old, d, v)) {
			snprintf(why, 128, "more than %d combinations", PLAN_SETTINGS_MAX);
			return -1;
		}
	}
	return (int)i;
}

int plan_init(struct plan *p, const struct cycle_setting *base, char *const *sweep, size_t n,
	      uint64_t seed, char why[128])
{
	p->setting[0] = *base;
	p->n = 1;
	p->rng.state = seed;
	for (size_t i = 0; i < n;) {
		int taken = add_dimension(p, sweep + i, n - i, why);
		if (taken < 0)
			return -1;
		i += (size_t)taken;
	}
	for (unsigned i = 0; i < p->n; i++)
		p->order[i] = i;
	return 0;
}

const struct cycle_setting *plan_next(struct plan *p, uint64_t i)
{
	if (i % p->n == 0)
		rng_shuffle(&p->rng, p->order, p->n);
	return &p->setting[p->order[i % p->n]];
}

void plan_name(const struct plan *p, const struct cycle_setting *s, char name[96])
{
	size_t len = 0;
	snprintf(name, 96, "all");
	for (size_t i = 0; i < DIMENSIONS; i++) {
		const struct dimension *d = &dimensions[i];
		char text[24];
		unsigned same = 1;
		while (same < p->n && *member(&p->setting[same], d) == *member(p->setting, d))
			same++;
		if (same == p->n)
			continue;
		if (d->duration)
			text_ns(text, *member(s, d));
		else
			snprintf(text, sizeof(text), "%llu", (unsigned long long)*member(s, d));
		len += (size_t)snprintf(name + len, 96 - len, "%s%s=%s", len ? "," : "", d->name,
					text);
	}
}
