// The experiment: online and offline work, each alone, both together, and with the offline work
// taken off the GPU while the online work needs it. One thread starts both commands, watches their
// queues, reads their output, and sends requests to the holders of the offline processes.
#ifndef GPQ_BENCH_AB_H
#define GPQ_BENCH_AB_H

#include "common/bench/context.h"
#include "common/bench/queue_set.h"
#include "common/bench/result.h"
#include "common/cli/grep.h"

#include <stdbool.h>
#include <stdint.h>

enum ab_mode { AB_ALONE, AB_SHARED, AB_PREEMPT, AB_MODES };
extern const char *const ab_mode_name[AB_MODES + 1]; // ended by NULL

// When offline work is held: while the online command runs, or while it has work.
enum ab_hold { AB_HOLD_COMMAND, AB_HOLD_PROGRESS };

// Regular expressions for the output of the commands: latencies, the offline rate, and what the
// offline command prints once it is at work.
enum ab_pattern { AB_METRIC, AB_OFFLINE_METRIC, AB_OFFLINE_READY, AB_PATTERNS };

// Options of gpq bench ab.
struct ab_plan {
	const char *command[2]; // of each side, for sh -c; NULL: it runs already
	struct spec_set specs;  // processes that run already, by side
	int metric_unit;        // index in ns, us, ms, s
	const char *pattern[AB_PATTERNS];
	struct regex *regex[AB_PATTERNS]; // these, compiled; NULL: not given
	const char *log_dir;              // AMD logs of both commands go there; NULL: they do not
	const char *online_log, *offline_log; // AMD logs that the commands write, or NULL
	int hold;                             // enum ab_hold
	uint64_t grace;
	uint64_t for_ns;   // how long online work without a command is watched
	uint64_t lead_ns;  // offline runs so long before and after the online command
	uint64_t idle_ns;  // a burst of online work ends when its queues were empty for so long
	uint64_t ready_ns; // how long the offline command may take until its queues move
	void (*tick)(void *arg); // called now and then during a run
	void *tick_arg;
};

// One run in one mode. In mode alone, online and offline ran one after the other.
struct ab_run {
	enum ab_mode mode;
	uint64_t number;
	struct samples latency;  // of online requests, ns
	uint64_t online_ns;      // start to end of the online command
	uint64_t window_ns;      // time in which offline work was counted
	uint64_t packets;        // AQL packets of the offline queues in the window
	double offline_metric;   // mean of what the offline command printed in the window, or NaN
	uint64_t offline_logged; // packets in the window by the offline AMD log, or UINT64_MAX
	uint64_t held_ns;        // of the window: from suspend's return to the request to resume
	uint64_t holds;          // times that offline was suspended
	size_t lost;             // processes of both commands that live on
	pid_t lost_pid;          // the first of them, and its name
	char lost_name[64];
	size_t unreached; // offline queues in secondary contexts, which no hold reaches
	// From each request until all queues of all offline processes were off, or on, ns.
	struct samples suspend, resume;
	struct queue_set queue_set[2]; // in mode alone: online, offline; else both in the first
};
void ab_run_fini(struct ab_run *r);

// Runs one. Afterwards nothing is held, and what it started has ended, but for r->lost. 0, or an
// exit status and a sentence in `why`. Sets *stopped if a signal ended it.
int ab_run_mode(const struct ab_plan *p, enum ab_mode mode, uint64_t number, struct ab_run *r,
		bool *stopped, char why[400]);

// Results of all runs of a mode.
struct ab_result {
	struct ab_mode_result {
		struct samples latency, suspend, resume;
		struct samples rate; // rate: of each run, packets (or metric) a second
		double held, window; // ns
		uint64_t runs, holds;
	} mode[AB_MODES];
	struct queue_set *queue_set; // owned: of all runs
	size_t nqueue_sets, cap_queue_sets;
};

// Moves the queue sets out of the run.
void ab_result_add(struct ab_result *a, struct ab_run *r);
void ab_result_fini(struct ab_result *a);

struct ab_verdict {
	double ratio;    // online median against alone
	double slowdown; // ratio - 1
	double loss;     // of the offline rate against alone
	double held;     // share of the window in which offline work was held
	double effect;   // loss - held
};
struct ab_verdict ab_judge(struct ab_result *a, enum ab_mode mode);

// Raw: a line a run.
void ab_write(struct buf *out, const struct bench_context *c, const struct ab_run *r);
bool ab_read(const char *line, size_t len, struct bench_context *c, struct ab_run *r);

#endif
