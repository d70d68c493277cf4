/* /dev/kfd: opening it and asking its interface version. Facts: kfd-facts.md section 1. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/kfd/device.h"

int kfd_open(void)
{
	int fd = open(KFD_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int kfd_ioctl(int kfd, unsigned long request, void *arg)
{
	int r;

	do
		r = ioctl(kfd, request, arg);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

int kfd_get_version(int kfd, struct kfd_version *v)
{
	int r = kfd_ioctl(kfd, KFD_GET_VERSION, v);

	return r < 0 ? r : 0;
}
