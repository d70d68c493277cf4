// Settings and their order; plan.h.
#include "common/bench/plan.h"

#include "common/cli/text.h"
#include "common/kfd/abi.h"

const char *const plan_levels[] = {"low", "medium", "high", NULL};

static const struct dimension {
	const char *name;
	size_t offset;
	bool duration;
	uint64_t min, max;
	const char *const *words; // of the values from 0 to `max`; NULL: numbers
} dimensions[] = {
	{"grace", offsetof(struct cycle_setting, grace), false, 0, KFD_GRACE_MAX, NULL},
	{"queues", offsetof(struct cycle_setting, queues), false, 1, KFD_MAX_QUEUES, NULL},
	{"prio", offsetof(struct cycle_setting, level), false, 0, 2, plan_levels},
	{"hold", offsetof(struct cycle_setting, hold_ns), true, 0, 3600000000000, NULL},
	{"gap", offsetof(struct cycle_setting, gap_ns), true, 0, 3600000000000, NULL},
	{"process", offsetof(struct cycle_setting, process), false, 0, 0, NULL},
};
#define DIMENSIONS (COUNT(dimensions))
#define SWEPT      (DIMENSIONS - 1) // dimensions that --sweep can name: all but the process

static uint64_t *setting_member(const struct cycle_setting *s, const struct dimension *d)
{
	return (uint64_t *)((uintptr_t)s + d->offset);
}

// Reads a value, which may be out of range.
static bool read_value(const struct dimension *d, const char *text, uint64_t *v)
{
	if (!d->words)
		return d->duration ? parse_duration(text, v) : parse_u64(text, v);
	for (*v = 0; d->words[*v] && strcmp(d->words[*v], text) != 0;)
		++*v;
	return true;
}

static const struct dimension *find_dimension(const char *name, size_t len)
{
	for (size_t i = 0; i < SWEPT; i++)
		if (strlen(dimensions[i].name) == len && !memcmp(dimensions[i].name, name, len))
			return &dimensions[i];
	return NULL;
}

int plan_compare(const struct cycle_setting *a, const struct cycle_setting *b)
{
	for (size_t i = 0; i < DIMENSIONS; i++) {
		uint64_t x = *setting_member(a, &dimensions[i]),
			 y = *setting_member(b, &dimensions[i]);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int plan_init(struct plan *p, const struct cycle_setting *base, char *const *sweep, size_t n,
	      uint64_t seed, char why[128])
{
	const struct dimension *d = NULL; // dimension of the last word with a name
	unsigned old = 0;                 // number of settings before that word
	p->setting[0] = *base;
	p->n = 1;
	p->rng.state = seed;
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(sweep[i], '='), *text = equals ? equals + 1 : sweep[i];
		uint64_t v;
		if (equals) {
			d = find_dimension(sweep[i], (size_t)(equals - sweep[i]));
			old = p->n;
		}
		if (!d) {
			snprintf(why, 128,
				 "%.60s: sweeps are grace=, queues=, prio=, hold= and gap=",
				 sweep[i]);
			return -1;
		}
		if (!read_value(d, text, &v) || v < d->min || v > d->max) {
			snprintf(why, 128, "%s: %.40s is out of range or no %s", d->name, text,
				 d->words      ? "low, medium or high"
				 : d->duration ? "duration"
					       : "number");
			return -1;
		}
		if (!equals && p->n + old > PLAN_SETTINGS_MAX) {
			snprintf(why, 128, "more than %d combinations", PLAN_SETTINGS_MAX);
			return -1;
		}
		// The first value goes into all settings so far, each further value into copies of
		// them.
		for (unsigned k = 0; k < old; k++) {
			struct cycle_setting *s = &p->setting[equals ? k : p->n++];
			*s = p->setting[k];
			*setting_member(s, d) = v;
		}
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
		while (same < p->n &&
		       *setting_member(&p->setting[same], d) == *setting_member(p->setting, d))
			same++;
		if (same == p->n)
			continue;
		if (i == SWEPT && *setting_member(s, d) == CYCLE_GROUP)
			snprintf(text, sizeof(text), "all");
		else if (d->words && *setting_member(s, d) == CYCLE_NONE)
			snprintf(text, sizeof(text), "any");
		else if (d->duration)
			text_ns(text, *setting_member(s, d));
		else if (d->words)
			snprintf(text, sizeof(text), "%s", d->words[*setting_member(s, d)]);
		else
			snprintf(text, sizeof(text), "%llu",
				 (unsigned long long)*setting_member(s, d));
		len += (size_t)snprintf(name + len, 96 - len, "%s%s=%s", len ? "," : "", d->name,
					text);
	}
}
