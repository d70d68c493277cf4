// Asks the driver of a GPU through its render node, which may not answer while the GPU is reset.
#pragma once

#include "common/host/std.h"

// Asks the driver by ioctls of the open render node `fd`, in a child: fills `answer`. Returns 0 or
// an errno.
typedef int render_asks(int fd, void *answer, size_t size);

// Opens /dev/dri/renderD<minor>, which wakes a sleeping GPU, and has `ask` answer. Returns 0 or an
// errno, and then `answer` is not to be used: of opening, or of `ask`; ENOENT no such device, or a
// recorded host; ETIMEDOUT no answer came in time.
int render_ask(uint64_t minor, render_asks *ask, void *answer, size_t size);
