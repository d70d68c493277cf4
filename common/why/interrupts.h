// How many interrupts each GPU has sent. Facts: [kfd.interrupts].
#pragma once

#include "common/host/std.h"

// Fills `rows` with those of /proc/interrupts that are amdgpu's; appends "look NS" and them to
// `record`, unless that is NULL. On a recorded host: the rows of the look that began at this time.
void irqs_look(struct buf *rows, uint64_t ns, struct buf *record);

// Returns the interrupts of a GPU on all processors; UINT64_MAX: unknown.
uint64_t irqs_of(const struct buf *rows, const char *bdf);
