// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the kfd2kgd tables: register access that amdgpu does for KFD, one table per family.
 *
 * Here all families share one table.  What only changes registers nobody looks at does nothing;
 * loading queues without a scheduler (sched_policy=2) is refused.
 */
#include "softgpu.h"

#define IQ_WAIT_TIMES_DEFAULT 0x00ff0200
#define CP_IQ_WAIT_TIME2      0x2b8e
#define TRAP_MASK_SUPPORTED   0x7ff
#define TRAP_OVERRIDE_OR      1 /* KFD_DBG_TRAP_OVERRIDE_OR; REPLACE is 0 */

static void set_sh_mem(struct amdgpu_device *adev, u32 vmid, u32 config, u32 ape1_base,
		       u32 ape1_limit, u32 bases, u32 xcc)
{
}

static int set_pasid_vmid(struct amdgpu_device *adev, u32 pasid, unsigned int vmid, u32 xcc)
{
	return 0;
}

static int init_interrupts(struct amdgpu_device *adev, u32 pipe, u32 xcc)
{
	return 0;
}

static int hqd_load(struct amdgpu_device *adev, void *mqd, u32 pipe, u32 queue, u32 __user *wptr,
		    u32 wptr_shift, u32 wptr_mask, struct mm_struct *mm, u32 xcc)
{
	return -EOPNOTSUPP;
}

static int hqd_sdma_load(struct amdgpu_device *adev, void *mqd, u32 __user *wptr,
			 struct mm_struct *mm)
{
	return -EOPNOTSUPP;
}

static bool hqd_is_occupied(struct amdgpu_device *adev, u64 ring, u32 pipe, u32 queue, u32 xcc)
{
	return false;
}

static int hqd_destroy(struct amdgpu_device *adev, void *mqd, enum kfd_preempt_type type,
		       unsigned int timeout, u32 pipe, u32 queue, u32 xcc)
{
	return 0;
}

static bool hqd_sdma_is_occupied(struct amdgpu_device *adev, void *mqd)
{
	return false;
}

static int hqd_sdma_destroy(struct amdgpu_device *adev, void *mqd, unsigned int timeout)
{
	return 0;
}

static int wave_control(struct amdgpu_device *adev, u32 gfx_index, u32 command, u32 xcc)
{
	return 0;
}

static bool vmid_is_mapped(struct amdgpu_device *adev, u8 vmid, u16 *pasid)
{
	*pasid = 0;
	return false;
}

static void set_page_table_base(struct amdgpu_device *adev, u32 vmid, u64 base)
{
}

/* The returned numbers are register values that KFD hands back later. */
static u32 enable_debug_trap(struct amdgpu_device *adev, bool restore, u32 vmid)
{
	return SG_SPI_TRAP_EN;
}

static u32 disable_debug_trap(struct amdgpu_device *adev, bool keep_enabled, u32 vmid)
{
	return keep_enabled ? SG_SPI_TRAP_EN : 0;
}

static int check_trap_override(struct amdgpu_device *adev, u32 override, u32 *supported)
{
	*supported &= TRAP_MASK_SUPPORTED;
	return override > TRAP_OVERRIDE_OR ? -EPERM : 0;
}

static u32 set_trap_override(struct amdgpu_device *adev, u32 vmid, u32 override, u32 mask,
			     u32 request, u32 *previous_mask, u32 previous_control)
{
	*previous_mask = 0;
	return previous_control;
}

static u32 set_wave_launch_mode(struct amdgpu_device *adev, u8 mode, u32 vmid)
{
	return 0;
}

static u32 set_address_watch(struct amdgpu_device *adev, u64 address, u32 mask, u32 id, u32 mode,
			     u32 vmid, u32 xcc)
{
	return 0;
}

static u32 clear_address_watch(struct amdgpu_device *adev, u32 id)
{
	return 0;
}

static void get_iq_wait_times(struct amdgpu_device *adev, u32 *wait_times, u32 xcc)
{
	*wait_times = IQ_WAIT_TIMES_DEFAULT;
}

static void build_grace_period(struct amdgpu_device *adev, u32 wait_times, u32 grace_period,
			       u32 *reg_offset, u32 *reg_data)
{
	*reg_offset = CP_IQ_WAIT_TIME2;
	*reg_data = wait_times;
	if (grace_period != ~0u)
		*reg_data = (wait_times & ~0xffu) | (grace_period & 0xff);
}

#if SG_LINUX_7
static void build_dequeue_wait(struct amdgpu_device *adev, u32 wait_times, u32 sch_wave,
			       u32 que_sleep, u32 *reg_offset, u32 *reg_data)
{
	build_grace_period(adev, wait_times, sch_wave ? sch_wave : ~0u, reg_offset, reg_data);
}

/* The doorbell of a queue that an SDMA engine still runs after all were taken off: none is stuck. */
static u32 hqd_sdma_get_doorbell(struct amdgpu_device *adev, int engine, int queue)
{
	return 0;
}
#define OF_ITS_TIME                                                  \
	.build_dequeue_wait_counts_packet_info = build_dequeue_wait, \
	.hqd_sdma_get_doorbell = hqd_sdma_get_doorbell
#else
#define OF_ITS_TIME .build_grace_period_packet_info = build_grace_period
#endif

static void set_trap_handler(struct amdgpu_device *adev, u32 vmid, u64 tba, u64 tma, u32 xcc)
{
}

/* Nothing to find and nothing reset: KFD falls through to a reset of the whole GPU. */
static u64 hqd_get_pq_addr(struct amdgpu_device *adev, u32 pipe, u32 queue, u32 xcc)
{
	return 0;
}

static u64 hqd_reset(struct amdgpu_device *adev, u32 pipe, u32 queue, u32 xcc,
		     unsigned int timeout_us)
{
	return 0;
}

#define KFD2KGD(symbol)                                                \
	const struct kfd2kgd_calls symbol = {                          \
		.program_sh_mem_settings = set_sh_mem,                 \
		.set_pasid_vmid_mapping = set_pasid_vmid,              \
		.init_interrupts = init_interrupts,                    \
		.hqd_load = hqd_load,                                  \
		.hiq_mqd_load = sg_hiq_load,                           \
		.hqd_sdma_load = hqd_sdma_load,                        \
		.hqd_dump = sg_hqd_dump,                               \
		.hqd_sdma_dump = sg_hqd_sdma_dump,                     \
		.hqd_is_occupied = hqd_is_occupied,                    \
		.hqd_destroy = hqd_destroy,                            \
		.hqd_sdma_is_occupied = hqd_sdma_is_occupied,          \
		.hqd_sdma_destroy = hqd_sdma_destroy,                  \
		.wave_control_execute = wave_control,                  \
		.get_atc_vmid_pasid_mapping_info = vmid_is_mapped,     \
		.set_vm_context_page_table_base = set_page_table_base, \
		.enable_debug_trap = enable_debug_trap,                \
		.disable_debug_trap = disable_debug_trap,              \
		.validate_trap_override_request = check_trap_override, \
		.set_wave_launch_trap_override = set_trap_override,    \
		.set_wave_launch_mode = set_wave_launch_mode,          \
		.set_address_watch = set_address_watch,                \
		.clear_address_watch = clear_address_watch,            \
		.get_iq_wait_times = get_iq_wait_times,                \
		OF_ITS_TIME,                                           \
		.get_cu_occupancy = sg_cu_occupancy,                   \
		.program_trap_handler_settings = set_trap_handler,     \
		.hqd_get_pq_addr = hqd_get_pq_addr,                    \
		.hqd_reset = hqd_reset,                                \
	}
KFD2KGD(gfx_v7_kfd2kgd);
KFD2KGD(gfx_v8_kfd2kgd);
KFD2KGD(gfx_v9_kfd2kgd);
KFD2KGD(arcturus_kfd2kgd);
KFD2KGD(aldebaran_kfd2kgd);
KFD2KGD(gc_9_4_3_kfd2kgd);
KFD2KGD(gfx_v10_kfd2kgd);
KFD2KGD(gfx_v10_3_kfd2kgd);
KFD2KGD(gfx_v11_kfd2kgd);
KFD2KGD(gfx_v12_kfd2kgd);
#if SG_LINUX_7
KFD2KGD(gfx_v12_1_kfd2kgd);
#endif
