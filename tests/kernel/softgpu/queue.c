// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: mapping a user queue onto the hardware, and taking it off again.
 *
 * Mapping reads the queue's MQD the way the CP or the SDMA engine does; unmapping saves the
 * queue's state into it.  Which words are written back is from captures of gfx942 and from the
 * driver's own checks; where neither says anything it is our choice (README.md).
 */
#include "softgpu.h"
#include "mqd.h"

#define SDMA_RPTR(gen, mqd)                                                              \
	((u64)((const struct gen##_sdma_mqd *)(mqd))->sdmax_rlcx_rb_rptr_addr_hi << 32 | \
	 ((const struct gen##_sdma_mqd *)(mqd))->sdmax_rlcx_rb_rptr_addr_lo)

static u64 sdma_rptr_va(const struct sg_gpu *gpu, const u32 *mqd)
{
	switch (sg_gfx_major(gpu)) {
	case 10: return SDMA_RPTR(v10, mqd);
	case 11: return SDMA_RPTR(v11, mqd);
	case 12: return SDMA_RPTR(v12, mqd);
	}
	return SDMA_RPTR(v9, mqd);
}

/* A PM4 queue's pointers are 32 bits wide, in memory and in the doorbell. */
u64 sg_queue_load(const struct sg_queue *queue, const u64 *pointer)
{
	return queue->aql || queue->sdma ? READ_ONCE(*pointer) : READ_ONCE(*(const u32 *)pointer);
}

void sg_queue_report_rptr(struct sg_queue *queue)
{
	if (queue->aql || queue->sdma)
		WRITE_ONCE(*queue->rptr_report, queue->rptr);
	else
		WRITE_ONCE(*(u32 *)queue->rptr_report, queue->rptr);
}

static u64 *doorbell_of(const struct sg_gpu *gpu, const struct sg_queue *queue)
{
	return (u64 *)(gpu->doorbells + queue->doorbell * 4ULL);
}

u64 sg_queue_doorbell(const struct sg_gpu *gpu, const struct sg_queue *queue)
{
	return READ_ONCE(*doorbell_of(gpu, queue));
}

struct ring_desc {
	u64 base, rptr_va;
};

static struct ring_desc read_mqd(const struct sg_gpu *gpu, struct sg_queue *queue)
{
	const u32 *mqd = queue->mqds[0];

	if (queue->sdma) {
		queue->size = 4ULL << ((mqd[SDMA_MQD_CNTL] >> 1) & 0x1f);
		return (struct ring_desc){.base = mqd_u64(mqd, SDMA_MQD_BASE) << 8,
					  .rptr_va = sdma_rptr_va(gpu, mqd)};
	}
	queue->aql = mqd[MQD(cp_hqd_aql_control)] != 0;
	queue->size = 4ULL << ((mqd[MQD(cp_hqd_pq_control)] & 0x3f) + 1);
	return (struct ring_desc){
		.base = mqd_u64(mqd, MQD(cp_hqd_pq_base_lo)) << 8,
		.rptr_va = mqd_u64(mqd, MQD(cp_hqd_pq_rptr_report_addr_lo)),
	};
}

static struct sg_ring_stat *stat_of(struct sg_gpu *gpu, u32 doorbell)
{
	struct sg_ring_stat *stat = xa_load(&gpu->ring_stats, doorbell);

	if (stat)
		return stat;
	stat = kzalloc(sizeof(*stat), GFP_KERNEL);
	if (stat && xa_err(xa_store(&gpu->ring_stats, doorbell, stat, GFP_KERNEL))) {
		kfree(stat);
		stat = NULL;
	}
	return stat;
}

static void count_from_here(struct sg_queue *queue, u64 ring)
{
	struct sg_ring_stat *stat = queue->stat;
	bool unused = !queue->rptr && !queue->wptr;

	if (!unused && stat->mqd_addr == queue->mqd_addr && stat->ring == ring &&
	    stat->tgid == queue->vm->tgid)
		return; /* the same queue, mapped again; addresses are used again by later processes */
	kvfree(stat->waves);
	memset(stat, 0, sizeof(*stat));
	stat->mqd_addr = queue->mqd_addr;
	stat->ring = ring;
	stat->size = queue->size;
	stat->pasid = queue->pasid;
	stat->tgid = queue->vm->tgid;
}

static void queue_free(struct sg_queue *queue)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(queue->bos); i++)
		sg_bo_put(queue->bos[i]);
	sg_vm_put(queue->vm);
	kfree(queue);
}

/*
 * The MQDs of the other XCCs follow the first, each with its control stack behind it
 * (mqd_stride_v9 in kfd_mqd_manager_v9.c).  A PM4 queue runs on one XCC only.
 */
static void find_other_mqds(struct sg_gpu *gpu, struct sg_queue *queue)
{
	const u32 control_stack = queue->mqds[0][MQD(cp_hqd_cntl_stack_size)];
	const u64 stride = PAGE_SIZE + PAGE_ALIGN(control_stack);
	const int xccs = queue->owner && queue->aql ? hweight32(queue->owner->xccs) : 1;
	u64 addr;
	u32 *mqd;

	while (queue->n_mqds < min(xccs, SG_MAX_XCCS)) {
		addr = queue->mqd_addr + stride * queue->n_mqds;
		mqd = sg_kernel_ptr(gpu, addr, sizeof(struct v9_mqd));
		if (!mqd || mqd_u64(mqd, MQD(cp_mqd_base_addr_lo)) != addr)
			break;
		queue->mqds[queue->n_mqds++] = mqd;
	}
}

const u32 *sg_queue_mqd(const struct sg_queue *queue, u32 xcc)
{
	const u32 xccs = queue->owner ? queue->owner->xccs : 1;
	const int index = hweight32(xccs & (BIT(xcc) - 1)); /* logical XCC of the node */

	return (xccs & BIT(xcc)) && index < queue->n_mqds ? queue->mqds[index] : NULL;
}

/* Resolve all that the MQD points to.  An unreadable ring is tolerated, see sg_bo_pin(). */
static int connect(struct sg_gpu *gpu, struct sg_queue *queue, const struct sg_map_request *req)
{
	struct ring_desc ring;

	queue->mqds[0] = sg_kernel_ptr(gpu, req->mqd_addr, sizeof(struct v9_mqd));
	queue->n_mqds = 1;
	queue->vm = sg_vm_get(req->page_table_base);
	if (!queue->mqds[0] || !queue->vm)
		return -EINVAL;
	ring = read_mqd(gpu, queue);
	if (!queue->sdma)
		find_other_mqds(gpu, queue);
	queue->ring = sg_vm_pin(queue->vm, ring.base, queue->size, &queue->bos[0]);
	queue->rptr_report = sg_vm_pin(queue->vm, ring.rptr_va, 8, &queue->bos[1]);
	queue->wptr_poll = sg_vm_pin(queue->vm, req->wptr_va, 8, &queue->bos[2]);
	queue->stat = stat_of(gpu, queue->doorbell);
	if (!queue->rptr_report || !queue->wptr_poll || !queue->stat)
		return -EINVAL;
	queue->rptr = sg_queue_load(queue, queue->rptr_report);
	queue->wptr = sg_queue_load(queue, queue->wptr_poll);
	count_from_here(queue, ring.base);
	return 0;
}

/*
 * The first value ROCr rings an AQL doorbell with is 0, the index of the first packet.  It must
 * look like a change, so the doorbell of a queue that was never used starts with all ones.
 */
static void arm_doorbell(struct sg_gpu *gpu, struct sg_queue *queue)
{
	if (queue->aql && !queue->rptr && !queue->wptr && !READ_ONCE(*queue->wptr_poll))
		WRITE_ONCE(*doorbell_of(gpu, queue), ~0ULL);
	queue->last_doorbell = sg_queue_doorbell(gpu, queue);
}

/*
 * Waves are launched with their ttmps set up: always, or only where trap handlers are on for the
 * process (kfd_dbg_has_ttmps_always_setup).
 */
static bool has_ttmps(const struct sg_gpu *gpu, const struct sg_map_request *req)
{
	const bool old_mes = (gpu->model->mes_version & AMDGPU_MES_VERSION_MASK) < 70;

	if (gpu->model->gc == IP_VERSION(9, 4, 2) || (sg_gfx_major(gpu) == 11 && old_mes))
		return req->debug;
	return true;
}

static void restore_compute(u32 *mqd)
{
	mqd[MQD(cp_hqd_active)] = 1;
	mqd[MQD(cp_hqd_cntl_stack_offset)] = mqd[MQD(cp_hqd_cntl_stack_size)];
	mqd[MQD(cp_hqd_wg_state_offset)] = mqd[MQD(cp_hqd_cntl_stack_size)];
}

int sg_queue_map(struct sg_gpu *gpu, const struct sg_map_request *req)
{
	struct sg_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	int err, i;

	lockdep_assert_held(&gpu->lock);
	if (!queue)
		return -ENOMEM;
	queue->owner = req->owner;
	queue->gang = req->gang;
	queue->doorbell = req->doorbell;
	queue->pasid = req->pasid;
	queue->mqd_addr = req->mqd_addr;
	queue->sdma = req->sdma;
	err = connect(gpu, queue, req);
	if (err) {
		dev_warn(gpu->adev->dev, "softgpu: cannot map queue: mqd %llx wptr %llx pt %llx\n",
			 req->mqd_addr, req->wptr_va, req->page_table_base);
		queue_free(queue);
		return err;
	}
	queue->ttmps = has_ttmps(gpu, req);
	arm_doorbell(gpu, queue);
	for (i = 0; !queue->sdma && i < queue->n_mqds; i++)
		restore_compute(queue->mqds[i]);
	list_add_tail(&queue->node, &gpu->queues);
	if (!gpu->occupied_since)
		gpu->occupied_since = ktime_get_ns();
	gpu->count.map_queues++;
	return 0;
}

static void save_compute(const struct sg_queue *queue, u32 *mqd)
{
	const u64 dwords = queue->aql ? 16 : 1; /* per unit of rptr and wptr */

	mqd[MQD(cp_hqd_active)] = 0;
	mqd[MQD(cp_hqd_pq_rptr)] = queue->rptr * dwords & (queue->size / 4 - 1);
	mqd_set_u64(mqd, MQD(cp_hqd_pq_wptr_lo), queue->wptr * dwords);
}

/* In bytes, with the VMID the queue last had (captured on gfx942). */
static void save_sdma(const struct sg_queue *queue)
{
	queue->mqds[0][SDMA_MQD_CNTL] |= SG_COMPUTE_VMID << 24;
	mqd_set_u64(queue->mqds[0], SDMA_MQD_RPTR, queue->rptr);
	mqd_set_u64(queue->mqds[0], SDMA_MQD_WPTR, queue->wptr);
}

u64 sg_occupied_ns(const struct sg_gpu *gpu)
{
	lockdep_assert_held(&gpu->lock);
	return gpu->occupied_ns + (gpu->occupied_since ? ktime_get_ns() - gpu->occupied_since : 0);
}

void sg_queue_unmap(struct sg_gpu *gpu, struct sg_queue *queue)
{
	int i;

	lockdep_assert_held(&gpu->lock);
	if (queue->sdma)
		save_sdma(queue);
	for (i = 0; !queue->sdma && i < queue->n_mqds; i++)
		save_compute(queue, queue->mqds[i]);
	if (queue->aql)
		sg_waves_save(gpu, queue);
	list_del(&queue->node);
	if (list_empty(&gpu->queues)) {
		gpu->occupied_ns = sg_occupied_ns(gpu);
		gpu->occupied_since = 0;
	}
	queue_free(queue);
}

void sg_queues_unmap(struct sg_gpu *gpu, const struct sg_hiq *owner, int pasid)
{
	struct sg_queue *queue, *next;

	list_for_each_entry_safe(queue, next, &gpu->queues,
				 node) if (queue->owner == owner &&
					   (pasid < 0 || queue->pasid == (u32)pasid))
		sg_queue_unmap(gpu, queue);
}
