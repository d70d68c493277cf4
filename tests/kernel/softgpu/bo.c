// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: buffer objects.
 *
 * An object is a range of kernel GPU addresses plus ordinary pages, allocated one by one when
 * the CPU, a shader stand-in or the render node's mmap first touches them.  That is how "VRAM"
 * of 192 GB fits into a small VM.  Doorbell objects are slices of the GPU's doorbell aperture.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "softgpu.h"

static int userptr_pin_max_mb = 16;
module_param(userptr_pin_max_mb, int, 0644);
MODULE_PARM_DESC(userptr_pin_max_mb,
		 "user memory objects up to this size can be read by the GPU (default 16)");

static bool vram_access = true;
module_param(vram_access, bool, 0644);
MODULE_PARM_DESC(vram_access, "other processes can read mappings of VRAM (default yes)");

/* mmap offset of an object: its id, far above any offset within it */
#define MMAP_ID_SHIFT 40
#define MMAP_ID_LIMIT XA_LIMIT(1, 1 << 20)

static DEFINE_XARRAY_ALLOC1(mmap_ids);

struct sg_bo *sg_bo_new(struct sg_gpu *gpu, u64 size)
{
	struct sg_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	struct drm_gem_object *gem;

	if (!bo)
		return NULL;
	kref_init(&bo->ref);
	mutex_init(&bo->lock);
	xa_init(&bo->pages);
	INIT_LIST_HEAD(&bo->kernel_node);
	bo->gpu = gpu;
	bo->size = PAGE_ALIGN(size);
	bo->npages = bo->size >> PAGE_SHIFT;
	bo->doorbell_off = -1;
	/* What amdkfd itself dereferences: size, reservation object, device. */
	gem = &bo->bo.tbo.base;
	gem->size = bo->size;
	dma_resv_init(&gem->_resv);
	gem->resv = &gem->_resv;
	bo->bo.tbo.bdev = &gpu->adev->mman.bdev;
	spin_lock(&gpu->mem_lock);
	bo->gpu_addr = gpu->next_addr;
	gpu->next_addr += bo->size + PAGE_SIZE; /* a guard page */
	spin_unlock(&gpu->mem_lock);
	return bo;
}

static void release_pages_of(struct sg_bo *bo)
{
	struct page *page;
	unsigned long i;

	xa_for_each(&bo->pages, i, page)
	{
		if (bo->user)
			unpin_user_page(page);
		else
			__free_page(page);
	}
	xa_destroy(&bo->pages);
}

static void bo_free(struct kref *ref)
{
	struct sg_bo *bo = container_of(ref, struct sg_bo, ref);
	struct sg_gpu *gpu = bo->gpu;

	if (bo->mmap_id)
		xa_erase(&mmap_ids, bo->mmap_id);
	spin_lock(&gpu->mem_lock);
	list_del(&bo->kernel_node);
	if (bo->doorbell_off >= 0)
		bitmap_clear(gpu->doorbell_map, bo->doorbell_off >> PAGE_SHIFT, bo->npages);
	spin_unlock(&gpu->mem_lock);
	if (bo->kaddr && bo->doorbell_off < 0)
		vunmap(bo->kaddr);
	release_pages_of(bo);
	dma_resv_fini(&bo->bo.tbo.base._resv);
	kfree(bo);
}

struct sg_bo *sg_bo_get(struct sg_bo *bo)
{
	kref_get(&bo->ref);
	return bo;
}

void sg_bo_put(struct sg_bo *bo)
{
	if (bo)
		kref_put(&bo->ref, bo_free);
}

static struct page *get_page_of(struct sg_bo *bo, unsigned long index)
{
	struct page *page = xa_load(&bo->pages, index);

	if (page || bo->user || bo->nopages || index >= bo->npages)
		return page;
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (page && xa_err(xa_store(&bo->pages, index, page, GFP_KERNEL))) {
		__free_page(page);
		page = NULL;
	}
	return page;
}

static void *map_all_pages(struct sg_bo *bo)
{
	struct page **pages = kvcalloc(bo->npages, sizeof(*pages), GFP_KERNEL);
	void *kaddr = NULL;
	unsigned long i;

	if (!pages)
		return NULL;
	for (i = 0; i < bo->npages; i++) {
		pages[i] = get_page_of(bo, i);
		if (!pages[i])
			break;
	}
	if (i == bo->npages)
		kaddr = vmap(pages, bo->npages, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return kaddr;
}

/* One kernel mapping of the whole object, made on first use and kept. */
void *sg_bo_kmap(struct sg_bo *bo)
{
	void *kaddr;

	mutex_lock(&bo->lock);
	if (!bo->kaddr && !bo->nopages)
		bo->kaddr = map_all_pages(bo);
	kaddr = bo->kaddr;
	mutex_unlock(&bo->lock);
	return kaddr;
}

/*
 * User memory: the pages are pinned for the object's life, because there is no MMU notifier
 * here.  Too large an object is accepted without pages: KFD is content, the GPU reads nothing.
 */
int sg_bo_pin(struct sg_bo *bo, u64 user_addr)
{
	struct page **pages;
	long n, i;
	int err = 0;

	bo->user = true;
	bo->user_addr = user_addr;
	if (bo->size > (u64)userptr_pin_max_mb << 20) {
		bo->nopages = true;
		return 0;
	}
	pages = kvcalloc(bo->npages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	n = pin_user_pages_fast(user_addr, bo->npages, FOLL_WRITE | FOLL_LONGTERM, pages);
	if (n != (long)bo->npages)
		err = n < 0 ? n : -EFAULT;
	for (i = 0; i < n; i++) {
		if (!err)
			err = xa_err(xa_store(&bo->pages, i, pages[i], GFP_KERNEL));
		if (err)
			unpin_user_page(pages[i]);
	}
	kvfree(pages);
	return err;
}

/* User memory that is not pinned, as a save area often is: through its process, while it lives. */
static bool copy_user(u64 address, void *buffer, size_t len, bool write, struct pid *owner)
{
	struct task_struct *task = get_pid_task(owner, PIDTYPE_PID);
	int n;

	if (!task)
		return false;
	n = access_process_vm(task, address, buffer, len, write ? FOLL_WRITE : 0);
	put_task_struct(task);
	return n == (int)len;
}

/* Page by page: of an object of many megabytes only what is touched becomes memory. */
bool sg_bo_copy(struct sg_bo *bo, u64 at, void *buffer, size_t len, bool write, struct pid *owner)
{
	struct page *page;
	size_t n;
	void *p;

	if (bo->user && bo->nopages)
		return copy_user(bo->user_addr + at, buffer, len, write, owner);
	mutex_lock(&bo->lock);
	for (; len; at += n, buffer += n, len -= n) {
		page = get_page_of(bo, at >> PAGE_SHIFT);
		if (!page)
			break;
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		p = page_address(page) + offset_in_page(at);
		memcpy(write ? p : buffer, write ? buffer : p, n);
	}
	mutex_unlock(&bo->lock);
	return !len;
}

/* Memory that only the kernel uses is found by its GPU address: MQDs, the HIQ, run lists. */
void *sg_kernel_ptr(struct sg_gpu *gpu, u64 gpu_addr, u64 len)
{
	struct sg_bo *bo;
	void *ptr = NULL;

	spin_lock(&gpu->mem_lock);
	list_for_each_entry(bo, &gpu->kernel_bos, kernel_node)
	{
		if (gpu_addr >= bo->gpu_addr && gpu_addr + len <= bo->gpu_addr + bo->size) {
			ptr = bo->kaddr + (gpu_addr - bo->gpu_addr);
			break;
		}
	}
	spin_unlock(&gpu->mem_lock);
	return ptr;
}

/* ---- mmap of the render node ---- */

int sg_bo_make_mappable(struct sg_bo *bo, u64 *mmap_offset)
{
	int err = xa_alloc(&mmap_ids, &bo->mmap_id, bo, MMAP_ID_LIMIT, GFP_KERNEL);

	if (!err)
		*mmap_offset = (u64)bo->mmap_id << MMAP_ID_SHIFT;
	return err;
}

/* Page of an object by its offset in the mmap space of the render node, in pages. */
static struct page *page_at(struct sg_bo *bo, pgoff_t at)
{
	return get_page_of(bo, at & ((1UL << (MMAP_ID_SHIFT - PAGE_SHIFT)) - 1));
}

static vm_fault_t vram_fault(struct vm_fault *vmf)
{
	struct sg_bo *bo = vmf->vma->vm_private_data;
	struct page *page;

	mutex_lock(&bo->lock);
	page = page_at(bo, vmf->pgoff);
	mutex_unlock(&bo->lock);
	return page ? vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(page)) : VM_FAULT_SIGBUS;
}

/* What other processes read and write by, as ttm_bo_vm_access(): such mappings have no pages. */
static int vram_access_op(struct vm_area_struct *vma, unsigned long addr, void *buf, int len,
			  int write)
{
	struct sg_bo *bo = vma->vm_private_data;
	int done = 0;

	if (!READ_ONCE(vram_access) || len > vma->vm_end - addr)
		return -EIO;
	mutex_lock(&bo->lock);
	while (done < len) {
		unsigned long at = addr + done, in = offset_in_page(at);
		int n = min_t(int, len - done, PAGE_SIZE - in);
		struct page *page =
			page_at(bo, vma->vm_pgoff + ((at - vma->vm_start) >> PAGE_SHIFT));
		if (!page)
			break;
		if (write)
			memcpy(page_address(page) + in, buf + done, n);
		else
			memcpy(buf + done, page_address(page) + in, n);
		done += n;
	}
	mutex_unlock(&bo->lock);
	return done ? done : -EIO;
}

static vm_fault_t bo_fault(struct vm_fault *vmf)
{
	struct sg_bo *bo = vmf->vma->vm_private_data;
	struct page *page;

	mutex_lock(&bo->lock);
	page = page_at(bo, vmf->pgoff);
	if (page)
		get_page(page);
	mutex_unlock(&bo->lock);
	vmf->page = page;
	return page ? 0 : VM_FAULT_SIGBUS;
}

static void bo_vma_open(struct vm_area_struct *vma)
{
	sg_bo_get(vma->vm_private_data);
}

static void bo_vma_close(struct vm_area_struct *vma)
{
	sg_bo_put(vma->vm_private_data);
}

static const struct vm_operations_struct bo_vm_ops = {
	.fault = bo_fault,
	.open = bo_vma_open,
	.close = bo_vma_close,
};

static const struct vm_operations_struct vram_vm_ops = {
	.fault = vram_fault,
	.access = vram_access_op,
	.open = bo_vma_open,
	.close = bo_vma_close,
};

int sg_bo_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct sg_bo *bo;

	xa_lock(&mmap_ids);
	bo = xa_load(&mmap_ids, vma->vm_pgoff >> (MMAP_ID_SHIFT - PAGE_SHIFT));
	if (bo && !kref_get_unless_zero(&bo->ref))
		bo = NULL;
	xa_unlock(&mmap_ids);
	if (!bo)
		return -EINVAL;
	if (bo->vram && (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE) {
		sg_bo_put(bo);
		return -EINVAL; /* TTM: no copy on write */
	}
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | (bo->vram ? VM_IO | VM_PFNMAP : 0));
	vma->vm_private_data = bo;
	vma->vm_ops = bo->vram ? &vram_vm_ops : &bo_vm_ops;
	return 0;
}

/* ---- what amdkfd links against ---- */

struct amdgpu_bo *amdgpu_bo_ref(struct amdgpu_bo *bo)
{
	if (bo)
		sg_bo_get(to_sg_bo(bo));
	return bo;
}

void amdgpu_bo_unref(struct amdgpu_bo **bo)
{
	if (!*bo)
		return;
	sg_bo_put(to_sg_bo(*bo));
	*bo = NULL;
}

u64 amdgpu_bo_gpu_offset(struct amdgpu_bo *bo)
{
	return to_sg_bo(bo)->gpu_addr;
}

static long reserve_doorbells(struct sg_gpu *gpu, unsigned long npages)
{
	const unsigned long total = SG_DOORBELL_SIZE / PAGE_SIZE;
	unsigned long at;

	spin_lock(&gpu->mem_lock);
	at = bitmap_find_next_zero_area(gpu->doorbell_map, total, 0, npages, 0);
	if (at + npages <= total)
		bitmap_set(gpu->doorbell_map, at, npages);
	spin_unlock(&gpu->mem_lock);
	return at + npages <= total ? (long)(at << PAGE_SHIFT) : -ENOSPC;
}

/* amdkfd asks this way for doorbell pages and for nothing else. */
int amdgpu_bo_create_kernel(struct amdgpu_device *adev, unsigned long size, int align, u32 domain,
			    struct amdgpu_bo **bo_ptr, u64 *gpu_addr, void **cpu_addr)
{
	struct sg_gpu *gpu = sg_from_adev(adev);
	struct sg_bo *bo;
	long offset;

	if (WARN_ON(domain != AMDGPU_GEM_DOMAIN_DOORBELL))
		return -EINVAL;
	bo = sg_bo_new(gpu, size);
	if (!bo)
		return -ENOMEM;
	bo->nopages = true;
	offset = reserve_doorbells(gpu, bo->npages);
	if (offset < 0) {
		sg_bo_put(bo);
		return offset;
	}
	bo->doorbell_off = offset;
	bo->kaddr = gpu->doorbells + offset;
	memset(bo->kaddr, 0, bo->size);
	*bo_ptr = &bo->bo;
	if (gpu_addr)
		*gpu_addr = bo->gpu_addr;
	if (cpu_addr)
		*cpu_addr = bo->kaddr;
	return 0;
}

void amdgpu_bo_free_kernel(struct amdgpu_bo **bo, u64 *gpu_addr, void **cpu_addr)
{
	amdgpu_bo_unref(bo);
	if (cpu_addr)
		*cpu_addr = NULL;
}

u32 amdgpu_doorbell_index_on_bar(struct amdgpu_device *adev, struct amdgpu_bo *doorbell_bo,
				 u32 doorbell_index, u32 doorbell_size)
{
	return to_sg_bo(doorbell_bo)->doorbell_off / 4 +
	       doorbell_index * DIV_ROUND_UP(doorbell_size, 4);
}

int amdgpu_ttm_tt_get_userptr(const struct ttm_buffer_object *tbo, u64 *user_addr)
{
	*user_addr = container_of(tbo, struct sg_bo, bo.tbo)->user_addr;
	return 0;
}
