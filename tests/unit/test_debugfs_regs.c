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

	char text[REG_ERROR_TEXT];

	assert_string_equal(reg_error_text(text, 0), "none");
	assert_string_equal(strrchr(reg_error_text(text, UINT32_MAX), ' '), " 0xfff000c0");
	assert_string_equal(reg_error_text(text, 1 << 5 | 1 << 8), "AQL_ERROR PQ_UTCL1_ERROR");
}

// The same dword under other names, by generation [debugfs.mqd-compute].
static void compute_overlays(void **state)
{
	(void)state;
	assert_string_equal(reg_compute(GFX9, 39)->name, "compute_static_thread_mgmt_se4");
	assert_string_equal(reg_compute(GFX940, 39)->name, "compute_current_logic_xcc_id");
	assert_string_equal(reg_compute(GFX12, 39)->name, "compute_user_accum_0");
	assert_null(reg_compute(GFX10, 39));
	assert_string_equal(reg_compute(GFX12, 44)->name, "compute_static_thread_mgmt_se4");
	assert_string_equal(reg_compute(GFX12, 59)->name, "compute_static_thread_mgmt_se8");
	assert_null(reg_compute(GFX11, 59));
	assert_string_equal(reg_compute(GFX9, 35)->name, "compute_relaunch");
	assert_string_equal(reg_compute(GFX11, 49)->name, "compute_relaunch");
	assert_string_equal(reg_compute(GFX11, 15)->name, "compute_dispatch_pkt_addr_lo");
	assert_string_equal(reg_compute(GFX12, 15)->name, "compute_tba_lo");
	assert_string_equal(reg_compute(GFX10, 160)->name, "cp_hqd_hq_scheduler0");
	assert_null(reg_compute(GFX12, 154)); // no sema_cmd
	assert_null(reg_compute(GFX12, 178)); // no gds_resource_state
	assert_string_equal(reg_compute(GFX8, 144)->name, "cp_hqd_pq_wptr");
	assert_null(reg_compute(GFX9, 144));
	assert_null(reg_compute(GFX8, 182));
	assert_string_equal(reg_compute(GFX940, 226)->name, "cp_mqd_stride_size");
	assert_null(reg_compute(GFX9, 226));
	assert_string_equal(reg_compute(GFX940, 225)->name, "pm4_target_xcc_in_xcp");
	assert_string_equal(reg_compute(GFX10, 161)->name, "cp_hqd_hq_scheduler1");
	assert_string_equal(reg_compute(GFX11, 161)->name, "cp_hqd_hq_control0");
	assert_string_equal(reg_compute(GFX8, 181)->name, "cp_hqd_eop_dones");
	assert_string_equal(reg_compute(GFX9, 181)->name, "cp_hqd_aql_control");
	static const char *const suspended[] = {"cp_hqd_suspend_cntl_stack_offset",
						"cp_hqd_suspend_cntl_stack_dw_cnt",
						"cp_hqd_suspend_wg_state_offset"};
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(reg_compute(GFX10, 184 + i)->name, suspended[i]);
	assert_string_equal(reg_compute(GFX940, 184)->name, "cp_hqd_aql_control_1");
	assert_string_equal(reg_compute(GFX940, 185)->name, "cp_hqd_aql_dispatch_id");
	assert_null(reg_compute(GFX940, 186));
	assert_null(reg_compute(GFX9, 184));
	assert_null(reg_compute(GFX_UNKNOWN, 128));
	assert_null(reg_compute(GFX9, 9999));
	assert_string_equal(reg_compute(GFX9, 130)->name, "cp_hqd_active");
}

static void tables_are_sound(void **state)
{
	(void)state;
	for (int gen = GFX8; gen < GFX_GENS; gen++) {
		// Dwords 128 to 183 are registers [debugfs.mqd-image]: each but a hole has a name.
		for (unsigned dw = 128; dw < 184; dw++) {
			bool hole = (dw == 144 && gen != GFX8) ||
				    (gen == GFX12 && (dw == 154 || dw == 178)) ||
				    (gen == GFX8 && dw > 181);
			assert_int_equal(reg_compute((enum gfx_gen)gen, dw) == NULL, hole);
		}
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
	assert_string_equal(reg_sdma(GFX11, 19)->name, "sdmax_rlcx_doorbell_offset");
	assert_string_equal(reg_sdma(GFX12, 17)->name, "sdmax_rlcx_doorbell_offset");
	assert_string_equal(reg_sdma(GFX12, 7)->name, "sdmax_rlcx_rb_rptr_addr_lo");
	assert_string_equal(reg_sdma(GFX11, 7)->name, "sdmax_rlcx_rb_rptr_addr_hi");
	assert_int_equal(reg_sdma_dword(GFX10, "sdmax_rlcx_sdma_engine_id"), 128);
	assert_int_equal(reg_sdma_dword(GFX9, "sdmax_rlcx_sdma_engine_id"), 126);
	assert_int_equal(reg_sdma_dword(GFX9, "nothing"), -1);

	// Positions 18 doorbell and 22 doorbell_offset of the list; +0x28 is the 20th register.
	assert_int_equal(sdma_mqd_dword(GFX9, 18), 18);
	assert_int_equal(sdma_mqd_dword(GFX9, 19), -1);
	assert_int_equal(sdma_mqd_dword(GFX9, 0x28 + 3), 22);
	assert_int_equal(sdma_mqd_dword(GFX9, 0x2f + 2), 27);
	assert_int_equal(sdma_mqd_dword(GFX11, 7), -1);
	assert_int_equal(sdma_mqd_dword(GFX11, 8), 7);
	assert_int_equal(sdma_mqd_dword(GFX11, 0x29), 18);
	assert_int_equal(sdma_mqd_dword(GFX11, 0x2b), 19);
	// Offsets of the kernel's gc_12_0_0_offset.h and oss_3_0_d.h, less that of RB_CNTL.
	static const struct {
		enum gfx_gen gen;
		unsigned offset;
		const char *name;
	} by_header[] = {
		{GFX12, 0x0f, "doorbell"},         {GFX12, 0x11, "doorbell_offset"},
		{GFX12, 0x17, "dummy_reg"},        {GFX12, 0x1e, "context_switch_status"},
		{GFX12, 0x1f, "midcmd_cntl"},      {GFX12, 0x2a, "midcmd_data10"},
		{GFX12, 0x2c, "mqd_base_addr_lo"}, {GFX12, 0x2f, "dequeue_request"},
		{GFX12, 0x30, "context_status"},   {GFX8, 0x04, "rb_wptr"},
		{GFX8, 0x11, "context_status"},    {GFX8, 0x12, "doorbell"},
		{GFX8, 0x27, "virtual_addr"},      {GFX8, 0x29, "doorbell_log"},
		{GFX8, 0x2d, "csa_addr_hi"},       {GFX8, 0x31, "dummy_reg"},
		{GFX8, 0x41, "midcmd_data0"},      {GFX8, 0x47, "midcmd_cntl"},
	};
	for (size_t i = 0; i < sizeof(by_header) / sizeof(by_header[0]); i++) {
		int dw = sdma_mqd_dword(by_header[i].gen, by_header[i].offset);
		assert_true(dw >= 0);
		const struct reg *r = reg_sdma(by_header[i].gen, (unsigned)dw);
		assert_non_null(r);
		assert_string_equal(r->name + strlen("sdmax_rlcx_"), by_header[i].name);
	}
	assert_int_equal(sdma_mqd_dword(GFX12, 0x31), -1);
	assert_int_equal(sdma_mqd_dword(GFX8, 0x13), -1);
	assert_int_equal(sdma_mqd_dword(GFX8, 0x2b), -1);
	for (int gen = GFX8; gen < GFX_GENS; gen++)
		for (unsigned dw = 0; dw < 64; dw++) {
			int offset = sdma_reg_offset((enum gfx_gen)gen, dw);
			if (offset >= 0)
				assert_int_equal(
					sdma_mqd_dword((enum gfx_gen)gen, (unsigned)offset), dw);
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
		cmocka_unit_test(compute_fields),     cmocka_unit_test(compute_overlays),
		cmocka_unit_test(tables_are_sound),   cmocka_unit_test(sdma),
		cmocka_unit_test(agrees_with_values),
	};
	return cmocka_run_group_tests_name("debugfs regs", tests, NULL, NULL);
}
