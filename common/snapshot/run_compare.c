// Repeated runs compared; see run_compare.h.
#include "common/snapshot/run_compare.h"

// --- sets of queue ids ---

static bool qset_has(const struct qset *s, unsigned id)
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

static struct qset qset_and(const struct qset *a, const struct qset *b)
{
	struct qset both;
	for (unsigned i = 0; i < QRUNS_IDS / 64; i++)
		both.bits[i] = a->bits[i] & b->bits[i];
	return both;
}

static void qset_add(struct qset *to, const struct qset *more)
{
	for (unsigned i = 0; i < QRUNS_IDS / 64; i++)
		to->bits[i] |= more->bits[i];
}

// Returns the ids that both sets have, as a share of those that either has; 1 if both are empty.
static double qset_overlap(const struct qset *a, const struct qset *b)
{
	struct qset either = *a, both = qset_and(a, b);
	qset_add(&either, b);
	const unsigned n = qset_count(&either);
	return n ? (double)qset_count(&both) / n : 1;
}

void qset_text(const struct qset *s, struct buf *b)
{
	const char *comma = "";
	for (unsigned i = 0; i < QRUNS_IDS; i++) {
		unsigned last = i;
		if (!qset_has(s, i))
			continue;
		while (last + 1 < QRUNS_IDS && qset_has(s, last + 1))
			last++;
		buf_printf(b, "%s%u", comma, i);
		if (last > i)
			buf_printf(b, "-%u", last);
		comma = ",";
		i = last;
	}
}

// --- processes of a run ---

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static const char *program_of(const struct queue_row *r, enum run_compare_by by)
{
	if (by == QRUNS_CONTAINER && r->process.container)
		return r->process.container;
	return by == QRUNS_CMDLINE && r->process.cmdline ? r->process.cmdline : r->process.comm;
}

static void add_queue_traits(struct run_compare_proc *p, const struct state_queue *q, bool levels)
{
	const struct queue_row *r = &q->row;
	const bool compute = r->type && strcmp(r->type, "compute") == 0;
	p->queues++;
	p->compute += compute;
	p->sdma += queue_row_is_sdma(r);
	// Only ids of the primary context: those of a secondary one start at 0 again, and its
	// queues cannot be suspended.
	if (r->qid < QRUNS_IDS && r->context == KFD_UNKNOWN)
		p->has.ids.bits[r->qid / 64] |= 1ull << (r->qid % 64);
	if (r->gpu.index != KFD_UNKNOWN)
		p->has.gpus |= 1ull << (r->gpu.index < 63 ? r->gpu.index : 63);
	const uint64_t prio = r->v[levels ? MQD_V_PIPE_PRIO : MQD_V_QUEUE_PRIO];
	if (compute && prio < (levels ? 3 : 32))
		p->has.prios |= 1u << prio;
}

// Writes "ID=SLOT" for each compute queue of the primary context; nothing if a slot is unknown.
static void list_slots(struct buf *b, const struct host_state *m, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct state_queue *q = &m->queues[i];
		if (!q->row.type || strcmp(q->row.type, "compute") != 0 ||
		    q->row.context != KFD_UNKNOWN)
			continue;
		if (!*q->slots) {
			buf_fini(b);
			return;
		}
		buf_printf(b, "%s%u=%s", b->len ? " " : "", (unsigned)q->row.qid, q->slots);
	}
}

static void add_procs(struct run_compare *r, const struct host_state *m, unsigned run,
		      enum run_compare_by by)
{
	for (size_t i = 0, end; i < m->n; i = end) {
		const struct queue_row *row = &m->queues[i].row;
		ARRAY_GROW(r->procs, r->cap_procs, r->nprocs);
		struct run_compare_proc *p = &r->procs[r->nprocs++];
		*p = (struct run_compare_proc){.run = run,
					       .run_name = m->name,
					       .program = program_of(row, by),
					       .comm = row->process.comm,
					       .pid = row->pid,
					       .start_ticks = m->queues[i].start_ticks};
		for (end = i; end < m->n && m->queues[end].row.pid == row->pid; end++)
			add_queue_traits(p, &m->queues[end], r->levels);
		list_slots(&p->slots, m, i, end);
	}
}

static int by_run_and_program(const void *a, const void *b)
{
	const struct run_compare_proc *x = a, *y = b;
	int r = ORDER(x->run, y->run);
	r = r ? r : compare_text(x->program, y->program);
	// By lowest GPU index; processes of unknown GPU first.
	r = r ? r
	      : ORDER(__builtin_ffsll((long long)x->has.gpus),
		      __builtin_ffsll((long long)y->has.gpus));
	r = r ? r : ORDER(x->start_ticks, y->start_ticks);
	return r ? r : ORDER(x->pid, y->pid);
}

static void number_workers(struct run_compare *r)
{
	ARRAY_SORT(r->procs, r->nprocs, by_run_and_program);
	for (size_t i = 1; i < r->nprocs; i++) {
		const struct run_compare_proc *last = &r->procs[i - 1];
		struct run_compare_proc *p = &r->procs[i];
		if (p->run == last->run && compare_text(p->program, last->program) == 0)
			p->worker = last->worker + 1;
	}
}

// --- programs over all runs ---

static void add_traits(struct run_compare_traits *to, const struct run_compare_traits *more)
{
	qset_add(&to->ids, &more->ids);
	to->gpus |= more->gpus;
	to->prios |= more->prios;
}

static bool is_of_program(const struct run_compare_proc *p, const struct run_compare_program *g)
{
	return p->worker == g->worker && compare_text(p->program, g->program) == 0;
}

static struct run_compare_program *program_for(struct run_compare *r,
					       const struct run_compare_proc *p)
{
	for (size_t i = 0; i < r->nprograms; i++)
		if (is_of_program(p, &r->programs[i]))
			return &r->programs[i];
	ARRAY_GROW(r->programs, r->cap_programs, r->nprograms);
	struct run_compare_program *g = &r->programs[r->nprograms++];
	*g = (struct run_compare_program){.program = p->program,
					  .comm = p->comm,
					  .worker = p->worker,
					  .first = p,
					  .queues_min = p->queues,
					  .queues_max = p->queues,
					  .always = p->has.ids,
					  .same = {-1, -1, -1, -1}};
	return g;
}

static void compare_with(struct run_compare_proc *p, const struct run_compare_proc *first)
{
	p->overlap = qset_overlap(&p->has.ids, &first->has.ids);
	p->same[SAME_IDS] = memcmp(&p->has.ids, &first->has.ids, sizeof(p->has.ids)) == 0;
	p->same[SAME_COUNT] = p->compute == first->compute && p->sdma == first->sdma &&
			      p->queues == first->queues;
	p->same[SAME_SLOTS] = !p->slots.data || !first->slots.data
				      ? -1
				      : strcmp(p->slots.data, first->slots.data) == 0;
	p->same[SAME_PRIOS] =
		!p->has.prios || !first->has.prios ? -1 : p->has.prios == first->has.prios;
}

// Combines two SAME_ results: different (0) wins over unknown (-1), and unknown over same (1).
static int8_t both_same(int8_t a, int8_t b)
{
	if (a == 0 || b == 0)
		return 0;
	return a < 0 || b < 0 ? -1 : 1;
}

static void add_program_run(struct run_compare_program *g, const struct run_compare_proc *p)
{
	g->seen++;
	g->queues_min = p->queues < g->queues_min ? p->queues : g->queues_min;
	g->queues_max = p->queues > g->queues_max ? p->queues : g->queues_max;
	g->always = qset_and(&g->always, &p->has.ids);
	add_traits(&g->ever, &p->has);
	// p->same compares with the first run, so it means something from the second one on.
	for (unsigned i = 0; i < SAMES && g->seen > 1; i++)
		g->same[i] = both_same(g->seen == 2 ? 1 : g->same[i], p->same[i]);
}

static void measure_consistency(const struct run_compare *r, struct run_compare_program *g)
{
	double sum = 0;
	unsigned n = 0;
	for (size_t i = 0; i < r->nprocs; i++)
		for (size_t j = i + 1; is_of_program(&r->procs[i], g) && j < r->nprocs; j++)
			if (is_of_program(&r->procs[j], g)) {
				sum += qset_overlap(&r->procs[i].has.ids, &r->procs[j].has.ids);
				n++;
			}
	g->consistency = n ? sum / n : __builtin_nan("");
}

static void collect_programs(struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++) {
		struct run_compare_program *g = program_for(r, &r->procs[i]);
		compare_with(&r->procs[i], g->first);
		add_program_run(g, &r->procs[i]);
	}
	for (size_t i = 0; i < r->nprograms; i++) {
		measure_consistency(r, &r->programs[i]);
		r->programs[i].missing = r->runs - r->programs[i].seen;
	}
}

// --- pairs of programs ---

static struct run_compare_pair *pair_for(struct run_compare *r, const char *a, const char *b)
{
	for (size_t i = 0; i < r->npairs; i++)
		if (compare_text(r->pairs[i].a, a) == 0 && compare_text(r->pairs[i].b, b) == 0)
			return &r->pairs[i];
	ARRAY_GROW(r->pairs, r->cap_pairs, r->npairs);
	struct run_compare_pair *p = &r->pairs[r->npairs++];
	*p = (struct run_compare_pair){.a = a, .b = b, .last_run = UINT32_MAX};
	return p;
}

static void add_pair(struct run_compare *r, const struct run_compare_proc *x,
		     const struct run_compare_proc *y)
{
	struct run_compare_pair *p = pair_for(r, x->program, y->program);
	const struct run_compare_traits both = {.ids = qset_and(&x->has.ids, &y->has.ids),
						.prios = x->has.prios & y->has.prios,
						.gpus = x->has.gpus & y->has.gpus};
	add_traits(&p->both, &both);
	p->runs += p->last_run != x->run;
	p->last_run = x->run;
	p->overlap += (qset_overlap(&x->has.ids, &y->has.ids) - p->overlap) / ++p->processes;
}

// --- properties as text ---

// Writes priorities, or names of levels, with `sep` between them.
static void prios_text(struct buf *b, const struct run_compare *r, uint32_t prios, const char *sep)
{
	const char *before = "";
	for (unsigned i = 0; i < 32; i++) {
		if (!(prios >> i & 1))
			continue;
		buf_puts(b, before);
		if (r->levels)
			buf_puts(b, prio_level_name(i));
		else
			buf_u64(b, i);
		before = sep;
	}
}

static void write_traits(struct run_compare_traits *t, const struct run_compare *r)
{
	qset_text(&t->ids, &t->ids_text);
	prios_text(&t->prios_text, r, t->prios, " ");
	for (unsigned i = 0; i < 64; i++)
		if (t->gpus >> i & 1)
			buf_printf(&t->gpus_text, "%s%u", t->gpus_text.len ? " " : "", i);
}

static void write_texts(struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++)
		write_traits(&r->procs[i].has, r);
	for (size_t i = 0; i < r->nprograms; i++) {
		write_traits(&r->programs[i].ever, r);
		qset_text(&r->programs[i].always, &r->programs[i].always_text);
	}
	for (size_t i = 0; i < r->npairs; i++)
		write_traits(&r->pairs[i].both, r);
}

// --- how to find a program's queues again in the next run ---
//
// Each strategy is judged by what would break it. Fixed ids break if a program's ids change between
// runs or two programs share some; so do priorities. The PID never breaks, but has to be looked up
// in each run.

enum { MENTIONED = 2 }; // at most so many examples of a kind are in the evidence

static void add_evidence(struct run_compare_strategy *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_evidence(struct run_compare_strategy *s, const char *fmt, ...)
{
	va_list ap;
	if (s->evidence.len)
		buf_puts(&s->evidence, "; ");
	va_start(ap, fmt);
	buf_vprintf(&s->evidence, fmt, ap);
	va_end(ap);
}

static const char *program_or_unknown(const char *program)
{
	return program ? program : "an unknown program";
}

static void add_program_evidence(struct run_compare_strategy *s,
				 const struct run_compare_program *g, const char *what)
{
	if (g->worker)
		add_evidence(s, "%.60s (process %" PRIu64 "): %s", program_or_unknown(g->program),
			     g->worker + 1, what);
	else
		add_evidence(s, "%.60s: %s", program_or_unknown(g->program), what);
}

static void add_pair_evidence(struct run_compare_strategy *s, const struct run_compare_pair *p,
			      const char *what)
{
	if (strcmp(program_or_unknown(p->a), program_or_unknown(p->b)) == 0)
		add_evidence(s, "two processes of %.60s share %.60s", program_or_unknown(p->a),
			     what);
	else
		add_evidence(s, "%.60s and %.60s share %.60s", program_or_unknown(p->a),
			     program_or_unknown(p->b), what);
}

bool run_compare_repeated(const struct run_compare *r)
{
	bool any = false;
	for (size_t i = 0; i < r->nprograms; i++)
		any |= r->programs[i].seen > 1;
	return any;
}

// Counts the programs whose ids or priorities (`what`) differ between their runs, as evidence.
static unsigned changing_programs(const struct run_compare *r, struct run_compare_strategy *s,
				  int what)
{
	char text[120] = "priorities differ between its runs";
	unsigned n = 0;
	for (size_t i = 0; i < r->nprograms; i++) {
		const struct run_compare_program *g = &r->programs[i];
		if (g->same[what] != 0 || ++n > MENTIONED)
			continue;
		if (what == SAME_IDS)
			snprintf(text, sizeof(text),
				 "ids differ between its %" PRIu64 " runs (%" PRIu64 " to %" PRIu64
				 " queues)",
				 g->seen, g->queues_min, g->queues_max);
		add_program_evidence(s, g, text);
	}
	return n;
}

// Counts the pairs of programs that share ids or priorities (`what`), as evidence.
static unsigned sharing_pairs(const struct run_compare *r, struct run_compare_strategy *s, int what)
{
	unsigned n = 0;
	for (size_t i = 0; i < r->npairs; i++) {
		const struct run_compare_traits *both = &r->pairs[i].both;
		struct buf text = {0};
		if (!(what == SAME_IDS ? both->ids_text.len : both->prios) || ++n > MENTIONED)
			continue;
		if (what == SAME_IDS) {
			buf_printf(&text, "ids %s", both->ids_text.data);
		} else {
			buf_puts(&text, r->levels ? "priority level " : "priority ");
			prios_text(&text, r, both->prios, ",");
		}
		add_pair_evidence(s, &r->pairs[i], text.data);
		buf_fini(&text);
	}
	return n;
}

static void judge_fixed(const struct run_compare *r, struct run_compare_strategy *s)
{
	const unsigned broken = changing_programs(r, s, SAME_IDS) + sharing_pairs(r, s, SAME_IDS);
	s->works = broken ? 0 : run_compare_repeated(r) ? 1 : -1;
	if (s->works > 0)
		add_evidence(s, "each program had the same ids in all its runs, and %s",
			     r->npairs ? "no two share any" : "no other ran beside it");
	else if (s->works < 0)
		add_evidence(s, "no program is in two runs");
}

static void judge_priority(const struct run_compare *r, struct run_compare_strategy *s)
{
	const unsigned broken =
		changing_programs(r, s, SAME_PRIOS) + sharing_pairs(r, s, SAME_PRIOS);
	bool known = true;
	s->works = broken ? 0 : -1;
	if (broken)
		return;
	for (size_t i = 0; i < r->nprocs; i++)
		known &= !r->procs[i].compute || r->procs[i].has.prios;
	if (!known) {
		add_evidence(s, "priorities are unknown: they need the dumps of debugfs");
	} else if (!r->npairs) {
		add_evidence(s, "no two programs ran side by side");
	} else if (!run_compare_repeated(r)) {
		add_evidence(s, "no program is in two runs");
	} else {
		s->works = 1;
		for (size_t i = 0; i < r->nprograms && i < 4; i++) {
			struct buf text = {0};
			prios_text(&text, r, r->programs[i].ever.prios, ",");
			add_program_evidence(s, &r->programs[i], text.data ? text.data : "none");
			buf_fini(&text);
		}
	}
}

static void judge_pid(const struct run_compare *r, struct run_compare_strategy *s)
{
	bool same = run_compare_repeated(r);
	for (size_t i = 0; i < r->nprograms; i++)
		same &= r->programs[i].same[SAME_IDS] != 0;
	s->works = r->nprocs ? 1 : -1;
	if (r->nprocs)
		add_evidence(
			s,
			"a queue belongs to one process; its PID is to be looked up in every run "
			"(gpq queues --comm, --container, --tree)%s",
			same ? "; ids are the same in every run, so PID and id name one queue"
			     : "");
	else
		add_evidence(s, "no process has a queue in any of the runs");
}

static void judge_strategies(struct run_compare *r)
{
	static const struct {
		const char *name;
		void (*judge)(const struct run_compare *, struct run_compare_strategy *);
	} all[QRUNS_STRATEGIES] = {
		[QRUNS_FIXED] = {"fixed-ids", judge_fixed},
		[QRUNS_PRIORITY] = {"priority", judge_priority},
		[QRUNS_PID] = {"pid", judge_pid},
	};
	bool chosen = false;
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		struct run_compare_strategy *s = &r->strategies[i];
		s->name = all[i].name;
		all[i].judge(r, s);
		s->chosen = s->works > 0 && !chosen;
		chosen |= s->chosen;
	}
}

// --- the whole comparison ---

static void traits_fini(struct run_compare_traits *t)
{
	buf_fini(&t->ids_text);
	buf_fini(&t->gpus_text);
	buf_fini(&t->prios_text);
}

// Did some driver write levels but no priorities? Then only levels can be compared in all runs.
static bool needs_levels(const struct host_state *moments, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < moments[i].n; k++) {
			const struct queue_row *r = &moments[i].queues[k].row;
			if (r->v[MQD_V_QUEUE_PRIO] == KFD_UNKNOWN &&
			    prio_level_name(r->v[MQD_V_PIPE_PRIO]))
				return true;
		}
	return false;
}

void run_compare_compare(struct run_compare *r, const struct host_state *moments, unsigned n,
			 enum run_compare_by by)
{
	*r = (struct run_compare){.runs = n, .levels = needs_levels(moments, n)};
	for (unsigned i = 0; i < n; i++)
		add_procs(r, &moments[i], i, by);
	number_workers(r);
	collect_programs(r);
	for (size_t i = 0; i < r->nprocs; i++)
		for (size_t j = i + 1; j < r->nprocs && r->procs[j].run == r->procs[i].run; j++)
			add_pair(r, &r->procs[i], &r->procs[j]);
	write_texts(r);
	judge_strategies(r);
}

void run_compare_fini(struct run_compare *r)
{
	for (size_t i = 0; i < r->nprocs; i++) {
		buf_fini(&r->procs[i].slots);
		traits_fini(&r->procs[i].has);
	}
	for (size_t i = 0; i < r->nprograms; i++) {
		buf_fini(&r->programs[i].always_text);
		traits_fini(&r->programs[i].ever);
	}
	for (size_t i = 0; i < r->npairs; i++)
		traits_fini(&r->pairs[i].both);
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++)
		buf_fini(&r->strategies[i].evidence);
	free(r->procs);
	free(r->programs);
	free(r->pairs);
	*r = (struct run_compare){0};
}
