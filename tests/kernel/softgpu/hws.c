// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: HWS, the scheduler firmware of gfx9 and gfx10.
 *
 * It is driven through the HIQ, a ring that KFD fills with the PM4 packets of
 * kfd_pm4_headers_ai.h and kfd_pm4_headers_aldebaran.h: SET_RESOURCES, RUN_LIST (with an indirect
 * buffer of MAP_PROCESS and MAP_QUEUES), UNMAP_QUEUES, QUERY_STATUS (a fence) and WRITE_DATA.
 */
#include "softgpu.h"
#include "mqd.h"
#include "kfd_pm4_headers_ai.h"
#include "kfd_pm4_headers_aldebaran.h"
#include "kfd_pm4_opcodes.h"

#define PM4_TYPE3      3
#define PM4_MAX_DWORDS 64

typedef union PM4_MES_TYPE_3_HEADER pm4_header;

/* The process that the MAP_QUEUES packets after a MAP_PROCESS belong to. */
struct process {
	u64 page_table_base;
	u32 pasid;
	bool debug;
};

/* gfx90a and gfx94x have a longer packet with debug registers in it. */
static struct process map_process(const u32 *packet, u32 dwords)
{
	const struct pm4_mes_map_process *p = (const void *)packet;
	const struct pm4_mes_map_process_aldebaran *a = (const void *)packet;

	if (dwords * 4 == sizeof(*a))
		return (struct process){
			.pasid = a->bitfields2.pasid,
			.debug = a->spi_gdbg_per_vmid_cntl & SG_SPI_TRAP_EN,
			.page_table_base = (u64)a->vm_context_page_table_base_addr_hi32 << 32 |
					   a->vm_context_page_table_base_addr_lo32,
		};
	return (struct process){
		.pasid = p->bitfields2.pasid,
		.page_table_base = (u64)p->vm_context_page_table_base_addr_hi32 << 32 |
				   p->vm_context_page_table_base_addr_lo32,
	};
}

static void map_queues(struct sg_gpu *gpu, struct sg_hiq *hiq, const u32 *packet,
		       const struct process *process)
{
	const struct pm4_mes_map_queues *p = (const void *)packet;
	const struct sg_map_request req = {
		.owner = hiq,
		.mqd_addr = (u64)p->mqd_addr_hi << 32 | p->mqd_addr_lo,
		.wptr_va = (u64)p->wptr_addr_hi << 32 | p->wptr_addr_lo,
		.page_table_base = process->page_table_base,
		.pasid = process->pasid,
		.debug = process->debug,
		.doorbell = p->bitfields3.doorbell_offset,
		.sdma = p->bitfields2.extended_engine_sel || p->bitfields2.engine_sel >= 2,
	};

	sg_queue_map(gpu, &req); /* failure is logged; the firmware has nobody to tell */
}

/* A run list replaces everything that was mapped through this HIQ. */
static void run_list(struct sg_gpu *gpu, struct sg_hiq *hiq, const u32 *command)
{
	const struct pm4_mes_runlist *r = (const void *)command;
	const u32 size = r->bitfields4.ib_size;
	const u32 *ib =
		sg_kernel_ptr(gpu, (u64)r->ib_base_hi << 32 | (r->ordinal2 & ~3u), size * 4ULL);
	struct process process = {0};
	u32 at, n;

	gpu->count.runlists++;
	sg_queues_unmap(gpu, hiq, -1);
	if (!ib) {
		gpu->count.bad++;
		return;
	}
	for (at = 0; at < size; at += n) {
		const pm4_header header = {.u32All = ib[at]};

		n = header.count + 2;
		if (header.type != PM4_TYPE3 || at + n > size || header.opcode == IT_RUN_LIST)
			break; /* the end; a RUN_LIST chains back to the start: oversubscribed */
		if (header.opcode == IT_MAP_PROCESS) {
			process = map_process(ib + at, n);
			gpu->count.map_process++;
		} else if (header.opcode == IT_MAP_QUEUES) {
			map_queues(gpu, hiq, ib + at, &process);
		} else {
			gpu->count.bad++;
		}
	}
}

static void unmap_queues(struct sg_gpu *gpu, struct sg_hiq *hiq, const u32 *packet)
{
	const struct pm4_mes_unmap_queues *p = (const void *)packet;
	const bool by_pasid = p->bitfields2.queue_sel ==
			      queue_sel__mes_unmap_queues__perform_request_on_pasid_queues;
	const u32 refusing = sg_fault_take_doorbell();

	sg_fault_delay();
	sg_queues_unmap(gpu, hiq, by_pasid ? (int)p->bitfields3a.pasid : -1);
	if (refusing) /* where the firmware names the queue it could not preempt */
		((struct v9_mqd *)hiq->mqd)->queue_doorbell_id0 = refusing;
	gpu->count.unmaps++;
}

static void query_status(struct sg_gpu *gpu, const u32 *packet)
{
	const struct pm4_mes_query_status *p = (const void *)packet;
	u64 *fence = sg_kernel_ptr(gpu, (u64)p->addr_hi << 32 | p->addr_lo, 8);

	if (fence)
		WRITE_ONCE(*fence, (u64)p->data_hi << 32 | p->data_lo);
	gpu->count.fences++;
}

/* false: the packet stays where it is (a hanging firmware) */
static bool execute(struct sg_gpu *gpu, struct sg_hiq *hiq, const u32 *packet)
{
	const pm4_header header = {.u32All = packet[0]};

	switch (header.opcode) {
	case IT_SET_RESOURCES: gpu->count.set_resources++; return true;
	case IT_WRITE_DATA: gpu->count.write_data++; return true;
	case IT_RUN_LIST: run_list(gpu, hiq, packet); return true;
	case IT_QUERY_STATUS: query_status(gpu, packet); return true;
	case IT_UNMAP_QUEUES:
		if (sg_fault_hang())
			return false;
		unmap_queues(gpu, hiq, packet);
		return true;
	}
	gpu->count.bad++;
	dev_warn(gpu->adev->dev, "softgpu: unknown PM4 opcode %x on HIQ\n", header.opcode);
	return true;
}

/* Copies the packet out of the ring, where it may wrap.  Returns its dwords; 1 for padding. */
static u32 fetch(struct sg_gpu *gpu, const u32 *ring, u32 size, u64 at, u32 *packet)
{
	const pm4_header header = {.u32All = ring[at % size]};
	u32 n = header.count + 2, i;

	if (header.type != PM4_TYPE3 || header.opcode == IT_NOP)
		return 1;
	if (n > PM4_MAX_DWORDS) {
		gpu->count.bad++;
		return 1;
	}
	for (i = 0; i < n; i++)
		packet[i] = ring[(at + i) % size];
	return n;
}

bool sg_hiq_run(struct sg_gpu *gpu, struct sg_hiq *hiq)
{
	const u64 wptr = READ_ONCE(*(u64 *)(gpu->doorbells + hiq->doorbell * 4ULL));
	const u32 size = 2u << (hiq->mqd[MQD(cp_hqd_pq_control)] & 0x3f); /* dwords */
	u32 packet[PM4_MAX_DWORDS], *ring, *report, n;

	if (wptr == hiq->rptr)
		return false;
	smp_rmb(); /* the doorbell is rung after the packets are written */
	ring = sg_kernel_ptr(gpu, mqd_u64(hiq->mqd, MQD(cp_hqd_pq_base_lo)) << 8, size * 4ULL);
	report = sg_kernel_ptr(gpu, mqd_u64(hiq->mqd, MQD(cp_hqd_pq_rptr_report_addr_lo)), 4);
	if (!ring || !report)
		return false;
	while (hiq->rptr < wptr) {
		n = fetch(gpu, ring, size, hiq->rptr, packet);
		if (n > 1 && !execute(gpu, hiq, packet))
			break;
		hiq->rptr += n;
		WRITE_ONCE(*report, hiq->rptr % size);
	}
	return true;
}

/* ---- what amdkfd calls ---- */

int sg_hiq_load(struct amdgpu_device *adev, void *mqd, u32 pipe, u32 queue, u32 doorbell, u32 xcc)
{
	struct sg_gpu *gpu = sg_from_adev(adev);
	struct sg_hiq *hiq;
	int err = 0;

	mutex_lock(&gpu->lock);
	list_for_each_entry(hiq, &gpu->hiqs, node)
	{
		if (hiq->doorbell == doorbell) { /* another XCC of the same node */
			hiq->xccs |= BIT(xcc);
			goto out;
		}
	}
	hiq = kzalloc(sizeof(*hiq), GFP_KERNEL);
	if (!hiq) {
		err = -ENOMEM;
		goto out;
	}
	hiq->doorbell = doorbell;
	hiq->mqd = mqd;
	hiq->xccs = BIT(xcc);
	WRITE_ONCE(*(u64 *)(gpu->doorbells + doorbell * 4ULL), 0);
	list_add_tail(&hiq->node, &gpu->hiqs);
out:
	mutex_unlock(&gpu->lock);
	return err;
}

static void hiq_free(struct sg_gpu *gpu, struct sg_hiq *hiq)
{
	sg_queues_unmap(gpu, hiq, -1);
	list_del(&hiq->node);
	kfree(hiq);
}

void sg_hiqs_forget(struct sg_gpu *gpu)
{
	struct sg_hiq *hiq, *next;

	list_for_each_entry_safe(hiq, next, &gpu->hiqs, node) hiq_free(gpu, hiq);
}

int amdgpu_amdkfd_unmap_hiq(struct amdgpu_device *adev, u32 doorbell_off, u32 xcc)
{
	const u32 doorbell = doorbell_off & 0x3ffffff; /* mode bits are above the offset */
	struct sg_gpu *gpu = sg_from_adev(adev);
	struct sg_hiq *hiq, *next;

	mutex_lock(&gpu->lock);
	list_for_each_entry_safe(hiq, next, &gpu->hiqs, node) if (hiq->doorbell == doorbell)
		hiq_free(gpu, hiq);
	mutex_unlock(&gpu->lock);
	return 0;
}
