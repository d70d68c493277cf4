// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: AQL packets (HSA Platform System Architecture 1.2, section 2.9; the vendor packets
 * and the signal layout are ROCr's amd_hsa_queue.h, amd_hsa_signal.h and hsa_ven_amd_aqlprofile).
 *
 * No shader runs: a dispatch is complete when its turn has come, unless a test wants it to hang
 * (fault.c): then it completes when that has ended.  Barriers do wait for their
 * signals, and completion signals are decremented, stamped and announced as a CP does it.
 */
#include "softgpu.h"

enum aql_type { AQL_VENDOR, AQL_INVALID, AQL_DISPATCH, AQL_BARRIER_AND, AQL_AGENT, AQL_BARRIER_OR };
enum { VENDOR_BARRIER_VALUE = 2 }; /* format byte of a vendor packet; 1 is a PM4 buffer */
enum { CONDITION_EQ, CONDITION_NE, CONDITION_LT, CONDITION_GTE };

#define AQL_PACKET_SIZE 64
#define BARRIER_SIGNALS 5
#define HEADER_BARRIER	BIT(8) /* the packet begins when all before it are complete */

static bool aql_errors;
module_param(aql_errors, bool, 0644);
MODULE_PARM_DESC(aql_errors, "a packet of no known type stops its queue and raises an exception");

struct aql_packet {
	u16 header; /* type in the low byte */
	u8 vendor_format, reserved;
	u16 workgroup[2];
	union {
		u64 dep_signal[BARRIER_SIGNALS];
		struct {
			u64 signal;
			s64 value, mask;
			u32 condition;
		} barrier_value;
		struct {
			u16 workgroup_z, reserved; /* from byte 8 on */
			u32 grid[3];
			u32 private_bytes, group_bytes;
			u64 kernel_object;
		} dispatch;
		u64 body[6];
	};
	u64 completion_signal;
};
static_assert(sizeof(struct aql_packet) == AQL_PACKET_SIZE);

struct amd_signal {
	s64 kind, value;
	u64 event_mailbox;
	u32 event_id, reserved;
	u64 start_ts, end_ts;
	u64 unused[2];
};
static_assert(sizeof(struct amd_signal) == 64);

static s64 *signal_value(struct sg_queue *queue, u64 signal)
{
	struct amd_signal *s = signal ? sg_vm_ptr(queue->vm, signal, sizeof(*s)) : NULL;

	return s ? &s->value : NULL;
}

/* AND waits until all, OR until one of the named signals is 0.  Naming none never waits. */
static bool barrier_open(struct sg_queue *queue, const struct aql_packet *packet, bool any)
{
	int i, named = 0;
	s64 *value;

	for (i = 0; i < BARRIER_SIGNALS; i++) {
		value = signal_value(queue, packet->dep_signal[i]);
		if (!value)
			continue;
		named++;
		if (any && !READ_ONCE(*value))
			return true;
		if (!any && READ_ONCE(*value))
			return false;
	}
	return !any || !named;
}

static bool barrier_value_open(struct sg_queue *queue, const struct aql_packet *packet)
{
	s64 *value = signal_value(queue, packet->barrier_value.signal);
	s64 seen, want = packet->barrier_value.value;

	if (!value)
		return true;
	seen = READ_ONCE(*value) & packet->barrier_value.mask;
	switch (packet->barrier_value.condition) {
	case CONDITION_EQ: return seen == want;
	case CONDITION_NE: return seen != want;
	case CONDITION_LT: return seen < want;
	case CONDITION_GTE: return seen >= want;
	}
	return true;
}

static bool ready(struct sg_queue *queue, const struct aql_packet *packet, enum aql_type type)
{
	switch (type) {
	case AQL_INVALID: return false; /* not written yet: the CP waits for the header */
	case AQL_BARRIER_AND: return barrier_open(queue, packet, false);
	case AQL_BARRIER_OR: return barrier_open(queue, packet, true);
	case AQL_VENDOR:
		return packet->vendor_format != VENDOR_BARRIER_VALUE ||
		       barrier_value_open(queue, packet);
	default: return true;
	}
}

static void signal_completion(struct sg_gpu *gpu, struct sg_queue *queue, u64 signal, u64 start)
{
	struct amd_signal *s = sg_vm_ptr(queue->vm, signal, sizeof(*s));
	u64 *mailbox;

	if (!s) {
		gpu->count.bad_address++;
		return;
	}
	s->start_ts = start;
	s->end_ts = amdgpu_amdkfd_get_gpu_clock_counter(gpu->adev);
	__sync_fetch_and_sub(&s->value, 1); /* the host may change it at the same time */
	if (!READ_ONCE(s->event_mailbox) || !sg_irq_enabled())
		return;
	mailbox = sg_vm_ptr(queue->vm, s->event_mailbox, sizeof(*mailbox));
	if (!mailbox)
		return;
	WRITE_ONCE(*mailbox, s->event_id);
	sg_irq_end_of_pipe(gpu, queue->pasid, s->event_id);
}

u64 sg_aql_work_items(const struct sg_queue *queue)
{
	const struct aql_packet *packet;
	u64 items = 1;
	int i;

	if (!queue->ring)
		return 0;
	packet = (const void *)(queue->ring + queue->rptr * AQL_PACKET_SIZE % queue->size);
	if ((READ_ONCE(packet->header) & 0xff) != AQL_DISPATCH)
		return 0;
	for (i = 0; i < 3; i++) /* unused dimensions may be 0; and nothing must overflow */
		items = min_t(u64, items * max(READ_ONCE(packet->dispatch.grid[i]), 1U), U32_MAX);
	return items;
}

static struct sg_dispatch dispatch_of(const struct aql_packet *packet, u64 index)
{
	return (struct sg_dispatch){
		.index = index,
		.kernel_object = READ_ONCE(packet->dispatch.kernel_object),
		.grid = {READ_ONCE(packet->dispatch.grid[0]), READ_ONCE(packet->dispatch.grid[1]),
			 READ_ONCE(packet->dispatch.grid[2])},
		.workgroup = {READ_ONCE(packet->workgroup[0]), READ_ONCE(packet->workgroup[1]),
			      READ_ONCE(packet->dispatch.workgroup_z)},
		.group_bytes = READ_ONCE(packet->dispatch.group_bytes),
	};
}

/*
 * The dispatches that have waves: the one that hangs beyond the read pointer; or the one at the
 * read pointer, and those behind it that need not wait for it.
 */
bool sg_aql_dispatch(const struct sg_queue *queue, u32 n, struct sg_dispatch *d)
{
	const struct sg_ring_stat *stat = queue->stat;
	const struct aql_packet *packet;
	const u64 index = queue->rptr + n;
	u16 header;

	if (stat->hung) {
		*d = stat->hung_dispatch;
		return !n;
	}
	if (!queue->ring || index >= queue->wptr)
		return false;
	packet = (const void *)(queue->ring + index * AQL_PACKET_SIZE % queue->size);
	header = READ_ONCE(packet->header);
	if ((header & 0xff) != AQL_DISPATCH || (n && header & HEADER_BARRIER))
		return false;
	smp_rmb(); /* the header is written last */
	*d = dispatch_of(packet, index);
	return true;
}

static void stamp_begin(struct sg_gpu *gpu, struct sg_queue *queue, u64 signal)
{
	struct amd_signal *s = signal ? sg_vm_ptr(queue->vm, signal, sizeof(*s)) : NULL;

	if (s)
		s->start_ts = amdgpu_amdkfd_get_gpu_clock_counter(gpu->adev);
}

/* Stops its queue at a packet of a type that does not exist. */
static bool refuse(struct sg_gpu *gpu, struct sg_queue *queue)
{
	if (!READ_ONCE(aql_errors))
		return false;
	if (!queue->refused)
		sg_irq_bad_packet(gpu, queue->pasid, queue->doorbell, EC_QUEUE_PACKET_UNSUPPORTED);
	queue->refused = true;
	return true;
}

void sg_aql_end_hang(struct sg_gpu *gpu, struct sg_queue *queue)
{
	struct sg_ring_stat *stat = queue->stat;

	if (!stat->hung || sg_fault_kernel_hangs(stat->hung))
		return;
	stat->hung = 0;
	stat->aql[AQL_DISPATCH]++;
	gpu->count.aql[AQL_DISPATCH]++;
	if (stat->hung_signal)
		signal_completion(gpu, queue, stat->hung_signal,
				  amdgpu_amdkfd_get_gpu_clock_counter(gpu->adev));
}

/* true: the packet waits, since it hangs itself or must wait for one that does */
static bool hangs(struct sg_queue *queue, const struct aql_packet *packet, enum aql_type type)
{
	const bool again = type == AQL_DISPATCH &&
			   sg_fault_kernel_hangs(packet->dispatch.kernel_object);

	if (queue->stat->hung && (again || packet->header & HEADER_BARRIER))
		return true;
	return again && !sg_fault_hang_taken();
}

bool sg_aql_consume(struct sg_gpu *gpu, struct sg_queue *queue)
{
	struct aql_packet *packet;
	u64 signal, start;
	u8 type;

	if (!queue->ring)
		return true; /* memory we cannot read: only the index moves */
	packet = (void *)(queue->ring + queue->rptr * AQL_PACKET_SIZE % queue->size);
	type = READ_ONCE(packet->header) & 0xff;
	if (type >= SG_AQL_TYPES)
		return !refuse(gpu, queue);
	smp_rmb(); /* the header is written last */
	if (!ready(queue, packet, type) || hangs(queue, packet, type))
		return false;
	if (type == AQL_DISPATCH && sg_fault_kernel_hangs(packet->dispatch.kernel_object)) {
		queue->stat->hung = packet->dispatch.kernel_object;
		queue->stat->hung_signal = packet->completion_signal;
		stamp_begin(gpu, queue, packet->completion_signal);
		queue->stat->hung_dispatch = dispatch_of(packet, queue->rptr);
		WRITE_ONCE(packet->header, AQL_INVALID);
		return true;
	}
	gpu->count.aql[type]++;
	queue->stat->aql[type]++;
	if (type == AQL_VENDOR && !packet->vendor_format)
		return true; /* all zeros: a doorbell ahead of the packets */
	start = amdgpu_amdkfd_get_gpu_clock_counter(gpu->adev);
	signal = packet->completion_signal;
	/* The slot is free before the signal says so. */
	WRITE_ONCE(packet->header, AQL_INVALID);
	if (signal)
		signal_completion(gpu, queue, signal, start);
	return true;
}
