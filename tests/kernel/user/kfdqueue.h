/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * KFD queues from user space: GPU memory, CREATE_QUEUE and the doorbell, and putting packets into
 * the ring.  Sizes of the context save area are libhsakmt's formulas (queues.c), which KFD
 * checks.  The write and read index lie in one page where ROCr has them, so that the address of
 * an hsa_queue_t can be derived from the write index as with the real runtime.
 */
#pragma once

#include "kfduser.h"

#define PAGE                4096u
#define PACKET              64u  /* bytes of an AQL packet, and of our SDMA packets */
#define WRITE_INDEX_OFF     0x38 /* in amd_queue_t */
#define READ_INDEX_OFF      0x80
#define DOORBELL_PAGE       8192u
#define PM4_FILLER          0x80000000u /* a type 2 packet: one dword, nothing to do */
#define SDMA_NOP_64         (15u << 16) /* NOP that covers 15 more dwords */
#define AQL_HEADER_BARRIER  0x1503      /* barrier-AND, barrier bit, system fences */
#define AQL_HEADER_DISPATCH 0x0b02      /* kernel dispatch, barrier bit, agent fences */

enum kind { AQL, PM4, SDMA };

struct gpu {
	struct node node;
	int kfd, drm;
	bool user_memory;
	bool vram_rings;
};

struct queue {
	enum kind kind;
	struct gpu *gpu;
	uint32_t id, priority, ring_size;
	uint8_t *ring;
	uint8_t *indices; /* the page with both indices: stands for the hsa_queue_t */
	volatile uint64_t *write_index, *read_index, *doorbell;
	uint64_t submitted; /* packets */
	struct kfd_ioctl_create_queue_args made; /* as it was created */
};

struct aql_dispatch {
	uint16_t header, setup, workgroup[3], reserved;
	uint32_t grid[3], private_size, group_size;
	uint64_t kernel_object, kernarg, reserved2, completion_signal;
};
_Static_assert(sizeof(struct aql_dispatch) == PACKET, "an AQL packet has 64 bytes");

static inline void gpu_open(struct gpu *gpu, int kfd, const struct node *node, bool user_memory)
{
	struct kfd_ioctl_acquire_vm_args args = {.gpu_id = node->gpu_id};
	char path[64];
	*gpu = (struct gpu){.node = *node, .kfd = kfd, .user_memory = user_memory};
	snprintf(path, sizeof(path), "/dev/dri/renderD%u", node->drm_render_minor);
	gpu->drm = open(path, O_RDWR | O_CLOEXEC);
	if (gpu->drm < 0)
		die("%s", path);
	args.drm_fd = (uint32_t)gpu->drm;
	if (ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &args))
		die("ACQUIRE_VM of GPU %u", node->gpu_id);
}

static inline void map_to_gpu(struct gpu *gpu, uint64_t handle)
{
	struct kfd_ioctl_map_memory_to_gpu_args args = {
		.handle = handle,
		.device_ids_array_ptr = (uintptr_t)&gpu->node.gpu_id,
		.n_devices = 1,
	};
	if (ioctl(gpu->kfd, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &args))
		die("MAP_MEMORY_TO_GPU");
}

/* Memory at one address for CPU and GPU: that of the flags through the render node, or user memory. */
static inline void *gpu_memory_of(struct gpu *gpu, size_t size, uint32_t flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = (uintptr_t)p,
		.size = size,
		.gpu_id = gpu->node.gpu_id,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE |
			 KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT,
	};
	if (p == MAP_FAILED)
		die("mmap of %zu bytes", size);
	args.flags |= flags;
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR)
		args.mmap_offset = (uintptr_t)p;
	if (ioctl(gpu->kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args))
		die("ALLOC_MEMORY_OF_GPU of %zu bytes", size);
	if (!(flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) &&
	    mmap(p, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, gpu->drm,
		 (off_t)args.mmap_offset) == MAP_FAILED)
		die("mmap of GPU memory");
	map_to_gpu(gpu, args.handle);
	return p;
}

static inline void *gpu_memory(struct gpu *gpu, size_t size)
{
	return gpu_memory_of(gpu, size, gpu->user_memory ? KFD_IOC_ALLOC_MEM_FLAGS_USERPTR
							 : KFD_IOC_ALLOC_MEM_FLAGS_GTT);
}

static inline uint32_t wave_count(const struct node *node)
{
	const uint32_t cus = node->simd_count / node->simd_per_cu / node->num_xcc;
	const uint32_t per_engines = node->array_count / node->simd_arrays_per_engine * 512;
	if (node->gfx_target_version >= 100100)
		return cus * 32;
	return cus * 40 < per_engines ? cus * 40 : per_engines;
}

/* The context save area: per XCC the driver's size plus 32 bytes of debugger memory per wave. */
static inline size_t save_area_size(const struct node *node)
{
	const uint32_t debugger = (wave_count(node) * 32 + 63) & ~63u;
	const uint64_t all = ((uint64_t)node->cwsr_size + debugger) * node->num_xcc;
	return (all + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static inline volatile uint64_t *doorbell_map(const struct gpu *gpu, uint64_t offset)
{
	uint8_t *page = mmap(NULL, DOORBELL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, gpu->kfd,
			     (off_t)(offset & ~(uint64_t)(DOORBELL_PAGE - 1)));
	if (page == MAP_FAILED)
		die("mmap of the doorbells");
	return (void *)(page + (offset & (DOORBELL_PAGE - 1)));
}

static inline uint32_t kfd_type(enum kind kind)
{
	switch (kind) {
	case PM4: return KFD_IOC_QUEUE_TYPE_COMPUTE;
	case SDMA: return KFD_IOC_QUEUE_TYPE_SDMA;
	default: return KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
	}
}

static inline void queue_create(struct queue *queue, struct gpu *gpu, enum kind kind,
				uint32_t ring_size, uint32_t priority)
{
	struct kfd_ioctl_create_queue_args args = {
		.ring_size = ring_size,
		.gpu_id = gpu->node.gpu_id,
		.queue_type = kfd_type(kind),
		.queue_percentage = 100,
		.queue_priority = priority,
	};
	*queue = (struct queue){
		.kind = kind,
		.gpu = gpu,
		.priority = priority,
		.ring_size = ring_size,
		.ring = gpu->vram_rings ? gpu_memory_of(gpu, ring_size, KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
									KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC)
					: gpu_memory(gpu, ring_size),
		.indices = gpu_memory(gpu, PAGE),
	};
	queue->write_index = (void *)(queue->indices + WRITE_INDEX_OFF);
	queue->read_index = (void *)(queue->indices + READ_INDEX_OFF);
	args.ring_base_address = (uintptr_t)queue->ring;
	args.write_pointer_address = (uintptr_t)queue->write_index;
	args.read_pointer_address = (uintptr_t)queue->read_index;
	if (kind != SDMA) {
		args.eop_buffer_address = (uintptr_t)gpu_memory(gpu, PAGE);
		args.eop_buffer_size = PAGE;
		args.ctl_stack_size = gpu->node.ctl_stack_size;
		args.ctx_save_restore_size = gpu->node.cwsr_size;
		args.ctx_save_restore_address =
			(uintptr_t)gpu_memory(gpu, save_area_size(&gpu->node));
	}
	if (ioctl(gpu->kfd, AMDKFD_IOC_CREATE_QUEUE, &args))
		die("CREATE_QUEUE");
	queue->id = args.queue_id;
	queue->doorbell = doorbell_map(gpu, args.doorbell_offset);
	queue->made = args;
	printf("%s %d: queue %u gpu_id %u type %u doorbell_offset %llx ring_base 0x%llx ring_size "
	       "%u"
	       " priority %u\n",
	       program_invocation_short_name, getpid(), queue->id, args.gpu_id, args.queue_type,
	       (unsigned long long)args.doorbell_offset, (unsigned long long)args.ring_base_address,
	       ring_size, priority);
}

/* Destroys a queue and creates it anew in the same memory; while it is suspended the driver waits. */
static inline void queue_remake(struct queue *queue)
{
	struct kfd_ioctl_destroy_queue_args old = {.queue_id = queue->id};
	struct kfd_ioctl_create_queue_args args = queue->made;
	int r;
	do
		r = ioctl(queue->gpu->kfd, AMDKFD_IOC_DESTROY_QUEUE, &old);
	while (r && errno == EINTR);
	if (r)
		die("DESTROY_QUEUE %u", old.queue_id);
	*queue->read_index = *queue->write_index = 0;
	queue->submitted = 0;
	if (ioctl(queue->gpu->kfd, AMDKFD_IOC_CREATE_QUEUE, &args))
		die("CREATE_QUEUE");
	if (args.doorbell_offset != queue->made.doorbell_offset)
		queue->doorbell = doorbell_map(queue->gpu, args.doorbell_offset);
	queue->id = args.queue_id;
	queue->made = args;
}

/* Indices count packets (AQL), dwords (PM4) or bytes (SDMA). */
static inline uint64_t index_step(const struct queue *queue)
{
	return queue->kind == SDMA ? PACKET : 1;
}

static inline uint64_t ring_capacity(const struct queue *queue)
{
	return queue->ring_size / (queue->kind == PM4 ? 4 : PACKET);
}

static inline uint64_t queue_pending(const struct queue *queue)
{
	return (*queue->write_index - *queue->read_index) / index_step(queue);
}

/* Writes packet number n; an AQL packet's header comes last, it hands the slot to the GPU. */
static inline void put_packet(struct queue *queue, uint64_t n, const struct aql_dispatch *dispatch)
{
	uint8_t *slot;
	switch (queue->kind) {
	case PM4: ((uint32_t *)queue->ring)[n % ring_capacity(queue)] = PM4_FILLER; return;
	case SDMA:
		slot = queue->ring + n * PACKET % queue->ring_size;
		memset(slot, 0, PACKET);
		*(uint32_t *)slot = SDMA_NOP_64;
		return;
	case AQL:
		slot = queue->ring + n * PACKET % queue->ring_size;
		if (dispatch)
			memcpy(slot + 2, (const uint8_t *)dispatch + 2, PACKET - 2);
		else
			memset(slot + 2, 0, PACKET - 2);
		__atomic_store_n((uint16_t *)slot,
				 dispatch ? AQL_HEADER_DISPATCH : AQL_HEADER_BARRIER,
				 __ATOMIC_RELEASE);
	}
}

/* An AQL doorbell gets the index of the last packet, the others the new write index. */
static inline void ring_doorbell(struct queue *queue, uint64_t packets)
{
	const uint64_t index = *queue->write_index + packets * index_step(queue);
	*queue->write_index = index;
	*queue->doorbell = queue->kind == AQL ? index - 1 : index;
	queue->submitted += packets;
}

/* The caller has made sure that there is room. */
static inline void queue_submit(struct queue *queue, uint64_t packets)
{
	for (uint64_t i = 0; i < packets; i++)
		put_packet(queue, *queue->write_index / index_step(queue) + i, NULL);
	if (packets)
		ring_doorbell(queue, packets);
}
