// Joining sysfs queues and MQDs; see join.h for the rules.
#include "common/rows/join.h"

#include "common/debugfs/mqd_value.h"

// What both sysfs and mqds tell about a queue. Unknown members match anything.
struct key {
	uint32_t gpu_id; // 0: unknown
	int kind;        // enum mqd_kind; -1: unknown
	uint64_t bytes;  // ring size in bytes; KFD_UNKNOWN: unknown
};

struct workload {
	struct item {
		struct key key;
		uint32_t at; // index in kfd_procs.queues or mqds.queues
	} * v;
	size_t n;
};

struct joiner {
	struct join *j;
	const struct kfd_procs *p;
	const struct mqds *m;
	const enum gfx_gen *gens; // GPU generation of each of m->queues
	const struct rls *rls;
	// The sysfs queues of a context or process, newest first if the order is known, and its
	// MQDs in the order of the dump.
	struct workload sys, mqd;
	uint32_t *blocks; // for each context the index of its block in m->procs (join_blocks())
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

static bool keys_fit(const struct key *a, const struct key *b)
{
	return (!a->gpu_id || !b->gpu_id || a->gpu_id == b->gpu_id) &&
	       (a->kind < 0 || b->kind < 0 || a->kind == b->kind) &&
	       (a->bytes == KFD_UNKNOWN || b->bytes == KFD_UNKNOWN || a->bytes == b->bytes);
}

static int kind_of_type(int type)
{
	if (type == KFD_QUEUE_COMPUTE)
		return MQD_COMPUTE;
	return type == KFD_QUEUE_SDMA || type == KFD_QUEUE_SDMA_XGMI ? MQD_SDMA : -1;
}

static bool joined_value(const struct joiner *jn, const struct mqd *q, enum mqd_value what,
			 uint64_t *v)
{
	return mqd_get(jn->m, q, jn->gens[q - jn->m->queues], 0, what, v);
}

// --- which context a "Process" block of mqds is about ---
//
// The driver prints a block for each context of a process, with the same PID. Contexts of one
// address space share a bucket of the driver's hash table, and new ones are added in front: the
// newest comes first, the primary context last (kernel: create_process(),
// kfd_debugfs_mqds_by_process() in kfd_process.c of Linux 7.3).
//
// sysfs shows the order of creation, and so do context ids until the driver reuses one. The driver
// adds contexts to sysfs outside of its lock, so two that are created at the same moment may be in
// reverse order there. Where the two orders differ, PASIDs must confirm one of them: the runlist
// has the PASID of a block's queues, debugfs that of a context (procs.h).
enum { NONE = UINT32_MAX, MAX_CONTEXTS = 1024 };

struct pairing {
	const struct joiner *jn;
	const struct kfd_proc *proc;
	uint32_t n;          // how many contexts the process has, and how many blocks
	uint32_t *contexts;  // numbers 0 (primary) to n-1 of the process's contexts, newest first
	uint32_t *printed;   // blocks of the process, in the order of the dump
	uint32_t *confirmed; // the context of each block by its PASID; NONE: unknown
	bool ordered;        // the order in which the contexts were created is known
};

static const struct kfd_context *context_at(const struct pairing *x, uint32_t i)
{
	return &x->jn->p->contexts[x->proc->context + i];
}

// Contexts of unknown creation time are compared by id: the higher id is likely the newer context.
static bool is_newer(const struct kfd_context *a, const struct kfd_context *b)
{
	return a->created != b->created ? a->created > b->created : a->id > b->id;
}

static void sort_contexts(struct pairing *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t at = i;
		for (; at && is_newer(context_at(x, i), context_at(x, x->contexts[at - 1])); at--)
			x->contexts[at] = x->contexts[at - 1];
		x->contexts[at] = i;
	}
}

// Is the order in which contexts were created known, and also the order of their ids? A single
// secondary context needs neither.
static bool is_ordered(const struct pairing *x)
{
	bool same = true;
	for (uint32_t i = 1; i < x->n; i++)
		if (context_at(x, i)->created == KFD_UNKNOWN)
			return x->n == 2;
	// contexts[] is newest first; the last is the primary context, whose id is the smallest.
	for (uint32_t i = 0; i + 1 < x->n; i++)
		same &= x->contexts[i] == x->n - 1 - i;
	return same;
}

// Returns the PASID of the runlist packet that maps this queue, or KFD_UNKNOWN if none does.
static uint64_t pasid_of_queue(const struct joiner *jn, const struct mqd *q)
{
	const struct rls_node *node = rls_find(jn->rls, q->gpu_id);
	uint64_t doorbell;
	if (!node || node->damaged || !joined_value(jn, q, MQD_V_DOORBELL, &doorbell))
		return KFD_UNKNOWN;
	for (uint32_t i = node->process; i < node->process + node->processes; i++) {
		const struct rls_process *p = &jn->rls->processes[i];
		for (uint32_t k = p->queue; k < p->queue + p->queues; k++)
			if (jn->rls->queues[k].doorbell == doorbell)
				return p->pasid;
	}
	return KFD_UNKNOWN;
}

static uint32_t context_of(const struct pairing *x, uint32_t gpu_id, uint64_t pasid)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct kfd_usage *u = kfd_procs_usage(x->jn->p, context_at(x, i), gpu_id);
		// A runlist packet has only the low 16 bits of the PASID.
		if (u && u->pasid != KFD_UNKNOWN && (u->pasid & 0xffff) == pasid)
			return i;
	}
	return NONE;
}

static uint32_t confirm_block(const struct pairing *x, const struct mqds_proc *block)
{
	for (uint32_t i = block->first; i < block->first + block->queues; i++) {
		const struct mqd *q = &x->jn->m->queues[i];
		uint64_t pasid = pasid_of_queue(x->jn, q);
		uint32_t context = pasid == KFD_UNKNOWN ? NONE : context_of(x, q->gpu_id, pasid);
		if (context != NONE)
			return context;
	}
	return NONE;
}

static bool contradicts_order(const struct pairing *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->confirmed[i] != NONE && x->confirmed[i] != x->contexts[i])
			return true;
	return false;
}

// Pairs blocks and contexts by PASID alone. A single block without a PASID gets the context that is
// left. Returns false if two blocks have the same context, or several have none.
static bool pair_confirmed(struct pairing *x)
{
	uint32_t left = NONE, sum = 0;
	x->confirmed[x->n - 1] = 0; // the last block is about the primary context
	for (uint32_t i = 0; i < x->n; i++) {
		for (uint32_t k = 0; k < i; k++)
			if (x->confirmed[i] != NONE && x->confirmed[k] == x->confirmed[i])
				return false;
		if (x->confirmed[i] != NONE)
			sum += x->confirmed[i];
		else if (left == NONE)
			left = i;
		else
			return false;
	}
	if (left != NONE)
		x->confirmed[left] = x->n * (x->n - 1) / 2 - sum;
	for (uint32_t i = 0; i < x->n; i++)
		x->contexts[i] = x->confirmed[i];
	return true;
}

static bool pair_contexts(struct pairing *x)
{
	const uint32_t last = x->n - 1;
	sort_contexts(x);
	x->ordered = is_ordered(x);
	for (uint32_t i = 0; i < x->n; i++)
		x->confirmed[i] = confirm_block(x, &x->jn->m->procs[x->printed[i]]);
	if (x->confirmed[last] != NONE && x->confirmed[last] != 0)
		return false;
	return x->ordered ? !contradicts_order(x) : pair_confirmed(x);
}

static bool find_printed(struct pairing *x)
{
	const struct mqds *m = x->jn->m;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->nprocs; i++)
		if (m->procs[i].pid == x->proc->pid && n++ < x->n)
			x->printed[n - 1] = i;
	return n == x->n;
}

// Finds the "Process" block of each context of `proc`: sets jn->blocks[i] to the index in
// mqds.procs of the block of contexts[proc->context + i]. Returns whether all blocks were found;
// the caller must still compare queues.
static bool join_blocks(const struct joiner *jn, const struct kfd_proc *proc)
{
	struct pairing x = {.jn = jn, .proc = proc, .n = proc->contexts};
	if (!x.n || x.n > MAX_CONTEXTS || proc->changed)
		return false;
	x.contexts = xcalloc(x.n, 3 * sizeof(*x.contexts));
	x.printed = x.contexts + x.n;
	x.confirmed = x.contexts + 2 * x.n;
	const bool found = find_printed(&x) && pair_contexts(&x);
	for (uint32_t i = 0; found && i < x.n; i++)
		jn->blocks[x.contexts[i]] = x.printed[i];
	free(x.contexts);
	return found;
}

// --- the queues of a process in sysfs and in mqds ---

// Orders queues newest first: by time of creation if known, else by id, which is right until the
// driver reuses an id. The primary context is older than all others.
static int newest_first(const void *a, const void *b, void *arg)
{
	const struct kfd_procs *p = arg;
	const struct kfd_queue *x = &p->queues[((const struct item *)a)->at];
	const struct kfd_queue *y = &p->queues[((const struct item *)b)->at];
	const struct kfd_context *c = &p->contexts[x->owner], *d = &p->contexts[y->owner];
	int r = ORDER(d->created, c->created);
	r = r ? r : ORDER(d->id, c->id);
	r = r ? r : ORDER(y->created, x->created);
	return r ? r : ORDER(y->qid, x->qid);
}

// Loads sysfs queues first to first+n-1. Returns whether their order of creation is known.
static bool load_sysfs(struct joiner *jn, uint32_t first, uint32_t n)
{
	const struct kfd_procs *p = jn->p;
	struct workload *s = &jn->sys;
	bool ordered = true;
	s->n = n;
	for (uint32_t i = 0; i < n; i++)
		s->v[i].at = first + i;
	qsort_r(s->v, s->n, sizeof(*s->v), newest_first, (void *)(uintptr_t)p);
	for (size_t i = 0; i < s->n; i++) {
		const struct kfd_queue *q = &p->queues[s->v[i].at];
		s->v[i].key = (struct key){q->gpu_id, kind_of_type(q->type), q->bytes};
		ordered &= q->created != KFD_UNKNOWN;
	}
	return ordered;
}

static struct key mqd_key(const struct joiner *jn, const struct mqd *q)
{
	struct key k = {q->gpu_id, q->kind == MQD_BAD_USER ? -1 : q->kind, KFD_UNKNOWN};
	uint64_t bytes;
	if (joined_value(jn, q, MQD_V_RING_BYTES, &bytes))
		k.bytes = bytes;
	return k;
}

static void add_block(struct joiner *jn, const struct mqds_proc *p)
{
	const struct mqds *m = jn->m;
	struct workload *s = &jn->mqd;
	for (uint32_t k = p->first; k < p->first + p->queues; k++) {
		if (!mqd_is_user(&m->queues[k]))
			continue;
		s->v[s->n].at = k;
		s->v[s->n++].key = mqd_key(jn, &m->queues[k]);
	}
}

// Adds the MQDs of all blocks of a process. Returns the number of blocks.
static unsigned load_mqds(struct joiner *jn, pid_t pid)
{
	const struct mqds *m = jn->m;
	unsigned blocks = 0;
	jn->mqd.n = 0;
	for (size_t i = 0; i < m->nprocs; i++)
		if (m->procs[i].pid == pid) {
			add_block(jn, &m->procs[i]);
			blocks++;
		}
	return blocks;
}

// --- the rules of join.h ---

static size_t count_fitting(const struct workload *s, const struct key *k)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += keys_fit(&s->v[i].key, k);
	return n;
}

static void add_candidate(struct join *j, uint32_t mqd)
{
	ARRAY_GROW(j->candidates, j->cap_candidates, j->ncandidates);
	j->candidates[j->ncandidates++] = mqd;
}

// Returns the likeliest MQD of sysfs queue i: the n-th MQD of its key, if i is the n-th queue of
// that key. `like`: the number of queues with that key. -1: there are more or fewer such MQDs.
static int32_t likeliest_mqd(const struct joiner *jn, size_t i, size_t like)
{
	const struct key *k = &jn->sys.v[i].key;
	size_t place = 0;
	if (count_fitting(&jn->mqd, k) != like)
		return -1;
	for (size_t n = 0; n < i; n++)
		place += keys_fit(&jn->sys.v[n].key, k);
	for (size_t n = 0; n < jn->mqd.n; n++)
		if (keys_fit(&jn->mqd.v[n].key, k) && !place--)
			return (int32_t)jn->mqd.v[n].at;
	return -1;
}

static void match_by_key(struct joiner *jn, size_t i)
{
	const struct key *k = &jn->sys.v[i].key;
	struct join_queue *out = &jn->j->queues[jn->sys.v[i].at];
	size_t like = count_fitting(&jn->sys, k), mqds = count_fitting(&jn->mqd, k);
	if (!mqds || mqds < like) {
		out->why = mqds ? JOIN_SHORT : JOIN_NO_MQD;
		return;
	}
	out->first = (uint32_t)jn->j->ncandidates;
	out->likely = likeliest_mqd(jn, i, like);
	for (size_t n = 0; n < jn->mqd.n; n++)
		if (keys_fit(&jn->mqd.v[n].key, k)) {
			// With an incomplete key, the only MQD may also fit another queue.
			out->why = mqds == 1 && count_fitting(&jn->sys, &jn->mqd.v[n].key) == 1
					   ? JOIN_ONLY
					   : JOIN_AMBIGUOUS;
			add_candidate(jn->j, jn->mqd.v[n].at);
			out->count++;
		}
	if (out->why != JOIN_ONLY && out->count == 1)
		out->count = 0; // an MQD that fits two queues proves nothing
}

static void match_by_order(struct joiner *jn, size_t i)
{
	const uint32_t mqd = jn->mqd.v[i].at;
	jn->j->queues[jn->sys.v[i].at] =
		(struct join_queue){(uint32_t)jn->j->ncandidates, 1, (int32_t)mqd, JOIN_ORDER};
	add_candidate(jn->j, mqd);
}

static void match_workload(struct joiner *jn, bool by_order)
{
	for (size_t i = 0; i < jn->sys.n; i++)
		if (by_order)
			match_by_order(jn, i);
		else
			match_by_key(jn, i);
}

// --- joining the queues of a process ---

// Do sysfs and mqds have the same queues? `by_order`: each queue must fit the MQD at its place in
// the order of creation; else both must have the same number of queues with each key.
static bool workloads_agree(const struct joiner *jn, bool by_order)
{
	bool agree = jn->sys.n == jn->mqd.n;
	for (size_t i = 0; agree && i < jn->sys.n; i++) {
		const struct key *k = &jn->sys.v[i].key;
		agree = by_order ? keys_fit(k, &jn->mqd.v[i].key)
				 : count_fitting(&jn->sys, k) == count_fitting(&jn->mqd, k);
	}
	return agree;
}

// Loads the queues of a context and the MQDs of its block. Returns whether the order in which the
// queues were created is known.
static bool load_context(struct joiner *jn, const struct kfd_proc *proc, uint32_t i)
{
	const struct kfd_context *c = &jn->p->contexts[proc->context + i];
	jn->mqd.n = 0;
	add_block(jn, &jn->m->procs[jn->blocks[i]]);
	return load_sysfs(jn, c->queue, c->queues);
}

static bool blocks_agree(struct joiner *jn, const struct kfd_proc *proc)
{
	bool agree = true;
	for (uint32_t i = 0; agree && i < proc->contexts; i++)
		agree = workloads_agree(jn, load_context(jn, proc, i));
	return agree;
}

static void join_process(struct joiner *jn, const struct kfd_proc *proc)
{
	// Where the block of each context is known, match each context with its own block.
	if (proc->contexts > 1 && join_blocks(jn, proc) && blocks_agree(jn, proc)) {
		for (uint32_t i = 0; i < proc->contexts; i++)
			match_workload(jn, load_context(jn, proc, i));
		return;
	}

	const bool ordered = load_sysfs(jn, proc->queue, proc->queues);
	const unsigned blocks = load_mqds(jn, proc->pid);
	if (blocks) // else the queues keep JOIN_NO_PROC
		match_workload(jn, ordered && blocks == 1 && proc->contexts == 1 &&
					   workloads_agree(jn, true));
}

void join_all(struct join *j, const struct kfd_procs *p, const struct mqds *m,
	      const enum gfx_gen *gens, const struct rls *rls)
{
	struct joiner jn = {.j = j,
			    .p = p,
			    .m = m,
			    .gens = gens,
			    .rls = rls,
			    .sys.v = xcalloc(p->nqueues + 1, sizeof(*jn.sys.v)),
			    .mqd.v = xcalloc(m->nqueues + 1, sizeof(*jn.mqd.v)),
			    .blocks = xcalloc(p->ncontexts + 1, sizeof(*jn.blocks))};
	*j = (struct join){.queues = xcalloc(p->nqueues + 1, sizeof(*j->queues))};
	for (size_t i = 0; i < p->nqueues; i++)
		j->queues[i] = (struct join_queue){.likely = -1, .why = JOIN_NO_PROC};
	for (size_t i = 0; i < p->nprocs; i++)
		if (p->procs[i].queues)
			join_process(&jn, &p->procs[i]);
	free(jn.sys.v);
	free(jn.mqd.v);
	free(jn.blocks);
}

void join_fini(struct join *j)
{
	free(j->queues);
	free(j->candidates);
	*j = (struct join){0};
}
