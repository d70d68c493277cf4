// Dwords of SDMA MQDs, and where hqds shows the same registers; see regs.h. Facts:
// [debugfs.mqd-sdma], [debugfs.sdma-slot].
#include "common/debugfs/regs_priv.h"

#include <string.h>

static const struct reg_field flagged_lo[] = {
	{"", 1, 31, REG_ADDR_LOW, 1, NULL, "where the read index is written to"}};
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

// Dwords of the MQD by generation: gfx8, gfx9 (all of them), gfx10, gfx11, gfx12.
#define R(name, fields, gfx8, gfx9, gfx10, gfx11, gfx12)          \
	{                                                         \
		REG("sdmax_rlcx_" name, fields),                  \
		{                                                 \
			NO, gfx8, gfx9, gfx9, gfx10, gfx11, gfx12 \
		}                                                 \
	}

// SLOT: registers that slots have and MQDs have not, as dwords beyond the end of any MQD.
enum { SLOT = 200, NO = 255 };

static const struct {
	struct reg reg;
	uint8_t dw[GFX_GENS]; // NO: this generation has none of this name
} rows[] = {
	R("rb_cntl", rb_cntl11, NO, NO, NO, 0, 0),
	R("rb_cntl", rb_cntl, 0, 0, 0, NO, NO),
	R("rb_base", addr256_lo, 1, 1, 1, 1, 1),
	R("rb_base_hi", addr256_hi, 2, 2, 2, 2, 2),
	R("rb_rptr", bytes, 3, 3, 3, 3, 3),
	R("rb_rptr_hi", bytes, NO, 4, 4, 4, 4),
	R("rb_wptr", bytes, 4, 5, 5, 5, 5),
	R("rb_wptr_hi", bytes, NO, 6, 6, 6, 6),
	R("rb_wptr_poll_cntl", hex, 5, 7, 7, NO, NO),
	R("rb_rptr_addr_hi", addr_hi, 8, 8, 8, 7, 8),
	R("rb_rptr_addr_lo", flagged_lo, 9, 9, 9, 8, 7),
	R("ib_cntl", hex, 10, 10, 10, 9, 9),
	R("ib_rptr", number, 11, 11, 11, 10, 10),
	R("ib_offset", number, 12, 12, 12, 11, 11),
	R("ib_base_lo", addr_lo, 13, 13, 13, 12, 12),
	R("ib_base_hi", addr_hi, 14, 14, 14, 13, 13),
	R("ib_size", number, 15, 15, 15, 14, 14),
	R("skip_cntl", hex, 16, 16, 16, 15, NO),
	R("context_status", context_status, 17, 17, 17, 16, SLOT + 1),
	R("doorbell", doorbell8, 18, NO, NO, NO, NO),
	R("doorbell", doorbell, NO, 18, 18, 17, 15),
	R("virtual_addr", hex, 19, NO, NO, NO, NO),
	R("status", hex, NO, 19, 19, NO, NO),
	R("ape1_cntl", hex, 20, NO, NO, NO, NO),
	R("doorbell_log", hex, 21, 20, 20, 18, 16),
	R("watermark", hex, SLOT, 21, 21, NO, NO),
	R("sched_cntl", hex, NO, NO, NO, 22, 20),
	R("doorbell_offset", doorbell_offset, NO, 22, 22, 19, 17),
	R("csa_addr_lo", addr_lo, SLOT + 1, 23, 23, 20, 18),
	R("csa_addr_hi", addr_hi, SLOT + 2, 24, 24, 21, 19),
	R("ib_sub_remain", number, SLOT + 3, 25, 25, 23, 21),
	R("preempt", hex, SLOT + 4, 26, 26, 24, 22),
	R("dummy_reg", hex, SLOT + 5, 27, 27, 25, 23),
	R("mcu_dbg0", hex, NO, NO, NO, NO, 28),
	R("rb_wptr_poll_addr_hi", addr_hi, 6, 28, 28, 26, 25),
	R("mcu_dbg1", hex, NO, NO, NO, NO, 29),
	R("rb_wptr_poll_addr_lo", addr_lo, 7, 29, 29, 27, 24),
	R("rb_preempt", hex, NO, NO, NO, 30, NO),
	R("context_switch_status", hex, NO, NO, NO, NO, 30),
	R("rb_aql_cntl", hex, NO, 30, 30, 28, 26),
	R("minor_ptr_update", hex, NO, 31, 31, 29, 27),
	R("midcmd_data0", hex, SLOT + 6, 32, 32, 31, 32),
	R("midcmd_data1", hex, SLOT + 7, 33, 33, 32, 33),
	R("midcmd_data2", hex, SLOT + 8, 34, 34, 33, 34),
	R("midcmd_data3", hex, SLOT + 9, 35, 35, 34, 35),
	R("midcmd_data4", hex, SLOT + 10, 36, 36, 35, 36),
	R("midcmd_data5", hex, SLOT + 11, 37, 37, 36, 37),
	R("midcmd_data6", hex, NO, 38, 38, 37, 38),
	R("midcmd_data7", hex, NO, 39, 39, 38, 39),
	R("midcmd_data8", hex, NO, 40, 40, 39, 40),
	R("midcmd_cntl", hex, SLOT + 12, 41, 41, 42, 31),
	R("wait_unsatisfied_thd", hex, NO, NO, NO, NO, 43),
	R("mqd_base_addr_lo", addr_lo, NO, NO, NO, NO, 44),
	R("mqd_base_addr_hi", addr_hi, NO, NO, NO, NO, 45),
	R("mqd_control", hex, NO, NO, NO, NO, 46),
	R("sdma_engine_id", number, 126, 126, 128, 126, 126),
	R("sdma_queue_id", number, 127, 127, 129, 127, 127),
	R("dequeue_request", hex, NO, NO, NO, NO, SLOT),
	R("midcmd_data9", hex, NO, SLOT, SLOT, 40, 41),
	R("midcmd_data10", hex, NO, SLOT + 1, SLOT + 1, 41, 42),
};

enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

const struct reg *reg_sdma(enum gfx_gen gen, unsigned dw)
{
	for (size_t i = 0; dw < NO && i < NROWS; i++)
		if (rows[i].dw[gen] == dw)
			return &rows[i].reg;
	return NULL;
}

int reg_sdma_dword(enum gfx_gen gen, const char *name)
{
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].dw[gen] != NO && strcmp(rows[i].reg.name, name) == 0)
			return rows[i].dw[gen];
	return -1;
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

static const struct run none[] = {{0}};
static const struct run *const runs[] = {none, runs8, runs9, runs9, runs9, runs11, runs12};
_Static_assert(sizeof(runs) / sizeof(runs[0]) == GFX_GENS, "registers of each generation");

int sdma_mqd_dword(enum gfx_gen gen, unsigned offset)
{
	for (const struct run *r = runs[gen]; r->count; r++)
		if (offset >= r->offset && offset < (unsigned)r->offset + r->count)
			return (int)(r->dw + offset - r->offset);
	return -1;
}

int sdma_reg_offset(enum gfx_gen gen, unsigned dw)
{
	for (const struct run *r = runs[gen]; r->count; r++)
		if (dw >= r->dw && dw < (unsigned)r->dw + r->count)
			return (int)(r->offset + dw - r->dw);
	return -1;
}
