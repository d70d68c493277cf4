// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the parts of struct amdgpu_device that KFD reads, filled from the model.
 *
 * amdgpu would take them from IP discovery, golden settings and firmware headers.
 */
#include "softgpu.h"

#define UNIQUE_ID_BASE 0x5af700000000ULL

static enum amdgpu_pkg_type package_type(struct amdgpu_device *adev)
{
	return AMDGPU_PKG_TYPE_OAM;
}

static enum amdgpu_memory_partition memory_partition(struct amdgpu_device *adev)
{
	return AMDGPU_NPS1_PARTITION_MODE;
}

static const struct amdgpu_gmc_funcs gmc_funcs = {.query_mem_partition_mode = memory_partition};
static const struct amdgpu_smuio_funcs smuio_funcs = {.get_pkg_type = package_type};

static void fill_identity(struct amdgpu_device *adev, const struct sg_gpu *gpu)
{
	const struct sg_model *model = gpu->model;
	int i;

	adev->asic_type = model->asic_type;
	if (model->apu)
		adev->flags |= AMD_IS_APU;
	adev->rev_id = model->revision;
	adev->unique_id = UNIQUE_ID_BASE + gpu->index;
	adev->ip_versions[GC_HWIP][0] = model->gc;
	for (i = 0; i < min(model->sdma_engines, HWIP_MAX_INSTANCE); i++)
		adev->ip_versions[SDMA0_HWIP][i] = model->sdma;
	adev->sdma.num_instances = model->sdma_engines;
	adev->smuio.funcs = &smuio_funcs;
}

/* Sizes that end up in the topology's cache table. */
static void fill_caches(struct amdgpu_gfx_config *config, const struct sg_model *model)
{
	config->gc_tcp_size_per_cu = 32;
	config->gc_l1_instruction_cache_size_per_sqc = 64;
	config->gc_l1_data_cache_size_per_sqc = 16;
	config->gc_num_cu_per_sqc = 2;
	config->gc_tcc_size = 4096;
	config->gc_tcp_cache_line_size = 128;
	config->gc_instruction_cache_line_size = 64;
	config->gc_scalar_data_cache_line_size = 64;
	config->gc_tcc_cache_line_size = 128;
	config->gc_num_tcp_per_wpg = 2;
	config->gc_num_sqc_per_wgp = 1;
	if (IP_VERSION_MAJ(model->gc) < 10)
		return;
	config->gc_tcp_l1_size = 16;
	config->gc_gl1c_per_sa = 2;
	config->gc_gl1c_size_per_instance = 128;
	config->gc_gl2c_per_gpu = 4096;
}

/* Active CUs are spread evenly; the last arrays have fewer (harvesting). */
static void fill_cu_bitmap(struct amdgpu_cu_info *info, const struct sg_model *model)
{
	const int xccs = hweight32(model->xcc_mask), per_xcc = model->cus / xccs;
	const int share = DIV_ROUND_UP(per_xcc, model->engines * model->arrays);
	int xcc, se, sh, left, n;

	for (xcc = 0; xcc < xccs; xcc++) {
		left = per_xcc;
		for (se = 0; se < model->engines; se++) {
			for (sh = 0; sh < model->arrays; sh++) {
				n = min3(left, share, model->cus_per_array);
				/* engines beyond the fourth share rows, as in amdgpu */
				info->bitmap[xcc][se % 4][sh + se / 4] = n ? GENMASK(n - 1, 0) : 0;
				left -= n;
			}
		}
	}
}

static void fill_gfx(struct amdgpu_device *adev, const struct sg_model *model)
{
	struct amdgpu_cu_info *info = &adev->gfx.cu_info;

	adev->gfx.xcc_mask = model->xcc_mask;
	adev->gfx.num_xcc_per_xcp = hweight32(model->xcc_mask);
	adev->gfx.rs64_enable = true;
	adev->gfx.config.max_shader_engines = model->engines;
	adev->gfx.config.max_sh_per_se = model->arrays;
	adev->gfx.config.max_cu_per_sh = model->cus_per_array;
	fill_caches(&adev->gfx.config, model);
	info->simd_per_cu = model->simds;
	info->max_waves_per_simd = model->waves;
	info->wave_front_size = model->wavefront;
	info->max_scratch_slots_per_cu = 32;
	info->lds_size = model->lds_kib ? model->lds_kib : 64;
	info->number = model->cus;
	fill_cu_bitmap(info, model);
}

static void fill_memory(struct amdgpu_device *adev, const struct sg_model *model)
{
	adev->gmc.real_vram_size = model->vram;
	adev->gmc.mc_vram_size = model->vram;
	adev->gmc.visible_vram_size = model->vram;
	adev->gmc.aper_size = model->vram;
	adev->gmc.gmc_funcs = &gmc_funcs;
	adev->gmc.noretry = 1;
	adev->vm_manager.max_pfn = 1ULL << 36; /* 48 bit addresses */
	adev->vm_manager.first_kfd_vmid = SG_COMPUTE_VMID;
	adev->gds.gws_size = 64;
	spin_lock_init(&adev->mman.bdev.lru_lock);
#if !SG_LINUX_7
	mutex_init(&adev->mman.gtt_window_lock);
#endif
}

static void fill_doorbells(struct amdgpu_device *adev, const struct sg_gpu *gpu)
{
	const u32 first_sdma = 0x100, last_non_cp = 0x1e8, per_engine = 10;
	int i;

	adev->doorbell.base = virt_to_phys(gpu->doorbells);
	adev->doorbell.size = SG_DOORBELL_SIZE;
	for (i = 0; i < AMDGPU_MAX_SDMA_INSTANCES; i++)
		adev->doorbell_index.sdma_engine[i] = first_sdma + i * per_engine;
	adev->doorbell_index.first_non_cp = first_sdma;
	adev->doorbell_index.last_non_cp = last_non_cp;
}

static void fill_mes(struct amdgpu_device *adev, const struct sg_model *model)
{
	adev->enable_mes = model->mes;
	adev->mes.adev = adev;
	adev->mes.sched_version = model->mes_version;
	adev->mes.funcs = &sg_mes_funcs;
	mutex_init(&adev->mes.mutex_hidden);
}

/* All partitions share the one render node; on hardware each has its own. */
static int fill_partitions(struct amdgpu_device *adev, const struct sg_model *model)
{
	const int xccs = hweight32(model->xcc_mask) / model->partitions;
	struct amdgpu_xcp_mgr *manager = kvzalloc(sizeof(*manager), GFP_KERNEL);
	int i;

	if (!manager)
		return -ENOMEM;
	for (i = 0; i < model->partitions; i++) {
		struct amdgpu_xcp *xcp = &manager->xcp[i];

		xcp->id = xcp->mem_id = i;
		xcp->valid = true;
		xcp->ddev = adev_to_drm(adev);
#if SG_LINUX_7
		xcp->xcp_mgr = manager;
		xcp->unique_id = adev->unique_id + i;
#endif
		xcp->ip[AMDGPU_XCP_GFX].inst_mask = GENMASK(xccs - 1, 0) << (i * xccs);
	}
	manager->num_xcps = model->partitions;
	manager->mode = AMDGPU_CPX_PARTITION_MODE;
	adev->xcp_mgr = manager;
	adev->gfx.num_xcc_per_xcp = xccs;
	return 0;
}

int sg_fill_adev(struct sg_gpu *gpu, struct amdgpu_device *adev)
{
	const struct sg_model *model = gpu->model;

	fill_identity(adev, gpu);
	fill_gfx(adev, model);
	fill_memory(adev, model);
	fill_doorbells(adev, gpu);
	fill_mes(adev, model);
	return model->partitions ? fill_partitions(adev, model) : 0;
}
