// A pickle of plain data as JSON. PyTorch writes the flight recorder of its collectives so.
//
// Nothing of a pickle is run: what names functions or objects is refused. Facts: pickletools.py of
// Python (protocols 2 to 4); torch/csrc/jit/serialization/pickler.cpp writes a part of these.
#pragma once

#include "common/host/std.h"

#define PICKLE_DEPTH 16                    // lists and dictionaries within each other
#define PICKLE_MOST  (UINT64_C(256) << 20) // bytes of the JSON text, and of what it is made from

// Appends the value that the pickle holds. Tuples become arrays. Returns false if it is no pickle,
// holds more than plain data, or exceeds a limit.
bool pickle_to_json(struct buf *json, const char *data, size_t len);
