// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: GPU address spaces.
 *
 * One per open of the render node, as in amdgpu.  There are no page tables: a space is a list of
 * mapped objects, and its "page table base" is a number to find it again when the scheduler
 * firmware gets a MAP_PROCESS packet.
 */
#include <drm/drm_file.h>
#include "softgpu.h"

#define PAGE_TABLE_VALID 1 /* bit 0 of a page table base, as the hardware wants it */

static DEFINE_XARRAY_ALLOC1(vm_ids);

int sg_vm_open(struct sg_gpu *gpu, struct drm_file *file)
{
	struct sg_vm *vm = kzalloc(sizeof(*vm), GFP_KERNEL);
	struct sg_bo *root = sg_bo_new(gpu, PAGE_SIZE); /* KFD asks for its reservation object */
	int err = -ENOMEM;

	if (!vm || !root)
		goto fail;
	kref_init(&vm->ref);
	vm->gpu = gpu;
	mutex_init(&vm->lock);
	INIT_LIST_HEAD(&vm->maps);
	vm->fpriv.vm.root.bo = &root->bo;
	err = xa_alloc(&vm_ids, &vm->id, vm, XA_LIMIT(1, 1 << 20), GFP_KERNEL);
	if (err)
		goto fail;
#if SG_LINUX_7 /* a PASID belongs to the open file, no longer to the process */
	vm->pasid = vm->fpriv.vm.pasid = amdgpu_pasid_alloc(16, &vm->fpriv);
#endif
	file->driver_priv = vm;
	return 0;
fail:
	sg_bo_put(root);
	kfree(vm);
	return err;
}

static void vm_free(struct kref *ref)
{
	struct sg_vm *vm = container_of(ref, struct sg_vm, ref);

#if SG_LINUX_7
	amdgpu_pasid_free(vm->pasid);
#endif
	kfree(vm);
}

void sg_vm_put(struct sg_vm *vm)
{
	if (vm)
		kref_put(&vm->ref, vm_free);
}

static void map_free(struct sg_map *map)
{
	list_del(&map->node);
	sg_bo_put(to_sg_bo(map->va.base.bo));
	kfree(map);
}

static void leave_process(struct sg_vm *vm)
{
	struct amdkfd_process_info *info = vm->process_info;

	if (!info || --info->n_vms)
		return;
	put_pid(info->pid);
	kfree(info);
}

void sg_vm_close(struct drm_file *file)
{
	struct sg_vm *vm = file->driver_priv;
	struct sg_map *map, *next;

	if (!vm)
		return;
	xa_erase(&vm_ids, vm->id);
	mutex_lock(&vm->lock);
	list_for_each_entry_safe(map, next, &vm->maps, node) map_free(map);
	mutex_unlock(&vm->lock);
	leave_process(vm);
	sg_bo_put(to_sg_bo(vm->fpriv.vm.root.bo));
	file->driver_priv = NULL;
	sg_vm_put(vm);
}

struct sg_vm *sg_vm_get(u64 page_table_base)
{
	struct sg_vm *vm;

	xa_lock(&vm_ids);
	vm = xa_load(&vm_ids, page_table_base >> PAGE_SHIFT);
	if (vm && !kref_get_unless_zero(&vm->ref))
		vm = NULL;
	xa_unlock(&vm_ids);
	return vm;
}

static struct sg_map *map_at(struct sg_vm *vm, u64 page)
{
	struct sg_map *map;

	list_for_each_entry(map, &vm->maps, node) if (page >= map->range.start &&
						      page <= map->range.last) return map;
	return NULL;
}

static struct sg_map *map_of_mem(struct sg_vm *vm, const struct kgd_mem *mem)
{
	struct sg_map *map;

	list_for_each_entry(map, &vm->maps, node) if (map->mem == mem) return map;
	return NULL;
}

/* What the GPU reads and writes lies within one object, or it is a fault (NULL). */
void *sg_vm_ptr(struct sg_vm *vm, u64 va, u64 len)
{
	struct sg_map *map;
	void *base;

	lockdep_assert_held(&vm->lock);
	map = map_at(vm, va >> PAGE_SHIFT);
	if (!map || !len || (va + len - 1) >> PAGE_SHIFT > map->range.last)
		return NULL;
	base = sg_bo_kmap(to_sg_bo(map->va.base.bo));
	return base ? base + (va - (map->range.start << PAGE_SHIFT)) : NULL;
}

/* The same between a buffer and memory that need not be mapped as a whole; false: a fault. */
bool sg_vm_copy(struct sg_vm *vm, u64 va, void *buffer, size_t len, bool write)
{
	struct sg_map *map;

	lockdep_assert_held(&vm->lock);
	map = map_at(vm, va >> PAGE_SHIFT);
	if (!map || !len || (va + len - 1) >> PAGE_SHIFT > map->range.last)
		return false;
	return sg_bo_copy(to_sg_bo(map->va.base.bo), va - (map->range.start << PAGE_SHIFT), buffer,
			  len, write, vm->process_info ? vm->process_info->pid : NULL);
}

void *sg_vm_pin(struct sg_vm *vm, u64 va, u64 len, struct sg_bo **bo)
{
	void *ptr;

	mutex_lock(&vm->lock);
	ptr = sg_vm_ptr(vm, va, len);
	*bo = ptr ? sg_bo_get(to_sg_bo(map_at(vm, va >> PAGE_SHIFT)->va.base.bo)) : NULL;
	mutex_unlock(&vm->lock);
	return ptr;
}

u64 sg_vm_vram(struct sg_vm *vm)
{
	struct sg_map *map;
	u64 bytes = 0;

	mutex_lock(&vm->lock);
	list_for_each_entry(map, &vm->maps, node) if (map->mem->domain == AMDGPU_GEM_DOMAIN_VRAM)
		bytes += to_sg_bo(map->va.base.bo)->size;
	mutex_unlock(&vm->lock);
	return bytes;
}

/* ---- what amdkfd links against ---- */

int amdgpu_file_to_fpriv(struct file *filp, struct amdgpu_fpriv **fpriv)
{
	struct drm_file *file = filp->private_data;

	if (!sg_is_render_node(filp))
		return -EINVAL;
	*fpriv = &((struct sg_vm *)file->driver_priv)->fpriv;
	return 0;
}

struct sg_fence {
	struct dma_fence base; /* first: freed through it */
	spinlock_t lock;
};

static const char *fence_name(struct dma_fence *fence)
{
	return "softgpu";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

/* KFD wants an eviction fence per process; nothing here ever waits for it. */
static struct dma_fence *eviction_fence_new(void)
{
	struct sg_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, dma_fence_context_alloc(1), 1);
	return &fence->base;
}

static struct amdkfd_process_info *process_info_new(void)
{
	struct amdkfd_process_info *info = kzalloc(sizeof(*info), GFP_KERNEL);

	if (!info)
		return NULL;
	mutex_init(&info->lock);
	info->pid = get_task_pid(current->group_leader, PIDTYPE_PID);
	return info;
}

/* The first GPU of a process makes the info; KFD asks for the fence until it has one. */
int amdgpu_amdkfd_gpuvm_acquire_process_vm(struct amdgpu_device *adev, struct amdgpu_vm *avm,
					   void **process_info, struct dma_fence **fence)
{
	struct sg_vm *vm = to_sg_vm(avm);
	struct amdkfd_process_info *info = *process_info;

	if (vm->process_info)
		return -EINVAL;
	if (!info)
		info = process_info_new();
	if (!info)
		return -ENOMEM;
	*process_info = info; /* KFD's to keep, also when the fence fails */
	if (fence) {
		*fence = eviction_fence_new();
		if (!*fence)
			return -ENOMEM;
	}
	info->n_vms++;
	vm->process_info = info;
	avm->process_info = info;
	vm->tgid = current->tgid;
	get_task_comm(vm->comm, current->group_leader);
	return 0;
}

#if !SG_LINUX_7
int amdgpu_amdkfd_gpuvm_set_vm_pasid(struct amdgpu_device *adev, struct amdgpu_vm *avm, u32 pasid)
{
	to_sg_vm(avm)->pasid = pasid;
	return 0;
}
#endif

u64 amdgpu_amdkfd_gpuvm_get_process_page_dir(void *drm_priv)
{
	return ((u64)to_sg_vm(drm_priv_to_vm(drm_priv))->id << PAGE_SHIFT) | PAGE_TABLE_VALID;
}

struct amdgpu_bo_va_mapping *amdgpu_vm_bo_lookup_mapping(struct amdgpu_vm *avm, u64 page)
{
	struct sg_vm *vm = to_sg_vm(avm);
	struct sg_map *map;

	mutex_lock(&vm->lock);
	map = map_at(vm, page);
	mutex_unlock(&vm->lock);
	return map ? &map->range : NULL;
}

struct amdgpu_bo_va *amdgpu_vm_bo_find(struct amdgpu_vm *avm, struct amdgpu_bo *bo)
{
	struct sg_vm *vm = to_sg_vm(avm);
	struct amdgpu_bo_va *va = NULL;
	struct sg_map *map;

	mutex_lock(&vm->lock);
	list_for_each_entry(map, &vm->maps, node)
	{
		if (map->va.base.bo == bo) {
			va = &map->va;
			break;
		}
	}
	mutex_unlock(&vm->lock);
	return va;
}

static struct sg_map *map_new(struct sg_vm *vm, struct kgd_mem *mem)
{
	struct sg_map *map = kzalloc(sizeof(*map), GFP_KERNEL);
	struct sg_bo *bo = to_sg_bo(mem->bo);

	if (!map)
		return NULL;
	sg_bo_get(bo);
	map->mem = mem;
	map->va.base.bo = &bo->bo;
	map->va.base.vm = &vm->fpriv.vm;
	map->range.bo_va = &map->va;
	map->range.start = mem->va >> PAGE_SHIFT;
	map->range.last = map->range.start + bo->npages - 1;
	return map;
}

int amdgpu_amdkfd_gpuvm_map_memory_to_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					  void *drm_priv)
{
	struct sg_vm *vm = to_sg_vm(drm_priv_to_vm(drm_priv));
	struct sg_map *map;
	int err = 0;

	mutex_lock(&vm->lock);
	if (!map_of_mem(vm, mem)) {
		map = map_new(vm, mem);
		if (map) {
			list_add(&map->node, &vm->maps);
			mem->mapped_to_gpu_memory++;
		} else {
			err = -ENOMEM;
		}
	}
	mutex_unlock(&vm->lock);
	return err;
}

int amdgpu_amdkfd_gpuvm_unmap_memory_from_gpu(struct amdgpu_device *adev, struct kgd_mem *mem,
					      void *drm_priv)
{
	struct sg_vm *vm = to_sg_vm(drm_priv_to_vm(drm_priv));
	struct sg_map *map;
	int err = 0;

	mutex_lock(&vm->lock);
	map = map_of_mem(vm, mem);
	if (map && map->va.queue_refcount) {
		err = -EBUSY; /* a queue's ring, or another buffer of a queue */
	} else if (map) {
		mem->mapped_to_gpu_memory--;
		map_free(map);
	}
	mutex_unlock(&vm->lock);
	return err;
}

bool amdgpu_amdkfd_bo_mapped_to_dev(void *drm_priv, struct kgd_mem *mem)
{
	return amdgpu_vm_bo_find(drm_priv_to_vm(drm_priv), mem->bo);
}
