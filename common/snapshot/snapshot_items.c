// The paths in a snapshot, and the commands that read them. A command that reads a new path needs a
// line here.
//
// Facts: [kfd.proc-files], [debugfs.files], [debugfs.hang-hws]. debugfs/kfd/hang_hws is left out
// for good: it is a switch that resets the GPU. /proc/PID/environ and maps hold secrets.
#include "common/snapshot/snapshot.h"

#define KFD     "/sys/class/kfd/kfd"
#define DEBUG   "/sys/kernel/debug/kfd"
#define MODULE  "/sys/module/amdgpu"
#define RENDER  "/sys/class/drm/renderD*"
#define NODE    KFD "/topology/nodes/*"
#define PROCESS KFD "/proc/*"

const struct snapshot_item snapshot_items[] = {
	{DEBUG "/mqds", SNAP_DUMP, NULL},                       // for gpq queues, hqd
	{DEBUG "/hqds|rls", SNAP_DUMP, NULL},                   // for gpq hqd
	{PROCESS "/queues/*/gpuid|size|type", SNAP_DUMP, NULL}, // for gpq queues
	{PROCESS "/context_*/queues/*/gpuid|size|type", SNAP_DUMP | SNAP_OPTIONAL,
	 NULL}, // for gpq queues

	{PROCESS "/queues", 0, NULL}, // for gpq queues -a: processes without queues
	{PROCESS "/context_*/queues", SNAP_OPTIONAL, NULL},        // for gpq queues -a
	{PROCESS "/pasid", 0, NULL},                               // for gpq queues, hqd --runlist
	{PROCESS "/vram_*|sdma_*", 0, NULL},                       // for gpq queues
	{PROCESS "/stats_*/evicted_ms", 0, NULL},                  // for gpq queues
	{PROCESS "/stats_*/cu_occupancy", SNAP_OPTIONAL, NULL},    // for gpq queues; gfx9 only
	{PROCESS "/context_*/vram_*|sdma_*", SNAP_OPTIONAL, NULL}, // for gpq queues
	{PROCESS "/context_*/stats_*/evicted_ms|cu_occupancy", SNAP_OPTIONAL, NULL}, // for queues
	{PROCESS "/counters_*/*", SNAP_OPTIONAL, NULL}, // page faults, where the driver counts them
	{DEBUG "/proc/*/pasid_*", SNAP_OPTIONAL, NULL}, // PASIDs, from Linux 6.15
	{DEBUG "/proc/*/context_*/pasid_*", SNAP_OPTIONAL, NULL}, // for queues: MQDs of a context
	{DEBUG "/mem_limit", 0, NULL},                            // for bug reports

	{KFD "/topology/generation_id|system_properties", 0, NULL}, // for bug reports
	{NODE "/gpu_id|name|properties", SNAP_FIXED, NULL}, // for gpq gpus; others: names of GPUs
	{NODE "/mem_banks|io_links|p2p_links/*/properties", SNAP_OPTIONAL | SNAP_FIXED,
	 NULL},                                            // for gpq gpus: VRAM, links
	{RENDER "/dev", SNAP_OPTIONAL | SNAP_FIXED, NULL}, // for gpq gpus: render node
	{"/sys/class/drm/card*/device", SNAP_LINK | SNAP_OPTIONAL, NULL}, // for --gpu card0
	{RENDER "/device/vendor|device|class|revision|uevent|numa_node", SNAP_OPTIONAL | SNAP_FIXED,
	 NULL}, // for gpq gpus: PCI address and names
	{RENDER "/device/subsystem_vendor|subsystem_device|current_compute_partition",
	 SNAP_OPTIONAL | SNAP_FIXED, NULL}, // for bug reports
	// The driver's half of a hang: fences of its rings, the log of the MES, counts of hardware
	// errors (asking for them reads registers), and the dump of the last reset, which names
	// programs. drivers/gpu/drm/amd/amdgpu: amdgpu_fence.c, amdgpu_mes.c, amdgpu_ras.c,
	// amdgpu_dev_coredump.c.
	{"/sys/kernel/debug/dri/*/amdgpu_fence_info|amdgpu_mes_event_log",
	 SNAP_OPTIONAL | SNAP_ONCE, NULL},
	{RENDER "/device/ras/*_err_count", SNAP_OPTIONAL | SNAP_ONCE, NULL},
	{RENDER "/device/devcoredump/data", SNAP_OPTIONAL | SNAP_ONCE, redact_all},
	{RENDER "/device/fw_version/*", SNAP_OPTIONAL | SNAP_FIXED, NULL}, // for bug reports
	{MODULE "/version|srcversion|initstate", SNAP_OPTIONAL | SNAP_FIXED,
	 NULL},                                        // for bug reports: DKMS or not
	{MODULE "/parameters/*", SNAP_OPTIONAL, NULL}, // for gpq gpus --check

	{"/proc/sys/kernel/hostname", 0, redact_hostname}, // for --context
	{"/proc/sys/kernel/osrelease", 0, NULL},           // for --context
	{"/proc/sys/kernel/random/boot_id", 0, NULL}, // for --context; tells one boot from the next
	{"/proc/sys/kernel/yama/ptrace_scope", SNAP_OPTIONAL, NULL}, // for gpq gpus --check
	{"/sys/kernel/security/lockdown", SNAP_OPTIONAL, NULL},      // for gpq gpus --check
	{"/sys/kernel/tracing/events", SNAP_OPTIONAL, NULL}, // for gpq gpus --check: is it there?
	{"/proc/uptime", SNAP_OPTIONAL, NULL},           // for snapshot --diff: order of moments
	{"/proc/self/status", SNAP_FLAT, redact_status}, // for gpus --check: what this user may do
	{"/proc/self/ns/pid", SNAP_LINK | SNAP_FLAT | SNAP_OPTIONAL, NULL}, // for --context

	{"/proc/%/status", SNAP_PROC, redact_status},   // for gpq queues: user, namespace, --tree
	{"/proc/%/stat", SNAP_PROC, redact_stat},       // for gpq queues: start time, --tree
	{"/proc/%/comm", SNAP_PROC, redact_comm},       // for gpq queues
	{"/proc/%/cmdline", SNAP_PROC, redact_cmdline}, // for gpq queues
	{"/proc/%/cgroup", SNAP_PROC, redact_cgroup},   // for gpq queues: container
	{"/proc/%/task/*/stat", SNAP_PROC | SNAP_OPTIONAL | SNAP_ONCE, redact_stat}, // for why
	{"/proc/%/task/*/wchan", SNAP_PROC | SNAP_OPTIONAL | SNAP_ONCE, NULL},       // for why
	{"/proc/%/task/*/stack|syscall", SNAP_PROC | SNAP_OPTIONAL | SNAP_ONCE,
	 NULL}, // for bug reports

	// What gpq itself has recorded of a host (cmd/snapshot/evidence.h), from a recorded host.
	{"/proc/%/memory|rank|shared|frozen", SNAP_PROC | SNAP_OPTIONAL,
	 NULL},                                             // for gpq why, packets, hang
	{"/INTERRUPTS", SNAP_COPIED | SNAP_OPTIONAL, NULL}, // for gpq why
	{"/EVENTS|VERDICTS", SNAP_COPIED | SNAP_OPTIONAL | SNAP_ONCE, redact_all}, // for people
	{"/proc/%/stacks|python|gpucore", SNAP_PROC | SNAP_COPIED | SNAP_OPTIONAL | SNAP_ONCE,
	 redact_all}, // for gpq why --stacks and --waves, people
	{"/proc/%/kernels", SNAP_PROC | SNAP_OPTIONAL, redact_kernels}, // for gpq why, packets
	{0},
};
