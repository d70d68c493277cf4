// gpq suspend --verify: is the queue really off? Asked of the target's memory, not of the driver.
//
// A queue that is off does not take packets: its read index stands still (kfd-facts.md 8). Three
// looks tell a queue that stopped a little late (draining) from one that did not (moving).
#include "cmd/suspend/suspend.h"

#include <stdlib.h>
#include <time.h>

#define LOOKS      3
#define BETWEEN_NS 10000000 // of looks

struct proof_seen {
	struct kfd_quiesce look[LOOKS];
};

static void look(struct proofs *p, const struct targets *all, int which)
{
	size_t at = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct target *t = &all->v[i];

		if (t->failed)
			continue;
		for (size_t k = 0; k < t->link.answer.num; k++, at++) {
			const struct kfd_outcome *q = &t->link.answer.queues[k];

			if (q->result != KFD_RESULT_UNKNOWN)
				kfd_quiesce_read(t->pid, &q->queue, q->xccs, &p->v[at].look[which]);
		}
	}
}

int proofs_take(struct proofs *p, const struct targets *all)
{
	const struct timespec between = {.tv_nsec = BETWEEN_NS};

	for (size_t i = 0; i < all->n; i++)
		p->n += all->v[i].failed ? 0 : all->v[i].link.answer.num;
	p->v = calloc(p->n + 1, sizeof(p->v[0]));
	if (!p->v)
		return -1;
	for (int i = 0; i < LOOKS; i++) {
		if (i)
			nanosleep(&between, NULL);
		look(p, all, i);
	}
	return 0;
}

static const char *verdict(const struct proof_seen *s)
{
	bool early, late;

	for (int i = 0; i < LOOKS; i++)
		if (!s->look[i].has_indices)
			return NULL;
	early = s->look[0].read_index != s->look[1].read_index;
	late = s->look[1].read_index != s->look[2].read_index;
	return late ? "moving" : early ? "draining" : "stopped";
}

int proofs_fill(const struct proofs *p, size_t i, struct held_row *row, int status)
{
	const struct proof_seen *s = &p->v[i];
	const struct kfd_quiesce *last = &s->look[LOOKS - 1];

	row->proof = verdict(s);
	if (!row->proof)
		err_note("pid %llu: queue %llu: its indices cannot be read",
			 (unsigned long long)row->pid, (unsigned long long)row->qid);
	// The kernel keeps the headers up to date for suspended queues only.
	if (last->has_saved && status == GPQ_OK)
		row->saved_bytes = last->saved_bytes;
	if (last->has_indices)
		row->backlog = last->write_index - last->read_index;
	return row->proof && row->proof[0] == 'm' && !status ? GPQ_FAILED : status;
}

void proofs_fini(struct proofs *p)
{
	free(p->v);
}
