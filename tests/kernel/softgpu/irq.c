// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: interrupts, as the entries of the IH ring that KFD decodes
 * (kfd_int_process_v9.c to v11.c, soc15_int.h).
 */
#include "softgpu.h"

enum { CLIENT_SDMA0 = 0x8, CLIENT_GFX = 0xa, CLIENT_GRBM_CP = 0x14 };
enum {
	SOURCE_SDMA_TRAP_GFX11 = 49,
	SOURCE_CP_END_OF_PIPE = 181,
	SOURCE_CP_BAD_OPCODE = 183,
	SOURCE_SDMA_TRAP = 224
};

static bool irqs = true;
module_param(irqs, bool, 0644);
MODULE_PARM_DESC(irqs, "completion signals that carry an event id raise an interrupt");

bool sg_irq_enabled(void)
{
	return READ_ONCE(irqs);
}

static void raise(struct sg_gpu *gpu, u32 client, u32 source, u32 pasid, u32 event)
{
	const u32 entry[8] = {
		client | source << 8 | SG_COMPUTE_VMID << 24,
		[3] = pasid,
		[4] = event,
	};

	gpu->count.irqs++;
	kgd2kfd_interrupt(gpu->adev->kfd.dev, entry);
}

void sg_irq_end_of_pipe(struct sg_gpu *gpu, u32 pasid, u32 event)
{
	raise(gpu, CLIENT_GRBM_CP, SOURCE_CP_END_OF_PIPE, pasid, event);
}

void sg_irq_sdma_trap(struct sg_gpu *gpu, u32 pasid, u32 event)
{
	if (sg_gfx_major(gpu) >= 11)
		raise(gpu, CLIENT_GFX, SOURCE_SDMA_TRAP_GFX11, pasid, event);
	else
		raise(gpu, CLIENT_SDMA0, SOURCE_SDMA_TRAP, pasid, event);
}

/* Doorbells have 64 bits; a process has pages of them, and its compute queues the first. */
void sg_irq_bad_packet(struct sg_gpu *gpu, u32 pasid, u32 doorbell, u32 code)
{
	raise(gpu, CLIENT_GRBM_CP, SOURCE_CP_BAD_OPCODE, pasid,
	      code << 10 | (doorbell / 2 & 0x1ff));
}
