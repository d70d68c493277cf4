// The processes that are measured: attached to once, kept alive between the measured moments.
//
// One alone is traced by the calling thread, so that nothing is between it and the ioctl; the
// driver wants all calls from that thread (kfd-facts.md 2.2). While it waits, it hands the target's
// signals on and answers its runtime, so the target runs as without it. Several are held by their
// holders, all at the same time (sched/group.h), as gpq suspend and gpq sched do it.
#ifndef GPQ_BENCH_ATTACHED_H
#define GPQ_BENCH_ATTACHED_H

#include "common/holder/measure.h"
#include "common/sched/group.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define ATTACHED_MAX 128 // processes

enum attached_end {
	ATTACHED_LIVES,
	ATTACHED_GONE,   // it ended, or called exec
	ATTACHED_LOST,   // its session is over, or its memory cannot be read: see `failure`
	ATTACHED_SILENT, // its holder does not answer
};

enum attached_look {
	LOOK_BEFORE,
	LOOK_HELD,
	LOOK_AT_RESUME,
	LOOK_RESUMED,
	LOOK_NOW,
	LOOK_END,
	ATTACHED_LOOKS
};

struct attached_process {
	pid_t pid;
	int pidfd;               // borrowed
	struct kfd_watch *watch; // borrowed
	struct kfd_indices look[ATTACHED_LOOKS];
	uint64_t took_ns;                  // from the last request until it was done
	const struct kfd_outcome *outcome; // what that did to each queue; until the next call
	size_t outcomes;
	enum kfd_result refused; // the first that is no suspension, of the last hold; 0: none
	enum attached_end end;
	struct kfd_failure failure;
};

// What only a process that is measured alone has.
struct attached_alone {
	struct kfd_selection all, now; // that may be suspended; those in this cycle
	struct kfd_target target;
	struct kfd_session session;
	struct kfd_watch watch;
	struct kfd_outcome outcome[2 * KFD_MAX_QUEUES];
	timer_t killer; // ends this process when it is stopped while it holds queues
	bool open;
};

struct attached {
	struct attached_process *v; // owned
	size_t n;
	struct attached_alone *alone; // owned; NULL: several
	struct group group;           // of several, in the order of v
	uint64_t asked_ns;            // when the last request was made
	bool stopped;                 // a signal asked gpq to stop (Ctrl-C)
	int signals;                  // borrowed: bench_signals_open()
};

// Blocks the signals that end gpq, and SIGCHLD, which reports a stopped traced process, and opens a
// descriptor to read them from. -1 with errno. Commands that are started must unblock them.
int bench_signals_open(void);

// Reads what has arrived: true when gpq is to end.
bool bench_signals_stop(int signals);

// Rests until `until`. False when gpq is to end.
bool bench_signals_wait(int signals, uint64_t until);

// Attaches to `n` processes, 1 to ATTACHED_MAX, each with a selection of its queues (copied);
// `grace` of several, and the longest hold that will be asked for, from which the deadlines of the
// holders come. False: attached_failed() says why, and the calling process should then end.
bool attached_open(struct attached *a, const pid_t *pids, const struct kfd_selection *sel, size_t n,
		   unsigned grace, uint64_t longest_hold_ns, int signals);

// Resumes everything and lets go. Zeroed, or once used.
void attached_close(struct attached *a);

// The first process that is out of reach, or NULL.
const struct attached_process *attached_failed(const struct attached *a);

// Looks for queues that came or went and watches those chosen; of one alone only the first `queues`
// of these are (UINT64_MAX: all), and will be suspended. False when the measurement has to end.
bool attached_choose(struct attached *a, uint64_t queues);

// Serves until `until` (0: once, without waiting). False when the measurement has to end.
bool attached_wait(struct attached *a, uint64_t until);

// Reads all indices, with `write` those of writing, too. False when one process is out of reach.
bool attached_look(struct attached *a, enum attached_look which, bool write);

// Suspends (`hold`) or resumes, and waits until that is done everywhere. `grace` is of one alone.
// If this process does not go on then (SIGSTOP, a debugger), what it holds is resumed some time
// after hold_ns. False when one process is out of reach.
bool attached_ask(struct attached *a, bool hold, unsigned grace, uint64_t hold_ns);

// After a cycle that was not completed: what holders hold is resumed, no timer runs any more.
void attached_reset(struct attached *a);

#endif
