// The system's <linux/kfd_ioctl.h>, and what it lacks before Linux 6.5 for mkqueue (kernel: include/uapi/linux/kfd_ioctl.h).
#include_next <linux/kfd_ioctl.h>

#ifndef AMDKFD_IOC_RUNTIME_ENABLE
struct kfd_ioctl_runtime_enable_args {
	__u64 r_debug;
	__u32 mode_mask;
	__u32 capabilities_mask;
};
#define KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK    1
#define KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK 2
#define AMDKFD_IOC_RUNTIME_ENABLE              AMDKFD_IOWR(0x25, struct kfd_ioctl_runtime_enable_args)
#endif
