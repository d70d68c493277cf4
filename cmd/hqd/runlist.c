// gpq hqd --runlist: the PM4 packets of each GPU's runlist, which lists the mapped queues.
#include "cmd/hqd/hqd.h"

#define ROW runlist_row
static const struct out_col cols[] = {
	COL(q.gpu_id, "GPU", "gpu_id", U64, D, "GPU as KFD numbers it (its gpu_id)"),
	COL(packet, "PACKET", "packet", STR, D | S,
	    "MAP_PROCESS, MAP_QUEUES, RUN_LIST (chained: over-subscribed), none: not in the list"),
	COL(q.usage.pasid, "PASID", "pasid", U64, D | W, "address space id of the process"),
	COL(q.pid, "PID", "pid", I64, D, "process"),
	COL(q.process.comm, "COMMAND", "command", STR, D | T, "its command name"),
	WHOSE_COLS(q.process, M),
	QUEUE_COLS(q),
	COL(q.type, "TYPE", "type", STR, D, "compute, sdma or sdma-xgmi"),
	COL(announced, "QUEUES", "queues", U64, D,
	    "queues the process has on the GPU, to run or not"),
	COL(mapped, "MAPPED", "mapped", U64, D, "of them in the list"),
	COL(q.v[MQD_V_DOORBELL], "DOORBELL", "doorbell", HEX, D | W,
	    "byte offset of the doorbell in its PCI region"),
	COL(q.v[MQD_V_BASE], "MQD_ADDR", "mqd_addr", HEX, D | W, "GPU address of the MQD"),
	COL(q.v[MQD_V_RING], "RING_ADDR", "ring_addr", HEX, D | W,
	    "address of the ring in the process"),
	PRIO_COLS(q),
	COL(q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
	COL(q.gpu.node, "NODE", "node", U64, M, "KFD topology node"),
	COL(q.v[MQD_V_SDMA_ENGINE], "ENGINE", "engine", U64, M, "SDMA engine"),
	COL(quantum, "QUANTUM", "quantum", U64, M,
	    "length of the process's turn, as the scheduler counts it"),
	COL(gws, "GWS", "gws", U64, M, "entries of global wave sync it uses"),
	COL(sdma, "SDMA_ALLOWED", "sdma_allowed", BOOL, M, "the process may use SDMA"),
	COL(page_table, "PAGE_TABLE", "page_table", HEX, M,
	    "base of its page directory, flags in the low bits"),
	COL(q.v[MQD_V_WPTR_ADDR], "WPTR_ADDR", "wptr_addr", HEX, M,
	    "address of the write index in the process"),
};

const struct out_table hqd_runlist_table = {"packets", "packet", OUT_COLS(cols)};

static int check_runlist_pids(const struct hqd_view *v, const struct runlist *r, size_t shown)
{
	size_t missing = 0;
	if (!v->pick.pids.n && pick_asks(v->pick.opts) && !shown)
		return err_fail(GPQ_NOTFOUND, "gpq queues shows who owns queues",
				"no process that was asked for is in a runlist");
	for (size_t i = 0; i < v->pick.pids.n; i++) {
		bool found = false;
		for (size_t k = 0; k < r->n; k++)
			found |= r->rows[k].q.pid == v->pick.pids.v[i];
		missing += !found;
		if (!found)
			err_fail(GPQ_NOTFOUND, "gpq queues shows whether it owns any",
				 "pid %d: no queue of it is in a runlist, or should be",
				 (int)v->pick.pids.v[i]);
	}
	return !missing ? GPQ_OK : missing == v->pick.pids.n ? GPQ_NOTFOUND : GPQ_PARTIAL;
}

// Notes why GPUs have no runlist, and warns of damaged ones.
static void explain_runlists(const struct hqd_view *v, const struct runlist *r)
{
	const struct rls *rls = &v->list.queues.rls;
	for (size_t i = 0; i < rls->nnodes; i++) {
		const struct rls_node *n = &rls->nodes[i];
		if (n->state == RLS_NONE)
			err_note("GPU %x: no active runlist: %s", n->gpu_id,
				 gfx_caps(slot_rows_gen(&v->list, n->gpu_id))->mes
					 ? "its scheduler is MES, which has none"
					 : "no queue is to run");
	}
	if (r->damaged)
		err_warn(
			NULL,
			"%zu runlists end inside a packet or hold what is none: more may be mapped",
			r->damaged);
	if (!rls->nnodes && !v->list.captured && v->list.queues.gpus.n)
		err_warn("queues then run without a scheduler, or root is needed to read it",
			 RLS_PATH ": no GPU in it");
}

int hqd_print_runlist(struct hqd_view *v, struct out *o)
{
	SCOPED(runlist_fini) struct runlist r;
	size_t shown = 0;
	runlist_make(&r, &v->list);
	for (size_t i = 0; i < r.n; i++) {
		const struct runlist_row *row = &r.rows[i];
		if (hqd_queue_chosen(v, &row->q) &&
		    (!v->opts->sdma || queue_row_is_sdma(&row->q))) {
			out_row(o, row);
			shown++;
		}
	}
	explain_runlists(v, &r);
	int status = check_runlist_pids(v, &r, shown);
	if (!status && r.damaged && v->list.captured)
		status = GPQ_PARTIAL;
	return status;
}
