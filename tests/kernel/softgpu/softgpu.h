/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * softgpu: a software GPU under the distribution's unmodified amdkfd.
 *
 * What the parts share.  Above this header is amdkfd; these files are the amdgpu layer it calls
 * (amdgpu_amdkfd_*, kfd2kgd, MES) and the hardware below that.  README.md has the map.
 * Test rig only: nothing here touches real AMD hardware.
 *
 * Locks, outermost first: sg_gpu.lock (what runs), sg_vm.lock (what is mapped), sg_bo.lock
 * (an object's pages), sg_gpu.mem_lock (address allocation, spinlock).
 */
#pragma once

#include "compat.h"
#include "amdgpu.h"
#include "amdgpu_amdkfd.h"
#include "amdgpu_mes.h"
#include "amdgpu_reset.h"
#include "amdgpu_xcp.h"
#include "kfd_priv.h"

#define SG_MAX_GPUS       8
#define SG_DOORBELL_ORDER 9 /* 2 MiB of doorbells per GPU */
#define SG_DOORBELL_SIZE  (PAGE_SIZE << SG_DOORBELL_ORDER)
#define SG_MAX_XCCS       8 /* of one node */
#define SG_FIRST_USER_Q   2 /* queues 0 and 1 of each pipe belong to amdgpu itself */
#define SG_PIPES          4
#define SG_QUEUES         8 /* per pipe */
#define SG_COMPUTE_VMID   8 /* every process shows up under this one */
#define SG_SPI_TRAP_EN    BIT(3) /* of SPI_GDBG_PER_VMID_CNTL */

/* One GPU model: what amdgpu would have read from the chip. */
struct sg_model {
	const char *name;
	u16 device_id;
	u8 revision;
	enum amd_asic_type asic_type;
	u32 gc, sdma; /* IP versions */
	u32 xcc_mask;
	int partitions; /* KFD nodes; 0: one, and no partition manager */
	int engines, arrays, cus_per_array,
		cus; /* per XCC: SEs, SHs per SE; cus: active, all XCCs */
	int simds, waves, wavefront;
	int sdma_engines;
	u32 mec_fw, sdma_fw, mes_version;
	bool mes; /* queues are scheduled by MES commands, not by run lists */
	bool apu; /* one chip with the processor */
	int lds_kib; /* of a CU; 0: 64 */
	u64 vram;
};

/* A buffer object.  Its pages are ordinary RAM, allocated when first touched. */
struct sg_bo {
	struct amdgpu_bo bo; /* first: amdkfd sees only this */
	struct kref ref;
	struct sg_gpu *gpu;
	struct mutex lock; /* pages, kaddr */
	struct xarray pages;
	unsigned long npages;
	u64 size, gpu_addr, user_addr;
	bool user;         /* the pages are pinned user pages */
	bool vram;         /* mapped as TTM maps the GPU's memory */
	bool nopages;      /* doorbells, MMIO, or user memory too large to pin */
	void *kaddr;       /* mapping of all pages, made on first use */
	long doorbell_off; /* byte offset in the doorbell aperture, or -1 */
	u32 mmap_id;
	struct list_head kernel_node; /* on gpu->kernel_bos: reachable by kernel GPU address */
};

/* A GPU address space: one per open of the render node, as in amdgpu. */
struct sg_vm {
	struct amdgpu_fpriv fpriv; /* first */
	struct kref ref;
	struct sg_gpu *gpu;
	struct mutex lock;
	struct list_head maps;
	u32 id; /* page directory number: stands for the page table base */
	u32 pasid;
	struct amdkfd_process_info *process_info;
	pid_t tgid; /* who took it */
	char comm[TASK_COMM_LEN];
};

struct sg_map {
	struct amdgpu_bo_va va;
	struct amdgpu_bo_va_mapping range; /* pages */
	struct list_head node;
	struct kgd_mem *mem;
};

#define SG_AQL_TYPES 6
#define SG_MAX_WAVES 2048 /* saved of one queue */

/* A dispatch that is taken and not complete. */
struct sg_dispatch {
	u64 index; /* packets before it in its queue */
	u64 kernel_object;
	u32 grid[3], group_bytes;
	u16 workgroup[3];
};

/* A wave that was saved: so that it is the same one when it is saved again. */
struct sg_wave {
	u64 dispatch, record; /* index, address */
	u32 number, size;     /* in its dispatch; bytes of the record */
	u32 rules;            /* of which sg_fault_wave() it was made */
	bool placed;          /* launched with its ttmps set up */
};

/* What a ring did since it was created.  Outlives unmapping: found by doorbell, reset on reuse. */
struct sg_ring_stat {
	u64 ring, mqd_addr, size;
	u64 aql[SG_AQL_TYPES]; /* packets completed, by AQL packet type */
	u64 credit;            /* nanoseconds that the packet at the read pointer has had */
	u64 hung, hung_signal; /* kernel object of a dispatch that was taken and hangs; 0: none */
	struct sg_dispatch hung_dispatch;
	bool ran; /* since it was mapped: the packet at the read pointer has had time */
	int n_waves;
	struct sg_wave *waves;
	u32 pasid;
	pid_t tgid;
};

/* The kernel's own queue to the scheduler firmware. */
struct sg_hiq {
	struct list_head node;
	u32 doorbell, xccs;
	u32 *mqd;
	u64 rptr; /* dwords, never wraps */
};

/* A user queue that the scheduler has mapped. */
struct sg_queue {
	struct list_head node;
	struct sg_hiq *owner; /* NULL: mapped through MES */
	u64 gang;             /* MES: the gang context */
	u32 doorbell, pasid;
	u64 mqd_addr;
	u32 *mqds[SG_MAX_XCCS]; /* an AQL queue has one per XCC; KFD names the first */
	int n_mqds;
	struct sg_vm *vm;
	struct sg_bo *bos[3]; /* keep ring, rptr and wptr alive while mapped */
	bool aql, sdma, resident;
	bool ttmps;    /* set up when a wave is launched */
	bool blocked;  /* waits for a signal */
	bool refused;  /* stands at a packet that raised an exception */
	bool had_work; /* at the last poll, so the time since then is its own */
	u64 size; /* ring bytes */
	u8 *ring; /* NULL: not readable (huge user memory) */
	u64 *rptr_report, *wptr_poll;
	u64 rptr, wptr; /* unit: AQL packets, PM4 dwords, SDMA bytes */
	u64 last_doorbell;
	int quiet_polls;
	struct sg_ring_stat *stat;
};

struct sg_counters {
	u64 runlists, map_process, map_queues, unmaps, fences, write_data, set_resources, bad;
	u64 mes_add, mes_remove;
	u64 packets, irqs, sdma_packets, bad_address;
	u64 aql[SG_AQL_TYPES];
};

struct sg_gpu {
	struct amdgpu_device *adev;
	const struct sg_model *model;
	int index;
	u8 *doorbells;
	struct mutex lock; /* hiqs, queues, ring_stats, counters */
	struct list_head hiqs, queues;
	struct xarray ring_stats;
	struct sg_counters count;
	u64 occupied_ns, occupied_since; /* time with a queue on the hardware; 0: none is now */
	int rotation; /* which queues have the slots, when there are more queues than slots */
	spinlock_t mem_lock; /* next_addr, kernel_bos, doorbell_map */
	u64 next_addr;
	struct list_head kernel_bos;
	unsigned long doorbell_map[BITS_TO_LONGS(SG_DOORBELL_SIZE / PAGE_SIZE)];
	struct task_struct *cp;
	struct dentry *debugfs;
	struct work_struct reset_work;
};

static inline struct sg_bo *to_sg_bo(struct amdgpu_bo *bo)
{
	return container_of(bo, struct sg_bo, bo);
}

static inline struct sg_vm *to_sg_vm(struct amdgpu_vm *vm)
{
	return container_of(vm, struct sg_vm, fpriv.vm);
}

static inline struct sg_gpu *sg_from_adev(struct amdgpu_device *adev)
{
	return pci_get_drvdata(adev->pdev);
}

static inline int sg_gfx_major(const struct sg_gpu *gpu)
{
	return IP_VERSION_MAJ(gpu->model->gc);
}

/* bus.c: a PCI root bus of our own; config space only */
int sg_bus_add(const char *models);
void sg_bus_remove(void);
const struct sg_model *sg_bus_model(const struct pci_dev *pdev); /* NULL: not ours */

/* models.c */
const struct sg_model *sg_model_find(const char *name);

/* device.c */
extern struct pci_driver sg_pci_driver;
int sg_fill_adev(struct sg_gpu *gpu, struct amdgpu_device *adev); /* chip.c */

/* drm.c */
extern const struct drm_driver sg_drm_driver;
bool sg_is_render_node(const struct file *file);

/* waves.c: what a queue leaves in its save area; gpu->lock held */
void sg_waves_save(struct sg_gpu *gpu, struct sg_queue *queue);

/* queue.c: time in which the hardware had a queue, until now */
u64 sg_occupied_ns(const struct sg_gpu *gpu);

/* debugfs.c */
void sg_debugfs_init(void);
void sg_debugfs_fini(void);
void sg_debugfs_add(struct sg_gpu *gpu);
void sg_debugfs_del(struct sg_gpu *gpu);

/* bo.c: references are counted; sg_bo_put(NULL) is fine */
struct sg_bo *sg_bo_new(struct sg_gpu *gpu, u64 size);
struct sg_bo *sg_bo_get(struct sg_bo *bo);
void sg_bo_put(struct sg_bo *bo);
void *sg_bo_kmap(struct sg_bo *bo); /* NULL: no pages, or no memory */
int sg_bo_pin(struct sg_bo *bo, u64 user_addr);
bool sg_bo_copy(struct sg_bo *bo, u64 at, void *buffer, size_t len, bool write, struct pid *owner);
int sg_bo_make_mappable(struct sg_bo *bo, u64 *mmap_offset);
void *sg_kernel_ptr(struct sg_gpu *gpu, u64 gpu_addr, u64 len);
int sg_bo_mmap(struct file *file, struct vm_area_struct *vma);

/* vm.c */
int sg_vm_open(struct sg_gpu *gpu, struct drm_file *file);
void sg_vm_close(struct drm_file *file);
struct sg_vm *sg_vm_get(u64 page_table_base); /* NULL: closed meanwhile */
void sg_vm_put(struct sg_vm *vm);
void *sg_vm_ptr(struct sg_vm *vm, u64 va, u64 len); /* vm->lock held, also while used */
void *sg_vm_pin(struct sg_vm *vm, u64 va, u64 len, struct sg_bo **bo); /* valid until sg_bo_put */
bool sg_vm_copy(struct sg_vm *vm, u64 va, void *buffer, size_t len, bool write); /* vm->lock held */
u64 sg_vm_vram(struct sg_vm *vm);

/* queue.c: gpu->lock held */
struct sg_map_request {
	struct sg_hiq *owner;
	u64 mqd_addr, wptr_va, page_table_base, gang;
	u32 doorbell, pasid;
	bool sdma;
	bool debug; /* the process's trap handler is on: what SPI_GDBG_PER_VMID_CNTL says */
};
int sg_queue_map(struct sg_gpu *gpu, const struct sg_map_request *req);
void sg_queue_unmap(struct sg_gpu *gpu, struct sg_queue *queue);
void sg_queues_unmap(struct sg_gpu *gpu, const struct sg_hiq *owner, int pasid); /* -1: all */
u64 sg_queue_doorbell(const struct sg_gpu *gpu, const struct sg_queue *queue);
u64 sg_queue_load(const struct sg_queue *queue, const u64 *pointer);
void sg_queue_report_rptr(struct sg_queue *queue);
const u32 *sg_queue_mqd(const struct sg_queue *queue, u32 xcc); /* NULL: not on that XCC */

static inline bool sg_queue_pending(const struct sg_queue *queue)
{
	return queue->rptr != queue->wptr;
}

static inline bool sg_queue_busy(const struct sg_queue *queue)
{
	return sg_queue_pending(queue) || queue->stat->hung;
}

/* hws.c: the scheduler firmware of gfx9 and gfx10; gpu->lock held */
bool sg_hiq_run(struct sg_gpu *gpu, struct sg_hiq *hiq); /* false: nothing to do */
void sg_hiqs_forget(struct sg_gpu *gpu);
int sg_hiq_load(struct amdgpu_device *adev, void *mqd, u32 pipe, u32 queue, u32 doorbell, u32 xcc);

/* mes.c: the scheduler firmware of gfx11 and later */
extern const struct amdgpu_mes_funcs sg_mes_funcs;

/* fault.c: what a test can make go wrong */
void sg_fault_delay(void);
bool sg_fault_hang(void);
bool sg_fault_kernel_hangs(u64 kernel_object);
bool sg_fault_hang_taken(void);
u32 sg_fault_take_doorbell(void); /* 0: none */

/* What a test wants of a wave. */
enum sg_wave_state {
	SG_WAVE_RUN,
	SG_WAVE_BARRIER,
	SG_WAVE_HALT,    /* by itself */
	SG_WAVE_HANDLER, /* in the trap handler */
	SG_WAVE_STOPPED, /* by the trap handler: this and those behind it */
	SG_WAVE_VIOLATION = SG_WAVE_STOPPED,
	SG_WAVE_ADDRESS,
	SG_WAVE_ILLEGAL,
	SG_WAVE_MATH,
	SG_WAVE_BREAKPOINT,
	SG_WAVE_ASSERT,
	SG_WAVE_DEBUGTRAP,
};

struct sg_wave_rule {
	u32 first, last; /* waves of a dispatch */
	enum sg_wave_state state;
	u32 at, span; /* where it is: bytes behind the kernel's entry; within so many it moves */
	bool moves;   /* as `span` says; false: as its queue does */
	u32 version;  /* of all rules */
};
struct sg_wave_rule sg_fault_wave(u64 kernel_object, u32 number);

/* aql.c, sdma.c: execute packets; gpu->lock and the queue's vm->lock held */
bool sg_aql_consume(struct sg_gpu *gpu, struct sg_queue *queue); /* false: must wait */
void sg_aql_end_hang(struct sg_gpu *gpu, struct sg_queue *queue); /* if the kernel hangs no more */
/* The dispatches that have waves, from 0 on; false: no more. */
bool sg_aql_dispatch(const struct sg_queue *queue, u32 n, struct sg_dispatch *d);
u64 sg_aql_work_items(const struct sg_queue *queue); /* of the next packet; 0: no dispatch */
void sg_sdma_run(struct sg_gpu *gpu, struct sg_queue *queue);

/* irq.c: interrupts as the IH ring would deliver them */
void sg_irq_end_of_pipe(struct sg_gpu *gpu, u32 pasid, u32 event);
void sg_irq_sdma_trap(struct sg_gpu *gpu, u32 pasid, u32 event);
void sg_irq_bad_packet(struct sg_gpu *gpu, u32 pasid, u32 doorbell, u32 code);
bool sg_irq_enabled(void);

/* cp.c: the thread that plays it all */
int sg_cp_start(struct sg_gpu *gpu);
void sg_cp_stop(struct sg_gpu *gpu);
void sg_cp_forget(struct sg_gpu *gpu); /* a reset: nothing is mapped any more */
void sg_cp_notice(struct sg_gpu *gpu, struct sg_queue *queue); /* looks at its doorbell */

/* hqd.c, sdmahqd.c: hardware slots, as debugfs hqds and cu_occupancy ask for them */
int sg_hqd_dump(struct amdgpu_device *adev, u32 pipe, u32 queue, u32 (**dump)[2], u32 *n_regs,
		u32 xcc);
int sg_hqd_sdma_dump(struct amdgpu_device *adev, u32 engine, u32 queue, u32 (**dump)[2],
		     u32 *n_regs);
void sg_cu_occupancy(struct amdgpu_device *adev, struct kfd_cu_occupancy *occupancy,
		     int *max_waves_per_cu, u32 xcc);
