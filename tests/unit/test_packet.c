// Packets: each field has a value of its own in the bytes, and each word of a table is named by
// hand. Facts: [aql.dispatch], [aql.ext-dispatch], [aql.barrier], [aql.barrier-value],
// [aql.slot-freed], [aql.sdma], [aql.sdma-poll], [aql.pm4].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/aql/packet.h"

// A packet with this header and setup, in which byte N is N + 1.
static struct packet decoded(uint16_t header, uint16_t setup)
{
	struct packet p;
	uint8_t b[AQL_BYTES] = {(uint8_t)header, (uint8_t)(header >> 8), (uint8_t)setup,
				(uint8_t)(setup >> 8)};
	for (unsigned i = 4; i < AQL_BYTES; i++)
		b[i] = (uint8_t)(i + 1);
	aql_decode(&p, b);
	assert_int_equal(p.header, header);
	assert_int_equal(p.bytes, 64);
	return p;
}

static void assert_code(const struct packet *p)
{
	assert_int_equal(p->workgroup[0], 0x0605);
	assert_int_equal(p->workgroup[1], 0x0807);
	assert_int_equal(p->workgroup[2], 0x0a09);
	assert_int_equal(p->private_bytes, 0x1c1b1a19);
	assert_int_equal(p->group_bytes, 0x201f1e1d);
	assert_int_equal(p->kernel_object, 0x2827262524232221);
	assert_int_equal(p->kernarg, 0x302f2e2d2c2b2a29);
}

static void test_dispatch(void **state)
{
	const struct packet p = decoded(2, 0x5a01);
	(void)state;
	assert_string_equal(p.type, "dispatch");
	assert_code(&p);
	assert_int_equal(p.grid[0], 0x100f0e0d);
	assert_int_equal(p.grid[1], 0x14131211);
	assert_int_equal(p.grid[2], 0x18171615);
	assert_int_equal(p.completion, 0x403f3e3d3c3b3a39);
	assert_int_equal(p.clusters[0] | p.cluster[0] | p.ndeps | p.format, 0);
	assert_int_equal(p.waits, PACKET_WAITS_NOT);
	assert_false(p.left);
}

static void test_ext_dispatch(void **state)
{
	const struct packet p = decoded(0, 3);
	(void)state;
	assert_string_equal(p.type, "ext-dispatch");
	assert_code(&p);
	assert_int_equal(p.clusters[0], 0x100f0e0d);
	assert_int_equal(p.clusters[1], 0x1211);
	assert_int_equal(p.clusters[2], 0x1413);
	assert_int_equal(p.cluster[0], 0x15);
	assert_int_equal(p.cluster[1], 0x16);
	assert_int_equal(p.cluster[2], 0x17);
	assert_int_equal(p.ndeps, 1);
	assert_int_equal(p.deps[0], 0x3837363534333231);
	assert_int_equal(p.waits, PACKET_WAITS_ALL);
	assert_int_equal(p.completion, 0x403f3e3d3c3b3a39);
	assert_int_equal(p.format, 3);
	assert_int_equal(p.grid[0], 0);
}

static void test_barriers(void **state)
{
	static const struct {
		uint8_t type;
		enum packet_wait waits;
	} cases[] = {{3, PACKET_WAITS_ALL}, {5, PACKET_WAITS_ANY}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct packet p = decoded(cases[i].type, 0);
		uint8_t b[AQL_BYTES] = {cases[i].type, [16] = 7, [40] = 9};
		assert_int_equal(p.ndeps, 5);
		assert_int_equal(p.deps[0], 0x100f0e0d0c0b0a09);
		assert_int_equal(p.deps[1], 0x1817161514131211);
		assert_int_equal(p.deps[2], 0x201f1e1d1c1b1a19);
		assert_int_equal(p.deps[3], 0x2827262524232221);
		assert_int_equal(p.deps[4], 0x302f2e2d2c2b2a29);
		assert_int_equal(p.waits, cases[i].waits);
		assert_int_equal(p.completion, 0x403f3e3d3c3b3a39);
		aql_decode(&p, b);
		assert_int_equal(p.ndeps, 2);
		assert_int_equal(p.deps[0], 7);
		assert_int_equal(p.deps[1], 9);
		assert_int_equal(p.waits, cases[i].waits);
	}
}

static void test_barrier_value(void **state)
{
	uint8_t b[AQL_BYTES] = {0, 0, 2, [16] = 1, [24] = 2};
	struct packet p = decoded(0, 2);
	(void)state;
	assert_string_equal(p.type, "barrier-value");
	assert_int_equal(p.ndeps, 1);
	assert_int_equal(p.deps[0], 0x100f0e0d0c0b0a09);
	assert_int_equal(p.value, 0x1817161514131211);
	assert_int_equal(p.mask, 0x201f1e1d1c1b1a19);
	assert_string_equal(packet_compare_text(p.compare), "?");
	assert_int_equal(p.waits, PACKET_WAITS_VALUE);
	static const char *const texts[] = {"==", "!=", "<", ">=", "?"};
	for (size_t i = 0; i < COUNT(texts); i++) {
		b[32] = (uint8_t)i;
		aql_decode(&p, b);
		assert_string_equal(packet_compare_text(p.compare), texts[i]);
		assert_int_equal(p.waits, PACKET_WAITS_NOT); // no signal
		assert_int_equal(p.ndeps, 0);
	}
	assert_string_equal(packet_compare_text(COMPARE_LE), "<=");
	assert_string_equal(packet_compare_text(COMPARE_GT), ">");
	assert_string_equal(packet_compare_text(COMPARE_ALWAYS), "always");
	assert_string_equal(packet_compare_text(COMPARES + 1), "?");
}

static void test_kinds(void **state)
{
	static const struct {
		const char *type;
		uint16_t header;
		uint8_t format;
		bool completion, vendor;
	} cases[] = {
		{"vendor", 0, 0, true, true},         {"pm4-buffer", 0, 1, true, true},
		{"vendor", 0, 4, true, true},         {"vendor", 0, 255, true, true},
		{"invalid", 0xff01, 7, false, false}, {"agent-dispatch", 4, 3, true, false},
		{"unknown", 6, 1, false, false},      {"barrier-value", 0x0100, 2, true, true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct packet p = decoded(cases[i].header, cases[i].format);
		assert_string_equal(p.type, cases[i].type);
		assert_int_equal(p.completion, cases[i].completion ? 0x403f3e3d3c3b3a39 : 0);
		assert_int_equal(p.format, cases[i].vendor ? cases[i].format : 0);
	}
}

// What a free slot leaves of an extended dispatch, and what only looks like it: one byte changed.
static void test_left_ext(void **state)
{
	static const struct {
		uint8_t at, value;
		bool left;
	} cases[] = {{3, 1, true},   {3, 3, true},   {3, 4, false},  {2, 2, false},
		     {2, 4, false},  {4, 0, false},  {6, 0, false},  {8, 0, false},
		     {12, 0, false}, {16, 0, false}, {18, 0, false}, {10, 1, false},
		     {11, 1, false}, {36, 0, false}, {48, 0, true},  {20, 0, true}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct packet p;
		uint8_t b[AQL_BYTES] = {
			1, 0,        3,        2,        8,        0,        4,        0,
			2, [12] = 5, [16] = 6, [18] = 7, [20] = 3, [36] = 1, [48] = 9, [57] = 2};
		b[cases[i].at] = cases[i].value;
		aql_decode(&p, b);
		assert_int_equal(p.left, cases[i].left);
		assert_string_equal(p.type, cases[i].left ? "ext-dispatch" : "invalid");
		assert_int_equal(p.waits, PACKET_WAITS_NOT);
		assert_int_equal(p.kernel_object, cases[i].left ? 0x100000000 : 0);
		assert_int_equal(p.completion, cases[i].left ? 0x200 : 0);
	}
	static const struct {
		uint16_t setup;
		bool left;
	} dimensions[] = {{0, false}, {1, true},      {3, true},
			  {4, false}, {0x0003, true}, {0x0103, true}};
	for (size_t i = 0; i < COUNT(dimensions); i++) {
		struct packet p;
		uint8_t b[AQL_BYTES] = {1,
					0,
					(uint8_t)dimensions[i].setup,
					(uint8_t)(dimensions[i].setup >> 8),
					1,
					0,
					1,
					0,
					1,
					[12] = 1,
					[16] = 1,
					[18] = 1,
					[20] = 1,
					[33] = 1};
		aql_decode(&p, b);
		assert_int_equal(p.left, dimensions[i].left);
	}
}

// Lengths of the packets that have one; those between two numbers are unknown.
static void test_sdma_lengths(void **state)
{
	static const struct {
		uint8_t op, dwords;
		const char *type;
	} cases[] = {
		{4, 6, "sdma-indirect"},   {5, 4, "sdma-fence"},     {6, 2, "sdma-trap"},
		{7, 3, "sdma-semaphore"},  {8, 6, "sdma-poll"},      {9, 5, "sdma-cond-exec"},
		{10, 8, "sdma-atomic"},    {11, 5, "sdma-fill"},     {12, 0, "sdma-unknown"},
		{13, 3, "sdma-timestamp"}, {14, 3, "sdma-register"}, {15, 2, "sdma-pre-exec"},
		{16, 0, "sdma-unknown"},   {17, 5, "sdma-cache"},    {18, 0, "sdma-unknown"},
		{255, 0, "sdma-unknown"},
	};
	struct packet p;
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const bool writes = cases[i].op == 5 || cases[i].op == 10 || cases[i].op == 13;
		const uint32_t words[8] = {cases[i].op, 0x11223344, 0x5566};
		sdma_decode(&p, words, 8, 7);
		assert_string_equal(p.type, cases[i].type);
		assert_int_equal(p.bytes, 4 * cases[i].dwords);
		assert_int_equal(p.writes, writes ? 0x556611223344 : 0);
		assert_int_equal(p.waits, PACKET_WAITS_NOT);
		if (cases[i].dwords)
			sdma_decode(&p, words, cases[i].dwords - 1, 7);
		assert_int_equal(p.writes, 0);
	}
}

// A write of as many words as fit into SDMA_DWORDS_MAX or not; a poll's comparisons.
static void test_sdma_words(void **state)
{
	static const char *const texts[] = {"always", "<", "<=", "==", "!=", ">=", ">", "?"};
	struct packet p;
	(void)state;
	sdma_decode(&p, (const uint32_t[16]){2, 0, 0, 0xf0fffff}, 16, 7);
	assert_int_equal(p.bytes, 4 * (5 + 0xfffff));
	sdma_decode(&p, (const uint32_t[4]){2, 0, 0, 0}, 4, 7);
	assert_int_equal(p.bytes, 20);
	sdma_decode(&p, (const uint32_t[16]){2 | 1 << 8, 0, 0, 0}, 16, 7);
	assert_int_equal(p.bytes, 0);
	sdma_decode(&p, (const uint32_t[16]){0x7fff0000}, 16, 7);
	assert_int_equal(p.bytes, 4 * 0x4000);
	sdma_decode(&p, (const uint32_t[16]){1 | 4 << 8}, 16, 0);
	assert_int_equal(p.bytes, 0);
	sdma_decode(&p, (const uint32_t[16]){8 | 1 << 8 | 1u << 31}, 16, 7);
	assert_int_equal(p.waits, PACKET_WAITS_NOT);
	for (uint32_t i = 0; i < COUNT(texts); i++) {
		sdma_decode(&p, (const uint32_t[6]){8 | 1u << 31 | i << 28, 16, 2, 3, 4}, 6, 7);
		assert_string_equal(packet_compare_text(p.compare), texts[i]);
		assert_int_equal(p.polls, 0x200000010);
		assert_int_equal(p.value, 3);
		assert_int_equal(p.mask, 4);
		assert_int_equal(p.writes, 0);
	}
	sdma_decode(&p, (const uint32_t[6]){8 | 1u << 31, 16, 2, 3, 4}, 5, 7);
	assert_int_equal(p.waits, PACKET_WAITS_NOT); // its end is missing
	assert_int_equal(p.bytes, 24);
}

// Opcodes of soc15d.h and nvd.h, which [aql.pm4] cites, and two that are not known.
static void test_pm4_names(void **state)
{
	static const struct {
		uint32_t opcode;
		const char *type;
	} cases[] = {
		{0x10, "pm4-nop"},
		{0x11, "pm4-set-base"},
		{0x12, "pm4-clear-state"},
		{0x15, "pm4-dispatch-direct"},
		{0x16, "pm4-dispatch-indirect"},
		{0x1e, "pm4-atomic-mem"},
		{0x22, "pm4-cond-exec"},
		{0x23, "pm4-pred-exec"},
		{0x37, "pm4-write-data"},
		{0x3c, "pm4-wait-reg-mem"},
		{0x3f, "pm4-indirect-buffer"},
		{0x40, "pm4-copy-data"},
		{0x45, "pm4-cond-write"},
		{0x46, "pm4-event-write"},
		{0x49, "pm4-release-mem"},
		{0x50, "pm4-dma-data"},
		{0x58, "pm4-acquire-mem"},
		{0x68, "pm4-set-config-reg"},
		{0x76, "pm4-set-sh-reg"},
		{0x79, "pm4-set-uconfig-reg"},
		{0x13, "pm4-other"},
		{0x00, "pm4-other"},
	};
	struct packet p;
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		pm4_decode(&p, 3u << 30 | 5 << 16 | cases[i].opcode << 8 | 1);
		assert_string_equal(p.type, cases[i].type);
		assert_int_equal(p.bytes, 28);
		assert_int_equal(p.kind, PACKET_PM4);
	}
	pm4_decode(&p, 3u << 30 | 0x3fffu << 16 | 0x11 << 8); // no NOP
	assert_int_equal(p.bytes, 4 * 0x4001);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dispatch),     cmocka_unit_test(test_ext_dispatch),
		cmocka_unit_test(test_barriers),     cmocka_unit_test(test_barrier_value),
		cmocka_unit_test(test_kinds),        cmocka_unit_test(test_left_ext),
		cmocka_unit_test(test_sdma_lengths), cmocka_unit_test(test_sdma_words),
		cmocka_unit_test(test_pm4_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
