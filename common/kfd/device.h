/*
 * /dev/kfd: opening it and asking its interface version.
 *
 * Facts: kfd-facts.md section 1. Opening it makes the caller a KFD process of its own, visible in
 * sysfs, with a record for every GPU: commands that only list should not do it.
 */
#ifndef GPQ_KFD_DEVICE_H
#define GPQ_KFD_DEVICE_H

#include "common/kfd/abi.h"

/* Opens /dev/kfd close-on-exec. Returns the descriptor, or -errno: -ENOENT no driver, -EACCES no
 * right, -EPERM 32-bit caller, -EINVAL locked (GPU reset, system suspend) or, from Linux 7.x on, no
 * GPU, -EMFILE ... */
int kfd_open(void);

/* Asks the interface version. 0, or -errno. */
int kfd_get_version(int kfd, struct kfd_version *v);

/* ioctl() that is repeated when a signal interrupts it. Returns its result (>= 0) or -errno. */
int kfd_ioctl(int kfd, unsigned long request, void *arg);

#endif
