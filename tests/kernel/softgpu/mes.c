// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: MES, the scheduler firmware of gfx11 and later: one command per queue.
 *
 * amdgpu would write these commands to the MES ring; KFD calls the functions below.
 */
#include "softgpu.h"
#include "mes_v11_api_def.h"

/* What old firmware is told of a process. */
static bool is_debugged(u32 pasid)
{
	struct kfd_process *p = SG_PROCESS_OF(pasid);
	bool debugged;

	if (!p)
		return false;
	debugged = p->runtime_info.ttmp_setup || p->debug_trap_enabled;
	kfd_unref_process(p);
	return debugged;
}

static int mes_add(struct amdgpu_mes *mes, struct mes_add_queue_input *in)
{
	struct sg_gpu *gpu = sg_from_adev(mes->adev);
	const struct sg_map_request req = {
		.mqd_addr = in->mqd_addr,
		.wptr_va = in->wptr_addr,
		.page_table_base = in->page_table_base_addr,
		.gang = in->gang_context_addr,
		.doorbell = in->doorbell_offset,
		.pasid = in->process_id,
		.sdma = in->queue_type == MES_QUEUE_TYPE_SDMA,
		.debug = is_debugged(in->process_id),
	};
	int err;

	mutex_lock(&gpu->lock);
	gpu->count.mes_add++;
	err = sg_queue_map(gpu, &req);
	mutex_unlock(&gpu->lock);
	return err;
}

static int mes_remove(struct amdgpu_mes *mes, struct mes_remove_queue_input *in)
{
	struct sg_gpu *gpu = sg_from_adev(mes->adev);
	struct sg_queue *queue, *next;

	if (sg_fault_hang())
		return -ETIMEDOUT;
	sg_fault_delay();
	mutex_lock(&gpu->lock);
	gpu->count.mes_remove++;
	list_for_each_entry_safe(queue, next, &gpu->queues,
				 node)
	{
		if (queue->doorbell != in->doorbell_offset || queue->gang != in->gang_context_addr)
			continue;
		sg_cp_notice(gpu, queue); /* what came since the last poll has begun, too */
		sg_queue_unmap(gpu, queue);
	}
	mutex_unlock(&gpu->lock);
	return 0;
}

const struct amdgpu_mes_funcs sg_mes_funcs = {
	.add_hw_queue = mes_add,
	.remove_hw_queue = mes_remove,
};
