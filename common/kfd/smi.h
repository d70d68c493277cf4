// The driver's event stream (AMDKFD_IOC_SMI_EVENTS; kernel: kfd_smi_events.c), one for each GPU.
//
// Nothing says which events a driver knows: of those that it does not, none comes. Without
// CAP_SYS_ADMIN only events of one's own process come. A full stream (1 KiB on Linux 6.12, 8 KiB on
// 7.x) drops events silently: whatever depends on them looks for itself as well, now and then.
#ifndef GPQ_KFD_SMI_H
#define GPQ_KFD_SMI_H

#include <stdint.h>

enum {                              // numbers of the driver
	KFD_SMI_PROCESS_START = 12, // later than Linux 6.12: a process has acquired this GPU
	KFD_SMI_PROCESS_END = 13,
};
#define KFD_SMI_BIT(event) (1ull << ((event)-1))

// Subscribes to the events of `mask` (KFD_SMI_BIT) of all processes. A descriptor that polls
// readable and whose read() never blocks, close-on-exec; or -errno (-EINVAL: no such GPU).
int kfd_smi_open(int kfd, uint32_t gpu_id, uint64_t mask);

#endif
