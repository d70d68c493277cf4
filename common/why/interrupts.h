// How many interrupts each GPU has sent, at each look. Facts: [kfd.interrupts].
#pragma once

#include "common/host/std.h"

// A recording has the rows "TIME GPU COUNT" of its looks here: when the look began, in ns since
// boot, the GPU's PCI address, and its interrupts so far on all processors, or "-": unknown.
#define IRQS_PATH "/INTERRUPTS"

// Appends the row of a GPU, unless `rows` has it. Does nothing without a PCI address.
void irqs_look(struct buf *rows, uint64_t ns, const char *bdf);

// Returns the count of the GPU (NULL: none) at the look that began at `ns`; UINT64_MAX: unknown.
uint64_t irqs_of(const struct buf *rows, uint64_t ns, const char *bdf);
