// One cycle: suspend, wait until read indices stop, hold, resume, wait until one moves, pause.
//
//     at          t1            t2           t3                    end
//     |-suspend---|----held-----|--resume----|---gap---------------|
//                 |-still-|                  |-progress-|
//
// Times are CLOCK_MONOTONIC nanoseconds; CYCLE_NONE where something did not happen.
//
// Of several processes, which are suspended and resumed at once, there is a struct cycle for the
// group and one for each process. Times are from the one request: of a process until its answer
// came; of the group until the last one came, and until the first one. Only of one alone it is
// watched when it stands still, makes progress, and what it saved.
#ifndef GPQ_BENCH_CYCLE_H
#define GPQ_BENCH_CYCLE_H

#include "common/bench/attached.h"
#include "common/stats/samples.h"

#include <stdbool.h>
#include <stdint.h>

#define CYCLE_NONE UINT64_MAX

// How a cycle ended, from good to bad. All but the first are anomalies; the times of such a cycle
// are kept, too. Name, word in raw samples, label, what it is
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
	uint64_t process; // of a group: its pid, or CYCLE_GROUP; CYCLE_NONE: one is measured alone
};

#define CYCLE_GROUP 0 // all processes of a group

// What is measured of a cycle, each by its name in raw samples; CYCLE_NONE where it is unknown.
#define CYCLE_MEASURED(X)                                                                       \
	X(at_ns)             /* the request */                                                  \
	X(suspend_ns)        /* request to return */                                            \
	X(suspend_ioctl_ns)  /* the system call alone */                                        \
	X(still_ns)          /* return to the last movement seen; 0: none was seen */           \
	X(still_look_ns)     /* longest time between two looks meanwhile: how sure that is */   \
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
	uint64_t repeat; // which run of several, with pauses between them; from 0
	bool warmup;     // ran first, in no statistic
	struct cycle_setting set;
	enum cycle_result result;
	uint64_t queues; // that the call was about
#define FIELD(name) uint64_t name;
	CYCLE_MEASURED(FIELD)
#undef FIELD
	unsigned xccs;                     // 0: saved waves unknown
	uint64_t saved_bytes[KFD_XCC_MAX]; // wave state saved, by XCC
};

// Everything measured becomes CYCLE_NONE; number, block, repeat, warmup and set stay.
void cycle_clear(struct cycle *c);

struct cycle_plan {
	uint64_t settle_ns;   // how long stillness is watched without a break
	uint64_t patience_ns; // how long to wait for progress before calling it stuck
	struct moving *costs; // to others, of the latest cycles; NULL: their period is the user's
};

// No period should be shorter than so many times what a hold costs others, at the 90th percentile.
#define CYCLE_COSTS 10

// How many struct cycle a cycle of these processes fills: one, or the group's and one for each.
size_t cycle_lines(const struct attached *a);

// That of process number `i`.
struct cycle *cycle_of(const struct attached *a, struct cycle *v, size_t i);

// Runs one cycle with v->set and fills the rest of v[0..cycle_lines()); number, block, repeat and
// warmup are v's, numbers counting on. `untouched`: measure a window of the same length first, in
// which nothing is done. False when the measurement has to end, for the reason in `a` or in a
// result; the targets that live then run once attached_close() was called.
bool cycle_run(struct attached *a, const struct cycle_plan *p, bool untouched, struct cycle *v);

#endif
