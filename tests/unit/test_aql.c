// Packets and rings: bytes laid out by hand, in a memory that changes while it is read. Facts:
// [aql.ring], [aql.dispatch], [aql.barrier-value], [aql.sdma], [aql.pm4], [aql.signal].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/aql/ring.h"

#define RING   0x1000u
#define SLOTS  8u
#define READ   0x2080u
#define WRITE  0x2038u
#define SIGNAL 0x3000u

// Bytes from address 0 on. Reading the ring for the first time moves the queue on.
struct target {
	uint8_t bytes[0x4000];
	uint64_t hole, hole_end; // cannot be read
	uint64_t read_then, write_then;
	bool moves;
};

static void put64(struct target *t, uint64_t at, uint64_t v)
{
	memcpy(t->bytes + at, &v, sizeof(v));
}

static bool read_target(void *arg, uint64_t address, void *to, size_t size)
{
	struct target *t = arg;
	if (address >= sizeof(t->bytes) || size > sizeof(t->bytes) - address ||
	    (address < t->hole_end && address + size > t->hole))
		return false;
	memcpy(to, t->bytes + address, size);
	if (t->moves && address >= RING && address < RING + SLOTS * AQL_BYTES) {
		put64(t, READ, t->read_then);
		put64(t, WRITE, t->write_then);
		t->moves = false;
	}
	return true;
}

static const struct ring ring = {.kind = RING_AQL,
				 .base = RING,
				 .bytes = (uint64_t)SLOTS * AQL_BYTES,
				 .read_at = READ,
				 .write_at = WRITE};

// Every slot holds a dispatch with as many work-items as its number, and 100.
static struct target *target(uint64_t read, uint64_t write)
{
	struct target *t = test_calloc(1, sizeof(*t));
	for (unsigned i = 0; i < SLOTS; i++) {
		uint8_t *b = t->bytes + RING + (size_t)i * AQL_BYTES;
		b[0] = 2;
		b[2] = 1;
		b[4] = b[6] = b[8] = 1;
		b[12] = (uint8_t)(100 + i);
		b[16] = b[20] = 1;
		b[33] = 0x50;
	}
	put64(t, READ, read);
	put64(t, WRITE, write);
	return t;
}

static struct ring_look look(struct target *t, uint64_t around)
{
	const struct memory m = {.fd = -1, .read = read_target, .arg = t};
	struct ring_look l;
	ring_look(&ring, &m, around, around, &l);
	return l;
}

// States of the packets, a letter each: t(aken) n(ext) q(ueued) u(npublished, unreadable) o.
static const char *states(const struct ring_look *l)
{
	static char text[64];
	for (size_t i = 0; i < l->n; i++)
		text[i] = ring_state_word(l->v[i].state)[0];
	text[l->n] = '\0';
	return text;
}

static void test_window(void **state)
{
	(void)state;
	static const struct {
		uint64_t read, write, around, first;
		const char *states;
		uint32_t grid; // of the first
	} cases[] = {
		{0, 0, 4, 0, "", 0},
		{0, 3, 4, 0, "nqq", 100},
		{0, 3, 0, 0, "n", 100},
		{5, 7, 2, 3, "ttnq", 103},
		{7, 9, 1, 6, "tnq", 106},
		// Packets before the last SLOTS are overwritten: the ring has 4 to 11.
		{9, 12, 99, 4, "tttttnqq", 104},
		{12, 12, 2, 10, "tt", 102},
		// Producers that wait for room: packets 8 and 9 have no slot yet.
		{0, 10, 99, 0, "nqqqqqqq", 100},
		{2, 11, 99, 2, "nqqqqqqq", 102},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target *t = target(cases[i].read, cases[i].write);
		struct ring_look l = look(t, cases[i].around);
		assert_int_equal(l.problem, RING_OK);
		assert_string_equal(states(&l), cases[i].states);
		if (l.n) {
			assert_int_equal(l.v[0].index, cases[i].first);
			assert_int_equal(l.v[0].packet.grid[0], cases[i].grid);
		}
		ring_look_fini(&l);
		test_free(t);
	}
}

// While 4 to 7 were read the GPU took up to 10 and the producer wrote up to 13: slots of 4 and 5
// belong to 12 and 13, or will in a moment.
static void test_moves(void **state)
{
	(void)state;
	struct target *t = target(4, 8);
	t->moves = true;
	t->read_then = 10;
	t->write_then = 14;
	struct ring_look l = look(t, 9);
	assert_string_equal(states(&l), "oooooott");
	assert_int_equal(l.v[0].index, 0);
	assert_int_equal(l.v[5].index, 5);
	assert_null(l.v[5].packet.type);
	assert_int_equal(l.v[6].packet.grid[0], 106);
	assert_int_equal(l.at.read, 10);
	ring_look_fini(&l);
	test_free(t);
}

static void test_unpublished(void **state)
{
	(void)state;
	struct target *t = target(4, 8);
	t->bytes[RING + 5 * AQL_BYTES] = 1; // invalid: what is left is of packet -3
	t->bytes[RING + 3 * AQL_BYTES] = 1; // taken, and left
	struct ring_look l = look(t, 9);
	assert_string_equal(states(&l), "ttttnuqq");
	assert_true(l.v[3].packet.left);
	assert_int_equal(l.v[3].packet.grid[0], 103);
	assert_false(l.v[5].packet.left);
	assert_string_equal(l.v[5].packet.type, "invalid");
	assert_int_equal(l.v[5].packet.kernel_object, 0);
	ring_look_fini(&l);
	test_free(t);
}

static void test_hole(void **state)
{
	(void)state;
	struct target *t = target(0, 8);
	t->hole = RING + 2 * AQL_BYTES;
	t->hole_end = RING + 3 * AQL_BYTES + 1;
	struct ring_look l = look(t, 9);
	assert_string_equal(states(&l), "nquuqqqq");
	assert_null(l.v[2].packet.type);
	ring_look_fini(&l);
	t->hole = READ;
	t->hole_end = READ + 1;
	l = look(t, 9);
	assert_int_equal(l.problem, RING_UNREADABLE);
	assert_int_equal(l.n, 0);
	test_free(t);
}

static void test_hostile(void **state)
{
	(void)state;
	static const struct {
		uint64_t read, write;
	} indices[] = {{4, 3},
		       {0, 17},
		       {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1},
		       {UINT64_MAX, UINT64_MAX},
		       {0, UINT64_MAX},
		       {UINT64_MAX - 2, 1}};
	struct target *t = target(0, 1);
	const struct memory m = {.fd = -1, .read = read_target, .arg = t};
	struct ring_look l;
	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
		put64(t, READ, indices[i].read);
		put64(t, WRITE, indices[i].write);
		l = look(t, UINT64_MAX);
		assert_int_equal(l.problem, RING_ABSURD);
		assert_null(l.v);
	}
	put64(t, READ, 0);
	put64(t, WRITE, 1);
	struct ring bad[] = {ring, ring, ring, ring, ring, ring};
	bad[0].kind = RING_NONE;
	bad[1].bytes = 96;
	bad[2].bytes = UINT64_C(1) << 40;
	bad[3].base = UINT64_MAX - 8;
	bad[4].read_at = RING_NO_ADDRESS;
	bad[5].base = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ring_look(&bad[i], &m, 1, 1, &l);
		assert_int_equal(l.problem, RING_UNKNOWN);
	}
	bad[0] = ring;
	bad[0].write_at = RING_NO_ADDRESS;
	ring_look(&bad[0], &m, 1, 1, &l);
	assert_int_equal(l.problem, RING_NO_WRITE);
	bad[0] = ring;
	bad[0].base = UINT64_C(0x7fff00000000); // nothing is there
	ring_look(&bad[0], &m, 1, 1, &l);
	assert_int_equal(l.n, 1);
	assert_string_equal(states(&l), "u");
	assert_int_equal(l.v[0].state, RING_LOST);
	ring_look_fini(&l);
	test_free(t);
}

// Indices that are read together [aql.indices-together] are of two moments: the GPU took packets
// that were written meanwhile.
static bool read_torn(void *arg, uint64_t address, void *to, size_t size)
{
	const uint64_t write = 2;
	if (!read_target(arg, address, to, size))
		return false;
	if (size > sizeof(uint64_t))
		memcpy((uint8_t *)to + (WRITE - address), &write, sizeof(write));
	return true;
}

static void test_indices_together(void **state)
{
	(void)state;
	struct target *t = target(3, 5);
	struct memory m = {.fd = -1, .read = read_target, .arg = t};
	struct ring_indices i;
	struct ring wild = ring;
	assert_int_equal(ring_indices(&ring, &m, &i), RING_OK);
	assert_int_equal(i.read, 3);
	assert_int_equal(i.write, 5);
	m.read = read_torn;
	assert_int_equal(ring_indices(&ring, &m, &i), RING_OK);
	assert_int_equal(i.read, 3);
	assert_int_equal(i.write, 5);
	wild.read_at = 0;
	wild.write_at = UINT64_MAX - 7;
	assert_int_equal(ring_indices(&wild, &m, &i), RING_UNREADABLE);
	wild.write_at = UINT64_MAX - 1;
	assert_int_equal(ring_indices(&wild, &m, &i), RING_UNREADABLE);
	test_free(t);
}

// What the header of a free slot leaves of a dispatch [aql.slot-freed], and what only looks like
// one.
static void test_left(void **state)
{
	(void)state;
	struct packet p;
	uint8_t dispatch[AQL_BYTES] = {1, 0, 2, 0,         8,         0,       8,
				       0, 1, 0, [12] = 64, [16] = 64, [20] = 1};
	uint8_t b[AQL_BYTES];
	dispatch[34] = 7;    // kernel object 0x70000
	dispatch[57] = 0x30; // completion signal 0x3000
	aql_decode(&p, dispatch);
	assert_int_equal(p.kind, PACKET_DISPATCH);
	assert_true(p.left);
	assert_int_equal(p.kernel_object, 0x70000);
	assert_int_equal(p.completion, 0x3000);
	static const struct {
		unsigned at;
		uint8_t value;
	} none[] = {{34, 0}, {2, 4}, {2, 0}, {4, 0}, {12, 0}, {10, 1}, {48, 1}};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		memcpy(b, dispatch, sizeof(b));
		b[none[i].at] = none[i].value;
		aql_decode(&p, b);
		assert_int_equal(p.kind, PACKET_INVALID);
		assert_int_equal(p.completion, 0);
	}
	// A barrier-value packet has its format where a dispatch has its dimensions.
	memset(b, 0xff, sizeof(b));
	memcpy(b, (uint8_t[]){1, 0, 2, 0, 0, 0, 0, 0}, 8);
	aql_decode(&p, b);
	assert_string_equal(p.type, "invalid");
}

static void test_scopes(void **state)
{
	(void)state;
	// Headers that HIP writes, and their bits [aql.header].
	static const struct {
		const char *type;
		uint16_t header;
		bool barrier;
		uint8_t acquire, release;
	} cases[] = {
		{"dispatch", 0x0b02, true, 1, 1},    {"dispatch", 0x1502, true, 2, 2},
		{"dispatch", 0x0302, true, 1, 0},    {"barrier-and", 0x1503, true, 2, 2},
		{"barrier-and", 0x0103, true, 0, 0}, {"barrier-or", 0x0405, false, 2, 0},
		{"unknown", 0x0006, false, 0, 0},    {"unknown", 0x00ff, false, 0, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t b[AQL_BYTES] = {(uint8_t)cases[i].header, (uint8_t)(cases[i].header >> 8)};
		struct packet p;
		aql_decode(&p, b);
		assert_string_equal(p.type, cases[i].type);
		assert_int_equal(p.barrier, cases[i].barrier);
		assert_int_equal(p.acquire, cases[i].acquire);
		assert_int_equal(p.release, cases[i].release);
		assert_int_equal(p.waits, PACKET_WAITS_NOT); // no signal is named
	}
}

// Lengths by opcode [aql.sdma]; bit 31 of a poll: of memory [aql.sdma-poll].
static void test_sdma(void **state)
{
	(void)state;
	static const struct {
		uint32_t words[9], n, copy;
		uint32_t bytes;
		const char *type;
		uint64_t writes, polls;
	} cases[] = {
		{{0}, 1, 7, 4, "sdma-nop", 0, 0},
		{{15u << 16}, 16, 7, 64, "sdma-nop", 0, 0},
		{{1}, 16, 7, 28, "sdma-copy", 0, 0},
		{{1}, 16, 0, 0, "sdma-copy", 0, 0},          // gfx12
		{{1 | 8 << 8}, 16, 7, 0, "sdma-copy", 0, 0}, // to two places
		{{1 | 4 << 8}, 16, 7, 52, "sdma-copy", 0, 0},
		{{2, 0, 0, 3}, 16, 7, 32, "sdma-write", 0, 0}, // four words
		{{2, 0, 0, 3}, 3, 7, 0, "sdma-write", 0, 0},
		{{5, 0x11223344, 0x7f}, 4, 7, 16, "sdma-fence", 0x7f11223344, 0},
		{{5, 0x11223344, 0x7f}, 3, 7, 16, "sdma-fence", 0, 0}, // the end is missing
		{{13, 8, 0}, 3, 7, 12, "sdma-timestamp", 8, 0},
		{{8 | 3u << 28 | 1u << 31, 8, 1, 5, 0xff}, 6, 7, 24, "sdma-poll", 0, 0x100000008},
		{{8 | 3u << 28, 8, 1}, 6, 7, 24, "sdma-poll", 0, 0}, // a register
		{{8 | 4u << 28, 8, 1}, 6, 7, 24, "sdma-poll", 0, 0},
		{{3}, 16, 7, 0, "sdma-unknown", 0, 0},
		{{200}, 16, 7, 0, "sdma-unknown", 0, 0},
	};
	struct packet p;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t words[SDMA_DWORDS_MAX] = {0};
		memcpy(words, cases[i].words, sizeof(cases[i].words));
		sdma_decode(&p, words, cases[i].n, cases[i].copy);
		assert_string_equal(p.type, cases[i].type);
		assert_int_equal(p.bytes, cases[i].bytes);
		assert_int_equal(p.writes, cases[i].writes);
		assert_int_equal(p.polls, cases[i].polls);
	}
	sdma_decode(&p, (const uint32_t[]){8 | 3u << 28 | 1u << 31, 8, 1, 5, 0xff, 0}, 6, 7);
	assert_int_equal(p.waits, PACKET_WAITS_MEMORY);
	assert_int_equal(p.compare, COMPARE_EQ);
	assert_int_equal(p.value, 5);
	assert_int_equal(p.mask, 0xff);
	sdma_decode(&p, NULL, 0, 7);
	assert_string_equal(p.type, "sdma-unknown");
}

// Type 31:30, count 29:16, opcode 15:8 [aql.pm4].
static void test_pm4(void **state)
{
	(void)state;
	static const struct {
		uint32_t word, bytes;
		const char *type;
	} cases[] = {
		{0xc0001000, 8, "pm4-nop"},
		{0xffff1000, 4, "pm4-nop"},
		{0xc0031500, 20, "pm4-dispatch-direct"},
		{0xc000ff00, 8, "pm4-other"},
		{0x80000000, 4, "pm4-filler"},
		{0x00010000, 12, "pm4-registers"},
		{0x40000000, 0, "pm4-unknown"},
	};
	struct packet p;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pm4_decode(&p, cases[i].word);
		assert_string_equal(p.type, cases[i].type);
		assert_int_equal(p.bytes, cases[i].bytes);
	}
}

static void test_compares(void **state)
{
	(void)state;
	for (int64_t v = -1; v <= 1; v++) {
		assert_int_equal(packet_compares(COMPARE_EQ, v, 0), v == 0);
		assert_int_equal(packet_compares(COMPARE_NE, v, 0), v != 0);
		assert_int_equal(packet_compares(COMPARE_LT, v, 0), v < 0);
		assert_int_equal(packet_compares(COMPARE_GE, v, 0), v >= 0);
		assert_int_equal(packet_compares(COMPARE_LE, v, 0), v <= 0);
		assert_int_equal(packet_compares(COMPARE_GT, v, 0), v > 0);
		assert_true(packet_compares(COMPARES, v, 0));
	}
}

// Kind, then the value [aql.signal].
static void test_signals(void **state)
{
	(void)state;
	struct target *t = target(0, 0);
	const struct memory m = {.fd = -1, .read = read_target, .arg = t};
	int64_t v = 0;
	put64(t, SIGNAL, 1);
	put64(t, SIGNAL + 8, (uint64_t)-3);
	put64(t, SIGNAL + 64, (uint64_t)-1); // a doorbell
	assert_true(memory_signal(&m, SIGNAL, &v));
	assert_int_equal(v, -3);
	assert_false(memory_signal(&m, SIGNAL + 64, &v));
	assert_false(memory_signal(&m, SIGNAL + 128, &v)); // kind 0: destroyed
	assert_false(memory_signal(&m, SIGNAL + 1, &v));
	assert_false(memory_signal(&m, 0, &v));
	assert_false(memory_signal(&m, UINT64_MAX - 7, &v));
	test_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),      cmocka_unit_test(test_moves),
		cmocka_unit_test(test_unpublished), cmocka_unit_test(test_hole),
		cmocka_unit_test(test_hostile),     cmocka_unit_test(test_left),
		cmocka_unit_test(test_scopes),      cmocka_unit_test(test_sdma),
		cmocka_unit_test(test_pm4),         cmocka_unit_test(test_compares),
		cmocka_unit_test(test_signals),     cmocka_unit_test(test_indices_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
