/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * softgpu: words of a memory queue descriptor (MQD).
 *
 * The compute MQD words used here have the same index from GFX9 to GFX12; the asserts say so
 * with the kernel's own structures (v9_structs.h ... v12_structs.h).
 */
#pragma once

#include "v9_structs.h"
#include "v10_structs.h"
#include "v11_structs.h"
#include "v12_structs.h"

#define MQD(field) (offsetof(struct v9_mqd, field) / 4)

#define MQD_SAME(field)                                                                            \
	static_assert(offsetof(struct v9_mqd, field) == offsetof(struct v10_compute_mqd, field) && \
		      offsetof(struct v9_mqd, field) == offsetof(struct v11_compute_mqd, field) && \
		      offsetof(struct v9_mqd, field) == offsetof(struct v12_compute_mqd, field))
MQD_SAME(cp_mqd_base_addr_lo);
MQD_SAME(cp_hqd_active);
MQD_SAME(cp_hqd_pq_base_lo);
MQD_SAME(cp_hqd_pq_rptr);
MQD_SAME(cp_hqd_pq_rptr_report_addr_lo);
MQD_SAME(cp_hqd_pq_control);
MQD_SAME(cp_hqd_aql_control);
MQD_SAME(cp_hqd_cntl_stack_offset);
MQD_SAME(cp_hqd_wg_state_offset);
MQD_SAME(cp_hqd_ctx_save_base_addr_lo);
MQD_SAME(cp_hqd_ctx_save_size);
MQD_SAME(cp_hqd_pq_wptr_lo);

/* The first words of an SDMA MQD; the same from GFX9 to GFX12. */
enum {
	SDMA_MQD_CNTL,
	SDMA_MQD_BASE,
	SDMA_MQD_BASE_HI,
	SDMA_MQD_RPTR,
	SDMA_MQD_RPTR_HI,
	SDMA_MQD_WPTR,
	SDMA_MQD_WPTR_HI
};

static inline u64 mqd_u64(const u32 *mqd, unsigned int word)
{
	return (u64)mqd[word + 1] << 32 | mqd[word];
}

static inline void mqd_set_u64(u32 *mqd, unsigned int word, u64 value)
{
	mqd[word] = lower_32_bits(value);
	mqd[word + 1] = upper_32_bits(value);
}
