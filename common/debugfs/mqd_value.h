// Values of MQDs and of hardware slots by name (ring, pointers, priority, ...), for each layout.
//
// Facts: [debugfs.mqd-compute], [debugfs.mqd-sdma], [debugfs.mqd-image], [debugfs.sdma-slot].
// Dwords 128 to 183 of a compute MQD are the image of a slot's registers, so both have the same
// values; an SDMA slot has the first dwords of its MQD in another order.
#pragma once

#include "common/debugfs/gfx.h"
#include "common/debugfs/hqds.h"
#include "common/debugfs/mqds.h"

// Values marked (u) are written by the firmware at an unmap, so in memory they are stale while the
// queue is on hardware [debugfs.mqd-stale]. The others are the driver's own and always right.
enum mqd_value {
	MQD_V_BASE,       // GPU address of the MQD on this XCC: the key to HQDs and MAP_QUEUES
	MQD_V_ACTIVE,     // 1 on hardware, 0 off: firmware writes it at map and unmap
	MQD_V_VMID,       // (u) address space on the GPU
	MQD_V_PIPE_PRIO,  // 0 low, 1 medium, 2 high
	MQD_V_QUEUE_PRIO, // 0..15
	MQD_V_RING,       // address of the ring in the process
	MQD_V_RING_BYTES,
	MQD_V_RPTR,         // (u) compute: dword index inside the ring; SDMA: bytes, ever growing
	MQD_V_WPTR,         // (u) compute: dwords, ever growing (gfx8: in the ring); SDMA: bytes
	MQD_V_RPTR_ADDR,    // address of the u64 read index in the process
	MQD_V_WPTR_ADDR,    // address of the u64 write index in the process
	MQD_V_DOORBELL,     // byte offset in the doorbell BAR
	MQD_V_AQL,          // 1 AQL packets, 0 PM4
	MQD_V_CTX_BASE,     // address of the saved-context (CWSR) area of this XCC
	MQD_V_CTX_BYTES,    // size of the CWSR area of this XCC
	MQD_V_STACK_BYTES,  // size of the control stack's part of the CWSR area
	MQD_V_STACK_OFFSET, // (u) start of the control stack, which grows down from STACK_BYTES
	MQD_V_WAVE_OFFSET,  // (u) end of the saved waves, which grow up from STACK_BYTES
	MQD_V_READ_INDEX,   // (u) number of AQL packets consumed
	MQD_V_ERROR,        // (u) error bits, cp_hqd_error
	MQD_V_SDMA_ENGINE,
	MQD_V_SDMA_RLC,
	MQD_VALUES
};

// Sets *out to a value of the MQD on logical XCC xcc (SDMA: 0). False: layout or dump lacks it.
bool mqd_get(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, unsigned xcc,
	     enum mqd_value what, uint64_t *out);

// Where the dwords of an MQD are read: the registers of slot `s` or, if that is NULL, a dump.
struct mqd_source {
	const struct hqds *h;
	const struct hqd *s;
	const struct mqds *m;
	const struct mqd *q;
	enum gfx_gen gen;
	unsigned xcc;
	bool sdma; // the queue is an SDMA queue (only for decode.h)
};

// mqd_get() for any source of MQD dwords. A mqd_word_fn sets *out to dword `dw`; false: none.
typedef bool (*mqd_word_fn)(const void *from, unsigned dw, uint32_t *out);
bool mqd_source_word(const void *source, unsigned dw, uint32_t *out); // source: a struct mqd_source
bool mqd_source_get(const struct mqd_source *from, enum mqd_value what, uint64_t *out);
bool mqd_value_of(enum mqd_kind kind, enum gfx_gen gen, enum mqd_value what, mqd_word_fn word,
		  const void *from, uint64_t *out);

// Guesses the generation of an MQD, where the topology is unknown, from register defaults that the
// driver writes. GFX9 stands for GFX940 too, and GFX11 for compute MQDs of GFX12.
enum gfx_gen mqd_guess_gen(const struct mqds *m, const struct mqd *q);

// --- summary of a queue, from its MQDs on all XCCs [debugfs.mqd-saved], [debugfs.off] ---

#define MQD_UNKNOWN UINT64_MAX

// Computed values of a queue, numbered behind those of enum mqd_value.
enum mqd_derived {
	MQD_D_ON_HW = MQD_VALUES, // 1 on hardware, 0 off
	MQD_D_XCCS,               // number of XCCs that have an MQD of the queue; unknown for SDMA
	// The next two need values marked (u), so are known only while the queue is off hardware.
	MQD_D_BACKLOG,     // AQL packets, PM4 dwords or SDMA bytes not consumed yet
	MQD_D_SAVED_BYTES, // wave state and control stack parked in memory, all XCCs
	MQD_SUMMARY
};

struct mqd_summary {
	uint64_t v[MQD_SUMMARY]; // values; MQD_UNKNOWN where the dump or the layout has none
};

// Fills `s`. `on_hw`: what common/rows/residency.c found: 1 on hardware, 0 off, else unknown.
void mqd_summarize(struct mqd_summary *s, const struct mqds *m, const struct mqd *q,
		   enum gfx_gen gen, int on_hw);

// Sets each value of `s` to unknown that differs in `other`.
void mqd_summary_agree(struct mqd_summary *s, const struct mqd_summary *other);

// --- what slots tell ---

// Sets *out to a value from the registers of a slot. False: the layout or the dump lacks it.
bool hqd_get(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, enum mqd_value what,
	     uint64_t *out);

// The same of a compute slot that is in use.
bool hqd_cp_get(const struct hqds *h, const struct hqd *s, enum mqd_value what, uint64_t *v);

// Returns the active compute slot whose MQD is at this address, or NULL. (SDMA slots have no MQD
// address, and keep values of queues that are gone.) Slots whose doorbell or pointers the dump
// lacks are ignored.
const struct hqd *hqds_find(const struct hqds *h, uint64_t gpu_id, uint64_t mqd);

// Returns 1 if the slot holds a queue, 0 if not, -1 if the register that tells is missing. In SDMA
// slots this is DOORBELL, but even so the queue may be gone [debugfs.sdma-slot-stale].
int hqd_in_use(const struct hqds *h, const struct hqd *s, enum gfx_gen gen);

// Guesses the generation from the slots of a node, where the topology is unknown. GFX11 stands for
// GFX12 too, GFX9 for GFX940 with one XCC: their slots have the same registers.
enum gfx_gen hqd_guess_gen(const struct hqds *h, const struct hqds_node *n);
