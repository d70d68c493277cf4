// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: SDMA packets: the set that ROCr and libhsakmt write (vega10_sdma_pkt_open.h; the same
 * encoding on newer engines).  They are executed: copies copy, fences are written, polls wait.
 */
#include "softgpu.h"

static bool sdma_exec = true;
module_param(sdma_exec, bool, 0644);
MODULE_PARM_DESC(sdma_exec, "execute SDMA packets; N: only the read pointer moves");

enum {
	OP_NOP = 0,
	OP_COPY = 1,
	OP_WRITE = 2,
	OP_FENCE = 5,
	OP_TRAP = 6,
	OP_POLL_REGMEM = 8,
	OP_ATOMIC = 10,
	OP_CONST_FILL = 11,
	OP_TIMESTAMP = 13,
	OP_GCR = 17,
};
enum { COPY_LINEAR = 0, COPY_LINEAR_SUBWINDOW = 4 };
enum { ATOMIC_ADD_RTN_64 = 47 };
enum { POLL_EQ = 3, POLL_NE = 4, POLL_GE = 5 };

/* dwords of a packet; an opcode that is not here is skipped dword by dword */
static const u8 packet_dwords[] = {
	[OP_COPY] = 7,       [OP_WRITE] = 4,       [OP_FENCE] = 4,
	[OP_TRAP] = 2,       [OP_POLL_REGMEM] = 6, [OP_ATOMIC] = 8,
	[OP_CONST_FILL] = 5, [OP_TIMESTAMP] = 3,   [OP_GCR] = 5,
};

#define MAX_DWORDS 16
#define MAX_BYTES  (256ULL << 20) /* of one copy or fill */

static u64 u64_at(const u32 *p)
{
	return (u64)p[1] << 32 | p[0];
}

static u32 length(const u32 *p)
{
	const u32 op = p[0] & 0xff, sub = p[0] >> 8 & 0xff;

	if (op == OP_NOP)
		return 1 + (p[0] >> 16 & 0x3fff);
	if (op == OP_COPY && sub == COPY_LINEAR_SUBWINDOW)
		return 13;
	return op < ARRAY_SIZE(packet_dwords) && packet_dwords[op] ? packet_dwords[op] : 1;
}

static void *target(struct sg_gpu *gpu, struct sg_queue *queue, u64 va, u64 bytes)
{
	void *ptr = bytes <= MAX_BYTES ? sg_vm_ptr(queue->vm, va, bytes) : NULL;

	if (!ptr)
		gpu->count.bad_address++;
	return ptr;
}

static void copy(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	const u64 bytes = (p[1] & 0x3fffffff) + 1;
	void *from, *to;

	if (p[0] >> 8 & 0xff)
		return; /* tiled and sub-window copies move nothing */
	from = target(gpu, queue, u64_at(p + 3), bytes);
	to = target(gpu, queue, u64_at(p + 5), bytes);
	if (from && to)
		memmove(to, from, bytes);
}

static void fill(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	const u64 bytes = (p[4] & 0x3fffff) + 1;
	void *to = target(gpu, queue, u64_at(p + 1), bytes);

	if (to)
		memset32(to, p[3], bytes / 4);
}

static void fence(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	u32 *to = target(gpu, queue, u64_at(p + 1), sizeof(*to));

	if (to)
		WRITE_ONCE(*to, p[3]);
}

static void timestamp(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	u64 *to = target(gpu, queue, u64_at(p + 1), sizeof(*to));

	if (to)
		WRITE_ONCE(*to, amdgpu_amdkfd_get_gpu_clock_counter(gpu->adev));
}

static void atomic(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	s64 *to = target(gpu, queue, u64_at(p + 1), sizeof(*to));

	if (to && p[0] >> 25 == ATOMIC_ADD_RTN_64)
		__sync_fetch_and_add(to, (s64)u64_at(p + 3));
}

/* Only memory can be polled; a register poll (cache flush handshakes) is true at once. */
static bool poll_open(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	const bool memory = p[0] >> 31;
	u32 *from = memory ? target(gpu, queue, u64_at(p + 1), sizeof(*from)) : NULL;
	u32 seen;

	if (!from)
		return true;
	seen = READ_ONCE(*from) & p[4];
	switch (p[0] >> 28 & 7) {
	case POLL_EQ: return seen == p[3];
	case POLL_NE: return seen != p[3];
	case POLL_GE: return seen >= p[3];
	}
	return true;
}

/* false: wait */
static bool execute(struct sg_gpu *gpu, struct sg_queue *queue, const u32 *p)
{
	switch (p[0] & 0xff) {
	case OP_COPY: copy(gpu, queue, p); break;
	case OP_CONST_FILL: fill(gpu, queue, p); break;
	case OP_FENCE: fence(gpu, queue, p); break;
	case OP_TIMESTAMP: timestamp(gpu, queue, p); break;
	case OP_ATOMIC: atomic(gpu, queue, p); break;
	case OP_POLL_REGMEM:
		if (!poll_open(gpu, queue, p))
			return false;
		break;
	case OP_TRAP:
		if (sg_irq_enabled())
			sg_irq_sdma_trap(gpu, queue->pasid, p[1] & 0xfffffff);
		break;
	}
	gpu->count.sdma_packets++;
	return true;
}

void sg_sdma_run(struct sg_gpu *gpu, struct sg_queue *queue)
{
	u32 packet[MAX_DWORDS], at, left, n;

	while (sdma_exec && queue->ring && sg_queue_pending(queue)) {
		at = queue->rptr % queue->size / 4;
		left = min_t(u64, (queue->wptr - queue->rptr) / 4, queue->size / 4 - at);
		if (!left)
			break;
		memset(packet, 0, sizeof(packet));
		memcpy(packet, (u32 *)queue->ring + at, min_t(u32, left, MAX_DWORDS) * 4);
		n = length(packet);
		if (n > left)
			n = left; /* padding up to the end of the ring */
		else if (!execute(gpu, queue, packet))
			break;
		queue->rptr += n * 4ULL;
		sg_queue_report_rptr(queue);
	}
	if (!sdma_exec || !queue->ring) {
		queue->rptr = queue->wptr;
		sg_queue_report_rptr(queue);
	}
}
