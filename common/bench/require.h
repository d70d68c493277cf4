// Limits, and whether a run keeps to them: goals, which have defaults and decide nothing, and
// requirements, which decide the exit status. Examples: "online p99 < 50ms", "offline loss < 20%".
//
//     WHAT [MODE] [STATISTIC] < LIMIT       or <=
//
// The limit of a time is a duration, and it has a statistic: min, p50, median, p90, p95, p99,
// p99.9, max, mean. The limit of a share is in per cent, and it has no statistic, but online
// slowdown may have a percentile. MODE is one of gpq bench ab, by default preempt.
//
// Each verdict is an inference by confidence bounds (stats/infer.h), but those of min and max,
// which are about the samples alone.
#pragma once

#include "common/bench/raw.h"
#include "common/cli/opts.h"

enum require_kind { REQUIRE_PREEMPT = 1, REQUIRE_AB = 2 }; // bits: the kinds of runs

struct requirement {
	const char *text; // the requirement as the user gave it; borrowed; NULL: a goal
	char name[64];    // left side of the limit, a space between words: "online p99"
	unsigned subject; // index in the table of subjects: what is limited
	unsigned kinds;   // kinds of runs that the limit applies to: enum require_kind
	enum ab_mode mode;
	double p; // percentile as a fraction of 1; below 0: the mean; 0 for a share without
	bool or_equal;
	double limit; // ns, or share
};

struct requirements {
	struct requirement *v; // owned
	size_t n;
};

// Makes the goals of runs of these kinds, with the limits of `goals` ("suspend=5ms", "effect=3":
// per cent) or default limits, and the requirements. A requirement replaces the goal that limits
// the same. Returns GPQ_OK, or GPQ_USAGE after a message.
int require_parse(struct requirements *r, const struct words *goals, const struct words *require,
		  unsigned kinds);
void require_fini(struct requirements *r);

// The limit (ns, or share) whose left side is `name`, or NaN.
double require_limit(const struct requirements *r, const char *name);

// What the samples say of a limit: the word, how a sentence with such goals begins.
#define VERDICTS(X)                                                                              \
	X(REFUTED, "refuted")     /* the value is beyond the limit, or a requirement of it is */ \
	X(NOT_SHOWN, "not shown") /* the samples do not tell */                                  \
	X(UNKNOWN, "unknown")     /* not measured, or not possible */                            \
	X(SHOWN, "shown")         /* the value is within the limit */

enum verdict { // from bad to good
#define VERDICT(name, word) VERDICT_##name,
	VERDICTS(VERDICT)
#undef VERDICT
};

// A limit, judged by one setting of a run.
struct judged {
	const struct requirement *of;
	const char *name;    // left side of the limit
	const char *setting; // setting's name; "all": the only one; NULL: a run of gpq bench ab
	double value;        // ns, or share; NaN: unknown
	// A figure; `text` has its unit: "4.759ms", "20.00%", "-" (unknown); "max 4.759ms": the
	// greatest sample, as there are too few for the percentile.
	struct judged_figure {
		char text[48];
		uint64_t ns;       // of a time; UINT64_MAX for a share
		double percent;    // of a share; NaN for a time
	} shown, limit, low, high; // `low`, `high`: confidence bounds of the value
	char bounds[100];          // both: "3.1ms to 4.9ms"
	enum verdict verdict;
	const char *result; // the verdict's word
	uint64_t more;      // samples, runs or baseline windows that a verdict lacks; UINT64_MAX: -
	char reason[96];    // why it is not shown, unknown, or refuted for another reason; or ""
	int8_t required;    // 1: a requirement; 0: a goal
};

// Judges a run: by limit, then by setting. A metric that only some settings have (only a group has
// a first process) is judged by these. Returns the length of *list, which the caller frees.
size_t require_judge(const struct requirements *q, struct load_run *run, struct judged **list);

// May a run end at this look, one of at most `looks`? It may when each requirement, without any
// each goal, is shown or refuted. Each look uses bounds so wide that all of them together are wrong
// in at most 1 of 100 measurements (Bonferroni), as chance has as many occasions as there are
// looks.
#define LOOKS_ERROR 0.01
bool require_decided(const struct requirements *q, struct load_run *run, uint64_t looks);
