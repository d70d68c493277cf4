// The counter that GPUs stamp signals with. Facts: [aql.signal].
#pragma once

#include "common/host/std.h"

struct gpu_clock {
	uint64_t ticks, khz; // the counter now; how many ticks it makes in a millisecond
};

// Sets the counter of the GPU of /dev/dri/renderD<minor>. The driver is asked once a minute, in a
// child, as it may not answer while it resets the GPU: opens the device. Returns false if it does
// not tell, or the host is a recorded one.
bool gpu_clock_read(struct gpu_clock *c, uint64_t minor);
