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

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kfd_unreached {
	uint32_t context; // N of context_N
	uint32_t qid;     // within the context
	uint32_t gpu_id;  // 0 unknown
	int32_t type;     // enum kfd_queue_type
};

// The queues of the secondary contexts of `pid` that `sel` chooses (NULL: all), by context and id.
// Their number, or -1 with errno: ENOMEM, or EXDEV where PIDs are not those of the host, which
// sysfs has, so that nobody can tell. *list is the caller's to free. A process that is gone has
// none.
ssize_t kfd_contexts_unreached(pid_t pid, const struct kfd_selection *sel,
			       struct kfd_unreached **list);

// How many different contexts they are of.
size_t kfd_contexts_count(const struct kfd_unreached *list, size_t n);

#endif
