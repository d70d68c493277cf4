// How many processes and queues each GPU has, and slots for them: gpq queues --summary, and what
// gpq ps says first. All of it is in sysfs, which needs no root.
#include "cmd/command.h"
#include "cmd/listing.h"

struct gpu_total {
	uint64_t gpu_id, index, processes, compute, sdma, slots;
	int8_t over;
	int64_t last; // the process that was counted last
};

#define ROW gpu_total
static const struct out_col cols[] = {
	COL(index, "INDEX", "gpu_index", U64, D, "index of the GPU, as in gpq gpus; null: all"),
	COL(gpu_id, "GPU", "gpu_id", U64, D,
	    "GPU as KFD numbers it (its gpu_id); null: all of them together"),
	COL(processes, "PROCS", "processes", U64, D, "processes that have queues on it"),
	COL(compute, "COMPUTE", "compute", U64, D, "their compute queues"),
	COL(sdma, "SDMA", "sdma", U64, D, "their SDMA queues, of XGMI, too"),
	COL(slots, "SLOTS", "slots", U64, D, "slots for compute queues, of an XCC"),
	COL(over, "OVERSUB", "oversubscribed", BOOL, D,
	    "more compute queues than slots, or processes than VMIDs (8): they take turns"),
};
#undef ROW
const struct out_table totals_table = {"totals", "total", OUT_COLS(cols)};
static const struct out_table *const tables[] = {&totals_table, NULL};
const struct schema totals_schema = {"gpq.queues.summary", 1, tables, NULL};

struct totals {
	struct gpu_total *gpus; // of each GPU, behind them that of all
	size_t n;               // GPUs
	bool unknown;           // the type of a queue is not known
};

static void count_queue(struct gpu_total *t, const struct queue_row *r)
{
	const bool sdma = queue_row_is_sdma(r);
	t->processes += t->last != r->pid;
	t->last = r->pid;
	t->sdma += sdma;
	t->compute += !sdma;
}

// Counts the queues that are not hidden; rows of a process stand together.
static struct totals totals_make(const struct queue_rows *q)
{
	struct totals t = {.gpus = xcalloc(q->gpus.n + 1, sizeof(*t.gpus))};
	struct gpu_total *all;
	for (size_t i = 0; i < q->gpus.n; i++) {
		const struct kfd_gpu *g = &q->gpus.gpus[i];
		if (g->selected && g->index != KFD_UNKNOWN)
			t.gpus[t.n++] = (struct gpu_total){.gpu_id = g->gpu_id,
							   .index = g->index,
							   .slots = g->cp_queues,
							   .last = INT64_MIN};
	}
	all = &t.gpus[t.n];
	*all = (struct gpu_total){
		.gpu_id = U64_NULL, .index = U64_NULL, .over = -1, .last = INT64_MIN};
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_row *r = &q->rows[i];
		if (r->hidden || r->qid == KFD_UNKNOWN)
			continue;
		t.unknown |= !r->type;
		count_queue(all, r);
		for (size_t k = 0; k < t.n; k++)
			if (t.gpus[k].gpu_id == r->gpu_id)
				count_queue(&t.gpus[k], r);
	}
	for (size_t k = 0; k < t.n; k++) {
		struct gpu_total *g = &t.gpus[k];
		add_count(&all->slots, g->slots);
		g->over = g->compute > g->slots || g->processes > KFD_VMIDS;
		if (!g->over && g->slots == KFD_UNKNOWN)
			g->over = -1;
		all->over = g->over > all->over ? g->over : all->over;
	}
	return t;
}

int totals_print(struct listing *l, const struct picked *p)
{
	const struct totals t = totals_make(&p->rows);
	for (size_t i = 0; i < t.n; i++)
		out_row(l->out, &t.gpus[i]);
	if (t.n > 1)
		out_row(l->out, &t.gpus[t.n]);
	free(t.gpus);
	return queue_rows_explain(&p->rows) ? GPQ_PARTIAL : GPQ_OK;
}

static void put_over(struct buf *b, const struct gpu_total *g)
{
	const uint64_t kcq = kfd_num_kcq();
	buf_printf(b, "\nGPU %" PRIu64 ": ", g->index);
	if (g->compute <= g->slots)
		buf_printf(b, "%" PRIu64 " processes on %d VMIDs, so they take turns", g->processes,
			   KFD_VMIDS);
	else
		buf_printf(b,
			   "%" PRIu64 " compute queues on %" PRIu64 " slot%s, so they take turns",
			   g->compute, g->slots, text_s(g->slots));
	if (g->compute > g->slots && kcq != KFD_UNKNOWN && kcq > 1)
		buf_printf(b, "; the kernel keeps %" PRIu64 " more: boot with amdgpu.num_kcq=1",
			   kcq);
	else if (g->compute > g->slots)
		buf_puts(b, "; GPU_MAX_HW_QUEUES gives programs fewer");
}

void totals_say(const struct listing *l, const struct queue_rows *q, size_t processes)
{
	const struct totals t = totals_make(q);
	const struct gpu_total *all = &t.gpus[t.n];
	SCOPED(buf_fini) struct buf b = {0};
	uint64_t used = 0;
	buf_printf(&b, "%zu process%s, %" PRIu64 " compute and %" PRIu64 " SDMA queues", processes,
		   processes == 1 ? "" : "es", all->compute, all->sdma);
	for (size_t i = 0; i < t.n; i++)
		used += t.gpus[i].compute < t.gpus[i].slots ? t.gpus[i].compute : t.gpus[i].slots;
	if (t.n && all->slots != KFD_UNKNOWN)
		buf_printf(&b, "; compute slots: %" PRIu64 " of %" PRIu64 " taken", used,
			   all->slots);
	for (size_t i = 0; i < t.n; i++)
		if (t.gpus[i].over == 1)
			put_over(&b, &t.gpus[i]);
	if (l->whole && processes && !t.unknown)
		out_title(l->out, "%s", b.data);
	free(t.gpus);
}
