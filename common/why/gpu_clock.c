// The counter of a GPU; see gpu_clock.h.
#include "common/why/gpu_clock.h"

#include "common/host/clock.h"
#include "common/kfd/render.h"

#include <amdgpu_drm.h>
#include <drm.h>
#include <sys/ioctl.h>

static bool ask(int fd, uint32_t query, void *to, uint32_t size)
{
	struct drm_amdgpu_info info = {
		.return_pointer = (uintptr_t)to, .return_size = size, .query = query};
	return ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_AMDGPU_INFO, info), &info) == 0;
}

static int ask_clock(int fd, void *clock, size_t size)
{
	struct drm_amdgpu_info_device device = {0};
	struct gpu_clock *c = clock;
	(void)size;
	if (!ask(fd, AMDGPU_INFO_TIMESTAMP, &c->ticks, sizeof(c->ticks)) ||
	    !ask(fd, AMDGPU_INFO_DEV_INFO, &device, sizeof(device)))
		return errno;
	c->khz = device.gpu_counter_freq;
	return 0;
}

bool gpu_clock_read(struct gpu_clock *c, uint64_t minor)
{
	enum { MINORS = 64, FIRST = 128, KEPT_S = 60 }; // drivers number render nodes so
	static struct {
		struct gpu_clock at;
		uint64_t asked_ns; // 0: never
	} kept[MINORS];
	if (minor < FIRST || minor >= FIRST + MINORS)
		return false;
	struct gpu_clock *at = &kept[minor - FIRST].at;
	uint64_t *asked_ns = &kept[minor - FIRST].asked_ns;
	if (!*asked_ns || clock_ns() - *asked_ns > KEPT_S * UINT64_C(1000000000)) {
		if (render_ask(minor, ask_clock, at, sizeof(*at)) || at->ticks == UINT64_MAX)
			at->khz = 0;
		*asked_ns = clock_ns();
	}
	*c = *at;
	c->ticks += (uint64_t)((double)(clock_ns() - *asked_ns) * (double)at->khz / 1e6);
	return at->khz;
}
