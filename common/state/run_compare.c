// Repeated runs side by side; see run_compare.h.
#include "common/state/run_compare.h"

#include "common/host/buf.h"

#include <stdlib.h>
#include <string.h>

// --- sets of queue ids ---

static bool set_has(const struct qset *s, unsigned id)
{
	return s->bits[id / 64] >> (id % 64) & 1;
}

unsigned qset_count(const struct qset *s)
{
	unsigned n = 0;
	for (unsigned i = 0; i < QRUNS_IDS / 64; i++)
		n += (unsigned)__builtin_popcountll(s->bits[i]);
	return n;
}

static struct qset set_and(const struct qset *a, const struct qset *b)
{
	struct qset both;
	for (unsigned i = 0; i < QRUNS_IDS / 64; i++)
		both.bits[i] = a->bits[i] & b->bits[i];
	return both;
}

static void set_add(struct qset *to, const struct qset *more)
{
	for (unsigned i = 0; i < QRUNS_IDS / 64; i++)
		to->bits[i] |= more->bits[i];
}

// What both have, as a share of what either has.
static double set_overlap(const struct qset *a, const struct qset *b)
{
	struct qset either = *a, both = set_and(a, b);
	set_add(&either, b);
	const unsigned n = qset_count(&either);
	return n ? (double)qset_count(&both) / n : 1;
}

int qset_text(const struct qset *s, struct buf *b)
{
	const char *comma = "";
	for (unsigned i = 0; i < QRUNS_IDS; i++) {
		unsigned last = i;
		if (!set_has(s, i))
			continue;
		while (last + 1 < QRUNS_IDS && set_has(s, last + 1))
			last++;
		int r = last > i ? buf_printf(b, "%s%u-%u", comma, i, last)
				 : buf_printf(b, "%s%u", comma, i);
		if (r)
			return -1;
		comma = ",";
		i = last;
	}
	return 0;
}

// --- processes ---

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static const char *program_of(const struct queue_row *r, enum run_compare_by by)
{
	if (by == QRUNS_CONTAINER && r->container)
		return r->container;
	return by == QRUNS_CMDLINE && r->cmdline ? r->cmdline : r->comm;
}

static void add_queue(struct run_compare_proc *p, const struct state_queue *q, bool levels)
{
	const struct queue_row *r = q->row;
	const bool compute = r->type && strcmp(r->type, "compute") == 0;
	const bool sdma = r->type && strncmp(r->type, "sdma", 4) == 0;
	p->compute += compute;
	p->sdma += sdma;
	p->other += !compute && !sdma;
	// Ids of a secondary context count from 0 again, and nobody can name them to suspend.
	if (r->qid < QRUNS_IDS && r->context == KFD_UNKNOWN)
		p->ids.bits[r->qid / 64] |= 1ull << (r->qid % 64);
	if (r->gpu != KFD_UNKNOWN)
		p->gpus |= 1ull << (r->gpu < 63 ? r->gpu : 63);
	const uint64_t prio = levels ? r->pipe_prio : r->prio;
	if (compute && prio < (levels ? 3 : 32))
		p->prios |= 1u << prio;
}

// "0=p0q2 1=p1q2": the slot of each compute queue. NULL when one is unknown.
static char *slots_text(const struct host_state *m, size_t first, size_t end)
{
	struct buf b = {0};
	for (size_t i = first; i < end; i++) {
		const struct state_queue *q = &m->queues[i];
		if (!q->row->type || strcmp(q->row->type, "compute") != 0 ||
		    q->row->context != KFD_UNKNOWN)
			continue;
		if (!q->slots[0] ||
		    buf_printf(&b, "%s%u=%s", b.len ? " " : "", (unsigned)q->row->qid, q->slots)) {
			buf_fini(&b);
			return NULL;
		}
	}
	return b.data;
}

static int add_procs(struct run_compare *r, const struct host_state *m, unsigned run,
		     enum run_compare_by by)
{
	for (size_t i = 0, end; i < m->n; i = end) {
		const struct queue_row *row = m->queues[i].row;
		if (ARRAY_GROW(r->procs, r->cap_procs, r->nprocs))
			return -1;
		struct run_compare_proc *p = &r->procs[r->nprocs++];
		*p = (struct run_compare_proc){.run = run,
					       .program = program_of(row, by),
					       .comm = row->comm,
					       .pid = row->pid,
					       .start_ticks = m->queues[i].start_ticks};
		for (end = i; end < m->n && m->queues[end].row->pid == row->pid; end++)
			add_queue(p, &m->queues[end], r->levels);
		p->slots = slots_text(m, i, end);
	}
	return 0;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_place(const void *a, const void *b)
{
	const struct run_compare_proc *x = a, *y = b;
	int r = ORDER(x->run, y->run);
	r = r ? r : compare_text(x->program, y->program);
	// The lowest GPU first.
	r = r ? r : ORDER(__builtin_ffsll((long long)x->gpus), __builtin_ffsll((long long)y->gpus));
	r = r ? r : ORDER(x->start_ticks, y->start_ticks);
	return r ? r : ORDER(x->pid, y->pid);
}

static void number_workers(struct run_compare *r)
{
	if (r->nprocs)
		qsort(r->procs, r->nprocs, sizeof(*r->procs), by_place);
	for (size_t i = 1; i < r->nprocs; i++) {
		const struct run_compare_proc *last = &r->procs[i - 1];
		struct run_compare_proc *p = &r->procs[i];
		if (p->run == last->run && compare_text(p->program, last->program) == 0)
			p->worker = last->worker + 1;
	}
}

// --- programs ---

static unsigned queues_of(const struct run_compare_proc *p)
{
	return p->compute + p->sdma + p->other;
}

static bool is_of(const struct run_compare_proc *p, const struct run_compare_program *g)
{
	return p->worker == g->worker && compare_text(p->program, g->program) == 0;
}

static struct run_compare_program *program_for(struct run_compare *r,
					       const struct run_compare_proc *p)
{
	for (size_t i = 0; i < r->nprograms; i++)
		if (is_of(p, &r->programs[i]))
			return &r->programs[i];
	if (ARRAY_GROW(r->programs, r->cap_programs, r->nprograms))
		return NULL;
	struct run_compare_program *g = &r->programs[r->nprograms++];
	*g = (struct run_compare_program){.program = p->program,
					  .comm = p->comm,
					  .worker = p->worker,
					  .queues_min = queues_of(p),
					  .queues_max = queues_of(p),
					  .always = p->ids,
					  .ever = p->ids,
					  .same_ids = -1,
					  .same_count = -1,
					  .same_slots = -1,
					  .same_prios = -1};
	return g;
}

// The first run that has this process's program.
static const struct run_compare_proc *first_of(const struct run_compare *r,
					       const struct run_compare_program *g)
{
	for (size_t i = 0; i < r->nprocs; i++)
		if (is_of(&r->procs[i], g))
			return &r->procs[i];
	return NULL;
}

static void compare_with(struct run_compare_proc *p, const struct run_compare_proc *first)
{
	p->overlap = set_overlap(&p->ids, &first->ids);
	p->same_ids = memcmp(&p->ids, &first->ids, sizeof(p->ids)) == 0;
	p->same_count =
		p->compute == first->compute && p->sdma == first->sdma && p->other == first->other;
	p->same_slots = -1;
	if (p->slots && first->slots)
		p->same_slots = strcmp(p->slots, first->slots) == 0;
	p->same_prios = -1;
	if (p->prios && first->prios)
		p->same_prios = p->prios == first->prios;
}

// Once different is different; unknown wins over same.
static int8_t both_same(int8_t a, int8_t b)
{
	if (a == 0 || b == 0)
		return 0;
	return a < 0 || b < 0 ? -1 : 1;
}

static void add_run(struct run_compare_program *g, const struct run_compare_proc *p)
{
	const unsigned n = queues_of(p);
	const bool second = g->seen++ == 1; // the first is the same as itself
	g->queues_min = n < g->queues_min ? n : g->queues_min;
	g->queues_max = n > g->queues_max ? n : g->queues_max;
	g->always = set_and(&g->always, &p->ids);
	set_add(&g->ever, &p->ids);
	g->prios |= p->prios;
	if (g->seen == 1)
		return;
	g->same_ids = both_same(second ? 1 : g->same_ids, p->same_ids);
	g->same_count = both_same(second ? 1 : g->same_count, p->same_count);
	g->same_slots = both_same(second ? 1 : g->same_slots, p->same_slots);
	g->same_prios = both_same(second ? 1 : g->same_prios, p->same_prios);
}

static void measure_consistency(const struct run_compare *r, struct run_compare_program *g)
{
	unsigned n = 0;
	for (size_t i = 0; i < r->nprocs; i++)
		for (size_t j = i + 1; is_of(&r->procs[i], g) && j < r->nprocs; j++)
			if (is_of(&r->procs[j], g)) {
				g->sum += set_overlap(&r->procs[i].ids, &r->procs[j].ids);
				n++;
			}
	g->consistency = n ? g->sum / n : __builtin_nan("");
}

static int collect_programs(struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++) {
		struct run_compare_program *g = program_for(r, &r->procs[i]);
		if (!g)
			return -1;
		compare_with(&r->procs[i], first_of(r, g));
		add_run(g, &r->procs[i]);
	}
	for (size_t i = 0; i < r->nprograms; i++)
		measure_consistency(r, &r->programs[i]);
	return 0;
}

// --- pairs ---

static struct run_compare_pair *pair_for(struct run_compare *r, const char *a, const char *b)
{
	for (size_t i = 0; i < r->npairs; i++)
		if (compare_text(r->pairs[i].a, a) == 0 && compare_text(r->pairs[i].b, b) == 0)
			return &r->pairs[i];
	if (ARRAY_GROW(r->pairs, r->cap_pairs, r->npairs))
		return NULL;
	struct run_compare_pair *p = &r->pairs[r->npairs++];
	*p = (struct run_compare_pair){.a = a, .b = b, .last_run = UINT32_MAX};
	return p;
}

static int add_pair(struct run_compare *r, const struct run_compare_proc *x,
		    const struct run_compare_proc *y)
{
	struct run_compare_pair *p = pair_for(r, x->program, y->program);
	if (!p)
		return -1;
	const struct qset both = set_and(&x->ids, &y->ids);
	set_add(&p->ids, &both);
	p->prios |= x->prios & y->prios;
	p->gpus |= x->gpus & y->gpus;
	p->runs += p->last_run != x->run;
	p->last_run = x->run;
	p->overlap += (set_overlap(&x->ids, &y->ids) - p->overlap) / ++p->processes;
	return 0;
}

static int collect_pairs(struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++)
		for (size_t j = i + 1; j < r->nprocs && r->procs[j].run == r->procs[i].run; j++)
			if (add_pair(r, &r->procs[i], &r->procs[j]))
				return -1;
	return 0;
}

// Where a driver wrote no priorities, levels can be compared alone, with runs of any driver.
static bool needs_levels(const struct host_state *moments, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < moments[i].n; k++) {
			const struct queue_row *r = moments[i].queues[k].row;
			if (r->prio == KFD_UNKNOWN && prio_level_name(r->pipe_prio))
				return true;
		}
	return false;
}

int run_compare_compare(struct run_compare *r, const struct host_state *moments, unsigned n,
			enum run_compare_by by)
{
	*r = (struct run_compare){.runs = n, .levels = needs_levels(moments, n)};
	for (unsigned i = 0; i < n; i++)
		if (add_procs(r, &moments[i], i, by))
			return -1;
	number_workers(r);
	if (collect_programs(r) || collect_pairs(r))
		return -1;
	run_compare_judge(r);
	return 0;
}

void run_compare_fini(struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++)
		free(r->procs[i].slots);
	free(r->procs);
	free(r->programs);
	free(r->pairs);
	*r = (struct run_compare){0};
}
