// One cycle: suspend, wait until read indices stop, hold, resume, wait until one moves, pause.
//
//     at          t1            t2           t3                    end
//     |-suspend---|----held-----|--resume----|---gap---------------|
//                 |-standstill-|                  |-progress-|
//
// Times are CLOCK_MONOTONIC nanoseconds; CYCLE_NONE where something did not happen.
//
// Several processes are suspended and resumed at once. A cycle then fills a struct cycle for the
// group and one for each process. Times count from the request: those of a process until its answer
// came, those of the group until the first and the last answer. When queues stand still and make
// progress again is watched only if there is one process.
#pragma once

#include "common/bench/attached.h"
#include "common/stats/samples.h"

#define CYCLE_NONE UINT64_MAX

// How a cycle ended, from good to bad: name, word in raw samples, heading and key, label, meaning.
// Times of cycles that ended badly count in statistics, too.
#define CYCLE_RESULTS(X)                                                                 \
	X(OK, ok, "OK", "ok", "cycles ok", "all was as it should")                       \
	X(IDLE, idle, "IDLE_CYCLES", "idle_cycles", "idle",                              \
	  "the target had nothing to do, so its progress is unknown")                    \
	X(MOVED, moved, "MOVED", "moved", "moved",                                       \
	  "a read index moved while the queues were held")                               \
	X(PARTLY, partly, "PARTLY", "partly", "partly", "not all queues were suspended") \
	X(FAILED, failed, "FAILED", "failed", "failed", "none was")                      \
	X(STUCK, stuck, "STUCK_CYCLES", "stuck_cycles", "stuck",                         \
	  "no progress after resume although there was work")                            \
	X(STOPPED, stopped, "STOPPED", "stopped", "stopped",                             \
	  "ended in the middle: by a signal, or with the target")

enum cycle_result {
#define RESULT(name, word, heading, key, label, help) CYCLE_##name,
	CYCLE_RESULTS(RESULT)
#undef RESULT
};
extern const char *const cycle_result_name[CYCLE_STOPPED + 2]; // names of results, ended by NULL

struct cycle_setting {
	uint64_t grace;   // grace period of suspending, in units of 1000 GPU clocks
	uint64_t queues;  // how many of the chosen queues to suspend; CYCLE_NONE: all
	uint64_t level;   // only those of this level of priority: 0 low to 2 high; CYCLE_NONE: all
	uint64_t hold_ns; // wanted length of the hold
	uint64_t gap_ns;  // wanted pause between resume and the next cycle
	uint64_t process; // in a group: a pid, or CYCLE_GROUP; CYCLE_NONE: a single process
};

#define CYCLE_GROUP 0 // cycle_setting.process of all processes of a group together

// Measured members of struct cycle, named as in raw samples; CYCLE_NONE: unknown.
#define CYCLE_MEASURED(X)                                                                         \
	X(at_ns)            /* when suspend was requested, CLOCK_MONOTONIC */                     \
	X(suspend_ns)       /* request to suspend until the holder answers */                     \
	X(suspend_ioctl_ns) /* the system call of suspend alone */                                \
	X(still_ns)         /* suspend's return to the last move of a read index seen; 0: none */ \
	X(still_look_ns)    /* longest time between two looks for still_ns: its uncertainty */    \
	X(held_ns)          /* suspend's return to the request to resume */                       \
	X(resume_ns)        /* request to resume until the holder answers */                      \
	X(resume_ioctl_ns)  /* the system call of resume alone */                                 \
	X(progress_ns)      /* resume's return to the first move of an index */                   \
	X(progress_look_ns) /* time between the look that saw progress and the look before */     \
	X(gap_ns)           /* resume's return to the end of the cycle */                         \
	X(read_sum)         /* sum of the AQL read indices at the request to suspend */           \
	X(suspend_packets)  /* AQL packets taken from the request until queues stood still */     \
	X(held_packets)     /* AQL packets taken from stillness to the request to resume */       \
	X(resume_packets)   /* AQL packets taken from resume's request to a look after it */      \
	X(gap_packets)      /* AQL packets taken from a look after resume to the end */           \
	X(backlog_packets)  /* AQL packets waiting in the queues at the request to resume */      \
	X(baseline_ns)      /* length of the baseline window behind the cycle */                  \
	X(baseline_packets) /* AQL packets taken in the baseline window */                        \
	X(suspend_first_ns) /* group: request until the first process's queues are off */         \
	X(resume_first_ns)  /* group: request until the first process's queues are back */        \
	X(unmap_ns)         /* --breakdown: in suspend_queues, the runlist is unmapped */         \
	X(save_ns)          /* wait until the waves are saved */                                  \
	X(map_ns)           /* the other queues are mapped again */                               \
	X(rest_ns)          /* all else in suspend_queues. Of a group: sums over its processes */

struct cycle {
	uint64_t number; // from 0, counts cycles in the order in which they ran
	uint64_t block;  // number of the block; each setting runs once in a block
	uint64_t repeat; // which of the --runs, from 0
	bool warmup;     // true: left out of statistics
	struct cycle_setting set;
	enum cycle_result result;
	uint64_t queues; // how many queues the request was to suspend
#define FIELD(name) uint64_t name;
	CYCLE_MEASURED(FIELD)
#undef FIELD
	unsigned xccs;                     // entries in `saved_bytes`; 0: unknown
	uint64_t saved_bytes[KFD_XCC_MAX]; // size of the wave state saved, by XCC
};

// Sets what CYCLE_MEASURED lists to CYCLE_NONE; number, block, repeat, warmup and set stay.
void cycle_clear(struct cycle *c);

struct cycle_plan {
	uint64_t settle_ns;   // how long indices are polled to see that queues stand still
	uint64_t patience_ns; // longest wait for progress; then the cycle is CYCLE_STUCK
	// What the latest cycles cost other queues, ns, to choose the gap. NULL: the user chose it.
	struct moving *costs;
};

// A period should be at least so many times what a hold costs other queues (90th percentile).
#define CYCLE_COSTS 10

// How many struct cycle one cycle fills: 1 for a single process, else 1 + the number of processes.
size_t cycle_lines(const struct attached *a);

// The struct cycle of process number `i` among those that cycle_run() filled.
struct cycle *cycle_of(const struct attached *a, struct cycle *v, size_t i);

// Runs one cycle with v->set and fills v[0..cycle_lines()): block, repeat and warmup are copied
// from v[0], and numbers count on from v->number. `baseline`: behind the cycle, measure a window
// as long as it was, in which nothing is done. Returns false if the measurement has to end, for the
// reason in `a` or in a result; processes may still be held until attached_close().
bool cycle_run(struct attached *a, const struct cycle_plan *p, bool baseline, struct cycle *v);
