// Values of slots, decoding of registers, and sampling. Words are those of [debugfs.examples];
// places and names those of [debugfs.mqd-compute], [debugfs.mqd-sdma] and [debugfs.sdma-slot].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/debugfs/decode.h"
#include "common/debugfs/mqd_value.h"
#include "common/slots/slot_rows.h"

static struct hqds h;

static int setup(void **state)
{
	(void)state;
	h = (struct hqds){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hqds_fini(&h);
	return 0;
}

static void parse(const char *text)
{
	hqds_parse(&h, text, strlen(text));
	assert_int_equal(h.count.foreign, 0);
}

static uint64_t value(size_t slot, enum gfx_gen gen, enum mqd_value what)
{
	uint64_t v = 0;
	if (!hqd_get(&h, &h.slots[slot], gen, what, &v))
		fail_msg("slot %zu has no value %d", slot, (int)what);
	return v;
}

static const char compute[] =
	"Node 2, gpu_id f7bc:\n"
	" Inst 0,  CP Pipe 0, Queue 2\n"
	"    0000c914: 017a2000 00000000 00000001 00000808 40005301 00000001 00000007 00000111\n"
	"    0000c934: 61c02000 0000007f 00000000 c1596080 00007f61 c1596038 00007f61 60004012\n"
	"    0000c954: 00000000 1401c511 00000000 00000000 00000000 00b00000 00000000 00000000\n"
	"    0000c974: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    0000c994: 40004000 00000000 00000100 00000000 00000000 00000000 00000000 00000000\n"
	"    0000c9b4: 40000000 007f8000 00000000 aa000000 00007f41 00000000 00002000 00002000\n"
	"    0000c9d4: 00002000 00ba6000 00000000 00000120 00000000 00000001 00000010 00000002\n"
	" Inst 1,  CP Pipe 0, Queue 2\n"
	"    000cc914: 017a5000 00000000 00000000 00000808 40005301 00000001 00000007 00000111\n";

static const char sdma44[] =
	"Node 2, gpu_id f7bc:\n"
	"  SDMA Engine 2, RLC 0\n"
	"    000e54c0: 08061025 61550000 0000007f 00000054 00000000 00000054 00000001 00403000\n"
	"    000e54e0: 00007f61 c1590011 00000100 00000000 00000000 00000000 00000000 00000000\n"
	"    000e5500: 00000000 00000004 10000000\n"
	"    000e5560: 00000000 00000000 00000000 00004800 00000000 00000000\n"
	"    000e557c: 00000000 00000000 0000000f 00000000 00000000 00004000 00000000\n"
	"    000e55c0: 00000000 00000001 00000002 00000003 00000004 00000005 00000006 00000007\n"
	"    000e55e0: 00000008 00000009 0000000a 0000000b\n";

static void compute_values(void **state)
{
	(void)state;
	parse(compute);
	assert_int_equal(value(0, GFX940, MQD_V_BASE), 0x17a2000);
	assert_int_equal(value(0, GFX940, MQD_V_RING), 0x7f61c0200000);
	assert_int_equal(value(0, GFX940, MQD_V_RING_BYTES), 1 << 20);
	assert_int_equal(value(0, GFX940, MQD_V_DOORBELL), 0x4010);
	assert_int_equal(value(0, GFX940, MQD_V_VMID), 8);
	assert_int_equal(value(0, GFX940, MQD_V_QUEUE_PRIO), 7);
	assert_int_equal(value(0, GFX940, MQD_V_ERROR), 0x120);
	assert_int_equal(value(0, GFX940, MQD_V_WPTR), 0x200000010);
	assert_int_equal(hqd_in_use(&h, &h.slots[0], GFX940), 1);
	assert_int_equal(hqd_in_use(&h, &h.slots[1], GFX940), 0);
	uint64_t v;
	assert_false(hqd_get(&h, &h.slots[1], GFX940, MQD_V_RING, &v)); // not in the text
	assert_false(hqd_get(&h, &h.slots[0], GFX_UNKNOWN, MQD_V_RING, &v));
	assert_false(hqd_get(&h, &h.slots[0], GFX940, MQD_V_READ_INDEX, &v)); // memory alone
}

static void sdma_values(void **state)
{
	(void)state;
	uint64_t v;
	parse(sdma44);
	assert_int_equal(value(0, GFX940, MQD_V_RING), 0x7f6155000000);
	assert_int_equal(value(0, GFX940, MQD_V_RING_BYTES), 1 << 20);
	assert_int_equal(value(0, GFX940, MQD_V_RPTR), 0x54);
	assert_int_equal(value(0, GFX940, MQD_V_WPTR), 0x100000054);
	assert_int_equal(value(0, GFX940, MQD_V_DOORBELL), 0x4800);
	assert_int_equal(value(0, GFX940, MQD_V_RPTR_ADDR), 0x7f61c1590010); // bit 0 is a flag
	assert_int_equal(value(0, GFX940, MQD_V_VMID), 8);
	assert_int_equal(hqd_in_use(&h, &h.slots[0], GFX940), 1);
	assert_int_equal(hqd_in_use(&h, &h.slots[0], GFX_UNKNOWN), -1);
	assert_false(hqd_get(&h, &h.slots[0], GFX_UNKNOWN, MQD_V_VMID, &v));
}

// gfx8: no high halves of the pointers, and the doorbell's offset beside its enable bit.
static void sdma_gfx8(void **state)
{
	(void)state;
	parse("Node 1, gpu_id 1:\n  SDMA Engine 0, RLC 1\n"
	      "    0000d600: 08061025 12345600 0000007f 00000054 00000064 00000000 00000000 "
	      "00000000\n"
	      "    0000d620: 00007f61 c1590011 00000100 00000000 00000000 00000000 00000000 "
	      "00000000\n"
	      "    0000d640: 00000000 00000004 10000142\n");
	assert_int_equal(value(0, GFX8, MQD_V_RING), 0x7f1234560000);
	assert_int_equal(value(0, GFX8, MQD_V_RPTR), 0x54);
	assert_int_equal(value(0, GFX8, MQD_V_WPTR), 0x64);
	assert_int_equal(value(0, GFX8, MQD_V_DOORBELL), 0x508);
	assert_int_equal(hqd_in_use(&h, &h.slots[0], GFX8), 1);
}

static enum gfx_gen guess(const char *text)
{
	parse(text);
	return hqd_guess_gen(&h, &h.nodes[0]);
}

// Addresses of [debugfs.hqd-base], defaults of [debugfs.mqd-defaults].
static void guesses(void **state)
{
	(void)state;
	assert_int_equal(guess(compute), GFX940); // it has an XCC 1
	assert_int_equal(guess("Node 1, gpu_id a1f4:\n CP Pipe 0, Queue 2\n    0000c914: 0 0\n"),
			 GFX9);
	assert_int_equal(guess("Node 1, gpu_id 1:\n CP Pipe 0, Queue 2\n    0000b858: 00000000 "
			       "00000000\n    0000c914: 00000000\n"),
			 GFX8);
	assert_int_equal(guess("Node 1, gpu_id 1:\n Inst 0,  CP Pipe 0, Queue 2\n    0000c824: "
			       "00000000 00000000 00000000 00000000 40005501\n"),
			 GFX11);
	assert_int_equal(guess("Node 1, gpu_id 1:\n Inst 0,  CP Pipe 0, Queue 2\n    0000c824: "
			       "00000000 00000000 00000000 00000000 40005301\n"),
			 GFX10);
	assert_int_equal(guess(sdma44), GFX_UNKNOWN);
}

// --- decoding ---

struct seen {
	unsigned regs, named, fields;
	char found[200]; // what is looked for
	const char *wanted;
};

static void see_reg(void *arg, const struct decoded_reg *r)
{
	struct seen *s = arg;
	s->regs++;
	s->named += r->reg != NULL;
	if (r->reg && strcmp(r->reg->name, s->wanted) == 0)
		snprintf(s->found, sizeof(s->found), "%x %x", r->address, r->value);
}

static void see_field(void *arg, const struct decoded_reg *r, const struct decoded_field *f)
{
	struct seen *s = arg;
	char name[80];
	snprintf(name, sizeof(name), "%s.%s", r->reg->name, f->name);
	s->fields++;
	if (strcmp(name, s->wanted) == 0)
		snprintf(s->found, sizeof(s->found), "%s %llu %s", f->text,
			 (unsigned long long)f->number, f->unit ? f->unit : "-");
}

static void see_fields(void *arg, const struct decoded_reg *r)
{
	decode_fields(r, see_field, arg);
}

static const char *reg_of(size_t slot, const char *name)
{
	static struct seen s;
	s = (struct seen){.wanted = name};
	decode_slot(&h, &h.slots[slot], GFX940, see_reg, &s);
	return s.found;
}

static const char *field_of(size_t slot, const char *name)
{
	static struct seen s;
	s = (struct seen){.wanted = name};
	decode_slot(&h, &h.slots[slot], GFX940, see_fields, &s);
	return s.found;
}

static void registers(void **state)
{
	(void)state;
	struct seen s = {.wanted = ""};
	parse(compute);
	decode_slot(&h, &h.slots[0], GFX940, see_reg, &s);
	assert_int_equal(s.regs, 56);
	assert_int_equal(s.named, 55); // all but the hole
	assert_string_equal(reg_of(0, "cp_hqd_pq_doorbell_control"), "c950 60004012");
	assert_string_equal(reg_of(1, "cp_mqd_base_addr_lo"), "cc914 17a5000");
	s = (struct seen){.wanted = ""};
	decode_slot(&h, &h.slots[0], GFX_UNKNOWN, see_reg, &s);
	assert_int_equal(s.regs, 56); // addresses and values are there for any GPU
	assert_int_equal(s.named, 0);
}

static void sdma_registers(void **state)
{
	(void)state;
	struct seen s = {.wanted = ""};
	parse(sdma44);
	decode_slot(&h, &h.slots[0], GFX940, see_reg, &s);
	assert_int_equal(s.regs, 44);
	assert_int_equal(s.named, 44);
	assert_string_equal(reg_of(0, "sdmax_rlcx_doorbell"), "e5508 10000000");
	assert_string_equal(reg_of(0, "sdmax_rlcx_midcmd_data8"), "e55e0 8");
	assert_string_equal(reg_of(0, "sdmax_rlcx_midcmd_data10"), "e55e8 a");
	assert_string_equal(reg_of(0, "sdmax_rlcx_midcmd_cntl"), "e55ec b");
}

static void fields(void **state)
{
	(void)state;
	parse(compute);
	assert_string_equal(field_of(0, "cp_hqd_pq_base_lo."),
			    "0x7f61c0200000 140057811877888 address");
	assert_string_equal(field_of(0, "cp_hqd_pq_base_hi."), ""); // the other half has it
	assert_string_equal(field_of(0, "cp_hqd_pq_wptr_lo."), "8589934608 8589934608 dwords");
	assert_string_equal(field_of(0, "cp_hqd_pq_control.QUEUE_SIZE"), "1M 1048576 bytes");
	assert_string_equal(field_of(0, "cp_hqd_pq_control.PQ_EMPTY"), "yes 1 flag");
	assert_string_equal(field_of(0, "cp_hqd_error.AQL_ERROR"), "yes 1 flag");
	assert_string_equal(field_of(0, "cp_hqd_ctx_save_size."), "11928K 12214272 bytes");
	assert_string_equal(field_of(0, "cp_hqd_pipe_priority.PIPE_PRIORITY"), "medium 1 -");
	assert_string_equal(field_of(0, "cp_hqd_dequeue_request.DEQUEUE_REQ"), "none 0 -");
	// Half of a pair that the text does not have is shown by itself.
	parse("Node 1, gpu_id 1:\n Inst 0,  CP Pipe 0, Queue 2\n    0000c914: 01401000\n");
	assert_string_equal(field_of(0, "cp_mqd_base_addr_lo."), "0x1401000 20975616 address");
}

// A CU mask counts its bits: 0x00ff has 8 of 16, 0x8001 has 2.
static void cu_masks(void **state)
{
	(void)state;
	const struct mqd_source from = {.gen = GFX9};
	const struct decoded_reg r = {.reg = reg_compute(GFX9, 23),
				      .dw = 23,
				      .value = 0x800100ff,
				      .known = true,
				      .from = &from};
	struct seen s = {.wanted = "compute_static_thread_mgmt_se0.SH0_CU_EN"};
	decode_fields(&r, see_field, &s);
	assert_string_equal(s.found, "8 of 16 8 units");
	s.wanted = "compute_static_thread_mgmt_se0.SH1_CU_EN";
	decode_fields(&r, see_field, &s);
	assert_string_equal(s.found, "2 of 16 2 units");
	struct decoded_reg unknown = r;
	unknown.known = false;
	s.found[0] = '\0';
	decode_fields(&unknown, see_field, &s);
	assert_string_equal(s.found, "");
}

// --- sampling ---

static struct hqd_row row(uint64_t mqd, uint64_t rptr, uint64_t wptr, const char *packets)
{
	return (struct hqd_row){.q = {.type = "compute",
				      .packets = packets,
				      .v = {[MQD_V_BASE] = mqd,
					    [MQD_V_RING] = mqd << 8,
					    [MQD_V_RING_BYTES] = 4096,
					    [MQD_V_RPTR] = rptr,
					    [MQD_V_WPTR] = wptr}},
				.active = 1,
				.idle = rptr == wptr % 1024,
				.from.gen = GFX940};
}

static void add(struct slot_samples *s, struct hqd_row a, struct hqd_row b)
{
	struct hqd_row rows[] = {a, b};
	struct slot_rows l = {.rows = rows, .n = 2};
	slot_samples_add(s, &l);
}

// Two slots. In the first a queue that runs, in the second two that take turns.
static void sampling(void **state)
{
	(void)state;
	struct slot_samples s = {0};
	struct hqd_row off = row(0, 0, 0, "aql");
	off.active = 0;
	add(&s, row(1, 160, 2000, "aql"), row(2, 16, 16, "pm4"));
	add(&s, row(1, 320, 2016, "aql"), row(3, 0, 8, "pm4"));
	add(&s, row(1, 0, 2048, "aql"), off);
	add(&s, row(1, 16, 2080, "aql"), row(2, 24, 24, "pm4"));
	slot_samples_finish(&s);
	assert_int_equal(s.samples, 4);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.seen[0].row.q.v[MQD_V_BASE], 1); // moved most
	assert_int_equal(s.seen[0].active, 4);
	assert_int_equal(s.seen[0].moved, 3);
	assert_true(s.seen[0].moved_share == 1.0);
	assert_true(s.seen[0].share == 1.0);
	assert_int_equal(s.seen[0].busy, 3); // rptr 0 is wptr 2048 of a ring of 1024 dwords
	// 2000 - (2000 - 160) % 1024 = 1184 dwords by the first sample, 2064 by the last.
	assert_int_equal(s.seen[0].consumed, (2064 - 1184) / 16);
	assert_int_equal(s.seen[1].row.q.v[MQD_V_BASE], 2);
	assert_true(s.seen[1].share == 0.5);
	assert_int_equal(s.seen[1].moved, 1);
	assert_int_equal(s.seen[1].consumed, 8); // PM4: dwords
	assert_int_equal(s.seen[2].row.q.v[MQD_V_BASE], 3);
	assert_true(s.seen[2].share == 0.25);
	assert_int_equal(s.seen[2].moved, 0);
	assert_int_equal(s.seen[2].consumed, 0);
	slot_samples_fini(&s);
}

// On gfx8 the write pointer wraps with the ring, and pointers read one after the other may go back:
// what was taken between two samples is not known.
static void unknown_progress(void **state)
{
	(void)state;
	struct slot_samples s = {0};
	struct hqd_row old = row(1, 16, 32, "pm4");
	old.from.gen = GFX8;
	add(&s, old, row(2, 320, 2016, "aql"));
	old.q.v[MQD_V_RPTR] = 32;
	add(&s, old, row(2, 160, 2000, "aql")); // 1344 dwords taken, then 1184
	slot_samples_finish(&s);
	assert_true(s.seen[0].consumed == KFD_UNKNOWN && s.seen[1].consumed == KFD_UNKNOWN);
	slot_samples_fini(&s);
}

static void one_sample(void **state)
{
	(void)state;
	struct slot_samples s = {0};
	struct hqd_row torn = row(1, 0, 0, "aql");
	torn.q.v[MQD_V_RPTR] = 512; // of another moment than the write pointer
	add(&s, torn, row(2, KFD_UNKNOWN, 5, "aql"));
	slot_samples_finish(&s);
	assert_true(s.seen[0].moved_share != s.seen[0].moved_share); // nothing to compare with
	assert_int_equal(s.seen[0].consumed, KFD_UNKNOWN);
	assert_int_equal(s.seen[1].consumed, KFD_UNKNOWN);
	slot_samples_fini(&s);
}

// --- priority inversion ---

// A queue of priority 11 waits; slots have queues of priorities 5, 3 and 4.
static void inversions(void **state)
{
	(void)state;
	static const struct {
		const char *packets, *type; // of the queue that waits, of the slot with priority 3
		uint64_t xccs;
		int64_t pid;
		int found; // process of the slot that is found: 100 and its priority
	} cases[] = {{"aql", "compute", 1, 103, 103},        {"pm4", "compute", 1, 103, 103},
		     {"aql", "compute", 8, 103, 103},        {"pm4", "compute", 8, 103, 0},
		     {NULL, "compute", MQD_UNKNOWN, 103, 0}, {"aql", "hiq", 1, 103, 104},
		     {"aql", "compute", 1, INT64_MIN, 104}};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct hqd_row rows[3];
		struct slot_rows l = {.rows = rows, .n = 3};
		struct queue_row waits;
		struct slot_inversion found;
		for (unsigned k = 0; k < 3; k++) {
			static const unsigned prios[] = {5, 3, 4};
			rows[k] = (struct hqd_row){.active = 1, .xcc = k, .slot = "p1q2"};
			queue_row_clear(&rows[k].q);
			rows[k].q.gpu_id = 7;
			rows[k].q.type = k == 1 ? cases[i].type : "compute";
			rows[k].q.pid = k == 1 ? cases[i].pid : 100 + prios[k];
			rows[k].q.v[MQD_V_QUEUE_PRIO] = prios[k];
		}
		queue_row_clear(&waits);
		waits.gpu_id = 7;
		waits.pid = 4711;
		waits.qid = 5;
		waits.packets = cases[i].packets;
		waits.v[MQD_D_XCCS] = cases[i].xccs;
		waits.v[MQD_V_QUEUE_PRIO] = 11;
		slot_rows_find_inversion(&found, &l, &waits);
		assert_int_equal(found.pid, cases[i].found);
		assert_string_equal(found.text,
				    found.pid == 103 ? "queue 5 of pid 4711 (priority 11) waits "
						       "while a queue of pid 103 (priority 3) is "
						       "in slot p1q2 of XCC 1"
				    : found.pid      ? "queue 5 of pid 4711 (priority 11) waits "
						       "while a queue of pid 104 (priority 4) is "
						       "in slot p1q2 of XCC 2"
						     : "");
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(compute_values), T(sdma_values),    T(sdma_gfx8),        T(guesses),
		T(registers),      T(sdma_registers), T(fields),           T(cu_masks),
		T(sampling),       T(one_sample),     T(unknown_progress), T(inversions)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
