// Rings of SDMA and PM4 packets, which move while they are read, wrap, and have packets of any
// length; where indices and heads lie; limits of sizes. AQL rings: test_aql.c. Facts: [aql.ring],
// [aql.index-units], [aql.indices-together], [aql.sdma], [aql.pm4].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/aql/ring.h"

#define RING  0x1000u
#define BYTES 512u
#define READ  0x2000u
#define WRITE 0x2800u // apart from READ: two reads

// Bytes from address 0 on. The first read of the ring sets the indices.
static struct {
	uint8_t bytes[0x4000];
	uint64_t hole, hole_end; // cannot be read
	bool moves;
	uint64_t read_then, write_then;
	unsigned reads;
} target;

static void put(uint64_t at, uint64_t v, size_t size)
{
	memcpy(target.bytes + at, &v, size);
}

static bool read_target(void *arg, uint64_t address, void *to, size_t size)
{
	(void)arg;
	target.reads++;
	if (address > sizeof(target.bytes) || size > sizeof(target.bytes) - address ||
	    (address < target.hole_end && address + size > target.hole))
		return false;
	memcpy(to, target.bytes + address, size);
	if (target.moves && address >= RING && address < RING + BYTES) {
		put(READ, target.read_then, 8);
		put(WRITE, target.write_then, 8);
		target.moves = false;
	}
	return true;
}

static const struct memory memory = {.fd = -1, .read = read_target};

static struct ring ring_of(enum ring_kind kind)
{
	return (struct ring){.kind = kind,
			     .base = RING,
			     .bytes = BYTES,
			     .read_at = READ,
			     .write_at = WRITE,
			     .copy_dwords = 7};
}

static struct ring_indices indices; // of the last look

// The packets as "STATE:INDEX@OFFSET TYPE," with the first letter of their states, and the problem.
static const char *look(const struct ring *r, uint64_t after)
{
	static char text[512];
	size_t len = 0;
	struct ring_look l;
	ring_look(r, &memory, 9, after, &l);
	indices = l.at;
	if (l.problem) {
		assert_null(l.v);
		assert_int_equal(l.n, 0);
		return ring_problem_text(l.problem);
	}
	text[0] = '\0';
	for (size_t i = 0; i < l.n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%c:%x@%x %s,",
					ring_state_word(l.v[i].state)[0], (unsigned)l.v[i].index,
					(unsigned)(l.v[i].address - RING),
					l.v[i].packet.type ? l.v[i].packet.type : "-");
	ring_look_fini(&l);
	return text;
}

static void put_words(uint64_t at, size_t n, const uint32_t *words)
{
	memcpy(target.bytes + RING + at, words, n * 4);
}

// A fence that ends with the ring, then a NOP and a copy at its begin.
static void fill_sdma(uint64_t read, uint64_t write)
{
	memset(&target, 0, sizeof(target));
	memset(target.bytes + RING, 0xee, BYTES);
	put_words(0x1f0, 4, (const uint32_t[]){5, 8, 0, 1});
	put_words(0, 8, (const uint32_t[]){0, 1, 0, 0, 0, 0, 0, 0});
	put(READ, read, 8);
	put(WRITE, write, 8);
}

#define FENCE "1f0@1f0 sdma-fence,"
#define NOP   "200@0 sdma-nop,"
#define COPY  "204@4 sdma-copy,"

static void test_sdma(void **state)
{
	static const struct {
		uint64_t read_then, write_then, after;
		const char *seen;
	} cases[] = {
		{0x1f0, 0x220, 9, "n:" FENCE "q:" NOP "q:" COPY},
		{0x1f0, 0x220, 2, "n:" FENCE "q:" NOP "q:" COPY},
		{0x1f0, 0x220, 1, "n:" FENCE "q:" NOP},
		{0x1f0, 0x220, 0, "n:" FENCE},
		{0x200, 0x220, 9, "t:" FENCE "n:" NOP "q:" COPY},
		{0x204, 0x220, 9, "t:" FENCE "t:" NOP "n:" COPY},
		{0x202, 0x220, 9, "t:" FENCE "t:" NOP "q:" COPY}, // in the middle of one
		{0x220, 0x220, 9, "t:" FENCE "t:" NOP "t:" COPY},
		// The producer may have come round: by the whole ring, and a word more.
		{0x220, 0x3f0, 9, "t:" FENCE "t:" NOP "t:" COPY},
		{0x220, 0x3f4, 9, "o:1f0@1f0 -,t:" NOP "t:" COPY},
		{0x220, 0x404, 9, "o:1f0@1f0 -,o:200@0 -,t:" COPY},
		{0x1f0, 0x404, 9, "n:" FENCE "q:" NOP "q:" COPY}, // it waits for room
		{0x220, 0x21f, 9, "its indices do not fit its ring"},
		{0x220, 0x220 + 2 * BYTES, 9, "o:1f0@1f0 -,o:200@0 -,o:204@4 -,"},
		{0x220, 0x221 + 2 * BYTES, 9, "its indices do not fit its ring"},
	};
	const struct ring r = ring_of(RING_SDMA);
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		fill_sdma(0x1f0, 0x220);
		target.moves = true;
		target.read_then = cases[i].read_then;
		target.write_then = cases[i].write_then;
		assert_string_equal(look(&r, cases[i].after), cases[i].seen);
		if (cases[i].seen[1] != ':')
			continue; // a problem
		// States and indices are of one moment, the end of the look.
		assert_int_equal(indices.read, cases[i].read_then);
		assert_int_equal(indices.write, cases[i].write_then);
	}
}

// Where a stream cannot be followed: an unknown packet, one whose end is not written yet, memory
// that cannot be read; nothing at all.
static void test_sdma_ends(void **state)
{
	const struct ring r = ring_of(RING_SDMA);
	(void)state;
	fill_sdma(0x1f0, 0x1f0);
	assert_string_equal(look(&r, 9), "");
	fill_sdma(0x1f0, 0x200);
	put(RING + 0x1f0, 0xee, 1);
	assert_string_equal(look(&r, 9), "n:1f0@1f0 sdma-unknown,");
	fill_sdma(0x1f0, 0x208); // ends in the copy, whose length is known
	assert_string_equal(look(&r, 9), "n:" FENCE "q:" NOP "q:" COPY);
	fill_sdma(0x1f0, 0x1f3); // less than a word
	assert_string_equal(look(&r, 9), "u:1f0@1f0 -,");
	fill_sdma(0x1f0, 0x220);
	target.hole = RING;
	target.hole_end = RING + 1;
	target.moves = true; // by the read of the fence
	target.read_then = 0x220;
	target.write_then = 0x220;
	assert_string_equal(look(&r, 9), "t:" FENCE "u:200@0 -,");
	assert_string_equal(ring_state_word(RING_LOST), "unreadable");
	fill_sdma(0x1f0, 0x220);
	target.hole = WRITE + 7;
	target.hole_end = WRITE + 8;
	assert_string_equal(look(&r, 9), "its indices cannot be read");
}

// Indices of 32 bits that wrap with the ring: a NOP, a filler, and a packet over the ring's end.
// The producer may have overwritten a packet that was taken, and no index tells; so it is 'o'
// without a name.
static void test_pm4(void **state)
{
	static const struct {
		uint32_t read_then, write_then;
		const char *states;
	} cases[] = {{124, 2, "nqqq"}, {126, 2, "onqq"}, {127, 3, "oonq"},  {1, 2, "ooon"},
		     {2, 2, "oooo"},   {125, 2, "oqqq"}, {123, 123, "oooo"}};
	const struct ring r = ring_of(RING_PM4);
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char seen[128];
		memset(&target, 0, sizeof(target));
		put_words(4 * 124, 4, (const uint32_t[]){0xc0001000, 9, 0x80000000, 0xc0007600});
		put_words(0, 2, (const uint32_t[]){9, 0x80000000});
		put(READ, 0x770000007c, 8); // what is above 32 bits is not of it
		put(WRITE, 0x8800000002, 8);
		target.moves = true;
		target.read_then = 0x100000000 + cases[i].read_then;
		target.write_then = cases[i].write_then;
		const char *s = cases[i].states;
		snprintf(seen, sizeof(seen),
			 "%c:7c@1f0 %s,%c:7e@1f8 %s,%c:7f@1fc %s,%c:81@4 pm4-filler,", s[0],
			 s[0] == 'o' ? "-" : "pm4-nop", s[1], s[1] == 'o' ? "-" : "pm4-filler",
			 s[2], s[2] == 'o' ? "-" : "pm4-set-sh-reg", s[3]);
		if (s[3] == 'o')
			strcpy(strrchr(seen, ' '), " -,");
		assert_string_equal(look(&r, 9), seen);
	}
}

static void test_indices_at(void **state)
{
	static const struct {
		uint64_t read_at, write_at, at;
		size_t size;
	} cases[] = {{0x2000, 0x2008, 0x2000, 16},  {0x2008, 0x2000, 0x2000, 16},
		     {0x2000, 0x2000, 0x2000, 8},   {0x2000, 0x20f8, 0x2000, 256},
		     {0x20f8, 0x2000, 0x2000, 256}, {0x2000, 0x20f9, 0x2000, 0},
		     {0x2100, 0x2000, 0x2000, 0},   {RING_NO_ADDRESS, 0x2000, 0x2000, 0}};
	(void)state;
	for (enum ring_kind kind = RING_NONE; kind <= RING_PM4; kind++)
		for (size_t i = 0; i < COUNT(cases); i++) {
			const bool one = kind == RING_AQL || kind == RING_SDMA;
			struct ring r = ring_of(kind);
			struct ring_indices now;
			uint64_t at;
			r.read_at = cases[i].read_at;
			r.write_at = cases[i].write_at;
			assert_int_equal(ring_indices_at(&r, &at), one ? cases[i].size : 0);
			assert_int_equal(at, cases[i].at);
			if (!one || r.read_at == RING_NO_ADDRESS || r.read_at == r.write_at)
				continue;
			memset(&target, 0, sizeof(target));
			put(r.read_at, 3, 8);
			put(r.write_at, 5, 8);
			assert_int_equal(ring_indices(&r, &memory, &now), RING_OK);
			assert_int_equal(now.read, 3);
			assert_int_equal(now.write, 5);
			assert_int_equal(target.reads, cases[i].size ? 1 : 2);
		}
}

// What a look at the head reads: the packet before the read index, and that at it.
static void test_head_at(void **state)
{
	static const struct {
		uint64_t read, write, at;
		size_t size;
	} cases[] = {{0, 0, 0, 0},    {0, 1, 0, 64},    {0, 5, 0, 64},   {1, 1, 0, 64},
		     {1, 2, 0, 128},  {5, 7, 256, 128}, {7, 7, 384, 64}, {7, 9, 384, 128},
		     {8, 8, 448, 64}, {8, 9, 448, 0},   {9, 10, 0, 128}};
	const struct ring r = ring_of(RING_AQL), other = ring_of(RING_SDMA);
	uint64_t at;
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct ring_indices now = {cases[i].read, cases[i].write};
		assert_int_equal(ring_head_at(&r, &now, &at), cases[i].size);
		assert_int_equal(at, RING + cases[i].at);
		assert_int_equal(ring_head_at(&other, &now, &at), 0);
	}
}

// Each condition of a ring, at its last value and behind it.
static void test_sizes(void **state)
{
	static const struct {
		uint64_t base, bytes;
		bool good;
	} cases[] = {{RING, 64, true},
		     {RING, 32, false},
		     {RING, 96, false},
		     {RING, 1ull << 32, true},
		     {RING, 1ull << 33, false},
		     {RING, 0, false},
		     {0, 512, false},
		     {4, 512, true},
		     {RING + 2, 512, false},
		     {RING_NO_ADDRESS - (1ull << 32) - 3, 512, true},
		     {RING_NO_ADDRESS - (1ull << 32) + 1, 512, false}};
	(void)state;
	memset(&target, 0, sizeof(target));
	put(WRITE, 1, 8);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ring r = ring_of(RING_AQL);
		struct ring_indices now;
		r.base = cases[i].base;
		r.bytes = cases[i].bytes;
		assert_int_equal(ring_indices(&r, &memory, &now),
				 cases[i].good ? RING_OK : RING_UNKNOWN);
		assert_int_equal(now.write, cases[i].good);
	}
}

// A look at an AQL ring reads the two indices twice, and between them all slots at once, or in two
// parts where they wrap; slot by slot where a part cannot be read.
static void test_aql_reads(void **state)
{
	static const struct {
		uint64_t read, write;
		unsigned hole, reads; // hole: the second slot cannot be read
	} cases[] = {{0, 4, 0, 5}, {4, 8, 0, 5}, {8, 12, 0, 6}, {9, 13, 0, 5}, {0, 4, 1, 9}};
	const struct ring r = ring_of(RING_AQL);
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ring_look l;
		memset(&target, 0, sizeof(target));
		put(READ, cases[i].read, 8);
		put(WRITE, cases[i].write, 8);
		target.hole = cases[i].hole ? RING + 64 : 0;
		target.hole_end = cases[i].hole ? RING + 65 : 0;
		ring_look(&r, &memory, 1, 9, &l);
		assert_int_equal(l.problem, RING_OK);
		assert_int_equal(l.n, 4 + (cases[i].read > 0));
		for (size_t k = 0; k < l.n; k++) {
			const uint64_t index = cases[i].read - (cases[i].read > 0) + k;
			assert_int_equal(l.v[k].index, index);
			assert_int_equal(l.v[k].address, RING + index % 8 * 64);
		}
		ring_look_fini(&l);
		assert_int_equal(target.reads, cases[i].reads);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sdma),      cmocka_unit_test(test_sdma_ends),
		cmocka_unit_test(test_pm4),       cmocka_unit_test(test_indices_at),
		cmocka_unit_test(test_head_at),   cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_aql_reads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
