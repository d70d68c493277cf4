// Dwords of SDMA MQDs, and where hqds shows the same registers; see regs.h. Facts: kfd-facts 6
// and 7.
#include "common/debugfs/regs_priv.h"

#include <string.h>

#define G8    REG_GEN(GFX8)
#define V9    (REG_GEN(GFX9) | REG_GEN(GFX940) | REG_GEN(GFX10))
#define NOT10 (REG_GEN(GFX9) | REG_GEN(GFX940))
#define V10   REG_GEN(GFX10)
#define V11   REG_GEN(GFX11)
#define V12   REG_GEN(GFX12)
#define ALL   (G8 | V9 | V11 | V12)

static const struct reg_field hex[] = {{"", 0, 32, REG_HEX, 0, NULL, NULL}};
static const struct reg_field number[] = {{"", 0, 32, REG_NUMBER, 0, NULL, NULL}};
static const struct reg_field bytes[] = {{"", 0, 32, REG_BYTES, 0, NULL, NULL}};
static const struct reg_field addr_lo[] = {{"", 0, 32, REG_ADDR_LOW, 0, NULL, NULL}};
static const struct reg_field addr_hi[] = {{"", 0, 32, REG_ADDR_HIGH, 0, NULL, NULL}};
static const struct reg_field flagged_lo[] = {
	{"", 1, 31, REG_ADDR_LOW, 1, NULL, "where the read index is written to"}};
static const struct reg_field addr256_lo[] = {{"", 0, 32, REG_ADDR_LOW, 8, NULL, NULL}};
static const struct reg_field addr256_hi[] = {{"", 0, 32, REG_ADDR_HIGH, 8, NULL, NULL}};
#define RB_CNTL                                                                       \
	{"RB_ENABLE", 0, 1, REG_FLAG, 0, NULL, "stays set in a slot after an unmap"}, \
		{"RB_SIZE", 1, 5, REG_POWER, 2, NULL, "of the ring"},                 \
		{"RPTR_WRITEBACK_ENABLE", 12, 1, REG_FLAG, 0, NULL, NULL},            \
		{"RPTR_WRITEBACK_TIMER", 16, 5, REG_NUMBER, 0, NULL, NULL},           \
	{                                                                             \
		"RB_VMID", 24, 4, REG_NUMBER, 0, NULL, "set in memory by an unmap"    \
	}
static const struct reg_field rb_cntl[] = {RB_CNTL};
static const struct reg_field rb_cntl11[] = {RB_CNTL,
					     {"WPTR_POLL_ENABLE", 11, 1, REG_FLAG, 0, NULL, NULL}};
static const struct reg_field context_status[] = {
	{"SELECTED", 0, 1, REG_FLAG, 0, NULL, NULL},
	{"IDLE", 2, 1, REG_FLAG, 0, NULL, NULL},
	{"EXPIRED", 3, 1, REG_FLAG, 0, NULL, NULL},
	{"EXCEPTION", 4, 3, REG_HEX, 0, NULL, NULL},
	{"CTXSW_ABLE", 7, 1, REG_FLAG, 0, NULL, NULL},
	{"CTXSW_READY", 8, 1, REG_FLAG, 0, NULL, NULL},
	{"PREEMPTED", 9, 1, REG_FLAG, 0, NULL, NULL},
	{"PREEMPT_DISABLE", 10, 1, REG_FLAG, 0, NULL, NULL},
};
static const struct reg_field doorbell[] = {
	{"ENABLE", 28, 1, REG_FLAG, 0, NULL, "the slot is in use"},
	{"CAPTURED", 30, 1, REG_FLAG, 0, NULL, "rung"},
};
static const struct reg_field doorbell8[] = {
	{"OFFSET", 0, 21, REG_BYTES, 2, NULL, "in the doorbell BAR"},
	{"ENABLE", 28, 1, REG_FLAG, 0, NULL, "the slot is in use"},
	{"CAPTURED", 30, 1, REG_FLAG, 0, NULL, "rung"},
};
static const struct reg_field doorbell_offset[] = {
	{"OFFSET", 2, 26, REG_BYTES, 2, NULL, "in the doorbell BAR"}};

#define R(dw, gens, name, fields)                                                                \
	{                                                                                        \
		"sdmax_rlcx_" name, (fields), (dw), (gens), sizeof(fields) / sizeof((fields)[0]) \
	}

// Registers that slots have and MQDs have not, as dwords beyond the end of any MQD.
enum { SLOT = 200 };

static const struct reg regs[] = {
	R(0, G8 | V9, "rb_cntl", rb_cntl),
	R(0, V11 | V12, "rb_cntl", rb_cntl11),
	R(1, ALL, "rb_base", addr256_lo),
	R(2, ALL, "rb_base_hi", addr256_hi),
	R(3, ALL, "rb_rptr", bytes),
	R(4, V9 | V11 | V12, "rb_rptr_hi", bytes),
	R(5, V9 | V11 | V12, "rb_wptr", bytes),
	R(6, V9 | V11 | V12, "rb_wptr_hi", bytes),
	R(4, G8, "rb_wptr", bytes),
	R(5, G8, "rb_wptr_poll_cntl", hex),
	R(6, G8, "rb_wptr_poll_addr_hi", addr_hi),
	R(7, G8, "rb_wptr_poll_addr_lo", addr_lo),
	R(8, G8, "rb_rptr_addr_hi", addr_hi),
	R(9, G8, "rb_rptr_addr_lo", flagged_lo),
	R(18, G8, "doorbell", doorbell8),
	R(19, G8, "virtual_addr", hex),
	R(20, G8, "ape1_cntl", hex),
	R(21, G8, "doorbell_log", hex),
	// gfx9 and gfx10; the same in sequence with other beginnings in gfx11 and gfx12
	R(7, V9, "rb_wptr_poll_cntl", hex),
	R(8, V9, "rb_rptr_addr_hi", addr_hi),
	R(7, V11, "rb_rptr_addr_hi", addr_hi),
	R(8, V12, "rb_rptr_addr_hi", addr_hi),
	R(9, V9, "rb_rptr_addr_lo", flagged_lo),
	R(8, V11, "rb_rptr_addr_lo", flagged_lo),
	R(7, V12, "rb_rptr_addr_lo", flagged_lo),
	R(10, G8 | V9, "ib_cntl", hex),
	R(9, V11 | V12, "ib_cntl", hex),
	R(11, G8 | V9, "ib_rptr", number),
	R(10, V11 | V12, "ib_rptr", number),
	R(12, G8 | V9, "ib_offset", number),
	R(11, V11 | V12, "ib_offset", number),
	R(13, G8 | V9, "ib_base_lo", addr_lo),
	R(12, V11 | V12, "ib_base_lo", addr_lo),
	R(14, G8 | V9, "ib_base_hi", addr_hi),
	R(13, V11 | V12, "ib_base_hi", addr_hi),
	R(15, G8 | V9, "ib_size", number),
	R(14, V11 | V12, "ib_size", number),
	R(16, G8 | V9, "skip_cntl", hex),
	R(15, V11, "skip_cntl", hex),
	R(17, G8 | V9, "context_status", context_status),
	R(16, V11, "context_status", context_status),
	R(SLOT + 1, V12, "context_status", context_status),
	R(18, V9, "doorbell", doorbell),
	R(17, V11, "doorbell", doorbell),
	R(15, V12, "doorbell", doorbell),
	R(19, V9, "status", hex),
	R(20, V9, "doorbell_log", hex),
	R(18, V11, "doorbell_log", hex),
	R(16, V12, "doorbell_log", hex),
	R(21, V9, "watermark", hex),
	R(22, V9, "doorbell_offset", doorbell_offset),
	R(19, V11, "doorbell_offset", doorbell_offset),
	R(17, V12, "doorbell_offset", doorbell_offset),
	R(23, V9, "csa_addr_lo", addr_lo),
	R(20, V11, "csa_addr_lo", addr_lo),
	R(18, V12, "csa_addr_lo", addr_lo),
	R(24, V9, "csa_addr_hi", addr_hi),
	R(21, V11, "csa_addr_hi", addr_hi),
	R(19, V12, "csa_addr_hi", addr_hi),
	R(22, V11, "sched_cntl", hex),
	R(20, V12, "sched_cntl", hex),
	R(25, V9, "ib_sub_remain", number),
	R(23, V11, "ib_sub_remain", number),
	R(21, V12, "ib_sub_remain", number),
	R(26, V9, "preempt", hex),
	R(24, V11, "preempt", hex),
	R(22, V12, "preempt", hex),
	R(27, V9, "dummy_reg", hex),
	R(25, V11, "dummy_reg", hex),
	R(23, V12, "dummy_reg", hex),
	R(28, V9, "rb_wptr_poll_addr_hi", addr_hi),
	R(26, V11, "rb_wptr_poll_addr_hi", addr_hi),
	R(25, V12, "rb_wptr_poll_addr_hi", addr_hi),
	R(29, V9, "rb_wptr_poll_addr_lo", addr_lo),
	R(27, V11, "rb_wptr_poll_addr_lo", addr_lo),
	R(24, V12, "rb_wptr_poll_addr_lo", addr_lo),
	R(30, V9, "rb_aql_cntl", hex),
	R(28, V11, "rb_aql_cntl", hex),
	R(26, V12, "rb_aql_cntl", hex),
	R(31, V9, "minor_ptr_update", hex),
	R(29, V11, "minor_ptr_update", hex),
	R(27, V12, "minor_ptr_update", hex),
	R(30, V11, "rb_preempt", hex),
	R(32, V9, "midcmd_data0", hex),
	R(33, V9, "midcmd_data1", hex),
	R(34, V9, "midcmd_data2", hex),
	R(35, V9, "midcmd_data3", hex),
	R(36, V9, "midcmd_data4", hex),
	R(37, V9, "midcmd_data5", hex),
	R(38, V9, "midcmd_data6", hex),
	R(39, V9, "midcmd_data7", hex),
	R(40, V9, "midcmd_data8", hex),
	R(31, V11, "midcmd_data0", hex),
	R(32, V11, "midcmd_data1", hex),
	R(33, V11, "midcmd_data2", hex),
	R(34, V11, "midcmd_data3", hex),
	R(35, V11, "midcmd_data4", hex),
	R(36, V11, "midcmd_data5", hex),
	R(37, V11, "midcmd_data6", hex),
	R(38, V11, "midcmd_data7", hex),
	R(39, V11, "midcmd_data8", hex),
	R(40, V11, "midcmd_data9", hex),
	R(41, V11, "midcmd_data10", hex),
	R(32, V12, "midcmd_data0", hex),
	R(33, V12, "midcmd_data1", hex),
	R(34, V12, "midcmd_data2", hex),
	R(35, V12, "midcmd_data3", hex),
	R(36, V12, "midcmd_data4", hex),
	R(37, V12, "midcmd_data5", hex),
	R(38, V12, "midcmd_data6", hex),
	R(39, V12, "midcmd_data7", hex),
	R(40, V12, "midcmd_data8", hex),
	R(41, V12, "midcmd_data9", hex),
	R(42, V12, "midcmd_data10", hex),
	R(SLOT, V9, "midcmd_data9", hex),
	R(SLOT + 1, V9, "midcmd_data10", hex),
	R(SLOT, V12, "dequeue_request", hex),
	R(SLOT, G8, "watermark", hex),
	R(SLOT + 1, G8, "csa_addr_lo", addr_lo),
	R(SLOT + 2, G8, "csa_addr_hi", addr_hi),
	R(SLOT + 3, G8, "ib_sub_remain", number),
	R(SLOT + 4, G8, "preempt", hex),
	R(SLOT + 5, G8, "dummy_reg", hex),
	R(SLOT + 6, G8, "midcmd_data0", hex),
	R(SLOT + 7, G8, "midcmd_data1", hex),
	R(SLOT + 8, G8, "midcmd_data2", hex),
	R(SLOT + 9, G8, "midcmd_data3", hex),
	R(SLOT + 10, G8, "midcmd_data4", hex),
	R(SLOT + 11, G8, "midcmd_data5", hex),
	R(SLOT + 12, G8, "midcmd_cntl", hex),
	R(41, V9, "midcmd_cntl", hex),
	R(42, V11, "midcmd_cntl", hex),
	R(31, V12, "midcmd_cntl", hex),
	R(28, V12, "mcu_dbg0", hex),
	R(29, V12, "mcu_dbg1", hex),
	R(30, V12, "context_switch_status", hex),
	R(43, V12, "wait_unsatisfied_thd", hex),
	R(46, V12, "mqd_control", hex),
	R(44, V12, "mqd_base_addr_lo", addr_lo),
	R(45, V12, "mqd_base_addr_hi", addr_hi),
	R(126, G8 | NOT10 | V11 | V12, "sdma_engine_id", number),
	R(127, G8 | NOT10 | V11 | V12, "sdma_queue_id", number),
	R(128, V10, "sdma_engine_id", number),
	R(129, V10, "sdma_queue_id", number),
};

enum { NREGS = sizeof(regs) / sizeof(regs[0]) };

const struct reg *reg_sdma(enum gfx_gen gen, unsigned dw)
{
	for (size_t i = 0; i < NREGS; i++)
		if (regs[i].dw == dw && (regs[i].gens & REG_GEN(gen)))
			return &regs[i];
	return NULL;
}

const struct reg *reg_sdma_named(enum gfx_gen gen, const char *name)
{
	return reg_named(regs, NREGS, gen, name);
}

// What hqds shows of an SDMA slot: runs of registers, each the image of consecutive MQD dwords.
struct run {
	uint8_t offset, count, dw;
};

// The last run has 12 registers from gfx10.3 and gfx942 on and 10 before: the MQD has dwords for
// MIDCMD_DATA0 to 8 and MIDCMD_CNTL, which always comes last (decode.c).
static const struct run runs9[] = {{0, 19, 0},    {0x28, 6, 19},   {0x2f, 7, 25},
				   {0x40, 9, 32}, {0x49, 2, SLOT}, {0}};
static const struct run runs11[] = {{0, 7, 0},      {8, 11, 7},     {0x29, 1, 18},
				    {0x2b, 12, 19}, {0x40, 12, 31}, {0}};

// Offsets of mmSDMA0_RLC0_* (oss_3_0_d.h) and regSDMA0_QUEUE0_* (gc_12_0_0_offset.h).
static const struct run runs8[] = {{0, 19, 0},
				   {0x27, 3, 19},
				   {0x2a, 1, SLOT},
				   {0x2c, 2, SLOT + 1},
				   {0x2f, 3, SLOT + 3},
				   {0x41, 7, SLOT + 6},
				   {0}};
static const struct run runs12[] = {{0, 47, 0}, {0x2f, 2, SLOT}, {0}};

static const struct run *runs_of(enum gfx_gen gen)
{
	static const struct run none[] = {{0}};

	switch (gen) {
	case GFX8: return runs8;
	case GFX9:
	case GFX940:
	case GFX10: return runs9;
	case GFX11: return runs11;
	case GFX12: return runs12;
	default: return none;
	}
}

int sdma_mqd_dword(enum gfx_gen gen, unsigned offset)
{
	for (const struct run *r = runs_of(gen); r->count; r++)
		if (offset >= r->offset && offset < (unsigned)r->offset + r->count)
			return (int)(r->dw + offset - r->offset);
	return -1;
}

int sdma_reg_offset(enum gfx_gen gen, unsigned dw)
{
	for (const struct run *r = runs_of(gen); r->count; r++)
		if (dw >= r->dw && dw < (unsigned)r->dw + r->count)
			return (int)(r->offset + dw - r->dw);
	return -1;
}
