// Failures of suspend and resume: KFD_FAULTS has a message and an exit status for each.
//
// One errno of the driver has different meanings at different steps ([kfd.open-errors],
// [kfd.check-order], [kfd.enable], [kfd.suspend]): `causes` in failure.c maps (step, errno) to a
// fault. A failure is plain data, so that it travels over the holder's socket unchanged.
#pragma once

#include "common/host/std.h"

struct kfd_failure {
	int status;     // exit status of the command: 1..6 or 124, see `gpq --help`; 0: no failure
	char text[256]; // what, why, what to do next; no newline, no "pid N:" in front
};

// X(name, exit status, sentence). kfd_fail() takes the sentence's arguments.
// clang-format off
#define KFD_FAULTS(X) \
	X(SYSTEM, FAILED, "%s: %s") \
	X(NO_DRIVER, UNSUPPORTED, \
		"no /dev/kfd here; load the amdgpu driver, or pass the device into this " \
		"container") \
	X(DEVICE_ACCESS, DENIED, \
		"no right to open /dev/kfd; join its group (usually render), or run as root") \
	X(DEVICE_LOCKED, FAILED, \
		"the driver is locked by a GPU reset or a system suspend; try again") \
	X(NO_GPU, UNSUPPORTED, \
		"no GPU here: the driver has none to use; gpq gpus --check tells more") \
	X(KERNEL_OLD, UNSUPPORTED, \
		"kernel too old: its KFD interface is %u.%u, suspending queues needs 1.13 " \
		"(Linux 6.5)") \
	X(NO_HWS, UNSUPPORTED, \
		"the driver runs without a hardware scheduler (amdgpu.sched_policy=2)") \
	X(NO_PROCESS, NOT_FOUND, "no such process; gpq queues lists those that own queues") \
	X(PID_REUSED, NOT_FOUND, \
		"the process that was meant is gone and its pid is used by another one") \
	X(NOT_KFD, NOT_FOUND, \
		"it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have") \
	X(GONE, NOT_FOUND, "the process ended or replaced itself meanwhile") \
	X(NO_STOP, DEADLINE, \
		"its only thread did not stop within a second, and the driver can crash when it " \
		"is attached to one that runs; is it in state D? try again") \
	X(NO_LEADER, NOT_FOUND, \
		"its main thread has ended: a zombie, or a process that the driver cannot debug") \
	X(SELF, USAGE, "gpq cannot suspend itself") \
	X(TRACED, DENIED, \
		"already traced by pid %d (%s), and a process can have one tracer only; detach " \
		"that one first") \
	X(HELD, DENIED, \
		"held by the gpq holder %d of another user; ask that user, or run as root") \
	X(HELD_ALREADY, DENIED, \
		"%u of its queues are suspended already, by gpq suspend or gpq sched; gpq " \
		"resume ends that") \
	X(HELD_APART, DENIED, \
		"held by the gpq holder %d, which cannot be talked to from here (another PID " \
		"namespace?); gpq resume ends it, which resumes the queues") \
	X(OTHER_PROC, UNSUPPORTED, \
		"/proc shows another PID namespace, where %d is another process; mount this " \
		"one's: mount -t proc proc /proc") \
	X(OTHER_USER, DENIED, \
		"belongs to another user (uid %u); run as that user or as root (CAP_SYS_PTRACE)") \
	X(NOT_DUMPABLE, DENIED, \
		"tracing it is refused (it changed its credentials, or a security module " \
		"forbids it); run as root (CAP_SYS_PTRACE)") \
	X(YAMA_CHILD, DENIED, \
		"kernel.yama.ptrace_scope is 1 and the process is not a child; run as root, or " \
		"set it to 0, or let the process call prctl(PR_SET_PTRACER)") \
	X(YAMA_ADMIN, DENIED, \
		"kernel.yama.ptrace_scope is 2: only root may trace; run as root " \
		"(CAP_SYS_PTRACE)") \
	X(YAMA_OFF, DENIED, "kernel.yama.ptrace_scope is 3: nobody may trace until the next boot") \
	X(FOREIGN_SESSION, DENIED, \
		"somebody else has a debug session on it (rocgdb, or another user's gpq suspend " \
		"--no-trace), and taking it over would leave nobody to resume the queues; end " \
		"that one first") \
	X(RUNTIME_OFF, UNSUPPORTED, \
		"its runtime is not enabled for debugging (ROCm too old, or a GPU of this host " \
		"without debug firmware): its queues cannot be suspended") \
	X(RUNTIME_BUSY, FAILED, \
		"a GPU of this host allows one debug session only, and another process has it; " \
		"try again later") \
	X(RUNTIME_ERROR, FAILED, \
		"the driver could not switch a GPU to debug mode; see the kernel log") \
	X(GPU_OLD, UNSUPPORTED, \
		"one of its GPUs is older than gfx9: its queues cannot be suspended") \
	X(GPU_BUSY, UNSUPPORTED, \
		"it uses global wave sync or a CU mask that the driver cannot combine with " \
		"suspension on this GPU") \
	X(SESSION_LOST, FAILED, "somebody else ended the debug session: the queues run again") \
	X(MUST_TRACE, UNSUPPORTED, \
		"this kernel's driver lets only the tracer of a process suspend its queues; " \
		"leave out --no-trace") \
	X(TAKEN, FAILED, \
		"another debugger has taken the debug session, and its queues stay as they are; " \
		"end that debugger, then gpq resume") \
	X(KILLED_UNSEEN, FAILED, \
		"its holder did not answer and was killed, but whether its queues run is hidden " \
		"by who traces it; see gpq queues") \
	X(UNREACHED, UNSUPPORTED, \
		"all queues that fit belong to secondary contexts, which the debug interface " \
		"does not reach: they run on") \
	X(HELD_TRACED, FAILED, \
		"it is held already, by a holder that traces it; gpq resume ends that one") \
	X(MAY_CRASH, DENIED, \
		"this kernel's driver can crash when it suspends a process that has not opened " \
		"GPU %u, and only debugfs of the host shows whether it has; run as root on the " \
		"host, with debugfs mounted") \
	X(WOULD_CRASH, UNSUPPORTED, \
		"it has not opened GPU %u, and this kernel's driver can crash when it suspends " \
		"such a process; start it where it opens all GPUs, or hide that GPU from it " \
		"(device cgroup)") \
	X(HOLDER_LOST, FAILED, \
		"the holder ended before it answered (killed?): the queues run; try again") \
	X(HOLDER_SILENT, DEADLINE, "the holder did not answer within %d s; gpq resume ends it") \
	X(HOLDER_DEAF, DEADLINE, \
		"its holder %d takes no requests (too many connections?), and the queues stay " \
		"as they are; gpq resume ends it, which resumes them") \
	X(HOLDER_STOPPED, DEADLINE, \
		"its holder is stopped (SIGSTOP?) and does not answer; gpq resume ends it, " \
		"which resumes the queues") \
	X(NO_TIMER, FAILED, \
		"no timer for its deadline (%s); raise the limit of pending signals (ulimit -i)") \
	X(NOT_HELD, NOT_FOUND, "not suspended by gpq; gpq suspend --list shows what is") \
	X(NO_QUEUE, NOT_FOUND, "none of its queues fits; gpq queues lists them") \
	X(CRIU_CAPABILITY, DENIED, \
		"the checkpoint interface is refused; run as root (CAP_CHECKPOINT_RESTORE)") \
	X(REQUEST, USAGE, "bad request: %s")
// clang-format on

enum kfd_fault {
#define KFD_FAULT_NAME(name, status, sentence) KFD_FAULT_##name,
	KFD_FAULTS(KFD_FAULT_NAME)
#undef KFD_FAULT_NAME
};

// The steps of a session. An errno is mapped to a fault by step (`causes` in failure.c).
// clang-format off
#define KFD_STEPS(X) \
	X(OPEN, "open /dev/kfd") \
	X(VERSION, "ask the KFD version") \
	X(SEIZE, "trace the process") \
	X(PROBE, "look for a debug session") \
	X(ENABLE, "start the debug session") \
	X(SNAPSHOT, "list the queues") \
	X(SUSPEND, "suspend the queues") \
	X(RESUME, "resume the queues")
// clang-format on

enum kfd_step {
#define KFD_STEP_NAME(name, text) KFD_STEP_##name,
	KFD_STEPS(KFD_STEP_NAME)
#undef KFD_STEP_NAME
};

// Fills `f` with the sentence of `fault`, formatted with the arguments.
// Always returns -1, so that a function can end with `return kfd_fail(...)`.
int kfd_fail(struct kfd_failure *f, enum kfd_fault fault, ...);

// Fills `f` with the fault of `error` (an errno) at `step`; pairs that `causes` lacks become
// KFD_FAULT_SYSTEM. Returns -1.
int kfd_fail_errno(struct kfd_failure *f, enum kfd_step step, int error);
