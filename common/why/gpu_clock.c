// The counter of a GPU; see gpu_clock.h.
#include "common/why/gpu_clock.h"

#include "common/host/root.h"
#include "common/reader/reader.h"

#include <amdgpu_drm.h>
#include <drm.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

static bool ask(int fd, uint32_t query, void *to, uint32_t size)
{
	struct drm_amdgpu_info info = {
		.return_pointer = (uintptr_t)to, .return_size = size, .query = query};
	return ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_AMDGPU_INFO, info), &info) == 0;
}

// Asks, and leaves the answer in memory: the reader that passes it on may not call ioctl(2).
static int open_clock(const void *minor, size_t len)
{
	struct drm_amdgpu_info_device device = {0};
	struct gpu_clock c;
	(void)len;
	SCOPED(close_at)
	int fd = host_open(PATH("/dev/dri/renderD%u", (unsigned)*(const uint64_t *)minor), O_RDWR);
	if (fd < 0 || !ask(fd, AMDGPU_INFO_TIMESTAMP, &c.ticks, sizeof(c.ticks)) ||
	    !ask(fd, AMDGPU_INFO_DEV_INFO, &device, sizeof(device)))
		return -1;
	c.khz = device.gpu_counter_freq;
	const int answer = memfd_create("clock", MFD_CLOEXEC);
	return answer >= 0 && pwrite(answer, &c, sizeof(c), 0) == sizeof(c) ? answer : -1;
}

static int give_clock(const void *minor, size_t len, int fd)
{
	struct gpu_clock c;
	(void)minor, (void)len;
	if (pread(fd, &c, sizeof(c), 0) != sizeof(c))
		return EIO;
	reader_give(&c, sizeof(c));
	return 0;
}

static bool take_clock(void *c, const void *part, size_t len)
{
	if (len == sizeof(struct gpu_clock))
		memcpy(c, part, len);
	return len == sizeof(struct gpu_clock);
}

bool gpu_clock_read(struct gpu_clock *c, uint64_t minor)
{
	const struct reader_question q = {.whose = READER_DRIVER,
					  .task = give_clock,
					  .open = open_clock,
					  .text = &minor,
					  .len = sizeof(minor),
					  .fd = -1};
	*c = (struct gpu_clock){0};
	return host_is_live() && minor <= UINT32_MAX && !reader_ask(&q, take_clock, c) && c->khz;
}
