// Limits in absolute terms, as words: "online p99 < 50ms", "offline loss < 20%", "suspend p99 <
// 10ms".
//
//     WHAT [MODE] [STATISTIC] < LIMIT       or <=
//
// A time has a statistic (min, p50, median, p90, p95, p99, p99.9, max, mean) and a duration as its
// limit; a share has neither, and a limit in per cent. MODE is of gpq bench ab, preempt unless
// given. Percentiles as in stats/samples.h: of too few samples the greatest.
#ifndef GPQ_BENCH_REQUIRE_H
#define GPQ_BENCH_REQUIRE_H

#include "common/bench/ab.h"
#include "common/bench/result.h"
#include "common/cli/opts.h"

enum require_kind { REQUIRE_PREEMPT = 1, REQUIRE_AB = 2 }; // bits

struct requirement {
	const char *text; // as it was given; borrowed
	char name[64];    // its left side, a space between words: "online p99"
	unsigned subject; // row of the table of subjects
	enum ab_mode mode;
	double p; // percentile, 0 to 1; below 0: the mean; unused for a share
	bool or_equal;
	double limit; // ns, or share
};

struct requirements {
	struct requirement *v; // owned
	size_t n;
};

// Reads what --require was given; `kinds`: of what is to be judged. GPQ_OK, or GPQ_USAGE after a
// message.
int require_parse(struct requirements *r, const struct words *w, unsigned kinds);
void require_fini(struct requirements *r);

// Is it judged of runs of gpq bench ab, or of those of preempt?
bool require_is_of(const struct requirement *r, bool ab);

// Is it judged of setting number `i`? Not where it cannot be measured and other settings have it:
// only a group has a first process.
bool require_applies(const struct requirement *r, const struct result *of, unsigned i);

// Judges a setting of preempt (`a` NULL), or an experiment (`s` NULL). A time of a setting in which
// not every cycle held and resumed its queues is never met.
struct result_verdict require_judge(const struct requirement *r, struct result_setting *s,
				    struct ab_result *a);

// A value or limit with its unit, "4.759ms", "20.00%"; "-" for NaN.
const char *require_text(char text[32], bool share, double v);

#endif
