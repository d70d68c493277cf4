// What measuring needs of the driver and of the target's memory beside a session: read indices of
// many queues in one look, saved waves per XCC, and a suspend call that suspends nothing.
//
// Facts: kfd-facts.md 2.1 (snapshot entry, context header), 2.3 (SUSPEND), 8 (backlog). Nothing is
// allocated or opened after kfd_watch_init(), so that a look can stand right beside the ioctl that
// is measured.
#ifndef GPQ_HOLDER_MEASURE_H
#define GPQ_HOLDER_MEASURE_H

#include "common/holder/holder.h"
#include "common/holder/session.h"

#include <stdbool.h>
#include <stdint.h>

#define KFD_WATCH_MAX 256 // queues watched at once
#define KFD_XCC_MAX   16

struct kfd_watch {
	pid_t pid;
	int mem;      // /proc/PID/mem
	bool by_file; // the indices lie in device memory, which only /proc/PID/mem can read
	unsigned n;
	struct kfd_queue_entry queue[KFD_WATCH_MAX];
};

// Read and write index of each queue, as the target's memory has them.
struct kfd_indices {
	uint64_t read[KFD_WATCH_MAX];
	uint64_t write[KFD_WATCH_MAX];
};

// 0, or -1 with errno: no right to trace `pid`, or no such process.
int kfd_watch_init(struct kfd_watch *w, pid_t pid);
void kfd_watch_fini(struct kfd_watch *w);

// Watches these of the session's queues that `sel` names, at most KFD_WATCH_MAX; queues whose
// indices cannot be read are left out. Number of queues watched.
unsigned kfd_watch_choose(struct kfd_watch *w, const struct kfd_session *s,
			  const struct kfd_selection *sel);

// The same for queues that a holder told of.
unsigned kfd_watch_queues(struct kfd_watch *w, const struct kfd_answer *a);

// All read indices; with `write`, the write indices too. False when the memory cannot be read (any
// more).
bool kfd_watch_look(const struct kfd_watch *w, struct kfd_indices *i, bool write);

// Did any read index move between two looks?
bool kfd_watch_moved(const struct kfd_watch *w, const struct kfd_indices *a,
		     const struct kfd_indices *b);

// AQL packets taken between two looks, of all queues watched. (Other queues count in other units.)
uint64_t kfd_watch_packets(const struct kfd_watch *w, const struct kfd_indices *a,
			   const struct kfd_indices *b);

// AQL packets not taken yet; needs a look with the write indices. Queues of other types count as 1
// while they have something to do.
uint64_t kfd_watch_backlog(const struct kfd_watch *w, const struct kfd_indices *i);

// Adds the bytes of wave state saved for queue number `i` of the watch, XCC by XCC. True only for
// a queue that is suspended now. False when the context headers cannot be read.
bool kfd_watch_saved(const struct kfd_watch *w, unsigned i, unsigned xccs,
		     uint64_t bytes[KFD_XCC_MAX]);

// Asks the driver to suspend an empty list: the way there and back, without any queue. 0 or -errno.
int kfd_session_suspend_nothing(struct kfd_session *s);

#endif
