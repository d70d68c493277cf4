// The experiment: online work, offline work, each alone, both together, and the offline work taken
// off the GPU while the online work needs it.
//
// One thread runs it all: it starts both commands, watches queues, reads output, and has the
// offline processes' holders suspend and resume, all at the same time.
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

enum ab_hold { AB_HOLD_COMMAND, AB_HOLD_PROGRESS }; // while the command runs; while it has work

// What is looked for in the output of commands.
enum ab_pattern { AB_METRIC, AB_OFFLINE_METRIC, AB_OFFLINE_READY, AB_PATTERNS };

// Options of gpq bench ab.
struct ab_plan {
	const char *command[2];     // of each side, for sh -c; NULL: it runs already
	struct spec_set specs;      // who runs already, by side
	const char *metric;         // regular expression, or NULL
	int metric_unit;            // of its number: ns, us, ms, s
	const char *offline_metric; // likewise, of a rate: the greater the better
	const char *offline_ready;  // it is at work once it prints a line that matches; or NULL
	struct regex *regex[AB_PATTERNS]; // these three, compiled
	const char *log_dir; // the runtimes of both are to log there, and are read from
			     // there; or
	const char *online_log, *offline_log; // logs that the commands write; NULL
	int hold;                             // enum ab_hold
	uint64_t grace;
	uint64_t for_ns;         // how long online work without a command is watched
	uint64_t lead_ns;        // offline runs so long before and after the online command
	uint64_t idle_ns;        // online queues empty for so long: it is done for now
	uint64_t ready_ns;       // how long the offline command may take until its queues move
	void (*tick)(void *arg); // called now and then while a run goes on
	void *tick_arg;
};

// One run in one mode. In mode alone, online and offline ran one after the other.
struct ab_run {
	enum ab_mode mode;
	uint64_t number;
	struct samples latency;  // of online requests, ns
	uint64_t online_ns;      // start to end of the command
	uint64_t window_ns;      // in which offline's work was counted
	uint64_t packets;        // AQL packets it took in it
	double offline_metric;   // mean of what it printed in it; NaN without
	uint64_t offline_logged; // packets it took in it by its AMD log; UINT64_MAX without
	uint64_t held_ns;        // of the window: from suspend's return to the request to resume
	uint64_t holds;          // times it was suspended
	size_t lost;             // processes of both commands that live on
	pid_t lost_pid;          // the first of them, and its name
	char lost_name[64];
	size_t unreached; // its queues in secondary contexts, which ran on meanwhile
	// Each time: from the request until all queues of all its processes were off, or on, ns.
	struct samples suspend, resume;
	// Of both sides where they ran side by side; in mode alone, of the online work, then of the
	// offline work.
	struct queue_set queue_set[2];
};
void ab_run_fini(struct ab_run *r);

// Runs one. 0, or an exit status and a sentence; nothing is held then, and what was started has
// ended, but for r->lost. What gpq did not start is not ended. `stopped` is set when a signal ended
// it.
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

// Takes the run's queue sets away.
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
