// What gpq trace --live and gpq bench --breakdown trace: functions of amdkfd, with the arguments to
// fetch, and events that amdgpu and amdkfd define themselves.
//
// Facts: [kfd.trace-functions] (symbols in 6.12 and 7.3), their declarations in the
// drivers' sources, kfd_ioctl.h (arguments of ioctls are in the kernel's memory when the functions
// run). Names that this kernel lacks are left out; a function with a suffix (.constprop.0, .isra.0)
// may have lost arguments, so nothing is fetched from it.
#include "common/ftrace/live.h"

#define RESULT "ret=$retval:s32"

#define CALL(function, entry, result)          \
	{                                      \
		function, entry, result, false \
	}
#define STEP(function, entry, result)         \
	{                                     \
		function, entry, result, true \
	}

const struct live_probe live_probes[] = {
	// ioctls; arguments: struct file *, struct kfd_process *, void *data
	CALL("kfd_ioctl_create_queue",
	     "ring=+0($arg3):x64 size=+32($arg3):u32 gpu=+36($arg3):u32 type=+40($arg3):u32 "
	     "prio=+48($arg3):u32",
	     RESULT " ring=+0($arg3):x64 gpu=+36($arg3):u32 queue=+52($arg3):u32"),
	CALL("kfd_ioctl_destroy_queue", "queue=+0($arg3):u32", RESULT),
	CALL("kfd_ioctl_update_queue",
	     "ring=+0($arg3):x64 queue=+8($arg3):u32 percent=+16($arg3):u32", RESULT),
	STEP("kfd_ioctl_set_debug_trap", "pid=+0($arg3):s32 op=+4($arg3):u32", RESULT),
	CALL("kfd_ioctl_runtime_enable", "", RESULT),
	CALL("kfd_ioctl_criu", "", RESULT),
	CALL("kfd_ioctl", "cmd=$arg2:x32", RESULT),
	// suspend and resume; the array of queue ids is in the caller's memory (+u)
	STEP("suspend_queues", "count=$arg2:u32 grace=$arg3:u32 queue=+u0($arg5):u32", RESULT),
	CALL("resume_queues", "count=$arg2:u32 queue=+u0($arg3):u32", RESULT),
	CALL("kfd_dbg_trap_enable", "", RESULT),
	CALL("kfd_dbg_trap_disable", "", RESULT),
	CALL("copy_context_work_handler", "", ""),
	// creation, update and end of queues
	CALL("pqm_create_queue", "", RESULT),
	CALL("pqm_destroy_queue", "queue=$arg2:u32", RESULT),
	CALL("pqm_update_queue_properties", "queue=$arg2:u32", RESULT),
	CALL("create_queue_cpsch", "", RESULT),
	CALL("destroy_queue_cpsch", "", RESULT),
	// evict and restore
	CALL("kfd_process_evict_queues", "trigger=$arg2:u32", RESULT),
	CALL("kfd_process_restore_queues", "", RESULT),
	CALL("evict_process_queues_cpsch", "", RESULT),
	CALL("restore_process_queues_cpsch", "", RESULT),
	CALL("evict_process_worker", "", ""),
	CALL("restore_process_worker", "", ""),
	CALL("kgd2kfd_quiesce_mm", "trigger=$arg2:u32", RESULT),
	CALL("kgd2kfd_resume_mm", "", RESULT),
	// the hardware scheduler's runlist
	CALL("execute_queues_cpsch", "", RESULT),
	STEP("map_queues_cpsch", "", RESULT),
	STEP("unmap_queues_cpsch", "filter=$arg2:u32", RESULT),
	CALL("pm_send_runlist", "", RESULT),
	CALL("pm_send_unmap_queue", "filter=$arg2:u32", RESULT),
	STEP("amdkfd_fence_wait_timeout", "", RESULT),
	CALL("reset_queues_cpsch", "", RESULT),
	CALL("kfd_hws_hang", "", ""),
	// queues by MES
	CALL("add_queue_mes", "", RESULT),
	STEP("remove_queue_mes", "", RESULT),
	CALL("suspend_all_queues_mes", "", RESULT),
	CALL("resume_all_queues_mes", "", RESULT),
	// begin and end of processes
	CALL("kfd_open", "", RESULT),
	CALL("kfd_create_process", "", NULL),
	CALL("kfd_process_notifier_release", "", ""),
	CALL("kfd_process_wq_release", "", ""),
};
const size_t live_nprobes = COUNT(live_probes);

const char *const live_events[] = {
	"amdkfd", // all events of amdkfd, which DKMS drivers have
	"amdgpu/amdgpu_bo_move",
	"amdgpu/amdgpu_vm_grab_id",
	"amdgpu/amdgpu_vm_flush",
	"amdgpu/amdgpu_pasid_allocated",
	"amdgpu/amdgpu_pasid_freed",
	"amdgpu/amdgpu_reset_reg_dumps",
};
const size_t live_nevents = COUNT(live_events);
