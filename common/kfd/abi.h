/*
 * The KFD driver's binary interface: ioctl numbers, argument layouts, enumerations.
 *
 * Our own header, so that gpq builds on hosts whose kernel headers predate the debugger
 * interface and so that every number is pinned here. Facts: kfd-facts.md sections 1 (ioctl
 * numbers, versions), 2 (debug trap) and 3 (CRIU, update queue), read from Linux 6.12,
 * include/uapi/linux/kfd_ioctl.h. The names differ from the kernel's on purpose: both headers
 * can be included in one file.
 *
 * All structures are little endian, naturally aligned and without hidden padding. The kernel
 * copies the argument back even when the call fails, so never trust an input field afterwards.
 */
#ifndef GPQ_KFD_ABI_H
#define GPQ_KFD_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define KFD_DEVICE_PATH "/dev/kfd"

/* Interface versions (minor numbers; major is 1 everywhere). */
enum {
	KFD_MAJOR = 1,
	KFD_MINOR_SMI_EVENTS = 3,
	KFD_MINOR_CRIU = 7,
	KFD_MINOR_SMI_QUEUE_EVENTS = 10,
	KFD_MINOR_DEBUG = 13,    /* Linux 6.5: DBG_TRAP and RUNTIME_ENABLE */
	KFD_MINOR_CONTEXTS = 19, /* secondary processes per mm; the debug trap cannot reach them */
};

#define KFD_MAX_QUEUES                                                            \
	1024u /* per process; ids are 0..1023; also the limit of one suspend call \
	       */

/* ---- own process ------------------------------------------------------------------------ */

struct kfd_version {
	uint32_t major;
	uint32_t minor;
};

struct kfd_create_queue {
	uint64_t ring_base_address;
	uint64_t write_pointer_address;
	uint64_t read_pointer_address;
	uint64_t doorbell_offset; /* out */
	uint32_t ring_size;       /* bytes */
	uint32_t gpu_id;
	uint32_t queue_type;       /* enum kfd_create_type */
	uint32_t queue_percentage; /* 0..100 */
	uint32_t queue_priority;   /* 0..15 */
	uint32_t queue_id;         /* out */
	uint64_t eop_buffer_address;
	uint64_t eop_buffer_size;
	uint64_t ctx_save_restore_address;
	uint32_t ctx_save_restore_size;
	uint32_t ctl_stack_size;
	uint32_t sdma_engine_id;
	uint32_t reserved;
};

struct kfd_destroy_queue {
	uint32_t queue_id;
	uint32_t reserved;
};

struct kfd_update_queue {
	uint64_t ring_base_address;
	uint32_t queue_id;
	uint32_t ring_size;
	uint32_t queue_percentage;
	uint32_t queue_priority;
};

struct kfd_smi_events {
	uint32_t gpu_id;
	uint32_t event_fd; /* out; not close-on-exec */
};

struct kfd_available_memory {
	uint64_t available; /* out, bytes */
	uint32_t gpu_id;
	uint32_t reserved;
};

struct kfd_runtime_enable {
	uint64_t r_debug;
	uint32_t mode_mask;
	uint32_t capabilities_mask;
};

enum {
	KFD_RUNTIME_MODE_ENABLE = 1,
	KFD_RUNTIME_MODE_SAVE_TTMPS = 2,
};

/* ---- CRIU: pause every queue of another process ------------------------------------------- */

enum kfd_criu_command {
	KFD_CRIU_PROCESS_INFO =
		0, /* pauses; twice + one UNPAUSE leaves the process evicted for good */
	KFD_CRIU_CHECKPOINT = 1,
	KFD_CRIU_UNPAUSE = 2,
	KFD_CRIU_RESTORE = 3,
	/* 4 (RESUME) dereferences NULL in the kernel when the process has no GPU data: not offered.
	 */
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
	uint32_t op; /* enum kfd_criu_command */
	uint32_t reserved;
};

/* ---- debug trap --------------------------------------------------------------------------- */

enum kfd_dbg_op {
	KFD_DBG_ENABLE = 0,
	KFD_DBG_DISABLE = 1,
	KFD_DBG_SEND_RUNTIME_EVENT = 2,
	KFD_DBG_SET_EXCEPTIONS_ENABLED = 3,
	KFD_DBG_SUSPEND_QUEUES = 6,
	KFD_DBG_RESUME_QUEUES = 7,
	KFD_DBG_QUERY_DEBUG_EVENT = 11,
	KFD_DBG_GET_QUEUE_SNAPSHOT = 13,
	KFD_DBG_GET_DEVICE_SNAPSHOT = 14,
};

struct kfd_dbg {
	uint32_t pid; /* leader of the target, in the caller's PID namespace */
	uint32_t op;  /* enum kfd_dbg_op */
	union {
		struct {
			uint64_t exception_mask;
			uint64_t rinfo_ptr;  /* struct kfd_rinfo */
			uint32_t rinfo_size; /* in/out */
			uint32_t dbg_fd;     /* gets one '.' per exception; must not block */
		} enable;
		struct {
			uint64_t exception_mask; /* KFD_EC_PROCESS_RUNTIME only: others abort the
						    target */
			uint32_t gpu_id;
			uint32_t queue_id;
		} send_event;
		struct {
			uint64_t exception_mask;
		} set_exceptions;
		struct {
			uint64_t exception_mask;  /* status bits to clear */
			uint64_t queue_array_ptr; /* uint32_t ids; never NULL */
			uint32_t num_queues;      /* at most KFD_MAX_QUEUES */
			uint32_t grace_period;    /* units of 1000 GPU clocks, 0..KFD_GRACE_MAX */
		} suspend;
		struct {
			uint64_t queue_array_ptr;
			uint32_t num_queues;
			uint32_t reserved;
		} resume;
		struct {
			uint64_t
				exception_mask; /* in: bits to clear; out: bits that were pending */
			uint32_t gpu_id;        /* out */
			uint32_t queue_id;      /* out */
		} query;
		struct {
			uint64_t exception_mask; /* status bits to clear in the copied entries */
			uint64_t buf_ptr;
			uint32_t num_entries; /* in: room; out: how many exist */
			uint32_t entry_size;  /* in: stride; out: bytes written per entry */
		} snapshot;                   /* queues and devices alike */
		uint64_t words[3];
	};
};

struct kfd_rinfo {
	uint64_t r_debug;
	uint32_t runtime_state; /* enum kfd_runtime_state */
	uint32_t ttmp_setup;
};

enum kfd_runtime_state {
	KFD_RUNTIME_DISABLED = 0, /* the target never enabled the runtime: no suspend */
	KFD_RUNTIME_ENABLED = 1,
	KFD_RUNTIME_BUSY = 2, /* a GPU's only debug VMID, or its CU mask, is taken */
	KFD_RUNTIME_ERROR = 3,
};

struct kfd_queue_entry {
	uint64_t exception_status;
	uint64_t ring_base_address;
	uint64_t write_pointer_address; /* VA of the u64 write index in the target */
	uint64_t read_pointer_address;
	uint64_t ctx_save_restore_address;
	uint32_t queue_id;
	uint32_t gpu_id;
	uint32_t ring_size;                  /* bytes */
	uint32_t queue_type;                 /* enum kfd_snapshot_type */
	uint32_t ctx_save_restore_area_size; /* bytes, per XCC */
	uint32_t reserved;
};

struct kfd_device_entry {
	uint64_t exception_status;
	uint64_t lds_base;
	uint64_t lds_limit;
	uint64_t scratch_base;
	uint64_t scratch_limit;
	uint64_t gpuvm_base;
	uint64_t gpuvm_limit;
	uint32_t gpu_id;
	uint32_t location_id;
	uint32_t vendor_id;
	uint32_t device_id;
	uint32_t revision_id;
	uint32_t subsystem_vendor_id;
	uint32_t subsystem_device_id;
	uint32_t fw_version;
	uint32_t gfx_target_version;
	uint32_t simd_count;
	uint32_t max_waves_per_simd;
	uint32_t array_count;
	uint32_t simd_arrays_per_engine;
	uint32_t num_xcc;
	uint32_t capability;
	uint32_t debug_prop;
};

/* At ctx_save_restore_address + xcc * ctx_save_restore_area_size, in the target's memory. */
struct kfd_ctx_header {
	uint32_t control_stack_offset;
	uint32_t control_stack_size;
	uint32_t wave_state_offset;
	uint32_t wave_state_size; /* > 0 for a suspended queue: waves were saved */
	uint32_t debug_offset;
	uint32_t debug_size;
	uint64_t err_payload_addr;
	uint32_t err_event_id;
	uint32_t reserved;
};

/* The two numberings of the ioctls; sysfs has its own (procs.h). */
enum kfd_create_type {
	KFD_CREATE_COMPUTE = 0,
	KFD_CREATE_SDMA = 1,
	KFD_CREATE_COMPUTE_AQL = 2,
	KFD_CREATE_SDMA_XGMI = 3,
};

enum kfd_snapshot_type {
	KFD_SNAPSHOT_COMPUTE = 0,
	KFD_SNAPSHOT_SDMA = 1,
	KFD_SNAPSHOT_COMPUTE_AQL = 2,
	KFD_SNAPSHOT_SDMA_XGMI = 3,
};

/* Bits the kernel sets in the returned queue ids. INVALID: unknown, new, or being destroyed. */
#define KFD_QUEUE_ERROR   0x40000000u
#define KFD_QUEUE_INVALID 0x80000000u
#define KFD_QUEUE_ID_MASK 0x3fffffffu

/* Eight bits wide in hardware: 256 and its multiples would mean "wait for ever". */
#define KFD_GRACE_MAX 255u

#define KFD_EC(code)                   (1ull << ((code)-1))
#define KFD_EC_QUEUE_PREEMPTION_ERROR  KFD_EC(30)
#define KFD_EC_QUEUE_NEW               KFD_EC(31)
#define KFD_EC_DEVICE_QUEUE_DELETE     KFD_EC(32)
#define KFD_EC_DEVICE_MEMORY_VIOLATION KFD_EC(33)
#define KFD_EC_PROCESS_RUNTIME         KFD_EC(48)
#define KFD_EC_PROCESS_DEVICE_REMOVE   KFD_EC(49)
#define KFD_EC_ALL_QUEUE               0x607f803full
#define KFD_EC_ALL_DEVICE              0xf80000000ull
#define KFD_EC_ALL_PROCESS             0x1800000000000ull

/* Topology capability bits: both are needed for suspending queues. */
#define KFD_CAP_TRAP_DEBUG     0x00008000u
#define KFD_CAP_DEBUG_FIRMWARE 0x20000000u

/* ---- ioctl numbers ------------------------------------------------------------------------ */

#define KFD_GET_VERSION      _IOR('K', 0x01, struct kfd_version)
#define KFD_CREATE_QUEUE     _IOWR('K', 0x02, struct kfd_create_queue)
#define KFD_DESTROY_QUEUE    _IOWR('K', 0x03, struct kfd_destroy_queue)
#define KFD_UPDATE_QUEUE     _IOW('K', 0x07, struct kfd_update_queue)
#define KFD_SMI_EVENTS       _IOWR('K', 0x1f, struct kfd_smi_events)
#define KFD_CRIU_OP          _IOWR('K', 0x22, struct kfd_criu)
#define KFD_AVAILABLE_MEMORY _IOWR('K', 0x23, struct kfd_available_memory)
#define KFD_RUNTIME_ENABLE   _IOWR('K', 0x25, struct kfd_runtime_enable)
#define KFD_DBG_TRAP         _IOWR('K', 0x26, struct kfd_dbg)

/* ---- proof -------------------------------------------------------------------------------- */

#define KFD_SIZE(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type " must be " #bytes " bytes")
#define KFD_AT(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)
#define KFD_NUMBER(name, number) _Static_assert((name) == (number), #name)

KFD_NUMBER(KFD_GET_VERSION, 0x80084b01);
KFD_NUMBER(KFD_CREATE_QUEUE, 0xc0604b02);
KFD_NUMBER(KFD_DESTROY_QUEUE, 0xc0084b03);
KFD_NUMBER(KFD_UPDATE_QUEUE, 0x40184b07);
KFD_NUMBER(KFD_SMI_EVENTS, 0xc0084b1f);
KFD_NUMBER(KFD_CRIU_OP, 0xc0384b22);
KFD_NUMBER(KFD_AVAILABLE_MEMORY, 0xc0104b23);
KFD_NUMBER(KFD_RUNTIME_ENABLE, 0xc0104b25);
KFD_NUMBER(KFD_DBG_TRAP, 0xc0204b26);

KFD_SIZE(kfd_version, 8);
KFD_AT(kfd_version, major, 0);
KFD_AT(kfd_version, minor, 4);

KFD_SIZE(kfd_create_queue, 96);
KFD_AT(kfd_create_queue, ring_base_address, 0);
KFD_AT(kfd_create_queue, write_pointer_address, 8);
KFD_AT(kfd_create_queue, read_pointer_address, 16);
KFD_AT(kfd_create_queue, doorbell_offset, 24);
KFD_AT(kfd_create_queue, ring_size, 32);
KFD_AT(kfd_create_queue, gpu_id, 36);
KFD_AT(kfd_create_queue, queue_type, 40);
KFD_AT(kfd_create_queue, queue_percentage, 44);
KFD_AT(kfd_create_queue, queue_priority, 48);
KFD_AT(kfd_create_queue, queue_id, 52);
KFD_AT(kfd_create_queue, eop_buffer_address, 56);
KFD_AT(kfd_create_queue, eop_buffer_size, 64);
KFD_AT(kfd_create_queue, ctx_save_restore_address, 72);
KFD_AT(kfd_create_queue, ctx_save_restore_size, 80);
KFD_AT(kfd_create_queue, ctl_stack_size, 84);
KFD_AT(kfd_create_queue, sdma_engine_id, 88);
KFD_AT(kfd_create_queue, reserved, 92);

KFD_SIZE(kfd_destroy_queue, 8);
KFD_AT(kfd_destroy_queue, queue_id, 0);
KFD_AT(kfd_destroy_queue, reserved, 4);

KFD_SIZE(kfd_update_queue, 24);
KFD_AT(kfd_update_queue, ring_base_address, 0);
KFD_AT(kfd_update_queue, queue_id, 8);
KFD_AT(kfd_update_queue, ring_size, 12);
KFD_AT(kfd_update_queue, queue_percentage, 16);
KFD_AT(kfd_update_queue, queue_priority, 20);

KFD_SIZE(kfd_smi_events, 8);
KFD_AT(kfd_smi_events, gpu_id, 0);
KFD_AT(kfd_smi_events, event_fd, 4);

KFD_SIZE(kfd_available_memory, 16);
KFD_AT(kfd_available_memory, available, 0);
KFD_AT(kfd_available_memory, gpu_id, 8);
KFD_AT(kfd_available_memory, reserved, 12);

KFD_SIZE(kfd_runtime_enable, 16);
KFD_AT(kfd_runtime_enable, r_debug, 0);
KFD_AT(kfd_runtime_enable, mode_mask, 8);
KFD_AT(kfd_runtime_enable, capabilities_mask, 12);

KFD_SIZE(kfd_criu, 56);
KFD_AT(kfd_criu, devices, 0);
KFD_AT(kfd_criu, bos, 8);
KFD_AT(kfd_criu, priv_data, 16);
KFD_AT(kfd_criu, priv_data_size, 24);
KFD_AT(kfd_criu, num_devices, 32);
KFD_AT(kfd_criu, num_bos, 36);
KFD_AT(kfd_criu, num_objects, 40);
KFD_AT(kfd_criu, pid, 44);
KFD_AT(kfd_criu, op, 48);
KFD_AT(kfd_criu, reserved, 52);

KFD_SIZE(kfd_dbg, 32);
KFD_AT(kfd_dbg, pid, 0);
KFD_AT(kfd_dbg, op, 4);
KFD_AT(kfd_dbg, enable.exception_mask, 8);
KFD_AT(kfd_dbg, enable.rinfo_ptr, 16);
KFD_AT(kfd_dbg, enable.rinfo_size, 24);
KFD_AT(kfd_dbg, enable.dbg_fd, 28);
KFD_AT(kfd_dbg, send_event.exception_mask, 8);
KFD_AT(kfd_dbg, send_event.gpu_id, 16);
KFD_AT(kfd_dbg, send_event.queue_id, 20);
KFD_AT(kfd_dbg, set_exceptions.exception_mask, 8);
KFD_AT(kfd_dbg, suspend.exception_mask, 8);
KFD_AT(kfd_dbg, suspend.queue_array_ptr, 16);
KFD_AT(kfd_dbg, suspend.num_queues, 24);
KFD_AT(kfd_dbg, suspend.grace_period, 28);
KFD_AT(kfd_dbg, resume.queue_array_ptr, 8);
KFD_AT(kfd_dbg, resume.num_queues, 16);
KFD_AT(kfd_dbg, resume.reserved, 20);
KFD_AT(kfd_dbg, query.exception_mask, 8);
KFD_AT(kfd_dbg, query.gpu_id, 16);
KFD_AT(kfd_dbg, query.queue_id, 20);
KFD_AT(kfd_dbg, snapshot.exception_mask, 8);
KFD_AT(kfd_dbg, snapshot.buf_ptr, 16);
KFD_AT(kfd_dbg, snapshot.num_entries, 24);
KFD_AT(kfd_dbg, snapshot.entry_size, 28);

KFD_SIZE(kfd_rinfo, 16);
KFD_AT(kfd_rinfo, r_debug, 0);
KFD_AT(kfd_rinfo, runtime_state, 8);
KFD_AT(kfd_rinfo, ttmp_setup, 12);

KFD_SIZE(kfd_queue_entry, 64);
KFD_AT(kfd_queue_entry, exception_status, 0);
KFD_AT(kfd_queue_entry, ring_base_address, 8);
KFD_AT(kfd_queue_entry, write_pointer_address, 16);
KFD_AT(kfd_queue_entry, read_pointer_address, 24);
KFD_AT(kfd_queue_entry, ctx_save_restore_address, 32);
KFD_AT(kfd_queue_entry, queue_id, 40);
KFD_AT(kfd_queue_entry, gpu_id, 44);
KFD_AT(kfd_queue_entry, ring_size, 48);
KFD_AT(kfd_queue_entry, queue_type, 52);
KFD_AT(kfd_queue_entry, ctx_save_restore_area_size, 56);
KFD_AT(kfd_queue_entry, reserved, 60);

KFD_SIZE(kfd_device_entry, 120);
KFD_AT(kfd_device_entry, exception_status, 0);
KFD_AT(kfd_device_entry, lds_base, 8);
KFD_AT(kfd_device_entry, lds_limit, 16);
KFD_AT(kfd_device_entry, scratch_base, 24);
KFD_AT(kfd_device_entry, scratch_limit, 32);
KFD_AT(kfd_device_entry, gpuvm_base, 40);
KFD_AT(kfd_device_entry, gpuvm_limit, 48);
KFD_AT(kfd_device_entry, gpu_id, 56);
KFD_AT(kfd_device_entry, location_id, 60);
KFD_AT(kfd_device_entry, vendor_id, 64);
KFD_AT(kfd_device_entry, device_id, 68);
KFD_AT(kfd_device_entry, revision_id, 72);
KFD_AT(kfd_device_entry, subsystem_vendor_id, 76);
KFD_AT(kfd_device_entry, subsystem_device_id, 80);
KFD_AT(kfd_device_entry, fw_version, 84);
KFD_AT(kfd_device_entry, gfx_target_version, 88);
KFD_AT(kfd_device_entry, simd_count, 92);
KFD_AT(kfd_device_entry, max_waves_per_simd, 96);
KFD_AT(kfd_device_entry, array_count, 100);
KFD_AT(kfd_device_entry, simd_arrays_per_engine, 104);
KFD_AT(kfd_device_entry, num_xcc, 108);
KFD_AT(kfd_device_entry, capability, 112);
KFD_AT(kfd_device_entry, debug_prop, 116);

KFD_SIZE(kfd_ctx_header, 40);
KFD_AT(kfd_ctx_header, control_stack_offset, 0);
KFD_AT(kfd_ctx_header, control_stack_size, 4);
KFD_AT(kfd_ctx_header, wave_state_offset, 8);
KFD_AT(kfd_ctx_header, wave_state_size, 12);
KFD_AT(kfd_ctx_header, debug_offset, 16);
KFD_AT(kfd_ctx_header, debug_size, 20);
KFD_AT(kfd_ctx_header, err_payload_addr, 24);
KFD_AT(kfd_ctx_header, err_event_id, 32);
KFD_AT(kfd_ctx_header, reserved, 36);

#undef KFD_SIZE
#undef KFD_AT
#undef KFD_NUMBER

#endif
