// /sys/class/kfd/kfd/proc: the processes that have KFD open, and their queues.
//
// Facts: [kfd.proc-files], [kfd.proc-life], [kfd.queue-ids], [kfd.queue-order], [kfd.contexts].
// Processes may end while they are read. A file that cannot be read is an unknown value, a folder
// that is gone is a process or queue that does not exist; neither is an error.
#pragma once

#include "common/kfd/topology.h"

// Queue types, by numbers of gpq: sysfs and queue snapshots (KFD_SNAPSHOT_...) have others.
enum kfd_queue_type {
	KFD_QUEUE_COMPUTE,
	KFD_QUEUE_SDMA,
	KFD_QUEUE_SDMA_XGMI,
	KFD_QUEUE_TYPE_UNKNOWN = -1,
};

// Name of an enum kfd_queue_type: "compute", "sdma", "sdma-xgmi"; NULL for any other number.
const char *kfd_queue_type_name(int type);

struct kfd_queue {
	uint32_t proc;    // index of the queue's process in kfd_procs.procs
	uint32_t owner;   // index of the queue's context in kfd_procs.contexts
	uint32_t qid;     // id of the queue, unique in the context on all GPUs; reused
	int32_t context;  // id of the secondary KFD context (KFD 1.19); -1: the primary one
	uint32_t gpu_id;  // GPU of the queue; 0: unknown
	int32_t type;     // enum kfd_queue_type
	uint64_t bytes;   // ring size; KFD_UNKNOWN: unknown
	uint64_t created; // order of creation (see kfd_procs_read); KFD_UNKNOWN: unknown
};

// What owns queues: the process itself (its primary context), or a secondary context, which is a
// process of its own to the driver in all but its PID (kernel: kfd_ioctl_create_process()).
struct kfd_context {
	uint32_t proc;
	int32_t id;       // N of the folder context_N, reused; -1: the primary context
	uint64_t created; // order of creation; 0: the primary context; KFD_UNKNOWN: unknown
	uint32_t queue;   // the context's queues, by qid: kfd_procs.queues[queue .. queue + queues)
	uint32_t queues;
	uint32_t usage; // the context's counters: kfd_procs.usages[usage .. usage + usages)
	uint32_t usages;
};

// What the driver counts for a context on a GPU. KFD_UNKNOWN: unknown.
struct kfd_usage {
	uint32_t context; // index in kfd_procs.contexts
	uint32_t gpu_id;
	uint64_t vram_bytes;
	uint64_t sdma_ns;    // busy time of SDMA; slow: the driver reads it in the process's memory
	uint64_t evicted_ns; // total time evicted, which grows only when an eviction ends
	uint64_t cu_occupancy; // number of CUs in use; gfx9 family only
	uint64_t pasid;        // from about Linux 6.15 on one for each GPU, before one for all
};

struct kfd_proc {
	pid_t pid;        // tgid in the initial PID namespace, whatever namespace gpq runs in
	uint64_t pasid;   // PASID on all GPUs; KFD_UNKNOWN: each GPU has another (newer kernels)
	uint32_t context; // primary context's index in kfd_procs.contexts; the others follow, by id
	uint32_t contexts;
	bool changed;   // contexts or queues came or went: see kfd_procs_confirm
	uint32_t queue; // first queue's index in kfd_procs.queues; they are by context and qid
	uint32_t queues;
	uint32_t usage; // index in kfd_procs.usages of the first counters, of all contexts
	uint32_t usages;
	int error; // errno of reading the folder of queues; 0: none
};

struct kfd_procs {
	struct kfd_proc *procs; // sorted by pid
	struct kfd_context *contexts;
	struct kfd_queue *queues;
	struct kfd_usage *usages;
	size_t nprocs, ncontexts, nqueues, nusages;
	size_t cap_procs, cap_contexts, cap_queues, cap_usages;
	bool sysfs; // read from the kernel's own sysfs, not from a recorded host
};

// Values that kfd_procs_read() is to read. It does not open the files of others.
enum kfd_want {
	KFD_WANT_GPU = 1,
	KFD_WANT_TYPE = 2,
	KFD_WANT_SIZE = 4,
	KFD_WANT_PASID = 8,
	KFD_WANT_VRAM = 16,
	KFD_WANT_SDMA = 32,
	KFD_WANT_EVICTED = 64,
	KFD_WANT_CU = 128,
	KFD_WANT_IDLE_GPUS = 256, // counters also of GPUs on which the process has no queue
	KFD_WANT_JOIN = 512,      // PASIDs, but only of processes that have secondary contexts
};

struct kfd_procs_how {
	unsigned want;                            // bits of enum kfd_want
	bool (*keep)(const void *arg, pid_t pid); // true: read this process; NULL: read all
	const void *arg;
};

// Reads all processes into p, which must be zeroed or have been used before.
//
// `created` of queues and contexts is the inode number of their folder: kernfs counts upwards, so
// it tells the order of creation, which ids do not [kfd.queue-order]. A recorded host has ranks
// from the files `queues/.order` and `.contexts` (ids, oldest first), if it has these.
//
// Returns 0, or -1 and sets errno: ENOENT (no KFD on this host), EACCES, EMFILE, ENOMEM.
int kfd_procs_read(struct kfd_procs *p, const struct kfd_procs_how *how);

// Has process `x` of `a` the contexts and queues of process `y` of `b`? If `a` and `b` are two
// readings of a host, the process had them in between, too: kernfs never reuses an inode number.
bool kfd_procs_same_queues(const struct kfd_procs *a, const struct kfd_proc *x,
			   const struct kfd_procs *b, const struct kfd_proc *y);

// Reads again the queue ids of processes that have several queues or contexts. If any came or went
// since kfd_procs_read(), the process is marked as changed, and its order of creation becomes
// unknown; else a dump (mqds) read in between has exactly its queues. Not on a recorded host.
void kfd_procs_confirm(struct kfd_procs *p);

void kfd_procs_fini(struct kfd_procs *p);

// The process with this PID, or NULL.
const struct kfd_proc *kfd_procs_find(const struct kfd_procs *p, pid_t pid);

// The counters of context `c` on a GPU, or NULL if they were not read.
const struct kfd_usage *kfd_procs_usage(const struct kfd_procs *p, const struct kfd_context *c,
					uint32_t gpu_id);
