// The process that is measured: attached to once, kept alive between the measured moments.
//
// Everything runs in the calling thread, because the driver wants all calls from the one thread
// that traces the target (kfd-facts.md 2.2). While it waits, it hands the target's signals on and
// answers its runtime, so the target runs as without it.
#ifndef GPQ_BENCH_ATTACHED_H
#define GPQ_BENCH_ATTACHED_H

#include "common/holder/measure.h"
#include "common/holder/session.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum attached_end {
	ATTACHED_LIVES,
	ATTACHED_GONE,    // it ended, or called exec
	ATTACHED_LOST,    // the session is over: see `failure`
	ATTACHED_STOPPED, // a signal asked gpq to stop (Ctrl-C)
};

struct attached_target {
	struct kfd_target target;
	struct kfd_session session;
	struct kfd_watch watch;
	struct kfd_failure failure;
	struct kfd_outcome outcome[2 * KFD_MAX_QUEUES];
	enum attached_end end;
	int signals;    // borrowed: bench_signals_open()
	timer_t killer; // ends this process when it is stopped while it holds queues
};

// Blocks the signals that end gpq, and SIGCHLD, which reports a stopped traced process, and opens a
// descriptor to read them from. -1 with errno. Commands that are started must unblock them.
int bench_signals_open(void);

// Reads what has arrived: true when gpq is to end.
bool bench_signals_stop(int signals);

// Rests until `until`. False when gpq is to end.
bool bench_signals_wait(int signals, uint64_t until);

// Attaches to `pid`. NULL and *f on failure; the calling process should then end.
struct attached_target *attached_open(pid_t pid, int signals, struct kfd_failure *f);

// Resumes everything and lets go.
void attached_close(struct attached_target *s);

// The target's memory or session is not accessible: waits briefly for its death, which the kernel
// reports a little later, and sets s->end. Returns false.
bool attached_out_of_reach(struct attached_target *s);

// Serves the target until `until` (0: once, without waiting). False when the measurement has to
// end: the reason is in s->end.
bool attached_wait(struct attached_target *s, uint64_t until);

// Queues are about to be held, for at most `ns` if all goes well. If this process then does not go
// on (SIGSTOP, a debugger), a timer ends it, and so resumes them. 0: nothing is held any more.
void attached_holds(struct attached_target *s, uint64_t ns);

#endif
