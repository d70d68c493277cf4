// Queues of a process's secondary KFD contexts, which no debugger reaches.
//
// Facts: from KFD interface 1.19 on a process can have further contexts
// (AMDKFD_IOC_CREATE_PROCESS), each with queues, ids from 0 on, and a folder context_N in sysfs.
// DBG_TRAP sees those of the primary context alone (kfd_ioctl_set_debug_trap() in kfd_chardev.c):
// the others run on while gpq holds the process.
#ifndef GPQ_HOLDER_CONTEXTS_H
#define GPQ_HOLDER_CONTEXTS_H

#include "common/kfd/procs.h"
#include "common/holder/session.h"

#include <sys/types.h>

// The queues of the secondary contexts of `pid` that `sel` chooses (NULL: all), by context and id.
// Their number, or -1 with errno: ENOMEM, or EXDEV where /proc has other PIDs than sysfs, which has
// those of the host. *list is the caller's to free. A process that is gone has none.
ssize_t kfd_contexts_unreached(pid_t pid, const struct kfd_selection *sel, struct kfd_queue **list);

// How many different contexts the list has.
size_t kfd_contexts_count(const struct kfd_queue *list, size_t n);

#endif
