// gpq suspend --verify: proves a suspension by the target's memory, independently of the driver.
//
// The read index of a suspended queue does not change [kfd.indices]. Three readings distinguish
// a queue that stopped a little late (draining) from one that still runs (moving).
#include "cmd/suspend/suspend.h"

#include <time.h>

#define BETWEEN_NS 10000000 // time from one reading to the next

static void look_at_proofs(const struct group *all, struct proof_seen *seen, int which)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct group_member *m = all->v[i];
		for (size_t k = 0; m->state != MEMBER_FAILED && k < m->link.answer.num; k++) {
			const struct kfd_outcome *q = &m->link.answer.queues[k];
			if (q->result != KFD_RESULT_UNKNOWN)
				kfd_quiesce_read(m->target.pid, &q->queue, q->xccs,
						 &seen->look[which]);
			seen++;
		}
	}
}

struct proof_seen *proofs_take(const struct group *all)
{
	const struct timespec between = {.tv_nsec = BETWEEN_NS};
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		n += all->v[i]->state == MEMBER_FAILED ? 0 : all->v[i]->link.answer.num;
	struct proof_seen *seen = xcalloc(n + 1, sizeof(*seen));
	for (int i = 0; i < LOOKS; i++) {
		if (i)
			nanosleep(&between, NULL);
		look_at_proofs(all, seen, i);
	}
	return seen;
}

static const char *verdict(const struct proof_seen *s)
{
	for (int i = 0; i < LOOKS; i++)
		if (!s->look[i].has_indices)
			return NULL;
	const bool early = s->look[0].read_index != s->look[1].read_index;
	const bool late = s->look[1].read_index != s->look[2].read_index;
	return late ? "moving" : early ? "draining" : "stopped";
}

int proofs_fill(const struct proof_seen *s, struct held_row *row, int status)
{
	const struct kfd_quiesce *last = &s->look[LOOKS - 1];
	row->proof = verdict(s);
	if (!row->proof)
		err_note("pid %llu: queue %llu: its indices cannot be read",
			 (unsigned long long)row->pid, (unsigned long long)row->qid);
	// A context header is valid only while its queue is suspended [kfd.save-header-written].
	if (last->has_saved && status == GPQ_OK)
		row->saved_bytes = last->saved_bytes;
	if (last->has_indices)
		row->backlog = last->write_index - last->read_index;
	return row->proof && row->proof[0] == 'm' && !status ? GPQ_FAILED : status;
}
