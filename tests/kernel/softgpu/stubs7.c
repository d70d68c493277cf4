// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: what amdkfd of Linux 7 links to beyond stubs.c.  Empty on 6.12.
 *
 * The second half is for shared virtual memory (kfd_svm.c, kfd_migrate.c), which the distribution
 * builds since then.  No device memory is registered here (adev->kfd.pgmap), so KFD reports SVM as
 * unsupported and calls none of it.
 */
#include "softgpu.h"

#if SG_LINUX_7
#include "amdgpu_hmm.h"
#include "amdgpu_job.h"
#include "amdgpu_ras.h"
#include "amdgpu_ras_mgr.h"
#include "amdgpu_sdma.h"
#include "amdgpu_xgmi.h"

int amdgpu_gpu_recovery = -1, amdgpu_mtype_local = -1;
uint amdgpu_svm_default_granularity = 9;

#define STUB(type, name, args, result) \
	type name args                 \
	{                              \
		return result;         \
	}

int amdgpu_xgmi_get_bandwidth(struct amdgpu_device *adev, struct amdgpu_device *peer,
			      enum amdgpu_xgmi_bw_mode mode, enum amdgpu_xgmi_bw_unit unit,
			      u32 *min, u32 *max)
{
	*min = *max = 50000;
	return 0;
}
STUB(int, amdgpu_xgmi_get_hops_count, (struct amdgpu_device * a, struct amdgpu_device *b), 1)
STUB(bool, amdgpu_xgmi_get_is_sharing_enabled, (struct amdgpu_device * a, struct amdgpu_device *b),
     true)
STUB(bool, amdgpu_xgmi_same_hive, (struct amdgpu_device * a, struct amdgpu_device *b), false)

/* MES: contexts are named by their address, no queue is ever reset by itself */
STUB(int, amdgpu_mes_alloc_gang_ctx_index, (struct amdgpu_mes * mes, u32 *index), 0)
STUB(int, amdgpu_mes_alloc_proc_ctx_index, (struct amdgpu_mes * mes, u32 *index), 0)
STUB(void, amdgpu_mes_free_gang_ctx_index, (struct amdgpu_mes * mes, u32 index), )
STUB(void, amdgpu_mes_free_proc_ctx_index, (struct amdgpu_mes * mes, u32 index), )
STUB(int, amdgpu_mes_get_hung_queue_db_array_size, (struct amdgpu_device * adev), 0)
STUB(bool, amdgpu_mes_queue_reset_by_mes_supported, (struct amdgpu_device * adev), false)
STUB(int, amdgpu_mes_reset_queue_mmio,
     (struct amdgpu_device * adev, int type, unsigned int vmid, unsigned int me, unsigned int pipe,
      unsigned int queue, u32 xcc),
     -EOPNOTSUPP)
STUB(int, amdgpu_mes_reset_user_queue,
     (struct amdgpu_device * adev, int type, unsigned int doorbell, unsigned int xcc), -EOPNOTSUPP)
STUB(int, amdgpu_gfx_reset_mes_compute,
     (struct amdgpu_device * adev, struct amdgpu_ring *ring, struct amdgpu_fence *fence,
      struct amdgpu_usermode_queue *uq, unsigned int *hung, void *faulty),
     -EOPNOTSUPP)
STUB(int, amdgpu_sdma_reset_engine, (struct amdgpu_device * adev, u32 instance, bool kernel_queues),
     -EOPNOTSUPP)
STUB(int, amdgpu_in_reset, (struct amdgpu_device * adev), 0)

/* MQDs never move; KFD unpins them for a suspend of the whole machine only */
int amdgpu_bo_kmap(struct amdgpu_bo *bo, void **ptr)
{
	*ptr = sg_bo_kmap(to_sg_bo(bo));
	return *ptr ? 0 : -ENOMEM;
}
STUB(void, amdgpu_bo_kunmap, (struct amdgpu_bo * bo), )
STUB(int, amdgpu_bo_pin, (struct amdgpu_bo * bo, u32 domain), 0)
STUB(void, amdgpu_bo_unpin, (struct amdgpu_bo * bo), )

STUB(void, amdgpu_mm_wdoorbell, (struct amdgpu_device * adev, u32 index, u32 value), )
STUB(bool, amdgpu_uniras_enabled, (struct amdgpu_device * adev), false)
STUB(u64, amdgpu_ras_mgr_gen_ras_event_seqno,
     (struct amdgpu_device * adev, enum ras_seqno_type type), 0)
STUB(void, amdgpu_ras_set_err_poison, (struct amdgpu_device * adev, enum amdgpu_ras_block block), )
STUB(void, amdgpu_vm_print_task_info,
     (struct amdgpu_device * adev, struct amdgpu_task_info *info), )
/* Who has the address space, for SMI events: amdgpu notes it when the process takes it. */
struct amdgpu_task_info *amdgpu_vm_get_task_info_vm(struct amdgpu_vm *avm)
{
	const struct sg_vm *vm = to_sg_vm(avm);
	struct amdgpu_task_info *info = kzalloc(sizeof(*info), GFP_KERNEL);

	if (!info)
		return NULL;
	info->task.pid = info->tgid = vm->tgid;
	strscpy(info->task.comm, vm->comm);
	strscpy(info->process_name, vm->comm);
	return info;
}

/* ---- shared virtual memory ---- */

STUB(int, amdgpu_amdkfd_reserve_mem_limit,
     (struct amdgpu_device * adev, u64 size, u32 flags, s8 xcp), -EOPNOTSUPP)
STUB(void, amdgpu_amdkfd_unreserve_mem_limit,
     (struct amdgpu_device * adev, u64 size, u32 flags, s8 xcp), )
STUB(void, amdgpu_amdkfd_reserve_system_mem, (u64 size), )
STUB(int, amdgpu_bo_create,
     (struct amdgpu_device * adev, struct amdgpu_bo_param *param, struct amdgpu_bo **bo),
     -EOPNOTSUPP)
STUB(void, amdgpu_bo_placement_from_domain, (struct amdgpu_bo * bo, u32 domain), )
STUB(int, amdgpu_bo_sync_wait, (struct amdgpu_bo * bo, void *owner, bool intr), 0)
STUB(int, amdgpu_copy_buffer,
     (struct amdgpu_device * adev, struct amdgpu_ttm_buffer_entity *entity, u64 from, u64 to,
      u32 bytes, struct dma_resv *resv, struct dma_fence **fence, bool flush, u32 flags),
     -EOPNOTSUPP)
STUB(void, amdgpu_gart_map,
     (struct amdgpu_device * adev, u64 offset, int pages, dma_addr_t *addr, u64 flags, void *to), )
STUB(void, amdgpu_gmc_filter_faults_remove, (struct amdgpu_device * adev, u64 addr, u16 pasid), )
struct amdgpu_hmm_range *amdgpu_hmm_range_alloc(struct amdgpu_bo *bo)
{
	return NULL;
}
STUB(void, amdgpu_hmm_range_free, (struct amdgpu_hmm_range * range), )
STUB(int, amdgpu_hmm_range_get_pages,
     (struct mmu_interval_notifier * notifier, u64 start, u64 npages, bool readonly, void *owner,
      struct amdgpu_hmm_range *range),
     -EOPNOTSUPP)
STUB(bool, amdgpu_hmm_range_valid, (struct amdgpu_hmm_range * range), false)
STUB(int, amdgpu_ih_wait_on_checkpoint_process_ts,
     (struct amdgpu_device * adev, struct amdgpu_ih_ring *ih), 0)
STUB(int, amdgpu_job_alloc_with_ib,
     (struct amdgpu_device * adev, struct drm_sched_entity *entity, void *owner, size_t size,
      enum amdgpu_ib_pool_type pool, u64 id, struct amdgpu_job **job),
     -EOPNOTSUPP)
struct dma_fence *amdgpu_job_submit(struct amdgpu_job *job)
{
	return NULL;
}
STUB(u64, amdgpu_ttm_domain_start, (struct amdgpu_device * adev, u32 type), 0)
STUB(bool, amdgpu_ttm_tt_affect_userptr,
     (struct ttm_tt * ttm, unsigned long start, unsigned long end, unsigned long *userptr), false)
STUB(int, amdgpu_vm_lock_pd, (struct amdgpu_vm * vm, struct drm_exec *exec, unsigned int fences),
     -EOPNOTSUPP)
STUB(bool, amdgpu_vm_ready, (struct amdgpu_vm * vm), true)
STUB(int, amdgpu_vm_update_pdes, (struct amdgpu_device * adev, struct amdgpu_vm *vm, bool now),
     -EOPNOTSUPP)
STUB(int, amdgpu_vm_update_range,
     (struct amdgpu_device * adev, struct amdgpu_vm *vm, bool immediate, bool unlocked, bool flush,
      bool override, struct amdgpu_sync *sync, u64 start, u64 last, u64 flags, u64 offset,
      u64 vram_base, struct ttm_resource *res, dma_addr_t *pages, struct dma_fence **fence),
     -EOPNOTSUPP)
STUB(int, amdgpu_vm_validate,
     (struct amdgpu_device * adev, struct amdgpu_vm *vm, struct ww_acquire_ctx *ticket,
      int (*callback)(void *, struct amdgpu_bo *), void *param),
     -EOPNOTSUPP)
#endif
