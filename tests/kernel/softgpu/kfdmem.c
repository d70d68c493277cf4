// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: memory for KFD: what AMDKFD_IOC_ALLOC_MEMORY_OF_GPU asks for, and KFD's own
 * allocations (MQDs, the HIQ, run lists, events).
 */
#include "softgpu.h"

static u32 domain_of(u32 flags)
{
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM)
		return AMDGPU_GEM_DOMAIN_VRAM;
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_GTT)
		return AMDGPU_GEM_DOMAIN_GTT;
	return AMDGPU_GEM_DOMAIN_CPU;
}

static int back_with_memory(struct sg_bo *bo, u32 flags, u64 *offset)
{
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR)
		return offset && *offset ? sg_bo_pin(bo, *offset) : -EINVAL;
	if (flags & (KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP)) {
		bo->nopages = true;
		return 0;
	}
	bo->vram = flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
	return offset ? sg_bo_make_mappable(bo, offset) : 0;
}

int amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu(struct amdgpu_device *adev, u64 va, u64 size,
					    void *drm_priv, struct kgd_mem **mem_out, u64 *offset,
					    u32 flags, bool criu_resume)
{
	struct kgd_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);
	struct sg_bo *bo = sg_bo_new(sg_from_adev(adev), size);
	int err = mem && bo ? back_with_memory(bo, flags, offset) : -ENOMEM;

	if (err) {
		sg_bo_put(bo);
		kfree(mem);
		return err;
	}
	mutex_init(&mem->lock);
	INIT_LIST_HEAD(&mem->attachments);
	INIT_LIST_HEAD(&mem->validate_list);
	mem->va = va;
	mem->alloc_flags = flags;
	mem->domain = domain_of(flags);
	mem->bo = &bo->bo;
	mem->process_info = to_sg_vm(drm_priv_to_vm(drm_priv))->process_info;
	bo->bo.kfd_bo = mem;
	*mem_out = mem;
	return 0;
}

int amdgpu_amdkfd_gpuvm_free_memory_of_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					   void *drm_priv, u64 *size)
{
	struct sg_bo *bo = to_sg_bo(mem->bo);

	if (mem->mapped_to_gpu_memory)
		return -EBUSY;
	if (size)
		*size = mem->alloc_flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM ? bo->size : 0;
	sg_bo_put(bo);
	kfree(mem);
	return 0;
}

int amdgpu_amdkfd_gpuvm_map_gtt_bo_to_kernel(struct kgd_mem *mem, void **kptr,
					     u64 *size SG_DOMAIN_ARG)
{
	struct sg_bo *bo = to_sg_bo(mem->bo);

	*kptr = sg_bo_kmap(bo);
	if (size)
		*size = bo->size;
	return *kptr ? 0 : -ENOMEM;
}

int amdgpu_amdkfd_alloc_gtt_mem(struct amdgpu_device *adev, size_t size SG_DOMAIN_ARG,
				void **mem_obj, u64 *gpu_addr, void **cpu_ptr, bool mqd_gfx9)
{
	struct sg_gpu *gpu = sg_from_adev(adev);
	struct sg_bo *bo = sg_bo_new(gpu, size);

	if (!bo)
		return -ENOMEM;
	*cpu_ptr = sg_bo_kmap(bo);
	if (!*cpu_ptr) {
		sg_bo_put(bo);
		return -ENOMEM;
	}
	spin_lock(&gpu->mem_lock);
	list_add(&bo->kernel_node, &gpu->kernel_bos);
	spin_unlock(&gpu->mem_lock);
	*mem_obj = &bo->bo;
	*gpu_addr = bo->gpu_addr;
	return 0;
}

void amdgpu_amdkfd_free_gtt_mem(struct amdgpu_device *adev, void **mem_obj)
{
	amdgpu_bo_unref((struct amdgpu_bo **)mem_obj);
}

int amdgpu_amdkfd_map_gtt_bo_to_gart(struct amdgpu_bo *bo, struct amdgpu_bo **bo_gart)
{
	*bo_gart = amdgpu_bo_ref(bo);
	return 0;
}
