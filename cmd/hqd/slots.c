// gpq hqd: the table of slots.
#include "cmd/hqd/hqd.h"

#define COL(member, name, key, type, flags, help) \
	OUT_COL(hqd_row, member, name, key, type, flags, help)

static const struct out_col cols[] = {
	COL(q.gpu_id, "GPU", "gpu_id", OUT_U64, D, "GPU as KFD numbers it (its gpu_id)"),
	COL(q.type, "KIND", "kind", OUT_STR, D,
	    "compute, sdma, hiq (the scheduler's own queue), diq (MQDs: the debugger's)"),
	COL(xcc, "XCC", "xcc", OUT_U64, D, "XCC of the GPU, counted from 0"),
	COL(mec, "MEC", "mec", OUT_U64, D, "micro engine of the compute slot"),
	COL(pipe, "PIPE", "pipe", OUT_U64, D, "its pipe; SDMA: the engine"),
	COL(queue, "QUEUE", "queue", OUT_U64, D, "its queue; SDMA: the RLC"),
	COL(active, "ACTIVE", "active", OUT_BOOL, D | OUT_STATUS, "the slot has a queue"),
	OWNER_COLS,
	COL(q.v[MQD_V_VMID], "VMID", "vmid", OUT_U64, D,
	    "address space on the GPU, given anew at each map"),
	COL(q.v[MQD_V_RING], "RING_ADDR", "ring_addr", OUT_HEX, D,
	    "address of the ring in the process"),
	COL(q.v[MQD_V_RING_BYTES], "RING", "ring_bytes", OUT_SIZE, D, "size of the ring"),
	COL(q.v[MQD_V_RPTR], "RPTR", "rptr", OUT_U64, D,
	    "read pointer: dword in the ring; SDMA: bytes"),
	COL(q.v[MQD_V_WPTR], "WPTR", "wptr", OUT_U64, D,
	    "write pointer: dwords in all; SDMA: bytes"),
	COL(q.v[MQD_V_DOORBELL], "DOORBELL", "doorbell", OUT_HEX, D,
	    "byte offset of the doorbell in its PCI region"),
	PRIO_COLS,
	COL(errors, "ERROR", "error", OUT_STR, D, "errors the hardware noted, none without any"),
	COL(q.gpu, "INDEX", "gpu_index", OUT_U64, M, "index of the GPU, as in gpq gpus"),
	COL(q.node, "NODE", "node", OUT_U64, M, "KFD topology node"),
	COL(slot, "SLOT", "slot", OUT_STR, M,
	    "p0q2 (pipe and queue), e1r0 (SDMA engine and RLC) or hiq"),
	COL(q.v[MQD_D_BACKLOG], "BACKLOG", "backlog", OUT_U64, M,
	    "what waits between the pointers: AQL packets, PM4 dwords, SDMA bytes"),
	COL(idle, "IDLE", "idle", OUT_BOOL, M, "nothing to do and no wave running"),
	COL(q.packets, "PACKETS", "packets", OUT_STR, M, "aql or pm4"),
	COL(q.v[MQD_V_BASE], "MQD_ADDR", "mqd_addr", OUT_HEX, M, "GPU address of the MQD"),
	COL(q.v[MQD_V_PIPE_PRIO], "PIPE_PRIO", "pipe_prio", OUT_U64, M,
	    "pipe priority: 0 low, 1 medium, 2 high"),
	COL(q.v[MQD_V_ERROR], "ERROR_BITS", "error_bits", OUT_HEX, M, "cp_hqd_error"),
	COL(match, "MATCH", "match", OUT_STR, M,
	    "how the owner was found: mqd (its address and ring), ring (and doorbell)"),
	COL(q.bdf, "BDF", "bdf", OUT_STR, 0, "PCI address of the GPU"),
	COL(q.gfx, "GFX", "gfx", OUT_STR, 0, "instruction set of the GPU"),
	COL(q.user, "USER", "user", OUT_STR, 0, "effective user of the process"),
	COL(q.v[MQD_V_RPTR_ADDR], "RPTR_ADDR", "rptr_addr", OUT_HEX, 0,
	    "address of the read index in the process"),
	COL(q.v[MQD_V_WPTR_ADDR], "WPTR_ADDR", "wptr_addr", OUT_HEX, 0,
	    "address of the write index in the process"),
	COL(q.v[MQD_V_CTX_BASE], "CTX_ADDR", "ctx_addr", OUT_HEX, 0,
	    "address of the area to save waves in, of this XCC"),
	COL(q.v[MQD_V_CTX_BYTES], "CTX", "ctx_bytes", OUT_SIZE, 0, "its size"),
};

const struct out_table hqd_slots_table = TABLE("slots", "slot", cols);

int hqd_print_slots(struct hqd_view *v, struct out *o)
{
	int status = out_begin(o, &hqd_slots_table, false);
	if (!status)
		hqd_leave_out(v, o);
	for (size_t i = 0; !status && i < v->list.n; i++)
		if (!v->list.rows[i].q.hidden)
			out_row(o, &v->list.rows[i]);
	out_end(o);
	return status;
}
