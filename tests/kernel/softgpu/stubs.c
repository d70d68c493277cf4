// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the rest of what amdkfd links against: functions of amdgpu that have nothing to do
 * on a software GPU, or a constant to tell.
 */
#include <linux/idr.h>
#include "amdgpu_ras.h"
#include "softgpu.h"

#define NS_PER_TICK 10 /* the GPU counter runs at 100 MHz */

/* ---- numbers that end up in the topology ---- */

u64 amdgpu_amdkfd_get_gpu_clock_counter(struct amdgpu_device *adev)
{
	return ktime_get_ns() / NS_PER_TICK;
}

u32 amdgpu_amdkfd_get_max_engine_clock_in_mhz(struct amdgpu_device *adev)
{
	return 2100;
}

u32 amdgpu_amdkfd_get_fw_version(struct amdgpu_device *adev, enum kgd_engine_type type)
{
	const struct sg_model *model = sg_from_adev(adev)->model;

	return type == KGD_ENGINE_SDMA1 || type == KGD_ENGINE_SDMA2 ? model->sdma_fw
								    : model->mec_fw;
}

void amdgpu_amdkfd_get_local_mem_info(struct amdgpu_device *adev, struct kfd_local_mem_info *info,
				      struct amdgpu_xcp *xcp)
{
	*info = (struct kfd_local_mem_info){
		.local_mem_size_public = adev->gmc.real_vram_size,
		.vram_width = 8192,
		.mem_clk_max = 1300,
	};
}

size_t amdgpu_amdkfd_get_available_memory(struct amdgpu_device *adev, u8 xcp)
{
	return adev->gmc.real_vram_size;
}

u64 amdgpu_amdkfd_xcp_memory_size(struct amdgpu_device *adev, int xcp)
{
	return adev->gmc.real_vram_size;
}

int amdgpu_amdkfd_get_pcie_bandwidth_mbytes(struct amdgpu_device *adev, bool is_min)
{
	return 64000;
}

#if !SG_LINUX_7
int amdgpu_amdkfd_get_xgmi_bandwidth_mbytes(struct amdgpu_device *dst, struct amdgpu_device *src,
					    bool is_min)
{
	return 50000;
}

u8 amdgpu_amdkfd_get_xgmi_hops_count(struct amdgpu_device *dst, struct amdgpu_device *src)
{
	return 1;
}

void amdgpu_amdkfd_gpuvm_release_process_vm(struct amdgpu_device *adev, void *drm_priv)
{
}
#endif

int amdgpu_amdkfd_get_tile_config(struct amdgpu_device *adev, struct tile_config *config)
{
	return 0;
}

bool amdgpu_amdkfd_have_atomics_support(struct amdgpu_device *adev)
{
	return true;
}

bool amdgpu_sriov_xnack_support(struct amdgpu_device *adev)
{
	return true;
}

u64 amdgpu_dpm_get_thermal_throttling_counter(struct amdgpu_device *adev)
{
	return 0;
}

int kfd_debugfs_kfd_mem_limits(struct seq_file *m, void *data)
{
	seq_puts(m, "softgpu: no limits\n");
	return 0;
}

/* ---- PASIDs, partitions, queue numbers ---- */

static DEFINE_IDA(pasids);

#if SG_LINUX_7
int amdgpu_pasid_alloc(unsigned int bits, struct amdgpu_fpriv *fpriv)
#else
int amdgpu_pasid_alloc(unsigned int bits)
#endif
{
	return ida_alloc_range(&pasids, 1U << (bits - 1), (1U << bits) - 1, GFP_KERNEL);
}

void amdgpu_pasid_free(u32 pasid)
{
	ida_free(&pasids, pasid);
}

int amdgpu_xcp_query_partition_mode(struct amdgpu_xcp_mgr *manager, u32 flags)
{
	return manager->mode;
}

int amdgpu_xcp_get_inst_details(struct amdgpu_xcp *xcp, enum AMDGPU_XCP_IP_BLOCK ip, u32 *mask)
{
	*mask = xcp->ip[ip].inst_mask;
	return 0;
}

int amdgpu_queue_mask_bit_to_set_resource_bit(struct amdgpu_device *adev, int bit)
{
	return bit;
}

void amdgpu_queue_mask_bit_to_mec_queue(struct amdgpu_device *adev, int bit, int *mec, int *pipe,
					int *queue)
{
	*queue = bit % SG_QUEUES;
	*pipe = bit / SG_QUEUES % SG_PIPES;
	*mec = bit / SG_QUEUES / SG_PIPES;
}

int amdgpu_mes_doorbell_process_slice(struct amdgpu_device *adev)
{
	return 2 * PAGE_SIZE;
}

/* ---- memory: no page tables to flush, no caches, nothing to move or share ---- */

void amdgpu_device_flush_hdp(struct amdgpu_device *adev, struct amdgpu_ring *ring)
{
}

int amdgpu_vm_flush_compute_tlb(struct amdgpu_device *adev, struct amdgpu_vm *vm, u32 type,
				u32 xcc_mask)
{
	return 0;
}

void amdgpu_amdkfd_gpuvm_destroy_cb(struct amdgpu_device *adev, struct amdgpu_vm *vm)
{
}

void amdgpu_amdkfd_gpuvm_unmap_gtt_bo_from_kernel(struct kgd_mem *mem)
{
}

int amdgpu_amdkfd_gpuvm_dmaunmap_mem(struct kgd_mem *mem, void *drm_priv)
{
	return 0;
}

int amdgpu_amdkfd_gpuvm_sync_memory(struct amdgpu_device *adev, struct kgd_mem *mem, bool intr)
{
	return 0;
}

int amdgpu_amdkfd_gpuvm_restore_process_bos(void *process_info, struct dma_fence __rcu **fence)
{
	return 0;
}

void amdgpu_amdkfd_block_mmu_notifications(void *process_info)
{
}

int amdgpu_amdkfd_criu_resume(void *process_info)
{
	return 0;
}

int amdgpu_amdkfd_get_dmabuf_info(struct amdgpu_device *adev, int fd, struct amdgpu_device **owner,
				  u64 *size, SG_METADATA metadata, size_t metadata_size,
				  u32 *metadata_used, u32 *flags, s8 *xcp)
{
	return -EOPNOTSUPP;
}

int amdgpu_amdkfd_gpuvm_export_dmabuf(struct kgd_mem *mem, struct dma_buf **dmabuf)
{
	return -EOPNOTSUPP;
}

int amdgpu_amdkfd_gpuvm_import_dmabuf_fd(struct amdgpu_device *adev, int fd, u64 va, void *drm_priv,
					 struct kgd_mem **mem, u64 *size, u64 *offset)
{
	return -EOPNOTSUPP;
}

/* ---- global wave sync: absent ---- */

int amdgpu_amdkfd_alloc_gws(struct amdgpu_device *adev, size_t size, void **mem)
{
	*mem = NULL;
	return 0;
}

void amdgpu_amdkfd_free_gws(struct amdgpu_device *adev, void *mem)
{
}

int amdgpu_amdkfd_add_gws_to_process(void *process_info, void *gws, struct kgd_mem **mem)
{
	*mem = NULL;
	return 0;
}

int amdgpu_amdkfd_remove_gws_from_process(void *process_info, void *mem)
{
	return 0;
}

/* ---- power, faults, RAS: nothing happens here ---- */

void amdgpu_gfx_off_ctrl(struct amdgpu_device *adev, bool enable)
{
}

void amdgpu_amdkfd_set_compute_idle(struct amdgpu_device *adev, bool idle)
{
}

void amdgpu_amdkfd_debug_mem_fence(struct amdgpu_device *adev)
{
}

int amdgpu_amdkfd_submit_ib(struct amdgpu_device *adev, enum kgd_engine_type engine, u32 vmid,
			    u64 gpu_addr, u32 *commands, u32 length)
{
	return 0;
}

int amdgpu_amdkfd_send_close_event_drain_irq(struct amdgpu_device *adev, u32 *payload)
{
	return -ENODEV;
}

int amdgpu_amdkfd_gpuvm_get_vm_fault_info(struct amdgpu_device *adev,
					  struct kfd_vm_fault_info *info)
{
	return 0;
}

struct amdgpu_task_info *amdgpu_vm_get_task_info_pasid(struct amdgpu_device *adev, u32 pasid)
{
	return NULL;
}

void amdgpu_vm_put_task_info(struct amdgpu_task_info *info)
{
	kfree(info);
}

bool amdgpu_amdkfd_is_fed(struct amdgpu_device *adev)
{
	return false;
}

void amdgpu_amdkfd_ras_pasid_poison_consumption_handler(struct amdgpu_device *adev,
							enum amdgpu_ras_block block, u16 pasid,
							pasid_notify notify, void *data, u32 reset)
{
}

void amdgpu_amdkfd_ras_poison_consumption_handler(struct amdgpu_device *adev,
						  enum amdgpu_ras_block block, u32 reset)
{
}

u64 amdgpu_ras_acquire_event_id(struct amdgpu_device *adev, enum ras_event_type type)
{
	return 0;
}

int amdgpu_ras_mark_ras_event_caller(struct amdgpu_device *adev, enum ras_event_type type,
				     const void *caller)
{
	return 0;
}

void amdgpu_ras_event_log_print(struct amdgpu_device *adev, u64 event_id, const char *format, ...)
{
}

void amdgpu_reset_get_desc(struct amdgpu_reset_context *context, char *text, size_t size)
{
	strscpy(text, "softgpu", size);
}

/* ---- MES commands without an effect on queues ---- */

int amdgpu_mes_suspend(struct amdgpu_device *adev SG_XCC_ARG)
{
	return 0;
}

int amdgpu_mes_resume(struct amdgpu_device *adev SG_XCC_ARG)
{
	return 0;
}

int amdgpu_mes_flush_shader_debugger(struct amdgpu_device *adev,
				     u64 process_context_addr SG_XCC_ARG)
{
	return 0;
}

int amdgpu_mes_set_shader_debugger(struct amdgpu_device *adev, u64 process_context_addr,
				   u32 spi_control, const u32 *watch_control, u32 flags,
				   bool trap_enabled SG_XCC_ARG)
{
	return 0;
}
