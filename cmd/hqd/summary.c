// gpq hqd --summary: how full the slots are, who shares them, which queues are in none.
#include "cmd/hqd/hqd.h"

#include "common/state/slot_summary.h"

#include <errno.h>
#include <string.h>

#define D OUT_DEFAULT
#define M OUT_MACHINE
#define C(record, member, name, key, type, flags, help) \
	OUT_COL(record, member, name, key, type, flags, help)

static const struct out_col occupancy_cols[] = {
	C(hqd_occupancy, gpu_id, "GPU", "gpu_id", OUT_U64, D, "GPU as KFD numbers it (its gpu_id)"),
	C(hqd_occupancy, kind, "KIND", "kind", OUT_STR, D, "compute or sdma"),
	C(hqd_occupancy, xcc, "XCC", "xcc", OUT_U64, D, "XCC of the GPU, counted from 0"),
	C(hqd_occupancy, slots, "SLOTS", "slots", OUT_U64, D, "slots that the driver owns"),
	C(hqd_occupancy, used, "USED", "used", OUT_U64, D, "slots that have a queue"),
	C(hqd_occupancy, free, "FREE", "free", OUT_U64, D, "slots that have none"),
	C(hqd_occupancy, rate, "RATE", "rate", OUT_F64, D, "share of the slots in use, 0 to 1"),
	C(hqd_occupancy, queues, "QUEUES", "queues", OUT_U64, D,
	  "mapped queues on the GPU, which want a slot"),
	C(hqd_occupancy, over, "OVER", "oversubscribed", OUT_BOOL, D,
	  "over-subscribed: more is mapped than can run at a time"),
	C(hqd_occupancy, why, "BY", "oversubscribed_by", OUT_STR, D,
	  "by what: compute queues (than slots), processes (than VMIDs), gws"),
	C(hqd_occupancy, gpu, "INDEX", "gpu_index", OUT_U64, M, "index of the GPU, as in gpq gpus"),
};

static const struct out_col sharer_cols[] = {
	C(hqd_sharer, gpu_id, "GPU", "gpu_id", OUT_U64, D, "GPU as KFD numbers it (its gpu_id)"),
	C(hqd_sharer, pid, "PID", "pid", OUT_I64, D, "process"),
	C(hqd_sharer, comm, "COMMAND", "command", OUT_STR, D, "its command name"),
	C(hqd_sharer, queues, "MAPPED", "mapped", OUT_U64, D, "compute queues it has mapped"),
	C(hqd_sharer, slots, "IN_SLOT", "in_slot", OUT_U64, D, "of them in a slot now"),
	C(hqd_sharer, gpu, "INDEX", "gpu_index", OUT_U64, M, "index of the GPU, as in gpq gpus"),
};

static const struct out_col waiting_cols[] = {
	C(hqd_waiting, gpu_id, "GPU", "gpu_id", OUT_U64, D, "GPU as KFD numbers it (its gpu_id)"),
	C(hqd_waiting, pid, "PID", "pid", OUT_I64, D, "process that owns the queue"),
	C(hqd_waiting, comm, "COMMAND", "command", OUT_STR, D, "its command name"),
	C(hqd_waiting, qid, "QID", "qid", OUT_U64, D, "queue id, within the process or context"),
	C(hqd_waiting, context, "CONTEXT", "context", OUT_U64, M | OUT_RARE,
	  "secondary KFD context that owns the queue; null: the process itself"),
	C(hqd_waiting, kind, "KIND", "kind", OUT_STR, D, "compute or sdma"),
	C(hqd_waiting, ring_addr, "RING_ADDR", "ring_addr", OUT_HEX, D,
	  "address of the ring in the process"),
	C(hqd_waiting, prio, "PRIO", "prio", OUT_U64, D, "priority, 0 to 15"),
	C(hqd_waiting, level, "LEVEL", "level", OUT_STR, M | OUT_RARE,
	  "level of priority: low (0 to 6), medium (7 to 10), high (11 to 15)"),
	C(hqd_waiting, backlog, "BACKLOG", "backlog", OUT_U64, D,
	  "what waited when it was taken off: AQL packets, PM4 dwords, SDMA bytes"),
	C(hqd_waiting, missing, "OFF_XCCS", "off_xccs", OUT_U64, D, "XCCs on which it has no slot"),
	C(hqd_waiting, why, "WHY", "why", OUT_STR, D | OUT_STATUS,
	  "suspended (by gpq), off, turns, moving, no-slots, unknown"),
	C(hqd_waiting, reason, "REASON", "reason", OUT_STR, D | OUT_TRUNC, "what that means"),
	C(hqd_waiting, gpu, "INDEX", "gpu_index", OUT_U64, M, "index of the GPU, as in gpq gpus"),
	C(hqd_waiting, xccs, "XCCS", "xccs", OUT_U64, M, "XCCs it belongs on"),
	C(hqd_waiting, saved_bytes, "SAVED", "saved_bytes", OUT_SIZE, M,
	  "wave state parked in memory, all XCCs"),
	C(hqd_waiting, mqd_addr, "MQD_ADDR", "mqd_addr", OUT_HEX, M, "GPU address of the MQD"),
	C(hqd_waiting, holder, "HOLDER", "holder", OUT_I64, M,
	  "pid of the gpq holder that has it suspended"),
};

#define TABLE(name, record, cols)                                          \
	{                                                                  \
		(name), (record), (cols), sizeof(cols) / sizeof((cols)[0]) \
	}
const struct out_table hqd_summary_tables[HQD_SUMMARY_TABLES] = {
	TABLE("occupancy", "occupancy", occupancy_cols),
	TABLE("sharers", "sharer", sharer_cols),
	TABLE("waiting", "waiting", waiting_cols),
};

const char *const hqd_summary_names[] = {"occupancy", "sharers", "waiting", NULL};

static const char *const titles[HQD_SUMMARY_TABLES] = {
	"Slots", "Processes that share over-subscribed GPUs", "Queues without a slot"};

static bool kind_chosen(const struct hqd_view *v, const char *kind)
{
	return !v->opts->sdma || strcmp(kind, "sdma") == 0;
}

static void print_occupancy(const struct hqd_view *v, const struct slot_summary *s, struct out *o)
{
	for (size_t i = 0; i < s->nxccs; i++) {
		const struct hqd_occupancy *x = &s->xccs[i];
		if (hqd_gpu_chosen(v, x->gpu_id) && hqd_xcc_chosen(v, x->xcc) &&
		    kind_chosen(v, x->kind))
			out_row(o, x);
	}
}

static void print_sharers(const struct hqd_view *v, const struct slot_summary *s, struct out *o)
{
	for (size_t i = 0; i < s->nsharers; i++)
		if (hqd_gpu_chosen(v, s->sharers[i].gpu_id) && hqd_pid_chosen(v, s->sharers[i].pid))
			out_row(o, &s->sharers[i]);
}

static void print_waiting(const struct hqd_view *v, const struct slot_summary *s, struct out *o)
{
	for (size_t i = 0; i < s->nwaiting; i++) {
		const struct hqd_waiting *w = &s->waiting[i];
		if (hqd_gpu_chosen(v, w->gpu_id) && hqd_pid_chosen(v, w->pid) &&
		    kind_chosen(v, w->kind))
			out_row(o, w);
	}
}

// -o names columns of one table: of the first when no other was asked for.
static int only_table(const struct hqd_view *v)
{
	if (v->opts->table >= 0)
		return v->opts->table;
	return v->cmd->out.columns || v->cmd->out.all ? 0 : -1;
}

static size_t rows_of(const struct slot_summary *s, int table)
{
	const size_t n[] = {s->nxccs, s->nsharers, s->nwaiting};
	return n[table];
}

int hqd_print_summary(struct hqd_view *v, struct out *o)
{
	static void (*const print[HQD_SUMMARY_TABLES])(
		const struct hqd_view *, const struct slot_summary *,
		struct out *) = {print_occupancy, print_sharers, print_waiting};
	struct slot_summary s;
	int only = only_table(v);
	int status = slot_summary_make(&s, &v->list) ? err_sys(ENOMEM, NULL, "summary") : GPQ_OK;
	for (int i = 0; i < HQD_SUMMARY_TABLES && !status; i++) {
		// People are spared tables of nothing; programs get the document they expect.
		bool empty = !rows_of(&s, i) && out_mode(o) == OUT_TABLE;
		if ((only >= 0 && i != only) || (only < 0 && empty))
			continue;
		if (only < 0)
			out_title(o, "%s", titles[i]);
		status = out_begin(o, &hqd_summary_tables[i], false);
		if (status)
			break;
		hqd_leave_out(v, o);
		print[i](v, &s, o);
		out_end(o);
	}
	slot_summary_fini(&s);
	return status;
}
