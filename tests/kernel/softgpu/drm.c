// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the DRM render node.
 *
 * mmap of buffer objects, fdinfo with amdgpu's keys, and of all ioctls only AMDGPU_INFO, with
 * what libdrm_amdgpu and the ROCm runtime ask when they start (amdgpu_kms.c, amdgpu_fdinfo.c).
 */
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>
#include "softgpu.h"

#define GPU_COUNTER_KHZ 100000

static int answer(const struct drm_amdgpu_info *info, const void *data, size_t size)
{
	void __user *to = u64_to_user_ptr(info->return_pointer);

	return copy_to_user(to, data, min_t(size_t, info->return_size, size)) ? -EFAULT : 0;
}

static int answer_zeros(const struct drm_amdgpu_info *info)
{
	void __user *to = u64_to_user_ptr(info->return_pointer);

	return clear_user(to, info->return_size) ? -EFAULT : 0;
}

static int answer_memory(const struct drm_amdgpu_info *info, const struct amdgpu_device *adev)
{
	const u64 size = adev->gmc.real_vram_size;
	struct drm_amdgpu_memory_info memory = {
		.vram = {.total_heap_size = size, .usable_heap_size = size, .max_allocation = size},
	};

	memory.cpu_accessible_vram = memory.vram;
	memory.gtt = memory.vram;
	return answer(info, &memory, sizeof(memory));
}

static u32 family(u32 gc)
{
	switch (IP_VERSION_MAJ(gc)) {
	case 9: return AMDGPU_FAMILY_AI;
	case 10: return AMDGPU_FAMILY_NV;
	case 11: return IP_VERSION_MIN(gc) ? AMDGPU_FAMILY_GC_11_5_0 : AMDGPU_FAMILY_GC_11_0_0;
	default: return AMDGPU_FAMILY_GC_12_0_0;
	}
}

static int answer_device(const struct drm_amdgpu_info *info, struct amdgpu_device *adev)
{
	struct drm_amdgpu_info_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int err;

	if (!device)
		return -ENOMEM;
	device->device_id = adev->pdev->device;
	device->chip_rev = device->pci_rev = device->external_rev = adev->rev_id;
	device->family = family(sg_from_adev(adev)->model->gc);
	if (adev->flags & AMD_IS_APU)
		device->ids_flags |= AMDGPU_IDS_FLAGS_FUSION;
	device->num_shader_engines = adev->gfx.config.max_shader_engines;
	device->num_shader_arrays_per_engine = adev->gfx.config.max_sh_per_se;
	device->gpu_counter_freq = GPU_COUNTER_KHZ;
	device->max_engine_clock = 2100000;
	device->max_memory_clock = 1300000;
	device->cu_active_number = adev->gfx.cu_info.number;
	device->virtual_address_offset = AMDGPU_VA_RESERVED_BOTTOM;
	device->virtual_address_max = AMDGPU_GMC_HOLE_START - AMDGPU_VA_RESERVED_BOTTOM;
	device->high_va_offset = AMDGPU_GMC_HOLE_END;
	device->high_va_max = ~0ULL - AMDGPU_VA_RESERVED_BOTTOM;
	device->virtual_address_alignment = PAGE_SIZE;
	device->pte_fragment_size = 1 << 21;
	device->gart_page_size = PAGE_SIZE;
	device->vram_type = AMDGPU_VRAM_TYPE_HBM;
	device->vram_bit_width = 8192;
	device->wave_front_size = adev->gfx.cu_info.wave_front_size;
	err = answer(info, device, sizeof(*device));
	kfree(device);
	return err;
}

static int info_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct amdgpu_device *adev = drm_to_adev(dev);
	const struct drm_amdgpu_info *info = data;
	const u32 yes = 1;
	u64 time;

	switch (info->query) {
	case AMDGPU_INFO_ACCEL_WORKING: return answer(info, &yes, sizeof(yes));
	case AMDGPU_INFO_READ_MMR_REG:
	case AMDGPU_INFO_FW_VERSION:
	case AMDGPU_INFO_HW_IP_INFO:
	case AMDGPU_INFO_VRAM_USAGE:
	case AMDGPU_INFO_GTT_USAGE: return answer_zeros(info);
	case AMDGPU_INFO_MEMORY: return answer_memory(info, adev);
	case AMDGPU_INFO_DEV_INFO: return answer_device(info, adev);
	case AMDGPU_INFO_TIMESTAMP:
		time = amdgpu_amdkfd_get_gpu_clock_counter(adev);
		return answer(info, &time, sizeof(time));
	}
	return -EINVAL;
}

static const struct drm_ioctl_desc ioctls[] = {
	DRM_IOCTL_DEF_DRV(AMDGPU_INFO, info_ioctl, DRM_RENDER_ALLOW),
};

static int drm_node_open(struct drm_device *dev, struct drm_file *file)
{
	return sg_vm_open(sg_from_adev(drm_to_adev(dev)), file);
}

static void drm_node_close(struct drm_device *dev, struct drm_file *file)
{
	sg_vm_close(file);
}

/* All memory counts as VRAM that is visible and requested; nothing is shared or evicted. */
static void show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	static const char *const vram_keys[] = {"drm-memory-vram", "amd-memory-visible-vram",
						"amd-requested-vram"};
	static const char *const zero_keys[] = {
		"drm-memory-gtt",
		"drm-memory-cpu",
		"amd-evicted-vram",
		"amd-evicted-visible-vram",
		"amd-requested-visible-vram",
		"amd-requested-gtt",
		"drm-shared-vram",
		"drm-shared-gtt",
		"drm-shared-cpu",
	};
	struct sg_vm *vm = file->driver_priv;
	const u64 kib = sg_vm_vram(vm) >> 10;
	size_t i;

	drm_printf(p, "pasid:\t%u\n", vm->pasid);
	for (i = 0; i < ARRAY_SIZE(vram_keys); i++)
		drm_printf(p, "%s:\t%llu KiB\n", vram_keys[i], kib);
	for (i = 0; i < ARRAY_SIZE(zero_keys); i++)
		drm_printf(p, "%s:\t0 KiB\n", zero_keys[i]);
}

static const struct file_operations drm_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.mmap = sg_bo_mmap,
	.llseek = noop_llseek,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

bool sg_is_render_node(const struct file *file)
{
	return file->f_op == &drm_fops;
}

const struct drm_driver sg_drm_driver = {
	.driver_features = DRIVER_RENDER,
	.open = drm_node_open,
	.postclose = drm_node_close,
	.show_fdinfo = show_fdinfo,
	.fops = &drm_fops,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.name = "amdgpu", /* libdrm chooses its backend by this name ... */
	.desc = "softgpu test device",
#if !SG_LINUX_7
	.date = "20150101",
#endif
	.major = 3, /* ... and features by amdgpu's version */
	.minor = 61,
};
