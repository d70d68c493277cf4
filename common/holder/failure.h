// Why a suspend or resume did not work: one sentence and one exit status per cause.
//
// Each errno of the driver means something else at each step of the protocol (kfd-facts.md
// sections 1, 2.2 and 2.3). The steps and their errnos are one table in failure.c; the sentences
// are another. A failure is plain data, so that it travels over the holder's socket unchanged.
#ifndef GPQ_HOLDER_FAILURE_H
#define GPQ_HOLDER_FAILURE_H

#include <stdarg.h>

struct kfd_failure {
	int status;     // exit status of the command: 0 none, else 1..6, 124 as in `gpq --help`
	char text[256]; // what, why, what to do next; no newline, no "pid N:" in front
};

enum kfd_fault {
	KFD_FAULT_SYSTEM, // %s what, %s strerror
	KFD_FAULT_NO_DRIVER,
	KFD_FAULT_DEVICE_ACCESS,
	KFD_FAULT_DEVICE_LOCKED,
	KFD_FAULT_NO_GPU,
	KFD_FAULT_KERNEL_OLD, // %u.%u interface version
	KFD_FAULT_NO_HWS,
	KFD_FAULT_NO_PROCESS,
	KFD_FAULT_PID_REUSED,
	KFD_FAULT_NOT_KFD,
	KFD_FAULT_GONE,
	KFD_FAULT_NO_LEADER,
	KFD_FAULT_SELF,
	KFD_FAULT_TRACED,     // %d pid, %s name of the tracer
	KFD_FAULT_HELD,       // %d pid of a holder we may not talk to
	KFD_FAULT_HELD_APART, // %d pid of a holder whose socket is not to be found, twice
	KFD_FAULT_OTHER_PROC, // %d pid
	KFD_FAULT_OTHER_USER, // %u uid
	KFD_FAULT_NOT_DUMPABLE,
	KFD_FAULT_YAMA_CHILD,
	KFD_FAULT_YAMA_ADMIN,
	KFD_FAULT_YAMA_OFF,
	KFD_FAULT_FOREIGN_SESSION,
	KFD_FAULT_RUNTIME_OFF,
	KFD_FAULT_RUNTIME_BUSY,
	KFD_FAULT_RUNTIME_ERROR,
	KFD_FAULT_GPU_OLD,
	KFD_FAULT_GPU_BUSY,
	KFD_FAULT_SESSION_LOST,
	KFD_FAULT_MUST_TRACE,
	KFD_FAULT_TAKEN,
	KFD_FAULT_KILLED_UNSEEN,
	KFD_FAULT_UNREACHED,
	KFD_FAULT_HELD_TRACED,
	KFD_FAULT_MAY_CRASH,   // %u gpu_id
	KFD_FAULT_WOULD_CRASH, // %u gpu_id
	KFD_FAULT_GRACE,       // %ld
	KFD_FAULT_HOLDER_LOST,
	KFD_FAULT_HOLDER_SILENT, // %d seconds
	KFD_FAULT_HOLDER_STOPPED,
	KFD_FAULT_NOT_HELD,
	KFD_FAULT_NO_QUEUE,
	KFD_FAULT_CRIU_CAPABILITY,
	KFD_FAULT_REQUEST, // %s
	KFD_FAULT_COUNT
};

// The steps of the protocol whose errnos are told apart.
enum kfd_step {
	KFD_STEP_OPEN,
	KFD_STEP_VERSION,
	KFD_STEP_SEIZE,
	KFD_STEP_PROBE,
	KFD_STEP_ENABLE,
	KFD_STEP_SNAPSHOT,
	KFD_STEP_SUSPEND,
	KFD_STEP_RESUME,
};

// Fills `f` with the sentence of `fault`, formatted with the arguments named beside the enumerator.
// Always returns -1, so that a function can end with `return kfd_fail(...)`.
int kfd_fail(struct kfd_failure *f, enum kfd_fault fault, ...);

// The same for `error` (an errno) at a step; unknown pairs become KFD_FAULT_SYSTEM. Returns -1.
int kfd_fail_errno(struct kfd_failure *f, enum kfd_step step, int error);

// The bare sentence format and its exit status; for documentation and tests.
const char *kfd_fault_format(enum kfd_fault fault, int *status);

#endif
