// What people want to know of a queue, taken from its MQDs on all XCCs: one array of numbers.
//
// Memory facts: kfd-facts 6, "What the memory image is good for", and 8.
#ifndef GPQ_DEBUGFS_MQD_SUMMARY_H
#define GPQ_DEBUGFS_MQD_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/debugfs/mqd_value.h"

#define MQD_UNKNOWN UINT64_MAX

// Indices behind those of enum mqd_value.
enum mqd_derived {
	MQD_D_ON_HW = MQD_VALUES, // 1 on hardware, 0 off
	MQD_D_XCCS,               // XCCs that have an MQD of it; unknown for SDMA
	// AQL packets, PM4 dwords or SDMA bytes not consumed yet. Only while off hardware, since
	// the pointers are those of the last unmap.
	MQD_D_BACKLOG,
	MQD_D_SAVED_BYTES, // wave state and control stack parked in memory, all XCCs; only off
			   // hardware
	MQD_SUMMARY
};

struct mqd_summary {
	uint64_t v[MQD_SUMMARY]; // MQD_UNKNOWN where the dump or the layout does not have it
};

// `on_hw`: 1 on hardware, 0 off, anything else unknown (common/state/residency.h judges it).
void mqd_summarize(struct mqd_summary *s, const struct mqds *m, const struct mqd *q,
		   enum gfx_gen gen, int on_hw);

// Keeps what both say; what they do not agree on becomes unknown.
void mqd_summary_agree(struct mqd_summary *s, const struct mqd_summary *other);

#endif
