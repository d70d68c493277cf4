// The part of the KFD driver's binary interface that gpq uses: ioctl numbers, argument layouts,
// enumerations.
//
// gpq has its own header because the kernel headers of many hosts predate the debugger interface.
// Facts: [kfd.ioctls], [kfd.versions], [kfd.trap-layout], [kfd.queue-entry], [kfd.device-entry],
// [kfd.save-header], [kfd.exceptions], [kfd.criu-layout], [kfd.suspend-grace]. The names differ
// from the kernel's, so that tests/unit/test_abi.c can include both headers and compare them.
//
// All structures are little endian, naturally aligned and without hidden padding. The kernel
// copies the argument back even when the call fails, so never trust an input field afterwards.
#pragma once

#include "common/host/std.h"

#include <sys/ioctl.h>

#define KFD_DEVICE_PATH "/dev/kfd"

// Versions of the KFD interface by minor number; the major number is always 1.
enum {
	KFD_MAJOR = 1,
	KFD_MINOR_DEBUG = 13,    // Linux 6.5: DBG_TRAP and RUNTIME_ENABLE
	KFD_MINOR_CONTEXTS = 19, // secondary KFD contexts, whose queues DBG_TRAP cannot reach
};

// Most queues of a process (ids 0 to 1023), and most queue ids in one SUSPEND_QUEUES.
#define KFD_MAX_QUEUES 1024u

// Most GPUs of a process that gpq handles; the driver has no limit that is lower.
#define KFD_MAX_GPUS 64u

struct kfd_version {
	uint32_t major;
	uint32_t minor;
};

struct kfd_smi { // argument of KFD_SMI_EVENTS; see smi.h
	uint32_t gpu_id;
	uint32_t fd; // set by the driver: descriptor of the event stream, not close-on-exec
};

// The checkpoint operations (CRIU) that pause all queues of another process, and undo that.
enum kfd_criu_command {
	KFD_CRIU_PROCESS_INFO = 0, // pauses; never call it twice before an UNPAUSE [kfd.criu]
	KFD_CRIU_UNPAUSE = 2,
};

struct kfd_criu {
	uint64_t devices;
	uint64_t bos;
	uint64_t priv_data;
	uint64_t priv_data_size;
	uint32_t num_devices;
	uint32_t num_bos;
	uint32_t num_objects;
	uint32_t pid;
	uint32_t op; // enum kfd_criu_command
	uint32_t reserved;
};

enum kfd_dbg_op {
	KFD_DBG_ENABLE = 0,
	KFD_DBG_DISABLE = 1,
	KFD_DBG_SEND_RUNTIME_EVENT = 2,
	KFD_DBG_SUSPEND_QUEUES = 6,
	KFD_DBG_RESUME_QUEUES = 7,
	KFD_DBG_QUERY_DEBUG_EVENT = 11,
	KFD_DBG_GET_QUEUE_SNAPSHOT = 13,
	KFD_DBG_GET_DEVICE_SNAPSHOT = 14,
};

struct kfd_dbg {
	uint32_t pid; // thread group leader of the target, in the caller's PID namespace
	uint32_t op;  // enum kfd_dbg_op
	union {
		struct {
			uint64_t exception_mask;
			uint64_t rinfo_ptr;  // address of a struct kfd_rinfo
			uint32_t rinfo_size; // in: bytes at rinfo_ptr; out: size in the driver
			uint32_t dbg_fd; // non-blocking fd; the driver writes a '.' per exception
		} enable;
		struct {
			uint64_t exception_mask; // KFD_EC_PROCESS_RUNTIME only [kfd.send-event]
			uint32_t gpu_id;
			uint32_t queue_id;
		} send_event;
		struct {
			uint64_t exception_mask;  // exceptions to clear
			uint64_t queue_array_ptr; // address of uint32_t queue ids; never NULL
			uint32_t num_queues;      // at most KFD_MAX_QUEUES
			uint32_t grace_period;    // units of 1000 GPU clocks, 0..KFD_GRACE_MAX
		} suspend;
		struct {
			uint64_t queue_array_ptr;
			uint32_t num_queues;
			uint32_t reserved;
		} resume;
		struct {
			uint64_t exception_mask; // in: exceptions to clear; out: exceptions pending
			uint32_t gpu_id;         // out: GPU of the exception
			uint32_t queue_id;       // out: queue of the exception
		} query;
		struct {
			uint64_t exception_mask; // exceptions to clear in the copied entries
			uint64_t buf_ptr;
			uint32_t num_entries; // in: entries that fit; out: entries that exist
			uint32_t entry_size;  // in: stride of entries; out: bytes written of each
		} snapshot;                   // snapshot of queues or of devices
	};
};

struct kfd_rinfo {
	uint64_t r_debug;
	uint32_t runtime_state; // enum kfd_runtime_state
	uint32_t ttmp_setup;
};

enum kfd_runtime_state {
	KFD_RUNTIME_DISABLED = 0, // queues of the process cannot be suspended
	KFD_RUNTIME_ENABLED = 1,
	KFD_RUNTIME_BUSY = 2, // a GPU's debug VMID is taken, or a CU mask forbids debugging
	KFD_RUNTIME_ERROR = 3,
};

struct kfd_queue_entry {
	uint64_t exception_status;
	uint64_t ring_base_address;
	uint64_t write_pointer_address; // VA of the u64 write index in the target
	uint64_t read_pointer_address;
	uint64_t ctx_save_restore_address;
	uint32_t queue_id;
	uint32_t gpu_id;
	uint32_t ring_size;                  // bytes of the ring
	uint32_t queue_type;                 // enum kfd_snapshot_type
	uint32_t ctx_save_restore_area_size; // bytes of one XCC's area
	uint32_t reserved;
};

struct kfd_device_entry {
	uint64_t exception_status;
	uint64_t apertures[6]; // base, limit: LDS, then scratch, then GPU memory
	uint32_t gpu_id;
	uint32_t pci[6]; // location, vendor, device, revision, vendor and device of the subsystem
	uint32_t fw_version;
	uint32_t gfx_target_version;
	uint32_t simds[4]; // SIMDs, waves per SIMD, shader arrays, shader arrays per engine
	uint32_t num_xcc;
	uint32_t capability;
	uint32_t debug_prop;
};

// Header of a wave save area, in the target's memory. The header of XCC n is at
// ctx_save_restore_address + n * ctx_save_restore_area_size.
struct kfd_ctx_header {
	uint32_t control_stack_offset;
	uint32_t control_stack_size;
	uint32_t wave_state_offset;
	uint32_t wave_state_size; // bytes; > 0 if waves of a suspended queue were saved
	uint32_t debug_offset;
	uint32_t debug_size;
	uint64_t err_payload_addr;
	uint32_t err_event_id;
	uint32_t reserved;
};

// Queue types of the queue snapshot; sysfs has other numbers (procs.h).
enum kfd_snapshot_type {
	KFD_SNAPSHOT_COMPUTE = 0,
	KFD_SNAPSHOT_SDMA = 1,
	KFD_SNAPSHOT_COMPUTE_AQL = 2,
	KFD_SNAPSHOT_SDMA_XGMI = 3,
};

// Is it a compute queue? Only these have a save area.
static inline bool kfd_is_compute(const struct kfd_queue_entry *q)
{
	return q->queue_type == KFD_SNAPSHOT_COMPUTE || q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL;
}

// Bits that suspend and resume set in the array of queue ids. ERROR: the hardware did not let go of
// the queue. INVALID: the queue is unknown, new, or being destroyed.
#define KFD_QUEUE_ERROR   0x40000000u
#define KFD_QUEUE_INVALID 0x80000000u
#define KFD_QUEUE_ID_MASK 0x3fffffffu

// The hardware keeps 8 bits of a grace period: 256 and its multiples would mean "wait for ever".
#define KFD_GRACE_MAX 255u

#define KFD_EC(code)           (1ull << ((code)-1))
#define KFD_EC_QUEUE_NEW       KFD_EC(31)
#define KFD_EC_PROCESS_RUNTIME KFD_EC(48)

// Bits of a topology node's `capability`: suspending queues needs both bits.
#define KFD_CAP_TRAP_DEBUG     0x00008000u
#define KFD_CAP_DEBUG_FIRMWARE 0x20000000u

// Bit of a device's `debug_prop`: ttmps of each wave tell its packet and workgroup [waves.ttmps].
#define KFD_DEBUG_TTMPS_ALWAYS 0x00000400u

// Numbers of ioctls, in which the size of the argument is encoded.
#define KFD_GET_VERSION _IOR('K', 0x01, struct kfd_version)
#define KFD_CRIU_OP     _IOWR('K', 0x22, struct kfd_criu)
#define KFD_SMI_EVENTS  _IOWR('K', 0x1f, struct kfd_smi)
#define KFD_DBG_TRAP    _IOWR('K', 0x26, struct kfd_dbg)
// The target makes this call, with an argument of { u64, u32, u32 }; gpq only recognises it.
#define KFD_RUNTIME_ENABLE _IOWR('K', 0x25, uint64_t[2])
