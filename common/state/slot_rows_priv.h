// Shared by the files of slot_rows.h.
#ifndef GPQ_STATE_SLOT_ROWS_PRIV_H
#define GPQ_STATE_SLOT_ROWS_PRIV_H

#include "common/debugfs/mqd_value.h"
#include "common/state/slot_rows.h"

// An MQD's address on one XCC.
struct hqd_key {
	uint64_t base;
	uint32_t gpu_id;
	uint32_t mqd; // index in mqds.queues
};

// The MQD at this GPU address, on any XCC; UINT32_MAX: none.
uint32_t slot_rows_mqd_at(const struct slot_rows *l, uint32_t gpu_id, uint64_t base);

// Makes the rows. 0, or -1 (ENOMEM).
int slot_rows_fill(struct slot_rows *l);
void slot_rows_free_rows(struct slot_rows *l);

#endif
