// Events of a GPU; see smi.h.
#include "common/kfd/smi.h"

#include "common/kfd/abi.h"
#include "common/kfd/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ALL_PROCESSES (1ull << 63)

int kfd_smi_open(int kfd, uint32_t gpu_id, uint64_t mask)
{
	struct kfd_smi a = {.gpu_id = gpu_id};
	const int r = kfd_ioctl(kfd, KFD_SMI_EVENTS, &a);
	const int fd = (int)a.fd;

	if (r < 0)
		return r;
	mask |= ALL_PROCESSES;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && write(fd, &mask, sizeof(mask)) == sizeof(mask))
		return fd;
	const int error = errno;
	close(fd);
	return -error;
}
