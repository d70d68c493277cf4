// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the queue slots (RLCs) of the SDMA engines, as debugfs hqds asks for them.
 *
 * Which registers a slot has, and in which order, is what amdgpu's dump functions read
 * (amdgpu_amdkfd_arcturus.c, _gc_9_4_3.c, _gfx_v10_3.c, _gfx_v11.c, _gfx_v12.c): the words of the
 * SDMA MQD in runs with gaps between them.  Idle values and the bases of engines 0 to 7 were
 * captured on gfx942; bases of engine 2 and later on gfx10.3, and 8 and later, are made up.
 */
#include "softgpu.h"
#include "mqd.h"

#define MAX_REGS      49
#define MIDCMD_CNTL   41 /* word of the gfx9 and gfx10 MQD that comes last in the dump */
#define RB_ENABLE     BIT(0)
#define RB_VMID(vmid) ((vmid) << 24)
#define DOORBELL_ON   BIT(28)

struct layout {
	u32 first_rlc, stride;
	u8 doorbell; /* position of the doorbell register */
	bool midcmd_last;
	u8 runs[6][2]; /* offset and number of registers */
};

static const struct layout vega20 = {
	0x140, 0x60, 18, true, {{0, 19}, {0x28, 6}, {0x2f, 7}, {0x40, 10}}};
static const struct layout arcturus = {
	0x130, 0x58, 18, true, {{0, 19}, {0x28, 6}, {0x2f, 7}, {0x40, 10}}};
static const struct layout gfx942 = {
	0x130, 0x58, 18, true, {{0, 19}, {0x28, 6}, {0x2f, 7}, {0x40, 12}}};
static const struct layout gfx11 = {
	0x80, 0x58, 17, false, {{0, 7}, {8, 11}, {0x29, 1}, {0x2b, 12}, {0x40, 12}}};
static const struct layout gfx12 = {0x80, 0x58, 15, false, {{0, 49}}};

static const u32 idle_gfx9[MAX_REGS] = {
	[0] = 0x00040000, [7] = 0x00403000, [10] = 0x100, [17] = 0x4, [27] = 0xf, [30] = 0x4000,
};
static const u32 idle_later[MAX_REGS] = {[0] = 0x00040000};

static const struct layout *layout_of(const struct sg_gpu *gpu)
{
	switch (gpu->model->gc) {
	case IP_VERSION(9, 4, 0): return &vega20;
	case IP_VERSION(9, 4, 1):
	case IP_VERSION(9, 4, 2): return &arcturus;
	}
	switch (sg_gfx_major(gpu)) {
	case 11: return &gfx11;
	case 12: return &gfx12;
	}
	return &gfx942; /* and gfx10.3 */
}

static u32 engine_base(const struct sg_gpu *gpu, u32 engine)
{
	static const u32 gfx942_bases[] = {0x1260,  0x1860,  0x39400, 0x39800,
					   0x41260, 0x41860, 0x79400, 0x79800};
	const u32 n = ARRAY_SIZE(gfx942_bases);

	if (gpu->model->gc == IP_VERSION(9, 4, 3) || gpu->model->gc == IP_VERSION(9, 5, 0))
		return gfx942_bases[engine % n] + engine / n * 0x80000;
	return engine < 2 ? 0x1260 + engine * 0x600 : 0x1e000 + (engine - 2) * 0x400;
}

#define SDMA_SLOT(gen, mqd)                                                    \
	((struct slot){((const struct gen##_sdma_mqd *)(mqd))->sdma_engine_id, \
		       ((const struct gen##_sdma_mqd *)(mqd))->sdma_queue_id})

struct slot {
	u32 engine, rlc; /* the engine counts from the node's first */
};

static struct slot slot_of(const struct sg_gpu *gpu, const struct sg_queue *queue)
{
	switch (sg_gfx_major(gpu)) {
	case 10: return SDMA_SLOT(v10, queue->mqds[0]);
	case 11: return SDMA_SLOT(v11, queue->mqds[0]);
	case 12: return SDMA_SLOT(v12, queue->mqds[0]);
	}
	return SDMA_SLOT(v9, queue->mqds[0]);
}

static u32 first_engine(const struct sg_gpu *gpu, const struct sg_queue *queue)
{
	const int nodes = max(gpu->model->partitions, 1);
	const int xccs = hweight32(gpu->model->xcc_mask) / nodes;

	return queue->owner ? __ffs(queue->owner->xccs) / xccs * (gpu->model->sdma_engines / nodes)
			    : 0;
}

static struct sg_queue *queue_in_slot(struct sg_gpu *gpu, u32 engine, u32 rlc)
{
	struct sg_queue *queue;
	struct slot slot;

	list_for_each_entry(queue, &gpu->queues, node)
	{
		if (!queue->sdma)
			continue;
		slot = slot_of(gpu, queue);
		if (first_engine(gpu, queue) + slot.engine == engine && slot.rlc == rlc)
			return queue;
	}
	return NULL;
}

static void read_queue(const struct layout *layout, const struct sg_queue *queue, u32 *regs, int n)
{
	memcpy(regs, queue->mqds[0], n * 4);
	if (layout->midcmd_last) {
		memset(regs + MIDCMD_CNTL, 0, (n - MIDCMD_CNTL) * 4);
		regs[n - 1] = queue->mqds[0][MIDCMD_CNTL];
	}
	regs[SDMA_MQD_CNTL] |= RB_ENABLE | RB_VMID(SG_COMPUTE_VMID);
	regs[layout->doorbell] |= DOORBELL_ON;
	mqd_set_u64(regs, SDMA_MQD_RPTR, queue->rptr);
	mqd_set_u64(regs, SDMA_MQD_WPTR, queue->wptr);
}

static int n_registers(const struct layout *layout)
{
	int n = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(layout->runs); i++)
		n += layout->runs[i][1];
	return n;
}

static void set_addresses(const struct layout *layout, u32 base, u32 (*out)[2])
{
	size_t run;
	int i;

	for (run = 0; run < ARRAY_SIZE(layout->runs); run++)
		for (i = 0; i < layout->runs[run][1]; i++)
			(*out++)[0] = (base + layout->runs[run][0] + i) * 4;
}

int sg_hqd_sdma_dump(struct amdgpu_device *adev, u32 engine, u32 rlc, u32 (**dump)[2], u32 *n_regs)
{
	struct sg_gpu *gpu = sg_from_adev(adev);
	const struct layout *layout = layout_of(gpu);
	const int n = n_registers(layout);
	u32(*out)[2] = kcalloc(n, sizeof(*out), GFP_KERNEL);
	struct sg_queue *queue;
	u32 regs[MAX_REGS];
	int i;

	if (!out)
		return -ENOMEM;
	memcpy(regs, sg_gfx_major(gpu) < 11 ? idle_gfx9 : idle_later, sizeof(regs));
	mutex_lock(&gpu->lock);
	queue = queue_in_slot(gpu, engine, rlc);
	if (queue)
		read_queue(layout, queue, regs, n);
	mutex_unlock(&gpu->lock);
	set_addresses(layout, engine_base(gpu, engine) + layout->first_rlc + rlc * layout->stride,
		      out);
	for (i = 0; i < n; i++)
		out[i][1] = regs[i];
	*dump = out;
	*n_regs = n;
	return 0;
}
