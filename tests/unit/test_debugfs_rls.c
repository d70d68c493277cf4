// The parser of debugfs rls: the runlists of [debugfs.examples], a real capture when it is at hand,
// and damage.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/debugfs/rls.h"
#include "tests/unit/captures.h"

static struct rls r;

static int setup(void **state)
{
	(void)state;
	r = (struct rls){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rls_fini(&r);
	return 0;
}

static void parse_len(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1); // no byte beyond the end
	assert_non_null(copy);
	memcpy(copy, text, len);
	rls_parse(&r, copy, len);
	free(copy);
}

static void parse(const char *text)
{
	parse_len(text, strlen(text));
}

static const char gfx90a[] =
	"Node 1, gpu_id a1f4:\n"
	"  00000000: c013a100 14000004 a62d2001 00000117 00010002 00001118 ffffbfe0 000000ff\n"
	"  00000020: ffffbff8 000000ff 00000000 00000000 00000000 00400080 00000008 00000000\n"
	"  00000040: 00000000 00000000 00000000 00000000 00000000 c005a200 20000010 00006000\n"
	"  00000060: 01401000 00000000 e2c10038 00007fb1 c013a100 14000003 f83ba001 000000f8\n"
	"  00000080: 00010002 00001118 ffffbfe0 000000ff ffffbff8 000000ff 00000000 00000000\n"
	"  000000a0: 00000000 01000080 00000008 00000000 00000000 00000000 00000000 00000000\n"
	"  000000c0: 00000000 c005a200 2c000010 00004850 006e6000 00000000 5d09c008 00007f2a\n"
	"  000000e0: c005a200 20000010 00004010 013c2000 00000000 5d0a4038 00007f2a c005a200\n"
	"  00000100: 20000010 00004000 006f1000 00000000 5d0c0038 00007f2a\n";

// Process 4 has one queue of one; process 3 has three of four, since one is suspended.
static void runlist_gfx90a(void **state)
{
	(void)state;
	parse(gfx90a);
	assert_int_equal(r.nnodes, 1);
	assert_int_equal(r.count.foreign, 0);
	assert_int_equal(r.nodes[0].node, 1);
	assert_int_equal(r.nodes[0].gpu_id, 0xa1f4);
	assert_int_equal(r.nodes[0].state, RLS_DUMP);
	assert_false(r.nodes[0].damaged);
	assert_false(r.nodes[0].chained);
	assert_int_equal(r.nprocesses, 2);
	assert_int_equal(r.processes[0].pasid, 4);
	assert_int_equal(r.processes[0].announced, 1);
	assert_int_equal(r.processes[0].quantum, 10); // bits 31:25 of 0x14000004
	assert_int_equal(r.processes[0].queues, 1);
	assert_int_equal(r.processes[1].pasid, 3);
	assert_int_equal(r.processes[1].announced, 4);
	assert_int_equal(r.processes[1].queue, 1);
	assert_int_equal(r.processes[1].queues, 3);
	assert_true(r.processes[1].sdma);
	assert_int_equal(r.queues[0].mqd, 0x1401000);
	assert_int_equal(r.queues[0].wptr, 0x7fb1e2c10038);
	assert_int_equal(r.queues[1].doorbell, 0x4850);
	assert_int_equal(r.queues[1].control >> 26 & 7, 3); // SDMA1
	assert_true(rls_maps(&r, rls_find(&r, 0xa1f4), 0x4010));
	assert_false(rls_maps(&r, rls_find(&r, 0xa1f4), 0x4008)); // the suspended one
	assert_null(rls_find(&r, 0xf7bc));
}

static void nodes_and_states(void **state)
{
	(void)state;
	parse("Node 1, gpu_id 6c2e:\n  No active runlist\r\n"
	      "Node 2, gpu_id 10:\n"
	      "  00000000: c00ea100 14008000 00000000 00000000 00000000 00000000 00000000 "
	      "00000000\n"
	      "  00000020: 00000000 00000000 00000000 00000000 00000000 00c000c0 00000000 "
	      "00000000\n"
	      "  00000040: c005a200 20000014 f0001803 003cd800 00007fff 00a64000 00007f25 "
	      "c002a500\n"
	      "  00000060: 00001000 00000000 00800010\n"
	      "Node 3, gpu_id 11:\n");
	assert_int_equal(r.nnodes, 3);
	assert_int_equal(r.nodes[0].state, RLS_NONE);
	assert_int_equal(r.nodes[1].state, RLS_DUMP);
	assert_true(r.nodes[1].chained);
	assert_false(r.nodes[1].damaged);
	assert_int_equal(r.processes[0].announced, 3);
	assert_int_equal(r.processes[0].gws, 64); // all there are: 7 bits
	assert_int_equal(r.queues[0].mqd, 0x7fff003cd800);
	assert_int_equal(r.queues[0].doorbell, 0x1800); // bits 27:2
	assert_int_equal(r.nodes[2].state, RLS_UNKNOWN);
}

// Cut after any byte: the queues whose packets are whole, and no others.
static void cut_anywhere(void **state)
{
	(void)state;
	const size_t header = strcspn(gfx90a, "\n") + 1;
	static const size_t ends[] = {28, 56, 63, 70}; // words up to the end of each MAP_QUEUES

	for (size_t len = 0; len <= strlen(gfx90a); len++) {
		size_t words = 0, want = 0;
		for (size_t pos = header; pos < len; pos++) { // by the last digits of words
			size_t col = (pos - header) % 84;

			words += col >= 12 + 7 && (col - 12 - 7) % 9 == 0;
		}
		for (size_t i = 0; i < 4; i++)
			want += words >= ends[i];
		parse_len(gfx90a, len);
		assert_int_equal(r.nqueues, want);
		if (words && words != 21 && words != 28 && words != 49 && words != 56 &&
		    words != 63 && words != 70)
			assert_true(r.nodes[0].damaged);
	}
}

static void holes_and_nonsense(void **state)
{
	(void)state;
	parse("  00000000: c005a200 20000010\n" // before any node
	      "Node 1, gpu_id 10:\n"
	      "  00000000: c013a100 14000004 a62d2001 00000117 00010002 00001118 ffffbfe0 "
	      "000000ff\n"
	      "  00000040: c005a200 20000010 00006000 01401000 00000000 e2c10038 00007fb1 "
	      "00000000\n"
	      "Node 2, gpu_id 20:\n"
	      "  00000000: 00000000 c005a200 20000010 00006000 01401000 00000000 e2c10038 "
	      "00007fb1\n"
	      "Node 3, gpu_id 30:\n"
	      "  00000000: c005a200 2000001g 00006000 01401000 00000000 e2c10038 00007fb1 "
	      "00000000\n"
	      "Node x, gpu_id 30:\nNode 4, gpu_id zz:\nNode 99999999999, gpu_id 1:\n");
	assert_int_equal(r.nnodes, 3);
	assert_int_equal(r.nqueues, 0);
	for (size_t i = 0; i < 3; i++)
		assert_true(r.nodes[i].damaged);
	assert_int_equal(r.count.foreign, 6);
	parse("");
	assert_int_equal(r.nnodes, 0);
}

// Parses a node's dump of these dwords.
static void parse_words(const uint32_t *words, size_t n)
{
	char text[1024], *p = text;
	p += sprintf(p, "Node 1, gpu_id 1:");
	for (size_t i = 0; i < n; i++) {
		if (i % 8 == 0)
			p += sprintf(p, "\n  %08zx:", 4 * i);
		p += sprintf(p, " %08x", words[i]);
	}
	parse(text);
}

// Packets that are as long as what is read of them, a dword shorter and longer, and packets whose
// last dword is missing.
static void packet_limits(void **state)
{
	static const struct {
		uint32_t header;
		unsigned words; // that are there
		unsigned processes, queues;
		bool damaged, chained;
	} cases[] = {
		{0xc00ca100, 14, 1, 0, false, false}, {0xc00ba100, 13, 0, 0, false, false},
		{0xc00da100, 15, 1, 0, false, false}, {0xc00da100, 14, 0, 0, true, false},
		{0xc005a200, 7, 0, 1, false, false},  {0xc004a200, 6, 0, 0, false, false},
		{0xc006a200, 8, 0, 1, false, false},  {0xc006a200, 7, 0, 0, true, false},
		{0xc000a500, 2, 0, 0, false, true},   {0xc000a500, 1, 0, 0, true, false},
		{0xc000a300, 2, 0, 0, false, false},  {0x8005a200, 7, 0, 0, true, false},
		{0x4005a200, 7, 0, 0, true, false},   {0, 0, 0, 0, false, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t words[16] = {cases[i].header};
		parse_words(words, cases[i].words);
		assert_int_equal(r.nodes[0].state, cases[i].words ? RLS_DUMP : RLS_UNKNOWN);
		assert_int_equal(r.nprocesses, cases[i].processes);
		assert_int_equal(r.nodes[0].processes, cases[i].processes);
		assert_int_equal(r.nqueues, cases[i].queues);
		assert_int_equal(r.nodes[0].queues, cases[i].queues);
		assert_int_equal(r.nodes[0].damaged, cases[i].damaged);
		assert_int_equal(r.nodes[0].chained, cases[i].chained);
	}
}

// Each field of [debugfs.rls-packets] with all its bits, and with all bits around it.
static void packet_fields(void **state)
{
	static const uint32_t words[][21] = {
		{0xc00ca100, 0xfe00ffff, 1, 2, [13] = 0xffc000ff, 0xc005a200, 0xaaaaaaaa,
		 0x0ffffffc, 3, 4, 5, 6},
		{0xc00ca100, 0x01ff0000, 1, 2, [13] = 0x003fff00, 0xc005a200, 0x55555555,
		 0xf0000003, 3, 4, 5, 6},
	};
	(void)state;
	for (unsigned none = 0; none < 2; none++) {
		parse_words(words[none], 21);
		const struct rls_process *p = r.processes;
		const struct rls_queue *q = r.queues;
		assert_int_equal(p->pasid, none ? 0 : 0xffff);
		assert_int_equal(p->quantum, none ? 0 : 127);
		assert_int_equal(p->announced, none ? 0 : 1023);
		assert_int_equal(p->gws, none ? 0 : 127);
		assert_int_equal(p->sdma, !none);
		assert_true(p->page_table == 0x200000001);
		assert_true(p->queue == 0 && p->queues == 1);
		assert_int_equal(q->doorbell, none ? 0 : 0x0ffffffc);
		assert_int_equal(q->control, none ? 0x55555555 : 0xaaaaaaaa);
		assert_true(q->mqd == 0x400000003 && q->wptr == 0x600000005);
	}
}

// Two nodes with queues of the same doorbells, the second without a process; their numbers have 32
// bits.
static void two_nodes(void **state)
{
	(void)state;
	parse("Node 4294967295, gpu_id ffffffff:\n"
	      "  00000000: c005a200 00000000 00000008 00000000 00000000 00000000 00000000 "
	      "c005a200\n"
	      "  00000020: 00000000 00000010 00000000 00000000 00000000 00000000\n"
	      " \t\r\nNode 4294967296, gpu_id 5:\nNode 6, gpu_id 100000000:\n"
	      "Node 7, gpu_id 7:\n"
	      "  00000000: c005a200 00000000 00000018 00000000 00000000 00000000 00000000\n"
	      "Node 8, gpu_id 8:\n");
	assert_int_equal(r.nnodes, 3);
	assert_int_equal(r.count.lines, 9);
	assert_int_equal(r.count.foreign, 2);
	assert_int_equal(r.count.first_foreign, 5);
	assert_int_equal(r.nodes[0].node, UINT32_MAX);
	assert_true(r.nprocesses == 0 && r.nqueues == 3);
	static const struct {
		uint32_t gpu_id, first, queues;
		bool maps[4]; // doorbells 8, 16, 24, 32
	} want[] = {{UINT32_MAX, 0, 2, {true, true, false, false}},
		    {7, 2, 1, {false, false, true, false}},
		    {8, 3, 0, {false, false, false, false}}};
	for (size_t i = 0; i < 3; i++) {
		const struct rls_node *n = rls_find(&r, want[i].gpu_id);
		assert_ptr_equal(n, &r.nodes[i]);
		assert_int_equal(n->queue, want[i].first);
		assert_int_equal(n->queues, want[i].queues);
		for (unsigned d = 0; d < 4; d++)
			assert_int_equal(rls_maps(&r, n, 8 * (d + 1)), want[i].maps[d]);
	}
}

// Numbers counted in the files. The first process of both has queues of which none is mapped
// [debugfs.rls-active].
static const struct capture {
	const char *path;
	size_t nodes, compute, queues;
	uint32_t pasid, announced;
	size_t first; // that process
} captures[] = {
	{"tests/data/kfd/rls-busy.txt", 3, 4, 7, 0x800b, 2, 1},
	{"rls-8gpu.txt", 8, 40, 56, 0x800c, 3, 0},
};

static void runlist_of_capture(const struct capture *c, const char *text)
{
	size_t compute = 0;
	assert_int_equal(r.nqueues, count_word(text, "c005a200"));
	assert_int_equal(r.nnodes, c->nodes);
	assert_int_equal(r.count.foreign, 0);
	for (size_t i = 0; i < r.nqueues; i++)
		compute += (r.queues[i].control >> 26 & 7) == 0;
	assert_int_equal(compute, c->compute);
	assert_int_equal(r.nqueues, c->queues);
	assert_int_equal(r.processes[c->first].pasid, c->pasid);
	assert_int_equal(r.processes[c->first].announced, c->announced);
	assert_int_equal(r.processes[c->first].queues, 0);
	for (size_t i = 0; i < r.nnodes; i++)
		assert_false(r.nodes[i].damaged);
}

static void captured(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
		char *text = capture_text(captures[i].path);
		if (!text)
			continue;
		parse(text);
		runlist_of_capture(&captures[i], text);
		free(text);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(runlist_gfx90a),     TEST(nodes_and_states), TEST(cut_anywhere),
		TEST(holes_and_nonsense), TEST(captured),         TEST(packet_limits),
		TEST(packet_fields),      TEST(two_nodes),
	};

	return cmocka_run_group_tests_name("debugfs rls", tests, NULL, NULL);
}
