// The KFD driver: /dev/kfd, its interface version, and a table of what differs between drivers.
//
// Opening /dev/kfd makes the caller a KFD process of its own, visible in sysfs, with a record for
// every GPU [kfd.open]: commands that only list should not do it.
//
// Most differences between drivers show at run time (a file, an ioctl's answer, a dump). The table
// has those that do not, or not without harm. The kernel's release decides; for a driver built out
// of the kernel tree (DKMS), of which the release says nothing, the KFD interface version.
#pragma once

#include "common/kfd/abi.h"

enum kfd_fact {
	// MQD dword 134 (cp_hqd_queue_priority) is the queue's priority, 0 to 15 [kfd.priority].
	KFD_FACT_QUEUE_PRIORITY,
	// SUSPEND_QUEUES follows a null pointer when the target has not acquired a GPU that comes
	// after one with queues to suspend; the target's mutex then stays locked for ever
	// [kfd.suspend-crash].
	KFD_FACT_SUSPEND_CRASH,
	// A debugger that has detached from ptrace may still hold queues: DBG_TRAP also accepts the
	// caller that is the target's debugger already, not only its tracer [kfd.tracer].
	KFD_FACT_UNTRACED_DEBUGGER,
	// SMI events have the PID in the process's own namespace, not the host's [kfd.smi-pids].
	KFD_FACT_SMI_NS_PID,
	// A stream of SMI events holds 8 KiB, not 1 KiB.
	KFD_FACT_SMI_LARGE,
	KFD_FACTS
};

enum kfd_answer3 { KFD_ANSWER_UNKNOWN = -1, KFD_ANSWER_NO, KFD_ANSWER_YES };

struct kfd_driver {
	unsigned major, minor; // release of Linux; 0.0: unknown
	unsigned interface;    // the N of KFD interface 1.N; 0: unknown
	bool out_of_tree;
	unsigned patch; // third number of Linux's release
};

// Reads the kernel release and whether the driver is out of tree, of the live or recorded host.
void kfd_driver_read(struct kfd_driver *d, unsigned interface);

// True if KFD_FACT_SUSPEND_CRASH holds or may hold for the running driver. For an interface version
// that is known to be safe, makes no system call.
bool kfd_driver_may_crash(unsigned interface);

// Opens /dev/kfd close-on-exec. Returns its descriptor, or -errno: -ENOENT no driver, -EACCES no
// right, -EPERM 32-bit caller, -EINVAL GPU reset, system suspend or, from Linux 7.x on, no GPU.
int kfd_open(void);

// What a user can do where /dev/kfd is denied (EACCES).
#define KFD_NEXT_GROUP "join the group that owns it (render on most systems), or run as root"

// Repeats an ioctl() that a signal interrupts. Returns its result (>= 0), or -errno.
int kfd_ioctl(int kfd, unsigned long request, void *arg);

// Does the fact hold for the driver? UNKNOWN where neither release nor interface version decides.
enum kfd_answer3 kfd_driver_fact(const struct kfd_driver *d, enum kfd_fact fact);
