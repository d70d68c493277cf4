// Shared by the files of join.h.
#ifndef GPQ_STATE_JOIN_PRIV_H
#define GPQ_STATE_JOIN_PRIV_H

#include "common/state/join.h"

// What is joined.
struct join_sides {
	const struct kfd_procs *p;
	const struct mqds *m;
	const struct rls *rls; // NULL: unknown
	join_gen_fn gen;       // NULL: unknown
	const void *arg;
};

enum gfx_gen join_gen_of(const struct join_sides *s, const struct mqd *q);

// Finds the "Process" block of each context of `proc`: blocks[i], an index in mqds.procs, is that
// of contexts[proc->context + i]. True: proved for all of them; whether their queues agree is for
// the caller to see.
bool join_blocks(const struct join_sides *s, const struct kfd_proc *proc, uint32_t *blocks);

#endif
