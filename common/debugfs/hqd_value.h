// What a hardware slot holds: the values of mqd_value.h, read from its registers.
//
// A compute slot's registers are dwords 128 to 183 of the MQD, an SDMA slot's are the first dwords
// of its MQD in another order (kfd-facts 6, 7).
#ifndef GPQ_DEBUGFS_HQD_VALUE_H
#define GPQ_DEBUGFS_HQD_VALUE_H

#include "common/debugfs/hqds.h"
#include "common/debugfs/mqd_value.h"

// False: not in this layout, or not in the text.
bool hqd_get(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, enum mqd_value what,
	     uint64_t *out);

// The register that is the image of this dword of the MQD.
bool hqd_word(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, unsigned dw,
	      uint32_t *out);

// Has the slot a queue: 1, 0, or -1 when the text does not tell. Of an SDMA slot the doorbell
// decides, since RB_ENABLE outlives the queue; whether the queue still exists must be asked
// elsewhere.
int hqd_in_use(const struct hqds *h, const struct hqd *s, enum gfx_gen gen);

// The generation by the look of a node's slots, for text without its topology: from the address of
// the first register, reset values and how many XCCs there are. gfx11 stands for gfx12 too, gfx9
// for gfx942 with one XCC: their slots have the same registers. GFX_UNKNOWN: nothing to see.
enum gfx_gen hqd_guess_gen(const struct hqds *h, const struct hqds_node *n);

#endif
