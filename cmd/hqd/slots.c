// gpq hqd: the table of slots.
#include "cmd/hqd/hqd.h"

#define COL(member, name, key, type, flags, help) \
	OUT_COL(hqd_row, member, name, key, type, flags, help)
#define D OUT_DEFAULT
#define M OUT_MACHINE

static const struct out_col cols[] = {
	COL(gpu_id, "GPU", "gpu_id", OUT_U64, D, "GPU as KFD numbers it (its gpu_id)"),
	COL(kind, "KIND", "kind", OUT_STR, D,
	    "compute, sdma, hiq (the scheduler's own queue), diq (MQDs: the debugger's)"),
	COL(xcc, "XCC", "xcc", OUT_U64, D, "XCC of the GPU, counted from 0"),
	COL(mec, "MEC", "mec", OUT_U64, D, "micro engine of the compute slot"),
	COL(pipe, "PIPE", "pipe", OUT_U64, D, "its pipe; SDMA: the engine"),
	COL(queue, "QUEUE", "queue", OUT_U64, D, "its queue; SDMA: the RLC"),
	COL(active, "ACTIVE", "active", OUT_BOOL, D | OUT_STATUS, "the slot has a queue"),
	COL(pid, "PID", "pid", OUT_I64, D, "process that owns the queue"),
	COL(comm, "COMMAND", "command", OUT_STR, D, "its command name"),
	COL(qid, "QID", "qid", OUT_U64, D, "queue id, within the process or context"),
	COL(context, "CONTEXT", "context", OUT_U64, M | OUT_RARE,
	    "secondary KFD context that owns the queue; null: the process itself"),
	COL(vmid, "VMID", "vmid", OUT_U64, D, "address space on the GPU, given anew at each map"),
	COL(ring_addr, "RING_ADDR", "ring_addr", OUT_HEX, D, "address of the ring in the process"),
	COL(ring_bytes, "RING", "ring_bytes", OUT_SIZE, D, "size of the ring"),
	COL(rptr, "RPTR", "rptr", OUT_U64, D, "read pointer: dword in the ring; SDMA: bytes"),
	COL(wptr, "WPTR", "wptr", OUT_U64, D, "write pointer: dwords in all; SDMA: bytes"),
	COL(doorbell, "DOORBELL", "doorbell", OUT_HEX, D,
	    "byte offset of the doorbell in its PCI region"),
	COL(prio, "PRIO", "prio", OUT_U64, D, "priority, 0 to 15"),
	COL(level, "LEVEL", "level", OUT_STR, M | OUT_RARE,
	    "level of priority: low (0 to 6), medium (7 to 10), high (11 to 15)"),
	COL(errors, "ERROR", "error", OUT_STR, D, "errors the hardware noted, none without any"),
	COL(gpu, "INDEX", "gpu_index", OUT_U64, M, "index of the GPU, as in gpq gpus"),
	COL(node, "NODE", "node", OUT_U64, M, "KFD topology node"),
	COL(slot, "SLOT", "slot", OUT_STR, M,
	    "p0q2 (pipe and queue), e1r0 (SDMA engine and RLC) or hiq"),
	COL(backlog, "BACKLOG", "backlog", OUT_U64, M,
	    "what waits between the pointers: AQL packets, PM4 dwords, SDMA bytes"),
	COL(idle, "IDLE", "idle", OUT_BOOL, M, "nothing to do and no wave running"),
	COL(packets, "PACKETS", "packets", OUT_STR, M, "aql or pm4"),
	COL(mqd_addr, "MQD_ADDR", "mqd_addr", OUT_HEX, M, "GPU address of the MQD"),
	COL(pipe_prio, "PIPE_PRIO", "pipe_prio", OUT_U64, M,
	    "pipe priority: 0 low, 1 medium, 2 high"),
	COL(error, "ERROR_BITS", "error_bits", OUT_HEX, M, "cp_hqd_error"),
	COL(match, "MATCH", "match", OUT_STR, M,
	    "how the owner was found: mqd (its address and ring), ring (and doorbell)"),
	COL(bdf, "BDF", "bdf", OUT_STR, 0, "PCI address of the GPU"),
	COL(gfx, "GFX", "gfx", OUT_STR, 0, "instruction set of the GPU"),
	COL(user, "USER", "user", OUT_STR, 0, "effective user of the process"),
	COL(rptr_addr, "RPTR_ADDR", "rptr_addr", OUT_HEX, 0,
	    "address of the read index in the process"),
	COL(wptr_addr, "WPTR_ADDR", "wptr_addr", OUT_HEX, 0,
	    "address of the write index in the process"),
	COL(ctx_addr, "CTX_ADDR", "ctx_addr", OUT_HEX, 0,
	    "address of the area to save waves in, of this XCC"),
	COL(ctx_bytes, "CTX", "ctx_bytes", OUT_SIZE, 0, "its size"),
};

const struct out_table hqd_slots_table = {"slots", "slot", cols, sizeof(cols) / sizeof(cols[0])};

int hqd_print_slots(struct hqd_view *v, struct out *o)
{
	int status = out_begin(o, &hqd_slots_table, false);
	if (!status)
		hqd_leave_out(v, o);
	for (size_t i = 0; !status && i < v->list.n; i++)
		if (!v->list.rows[i].hidden)
			out_row(o, &v->list.rows[i]);
	out_end(o);
	return status;
}
