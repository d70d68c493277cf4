// Tables of programs compared over repeated runs; run_tables.h.
#include "cmd/snapshot/run_tables.h"

#include <string.h>

#define D OUT_DEFAULT
#define M OUT_MACHINE

struct program_row {
	const char *program, *comm, *always, *ever, *prios;
	uint64_t worker, runs, missing, min, max;
	int8_t same_ids, same_count, same_slots, same_prios;
	double consistency;
};

#define COL(member, name, key, type, flags, help) \
	OUT_COL(program_row, member, name, key, type, flags, help)
static const struct out_col program_cols[] = {
	COL(program, "PROGRAM", "program", OUT_STR, D | OUT_TRUNC, "program"),
	COL(worker, "WORKER", "worker", OUT_U64, D, "which of its processes, by GPU, from 0"),
	COL(comm, "COMMAND", "command", OUT_STR, M, "name of the process"),
	COL(runs, "RUNS", "runs", OUT_U64, D, "runs that have it"),
	COL(missing, "MISSING", "missing", OUT_U64, M, "runs that have it not"),
	COL(min, "MIN", "queues_min", OUT_U64, D, "fewest queues"),
	COL(max, "MAX", "queues_max", OUT_U64, D, "most queues"),
	COL(always, "ALWAYS", "ids_always", OUT_STR, D, "ids in all of its runs"),
	COL(ever, "EVER", "ids_ever", OUT_STR, D, "ids in any of its runs"),
	COL(prios, "PRIOS", "priorities", OUT_LIST, D,
	    "priorities of its compute queues in any run; levels where these are unknown"),
	COL(same_ids, "IDS", "same_ids", OUT_BOOL, D | OUT_STATUS,
	    "the same ids in all of its runs"),
	COL(same_count, "COUNT", "same_count", OUT_BOOL, D | OUT_STATUS, "as many of each type"),
	COL(same_slots, "SLOT", "same_slots", OUT_BOOL, D | OUT_STATUS, "in the same slots"),
	COL(same_prios, "PRIO", "same_priorities", OUT_BOOL, D | OUT_STATUS, "the same priorities"),
	COL(consistency, "CONSISTENCY", "consistency", OUT_F64, D,
	    "of ids: mean over all pairs of its runs of what both have of what either has"),
};
#undef COL

struct pair_row {
	const char *a, *b, *ids, *prios, *gpus;
	uint64_t runs;
	double overlap;
};

#define COL(member, name, key, type, flags, help) \
	OUT_COL(pair_row, member, name, key, type, flags, help)
static const struct out_col pair_cols[] = {
	COL(a, "PROGRAM", "program", OUT_STR, D | OUT_TRUNC, "a program"),
	COL(b, "BESIDE", "beside", OUT_STR, D | OUT_TRUNC,
	    "one that ran at the same time; the same name: another process of it"),
	COL(runs, "RUNS", "runs", OUT_U64, D, "runs that have both"),
	COL(gpus, "GPUS", "gpus_shared", OUT_LIST, D, "GPUs that both have queues on"),
	COL(ids, "QIDS", "ids_shared", OUT_STR, D, "queue ids that both have in one run"),
	COL(prios, "PRIOS", "priorities_shared", OUT_LIST, D,
	    "priorities, or levels, that both have in one run"),
	COL(overlap, "OVERLAP", "id_overlap", OUT_F64, D,
	    "ids that both have as a share of those that either has"),
};
#undef COL

struct strategy_row {
	const char *strategy, *evidence;
	int8_t works, chosen;
};

#define COL(member, name, key, type, flags, help) \
	OUT_COL(strategy_row, member, name, key, type, flags, help)
static const struct out_col strategy_cols[] = {
	COL(strategy, "STRATEGY", "strategy", OUT_STR, D,
	    "how to find a program's queues again: fixed-ids, priority, pid"),
	COL(works, "WORKS", "works", OUT_BOOL, D | OUT_STATUS, "would it, by these runs"),
	COL(chosen, "USE", "use", OUT_BOOL, D, "the first that works"),
	COL(evidence, "EVIDENCE", "evidence", OUT_STR, D, "why"),
};
#undef COL

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
const struct out_table run_compare_programs_table = {"programs", "program", program_cols,
						     COUNT(program_cols)};
const struct out_table run_compare_overlaps_table = {"overlaps", "overlap", pair_cols,
						     COUNT(pair_cols)};
const struct out_table run_compare_strategies_table = {"strategies", "strategy", strategy_cols,
						       COUNT(strategy_cols)};
const char *const run_compare_strategy_name[QRUNS_STRATEGIES] = {"fixed-ids", "priority", "pid"};

static const char *text_of(struct buf *b)
{
	return b->len ? b->data : NULL;
}

const char *run_compare_ids_text(struct buf *b, const struct qset *s)
{
	b->len = 0;
	qset_text(s, b);
	return text_of(b);
}

const char *run_compare_bits_text(struct buf *b, uint64_t bits)
{
	b->len = 0;
	for (unsigned i = 0; i < 64; i++)
		if (bits >> i & 1)
			buf_printf(b, "%s%u", b->len ? " " : "", i);
	return text_of(b);
}

const char *run_compare_prios_text(struct buf *b, const struct run_compare *r, uint32_t prios)
{
	if (!r->levels)
		return run_compare_bits_text(b, prios);
	b->len = 0;
	for (unsigned i = 0; prio_level_name(i); i++)
		if (prios >> i & 1)
			buf_printf(b, "%s%s", b->len ? " " : "", prio_level_name(i));
	return text_of(b);
}

void run_compare_print_programs(struct out *o, const struct run_compare *r,
				struct run_compare_texts *t)
{
	for (size_t i = 0; i < r->nprograms; i++) {
		const struct run_compare_program *p = &r->programs[i];
		const struct program_row row = {
			.program = p->program,
			.comm = p->comm,
			.worker = p->worker,
			.runs = p->seen,
			.missing = r->runs - p->seen,
			.min = p->queues_min,
			.max = p->queues_max,
			.always = run_compare_ids_text(&t->ids, &p->always),
			.ever = run_compare_ids_text(&t->more, &p->ever),
			.prios = run_compare_prios_text(&t->prios, r, p->prios),
			.same_ids = p->same_ids,
			.same_count = p->same_count,
			.same_slots = p->same_slots,
			.same_prios = p->same_prios,
			.consistency = p->consistency,
		};
		out_row(o, &row);
	}
}

void run_compare_print_overlaps(struct out *o, const struct run_compare *r,
				struct run_compare_texts *t)
{
	for (size_t i = 0; i < r->npairs; i++) {
		const struct run_compare_pair *p = &r->pairs[i];
		const struct pair_row row = {
			.a = p->a,
			.b = p->b,
			.runs = p->runs,
			.gpus = run_compare_bits_text(&t->gpus, p->gpus),
			.ids = run_compare_ids_text(&t->ids, &p->ids),
			.prios = run_compare_prios_text(&t->prios, r, p->prios),
			.overlap = p->overlap,
		};
		out_row(o, &row);
	}
}

void run_compare_print_strategies(struct out *o, const struct run_compare *r)
{
	for (unsigned i = 0; i < QRUNS_STRATEGIES; i++) {
		const struct run_compare_strategy *s = &r->strategies[i];
		const struct strategy_row row = {run_compare_strategy_name[i], s->evidence,
						 s->works, s->chosen};
		out_row(o, &row);
	}
}

void run_compare_texts_fini(struct run_compare_texts *t)
{
	buf_fini(&t->ids);
	buf_fini(&t->more);
	buf_fini(&t->prios);
	buf_fini(&t->gpus);
}
