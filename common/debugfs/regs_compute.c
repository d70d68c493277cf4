// Dwords of compute MQDs, which from 128 to 183 are the HQD registers; see regs.h. Facts:
// [debugfs.mqd-image], [debugfs.mqd-compute], [debugfs.hqd-error].
#include "common/debugfs/regs_priv.h"

#include <stdio.h>

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
static const char *const dequeue_words[] = {"none", "drain the pipe", "reset waves", "save waves",
					    NULL};
static const char *const pipe_prio[] = {"low", "medium", "high", NULL};

WHOLE(dwords, REG_DWORDS, 0, NULL);
static const struct reg_field flag[] = {{"", 0, 1, REG_FLAG, 0, NULL, NULL}};

WHOLE_PAIR(mqd_base, 0, "of this MQD, on this XCC");
WHOLE_PAIR(ring_base, 8, "of the ring in the process");
WHOLE_PAIR(rptr_report, 0, "where the read index is written to");
WHOLE_PAIR(wptr_poll, 0, "where the write index is read from");
WHOLE_PAIR(eop_base, 8, "of the buffer for end-of-pipe events");
WHOLE_PAIR(ctx_base, 0, "of the area to save waves in, of this XCC");
WHOLE(pq_rptr, REG_DWORDS, 0, "read pointer inside the ring");
WHOLE(pq_wptr, REG_DWORDS, 0, "written in all");
WHOLE(read_index, REG_NUMBER, 0, "AQL packets consumed");
WHOLE(stack_offset, REG_BYTES, 0, "where the used part of the control stack begins: it grows down");
WHOLE(stack_size, REG_BYTES, 0, "of the control stack in the save area");
WHOLE(wave_offset, REG_BYTES, 0, "end of saved waves: beyond the stack when some are parked");
WHOLE(ctx_size, REG_BYTES, 0, "of the save area of one XCC");
WHOLE(aql_control, REG_HEX, 0, "1: AQL queue, 0: PM4");
WHOLE(xcc_id, REG_NUMBER, 0, "turn of this XCC when work groups are dealt out");
WHOLE(mqd_stride, REG_BYTES, 0, "from the MQD of one XCC to the next");

static const struct reg_field active[] = {
	{"ACTIVE", 0, 1, REG_FLAG, 0, NULL, "the queue is in this slot"},
	{"BUSY_GATE", 1, 1, REG_FLAG, 0, NULL, NULL},
};
static const struct reg_field vmid[] = {
	{"VMID", 0, 4, REG_NUMBER, 0, NULL, "address space on the GPU, given anew at each map"},
	{"IB_VMID", 8, 4, REG_NUMBER, 0, NULL, NULL},
	{"VQID", 16, 10, REG_NUMBER, 0, NULL, NULL},
};
static const struct reg_field persistent_state[] = {
	{"PRELOAD_REQ", 0, 1, REG_FLAG, 0, NULL, NULL},
	{"PRELOAD_SIZE", 8, 10, REG_NUMBER, 0, NULL, NULL},
	{"RESTORE_ACTIVE", 28, 1, REG_FLAG, 0, NULL, "waves are being restored"},
	{"RELAUNCH_WAVES", 29, 1, REG_FLAG, 0, NULL, NULL},
	{"QSWITCH_MODE", 30, 1, REG_FLAG, 0, NULL,
	 "waves are saved when the queue is taken off (CWSR)"},
	{"DISP_ACTIVE", 31, 1, REG_FLAG, 0, NULL, "a dispatch is running"},
};
static const struct reg_field pipe_priority[] = {
	{"PIPE_PRIORITY", 0, 2, REG_WORDS, 0, pipe_prio, NULL}};
static const struct reg_field queue_priority[] = {
	{"PRIORITY_LEVEL", 0, 4, REG_NUMBER, 0, NULL, "0 to 15"}};
static const struct reg_field quantum[] = {
	{"QUANTUM_EN", 0, 1, REG_FLAG, 0, NULL, NULL},
	{"QUANTUM_SCALE", 4, 1, REG_NUMBER, 0, NULL, NULL},
	{"QUANTUM_DURATION", 8, 6, REG_NUMBER, 0, NULL, NULL},
	{"QUANTUM_ACTIVE", 31, 1, REG_FLAG, 0, NULL, NULL},
};
static const struct reg_field doorbell[] = {
	{"BIF_DROP", 1, 1, REG_FLAG, 0, NULL, "AQL queue"},
	{"OFFSET", 2, 26, REG_BYTES, 2, NULL, "in the doorbell BAR"},
	{"SOURCE", 28, 1, REG_FLAG, 0, NULL, NULL},
	{"SCHD_HIT", 29, 1, REG_FLAG, 0, NULL, NULL},
	{"EN", 30, 1, REG_FLAG, 0, NULL, NULL},
	{"HIT", 31, 1, REG_FLAG, 0, NULL, "rung since it was mapped"},
};
#define PQ_CONTROL_COMMON                                                       \
	{"QUEUE_SIZE", 0, 6, REG_POWER, 3, NULL, "of the ring"},                \
		{"WPTR_CARRY", 6, 1, REG_FLAG, 0, NULL, NULL},                  \
		{"RPTR_CARRY", 7, 1, REG_FLAG, 0, NULL, NULL},                  \
		{"RPTR_BLOCK_SIZE", 8, 6, REG_NUMBER, 0, NULL, NULL},           \
		{"QUEUE_FULL_EN", 14, 1, REG_FLAG, 0, NULL, NULL},              \
		{"PQ_EMPTY", 15, 1, REG_FLAG, 0, NULL, "the ring was drained"}, \
		{"MIN_AVAIL_SIZE", 20, 2, REG_NUMBER, 0, NULL, NULL},           \
		{"TMZ", 22, 1, REG_FLAG, 0, NULL, NULL},                        \
		{"EXE_DISABLE", 23, 1, REG_FLAG, 0, NULL, NULL},                \
		{"NO_UPDATE_RPTR", 27, 1, REG_FLAG, 0, NULL, NULL},             \
		{"UNORD_DISPATCH", 28, 1, REG_FLAG, 0, NULL, NULL},             \
		{"PRIV_STATE", 30, 1, REG_FLAG, 0, NULL, NULL},                 \
	{                                                                       \
		"KMD_QUEUE", 31, 1, REG_FLAG, 0, NULL, "the driver's own queue" \
	}
static const struct reg_field pq_control9[] = {
	PQ_CONTROL_COMMON,
	{"WPP_CLAMP_EN", 16, 1, REG_FLAG, 0, NULL, NULL},
	{"CACHE_POLICY", 24, 1, REG_NUMBER, 0, NULL, NULL}, // bit 25 is SLOT_BASED_WPTR's here
	{"SLOT_BASED_WPTR", 25, 2, REG_NUMBER, 0, NULL, NULL},
};
static const struct reg_field pq_control10[] = {
	PQ_CONTROL_COMMON,
	{"SLOT_BASED_WPTR", 18, 2, REG_NUMBER, 0, NULL, NULL},
	{"CACHE_POLICY", 24, 2, REG_NUMBER, 0, NULL, NULL},
};
#define DEQUEUE_COMMON                                                 \
	{"DEQUEUE_INT", 4, 1, REG_FLAG, 0, NULL, "interrupt pending"}, \
		{"IQ_REQ_PEND", 8, 1, REG_FLAG, 0, NULL, "interrupt"}, \
		{"DEQUEUE_REQ_EN", 9, 1, REG_FLAG, 0, NULL, NULL},     \
	{                                                              \
		"IQ_REQ_PEND_EN", 10, 1, REG_FLAG, 0, NULL, NULL       \
	}
static const struct reg_field dequeue9[] = {
	{"DEQUEUE_REQ", 0, 3, REG_WORDS, 0, dequeue_words, NULL}, DEQUEUE_COMMON};
static const struct reg_field dequeue10[] = {
	{"DEQUEUE_REQ", 0, 4, REG_WORDS, 0, dequeue_words, NULL}, DEQUEUE_COMMON};
static const struct reg_field hq_status9[] = {
	{"DEQUEUE_STATUS", 0, 2, REG_NUMBER, 0, NULL,
	 "of the last request to leave the slot; 2 was seen after waves were saved"},
	{"DEQUEUE_RETRY_CNT", 2, 2, REG_NUMBER, 0, NULL, NULL},
	{"QUEUE_IDLE", 30, 1, REG_FLAG, 0, NULL, "nothing to do, no wave running"},
};
static const struct reg_field hq_status11[] = {
	{"CWSR", 0, 1, REG_FLAG, 0, NULL, NULL},
	{"SAVE_STATUS", 1, 1, REG_FLAG, 0, NULL, NULL},
	{"SLOT_CONNECTED", 15, 1, REG_FLAG, 0, NULL, NULL},
	{"PCIE_ATOMICS", 29, 1, REG_FLAG, 0, NULL, NULL},
	{"QUEUE_IDLE", 30, 1, REG_FLAG, 0, NULL, "nothing to do, no wave running"},
};
static const struct reg_field error[] = {
	{"EDC_ERROR", 0, 4, REG_HEX, 0, NULL, "memory check"},
	{"SUA_ERROR", 4, 1, REG_FLAG, 0, NULL, "SUA violation, as the driver's interrupts name it"},
	{"AQL_ERROR", 5, 1, REG_FLAG, 0, NULL, "bad packet"},
	{"PQ_UTCL1_ERROR", 8, 1, REG_FLAG, 0, NULL, "ring not mapped"},
	{"IB_UTCL1_ERROR", 9, 1, REG_FLAG, 0, NULL, "indirect buffer not mapped"},
	{"EOP_UTCL1_ERROR", 10, 1, REG_FLAG, 0, NULL, "end-of-pipe buffer not mapped"},
	{"IQ_UTCL1_ERROR", 11, 1, REG_FLAG, 0, NULL, "an address of the IQ unit not mapped"},
	{"RRPT_UTCL1_ERROR", 12, 1, REG_FLAG, 0, NULL, "read index not mapped"},
	{"WPP_UTCL1_ERROR", 13, 1, REG_FLAG, 0, NULL, "write index not mapped"},
	{"SEM_UTCL1_ERROR", 14, 1, REG_FLAG, 0, NULL, "semaphore not mapped"},
	{"DMA_SRC_UTCL1_ERROR", 15, 1, REG_FLAG, 0, NULL, "source of a copy not mapped"},
	{"DMA_DST_UTCL1_ERROR", 16, 1, REG_FLAG, 0, NULL, "target of a copy not mapped"},
	{"SR_UTCL1_ERROR", 17, 1, REG_FLAG, 0, NULL, "save area not mapped"},
	{"QU_UTCL1_ERROR", 18, 1, REG_FLAG, 0, NULL, "an address of the QU unit not mapped"},
	{"TC_UTCL1_ERROR", 19, 1, REG_FLAG, 0, NULL, "an address of the texture cache not mapped"},
};

static const struct reg_field eop_control[] = {
	{"EOP_SIZE", 0, 6, REG_POWER, 3, NULL,
	 "of the buffer for end-of-pipe events, if it has one"},
};
// Shader arrays are called SH up to gfx9; from gfx10 on a bit is a pair of CUs (WGP).
static const struct reg_field cu_mask9[] = {
	{"SH0_CU_EN", 0, 16, REG_ONES, 0, NULL, "CUs the queue may use"},
	{"SH1_CU_EN", 16, 16, REG_ONES, 0, NULL, "CUs the queue may use"},
};
static const struct reg_field cu_mask10[] = {
	{"SA0_CU_EN", 0, 16, REG_ONES, 0, NULL, "bits of the CU mask that are set"},
	{"SA1_CU_EN", 16, 16, REG_ONES, 0, NULL, "bits of the CU mask that are set"},
};

#define R(dw, gens, name, fields)               \
	{                                       \
		REG(name, fields), (dw), (gens) \
	}
// Rows of dwords that follow each other: halves of a number, sizes in three dimensions, four alike.
#define PAIR(dw, gens, name, low, high) \
	R(dw, gens, name "_lo", low), R((dw) + 1, gens, name "_hi", high)
#define XYZ(dw, gens, name, fields)                                           \
	R(dw, gens, name "_x", fields), R((dw) + 1, gens, name "_y", fields), \
		R((dw) + 2, gens, name "_z", fields)
#define R4(dw, gens, name, a, b, c, d, fields)                          \
	R(dw, gens, name a, fields), R((dw) + 1, gens, name b, fields), \
		R((dw) + 2, gens, name c, fields), R((dw) + 3, gens, name d, fields)
// One row up to gfx9 and one from gfx10 on, where the fields differ.
#define BOTH(dw, name, fields) R(dw, G8 | G9, name, fields##9), R(dw, G10UP, name, fields##10)

// Sorted by dword. Several rows may share a dword; their generations do not overlap.
static const struct {
	struct reg reg;
	uint16_t dw;   // of the MQD
	uint16_t gens; // bit per enum gfx_gen that has it by this name
} rows[] = {
	R(0, ALL, "header", hex),
	R(1, ALL, "compute_dispatch_initiator", hex),
	XYZ(2, ALL, "compute_dim", number),
	XYZ(5, ALL, "compute_start", number),
	XYZ(8, ALL, "compute_num_thread", number),
	R(11, ALL, "compute_pipelinestat_enable", flag),
	PAIR(13, ALL, "compute_pgm", addr256_lo, addr256_hi),
	R(15, TO10 | G12, "compute_tba_lo", addr256_lo),
	R(15, G11, "compute_dispatch_pkt_addr_lo", addr_lo),
	R(16, TO10 | G12, "compute_tba_hi", addr256_hi),
	R(16, G11, "compute_dispatch_pkt_addr_hi", addr_hi),
	R(17, TO10 | G12, "compute_tma_lo", addr256_lo),
	R(17, G11, "compute_dispatch_scratch_base_lo", addr256_lo),
	R(18, TO10 | G12, "compute_tma_hi", addr256_hi),
	R(18, G11, "compute_dispatch_scratch_base_hi", addr256_hi),
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
	R(39, ONLY9, "compute_static_thread_mgmt_se4", cu_mask9),
	R(39, G940, "compute_current_logic_xcc_id", xcc_id),
	R(39, G11UP, "compute_user_accum_0", hex),
	R(40, ONLY9, "compute_static_thread_mgmt_se5", cu_mask9),
	R(40, G940, "compute_restart_cg_tg_id", number),
	R(40, G11UP, "compute_user_accum_1", hex),
	R(41, ONLY9, "compute_static_thread_mgmt_se6", cu_mask9),
	R(41, G940, "compute_tg_chunk_size", number),
	R(41, G11UP, "compute_user_accum_2", hex),
	R(42, ONLY9, "compute_static_thread_mgmt_se7", cu_mask9),
	R(42, G940, "compute_restore_tg_chunk_size", number),
	R(42, G11UP, "compute_user_accum_3", hex),
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
	BOTH(145, "cp_hqd_pq_control", pq_control),
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
	size_t lo = 0, hi = sizeof(rows) / sizeof(rows[0]);
	while (lo < hi) { // the first row of this dword
		size_t mid = (lo + hi) / 2;

		if (rows[mid].dw < dw)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < sizeof(rows) / sizeof(rows[0]) && rows[lo].dw == dw; lo++)
		if (rows[lo].gens & REG_GEN(gen))
			return &rows[lo].reg;
	return NULL;
}

char *reg_error_text(char text[REG_ERROR_TEXT], uint32_t word)
{
	size_t len = 0;
	uint32_t unnamed = word;
	snprintf(text, REG_ERROR_TEXT, "none");
	for (size_t i = 0; i < sizeof(error) / sizeof(error[0]) && len < REG_ERROR_TEXT; i++) {
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
