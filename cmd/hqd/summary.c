// gpq hqd --summary: slot occupancy, processes that share a GPU, queues without a slot.
#include "cmd/hqd/hqd.h"

#define ROW hqd_occupancy
static const struct out_col occupancy_cols[] = {
	COL(q.gpu_id, "GPU", "gpu_id", U64, D,
	    "GPU as KFD numbers it (its gpu_id); null: all of them together"),
	COL(q.type, "TYPE", "type", STR, D, "compute, sdma or sdma-xgmi"),
	COL(xcc, "XCC", "xcc", U64, D, "XCC of the GPU, with --by xcc; null: all of them"),
	COL(slots, "SLOTS", "slots", U64, D, "slots that the driver owns"),
	COL(used, "USED", "used", U64, D, "slots that have a queue"),
	COL(free, "FREE", "free", U64, D, "slots that have none"),
	COL(rate, "USED_SHARE", "used_share", F64, D, "share of the slots in use, 0 to 1"),
	COL(queues, "QUEUES", "queues", U64, D, "mapped queues on the GPU, which want a slot"),
	COL(over, "OVERSUB", "oversubscribed", BOOL, D,
	    "over-subscribed: more is mapped than can run at a time"),
	COL(why, "BY", "oversubscribed_by", STR, D,
	    "by what: compute queues (than slots), processes (than VMIDs), gws"),
	COL(q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
};
#undef ROW

#define ROW hqd_sharer
static const struct out_col sharer_cols[] = {
	COL(q.gpu_id, "GPU", "gpu_id", U64, D, "GPU as KFD numbers it (its gpu_id)"),
	COL(q.pid, "PID", "pid", I64, D, "process"),
	COL(q.process.comm, "COMMAND", "command", STR, D, "its command name"),
	WHOSE_COLS(q.process, M),
	COL(queues, "MAPPED", "mapped", U64, D, "compute queues it has mapped"),
	COL(slots, "IN_SLOT", "in_slot", U64, D, "of them in a slot now"),
	COL(q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
};
#undef ROW

#define ROW hqd_waiting
static const struct out_col waiting_cols[] = {
	COL(q.gpu_id, "GPU", "gpu_id", U64, D, "GPU as KFD numbers it (its gpu_id)"),
	OWNER_COLS(q),
	COL(q.type, "TYPE", "type", STR, D, "compute, sdma or sdma-xgmi"),
	COL(q.v[MQD_V_RING], "RING_ADDR", "ring_addr", HEX, D | W,
	    "address of the ring in the process"),
	PRIO_COLS(q),
	COL(q.v[MQD_D_BACKLOG], "BACKLOG", "backlog", U64, D,
	    "what waited when it was taken off: AQL packets, PM4 dwords, SDMA bytes"),
	COL(missing, "OFF_XCCS", "off_xccs", U64, D | W, "XCCs on which it has no slot"),
	COL(why, "WHY", "why", STR, D | S,
	    "suspended (by gpq), off, takes-turns, moving, no-slots, unknown"),
	COL(reason, "REASON", "reason", STR, D | W | T, "what that means"),
	COL(inversion.text, "INVERSION", "inversion", STR, M | OUT_RARE | T | A,
	    "a queue of lower priority is in a slot meanwhile: which one"),
	COL(q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
	COL(xccs, "XCCS", "xccs", U64, M, "XCCs it belongs on"),
	COL(q.v[MQD_D_SAVED_BYTES], "SAVED", "saved_bytes", SIZE, M,
	    "wave state parked in memory, all XCCs"),
	COL(q.v[MQD_V_BASE], "MQD_ADDR", "mqd_addr", HEX, M, "GPU address of the MQD"),
	COL(q.now.holder, "HOLDER", "holder", I64, M,
	    "pid of the gpq holder that has it suspended"),
};
#undef ROW

enum { OCCUPANCY, SHARERS, WAITING };
const struct out_table hqd_summary_tables[HQD_SUMMARY_TABLES] = {
	{"occupancy", "occupancy", OUT_COLS(occupancy_cols)},
	{"sharers", "sharer", OUT_COLS(sharer_cols)},
	{"waiting", "waiting", OUT_COLS(waiting_cols)},
};

static const char *const titles[HQD_SUMMARY_TABLES] = {
	"Slots", "Processes that share over-subscribed GPUs", "Queues without a slot"};

// Is this record of one of the three tables chosen? Each begins with a struct queue_row.
static bool record_is_chosen(const struct hqd_view *v, int table, const void *record)
{
	const struct queue_row *q = record;
	if (!hqd_gpu_chosen(v, q->gpu_id) ||
	    (table != SHARERS && v->opts->sdma && !queue_row_is_sdma(q)))
		return false;
	if (table == WAITING)
		return hqd_queue_chosen(v, q);
	return table == OCCUPANCY ? hqd_xcc_chosen(v, ((const struct hqd_occupancy *)record)->xcc)
				  : hqd_pid_chosen(v, q->pid);
}

// Adds the slots of an XCC or of a GPU. `gpus`: the queues, too, which are those of a GPU.
static void add_occupancy(struct hqd_occupancy *to, const struct hqd_occupancy *o, bool gpus)
{
	to->slots += o->slots;
	add_count(&to->used, o->used);
	add_count(&to->free, o->free);
	if (gpus)
		add_count(&to->queues, o->queues);
	to->rate = to->used == UINT64_MAX ? o->rate : (double)to->used / (double)to->slots;
	if (o->over == 1 || (o->over < 0 && to->over == 0))
		to->over = o->over;
	to->why = to->why ? to->why : o->why;
}

// Adds a record to those from `first` to `*n`: to that of its GPU and type, or as a new one.
static void merge_record(struct hqd_occupancy *all, size_t first, size_t *n,
			 const struct hqd_occupancy *o, bool gpus)
{
	for (size_t i = first; i < *n; i++)
		if (all[i].q.gpu_id == o->q.gpu_id && strcmp(all[i].q.type, o->q.type) == 0) {
			add_occupancy(&all[i], o, gpus);
			return;
		}
	all[*n] = *o;
	all[(*n)++].xcc = UINT64_MAX;
}

// Makes a record for each GPU and type of those for each XCC, and of several GPUs a total by type.
static void merge_xccs(const struct hqd_view *v, struct slot_summary *s)
{
	struct hqd_occupancy *all = xcalloc(2 * s->nxccs + 1, sizeof(*all));
	size_t n = 0, gpus = 0;
	for (size_t i = 0; i < s->nxccs; i++)
		if (record_is_chosen(v, OCCUPANCY, &s->xccs[i]))
			merge_record(all, 0, &n, &s->xccs[i], false);
	gpus = n;
	for (size_t i = 0; i < gpus && all[0].q.gpu_id != all[gpus - 1].q.gpu_id; i++) {
		struct hqd_occupancy of_all = all[i];
		queue_row_clear(&of_all.q);
		of_all.q.type = all[i].q.type;
		merge_record(all, gpus, &n, &of_all, true);
	}
	free(s->xccs);
	s->xccs = all;
	s->nxccs = n;
}

static struct slot_summary *summarize(struct hqd_view *v)
{
	if (!v->summary.on)
		slot_summary_make(&v->summary, &v->list);
	return &v->summary;
}

// Returns the first chosen queue that waits while one of lower priority is in a slot, or NULL.
static const struct hqd_waiting *first_inversion(struct hqd_view *v)
{
	const struct slot_summary *s = summarize(v);
	for (size_t i = 0; i < s->nwaiting; i++)
		if (*s->waiting[i].inversion.text && record_is_chosen(v, WAITING, &s->waiting[i]))
			return &s->waiting[i];
	return NULL;
}

void hqd_tell_inversion(struct hqd_view *v)
{
	const struct hqd_waiting *w = first_inversion(v);
	if (w)
		err_hint("INVERSION of gpq hqd --summary has all; --sample 100 tells whether it "
			 "lasts",
			 "inversion: %s", w->inversion.text);
}

// "Processes that share over-subscribed GPUs: 10, of which 8 are in slots now"
static void title_sharers(struct out *o, const struct slot_summary *s)
{
	size_t in = 0;
	for (size_t i = 0; i < s->nsharers; i++)
		in += s->sharers[i].slots > 0;
	out_title(o, "%s: %zu, of which %zu %s in slots now", titles[SHARERS], s->nsharers, in,
		  in == 1 ? "is" : "are");
}

int hqd_print_summary(struct hqd_view *v, struct out *o)
{
	struct slot_summary *s = summarize(v);
	int status = GPQ_OK;
	const bool merge = !v->opts->by && !v->opts->xccs.n;
	if (merge)
		merge_xccs(v, s);
	const struct {
		const void *rows;
		size_t n, size;
	} all[HQD_SUMMARY_TABLES] = {[OCCUPANCY] = {s->xccs, s->nxccs, sizeof(*s->xccs)},
				     [SHARERS] = {s->sharers, s->nsharers, sizeof(*s->sharers)},
				     [WAITING] = {s->waiting, s->nwaiting, sizeof(*s->waiting)}};
	for (int i = 0; i < HQD_SUMMARY_TABLES && !status; i++) {
		// Tables for people are left out when empty; documents for programs have all.
		if (!all[i].n && out_mode(o) == OUT_TABLE) {
			out_skip(o, &hqd_summary_tables[i]);
			continue;
		}
		if (i == SHARERS)
			title_sharers(o, s);
		else
			out_title(o, "%s", titles[i]);
		status = hqd_begin(v, o, &hqd_summary_tables[i]);
		if (merge && i == OCCUPANCY)
			out_leave_out(o, "XCC");
		if (i == WAITING && !first_inversion(v))
			out_leave_out(o, "INVERSION");
		for (size_t k = 0; !status && k < all[i].n; k++) {
			const void *record = (const char *)all[i].rows + k * all[i].size;
			if ((merge && i == OCCUPANCY) || record_is_chosen(v, i, record))
				out_row(o, record);
		}
		out_end(o);
	}
	return status;
}
