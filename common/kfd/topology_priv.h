// Inside common/kfd: decoding of properties, apart from reading them so that it can be tested and
// fuzzed on text alone.
#ifndef GPQ_KFD_TOPOLOGY_PRIV_H
#define GPQ_KFD_TOPOLOGY_PRIV_H

#include "common/kfd/topology.h"

// All numbers unknown.
void kfd_gpu_init(struct kfd_gpu *g);

// Takes the "name value" lines of a properties file. Unknown names are skipped, malformed lines
// counted, order does not matter.
void kfd_gpu_parse(struct kfd_gpu *g, const char *text, size_t len);

// Fills cus, gfx, cwsr_*, can_suspend, and bdf from location_id, from what was parsed.
void kfd_gpu_derive(struct kfd_gpu *g);

// Bytes of the GPU's own memory in one mem_banks/<n>/properties text; 0: other memory.
uint64_t kfd_bank_bytes(const char *text, size_t len);

#endif
