// Sentences and exit statuses for everything that can stand in the way of a suspend or resume.
// Facts: kfd-facts.md sections 1 (open), 2.2 (check order of the debug trap), 2.3 (per operation).
#include "common/holder/failure.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FAILED = 1, USAGE = 2, DENIED = 4, NOT_FOUND = 5, UNSUPPORTED = 6, DEADLINE = 124 };

static const struct sentence {
	int status;
	const char *format;
} sentences[KFD_FAULT_COUNT] = {
	// clang-format off
	[KFD_FAULT_SYSTEM] = {FAILED, "%s: %s"},
	[KFD_FAULT_NO_DRIVER] = {UNSUPPORTED,
		"no /dev/kfd here; load the amdgpu driver, or pass the device into this container"},
	[KFD_FAULT_DEVICE_ACCESS] = {DENIED,
		"no right to open /dev/kfd; join its group (usually render), or run as root"},
	[KFD_FAULT_DEVICE_LOCKED] = {FAILED,
		"the driver is locked by a GPU reset or a system suspend; try again"},
	[KFD_FAULT_NO_GPU] = {UNSUPPORTED,
		"no GPU here: the driver has none to use; gpq gpus --check tells more"},
	[KFD_FAULT_KERNEL_OLD] = {UNSUPPORTED,
		"kernel too old: its KFD interface is %u.%u, suspending queues needs 1.13 (Linux 6.5)"},
	[KFD_FAULT_NO_HWS] = {UNSUPPORTED,
		"the driver runs without a hardware scheduler (amdgpu.sched_policy=2)"},
	[KFD_FAULT_NO_PROCESS] = {NOT_FOUND,
		"no such process; gpq queues lists those that own queues"},
	[KFD_FAULT_PID_REUSED] = {NOT_FOUND,
		"the process that was meant is gone and its pid is used by another one"},
	[KFD_FAULT_NOT_KFD] = {NOT_FOUND,
		"it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have"},
	[KFD_FAULT_GONE] = {NOT_FOUND, "the process ended or replaced itself meanwhile"},
	[KFD_FAULT_NO_LEADER] = {NOT_FOUND,
		"its main thread has ended: a zombie, or a process that the driver cannot debug"},
	[KFD_FAULT_SELF] = {USAGE, "gpq cannot suspend itself"},
	[KFD_FAULT_TRACED] = {DENIED,
		"already traced by pid %d (%s), and a process can have one tracer only; "
		"detach that one first"},
	[KFD_FAULT_HELD] = {DENIED,
		"held by the gpq holder %d of another user; ask that user, or run as root"},
	[KFD_FAULT_HELD_APART] = {DENIED,
		"held by the gpq holder %d, whose socket is not found here: it belongs to another PID "
		"namespace or XDG_RUNTIME_DIR; resume it there, or kill %d, which resumes it too"},
	[KFD_FAULT_OTHER_PROC] = {UNSUPPORTED,
		"/proc shows another PID namespace, where %d is another process; "
		"mount this one's: mount -t proc proc /proc"},
	[KFD_FAULT_OTHER_USER] = {DENIED,
		"belongs to another user (uid %u); run as that user or as root (CAP_SYS_PTRACE)"},
	[KFD_FAULT_NOT_DUMPABLE] = {DENIED,
		"tracing it is refused (it changed its credentials, or a security module forbids it); "
		"run as root (CAP_SYS_PTRACE)"},
	[KFD_FAULT_YAMA_CHILD] = {DENIED,
		"kernel.yama.ptrace_scope is 1 and the process is not a child; run as root, or set it "
		"to 0, or let the process call prctl(PR_SET_PTRACER)"},
	[KFD_FAULT_YAMA_ADMIN] = {DENIED,
		"kernel.yama.ptrace_scope is 2: only root may trace; run as root (CAP_SYS_PTRACE)"},
	[KFD_FAULT_YAMA_OFF] = {DENIED,
		"kernel.yama.ptrace_scope is 3: nobody may trace until the next boot"},
	[KFD_FAULT_FOREIGN_SESSION] = {DENIED,
		"somebody else has a debug session on it (rocgdb, or another user's gpq suspend "
		"--no-trace), and taking it over would leave nobody to resume the queues; end that "
		"one first"},
	[KFD_FAULT_RUNTIME_OFF] = {UNSUPPORTED,
		"its runtime is not enabled for debugging (ROCm too old, or a GPU of this host "
		"without debug firmware): its queues cannot be suspended"},
	[KFD_FAULT_RUNTIME_BUSY] = {FAILED,
		"a GPU of this host allows one debug session only, and another process has it; "
		"try again later"},
	[KFD_FAULT_RUNTIME_ERROR] = {FAILED,
		"the driver could not switch a GPU to debug mode; see the kernel log"},
	[KFD_FAULT_GPU_OLD] = {UNSUPPORTED,
		"one of its GPUs is older than gfx9: its queues cannot be suspended"},
	[KFD_FAULT_GPU_BUSY] = {UNSUPPORTED,
		"it uses global wave sync or a CU mask that the driver cannot combine with suspension "
		"on this GPU"},
	[KFD_FAULT_SESSION_LOST] = {FAILED,
		"somebody else ended the debug session: the queues run again"},
	[KFD_FAULT_MUST_TRACE] = {UNSUPPORTED,
		"this kernel's driver lets only the tracer of a process suspend its queues; "
		"leave out --no-trace"},
	[KFD_FAULT_TAKEN] = {FAILED,
		"another debugger has taken the debug session, and its queues stay as they are; "
		"end that debugger, then gpq resume"},
	[KFD_FAULT_KILLED_UNSEEN] = {FAILED,
		"its holder did not answer and was killed, but whether its queues run is hidden by who "
		"traces it; see gpq queues"},
	[KFD_FAULT_UNREACHED] = {UNSUPPORTED,
		"all queues that fit belong to secondary contexts, which the debug interface does not "
		"reach: they run on"},
	[KFD_FAULT_HELD_TRACED] = {FAILED,
		"it is held already, by a holder that traces it; gpq resume ends that one"},
	[KFD_FAULT_MAY_CRASH] = {DENIED,
		"this kernel's driver can crash when it suspends a process that has not opened GPU %u, "
		"and only debugfs of the host shows whether it has; run as root on the host, with "
		"debugfs mounted"},
	[KFD_FAULT_WOULD_CRASH] = {UNSUPPORTED,
		"it has not opened GPU %u, and this kernel's driver can crash when it suspends such a "
		"process; start it where it opens all GPUs, or hide that GPU from it (device cgroup)"},
	[KFD_FAULT_GRACE] = {USAGE,
		"grace period %ld is out of range; 0 to 255 (units of 1000 GPU clocks)"},
	[KFD_FAULT_HOLDER_LOST] = {FAILED,
		"the holder ended before it answered (killed?): the queues run; try again"},
	[KFD_FAULT_HOLDER_SILENT] = {DEADLINE,
		"the holder did not answer within %d s; gpq resume ends it"},
	[KFD_FAULT_HOLDER_STOPPED] = {DEADLINE,
		"its holder is stopped (SIGSTOP?) and does not answer; gpq resume ends it, which "
		"resumes the queues"},
	[KFD_FAULT_NOT_HELD] = {NOT_FOUND, "not suspended by gpq; gpq suspend --list shows what is"},
	[KFD_FAULT_NO_QUEUE] = {NOT_FOUND, "none of its queues fits; gpq queues lists them"},
	[KFD_FAULT_CRIU_CAPABILITY] = {DENIED,
		"the checkpoint interface is refused; run as root (CAP_CHECKPOINT_RESTORE)"},
	[KFD_FAULT_REQUEST] = {USAGE, "bad request: %s"},
	// clang-format on
};

static const struct cause {
	enum kfd_step step;
	int error;
	enum kfd_fault fault;
} causes[] = {
	{KFD_STEP_OPEN, ENOENT, KFD_FAULT_NO_DRIVER},
	{KFD_STEP_OPEN, ENXIO, KFD_FAULT_NO_DRIVER},
	{KFD_STEP_OPEN, ENODEV, KFD_FAULT_NO_DRIVER},
	{KFD_STEP_OPEN, EACCES, KFD_FAULT_DEVICE_ACCESS},
	{KFD_STEP_OPEN, EPERM, KFD_FAULT_DEVICE_ACCESS},
	{KFD_STEP_OPEN, EINVAL, KFD_FAULT_DEVICE_LOCKED},
	{KFD_STEP_SEIZE, ESRCH, KFD_FAULT_NO_PROCESS},
	{KFD_STEP_PROBE, ESRCH, KFD_FAULT_NOT_KFD},
	{KFD_STEP_PROBE, EPERM, KFD_FAULT_GONE},
	{KFD_STEP_ENABLE, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_ENABLE, EPERM, KFD_FAULT_GONE},
	{KFD_STEP_ENABLE, EINVAL, KFD_FAULT_DEVICE_LOCKED},
	{KFD_STEP_ENABLE, EALREADY, KFD_FAULT_FOREIGN_SESSION},
	{KFD_STEP_ENABLE, ENODEV, KFD_FAULT_GPU_OLD},
	{KFD_STEP_ENABLE, EBUSY, KFD_FAULT_GPU_BUSY},
	{KFD_STEP_SNAPSHOT, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_SNAPSHOT, EPERM, KFD_FAULT_GONE},
	{KFD_STEP_SNAPSHOT, EINVAL, KFD_FAULT_SESSION_LOST},
	{KFD_STEP_SUSPEND, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_SUSPEND, EPERM, KFD_FAULT_RUNTIME_OFF},
	{KFD_STEP_SUSPEND, EINVAL, KFD_FAULT_SESSION_LOST},
	{KFD_STEP_RESUME, ESRCH, KFD_FAULT_GONE},
	{KFD_STEP_RESUME, EPERM, KFD_FAULT_RUNTIME_OFF},
	{KFD_STEP_RESUME, EINVAL, KFD_FAULT_SESSION_LOST},
};

static const char *const step_names[] = {
	[KFD_STEP_OPEN] = "open /dev/kfd",
	[KFD_STEP_VERSION] = "ask the KFD version",
	[KFD_STEP_SEIZE] = "trace the process",
	[KFD_STEP_PROBE] = "look for a debug session",
	[KFD_STEP_ENABLE] = "start the debug session",
	[KFD_STEP_SNAPSHOT] = "list the queues",
	[KFD_STEP_SUSPEND] = "suspend the queues",
	[KFD_STEP_RESUME] = "resume the queues",
};

const char *kfd_fault_format(enum kfd_fault fault, int *status)
{
	if (status)
		*status = sentences[fault].status;
	return sentences[fault].format;
}

// Names of other programs get in here, and the text must stay one line.
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int kfd_fail(struct kfd_failure *f, enum kfd_fault fault, ...)
{
	va_list ap;

	f->status = sentences[fault].status;
	va_start(ap, fault);
	vsnprintf(f->text, sizeof(f->text), sentences[fault].format, ap);
	va_end(ap);
	make_one_line(f->text);
	return -1;
}

int kfd_fail_errno(struct kfd_failure *f, enum kfd_step step, int error)
{
	// 6.4 and older do not know the debug trap at all.
	if (error == ENOTTY)
		return kfd_fail(f, KFD_FAULT_KERNEL_OLD, 1u, 12u);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].step == step && causes[i].error == error)
			return kfd_fail(f, causes[i].fault);
	return kfd_fail(f, KFD_FAULT_SYSTEM, step_names[step], strerror(error));
}
