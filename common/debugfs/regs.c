// The tables of registers; see regs.h. Facts: [debugfs.mqd-image], [debugfs.mqd-compute],
// [debugfs.hqd-error], [debugfs.mqd-sdma], [debugfs.sdma-slot].
#include "common/debugfs/regs.h"

#define REG(name, fields)                   \
	{                                   \
		name, fields, COUNT(fields) \
	}
// `meaning` of a field is a literal; "": none. Behind it WORDS() adds its REG_WORDS: "low\0high".
#define FIELD(name, lsb, width, unit, shift, meaning)                  \
	{                                                              \
		name "\0" meaning, (lsb), (width), REG_##unit, (shift) \
	}
#define FLAG(name, bit, meaning) FIELD(name, bit, 1, FLAG, 0, meaning)
#define WORDS(words)             "\0" words "\0"
#define WHOLE(id, unit, shift, meaning) \
	static const struct reg_field id[] = {FIELD("", 0, 32, unit, shift, meaning)}
// Fields for the low and the high half of an address.
#define WHOLE_PAIR(id, shift, meaning)            \
	WHOLE(id##_lo, ADDR_LOW, shift, meaning); \
	WHOLE(id##_hi, ADDR_HIGH, shift, meaning)

WHOLE(hex, HEX, 0, "");
WHOLE(number, NUMBER, 0, "");
WHOLE(bytes, BYTES, 0, "");
WHOLE_PAIR(addr, 0, "");
WHOLE_PAIR(addr256, 8, "");

// --- compute MQDs: dwords 128 to 183 are the HQD registers ---

#define REG_GEN(gen) (1u << (gen))
#define G8           REG_GEN(GFX8)
#define G9           (REG_GEN(GFX9) | REG_GEN(GFX940))
#define G940         REG_GEN(GFX940)
#define ONLY9        REG_GEN(GFX9)
#define G10          REG_GEN(GFX10)
#define G11          REG_GEN(GFX11)
#define G12          REG_GEN(GFX12)
#define G11UP        (G11 | G12)
#define G10UP        (G10 | G11UP)
#define G9UP         (G9 | G10UP)
#define ALL          (G8 | G9UP)
#define TO10         (G8 | G9 | G10)
#define BUT12        (ALL & ~G12)

// enum hqd_dequeue_request_type of amdgpu_amdkfd_gfx_v9.c and its like
#define DEQUEUE_WORDS "none\0drain the pipe\0reset waves\0save waves"

WHOLE(dwords, DWORDS, 0, "");
static const struct reg_field flag[] = {FLAG("", 0, "")};

WHOLE_PAIR(mqd_base, 0, "of this MQD, on this XCC");
WHOLE_PAIR(ring_base, 8, "of the ring in the process");
WHOLE_PAIR(rptr_report, 0, "where the read index is written to");
WHOLE_PAIR(wptr_poll, 0, "where the write index is read from");
WHOLE_PAIR(eop_base, 8, "of the buffer for end-of-pipe events");
WHOLE_PAIR(ctx_base, 0, "of the area to save waves in, of this XCC");
WHOLE(pq_rptr, DWORDS, 0, "read pointer inside the ring");
WHOLE(pq_wptr, DWORDS, 0, "written in all");
WHOLE(read_index, NUMBER, 0, "AQL packets consumed");
WHOLE(stack_offset, BYTES, 0, "where the used part of the control stack begins: it grows down");
WHOLE(stack_size, BYTES, 0, "of the control stack in the save area");
WHOLE(wave_offset, BYTES, 0, "end of saved waves: beyond the stack when some are parked");
WHOLE(ctx_size, BYTES, 0, "of the save area of one XCC");
WHOLE(aql_control, HEX, 0, "1: AQL queue, 0: PM4");
WHOLE(xcc_id, NUMBER, 0, "turn of this XCC when work groups are dealt out");
WHOLE(mqd_stride, BYTES, 0, "from the MQD of one XCC to the next");

static const struct reg_field active[] = {
	FLAG("ACTIVE", 0, "the queue is in this slot"),
	FLAG("BUSY_GATE", 1, ""),
};
static const struct reg_field vmid[] = {
	FIELD("VMID", 0, 4, NUMBER, 0, "address space on the GPU, given anew at each map"),
	FIELD("IB_VMID", 8, 4, NUMBER, 0, ""),
	FIELD("VQID", 16, 10, NUMBER, 0, ""),
};
static const struct reg_field persistent_state[] = {
	FLAG("PRELOAD_REQ", 0, ""),
	FIELD("PRELOAD_SIZE", 8, 10, NUMBER, 0, ""),
	FLAG("RESTORE_ACTIVE", 28, "waves are being restored"),
	FLAG("RELAUNCH_WAVES", 29, ""),
	FLAG("QSWITCH_MODE", 30, "waves are saved when the queue is taken off (CWSR)"),
	FLAG("DISP_ACTIVE", 31, "a dispatch is running"),
};
static const struct reg_field pipe_priority[] = {
	FIELD("PIPE_PRIORITY", 0, 2, WORDS, 0, "" WORDS("low\0medium\0high"))};
static const struct reg_field queue_priority[] = {
	FIELD("PRIORITY_LEVEL", 0, 4, NUMBER, 0, "0 to 15")};
static const struct reg_field quantum[] = {
	FLAG("QUANTUM_EN", 0, ""),
	FIELD("QUANTUM_SCALE", 4, 1, NUMBER, 0, ""),
	FIELD("QUANTUM_DURATION", 8, 6, NUMBER, 0, ""),
	FLAG("QUANTUM_ACTIVE", 31, ""),
};
static const struct reg_field doorbell[] = {
	FLAG("BIF_DROP", 1, "AQL queue"),
	FIELD("OFFSET", 2, 26, BYTES, 2, "in the doorbell BAR"),
	FLAG("SOURCE", 28, ""),
	FLAG("SCHD_HIT", 29, ""),
	FLAG("EN", 30, ""),
	FLAG("HIT", 31, "rung since it was mapped"),
};
#define PQ_CONTROL_COMMON                                                                    \
	FIELD("QUEUE_SIZE", 0, 6, POWER, 3, "of the ring"), FLAG("WPTR_CARRY", 6, ""),       \
		FLAG("RPTR_CARRY", 7, ""), FIELD("RPTR_BLOCK_SIZE", 8, 6, NUMBER, 0, ""),    \
		FLAG("QUEUE_FULL_EN", 14, ""), FLAG("PQ_EMPTY", 15, "the ring was drained"), \
		FIELD("MIN_AVAIL_SIZE", 20, 2, NUMBER, 0, ""), FLAG("TMZ", 22, ""),          \
		FLAG("EXE_DISABLE", 23, ""), FLAG("NO_UPDATE_RPTR", 27, ""),                 \
		FLAG("UNORD_DISPATCH", 28, ""), FLAG("PRIV_STATE", 30, ""),                  \
		FLAG("KMD_QUEUE", 31, "the driver's own queue")
static const struct reg_field pq_control9[] = {
	PQ_CONTROL_COMMON,
	FLAG("WPP_CLAMP_EN", 16, ""),
	FIELD("CACHE_POLICY", 24, 1, NUMBER, 0, ""), // bit 25: SLOT_BASED_WPTR
	FIELD("SLOT_BASED_WPTR", 25, 2, NUMBER, 0, ""),
};
static const struct reg_field pq_control10[] = {
	PQ_CONTROL_COMMON,
	FIELD("SLOT_BASED_WPTR", 18, 2, NUMBER, 0, ""),
	FIELD("CACHE_POLICY", 24, 2, NUMBER, 0, ""),
};
static const struct reg_field pq_control8[] = {
	FIELD("QUEUE_SIZE", 0, 6, POWER, 3, "of the ring"),
	FIELD("RPTR_BLOCK_SIZE", 8, 6, NUMBER, 0, ""),
	FIELD("MTYPE", 15, 2, NUMBER, 0, ""),
	FIELD("MIN_AVAIL_SIZE", 20, 2, NUMBER, 0, ""),
	FLAG("PQ_ATC", 23, ""),
	FIELD("CACHE_POLICY", 24, 1, NUMBER, 0, ""),
	FIELD("SLOT_BASED_WPTR", 25, 2, NUMBER, 0, ""),
	FLAG("NO_UPDATE_RPTR", 27, ""),
	FLAG("UNORD_DISPATCH", 28, ""),
	FLAG("PRIV_STATE", 30, ""),
	FLAG("KMD_QUEUE", 31, "the driver's own queue"),
};
#define DEQUEUE_COMMON                                                                    \
	FLAG("IQ_REQ_PEND", 4, "interrupt"), FLAG("DEQUEUE_INT", 8, "interrupt pending"), \
		FLAG("IQ_REQ_PEND_EN", 9, ""), FLAG("DEQUEUE_REQ_EN", 10, "")
static const struct reg_field dequeue9[] = {
	FIELD("DEQUEUE_REQ", 0, 3, WORDS, 0, "" WORDS(DEQUEUE_WORDS)), DEQUEUE_COMMON};
static const struct reg_field dequeue10[] = {
	FIELD("DEQUEUE_REQ", 0, 4, WORDS, 0, "" WORDS(DEQUEUE_WORDS)), DEQUEUE_COMMON};
static const struct reg_field hq_status9[] = {
	FIELD("DEQUEUE_STATUS", 0, 2, NUMBER, 0,
	      "of the last request to leave the slot; 2 was seen after waves were saved"),
	FIELD("DEQUEUE_RETRY_CNT", 2, 2, NUMBER, 0, ""),
	FLAG("QUEUE_IDLE", 30, "nothing to do, no wave running"),
};
static const struct reg_field hq_status11[] = {
	FLAG("CWSR", 0, ""),
	FLAG("SAVE_STATUS", 1, ""),
	FLAG("SLOT_CONNECTED", 15, ""),
	FLAG("PCIE_ATOMICS", 29, ""),
	FLAG("QUEUE_IDLE", 30, "nothing to do, no wave running"),
};
static const struct reg_field error[] = {
	FIELD("EDC_ERROR", 0, 4, HEX, 0, "memory check"),
	FLAG("SUA_ERROR", 4, "SUA violation, as the driver's interrupts name it"),
	FLAG("AQL_ERROR", 5, "bad packet"),
	FLAG("PQ_UTCL1_ERROR", 8, "ring not mapped"),
	FLAG("IB_UTCL1_ERROR", 9, "indirect buffer not mapped"),
	FLAG("EOP_UTCL1_ERROR", 10, "end-of-pipe buffer not mapped"),
	FLAG("IQ_UTCL1_ERROR", 11, "an address of the IQ unit not mapped"),
	FLAG("RRPT_UTCL1_ERROR", 12, "read index not mapped"),
	FLAG("WPP_UTCL1_ERROR", 13, "write index not mapped"),
	FLAG("SEM_UTCL1_ERROR", 14, "semaphore not mapped"),
	FLAG("DMA_SRC_UTCL1_ERROR", 15, "source of a copy not mapped"),
	FLAG("DMA_DST_UTCL1_ERROR", 16, "target of a copy not mapped"),
	FLAG("SR_UTCL1_ERROR", 17, "save area not mapped"),
	FLAG("QU_UTCL1_ERROR", 18, "an address of the QU unit not mapped"),
	FLAG("TC_UTCL1_ERROR", 19, "an address of the texture cache not mapped"),
};

static const struct reg_field eop_control[] = {
	FIELD("EOP_SIZE", 0, 6, POWER, 3, "of the buffer for end-of-pipe events, if it has one"),
};
// Shader arrays are called SH up to gfx9; from gfx10 on a bit is a pair of CUs (WGP).
static const struct reg_field cu_mask9[] = {
	FIELD("SH0_CU_EN", 0, 16, ONES, 0, "CUs the queue may use"),
	FIELD("SH1_CU_EN", 16, 16, ONES, 0, "CUs the queue may use"),
};
static const struct reg_field cu_mask10[] = {
	FIELD("SA0_CU_EN", 0, 16, ONES, 0, "bits of the CU mask that are set"),
	FIELD("SA1_CU_EN", 16, 16, ONES, 0, "bits of the CU mask that are set"),
};

#define R(dw, gens, name, fields)               \
	{                                       \
		REG(name, fields), (dw), (gens) \
	}
// Rows of adjacent dwords: two halves of a number, three dimensions, four registers alike.
#define PAIR(dw, gens, name, low, high) \
	R(dw, gens, name "_lo", low), R((dw) + 1, gens, name "_hi", high)
#define XYZ(dw, gens, name, fields)                                           \
	R(dw, gens, name "_x", fields), R((dw) + 1, gens, name "_y", fields), \
		R((dw) + 2, gens, name "_z", fields)
#define R4(dw, gens, name, a, b, c, d, fields)                          \
	R(dw, gens, name a, fields), R((dw) + 1, gens, name b, fields), \
		R((dw) + 2, gens, name c, fields), R((dw) + 3, gens, name d, fields)
// Two rows for one register, up to gfx9 and from gfx10 on, where its fields differ.
#define BOTH(dw, name, fields) R(dw, G8 | G9, name, fields##9), R(dw, G10UP, name, fields##10)

// Rows with one dword in common have different generations.
static const struct {
	struct reg reg;
	uint16_t dw;   // dword of the MQD
	uint16_t gens; // bit per enum gfx_gen that has the register by this name
} compute_rows[] = {
	R(0, ALL, "header", hex),
	R(1, ALL, "compute_dispatch_initiator", hex),
	XYZ(2, ALL, "compute_dim", number),
	XYZ(5, ALL, "compute_start", number),
	XYZ(8, ALL, "compute_num_thread", number),
	R(11, ALL, "compute_pipelinestat_enable", flag),
	PAIR(13, ALL, "compute_pgm", addr256_lo, addr256_hi),
	PAIR(15, TO10, "compute_tba", addr256_lo, addr256_hi),
	PAIR(15, G11UP, "compute_dispatch_pkt_addr", addr_lo, addr_hi),
	PAIR(17, TO10, "compute_tma", addr256_lo, addr256_hi),
	PAIR(17, G11UP, "compute_dispatch_scratch_base", addr256_lo, addr256_hi),
	R(19, ALL, "compute_pgm_rsrc1", hex),
	R(20, ALL, "compute_pgm_rsrc2", hex),
	R(21, ALL, "compute_vmid", number),
	R(22, ALL, "compute_resource_limits", hex),
	BOTH(23, "compute_static_thread_mgmt_se0", cu_mask),
	BOTH(24, "compute_static_thread_mgmt_se1", cu_mask),
	R(25, ALL, "compute_tmpring_size", hex),
	BOTH(26, "compute_static_thread_mgmt_se2", cu_mask),
	BOTH(27, "compute_static_thread_mgmt_se3", cu_mask),
	XYZ(28, ALL, "compute_restart", number),
	R(33, ALL, "compute_dispatch_id", number),
	R(34, ALL, "compute_threadgroup_id", number),
	R(35, TO10, "compute_relaunch", hex),
	R4(37, G11UP, "compute_user_accum_", "0", "1", "2", "3", hex),
	R4(39, ONLY9, "compute_static_thread_mgmt_", "se4", "se5", "se6", "se7", cu_mask9),
	R(39, G940, "compute_current_logic_xcc_id", xcc_id),
	R(40, G940, "compute_restart_cg_tg_id", number),
	R(41, G940, "compute_tg_chunk_size", number),
	R(42, G940, "compute_restore_tg_chunk_size", number),
	R4(44, G11UP, "compute_static_thread_mgmt_", "se4", "se5", "se6", "se7", cu_mask10),
	R(49, G11UP, "compute_relaunch", hex),
	R(59, G12, "compute_static_thread_mgmt_se8", cu_mask10),
	R4(65, ALL, "compute_user_data_", "0", "1", "2", "3", hex),
	R4(69, ALL, "compute_user_data_", "4", "5", "6", "7", hex),
	R4(73, ALL, "compute_user_data_", "8", "9", "10", "11", hex),
	R4(77, ALL, "compute_user_data_", "12", "13", "14", "15", hex),
	PAIR(88, ALL, "cp_mqd_connect_start_time", hex, hex),
	PAIR(90, ALL, "cp_mqd_connect_end_time", hex, hex),
	R(93, ALL, "cp_mqd_connect_end_pq_rptr", dwords),
	R(94, ALL, "cp_mqd_connect_end_pq_wptr", dwords),
	PAIR(96, G9UP, "cp_mqd_readindex", read_index, read_index),
	PAIR(98, ALL, "cp_mqd_save_start_time", hex, hex),
	PAIR(100, ALL, "cp_mqd_save_end_time", hex, hex),
	PAIR(102, ALL, "cp_mqd_restore_start_time", hex, hex),
	PAIR(104, ALL, "cp_mqd_restore_end_time", hex, hex),
	R(106, ALL, "disable_queue", hex),
	PAIR(128, ALL, "cp_mqd_base_addr", mqd_base_lo, mqd_base_hi),
	R(130, ALL, "cp_hqd_active", active),
	R(131, ALL, "cp_hqd_vmid", vmid),
	R(132, ALL, "cp_hqd_persistent_state", persistent_state),
	R(133, ALL, "cp_hqd_pipe_priority", pipe_priority),
	R(134, ALL, "cp_hqd_queue_priority", queue_priority),
	R(135, ALL, "cp_hqd_quantum", quantum),
	PAIR(136, ALL, "cp_hqd_pq_base", ring_base_lo, ring_base_hi),
	R(138, ALL, "cp_hqd_pq_rptr", pq_rptr),
	PAIR(139, ALL, "cp_hqd_pq_rptr_report_addr", rptr_report_lo, rptr_report_hi),
	PAIR(141, ALL, "cp_hqd_pq_wptr_poll_addr", wptr_poll_lo, wptr_poll_hi),
	R(143, ALL, "cp_hqd_pq_doorbell_control", doorbell),
	R(144, G8, "cp_hqd_pq_wptr", dwords),
	R(145, G8, "cp_hqd_pq_control", pq_control8),
	R(145, G9, "cp_hqd_pq_control", pq_control9),
	R(145, G10UP, "cp_hqd_pq_control", pq_control10),
	PAIR(146, ALL, "cp_hqd_ib_base_addr", addr_lo, addr_hi),
	R(148, ALL, "cp_hqd_ib_rptr", dwords),
	R(149, ALL, "cp_hqd_ib_control", hex),
	R(150, ALL, "cp_hqd_iq_timer", hex),
	R(151, ALL, "cp_hqd_iq_rptr", number),
	BOTH(152, "cp_hqd_dequeue_request", dequeue),
	R(153, ALL, "cp_hqd_dma_offload", hex),
	R(154, BUT12, "cp_hqd_sema_cmd", hex),
	R(155, ALL, "cp_hqd_msg_type", hex),
	PAIR(156, ALL, "cp_hqd_atomic0_preop", hex, hex),
	PAIR(158, ALL, "cp_hqd_atomic1_preop", hex, hex),
	R(160, G8 | G9, "cp_hqd_hq_status0", hq_status9),
	R(160, G10, "cp_hqd_hq_scheduler0", hq_status9),
	R(160, G11UP, "cp_hqd_hq_status0", hq_status11),
	R(161, G8 | G9 | G11UP, "cp_hqd_hq_control0", hex),
	R(161, G10, "cp_hqd_hq_scheduler1", hex),
	R(162, ALL, "cp_mqd_control", hex),
	R(163, ALL, "cp_hqd_hq_status1", hex),
	R(164, ALL, "cp_hqd_hq_control1", hex),
	PAIR(165, ALL, "cp_hqd_eop_base_addr", eop_base_lo, eop_base_hi),
	R(167, ALL, "cp_hqd_eop_control", eop_control),
	R(168, ALL, "cp_hqd_eop_rptr", hex),
	R(169, ALL, "cp_hqd_eop_wptr", hex),
	R(170, ALL, "cp_hqd_eop_done_events", hex),
	PAIR(171, ALL, "cp_hqd_ctx_save_base_addr", ctx_base_lo, ctx_base_hi),
	R(173, ALL, "cp_hqd_ctx_save_control", hex),
	R(174, ALL, "cp_hqd_cntl_stack_offset", stack_offset),
	R(175, ALL, "cp_hqd_cntl_stack_size", stack_size),
	R(176, ALL, "cp_hqd_wg_state_offset", wave_offset),
	R(177, ALL, "cp_hqd_ctx_save_size", ctx_size),
	R(178, BUT12, "cp_hqd_gds_resource_state", hex),
	R(179, ALL, "cp_hqd_error", error),
	R(180, ALL, "cp_hqd_eop_wptr_mem", hex),
	R(181, G8, "cp_hqd_eop_dones", hex),
	R(181, G9UP, "cp_hqd_aql_control", aql_control),
	PAIR(182, G9UP, "cp_hqd_pq_wptr", pq_wptr, pq_wptr),
	R(184, G940, "cp_hqd_aql_control_1", hex),
	R(184, G10, "cp_hqd_suspend_cntl_stack_offset", bytes),
	R(185, G940, "cp_hqd_aql_dispatch_id", number),
	R(185, G10, "cp_hqd_suspend_cntl_stack_dw_cnt", number),
	R(186, G10, "cp_hqd_suspend_wg_state_offset", bytes),
	R(225, G940, "pm4_target_xcc_in_xcp", number),
	R(226, G940, "cp_mqd_stride_size", mqd_stride),
};

const struct reg *reg_compute(enum gfx_gen gen, unsigned dw)
{
	static const struct reg *found[GFX_GENS][REG_MQD_DWORDS]; // rows by generation and dword
	static bool made;
	for (size_t i = 0; !made && i < COUNT(compute_rows); i++)
		for (unsigned k = 0; k < GFX_GENS; k++)
			if (compute_rows[i].gens & REG_GEN(k))
				found[k][compute_rows[i].dw] = &compute_rows[i].reg;
	made = true;
	return dw < REG_MQD_DWORDS ? found[gen][dw] : NULL;
}

char *reg_error_text(char text[REG_ERROR_TEXT], uint32_t word)
{
	size_t len = 0;
	uint32_t unnamed = word;
	snprintf(text, REG_ERROR_TEXT, "none");
	for (size_t i = 0; i < COUNT(error) && len < REG_ERROR_TEXT; i++) {
		uint32_t bits = reg_field_bits(&error[i], word);
		unnamed &= ~(bits << error[i].lsb);
		if (bits)
			len += (size_t)snprintf(text + len, REG_ERROR_TEXT - len, "%s%s",
						len ? " " : "", error[i].name);
	}
	if (unnamed && len < REG_ERROR_TEXT)
		snprintf(text + len, REG_ERROR_TEXT - len, "%s0x%x", len ? " " : "", unnamed);
	return text;
}

// --- SDMA MQDs, and where hqds shows the same registers ---

static const struct reg_field flagged_lo[] = {
	FIELD("", 1, 31, ADDR_LOW, 1, "where the read index is written to")};
#define RB_CNTL                                                      \
	FLAG("RB_ENABLE", 0, "stays set in a slot after an unmap"),  \
		FIELD("RB_SIZE", 1, 5, POWER, 2, "of the ring"),     \
		FLAG("RPTR_WRITEBACK_ENABLE", 12, ""),               \
		FIELD("RPTR_WRITEBACK_TIMER", 16, 5, NUMBER, 0, ""), \
		FIELD("RB_VMID", 24, 4, NUMBER, 0, "set in memory by an unmap")
static const struct reg_field rb_cntl[] = {RB_CNTL};
static const struct reg_field rb_cntl11[] = {RB_CNTL, FLAG("F32_WPTR_POLL_ENABLE", 11, "")};
static const struct reg_field rb_cntl12[] = {RB_CNTL, FLAG("MCU_WPTR_POLL_ENABLE", 11, "")};
#define CONTEXT_STATUS                                                        \
	FLAG("SELECTED", 0, ""), FLAG("IDLE", 2, ""), FLAG("EXPIRED", 3, ""), \
		FIELD("EXCEPTION", 4, 3, HEX, 0, ""), FLAG("CTXSW_ABLE", 7, "")
static const struct reg_field context_status[] = {CONTEXT_STATUS, FLAG("CTXSW_READY", 8, ""),
						  FLAG("PREEMPTED", 9, ""),
						  FLAG("PREEMPT_DISABLE", 10, "")};
static const struct reg_field context_status11[] = {CONTEXT_STATUS,
						    FLAG("PREEMPT_DISABLE", 10, "")};
static const struct reg_field context_status12[] = {CONTEXT_STATUS, FLAG("VF_STATUS", 8, ""),
						    FLAG("PRIV_EXCEPTION", 9, ""),
						    FLAG("PREEMPT_DISABLE", 10, "")};
static const struct reg_field sdma_doorbell[] = {
	FLAG("ENABLE", 28, "the slot is in use"),
	FLAG("CAPTURED", 30, "rung"),
};
static const struct reg_field sdma_doorbell8[] = {
	FIELD("OFFSET", 0, 21, BYTES, 2, "in the doorbell BAR"),
	FLAG("ENABLE", 28, "the slot is in use"),
	FLAG("CAPTURED", 30, "rung"),
};
static const struct reg_field sdma_doorbell_offset[] = {
	FIELD("OFFSET", 2, 26, BYTES, 2, "in the doorbell BAR")};

// A row of sdma_rows[]: the register's MQD dword by generation; `gfx9`: in GFX9 and GFX940.
#define S(name, fields, gfx8, gfx9, gfx10, gfx11, gfx12)          \
	{                                                         \
		REG("sdmax_rlcx_" name, fields),                  \
		{                                                 \
			NO, gfx8, gfx9, gfx9, gfx10, gfx11, gfx12 \
		}                                                 \
	}

// From SLOT on: registers of slots that no MQD has, numbered as dwords beyond any SDMA MQD's end.
// The runs below tell where in a slot they are.
enum { SLOT = 200, NO = 255 };

static const struct {
	struct reg reg;
	uint8_t dw[GFX_GENS]; // NO: this generation has no register of this name
} sdma_rows[] = {
	S("rb_cntl", rb_cntl11, NO, NO, NO, 0, NO),
	S("rb_cntl", rb_cntl12, NO, NO, NO, NO, 0),
	S("rb_cntl", rb_cntl, 0, 0, 0, NO, NO),
	S("rb_base", addr256_lo, 1, 1, 1, 1, 1),
	S("rb_base_hi", addr256_hi, 2, 2, 2, 2, 2),
	S("rb_rptr", bytes, 3, 3, 3, 3, 3),
	S("rb_rptr_hi", bytes, NO, 4, 4, 4, 4),
	S("rb_wptr", bytes, 4, 5, 5, 5, 5),
	S("rb_wptr_hi", bytes, NO, 6, 6, 6, 6),
	S("rb_wptr_poll_cntl", hex, 5, 7, 7, NO, NO),
	S("rb_rptr_addr_hi", addr_hi, 8, 8, 8, 7, 8),
	S("rb_rptr_addr_lo", flagged_lo, 9, 9, 9, 8, 7),
	S("ib_cntl", hex, 10, 10, 10, 9, 9),
	S("ib_rptr", number, 11, 11, 11, 10, 10),
	S("ib_offset", number, 12, 12, 12, 11, 11),
	S("ib_base_lo", addr_lo, 13, 13, 13, 12, 12),
	S("ib_base_hi", addr_hi, 14, 14, 14, 13, 13),
	S("ib_size", number, 15, 15, 15, 14, 14),
	S("skip_cntl", hex, 16, 16, 16, 15, NO),
	S("context_status", context_status, 17, 17, 17, NO, NO),
	S("context_status", context_status11, NO, NO, NO, 16, NO),
	S("context_status", context_status12, NO, NO, NO, NO, SLOT + 1),
	S("doorbell", sdma_doorbell8, 18, NO, NO, NO, NO),
	S("doorbell", sdma_doorbell, NO, 18, 18, 17, 15),
	S("virtual_addr", hex, 19, NO, NO, NO, NO),
	S("status", hex, NO, 19, 19, NO, NO),
	S("ape1_cntl", hex, 20, NO, NO, NO, NO),
	S("doorbell_log", hex, 21, 20, 20, 18, 16),
	S("watermark", hex, SLOT, 21, 21, NO, NO),
	S("sched_cntl", hex, NO, NO, NO, 22, 20),
	S("doorbell_offset", sdma_doorbell_offset, NO, 22, 22, 19, 17),
	S("csa_addr_lo", addr_lo, SLOT + 1, 23, 23, 20, 18),
	S("csa_addr_hi", addr_hi, SLOT + 2, 24, 24, 21, 19),
	S("ib_sub_remain", number, SLOT + 3, 25, 25, 23, 21),
	S("preempt", hex, SLOT + 4, 26, 26, 24, 22),
	S("dummy_reg", hex, SLOT + 5, 27, 27, 25, 23),
	S("mcu_dbg0", hex, NO, NO, NO, NO, 28),
	S("rb_wptr_poll_addr_hi", addr_hi, 6, 28, 28, 26, 25),
	S("mcu_dbg1", hex, NO, NO, NO, NO, 29),
	S("rb_wptr_poll_addr_lo", addr_lo, 7, 29, 29, 27, 24),
	S("rb_preempt", hex, NO, NO, NO, 30, NO),
	S("context_switch_status", hex, NO, NO, NO, NO, 30),
	S("rb_aql_cntl", hex, NO, 30, 30, 28, 26),
	S("minor_ptr_update", hex, NO, 31, 31, 29, 27),
	S("midcmd_data0", hex, SLOT + 6, 32, 32, 31, 32),
	S("midcmd_data1", hex, SLOT + 7, 33, 33, 32, 33),
	S("midcmd_data2", hex, SLOT + 8, 34, 34, 33, 34),
	S("midcmd_data3", hex, SLOT + 9, 35, 35, 34, 35),
	S("midcmd_data4", hex, SLOT + 10, 36, 36, 35, 36),
	S("midcmd_data5", hex, SLOT + 11, 37, 37, 36, 37),
	S("midcmd_data6", hex, NO, 38, 38, 37, 38),
	S("midcmd_data7", hex, NO, 39, 39, 38, 39),
	S("midcmd_data8", hex, NO, 40, 40, 39, 40),
	S("midcmd_cntl", hex, SLOT + 12, 41, 41, 42, 31),
	S("wait_unsatisfied_thd", hex, NO, NO, NO, NO, 43),
	S("mqd_base_addr_lo", addr_lo, NO, NO, NO, NO, 44),
	S("mqd_base_addr_hi", addr_hi, NO, NO, NO, NO, 45),
	S("mqd_control", hex, NO, NO, NO, NO, 46),
	S("sdma_engine_id", number, 126, 126, 128, 126, 126),
	S("sdma_queue_id", number, 127, 127, 129, 127, 127),
	S("dequeue_request", hex, NO, NO, NO, NO, SLOT),
	S("midcmd_data9", hex, NO, SLOT, SLOT, 40, 41),
	S("midcmd_data10", hex, NO, SLOT + 1, SLOT + 1, 41, 42),
};

const struct reg *reg_sdma(enum gfx_gen gen, unsigned dw)
{
	for (size_t i = 0; dw < NO && i < COUNT(sdma_rows); i++)
		if (sdma_rows[i].dw[gen] == dw)
			return &sdma_rows[i].reg;
	return NULL;
}

int reg_sdma_dword(enum gfx_gen gen, const char *name)
{
	for (size_t i = 0; i < COUNT(sdma_rows); i++)
		if (sdma_rows[i].dw[gen] != NO && strcmp(sdma_rows[i].reg.name, name) == 0)
			return sdma_rows[i].dw[gen];
	return -1;
}

// A run of registers that hqds shows of an SDMA slot: the image of MQD dwords from `dw` on.
struct run {
	uint8_t offset, count, dw;
};

// The last run has 12 registers from gfx10.3 and gfx942 on and 10 before: the MQD has dwords for
// MIDCMD_DATA0 to 8 and MIDCMD_CNTL, which always comes last (decode.c).
static const struct run runs9[] = {{0, 19, 0},    {0x28, 6, 19},   {0x2f, 7, 25},
				   {0x40, 9, 32}, {0x49, 2, SLOT}, {0}};
static const struct run runs11[] = {{0, 7, 0},      {8, 11, 7},     {0x29, 1, 18},
				    {0x2b, 12, 19}, {0x40, 12, 31}, {0}};

// Runs from the offsets of mmSDMA0_RLC0_* (oss_3_0_d.h), regSDMA0_QUEUE0_* (gc_12_0_0_offset.h).
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
_Static_assert(COUNT(runs) == GFX_GENS, "registers of each generation");

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
