// The counter of a GPU; see gpu_clock.h.
#include "common/why/gpu_clock.h"

#include "common/host/clock.h"
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
	enum { MINORS = 64, FIRST = 128, KEPT_S = 60 }; // drivers number render nodes so
	static struct {
		struct gpu_clock at;
		uint64_t asked_ns; // 0: never
	} kept[MINORS];
	const struct reader_question q = {.whose = READER_DEVICE,
					  .task = give_clock,
					  .open = open_clock,
					  .text = &minor,
					  .len = sizeof(minor),
					  .fd = -1};
	if (!host_is_live() || minor < FIRST || minor >= FIRST + MINORS)
		return false;
	struct gpu_clock *at = &kept[minor - FIRST].at;
	uint64_t *asked_ns = &kept[minor - FIRST].asked_ns;
	if (!*asked_ns || clock_ns() - *asked_ns > KEPT_S * UINT64_C(1000000000)) {
		if (reader_ask(&q, take_clock, at) || at->ticks == UINT64_MAX)
			at->khz = 0;
		*asked_ns = clock_ns();
	}
	*c = *at;
	c->ticks += (uint64_t)((double)(clock_ns() - *asked_ns) * (double)at->khz / 1e6);
	return at->khz;
}
