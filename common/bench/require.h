// Limits, and whether a run keeps to them: goals, which have defaults and decide nothing, and
// requirements, which decide the exit status. Both are words: "online p99 < 50ms", "offline loss <
// 20%", "suspend p99 < 10ms".
//
//     WHAT [MODE] [STATISTIC] < LIMIT       or <=
//
// A time has a statistic (min, p50, median, p90, p95, p99, p99.9, max, mean) and a duration as its
// limit; a share has neither, and a limit in per cent. MODE is of gpq bench ab, preempt unless
// given. Percentiles as in stats/samples.h: of too few samples the greatest.
#ifndef GPQ_BENCH_REQUIRE_H
#define GPQ_BENCH_REQUIRE_H

#include "common/bench/load.h"
#include "common/cli/opts.h"

enum require_kind { REQUIRE_PREEMPT = 1, REQUIRE_AB = 2 }; // bits

struct requirement {
	const char *text; // as it was given; borrowed; NULL: a goal
	char name[64];    // its left side, a space between words: "online p99"
	unsigned subject; // row of the table of subjects
	unsigned kinds;   // of runs that it is judged of: enum require_kind
	enum ab_mode mode;
	double p; // percentile, 0 to 1; below 0: the mean; unused for a share
	bool or_equal;
	double limit; // ns, or share
};

struct requirements {
	struct requirement *v; // owned
	size_t n;
};

// Takes the goals of the `kinds` to be judged, with the limits of `goals` ("suspend=5ms",
// "effect=3": per cent) or their own, then what --require was given; a requirement takes the place
// of the goal of its name. GPQ_OK, or GPQ_USAGE after a message.
int require_parse(struct requirements *r, const struct words *goals, const struct words *require,
		  unsigned kinds);
void require_fini(struct requirements *r);

// The limit of that name, or NaN.
double require_limit(const struct requirements *r, const char *name);

// One of them in one setting of a run.
struct judged {
	const struct requirement *of;
	const char *setting; // "all": there is no other one; NULL: of the experiment
	double value;        // ns, or share; NaN: unknown
	bool is_share;
	bool most;          // the greatest of samples that are too few for the percentile
	bool spoiled;       // it would be met, but not every cycle held and resumed its queues
	const char *result; // "ok", "failed", "unknown"
};

// All that can be judged of the run, by requirement, then by setting. What only some settings
// measure is judged of these: only a group has a first process. Their number; *list is to be freed.
size_t require_judge(const struct requirements *q, struct load_run *run, struct judged **list);

// A value and its limit with units: "4.759ms", "max 4.759ms", "20.00%"; "-" for NaN.
const char *require_value(char text[48], const struct judged *j);
const char *require_bound(char text[48], const struct judged *j);

#endif
