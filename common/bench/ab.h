// The experiment: online and offline work, each alone, both together, and with the offline work
// taken off the GPU while the online work needs it. One thread starts both commands, watches their
// queues, reads their output, and sends requests to the holders of the offline processes.
#pragma once

#include "common/bench/context.h"
#include "common/bench/queue_set.h"
#include "common/bench/result.h"
#include "common/cli/grep.h"
#include "common/stats/infer.h"

enum ab_mode { AB_ALONE, AB_SHARED, AB_PREEMPT, AB_MODES };
extern const char *const ab_mode_name[AB_MODES + 1]; // names of the modes, ended by NULL

// When offline work is held: while the online command runs, or while online queues have work.
enum ab_hold { AB_HOLD_COMMAND, AB_HOLD_PROGRESS };

// Regular expressions for the output of the commands: latencies, the offline rate, and what the
// offline command prints once it is at work.
enum ab_pattern { AB_METRIC, AB_OFFLINE_METRIC, AB_OFFLINE_READY, AB_PATTERNS };

// Options of gpq bench ab.
struct ab_run;
struct ab_plan {
	const char *command[2]; // command of each side for sh -c; NULL: the side has a SPEC only
	struct spec_set specs;  // processes that gpq does not start itself, by side
	const char *setting; // "NAME=VALUE" that is added to the environment of the commands, or ""
	int metric_unit;     // unit of AB_METRIC: 0 ns, 1 us, 2 ms, 3 s
	const char *pattern[AB_PATTERNS];
	struct regex *regex[AB_PATTERNS]; // `pattern`, compiled; NULL: not given
	const char *log_dir; // folder for AMD logs that gpq has both commands write, or NULL
	const char *online_log, *offline_log; // AMD logs that the commands write, or NULL
	int hold;                             // enum ab_hold
	uint64_t grace;    // grace period of suspending: units of 1000 GPU clocks, to KFD_GRACE_MAX
	uint64_t for_ns;   // how long online work without a command is watched
	uint64_t lead_ns;  // how long offline work runs before and after the online command
	uint64_t idle_ns;  // how long online queues are empty when a burst of online work is over
	uint64_t ready_ns; // longest wait for queues, and then for offline work to begin
	struct sched *decisions; // with classes online and offline: its log gets the work that is
				 // seen in the queues, and the holds; or NULL
	void (*tick)(void *arg, const struct ab_run *r); // called about every 50 ms during a run
	void *tick_arg;
};

// What happened in a run, in this order: latencies of online requests, and when each began; a line
// that --metric matches is taken for its end, unless it says when the request was due. Times from a
// request until all queues of all offline processes were off, or on, and when each was requested.
// In ns, moments by CLOCK_MONOTONIC.
struct ab_times {
	struct samples latency, starts, suspend, holds_at, resume, resumes_at;
	struct samples looks;           // requests seen in queues: how far off the latency may be
	struct samples lines, lines_at; // what --offline-metric found, in its unit, and when
};
void ab_times_fini(struct ab_times *t);

// One run in one mode. In mode alone, online and offline ran one after the other.
struct ab_run {
	enum ab_mode mode;
	uint64_t number;
	struct ab_times times;
	uint64_t online_ns;  // how long the online command ran, or was watched
	uint64_t window_ns;  // time in which offline work was counted, leads included
	uint64_t leads_ns;   // both leads; UINT64_MAX: all of the window but online_ns
	uint64_t packets;    // AQL packets of the offline queues in the window
	bool due;            // `starts` are when requests were due, not when they were sent
	size_t undue;        // lines of requests that do not say when they were due
	double offline_rate; // mean over time of what the offline command printed in the window, or
			     // NaN: each line holds since the line before
	uint64_t offline_logged; // packets in the window by the offline AMD log, or UINT64_MAX
	uint64_t held_ns;        // sum over holds: suspend's return to the request to resume
	uint64_t holds;          // times that offline was suspended
	size_t lost;             // processes that the commands started and that live on
	pid_t lost_pid;          // pid of the first lost process; `lost_name`: its name
	char lost_name[64];
	size_t unreached; // offline queues in secondary contexts, which no hold reaches
	struct queue_set queue_set[2]; // [1]: in mode alone only, while offline work ran
};
void ab_run_fini(struct ab_run *r);

// Makes a run. Afterwards nothing is held, and all that the run started has ended, but for r->lost.
// Returns 0, or an exit status with a sentence in `why`. Sets *stopped if a signal ended the run.
int ab_run_mode(const struct ab_plan *p, enum ab_mode mode, uint64_t number, struct ab_run *r,
		bool *stopped, char why[400]);

// The offline work of one or more runs in whole numbers, which add up the same in any order: AQL
// packets, by its AMD log if there is one, the time it was held, and time with and without leads.
#define AB_OFFLINE(X) X(runs) X(holds) X(packets) X(held_ns) X(window_ns) X(between_ns)
struct ab_offline {
#define FIELD(name) uint64_t name;
	AB_OFFLINE(FIELD)
#undef FIELD
};
struct ab_offline ab_offline_of(const struct ab_run *r);
void ab_offline_add(struct ab_offline *to, const struct ab_offline *o);
double ab_offline_rate(const struct ab_offline *o); // packets a second over all windows, or NaN

// What a run says of the offline work.
struct ab_part {
	double printed; // rate by what it printed, or NaN
	struct ab_offline offline;
	struct samples latency; // of its online requests, in any order
	struct ab_times times;
};

// Results of all runs, by mode.
struct ab_result {
	struct ab_mode_result {
		struct samples latency, suspend, resume;
		struct ab_part *run;       // owned
		uint64_t runs, holds, due; // `due`: runs that know when requests were due
		size_t cap;
		double online; // sum of ab_run.online_ns
	} mode[AB_MODES];
	struct queue_set *queue_set; // owned; queue sets of all runs
	size_t nqueue_sets, cap_queue_sets;
};

// Adds a run to the results, and moves its times and queue sets into `a`.
void ab_result_add(struct ab_result *a, struct ab_run *r);
void ab_result_fini(struct ab_result *a);
uint64_t ab_runs(const struct ab_result *a); // runs in all modes

// Is the offline rate what was printed? So it is if each run has that; else it is packets a second.
bool ab_is_printed(const struct ab_result *a);

// The offline rate of each run in a mode.
struct samples ab_rates(const struct ab_result *a, enum ab_mode mode);

// Shares of the time between the leads, so that they do not depend on --lead: what is lost
// in the whole window against mode alone is what the online work and the holds have cost.
struct ab_verdict {
	double loss;   // share of the offline rate of mode alone that is lost
	double held;   // share in which offline work was held
	double effect; // loss - held
};

// Judges without the runs number `without` of both modes, for stats_jackknife(); SIZE_MAX: all.
struct ab_verdict ab_judge(const struct ab_result *a, enum ab_mode mode, size_t without);

// Judges runs of which only the sum is known, by their rate and that of mode alone.
struct ab_verdict ab_judge_sum(const struct ab_offline *o, double rate, double alone);

// How many runs a mode and mode alone both have.
size_t ab_parts(const struct ab_result *a, enum ab_mode mode);

// A percentile of the online latency in a mode divided by that in another, and its bounds.
struct ab_ratio {
	double ratio;
	struct bounds b;
};
struct ab_ratio ab_compare(struct ab_result *a, enum ab_mode mode, enum ab_mode with, double p,
			   double level);

// Online requests a second in a mode, while it ran or, if it is known when they were due, from when
// the first was due until the last was served. NaN: unknown.
double ab_request_rate(const struct ab_result *a, enum ab_mode mode);

// Requests a second that the client would send if nothing was in its way: those that were due, if
// it says so, else those of mode alone, as a client that waits for each answer sends them.
double ab_offered_rate(const struct ab_result *a, enum ab_mode mode);

// The percentile of the online latency as it would be with the requests that a client which waits
// for each answer did not send at that rate meanwhile, and which would have waited from then on.
double ab_corrected(struct ab_result *a, enum ab_mode mode, double p);

// Preempting against sharing: gained if the median or the 99th percentile is shown to be shorter.
// Without a difference that is said in at most 1 of 100 measurements.
struct ab_gain {
	bool known, gained, longer; // longer: one of the two is shown to be longer
};
struct ab_gain ab_gain(struct ab_result *a);

// Appends a line for each request, hold, resume and line of --offline-metric of a run that has not
// ended, but for those that were written before: so many of each, zeroed when the run begins.
#define AB_MOMENT "ab_moment" // the record of these lines
enum { AB_MOMENTS = 4 };
void ab_write_moments(struct buf *out, const struct bench_context *c, const struct ab_run *r,
		      size_t written[AB_MOMENTS]);

// Writes and reads a run as a line of raw samples (raw.h). ab_read() returns false for other lines.
void ab_write(struct buf *out, const struct bench_context *c, const struct ab_run *r);
bool ab_read(const char *line, size_t len, struct bench_context *c, struct ab_run *r);
