// Which settings are compared, and in which order: each once per block, in a random order from a
// seed. So drift of the machine (heat, other work) affects all settings alike, and a run that is
// cut short is still a fair comparison.
#pragma once

#include "common/bench/cycle.h"
#include "common/stats/rng.h"

#define PLAN_SETTINGS_MAX 256

extern const char *const plan_levels[4]; // names of cycle_setting.level, ended by NULL

struct plan {
	struct cycle_setting setting[PLAN_SETTINGS_MAX]; // all combinations of the values
	unsigned n;
	unsigned order[PLAN_SETTINGS_MAX]; // the present block's order: indices in `setting`
	struct rng rng;
};

// Makes the settings: `base`, changed by the words of --sweep, "grace=1", "32", "queues=1", "2" (a
// word without a name is another value of the name before). Returns 0, or -1 and a text in `why`.
int plan_init(struct plan *p, const struct cycle_setting *base, char *const *sweep, size_t n,
	      uint64_t seed, char why[128]);

// Orders settings by grace, queues, level, hold, gap, process. Returns as memcmp(3).
int plan_compare(const struct cycle_setting *a, const struct cycle_setting *b);

// The setting of cycle `i`. Call it for i = 0, 1, 2 ...: each block draws a new order.
const struct cycle_setting *plan_next(struct plan *p, uint64_t i);

// Names a setting by what differs in the plan: "grace=32,hold=10ms"; "all" if there is only one.
void plan_name(const struct plan *p, const struct cycle_setting *s, char name[96]);
