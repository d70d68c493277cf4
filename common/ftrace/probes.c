// What gpq trace --live traces: functions of amdkfd, with the arguments to fetch, and events that
// amdgpu and amdkfd define themselves.
//
// Facts: [kfd.trace-functions] (symbols in 6.12 and 7.3), their declarations in the
// drivers' sources, kfd_ioctl.h (arguments of ioctls are in the kernel's memory when the functions
// run). Names that this kernel lacks are left out; a function with a suffix (.constprop.0, .isra.0)
// may have lost arguments, so nothing is fetched from it.
#include "common/ftrace/live.h"

#define RESULT "ret=$retval:s32"

const struct live_probe live_probes[] = {
	// ioctls; arguments: struct file *, struct kfd_process *, void *data
	{"kfd_ioctl_create_queue",
	 "ring=+0($arg3):x64 size=+32($arg3):u32 gpu=+36($arg3):u32 type=+40($arg3):u32 "
	 "prio=+48($arg3):u32",
	 RESULT " ring=+0($arg3):x64 gpu=+36($arg3):u32 queue=+52($arg3):u32"},
	{"kfd_ioctl_destroy_queue", "queue=+0($arg3):u32", RESULT},
	{"kfd_ioctl_update_queue", "ring=+0($arg3):x64 queue=+8($arg3):u32 percent=+16($arg3):u32",
	 RESULT},
	{"kfd_ioctl_set_debug_trap", "pid=+0($arg3):s32 op=+4($arg3):u32", RESULT},
	{"kfd_ioctl_runtime_enable", "", RESULT},
	{"kfd_ioctl_criu", "", RESULT},
	{"kfd_ioctl", "cmd=$arg2:x32", RESULT},
	// suspend and resume; the array of queue ids is in the caller's memory (+u)
	{"suspend_queues", "count=$arg2:u32 grace=$arg3:u32 queue=+u0($arg5):u32", RESULT},
	{"resume_queues", "count=$arg2:u32 queue=+u0($arg3):u32", RESULT},
	{"kfd_dbg_trap_enable", "", RESULT},
	{"kfd_dbg_trap_disable", "", RESULT},
	{"copy_context_work_handler", "", ""},
	// creation, update and end of queues
	{"pqm_create_queue", "", RESULT},
	{"pqm_destroy_queue", "queue=$arg2:u32", RESULT},
	{"pqm_update_queue_properties", "queue=$arg2:u32", RESULT},
	{"create_queue_cpsch", "", RESULT},
	{"destroy_queue_cpsch", "", RESULT},
	// evict and restore
	{"kfd_process_evict_queues", "trigger=$arg2:u32", RESULT},
	{"kfd_process_restore_queues", "", RESULT},
	{"evict_process_queues_cpsch", "", RESULT},
	{"restore_process_queues_cpsch", "", RESULT},
	{"evict_process_worker", "", ""},
	{"restore_process_worker", "", ""},
	{"kgd2kfd_quiesce_mm", "trigger=$arg2:u32", RESULT},
	{"kgd2kfd_resume_mm", "", RESULT},
	// the hardware scheduler's runlist
	{"execute_queues_cpsch", "", RESULT},
	{"map_queues_cpsch", "", RESULT},
	{"unmap_queues_cpsch", "filter=$arg2:u32", RESULT},
	{"pm_send_runlist", "", RESULT},
	{"pm_send_unmap_queue", "filter=$arg2:u32", RESULT},
	{"amdkfd_fence_wait_timeout", "", RESULT},
	{"reset_queues_cpsch", "", RESULT},
	{"kfd_hws_hang", "", ""},
	// queues by MES
	{"add_queue_mes", "", RESULT},
	{"remove_queue_mes", "", RESULT},
	{"suspend_all_queues_mes", "", RESULT},
	{"resume_all_queues_mes", "", RESULT},
	// begin and end of processes
	{"kfd_open", "", RESULT},
	{"kfd_create_process", "", NULL},
	{"kfd_process_notifier_release", "", ""},
	{"kfd_process_wq_release", "", ""},
};
const size_t live_nprobes = COUNT(live_probes);

bool live_probe_is_step(const struct live_probe *p)
{
	static const char *const names[] = {"kfd_ioctl_set_debug_trap", "suspend_queues",
					    "unmap_queues_cpsch",       "amdkfd_fence_wait_timeout",
					    "map_queues_cpsch",         "remove_queue_mes"};
	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(p->function, names[i]) == 0)
			return true;
	return false;
}

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
