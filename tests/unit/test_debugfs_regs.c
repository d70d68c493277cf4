// Register tables: each asserted name, place and meaning is in [debugfs.mqd-compute],
// [debugfs.mqd-sdma] or [debugfs.sdma-slot]; words are those of [debugfs.examples].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/debugfs/decode.h"

static const struct reg_field *field(const struct reg *r, const char *name)
{
	assert_non_null(r);
	for (unsigned i = 0; i < r->nfields; i++)
		if (strcmp(r->fields[i].name, name) == 0)
			return &r->fields[i];
	fail_msg("%s has no field %s", r->name, name);
	return NULL;
}

static void means(const struct reg *r, const char *name, uint32_t word, const char *text)
{
	char got[48];
	const struct reg_field *f = field(r, name);
	assert_string_equal(reg_field_text(got, f, reg_field_bits(f, word)), text);
}

// Bits of [debugfs.mqd-compute]; those of the error register [debugfs.hqd-error].
static void compute_fields(void **state)
{
	(void)state;
	means(reg_compute(GFX9, 145), "QUEUE_SIZE", 0x1c014511, "1M");
	means(reg_compute(GFX9, 145), "QUEUE_SIZE", 0x14014509, "4K");
	// 2^(bits + 3) bytes, as a power where the text of sizes ends. 56, 57 and 63 are no real
	// size.
	means(reg_compute(GFX9, 145), "QUEUE_SIZE", 56, "512P");
	means(reg_compute(GFX9, 145), "QUEUE_SIZE", 57, "2^60");
	means(reg_compute(GFX9, 145), "QUEUE_SIZE", 63, "2^66");
	means(reg_compute(GFX9, 145), "PQ_EMPTY", 0x1401c511, "yes");
	means(reg_compute(GFX9, 145), "PQ_EMPTY", 0x14014511, "no");
	means(reg_compute(GFX9, 145), "SLOT_BASED_WPTR", 0x1c014511, "2");
	means(reg_compute(GFX11, 145), "SLOT_BASED_WPTR", 0x18084511, "2");
	means(reg_compute(GFX9, 143), "OFFSET", 0x60004012, "16400B"); // 0x4010
	means(reg_compute(GFX9, 143), "EN", 0x60004012, "yes");
	means(reg_compute(GFX9, 143), "HIT", 0x60004012, "no");
	means(reg_compute(GFX9, 143), "BIF_DROP", 0x60004012, "yes");
	means(reg_compute(GFX9, 133), "PIPE_PRIORITY", 1, "medium");
	means(reg_compute(GFX9, 134), "PRIORITY_LEVEL", 7, "7");
	means(reg_compute(GFX9, 131), "VMID", 0x808, "8");
	means(reg_compute(GFX9, 131), "IB_VMID", 0x808, "8");
	means(reg_compute(GFX9, 132), "QSWITCH_MODE", 0x40005301, "yes");
	means(reg_compute(GFX9, 135), "QUANTUM_DURATION", 0x111, "1");
	means(reg_compute(GFX9, 160), "QUEUE_IDLE", 0x40004002, "yes");
	means(reg_compute(GFX9, 160), "DEQUEUE_STATUS", 0x40004002, "2");
	means(reg_compute(GFX9, 177), "", 0xba6000, "11928K");
	means(reg_compute(GFX9, 130), "ACTIVE", 1, "yes");

	means(reg_compute(GFX8, 145), "QUEUE_SIZE", 0x11, "1M");
	means(reg_compute(GFX9, 11), "", 1, "yes");
	means(reg_compute(GFX9, 11), "", 2, "no");
	means(reg_compute(GFX9, 167), "EOP_SIZE", 9, "4K");
	means(reg_compute(GFX9, 23), "SH1_CU_EN", 0x80010000, "2 of 16");
	means(reg_compute(GFX9, 23), "SH0_CU_EN", 0x80010000, "0 of 16");
	means(reg_compute(GFX10, 23), "SA1_CU_EN", 0x80010000, "2 of 16");
	means(reg_compute(GFX10, 23), "SA0_CU_EN", 0x80010000, "0 of 16");
	// Units of bytes, and of 256 bytes.
	static const struct {
		unsigned dw;
		const char *text;
	} whole[] = {{128, "0x1235"}, {136, "0x123500"}, {139, "0x1235"}, {141, "0x1235"},
		     {146, "0x1235"}, {165, "0x123500"}, {171, "0x1235"}, {174, "4661B"},
		     {175, "4661B"},  {176, "4661B"},    {177, "4661B"},  {226, "4661B"}};
	for (size_t i = 0; i < COUNT(whole); i++)
		means(reg_compute(GFX940, whole[i].dw), "", 0x1235, whole[i].text);

	char text[REG_ERROR_TEXT];

	assert_string_equal(reg_error_text(text, 0), "none");
	assert_string_equal(strrchr(reg_error_text(text, UINT32_MAX), ' '), " 0xfff000c0");
	assert_string_equal(reg_error_text(text, 1 << 5 | 1 << 8), "AQL_ERROR PQ_UTCL1_ERROR");
}

static void tables_are_sound(void **state)
{
	(void)state;
	for (int gen = GFX8; gen < GFX_GENS; gen++) {
		for (unsigned dw = 0; dw < 600; dw++) {
			const struct reg *both[] = {reg_compute((enum gfx_gen)gen, dw),
						    reg_sdma((enum gfx_gen)gen, dw)};
			for (int i = 0; i < 2; i++) {
				uint32_t used = 0;
				for (unsigned k = 0; both[i] && k < both[i]->nfields; k++) {
					const struct reg_field *f = &both[i]->fields[k];
					uint32_t mask = reg_field_bits(f, UINT32_MAX) << f->lsb;
					assert_int_equal(used & mask, 0); // fields do not overlap
					used |= mask;
					// Others have no unit to be shifted by.
					if (f->unit != REG_BYTES && f->unit != REG_POWER &&
					    f->unit != REG_ADDR_LOW && f->unit != REG_ADDR_HIGH)
						assert_int_equal(f->shift, 0);
				}
			}
		}
	}
}

// Facts: [debugfs.mqd-sdma], [debugfs.sdma-slot].
static void sdma(void **state)
{
	(void)state;
	means(reg_sdma(GFX9, 0), "RB_SIZE", 0x08061024, "1M");
	means(reg_sdma(GFX9, 0), "RB_VMID", 0x08061024, "8");
	means(reg_sdma(GFX9, 0), "RB_ENABLE", 0x08061025, "yes");
	means(reg_sdma(GFX9, 0), "RPTR_WRITEBACK_ENABLE", 0x08061024, "yes");
	means(reg_sdma(GFX9, 17), "IDLE", 4, "yes");
	means(reg_sdma(GFX9, 18), "ENABLE", 0x10000000, "yes");
	means(reg_sdma(GFX9, 22), "OFFSET", 0x4850, "18512B");
	means(reg_sdma(GFX8, 18), "OFFSET", 0x1fffff, "8388604B");
	means(reg_sdma(GFX8, 18), "OFFSET", 1, "4B");
	means(reg_sdma(GFX9, 9), "", 0x80000003, "0x80000002");
	assert_string_equal(reg_sdma(GFX11, 19)->name, "sdmax_rlcx_doorbell_offset");
	assert_string_equal(reg_sdma(GFX12, 17)->name, "sdmax_rlcx_doorbell_offset");
	assert_string_equal(reg_sdma(GFX12, 7)->name, "sdmax_rlcx_rb_rptr_addr_lo");
	assert_string_equal(reg_sdma(GFX11, 7)->name, "sdmax_rlcx_rb_rptr_addr_hi");
	assert_int_equal(reg_sdma_dword(GFX10, "sdmax_rlcx_sdma_engine_id"), 128);
	assert_int_equal(reg_sdma_dword(GFX9, "sdmax_rlcx_sdma_engine_id"), 126);
	assert_int_equal(reg_sdma_dword(GFX9, "nothing"), -1);
}

// Every register of an SDMA slot, from an offset on; '-': none. Offsets are those of the kernel's
// oss_3_0_d.h, sdma0_4_0_offset.h, gc_11_0_0_offset.h and gc_12_0_0_offset.h, less that of RB_CNTL.
// The last of gfx9 and gfx10 is MIDCMD_CNTL, wherever it is (decode.c).
static void slot_registers(void **state)
{
	static const struct {
		enum gfx_gen first, last;
		unsigned offset;
		const char *names;
	} rows[] = {
		{GFX8, GFX8, 0,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_wptr rb_wptr_poll_cntl "
		 "rb_wptr_poll_addr_hi rb_wptr_poll_addr_lo rb_rptr_addr_hi "
		 "rb_rptr_addr_lo ib_cntl ib_rptr ib_offset ib_base_lo ib_base_hi "
		 "ib_size skip_cntl context_status doorbell "},
		{GFX8, GFX8, 0x27,
		 "virtual_addr ape1_cntl doorbell_log watermark - csa_addr_lo "
		 "csa_addr_hi - ib_sub_remain preempt dummy_reg "},
		{GFX8, GFX8, 0x41,
		 "midcmd_data0 midcmd_data1 midcmd_data2 midcmd_data3 midcmd_data4 "
		 "midcmd_data5 midcmd_cntl "},
		{GFX9, GFX10, 0,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_rptr_hi rb_wptr rb_wptr_hi "
		 "rb_wptr_poll_cntl rb_rptr_addr_hi rb_rptr_addr_lo ib_cntl ib_rptr "
		 "ib_offset ib_base_lo ib_base_hi ib_size skip_cntl context_status "
		 "doorbell "},
		{GFX9, GFX10, 0x28,
		 "status doorbell_log watermark doorbell_offset csa_addr_lo csa_addr_hi "
		 "- ib_sub_remain preempt dummy_reg rb_wptr_poll_addr_hi "
		 "rb_wptr_poll_addr_lo rb_aql_cntl minor_ptr_update "},
		{GFX9, GFX10, 0x40,
		 "midcmd_data0 midcmd_data1 midcmd_data2 midcmd_data3 midcmd_data4 "
		 "midcmd_data5 midcmd_data6 midcmd_data7 midcmd_data8 midcmd_data9 "
		 "midcmd_data10 "},
		{GFX11, GFX11, 0,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_rptr_hi rb_wptr rb_wptr_hi - "
		 "rb_rptr_addr_hi rb_rptr_addr_lo ib_cntl ib_rptr ib_offset ib_base_lo "
		 "ib_base_hi ib_size skip_cntl context_status doorbell "},
		{GFX11, GFX11, 0x29,
		 "doorbell_log - doorbell_offset csa_addr_lo csa_addr_hi sched_cntl "
		 "ib_sub_remain preempt dummy_reg rb_wptr_poll_addr_hi "
		 "rb_wptr_poll_addr_lo rb_aql_cntl minor_ptr_update rb_preempt "},
		{GFX11, GFX11, 0x40,
		 "midcmd_data0 midcmd_data1 midcmd_data2 midcmd_data3 midcmd_data4 "
		 "midcmd_data5 midcmd_data6 midcmd_data7 midcmd_data8 midcmd_data9 "
		 "midcmd_data10 midcmd_cntl "},
		{GFX12, GFX12, 0,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_rptr_hi rb_wptr rb_wptr_hi "
		 "rb_rptr_addr_lo rb_rptr_addr_hi ib_cntl ib_rptr ib_offset ib_base_lo "
		 "ib_base_hi ib_size doorbell doorbell_log doorbell_offset csa_addr_lo "
		 "csa_addr_hi sched_cntl ib_sub_remain preempt dummy_reg "
		 "rb_wptr_poll_addr_lo rb_wptr_poll_addr_hi rb_aql_cntl minor_ptr_update "
		 "mcu_dbg0 mcu_dbg1 context_switch_status midcmd_cntl midcmd_data0 "
		 "midcmd_data1 midcmd_data2 midcmd_data3 midcmd_data4 midcmd_data5 "
		 "midcmd_data6 midcmd_data7 midcmd_data8 midcmd_data9 midcmd_data10 "
		 "wait_unsatisfied_thd mqd_base_addr_lo mqd_base_addr_hi mqd_control "
		 "dequeue_request context_status "},
	};
	static char wanted[GFX_GENS][0x80][48];
	char name[32];
	int len;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned gen = rows[i].first; gen <= rows[i].last; gen++) {
			unsigned at = rows[i].offset;
			for (const char *s = rows[i].names; sscanf(s, "%31s%n", name, &len) == 1;
			     s += len, at++)
				if (strcmp(name, "-") != 0)
					snprintf(wanted[gen][at], 48, "sdmax_rlcx_%s", name);
		}
	for (unsigned gen = GFX_UNKNOWN; gen < GFX_GENS; gen++)
		for (unsigned at = 0; at < 0x80; at++) {
			const int dw = sdma_mqd_dword((enum gfx_gen)gen, at);
			const struct reg *r =
				dw < 0 ? NULL : reg_sdma((enum gfx_gen)gen, (unsigned)dw);
			assert_string_equal(r ? r->name : "", wanted[gen][at]);
			if (dw >= 0)
				assert_int_equal(sdma_reg_offset((enum gfx_gen)gen, (unsigned)dw),
						 at);
			assert_int_equal(dw >= 0, r != NULL);
		}
	assert_int_equal(sdma_reg_offset(GFX9, 42), -1);
	assert_int_equal(sdma_reg_offset(GFX9, 126), -1);
}

// Every named register of these, from a dword on; '-': none. From the kernel's vi_structs.h to
// v12_structs.h.
static void register_names(void **state)
{
	static const struct {
		enum gfx_gen first, last;
		const char *names;
	} sdma_names[] = {
		{GFX8, GFX8,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_wptr rb_wptr_poll_cntl "
		 "rb_wptr_poll_addr_hi rb_wptr_poll_addr_lo rb_rptr_addr_hi rb_rptr_addr_lo "
		 "ib_cntl ib_rptr ib_offset ib_base_lo ib_base_hi ib_size skip_cntl "
		 "context_status doorbell virtual_addr ape1_cntl doorbell_log"},
		{GFX9, GFX10,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_rptr_hi rb_wptr rb_wptr_hi "
		 "rb_wptr_poll_cntl rb_rptr_addr_hi rb_rptr_addr_lo ib_cntl ib_rptr "
		 "ib_offset ib_base_lo ib_base_hi ib_size skip_cntl context_status doorbell "
		 "status doorbell_log watermark doorbell_offset csa_addr_lo csa_addr_hi "
		 "ib_sub_remain preempt dummy_reg rb_wptr_poll_addr_hi rb_wptr_poll_addr_lo "
		 "rb_aql_cntl minor_ptr_update midcmd_data0 midcmd_data1 midcmd_data2 "
		 "midcmd_data3 midcmd_data4 midcmd_data5 midcmd_data6 midcmd_data7 "
		 "midcmd_data8 midcmd_cntl"},
		{GFX11, GFX11,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_rptr_hi rb_wptr rb_wptr_hi "
		 "rb_rptr_addr_hi rb_rptr_addr_lo ib_cntl ib_rptr ib_offset ib_base_lo "
		 "ib_base_hi ib_size skip_cntl context_status doorbell doorbell_log "
		 "doorbell_offset csa_addr_lo csa_addr_hi sched_cntl ib_sub_remain preempt "
		 "dummy_reg rb_wptr_poll_addr_hi rb_wptr_poll_addr_lo rb_aql_cntl "
		 "minor_ptr_update rb_preempt midcmd_data0 midcmd_data1 midcmd_data2 "
		 "midcmd_data3 midcmd_data4 midcmd_data5 midcmd_data6 midcmd_data7 "
		 "midcmd_data8 midcmd_data9 midcmd_data10 midcmd_cntl"},
		{GFX12, GFX12,
		 "rb_cntl rb_base rb_base_hi rb_rptr rb_rptr_hi rb_wptr rb_wptr_hi "
		 "rb_rptr_addr_lo rb_rptr_addr_hi ib_cntl ib_rptr ib_offset ib_base_lo "
		 "ib_base_hi ib_size doorbell doorbell_log doorbell_offset csa_addr_lo "
		 "csa_addr_hi sched_cntl ib_sub_remain preempt dummy_reg "
		 "rb_wptr_poll_addr_lo rb_wptr_poll_addr_hi rb_aql_cntl minor_ptr_update "
		 "mcu_dbg0 mcu_dbg1 context_switch_status midcmd_cntl midcmd_data0 "
		 "midcmd_data1 midcmd_data2 midcmd_data3 midcmd_data4 midcmd_data5 "
		 "midcmd_data6 midcmd_data7 midcmd_data8 midcmd_data9 midcmd_data10 "
		 "wait_unsatisfied_thd mqd_base_addr_lo mqd_base_addr_hi mqd_control"},
	};
	char name[64];
	int len;
	(void)state;
	for (size_t i = 0; i < COUNT(sdma_names); i++)
		for (unsigned gen = sdma_names[i].first; gen <= sdma_names[i].last; gen++) {
			const char *s = sdma_names[i].names;
			unsigned dw = 0;
			for (; sscanf(s, "%63s%n", name, &len) == 1; s += len, dw++) {
				const struct reg *r = reg_sdma((enum gfx_gen)gen, dw);
				assert_string_equal(r ? r->name + strlen("sdmax_rlcx_") : "-",
						    name);
			}
			for (; dw < 140; dw++) {
				const unsigned engine = gen == GFX10 ? 128 : 126;
				const struct reg *r = reg_sdma((enum gfx_gen)gen, dw);
				assert_string_equal(r ? r->name : "",
						    dw == engine       ? "sdmax_rlcx_sdma_engine_id"
						    : dw == engine + 1 ? "sdmax_rlcx_sdma_queue_id"
								       : "");
			}
		}
}

// Likewise those of compute MQDs: dwords that no row names have none.
static void compute_names(void **state)
{
	static const struct {
		enum gfx_gen first, last;
		unsigned dw; // of the first name
		const char *names;
	} rows[] = {
		{GFX8, GFX12, 0,
		 "header compute_dispatch_initiator compute_dim_x compute_dim_y compute_dim_z "
		 "compute_start_x compute_start_y compute_start_z compute_num_thread_x "
		 "compute_num_thread_y compute_num_thread_z compute_pipelinestat_enable - "
		 "compute_pgm_lo compute_pgm_hi"},
		{GFX8, GFX10, 15, "compute_tba_lo compute_tba_hi compute_tma_lo compute_tma_hi"},
		{GFX11, GFX12, 15,
		 "compute_dispatch_pkt_addr_lo compute_dispatch_pkt_addr_hi "
		 "compute_dispatch_scratch_base_lo compute_dispatch_scratch_base_hi"},
		{GFX8, GFX12, 19,
		 "compute_pgm_rsrc1 compute_pgm_rsrc2 compute_vmid compute_resource_limits "
		 "compute_static_thread_mgmt_se0 compute_static_thread_mgmt_se1 "
		 "compute_tmpring_size compute_static_thread_mgmt_se2 "
		 "compute_static_thread_mgmt_se3 compute_restart_x compute_restart_y "
		 "compute_restart_z"},
		{GFX8, GFX12, 33, "compute_dispatch_id compute_threadgroup_id"},
		{GFX8, GFX10, 35, "compute_relaunch"},
		{GFX9, GFX9, 39,
		 "compute_static_thread_mgmt_se4 compute_static_thread_mgmt_se5 "
		 "compute_static_thread_mgmt_se6 compute_static_thread_mgmt_se7"},
		{GFX940, GFX940, 39,
		 "compute_current_logic_xcc_id compute_restart_cg_tg_id compute_tg_chunk_size "
		 "compute_restore_tg_chunk_size"},
		{GFX11, GFX12, 37,
		 "compute_user_accum_0 compute_user_accum_1 compute_user_accum_2 "
		 "compute_user_accum_3 - - - compute_static_thread_mgmt_se4 "
		 "compute_static_thread_mgmt_se5 compute_static_thread_mgmt_se6 "
		 "compute_static_thread_mgmt_se7 - compute_relaunch"},
		{GFX12, GFX12, 59, "compute_static_thread_mgmt_se8"},
		{GFX8, GFX12, 65,
		 "compute_user_data_0 compute_user_data_1 compute_user_data_2 compute_user_data_3 "
		 "compute_user_data_4 compute_user_data_5 compute_user_data_6 compute_user_data_7 "
		 "compute_user_data_8 compute_user_data_9 compute_user_data_10 "
		 "compute_user_data_11 compute_user_data_12 compute_user_data_13 "
		 "compute_user_data_14 compute_user_data_15"},
		{GFX8, GFX12, 88,
		 "cp_mqd_connect_start_time_lo cp_mqd_connect_start_time_hi "
		 "cp_mqd_connect_end_time_lo cp_mqd_connect_end_time_hi - "
		 "cp_mqd_connect_end_pq_rptr cp_mqd_connect_end_pq_wptr"},
		{GFX9, GFX12, 96, "cp_mqd_readindex_lo cp_mqd_readindex_hi"},
		{GFX8, GFX12, 98,
		 "cp_mqd_save_start_time_lo cp_mqd_save_start_time_hi cp_mqd_save_end_time_lo "
		 "cp_mqd_save_end_time_hi cp_mqd_restore_start_time_lo "
		 "cp_mqd_restore_start_time_hi cp_mqd_restore_end_time_lo "
		 "cp_mqd_restore_end_time_hi disable_queue"},
		{GFX8, GFX12, 128,
		 "cp_mqd_base_addr_lo cp_mqd_base_addr_hi cp_hqd_active cp_hqd_vmid "
		 "cp_hqd_persistent_state cp_hqd_pipe_priority cp_hqd_queue_priority "
		 "cp_hqd_quantum cp_hqd_pq_base_lo cp_hqd_pq_base_hi cp_hqd_pq_rptr "
		 "cp_hqd_pq_rptr_report_addr_lo cp_hqd_pq_rptr_report_addr_hi "
		 "cp_hqd_pq_wptr_poll_addr_lo cp_hqd_pq_wptr_poll_addr_hi "
		 "cp_hqd_pq_doorbell_control"},
		{GFX8, GFX8, 144, "cp_hqd_pq_wptr"},
		{GFX8, GFX12, 145,
		 "cp_hqd_pq_control cp_hqd_ib_base_addr_lo cp_hqd_ib_base_addr_hi cp_hqd_ib_rptr "
		 "cp_hqd_ib_control cp_hqd_iq_timer cp_hqd_iq_rptr cp_hqd_dequeue_request "
		 "cp_hqd_dma_offload"},
		{GFX8, GFX11, 154, "cp_hqd_sema_cmd"},
		{GFX8, GFX12, 155,
		 "cp_hqd_msg_type cp_hqd_atomic0_preop_lo cp_hqd_atomic0_preop_hi "
		 "cp_hqd_atomic1_preop_lo cp_hqd_atomic1_preop_hi"},
		{GFX8, GFX940, 160, "cp_hqd_hq_status0 cp_hqd_hq_control0"},
		{GFX10, GFX10, 160, "cp_hqd_hq_scheduler0 cp_hqd_hq_scheduler1"},
		{GFX11, GFX12, 160, "cp_hqd_hq_status0 cp_hqd_hq_control0"},
		{GFX8, GFX12, 162,
		 "cp_mqd_control cp_hqd_hq_status1 cp_hqd_hq_control1 cp_hqd_eop_base_addr_lo "
		 "cp_hqd_eop_base_addr_hi cp_hqd_eop_control cp_hqd_eop_rptr cp_hqd_eop_wptr "
		 "cp_hqd_eop_done_events cp_hqd_ctx_save_base_addr_lo cp_hqd_ctx_save_base_addr_hi "
		 "cp_hqd_ctx_save_control cp_hqd_cntl_stack_offset cp_hqd_cntl_stack_size "
		 "cp_hqd_wg_state_offset cp_hqd_ctx_save_size"},
		{GFX8, GFX11, 178, "cp_hqd_gds_resource_state"},
		{GFX8, GFX12, 179, "cp_hqd_error cp_hqd_eop_wptr_mem"},
		{GFX8, GFX8, 181, "cp_hqd_eop_dones"},
		{GFX9, GFX12, 181, "cp_hqd_aql_control cp_hqd_pq_wptr_lo cp_hqd_pq_wptr_hi"},
		{GFX940, GFX940, 184, "cp_hqd_aql_control_1 cp_hqd_aql_dispatch_id"},
		{GFX10, GFX10, 184,
		 "cp_hqd_suspend_cntl_stack_offset cp_hqd_suspend_cntl_stack_dw_cnt "
		 "cp_hqd_suspend_wg_state_offset"},
		{GFX940, GFX940, 225, "pm4_target_xcc_in_xcp cp_mqd_stride_size"},
	};
	static char wanted[GFX_GENS][REG_MQD_DWORDS + 1][48];
	char name[48];
	int len;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned gen = rows[i].first; gen <= rows[i].last; gen++) {
			unsigned dw = rows[i].dw;
			for (const char *s = rows[i].names; sscanf(s, "%47s%n", name, &len) == 1;
			     s += len, dw++) {
				assert_string_equal(wanted[gen][dw], "");
				strcpy(wanted[gen][dw], strcmp(name, "-") == 0 ? "" : name);
			}
		}
	for (unsigned gen = GFX_UNKNOWN; gen < GFX_GENS; gen++)
		for (unsigned dw = 0; dw <= REG_MQD_DWORDS; dw++) {
			const struct reg *r = reg_compute((enum gfx_gen)gen, dw);
			assert_string_equal(r ? r->name : "", wanted[gen][dw]);
		}
}

// Each field of each register that has several or a narrow one, with its mask in the kernel's
// gfx_8_0_sh_mask.h, oss_3_0_sh_mask.h, gc_9_0, gc_9_4_3, gc_10_3_0, gc_11_0_0 and
// gc_12_0_0_sh_mask.h; bit 29 of hq_status0 is from kfd_mqd_manager_v11.c. Fields that only later
// headers have are reserved before, so 0, and RB_SIZE has one more bit on gfx9, for rings that no
// memory has room for.
static void field_masks(void **state)
{
	static const struct {
		enum gfx_gen first, last;
		const char *name, *fields;
	} cases[] = {
		{GFX8, GFX10, "rb_cntl",
		 "RB_ENABLE 0x1 RB_SIZE 0x3e RPTR_WRITEBACK_ENABLE 0x1000 "
		 "RPTR_WRITEBACK_TIMER 0x1f0000 RB_VMID 0xf000000"},
		{GFX11, GFX11, "rb_cntl",
		 "RB_ENABLE 0x1 RB_SIZE 0x3e RPTR_WRITEBACK_ENABLE 0x1000 "
		 "RPTR_WRITEBACK_TIMER 0x1f0000 RB_VMID 0xf000000 F32_WPTR_POLL_ENABLE 0x800"},
		{GFX12, GFX12, "rb_cntl",
		 "RB_ENABLE 0x1 RB_SIZE 0x3e RPTR_WRITEBACK_ENABLE 0x1000 "
		 "RPTR_WRITEBACK_TIMER 0x1f0000 RB_VMID 0xf000000 MCU_WPTR_POLL_ENABLE 0x800"},
		{GFX8, GFX10, "context_status",
		 "SELECTED 0x1 IDLE 0x4 EXPIRED 0x8 EXCEPTION 0x70 CTXSW_ABLE 0x80 "
		 "CTXSW_READY 0x100 PREEMPTED 0x200 PREEMPT_DISABLE 0x400"},
		{GFX11, GFX11, "context_status",
		 "SELECTED 0x1 IDLE 0x4 EXPIRED 0x8 EXCEPTION 0x70 CTXSW_ABLE 0x80 "
		 "PREEMPT_DISABLE 0x400"},
		{GFX12, GFX12, "context_status",
		 "SELECTED 0x1 IDLE 0x4 EXPIRED 0x8 EXCEPTION 0x70 CTXSW_ABLE 0x80 VF_STATUS "
		 "0x100 PRIV_EXCEPTION 0x200 PREEMPT_DISABLE 0x400"},
		{GFX8, GFX8, "doorbell", "OFFSET 0x1fffff ENABLE 0x10000000 CAPTURED 0x40000000"},
		{GFX9, GFX12, "doorbell", "ENABLE 0x10000000 CAPTURED 0x40000000"},
		{GFX9, GFX12, "doorbell_offset", "OFFSET 0xffffffc"},
		{GFX8, GFX940, "compute_static_thread_mgmt_se0",
		 "SH0_CU_EN 0xffff SH1_CU_EN 0xffff0000"},
		{GFX10, GFX12, "compute_static_thread_mgmt_se3",
		 "SA0_CU_EN 0xffff SA1_CU_EN 0xffff0000"},
		{GFX9, GFX9, "compute_static_thread_mgmt_se7",
		 "SH0_CU_EN 0xffff SH1_CU_EN 0xffff0000"},
		{GFX11, GFX12, "compute_static_thread_mgmt_se4",
		 "SA0_CU_EN 0xffff SA1_CU_EN 0xffff0000"},
		{GFX12, GFX12, "compute_static_thread_mgmt_se8",
		 "SA0_CU_EN 0xffff SA1_CU_EN 0xffff0000"},
		{GFX8, GFX12, "cp_hqd_active", "ACTIVE 0x1 BUSY_GATE 0x2"},
		{GFX8, GFX12, "cp_hqd_vmid", "VMID 0xf IB_VMID 0xf00 VQID 0x3ff0000"},
		{GFX8, GFX12, "cp_hqd_persistent_state",
		 "PRELOAD_REQ 0x1 PRELOAD_SIZE 0x3ff00 RESTORE_ACTIVE 0x10000000 "
		 "RELAUNCH_WAVES 0x20000000 QSWITCH_MODE 0x40000000 DISP_ACTIVE 0x80000000"},
		{GFX8, GFX12, "cp_hqd_pipe_priority", "PIPE_PRIORITY 0x3"},
		{GFX8, GFX12, "cp_hqd_queue_priority", "PRIORITY_LEVEL 0xf"},
		{GFX8, GFX12, "cp_hqd_quantum",
		 "QUANTUM_EN 0x1 QUANTUM_SCALE 0x10 QUANTUM_DURATION 0x3f00 QUANTUM_ACTIVE "
		 "0x80000000"},
		{GFX8, GFX12, "cp_hqd_pq_doorbell_control",
		 "BIF_DROP 0x2 OFFSET 0xffffffc SOURCE 0x10000000 SCHD_HIT 0x20000000 EN "
		 "0x40000000 HIT 0x80000000"},
		{GFX8, GFX8, "cp_hqd_pq_control",
		 "QUEUE_SIZE 0x3f RPTR_BLOCK_SIZE 0x3f00 MTYPE 0x18000 MIN_AVAIL_SIZE "
		 "0x300000 PQ_ATC 0x800000 CACHE_POLICY 0x1000000 SLOT_BASED_WPTR 0x6000000 "
		 "NO_UPDATE_RPTR 0x8000000 UNORD_DISPATCH 0x10000000 PRIV_STATE 0x40000000 "
		 "KMD_QUEUE 0x80000000"},
		{GFX9, GFX940, "cp_hqd_pq_control",
		 "QUEUE_SIZE 0x3f WPTR_CARRY 0x40 RPTR_CARRY 0x80 RPTR_BLOCK_SIZE 0x3f00 "
		 "QUEUE_FULL_EN 0x4000 PQ_EMPTY 0x8000 MIN_AVAIL_SIZE 0x300000 TMZ 0x400000 "
		 "EXE_DISABLE 0x800000 NO_UPDATE_RPTR 0x8000000 UNORD_DISPATCH 0x10000000 "
		 "PRIV_STATE 0x40000000 KMD_QUEUE 0x80000000 WPP_CLAMP_EN 0x10000 "
		 "CACHE_POLICY 0x1000000 SLOT_BASED_WPTR 0x6000000"},
		{GFX10, GFX12, "cp_hqd_pq_control",
		 "QUEUE_SIZE 0x3f WPTR_CARRY 0x40 RPTR_CARRY 0x80 RPTR_BLOCK_SIZE 0x3f00 "
		 "QUEUE_FULL_EN 0x4000 PQ_EMPTY 0x8000 MIN_AVAIL_SIZE 0x300000 TMZ 0x400000 "
		 "EXE_DISABLE 0x800000 NO_UPDATE_RPTR 0x8000000 UNORD_DISPATCH 0x10000000 "
		 "PRIV_STATE 0x40000000 KMD_QUEUE 0x80000000 SLOT_BASED_WPTR 0xc0000 "
		 "CACHE_POLICY 0x3000000"},
		{GFX8, GFX940, "cp_hqd_dequeue_request",
		 "DEQUEUE_REQ 0x7 IQ_REQ_PEND 0x10 DEQUEUE_INT 0x100 IQ_REQ_PEND_EN 0x200 "
		 "DEQUEUE_REQ_EN 0x400"},
		{GFX10, GFX12, "cp_hqd_dequeue_request",
		 "DEQUEUE_REQ 0xf IQ_REQ_PEND 0x10 DEQUEUE_INT 0x100 IQ_REQ_PEND_EN 0x200 "
		 "DEQUEUE_REQ_EN 0x400"},
		{GFX8, GFX940, "cp_hqd_hq_status0",
		 "DEQUEUE_STATUS 0x3 DEQUEUE_RETRY_CNT 0xc QUEUE_IDLE 0x40000000"},
		{GFX10, GFX10, "cp_hqd_hq_scheduler0",
		 "DEQUEUE_STATUS 0x3 DEQUEUE_RETRY_CNT 0xc QUEUE_IDLE 0x40000000"},
		{GFX11, GFX12, "cp_hqd_hq_status0",
		 "CWSR 0x1 SAVE_STATUS 0x2 SLOT_CONNECTED 0x8000 PCIE_ATOMICS 0x20000000 "
		 "QUEUE_IDLE 0x40000000"},
		{GFX8, GFX12, "cp_hqd_eop_control", "EOP_SIZE 0x3f"},
		{GFX8, GFX12, "cp_hqd_error",
		 "EDC_ERROR 0xf SUA_ERROR 0x10 AQL_ERROR 0x20 PQ_UTCL1_ERROR 0x100 "
		 "IB_UTCL1_ERROR 0x200 EOP_UTCL1_ERROR 0x400 IQ_UTCL1_ERROR 0x800 "
		 "RRPT_UTCL1_ERROR 0x1000 WPP_UTCL1_ERROR 0x2000 SEM_UTCL1_ERROR 0x4000 "
		 "DMA_SRC_UTCL1_ERROR 0x8000 DMA_DST_UTCL1_ERROR 0x10000 SR_UTCL1_ERROR "
		 "0x20000 QU_UTCL1_ERROR 0x40000 TC_UTCL1_ERROR 0x80000"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned gen = cases[i].first; gen <= cases[i].last; gen++) {
			const struct reg *r = NULL;
			char got[512] = "";
			size_t n = 0;
			for (unsigned dw = 0; dw < REG_MQD_DWORDS && !r; dw++) {
				const struct reg *c = reg_compute((enum gfx_gen)gen, dw),
						 *s = reg_sdma((enum gfx_gen)gen, dw);
				if (c && strcmp(c->name, cases[i].name) == 0)
					r = c;
				if (s &&
				    strcmp(s->name + strlen("sdmax_rlcx_"), cases[i].name) == 0)
					r = s;
			}
			assert_non_null(r);
			for (unsigned k = 0; k < r->nfields; k++)
				n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s 0x%x",
						      k ? " " : "", r->fields[k].name,
						      reg_field_bits(&r->fields[k], UINT32_MAX)
							      << r->fields[k].lsb);
			assert_string_equal(got, cases[i].fields);
		}
}

static bool every_word(const void *from, unsigned dw, uint32_t *out)
{
	(void)from;
	*out = dw;
	return true;
}

// The value table of mqd_value.c and this one say the same of where things are.
static void agrees_with_values(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum mqd_value value;
	} pairs[] = {{"sdmax_rlcx_doorbell_offset", MQD_V_DOORBELL},
		     {"sdmax_rlcx_rb_rptr", MQD_V_RPTR},
		     {"sdmax_rlcx_rb_wptr", MQD_V_WPTR},
		     {"sdmax_rlcx_sdma_engine_id", MQD_V_SDMA_ENGINE},
		     {"sdmax_rlcx_sdma_queue_id", MQD_V_SDMA_RLC}};

	uint64_t ignored;

	for (int gen = GFX8; gen < GFX_GENS; gen++)
		for (size_t i = gen == GFX8; i < sizeof(pairs) / sizeof(pairs[0]);
		     i++) // 0: in doorbell
			assert_int_equal(reg_sdma_dword((enum gfx_gen)gen, pairs[i].name) >= 0,
					 mqd_value_of(MQD_SDMA, (enum gfx_gen)gen, pairs[i].value,
						      every_word, NULL, &ignored));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compute_fields),   cmocka_unit_test(compute_names),
		cmocka_unit_test(tables_are_sound), cmocka_unit_test(sdma),
		cmocka_unit_test(slot_registers),   cmocka_unit_test(register_names),
		cmocka_unit_test(field_masks),      cmocka_unit_test(agrees_with_values),
	};
	return cmocka_run_group_tests_name("debugfs regs", tests, NULL, NULL);
}
