// One cycle: suspend, wait until read indices stop, hold, resume, wait until one moves, pause.
//
//     at          t1            t2           t3                    end
//     |-suspend---|----held-----|--resume----|---gap---------------|
//                 |-still-|                  |-progress-|
//
// Times are CLOCK_MONOTONIC nanoseconds; CYCLE_NONE where something did not happen.
//
// Several processes are suspended and resumed at once. A cycle then fills a struct cycle for the
// group and one for each process. Times count from the request: those of a process until its answer
// came, those of the group until the first and the last answer. When queues stand still and make
// progress again is watched only if there is one process.
#ifndef GPQ_BENCH_CYCLE_H
#define GPQ_BENCH_CYCLE_H

#include "common/bench/attached.h"
#include "common/stats/samples.h"

#include <stdbool.h>
#include <stdint.h>

#define CYCLE_NONE UINT64_MAX

// How a cycle ended, from good to bad; the times of bad ones count, too. Name, word in raw samples,
// label, what it is
#define CYCLE_RESULTS(X)                                                                  \
	X(OK, ok, "cycles ok", "all was as it should")                                    \
	X(IDLE, idle, "idle", "the target had nothing to do, so its progress is unknown") \
	X(MOVED, moved, "moved", "a read index moved while the queues were held")         \
	X(PARTLY, partly, "partly", "not all queues were suspended")                      \
	X(FAILED, failed, "failed", "none was")                                           \
	X(STUCK, stuck, "stuck", "no progress after resume although there was work")      \
	X(STOPPED, stopped, "stopped", "ended in the middle: by a signal, or with the target")

enum cycle_result {
#define RESULT(name, word, label, help) CYCLE_##name,
	CYCLE_RESULTS(RESULT)
#undef RESULT
};
extern const char *const cycle_result_name[CYCLE_STOPPED + 2]; // ended by NULL

struct cycle_setting {
	uint64_t grace;   // 1000 GPU clocks
	uint64_t queues;  // how many of the chosen ones; CYCLE_NONE: all
	uint64_t hold_ns; // wanted
	uint64_t gap_ns;  // wanted
	uint64_t process; // of a group: the pid, or CYCLE_GROUP; CYCLE_NONE: a single process
};

#define CYCLE_GROUP 0 // all processes of a group

// What is measured, by the name in raw samples; CYCLE_NONE: unknown.
#define CYCLE_MEASURED(X)                                                                       \
	X(at_ns)             /* the request */                                                  \
	X(suspend_ns)        /* request to return */                                            \
	X(suspend_ioctl_ns)  /* the system call alone */                                        \
	X(still_ns)          /* return to the last movement seen; 0: none was seen */           \
	X(still_look_ns)     /* longest time between two looks meanwhile: its uncertainty */    \
	X(held_ns)           /* suspend's return to the request to resume */                    \
	X(resume_ns)         /* request to return */                                            \
	X(resume_ioctl_ns)   /* the system call alone */                                        \
	X(progress_ns)       /* return to the first movement seen */                            \
	X(progress_look_ns)  /* time between that look and the one before */                    \
	X(gap_ns)            /* resume's return to the end of the cycle */                      \
	X(read_sum)          /* sum of the AQL read indices at the request */                   \
	X(suspend_packets)   /* AQL packets taken from the request until it stood still */      \
	X(held_packets)      /* from then until the request to resume */                        \
	X(resume_packets)    /* from then until the first look after resume's return */         \
	X(gap_packets)       /* from then to the end */                                         \
	X(backlog_packets)   /* waiting at the request to resume */                             \
	X(untouched_ns)      /* length of the untouched window before the cycle */              \
	X(untouched_packets) /* taken in it */                                                  \
	X(suspend_first_ns)  /* of a group: request until the first process's queues are off */ \
	X(resume_first_ns)   /* likewise back */

struct cycle {
	uint64_t number; // from 0, in the order they ran
	uint64_t block;  // each setting once per block
	uint64_t repeat; // which of --runs; from 0
	bool warmup;     // not in statistics
	struct cycle_setting set;
	enum cycle_result result;
	uint64_t queues; // how many the request was to suspend
#define FIELD(name) uint64_t name;
	CYCLE_MEASURED(FIELD)
#undef FIELD
	unsigned xccs;                     // 0: saved waves unknown
	uint64_t saved_bytes[KFD_XCC_MAX]; // wave state saved, by XCC
};

// Sets what is measured to CYCLE_NONE; number, block, repeat, warmup and set stay.
void cycle_clear(struct cycle *c);

struct cycle_plan {
	uint64_t settle_ns;   // how long stillness is watched without a break
	uint64_t patience_ns; // how long to wait for progress before calling it stuck
	// Costs of the latest cycles to other queues, by which the gap is lengthened; NULL: the
	// user chose the gap.
	struct moving *costs;
};

// A period should be at least so many times the 90th percentile of what a hold costs other queues.
#define CYCLE_COSTS 10

// How many struct cycle a cycle of these processes fills: 1, or 1 + their number.
size_t cycle_lines(const struct attached *a);

// The struct cycle of process number `i`.
struct cycle *cycle_of(const struct attached *a, struct cycle *v, size_t i);

// Runs one cycle with v->set and fills v[0..cycle_lines()); block, repeat and warmup are those of
// v, numbers count on from v->number. `untouched`: before the cycle, measure a window of the same
// length in which nothing is done. False if the measurement has to end, for the reason in `a` or in
// a result; processes may still be held until attached_close().
bool cycle_run(struct attached *a, const struct cycle_plan *p, bool untouched, struct cycle *v);

#endif
