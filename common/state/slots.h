// Which hardware slot holds which MQD, from the text of debugfs hqds (common/debugfs/hqds.h).
//
// Registers: kfd-facts 7. Compute slots alone: what SDMA slots hold after an unmap is
// stale, and nothing in them names an MQD.
#ifndef GPQ_STATE_SLOTS_H
#define GPQ_STATE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slot { // an active one
	uint32_t gpu_id;
	uint8_t xcc, pipe, queue;
	uint64_t mqd;      // GPU address of the MQD of this XCC
	uint32_t doorbell; // byte offset in the doorbell BAR
	uint32_t rptr;     // dwords inside the ring
	uint64_t wptr;     // dwords, ever growing (gfx8: 0)
};

struct slots {
	struct slot *v; // owned
	size_t n, cap;
};

// 0, or -1 with errno ENOMEM.
int slots_parse(struct slots *s, const char *text, size_t len);
void slots_fini(struct slots *s);

#endif
