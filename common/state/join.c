// Joining sysfs queues and MQDs; see join.h for the rules.
#include "common/state/join_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugfs/mqd_value.h"
#include "common/host/buf.h"

// What both sides know of a queue. 0 and KFD_UNKNOWN fit anything.
struct key {
	uint32_t gpu_id;
	int kind; // enum mqd_kind, -1 unknown
	uint64_t bytes;
};

struct workload {
	struct key *keys;
	uint32_t *index; // into the arrays of the whole host
	size_t n;
};

struct joiner {
	struct join *j;
	struct join_sides s;
	struct workload sys, mqd; // of the context or process at hand: sysfs queues newest first
				  // where known, MQDs as printed
	size_t cap_sys, cap_mqd;
	uint32_t *blocks; // of each context of a process
	size_t cap_blocks;
};

const char *join_why_text(enum join_why why)
{
	static const char *const text[JOIN_WHYS] = {
		[JOIN_ORDER] = "matched by order of creation",
		[JOIN_ONLY] = "the only queue of its GPU, type and size",
		[JOIN_AMBIGUOUS] = "several MQDs have its GPU, type and size",
		[JOIN_SHORT] = "the process has more queues than MQDs of its GPU, type and size",
		[JOIN_NO_MQD] = "no MQD of the process has its GPU, type and size",
		[JOIN_NO_PROC] = "the MQD dump does not have its process",
	};

	return (unsigned)why < JOIN_WHYS ? text[why] : "";
}

static bool fits(const struct key *a, const struct key *b)
{
	return (!a->gpu_id || !b->gpu_id || a->gpu_id == b->gpu_id) &&
	       (a->kind < 0 || b->kind < 0 || a->kind == b->kind) &&
	       (a->bytes == KFD_UNKNOWN || b->bytes == KFD_UNKNOWN || a->bytes == b->bytes);
}

static int kind_of_type(int type)
{
	switch (type) {
	case KFD_QUEUE_COMPUTE: return MQD_COMPUTE;
	case KFD_QUEUE_SDMA:
	case KFD_QUEUE_SDMA_XGMI: return MQD_SDMA;
	default: return -1;
	}
}

static int reserve(struct workload *s, size_t *cap, size_t n)
{
	if (n <= *cap)
		return 0;
	struct key *keys = reallocarray(s->keys, n, sizeof(*keys));

	if (!keys)
		return -1;
	s->keys = keys;
	uint32_t *index = reallocarray(s->index, n, sizeof(*index));

	if (!index)
		return -1;
	s->index = index;
	*cap = n;
	return 0;
}

// --- the two sides of a process ---

// Newest first: by creation where known, else by id, which is right until one was given out again.
// The primary context is the oldest one.
static int newest_first(const void *a, const void *b, void *arg)
{
	const struct kfd_procs *p = arg;
	const struct kfd_queue *x = &p->queues[*(const uint32_t *)a],
			       *y = &p->queues[*(const uint32_t *)b];
	const struct kfd_context *c = &p->contexts[x->owner], *d = &p->contexts[y->owner];

	if (c != d && c->created != d->created)
		return c->created < d->created ? 1 : -1;
	if (c != d)
		return (c->id < d->id) - (c->id > d->id);
	if (x->created != y->created)
		return x->created < y->created ? 1 : -1;
	return (x->qid < y->qid) - (x->qid > y->qid);
}

// True when creation order is known for all of them.
static bool load_sysfs(struct joiner *jn, uint32_t first, uint32_t n)
{
	const struct kfd_procs *p = jn->s.p;
	struct workload *s = &jn->sys;
	bool ordered = true;

	s->n = n;
	for (uint32_t i = 0; i < n; i++)
		s->index[i] = first + i;
	qsort_r(s->index, s->n, sizeof(*s->index), newest_first, (void *)(uintptr_t)p);
	for (size_t i = 0; i < s->n; i++) {
		const struct kfd_queue *q = &p->queues[s->index[i]];

		s->keys[i] = (struct key){q->gpu_id, kind_of_type(q->type), q->bytes};
		ordered &= q->created != KFD_UNKNOWN;
	}
	return ordered;
}

enum gfx_gen join_gen_of(const struct join_sides *s, const struct mqd *q)
{
	enum gfx_gen gen = s->gen ? s->gen(s->arg, q->gpu_id) : GFX_UNKNOWN;

	return gen == GFX_UNKNOWN ? mqd_guess_gen(s->m, q) : gen;
}

static struct key mqd_key(const struct joiner *jn, const struct mqd *q)
{
	struct key k = {q->gpu_id, q->kind == MQD_BAD_USER ? -1 : q->kind, KFD_UNKNOWN};
	uint64_t bytes;

	if (mqd_get(jn->s.m, q, join_gen_of(&jn->s, q), 0, MQD_V_RING_BYTES, &bytes))
		k.bytes = bytes;
	return k;
}

static size_t count_mqds(const struct mqds *m, pid_t pid, unsigned *procs)
{
	size_t n = 0;

	*procs = 0;
	for (size_t i = 0; i < m->nprocs; i++)
		if (m->procs[i].pid == pid) {
			n += m->procs[i].queues;
			++*procs;
		}
	return n;
}

static void add_block(struct joiner *jn, const struct mqds_proc *p)
{
	const struct mqds *m = jn->s.m;
	struct workload *s = &jn->mqd;

	for (uint32_t k = p->first; k < p->first + p->queues; k++) {
		if (!mqd_is_user(&m->queues[k]))
			continue;
		s->index[s->n] = k;
		s->keys[s->n++] = mqd_key(jn, &m->queues[k]);
	}
}

static void load_mqds(struct joiner *jn, pid_t pid)
{
	const struct mqds *m = jn->s.m;

	jn->mqd.n = 0;
	for (size_t i = 0; i < m->nprocs; i++)
		if (m->procs[i].pid == pid)
			add_block(jn, &m->procs[i]);
}

// --- the rules ---

static bool orders_agree(const struct joiner *jn)
{
	bool agree = jn->sys.n == jn->mqd.n;

	for (size_t i = 0; agree && i < jn->sys.n; i++)
		agree = fits(&jn->sys.keys[i], &jn->mqd.keys[i]);
	return agree;
}

static size_t count_fitting(const struct workload *s, const struct key *k)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += fits(&s->keys[i], k);
	return n;
}

static int add_candidate(struct join *j, uint32_t mqd)
{
	if (ARRAY_GROW(j->candidates, j->cap_candidates, j->ncandidates))
		return -1;
	j->candidates[j->ncandidates++] = mqd;
	return 0;
}

// The MQD at the place among its like that queue i has among its own.
static int32_t likely(const struct joiner *jn, size_t i, size_t like)
{
	const struct key *k = &jn->sys.keys[i];
	size_t place = 0;

	if (count_fitting(&jn->mqd, k) != like)
		return -1;
	for (size_t n = 0; n < i; n++)
		place += fits(&jn->sys.keys[n], k);
	for (size_t n = 0; n < jn->mqd.n; n++)
		if (fits(&jn->mqd.keys[n], k) && !place--)
			return (int32_t)jn->mqd.index[n];
	return -1;
}

static int match_by_key(struct joiner *jn, size_t i)
{
	const struct key *k = &jn->sys.keys[i];
	struct join_queue *out = &jn->j->queues[jn->sys.index[i]];
	size_t like = count_fitting(&jn->sys, k), mqds = count_fitting(&jn->mqd, k);

	if (!mqds || mqds < like) {
		out->why = mqds ? JOIN_SHORT : JOIN_NO_MQD;
		return 0;
	}
	out->first = (uint32_t)jn->j->ncandidates;
	out->likely = likely(jn, i, like);
	for (size_t n = 0; n < jn->mqd.n; n++)
		if (fits(&jn->mqd.keys[n], k)) {
			// Its one MQD may fit another queue too when a key is not wholly known.
			out->why = mqds == 1 && count_fitting(&jn->sys, &jn->mqd.keys[n]) == 1
					   ? JOIN_ONLY
					   : JOIN_AMBIGUOUS;
			if (add_candidate(jn->j, jn->mqd.index[n]))
				return -1;
			out->count++;
		}
	if (out->why != JOIN_ONLY && out->count == 1)
		out->count = 0; // one candidate for two queues proves nothing
	return 0;
}

static int match_by_order(struct joiner *jn)
{
	for (size_t i = 0; i < jn->sys.n; i++) {
		struct join_queue *out = &jn->j->queues[jn->sys.index[i]];

		*out = (struct join_queue){(uint32_t)jn->j->ncandidates, 1,
					   (int32_t)jn->mqd.index[i], JOIN_ORDER};
		if (add_candidate(jn->j, jn->mqd.index[i]))
			return -1;
	}
	return 0;
}

// --- processes ---

// Are there as many of each kind on both sides?
static bool keys_agree(const struct joiner *jn)
{
	bool agree = jn->sys.n == jn->mqd.n;

	for (size_t i = 0; agree && i < jn->sys.n; i++)
		agree = count_fitting(&jn->sys, &jn->sys.keys[i]) ==
			count_fitting(&jn->mqd, &jn->sys.keys[i]);
	return agree;
}

// Loads a context and its block. True: order of creation is known.
static bool load_context(struct joiner *jn, const struct kfd_proc *proc, uint32_t i)
{
	const struct kfd_context *c = &jn->s.p->contexts[proc->context + i];

	jn->mqd.n = 0;
	add_block(jn, &jn->s.m->procs[jn->blocks[i]]);
	return load_sysfs(jn, c->queue, c->queues);
}

static bool blocks_agree(struct joiner *jn, const struct kfd_proc *proc)
{
	bool agree = true;

	for (uint32_t i = 0; agree && i < proc->contexts; i++)
		agree = load_context(jn, proc, i) ? orders_agree(jn) : keys_agree(jn);
	return agree;
}

static int match_by_keys(struct joiner *jn)
{
	for (size_t i = 0; i < jn->sys.n; i++)
		if (match_by_key(jn, i))
			return -1;
	return 0;
}

// Each block of a process that has several is matched with its context alone.
static int join_contexts(struct joiner *jn, const struct kfd_proc *proc)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < proc->contexts; i++)
		err = load_context(jn, proc, i) ? match_by_order(jn) : match_by_keys(jn);
	return err;
}

static int grow_blocks(struct joiner *jn, size_t n)
{
	uint32_t *blocks = reallocarray(jn->blocks, n, sizeof(*blocks));

	if (!blocks)
		return -1;
	jn->blocks = blocks;
	jn->cap_blocks = n;
	return 0;
}

static int join_process(struct joiner *jn, const struct kfd_proc *proc)
{
	unsigned procs;
	size_t n = count_mqds(jn->s.m, proc->pid, &procs);

	if (!procs)
		return 0; // JOIN_NO_PROC stands
	if (reserve(&jn->sys, &jn->cap_sys, proc->queues) || reserve(&jn->mqd, &jn->cap_mqd, n) ||
	    (jn->cap_blocks < proc->contexts && grow_blocks(jn, proc->contexts)))
		return -1;
	if (proc->contexts > 1 && join_blocks(&jn->s, proc, jn->blocks) && blocks_agree(jn, proc))
		return join_contexts(jn, proc);

	bool ordered = load_sysfs(jn, proc->queue, proc->queues);

	load_mqds(jn, proc->pid);
	if (ordered && procs == 1 && proc->contexts == 1 && orders_agree(jn))
		return match_by_order(jn);
	return match_by_keys(jn);
}

int join_all(struct join *j, const struct kfd_procs *p, const struct mqds *m, const struct rls *rls,
	     join_gen_fn gen, const void *arg)
{
	struct joiner jn = {.j = j, .s = {p, m, rls, gen, arg}};
	int err = 0;

	*j = (struct join){.queues = calloc(p->nqueues + 1, sizeof(*j->queues))};
	if (!j->queues)
		return -1;
	for (size_t i = 0; i < p->nqueues; i++)
		j->queues[i] = (struct join_queue){.likely = -1, .why = JOIN_NO_PROC};
	for (size_t i = 0; !err && i < p->nprocs; i++)
		if (p->procs[i].queues)
			err = join_process(&jn, &p->procs[i]);
	free(jn.sys.keys);
	free(jn.sys.index);
	free(jn.mqd.keys);
	free(jn.mqd.index);
	free(jn.blocks);
	if (err)
		errno = ENOMEM;
	return err;
}

void join_fini(struct join *j)
{
	free(j->queues);
	free(j->candidates);
	*j = (struct join){0};
}
