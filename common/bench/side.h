// Who belongs to a side of the experiment: what its command starts, and processes that selectors
// choose, which may have been there before.
#ifndef GPQ_BENCH_SIDE_H
#define GPQ_BENCH_SIDE_H

#include "common/holder/session.h"
#include "common/state/pick_queues.h"
#include "common/state/pick_spec.h"

#include <stdbool.h>
#include <stddef.h>

struct side {
	const char *command; // for sh -c; NULL: it runs already
	struct side_spec {
		struct pick_spec spec;
		struct pick_queues queues;
		struct kfd_topology gpus; // with those of the spec selected
	} * *specs;                       // owned, each; several add up
	size_t n;
};

// Adds a selector, the argument of `option`. GPQ_OK, or the exit status after a message.
int side_add(struct side *s, const char *option, const char *text);

// Adds processes by PID; each must live.
int side_add_pids(struct side *s, const char *option, const struct pids *pids);
void side_fini(struct side *s);

// The selectors, made ready to look at processes once or a few times. Free with side_end().
struct pick *side_begin(const struct side *s, struct process_cache *processes);
void side_end(const struct side *s, struct pick *picks);

// The selection among the queues of a process that one of the selectors chooses, the caller's to
// free. NULL: none does; or the process is one of gpq's holders.
struct kfd_selection *side_select(const struct side *s, const struct pick *picks, pid_t pid);

#endif
