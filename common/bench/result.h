// Results of the cycles of a run, for each setting: latencies and the target's throughput. The same
// code serves measurements and reports; tests/cli/bench-report.sh computes the numbers
// independently.
//
// All cycles count but those of the warm-up; no outlier is left out.
#pragma once

#include "common/bench/plan.h"
#include "common/stats/samples.h"

// The metrics: name, value in a cycle `c` (ns), meaning.
#define RESULT_METRICS(X)                                                                          \
	X(suspend, ns(c->suspend_ns), "request to suspend until the holder answers")               \
	X(suspend_ioctl, ns(c->suspend_ioctl_ns), "the system call of suspend")                    \
	X(suspend_gpq, ns(c->suspend_ns) - ns(c->suspend_ioctl_ns),                                \
	  "suspend without its system call")                                                       \
	X(standstill, ns(c->still_ns), "suspend's return until the last movement of a read index") \
	X(resume, ns(c->resume_ns), "request to resume until the holder answers")                  \
	X(resume_ioctl, ns(c->resume_ioctl_ns), "the system call of resume")                       \
	X(progress, ns(c->progress_ns), "resume's return until a read index moves")                \
	X(cost, ns(c->suspend_ioctl_ns) + ns(c->resume_ioctl_ns),                                  \
	  "to others: both system calls, in which the driver takes all queues off and back")       \
	X(suspend_first, ns(c->suspend_first_ns),                                                  \
	  "of a group: until the first process's queues are off")                                  \
	X(resume_first, ns(c->resume_first_ns),                                                    \
	  "of a group: until the first process's queues are back")                                 \
	X(unmap, ns(c->unmap_ns), "in the kernel's suspend_queues: the runlist is unmapped")       \
	X(save, ns(c->save_ns), "wait until the waves are saved")                                  \
	X(map, ns(c->map_ns), "the other queues are mapped again")                                 \
	X(rest, ns(c->rest_ns), "all else in suspend_queues")

enum result_metric {
#define METRIC(name, value, help) METRIC_##name,
	RESULT_METRICS(METRIC)
#undef METRIC
		METRICS
};
extern const char *const result_metric_name[METRICS];
extern const char *const result_metric_help[METRICS];

// Rounds a time to whole ns. NaN (unknown) and infinity (no bound) become UINT64_MAX.
uint64_t bench_ns(double v);

// The value of a metric in a cycle, ns, or NaN.
double result_metric(const struct cycle *c, enum result_metric m);

// Sums over complete cycles of a setting, for the queues that it suspends.
struct result_effect {
	uint64_t cycles_ns, cycles_packets;     // over whole cycles
	uint64_t held_ns, held_packets;         // from suspend's return to the request to resume
	uint64_t gap_ns, gap_packets;           // from resume's return to the end of the cycle
	uint64_t baseline_ns, baseline_packets; // windows in which nothing was done
	uint64_t calls_ns;                      // within the system calls of suspend and resume
};

enum { RESULT_REPEATS_MAX = 1000 }; // later ones of the --runs are not listed one by one

// Times of one of the --runs.
struct result_repeat {
	struct samples metric[METRICS];
};

// Is it the setting of a whole group or of a single process, not of one process in a group?
#define RESULT_IS_WHOLE(set) ((set)->process == CYCLE_NONE || (set)->process == CYCLE_GROUP)

struct result_setting {
	struct cycle_setting set;
	char name[96]; // as plan_name() names it
	struct samples metric[METRICS];
	struct result_effect effect;
	// The same, in parts that follow each other: each is a baseline window and the cycles since
	// the one before, so that both are of the same time.
	struct result_effect *part; // owned
	size_t nparts, cap_parts;
	uint64_t count[CYCLE_STOPPED + 1]; // cycles by result, without warm-up
	uint64_t warmup;                   // cycles of the warm-up
	uint64_t queues; // sum of the queues suspended, of cycles with a time of suspend
	uint64_t saved_sum[KFD_XCC_MAX], saved_max[KFD_XCC_MAX], saved_cycles;
	unsigned xccs;
	struct result_repeat *repeat; // owned
	size_t nrepeats;
};

struct result {
	struct plan settings;                         // only for plan_name()
	struct result_setting *of[PLAN_SETTINGS_MAX]; // owned; in the order of settings.setting
	unsigned n;
};

void result_fini(struct result *r);

// Adds a cycle. Returns 0, or -1 with errno E2BIG if there are too many settings.
int result_add(struct result *r, const struct cycle *c);

// Rates and shares of a setting; NaN: unknown.
struct result_rates {
	double baseline, held, gap; // AQL packets a second: baseline, in holds, in gaps
	double held_share;          // share of the time in which the queues were held
	double loss;                // share of the baseline rate that whole cycles lose
	double effect;              // loss - held_share: what suspending costs beyond the held time
	double cost; // share of the time in suspend and resume calls, which unmap every queue
};

// How many parts of a setting have a baseline window.
size_t result_parts(const struct result_setting *s);

// The rates without part number `without`, for stats_jackknife(); SIZE_MAX: with all.
struct result_rates result_rates(const struct result_setting *s, size_t without);

// Shortest period of cycles that spares other queues, by CYCLE_COSTS; ns, NaN: unknown.
double result_least_period(struct result_setting *s);
