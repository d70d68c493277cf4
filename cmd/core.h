// gpq core, for other commands.
#pragma once

#include "common/host/std.h"

// Appends a light GPU core of a process to `to`. Its queues are off while their waves are copied,
// at most 200 ms. Returns GPQ_OK; GPQ_PARTIAL after messages about queues that it lacks; else the
// exit status after a message.
int core_light(struct buf *to, pid_t pid);
