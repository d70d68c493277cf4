// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the hardware slots of compute queues, as KFD's debugfs (hqds) and cu_occupancy ask for
 * them.
 *
 * A compute slot is the register block CP_MQD_BASE_ADDR .. CP_HQD_PQ_WPTR_HI: the words of the
 * queue's MQD with live pointers in them.  Idle values and the busy bits are those captured on
 * gfx942; so are the register bases of its first four XCCs, the others continue the pattern.
 */
#include "softgpu.h"
#include "mqd.h"

#define HQD_REGS    56
#define HQD_GFX9    0x3245 /* dword offset of CP_MQD_BASE_ADDR */
#define HQD_GFX10   0x3209
#define HIQ_PIPE    4 /* KFD asks for the HIQ's slot as pipe 4 queue 0 */
#define HQD(field)  (MQD(field) - MQD(cp_mqd_base_addr_lo))
#define WAVES_SHOWN 64 /* of every busy queue, in cu_occupancy */

#define HQ_STATUS_IDLE   BIT(30)
#define PQ_CONTROL_EMPTY BIT(15)
#define DOORBELL_ENABLE  BIT(30)
#define DOORBELL_HIT     BIT(29)

static const u32 xcc_base[] = {0, 0x30000, 0x40000, 0x70000, 0x80000, 0xb0000, 0xc0000, 0xf0000};

static const u32 idle_slot[HQD_REGS] = {
	[4] = 0x0be05301,  [17] = 0x00308509, [21] = 0x00300000, [32] = HQ_STATUS_IDLE,
	[34] = 0x00000100, [39] = 0x00000006, [40] = 0x40000000, [41] = 0x007f8000,
};

static u32 first_register(const struct sg_gpu *gpu, u32 xcc)
{
	if (sg_gfx_major(gpu) >= 10)
		return HQD_GFX10;
	return HQD_GFX9 + xcc_base[xcc % ARRAY_SIZE(xcc_base)];
}

/* Slots are filled in list order, one pipe after the other, like HWS spreads queues. */
static struct sg_queue *queue_in_slot(struct sg_gpu *gpu, u32 pipe, u32 slot, u32 xcc)
{
	struct sg_queue *queue;
	int n;

	if (slot < SG_FIRST_USER_Q)
		return NULL;
	n = (slot - SG_FIRST_USER_Q) * SG_PIPES + pipe;
	list_for_each_entry(queue, &gpu->queues, node)
	{
		if (queue->sdma || !queue->resident || !sg_queue_mqd(queue, xcc))
			continue;
		if (n-- == 0)
			return queue;
	}
	return NULL;
}

static const u32 *hiq_mqd(struct sg_gpu *gpu, u32 xcc)
{
	struct sg_hiq *hiq;

	list_for_each_entry(hiq, &gpu->hiqs, node) if (hiq->xccs & BIT(xcc)) return hiq->mqd;
	return NULL;
}

/* The live half of a slot: what the MQD in memory only learns when the queue is unmapped. */
static void set_live(u32 *regs, const struct sg_queue *queue)
{
	const u64 dwords = queue->aql ? 16 : 1;

	regs[HQD(cp_hqd_vmid)] = SG_COMPUTE_VMID;
	regs[HQD(cp_hqd_pq_rptr)] = queue->rptr * dwords & (queue->size / 4 - 1);
	mqd_set_u64(regs, HQD(cp_hqd_pq_wptr_lo), queue->wptr * dwords);
	regs[HQD(cp_hqd_pq_doorbell_control)] |= DOORBELL_ENABLE | DOORBELL_HIT;
	if (sg_queue_pending(queue)) {
		regs[HQD(cp_hqd_pq_control)] &= ~PQ_CONTROL_EMPTY;
		regs[HQD(cp_hqd_hq_status0)] &= ~HQ_STATUS_IDLE;
	} else {
		regs[HQD(cp_hqd_pq_control)] |= PQ_CONTROL_EMPTY;
		regs[HQD(cp_hqd_hq_status0)] |= HQ_STATUS_IDLE;
	}
}

static void read_slot(struct sg_gpu *gpu, u32 pipe, u32 slot, u32 xcc, u32 *regs)
{
	struct sg_queue *queue = NULL;
	const u32 *mqd;

	mutex_lock(&gpu->lock);
	if (pipe < HIQ_PIPE) {
		queue = queue_in_slot(gpu, pipe, slot, xcc);
		mqd = queue ? sg_queue_mqd(queue, xcc) : NULL;
	} else {
		mqd = hiq_mqd(gpu, xcc);
	}
	memcpy(regs, mqd ? mqd + MQD(cp_mqd_base_addr_lo) : idle_slot, HQD_REGS * 4);
	if (mqd)
		regs[HQD(cp_hqd_active)] = 1;
	if (queue)
		set_live(regs, queue);
	mutex_unlock(&gpu->lock);
}

int sg_hqd_dump(struct amdgpu_device *adev, u32 pipe, u32 queue, u32 (**dump)[2], u32 *n_regs,
		u32 xcc)
{
	struct sg_gpu *gpu = sg_from_adev(adev);
	u32(*out)[2] = kcalloc(HQD_REGS, sizeof(*out), GFP_KERNEL);
	u32 regs[HQD_REGS];
	int i;

	if (!out)
		return -ENOMEM;
	read_slot(gpu, pipe, queue, xcc, regs);
	for (i = 0; i < HQD_REGS; i++) {
		out[i][0] = (first_register(gpu, xcc) + i) * 4;
		out[i][1] = regs[i];
	}
	*dump = out;
	*n_regs = HQD_REGS;
	return 0;
}

void sg_cu_occupancy(struct amdgpu_device *adev, struct kfd_cu_occupancy *occupancy,
		     int *max_waves_per_cu, u32 xcc)
{
	struct sg_gpu *gpu = sg_from_adev(adev);
	struct sg_queue *queue;
	int n = 0;

	*max_waves_per_cu = gpu->model->simds * gpu->model->waves;
	mutex_lock(&gpu->lock);
	list_for_each_entry(queue, &gpu->queues, node)
	{
		if (queue->sdma || !queue->resident || !sg_queue_busy(queue))
			continue;
		if (n == AMDGPU_MAX_QUEUES)
			break;
		occupancy[n].wave_cnt = WAVES_SHOWN;
		occupancy[n++].doorbell_off = queue->doorbell;
	}
	mutex_unlock(&gpu->lock);
}
