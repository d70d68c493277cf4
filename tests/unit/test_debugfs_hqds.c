// The parser of debugfs hqds: the slots of [debugfs.examples], formats of old and new kernels,
// dumps in the shape of real ones (and real ones when they are at hand, never part of the project),
// damage.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/debugfs/hqds.h"
#include "common/debugfs/mqd_value.h"
#include "tests/unit/captures.h"

static struct hqds h;
static char *kept; // the text of h, which needs it

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
	free(kept);
	kept = NULL;
	return 0;
}

static void parse_len(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1); // no byte beyond the end
	assert_non_null(copy);
	memcpy(copy, text, len);
	hqds_parse(&h, copy, len);
	free(kept);
	kept = copy;
}

static void parse(const char *text)
{
	parse_len(text, strlen(text));
}

static size_t count_kind(enum hqd_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < h.nslots; i++)
		n += h.slots[i].kind == kind;
	return n;
}

static uint32_t cp(size_t slot, unsigned index)
{
	uint32_t v = 0;
	if (!hqd_cp_reg(&h, &h.slots[slot], index, &v))
		fail_msg("slot %zu has no register %u", slot, index);
	return v;
}

static uint32_t sdma(size_t slot, unsigned offset)
{
	uint32_t v = 0;
	if (!hqd_sdma_reg(&h, &h.slots[slot], offset, &v))
		fail_msg("slot %zu has no register +%u", slot, offset);
	return v;
}

static const char gfx90a[] =
	"Node 1, gpu_id a1f4:\n"
	"   Inst 0, HIQ on MEC 2 Pipe 0 Queue 0\n"
	"    0000c914: 006e3000 00000000 00000001 00000000 00005300 00000000 00000001 00000111\n"
	" Inst 0,  CP Pipe 0, Queue 2\n"
	"    0000c914: 01401000 00000000 00000001 00000909 40005301 00000001 00000007 00000111\n"
	"    0000c934: b1c80000 0000007f 000111f0 e2c10080 00007fb1 e2c10038 00007fb1 60006002\n"
	"    0000c954: 00000000 1c014511 00000000 00000000 00000000 00b00000 00000000 00000000\n"
	"    0000c974: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    0000c994: 00004000 00000000 00000100 00000000 00000000 00000000 00000000 00000000\n"
	"    0000c9b4: 40000000 007f8000 00000000 9a000000 00007fb1 00000000 00009000 00009000\n"
	"    0000c9d4: 00009000 03c91000 00000000 00000000 00000000 00000001 00051230 00000000\n"
	" Inst 0,  CP Pipe 3, Queue 7\n"
	"    0000c914: 00000000 00000000 00000000 00000000 0be05301 00000000 00000000 00000000\n"
	"  SDMA Engine 1, RLC 0\n"
	"    00006640: 08061025 2a3f0000 0000007f 00003b78 00000000 00003b78 00000000 00000000\n"
	"    00006660: 00007f2a 5d09c011 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00006680: 00000000 00000004 10000000\n"
	"    000066e0: 00000000 00000000 00000000 00004850 00000000 00000000\n"
	"    000066fc: 00000000 00000000 0000002f 00000000 00000000 00000000 00000000\n"
	"    00006740: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00006760: 00000000 00000abc\n";

static void slots_gfx90a(void **state)
{
	(void)state;
	uint32_t v;

	parse(gfx90a);
	assert_int_equal(h.nnodes, 1);
	assert_int_equal(h.nodes[0].node, 1);
	assert_int_equal(h.nodes[0].gpu_id, 0xa1f4);
	assert_int_equal(h.nodes[0].slots, 4);
	assert_int_equal(h.count.foreign + h.bad_words, 0);
	assert_int_equal(h.slots[0].kind, HQD_HIQ);
	assert_int_equal(h.slots[0].mec, 2);
	assert_int_equal(h.slots[0].xcc, 0);

	assert_int_equal(h.slots[1].kind, HQD_CP);
	assert_int_equal(h.slots[1].pipe, 0);
	assert_int_equal(h.slots[1].queue, 2);
	assert_int_equal(h.slots[1].lines, 7);
	assert_int_equal(cp(1, 0), 0x1401000);
	assert_int_equal(cp(1, 8), 0xb1c80000);
	assert_int_equal(cp(1, 15), 0x60006002);
	assert_int_equal(cp(1, 17), 0x1c014511);
	assert_int_equal(cp(1, 53), 1);
	assert_int_equal(cp(1, 54), 0x51230);
	assert_false(hqd_cp_reg(&h, &h.slots[1], 56, &v));
	assert_false(hqd_sdma_reg(&h, &h.slots[1], 0, &v));
	assert_int_equal(hqd_in_use(&h, &h.slots[1], GFX9), 1);
	assert_int_equal(h.slots[2].pipe, 3);
	assert_int_equal(h.slots[2].queue, 7);
	assert_int_equal(hqd_in_use(&h, &h.slots[2], GFX9), 0);

	assert_int_equal(h.slots[3].kind, HQD_SDMA);
	assert_int_equal(h.slots[3].xcc, -1);
	assert_int_equal(h.slots[3].pipe, 1);
	assert_int_equal(h.slots[3].queue, 0);
	assert_int_equal(sdma(3, 18), 0x10000000);   // doorbell
	assert_int_equal(sdma(3, 0x28 + 3), 0x4850); // doorbell offset, behind a gap
	assert_int_equal(sdma(3, 0x2f + 2), 0x2f);
	assert_int_equal(sdma(3, 0x40 + 9), 0xabc);
	assert_false(hqd_sdma_reg(&h, &h.slots[3], 19, &v)); // in the gap
	assert_false(hqd_cp_reg(&h, &h.slots[3], 0, &v));
}

// Kernels up to 6.4 have no Inst; gfx8 prints CU masks first; gfx10 and later have another base.
static void formats(void **state)
{
	(void)state;
	parse("Node 1, gpu_id 10:\n"
	      "  HIQ on MEC 2 Pipe 1 Queue 3\n"
	      "    0000c914: 00000001 00000002 00000003\n"
	      "  CP Pipe 1, Queue 4\n"
	      "    0000b858: ffffffff ffffffff\n"
	      "    0000b864: ffffffff ffffffff\n"
	      "    0000c914: 00100000 00000000 00000001\n"
	      "Node 2, gpu_id 20:\n"
	      " Device is stopped\n"
	      "Node 3, gpu_id 30:\n"
	      " Inst 7,  CP Pipe 0, Queue 3\n"
	      "    0000c824: 015ac000 00000080 00000001 00000808\n"
	      " Inst 3,  CP Pipe 2, Queue 5\n"
	      "    001cc914: 017ab000 00000000 00000001 00000808\n");
	assert_int_equal(h.nnodes, 3);
	assert_int_equal(h.nslots, 4);
	assert_int_equal(h.count.foreign, 0);
	assert_int_equal(h.slots[0].xcc, -1);
	assert_int_equal(h.slots[0].mec, 2);
	assert_int_equal(h.slots[0].pipe, 1);
	assert_int_equal(h.slots[0].queue, 3);
	assert_int_equal(cp(0, 1), 2);
	assert_int_equal(h.slots[1].pipe, 1);
	assert_int_equal(cp(1, 0), 0x100000);
	assert_int_equal(hqd_in_use(&h, &h.slots[1], GFX9), 1);
	assert_true(h.nodes[1].stopped);
	assert_int_equal(h.nodes[1].slots, 0);
	assert_false(h.nodes[2].stopped);
	assert_int_equal(h.slots[2].xcc, 7);
	assert_int_equal(cp(2, 0), 0x15ac000);
	assert_int_equal(cp(2, 1), 0x80);
	assert_int_equal(h.slots[3].xcc, 3);
	assert_int_equal(cp(3, 3), 0x808);
}

static void damage(void **state)
{
	(void)state;
	uint32_t v;

	parse("    0000c914: 00000001\n" // no slot yet
	      " Inst 0,  CP Pipe 0, Queue 2\n"
	      "    0000c914: 0000000g 00000002\n"
	      "    0000c934: 1 00000009\n"
	      "noise\n"
	      "    0000c93e: 00000001\n" // no register begins there
	      "Node 5, gpu_id 50:\n"
	      "    0000c954: 00000001\n" // belongs to no slot of this node
	      " Inst 0,  CP Pipe x, Queue 2\n"
	      " Inst 0,  CP Pipe 1, Queue 2");
	assert_int_equal(h.nnodes, 2);
	assert_int_equal(h.nodes[0].node, UINT32_MAX);
	assert_int_equal(h.nslots, 1); // the last line may have lost a digit
	assert_int_equal(h.count.foreign, 6);
	assert_int_equal(h.count.first_foreign, 1);
	assert_int_equal(h.bad_words, 3);
	assert_false(hqd_cp_reg(&h, &h.slots[0], 0, &v));
	assert_int_equal(cp(0, 1), 2);
	assert_false(hqd_cp_reg(&h, &h.slots[0], 9, &v));

	parse("");
	assert_int_equal(h.nnodes + h.nslots + h.count.lines, 0);
}

static char text_of[2 << 20];

// One slot with these lines.
static void parse_slot(const char *slot, const char *lines)
{
	snprintf(text_of, sizeof(text_of), "Node 1, gpu_id 10:\n%s\n%s", slot, lines);
	parse(text_of);
}

// An XCC has seven bits, and a number 32.
static void slot_numbers(void **state)
{
	static const struct {
		const char *slot;
		enum hqd_kind kind;
		int xcc, mec, pipe, queue;
	} cases[] = {
		{" Inst 127,  CP Pipe 1, Queue 2", HQD_CP, 127, 0, 1, 2},
		{" Inst 128,  CP Pipe 1, Queue 2", HQD_CP, -1, 0, 1, 2},
		{"   Inst 126, HIQ on MEC 3 Pipe 4 Queue 5", HQD_HIQ, 126, 3, 4, 5},
		{"  HIQ on MEC 3 Pipe 4 Queue 5", HQD_HIQ, -1, 3, 4, 5},
		{"  SDMA Engine 6, RLC 7", HQD_SDMA, -1, 0, 6, 7},
		{"  CP Pipe 65535, Queue 65534", HQD_CP, -1, 0, 65535, 65534},
		{"CP\tPipe 8,   Queue 9\r", HQD_CP, -1, 0, 8, 9},
	};
	static const char *const none[] = {"  SDMA Engine 4294967296, RLC 0",
					   "  SDMAEngine 1, RLC 0", "  SDMA Engine , RLC 0",
					   "  SDMA Engine 1, RLC", "  SDMA Engine 1 RLC 0"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse_slot(cases[i].slot, "");
		const struct hqd *s = h.slots;
		assert_int_equal(h.nslots, 1);
		assert_int_equal(s->kind, cases[i].kind);
		assert_int_equal(s->xcc, cases[i].xcc);
		assert_int_equal(s->mec, cases[i].mec);
		assert_int_equal(s->pipe, cases[i].pipe);
		assert_int_equal(s->queue, cases[i].queue);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		parse_slot(none[i], "");
		assert_int_equal(h.nslots, 0);
		assert_int_equal(h.count.foreign, 1);
	}
	parse("Node 4294967295, gpu_id ffffffff:\n Device is stopped\n"
	      "Node 4294967296, gpu_id 1:\nNode 2, gpu_id 100000000:\n");
	assert_true(h.nnodes == 1 && h.nodes[0].node == UINT32_MAX &&
		    h.nodes[0].gpu_id == UINT32_MAX && h.nodes[0].stopped);
	parse(" Device is stopped\n"); // of which node?
	assert_true(h.nnodes == 0 && h.count.foreign == 1);
}

// Words of a line: none, eight, nine; the first and the last register, and those beside them.
static void register_limits(void **state)
{
	static const struct {
		const char *line;
		size_t regs;
		uint32_t bad;
	} cases[] = {
		{"0000c914:", 1, 0},
		{"  0000c914: 00000001 00000002 00000003 00000004 00000005 00000006 00000007 "
		 "00000008",
		 1, 0},
		{"0000c914: 00000001 00000002 00000003 00000004 00000005 00000006 00000007 "
		 "00000008 9",
		 0, 0},
		{"000c914: 00000001", 0, 0},
		{"00000c914: 00000001", 0, 0},
		{"0000c914 00000001", 0, 0},
		{"0000c914", 0, 0},
		{"0000c915: 00000001", 0, 0},
		{"0000c916: 00000001", 0, 0},
		{"0000c914: 000000001", 1, 1},
		{"0000c914: 0000001", 1, 1},
		{"0000c914:\t00000001 \r", 1, 0},
	};
	uint32_t v = 7;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse_slot(" CP Pipe 0, Queue 0", cases[i].line);
		assert_int_equal(h.nregs, cases[i].regs);
		assert_int_equal(h.slots[0].lines, cases[i].regs);
		assert_int_equal(h.count.foreign, !cases[i].regs);
		assert_int_equal(h.bad_words, cases[i].bad);
	}
	// 0xc914 / 4 is 0x3245, and + 0xff is 0x3344: 0xcd10, the last register that is asked for.
	parse_slot(" CP Pipe 0, Queue 0",
		   "0000c914: 00000001 00000002\n0000cd0c: 000000fe 000000ff "
		   "00000100\n");
	assert_int_equal(cp(0, 0), 1);
	assert_int_equal(cp(0, 1), 2);
	assert_false(hqd_cp_reg(&h, &h.slots[0], 2, &v) || hqd_cp_reg(&h, &h.slots[0], 0xfd, &v) ||
		     hqd_cp_reg(&h, &h.slots[0], 0x100, &v));
	assert_int_equal(cp(0, 0xfe), 0xfe);
	assert_int_equal(cp(0, 0xff), 0xff);
	parse_slot("  SDMA Engine 0, RLC 0",
		   "00006640: 00000001\n00006a38: 000000fe 000000ff 00000100\n");
	assert_int_equal(sdma(0, 0), 1);
	assert_int_equal(sdma(0, 0xfe), 0xfe);
	assert_int_equal(sdma(0, 0xff), 0xff);
	assert_false(hqd_sdma_reg(&h, &h.slots[0], 0x100, &v) ||
		     hqd_sdma_reg(&h, &h.slots[0], 1, &v));
	parse_slot("  SDMA Engine 0, RLC 0", "");
	assert_false(hqd_sdma_reg(&h, &h.slots[0], 0, &v));
	parse_slot(" CP Pipe 0, Queue 0", "0000b858: ffffffff\n");
	assert_false(hqd_cp_base(&h, &h.slots[0], &v));
	// Two slots with the same registers: each has its own lines.
	parse_slot(" CP Pipe 0, Queue 0",
		   "0000c914: 0000000a\n CP Pipe 0, Queue 1\n0000c914: 0000000b\n"
		   "0000c918: 0000000c\n");
	assert_true(cp(0, 0) == 10 && cp(1, 0) == 11 && cp(1, 1) == 12);
	assert_false(hqd_cp_reg(&h, &h.slots[0], 1, &v));
	assert_true(h.slots[0].line == 0 && h.slots[1].line == 1 && h.slots[1].lines == 2);
}

// A slot has at most 65535 lines; what is parsed next begins anew.
static void many_lines(void **state)
{
	char *p = text_of;
	(void)state;
	p += sprintf(p, "Node 1, gpu_id 10:\n CP Pipe 0, Queue 0\n");
	for (unsigned i = 0; i < UINT16_MAX + 1; i++)
		p += sprintf(p, "0000c914: 1\n");
	parse_len(text_of, (size_t)(p - text_of));
	assert_int_equal(h.slots[0].lines, UINT16_MAX);
	assert_true(h.nregs == UINT16_MAX && h.bad_words == UINT16_MAX);
	assert_true(h.count.foreign == 1 && h.count.first_foreign == 65538);
	parse(gfx90a);
	assert_true(h.nnodes == 1 && h.nslots == 4 && h.nregs == 16);
	assert_int_equal(h.bad_words + h.count.foreign + h.count.first_foreign, 0);
	assert_int_equal(h.count.lines, 21);
}

// Cut after any byte: the registers whose digits are all there, and with their values.
static void cut_anywhere(void **state)
{
	(void)state;
	struct hqds whole;

	whole = (struct hqds){0};
	hqds_parse(&whole, gfx90a, strlen(gfx90a));
	for (size_t len = 0; len <= strlen(gfx90a); len++) {
		size_t regs = 0, want = 0;
		// A word is there when its last digit is: eight digits behind a blank, on a line
		// with a colon at 12.
		for (const char *p = gfx90a; p < gfx90a + len; p += strcspn(p, "\n") + 1)
			for (size_t i = 13; p[12] == ':' && i < strcspn(p, "\n"); i += 9)
				want += p + i + 9 <= gfx90a + len;
		parse_len(gfx90a, len);
		for (size_t i = 0; i < h.nslots; i++)
			for (unsigned r = 0; r < 0x80; r++) {
				uint32_t v, w = 0;
				if (!hqd_cp_reg(&h, &h.slots[i], r, &v) &&
				    !hqd_sdma_reg(&h, &h.slots[i], r, &v))
					continue;
				regs++;
				assert_true(hqd_cp_reg(&whole, &whole.slots[i], r, &w) ||
					    hqd_sdma_reg(&whole, &whole.slots[i], r, &w));
				assert_int_equal(v, w);
			}
		assert_int_equal(regs, want);
	}
	hqds_fini(&whole);
}

// Third word of the line behind each line that has `word`: CP_HQD_ACTIVE of compute slots.
static size_t count_active(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, word)); p += strlen(word)) {
		const char *line = strchr(p, '\n') + 1;
		n += strncmp(line + 32, "00000001", 8) == 0;
	}
	return n;
}

// Numbers counted in the files: slots by grep, active ones by awk.
static const struct capture {
	const char *hqds, *mqds;
	size_t slots, active, idle, queues;
	unsigned xccs;
} captures[] = {
	{"tests/data/kfd/hqds-streams.txt", "tests/data/kfd/mqds-streams.txt", 3 + 72 + 16, 6, 66,
	 3, 2},
	{"hqds-16streams.txt", "mqds-16streams.txt", 32 + 768 + 512, 20, 748, 5, 4},
};
enum { CAPTURES = sizeof(captures) / sizeof(captures[0]) };

static void slots_of_capture(const struct capture *c, const char *text)
{
	size_t active = 0, idle = 0;
	assert_int_equal(h.nnodes, count_word(text, "Node "));
	assert_int_equal(count_kind(HQD_HIQ), count_word(text, "HIQ on MEC"));
	assert_int_equal(count_kind(HQD_CP), count_word(text, "CP Pipe"));
	assert_int_equal(count_kind(HQD_SDMA), count_word(text, "SDMA Engine"));
	assert_int_equal(h.nslots, c->slots);
	assert_int_equal(h.count.foreign + h.bad_words, 0);
	for (size_t i = 0; i < h.nslots; i++) {
		const struct hqd *s = &h.slots[i];
		if (s->kind != HQD_CP)
			continue;
		assert_int_equal(s->lines, 7);
		assert_in_range(s->xcc, 0, 3);
		assert_in_range(s->queue, 2, 7);
		active += hqd_in_use(&h, s, GFX9) == 1;
		// All idle slots read the same [debugfs.hqds-idle].
		if (hqd_in_use(&h, s, GFX9) != 1) {
			idle++;
			assert_int_equal(cp(i, 4), 0x0be05301);
			assert_int_equal(cp(i, 41), 0x007f8000);
		}
	}
	assert_int_equal(active, count_active(text, "CP Pipe"));
	assert_int_equal(active, c->active); // each queue on each XCC
	assert_int_equal(idle, c->idle);
}

static void captured_slots(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURES; i++) {
		char *text = capture_text(captures[i].hqds);
		if (!text)
			continue;
		parse(text);
		slots_of_capture(&captures[i], text);
		free(text);
	}
}

// Each MQD of the other capture of that moment has its slot on every XCC, found by its address.
static void join_capture(const struct capture *c, const struct mqds *m)
{
	assert_int_equal(m->nqueues, c->queues);
	for (size_t q = 0; q < m->nqueues; q++)
		for (unsigned x = 0; x < c->xccs; x++) {
			uint64_t base;
			size_t found = 0;
			assert_true(mqd_get(m, &m->queues[q], GFX940, x, MQD_V_BASE, &base));
			for (size_t i = 0; i < h.nslots; i++) {
				const struct hqd *s = &h.slots[i];
				if (s->kind != HQD_CP || s->xcc != (int)x ||
				    hqd_in_use(&h, s, GFX9) != 1 ||
				    h.nodes[s->node].gpu_id != m->queues[q].gpu_id)
					continue;
				found += cp(i, 0) == (uint32_t)base && cp(i, 1) == base >> 32;
			}
			assert_int_equal(found, 1);
		}
}

static void captured_join(void **state)
{
	(void)state;
	for (size_t i = 0; i < CAPTURES; i++) {
		char *htext = capture_text(captures[i].hqds),
		     *mtext = htext ? capture_text(captures[i].mqds) : NULL;
		struct mqds m = {0};
		if (mtext) {
			parse(htext);
			mqds_parse(&m, mtext, strlen(mtext));
			join_capture(&captures[i], &m);
			mqds_fini(&m);
		}
		free(htext);
		free(mtext);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(slots_gfx90a), TEST(slot_numbers),   TEST(register_limits),
		TEST(many_lines),   TEST(formats),        TEST(damage),
		TEST(cut_anywhere), TEST(captured_slots), TEST(captured_join),
	};

	return cmocka_run_group_tests_name("debugfs hqds", tests, NULL, NULL);
}
