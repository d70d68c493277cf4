// The parser of debugfs mqds and the meaning of MQD dwords: captures, and hand-made text for every
// shape of [debugfs.mqds-lines].
//
// Counts in captures come from a plain search for words, expected values from the text of the
// facts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/debugfs/mqd_value.h"
#include "common/debugfs/mqds.h"
#include "tests/unit/captures.h"

// --- helpers ---

static struct mqds *m; // of the text at hand
static char *kept;     // that text

static int done(void **state)
{
	(void)state;
	if (m)
		mqds_fini(m);
	free(m);
	free(kept);
	m = NULL;
	kept = NULL;
	return 0;
}

// The copy has no byte beyond its end, so that a sanitizer sees a step too far.
static void parse(const char *text, size_t len)
{
	done(NULL);
	m = calloc(1, sizeof(*m));
	kept = malloc(len ? len : 1);
	assert_non_null(m);
	assert_non_null(kept);
	memcpy(kept, text, len);
	mqds_parse(m, kept, len);
}

static void parse_str(const char *text)
{
	parse(text, strlen(text));
}

static size_t count_kind(enum mqd_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < m->nqueues; i++)
		n += m->queues[i].kind == kind;
	return n;
}

static uint64_t value(size_t queue, enum gfx_gen gen, unsigned xcc, enum mqd_value what)
{
	uint64_t v = 0;
	if (!mqd_get(m, &m->queues[queue], gen, xcc, what, &v))
		fail_msg("queue %zu xcc %u has no value %d", queue, xcc, what);
	return v;
}

// Dword `dw` of a queue's MQD is there and is `want`.
static void expect_word(size_t queue, unsigned xcc, unsigned dw, uint32_t want)
{
	uint32_t w;
	assert_true(mqd_word(m, &m->queues[queue], xcc, dw, &w));
	assert_int_equal(w, want);
}

static bool no_word(size_t queue, unsigned xcc, unsigned dw)
{
	uint32_t w;
	return !mqd_word(m, &m->queues[queue], xcc, dw, &w);
}

static bool missing(size_t queue, enum gfx_gen gen, enum mqd_value what)
{
	uint64_t v;
	return !mqd_get(m, &m->queues[queue], gen, 0, what, &v);
}

struct want {
	enum mqd_value what;
	uint64_t value;
};

static void expect_values(size_t queue, enum gfx_gen gen, const struct want *w)
{
	for (; w->what != MQD_VALUES; w++) {
		uint64_t got = value(queue, gen, 0, w->what);
		if (got != w->value)
			fail_msg("queue %zu, value %d: 0x%jx, wanted 0x%jx", queue, w->what,
				 (uintmax_t)got, (uintmax_t)w->value);
	}
}

// Values of a queue on its first XCC.
#define VALUES(queue, gen, ...) \
	expect_values(queue, gen, (const struct want[]){__VA_ARGS__, {MQD_VALUES, 0}})

// Nothing of the text was left over.
static void expect_all_understood(void)
{
	assert_int_equal(m->count.foreign + m->bad_words + m->lost_lines + m->cut, 0);
}

// Text of a dump of n lines whose words are all equal to their dword index plus add.
static size_t put_dump(char *out, unsigned lines, uint32_t add)
{
	char *p = out;
	for (unsigned i = 0; i < lines; i++) {
		p += sprintf(p, "    %08x:", i * 32);
		for (unsigned w = 0; w < 8; w++)
			p += sprintf(p, " %08x", i * 8 + w + add);
		*p++ = '\n';
	}
	*p = 0;
	return (size_t)(p - out);
}

// --- captures: of the shape of real ones, and real ones ---

// One process with compute queues on one GPU, newest queue first; values read off the files by
// hand.
static const struct streams {
	const char *file;
	int pid;
	uint32_t gpu;
	size_t last; // index of the oldest queue
	unsigned xccs;
	uint64_t base, doorbell;           // of the newest queue
	uint64_t last_base, last_doorbell; // of the oldest, and where its ring of 4096 bytes is
	uint64_t last_pointers;
} streams[] = {
	{"tests/data/kfd/mqds-streams.txt", 20311, 0x3c5a, 2, 2, 0x1b52000, 0x2010, 0x1b40000,
	 0x2000, 0x240},
	{"mqds-16streams.txt", 94314, 0xf7bc, 4, 4, 0x17ba000, 0x4020, 0x6ed000, 0x4000, 0x10},
};

static void check_streams(const struct streams *c, const char *text)
{
	assert_int_equal(m->nprocs, count_word(text, "Process "));
	assert_int_equal(count_kind(MQD_COMPUTE), count_word(text, "Compute queue on device"));
	assert_int_equal(m->ndumps, count_word(text, "    00000000: "));
	assert_int_equal(m->count.lines, count_word(text, "\n"));
	assert_int_equal(m->procs[0].pid, c->pid);
	assert_int_equal(m->procs[0].pasid, -1); // this driver prints the pid there
	expect_all_understood();

	assert_int_equal(m->queues[0].gpu_id, c->gpu);
	assert_int_equal(m->queues[0].dumps, c->xccs);
	for (unsigned x = 0; x < c->xccs; x++)
		assert_int_equal(value(0, GFX940, x, MQD_V_BASE), c->base + x * 0x3000);
	VALUES(0, GFX940, {MQD_V_DOORBELL, c->doorbell}, {MQD_V_RING_BYTES, 1 << 20});
	VALUES(c->last, GFX940, {MQD_V_BASE, c->last_base}, {MQD_V_DOORBELL, c->last_doorbell},
	       {MQD_V_RING_BYTES, 4096}, {MQD_V_RPTR, c->last_pointers},
	       {MQD_V_WPTR, c->last_pointers});
	for (size_t i = 0; i <= c->last; i++)
		assert_int_equal(value(i, GFX940, 0, MQD_V_ACTIVE), 1);
	assert_int_equal(mqd_guess_gen(m, &m->queues[c->last]), GFX9);
}

static void captured_streams(void **state)
{
	(void)state;
	for (const struct streams *c = streams; c < streams + 2; c++) {
		char *text = capture_text(c->file);
		if (!text)
			continue;
		parse_str(text);
		check_streams(c, text);
		free(text);
	}
}

// Hosts with several GPUs and processes. The queues of one process are off the hardware
// [debugfs.mqd-active], all are drained.
static const struct busy {
	const char *file;
	size_t procs, procs_with_queues, compute, sdma, off;
	unsigned xccs;
	int off_pid;
	int64_t pasids[2];
	uint64_t sdma_ring; // bytes: 4 << bits 5:1 of dword 0
} busy[] = {
	{"tests/data/kfd/mqds-busy.txt", 5, 3, 6, 3, 2, 2, 21904, {0x8004, 0x800b}, 4 << 18},
	{"mqds-8gpu-sdma.txt", 21, 9, 43, 16, 3, 4, 3658041, {0x8008, 0x8052}, 4 << 21},
};

static void check_busy(const struct busy *c)
{
	size_t off = 0, with_queues = 0;
	assert_int_equal(m->nprocs, c->procs);
	assert_int_equal(count_kind(MQD_COMPUTE), c->compute);
	assert_int_equal(count_kind(MQD_SDMA), c->sdma);
	assert_int_equal(m->ndumps, c->compute * c->xccs + c->sdma); // [debugfs.mqds-repeat]
	expect_all_understood();
	for (size_t i = 0; i < m->nprocs; i++) {
		assert_in_range(m->procs[i].pasid, c->pasids[0], c->pasids[1]);
		with_queues += m->procs[i].queues > 0;
	}
	assert_int_equal(with_queues, c->procs_with_queues);

	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		struct mqd_summary s;
		if (q->kind == MQD_SDMA) {
			assert_int_equal(mqd_guess_gen(m, q), GFX9);
			VALUES(i, GFX940, {MQD_V_RING_BYTES, c->sdma_ring});
			continue;
		}
		uint64_t active = value(i, GFX940, 0, MQD_V_ACTIVE);
		off += !active;
		assert_int_equal(active, m->procs[q->proc].pid != c->off_pid);
		mqd_summarize(&s, m, q, GFX940, 0);
		assert_int_equal(s.v[MQD_D_BACKLOG], 0);
		VALUES(i, GFX940, {MQD_V_AQL, 1});
	}
	assert_int_equal(off, c->off);
}

static void captured_busy(void **state)
{
	(void)state;
	for (const struct busy *c = busy; c < busy + 2; c++) {
		char *text = capture_text(c->file);
		if (!text)
			continue;
		parse_str(text);
		check_busy(c);
		free(text);
	}
}

// --- shapes ---

static const char gfx90a_text[] =
	"Process 41207 PASID 0x3:\n"
	"  Compute queue on device a1f4\n"
	"    00000000: c0310800 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    000001e0: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00000200: 013ae000 00000000 00000000 00000808 40005301 00000001 00000007 00000111\n"
	"    00000220: 2a402000 0000007f 0000d1b0 5d0b2080 00007f2a 5d0b2038 00007f2a 6000400a\n"
	"    00000240: 00000000 1c014511 00000000 00000000 00000000 00b00000 00000000 00000000\n"
	"    00000280: 00004000 00000000 00000100 00000000 00000000 00000000 00000000 00000000\n"
	"    000002a0: 40000000 007f8000 00000000 14000000 00007f2a 00000000 00008ac0 00009000\n"
	"    000002c0: 001b2000 03c91000 00000000 00000000 00000000 00000001 0024d1c0 00000000\n";

// From [debugfs.examples]: the suspended gfx90a queue.
static void gfx90a_suspended(void **state)
{
	(void)state;
	parse_str(gfx90a_text);

	assert_int_equal(m->nqueues, 1);
	assert_int_equal(m->procs[0].pid, 41207);
	assert_int_equal(m->procs[0].pasid, 3);
	assert_int_equal(m->queues[0].gpu_id, 41460);
	assert_int_equal(m->lost_lines, 15 - 1 + 1); // 0x20..0x1c0, and 0x260
	assert_int_equal(m->cut, 1);
	// The end of saved waves lies above the control stack: waves are parked.
	VALUES(0, GFX9, {MQD_V_BASE, 0x13ae000}, {MQD_V_ACTIVE, 0}, {MQD_V_VMID, 8},
	       {MQD_V_PIPE_PRIO, 1}, {MQD_V_QUEUE_PRIO, 7}, {MQD_V_RING, 0x7f2a40200000},
	       {MQD_V_RING_BYTES, 1 << 20}, {MQD_V_RPTR, 0xd1b0}, {MQD_V_WPTR, 0x24d1c0},
	       {MQD_V_RPTR_ADDR, 0x7f2a5d0b2080}, {MQD_V_WPTR_ADDR, 0x7f2a5d0b2038},
	       {MQD_V_DOORBELL, 0x4008}, {MQD_V_AQL, 1}, {MQD_V_CTX_BASE, 0x7f2a14000000},
	       {MQD_V_CTX_BYTES, 0x3c91000}, {MQD_V_STACK_BYTES, 0x9000},
	       {MQD_V_WAVE_OFFSET, 0x1b2000}, {MQD_V_ERROR, 0});

	struct mqd_summary s;

	mqd_summarize(&s, m, &m->queues[0], GFX9, 0);
	assert_int_equal(s.v[MQD_D_BACKLOG], 1);
	assert_int_equal(mqd_guess_gen(m, &m->queues[0]), GFX9);
	assert_true(missing(0, GFX_UNKNOWN, MQD_V_RING));
	assert_true(missing(0, GFX9, MQD_V_SDMA_ENGINE));
}

static const char sdma_text[] =
	"Process 41207 PASID 0x3:\n"
	"  SDMA queue on device a1f4\n"
	"    00000000: 08061024 2a3f0000 0000007f 00003b78 00000000 00003b78 00000000 00000000\n"
	"    00000020: 00007f2a 5d09c011 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00000040: 00000000 00000004 00000000 00000000 00000000 00000000 00004850 00000000\n"
	"    00000060: 00000000 00000000 00000000 0000002f 00000000 00000000 00000000 00000000\n"
	"    000001e0: 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000000\n"
	"Process 7311 PASID 0x2:\n"
	"  SDMA queue on device 6c2e\n"
	"    00000000: 00861824 f0a0e000 0000007f 00000000 00000000 00000000 00000000 00007ff0\n"
	"    00000020: b3d06010 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00000040: 00000004 00000000 00000000 00002800 00000000 00000000 00000000 00000000\n"
	"    00000060: 00000000 0000000f 00007ff0 b3d06008 00000000 00000000 00000000 00000000\n"
	"    000001e0: 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000002\n";

// SDMA of [debugfs.examples], gfx90a and gfx11: the same fields in other places [debugfs.mqd-sdma].
static void sdma_layouts(void **state)
{
	(void)state;
	parse_str(sdma_text);

	assert_int_equal(m->nqueues, 2);
	assert_int_equal(m->cut, 0);
	assert_int_equal(mqd_guess_gen(m, &m->queues[0]), GFX9);
	VALUES(0, GFX9, {MQD_V_RING, 0x7f2a3f000000}, {MQD_V_RING_BYTES, 1 << 20},
	       {MQD_V_RPTR, 0x3b78}, {MQD_V_RPTR_ADDR, 0x7f2a5d09c010}, {MQD_V_DOORBELL, 0x4850},
	       {MQD_V_SDMA_ENGINE, 1}, {MQD_V_SDMA_RLC, 0});
	assert_true(missing(0, GFX9, MQD_V_ACTIVE));

	assert_int_equal(mqd_guess_gen(m, &m->queues[1]), GFX11);
	VALUES(1, GFX11, {MQD_V_RING, 0x7ff0a0e00000}, {MQD_V_RING_BYTES, 1 << 20},
	       {MQD_V_RPTR_ADDR, 0x7ff0b3d06010}, {MQD_V_WPTR_ADDR, 0x7ff0b3d06008},
	       {MQD_V_DOORBELL, 0x2800}, {MQD_V_SDMA_RLC, 2});
}

static const char gfx8_text[] =
	"Process 7 PASID 0x1:\n"
	"  Compute queue on device a1f4\n"
	"    00000200: 013ae000 00000000 00000000 00000808 40005301 00000001 00000007 00000111\n"
	"    00000220: 2a402000 0000007f 0000d1b0 5d0b2080 00007f2a 5d0b2038 00007f2a 6000400a\n"
	"    00000240: 0000d1c0 1c014511 00000000 00000000 00000000 00b00000 00000000 00000000\n"
	"    000002a0: 40000000 007f8000 00000000 14000000 00007f2a 00000000 0000a000 00009000\n"
	"    000002c0: 0000b000 03c91000 00000000 00000000 00000000 00000001 11111111 22222222\n";

// gfx8: the write pointer has no high half and is dword 144, and no word tells AQL
// [debugfs.mqd-image]. Offsets of saved waves that contradict each other (dwords 174 to 176) say
// nothing.
static void gfx8_compute(void **state)
{
	(void)state;
	parse_str(gfx8_text);
	struct mqd_summary s;

	VALUES(0, GFX8, {MQD_V_WPTR, 0xd1c0});
	VALUES(0, GFX9, {MQD_V_WPTR, 0x2222222211111111});
	assert_true(missing(0, GFX8, MQD_V_AQL));
	mqd_summarize(&s, m, &m->queues[0], GFX9, 0);
	assert_true(s.v[MQD_D_SAVED_BYTES] == MQD_UNKNOWN);
}

static const char sdma_gfx8_gfx12_text[] =
	"Process 7 PASID 0x1:\n"
	"  SDMA queue on device a1f4\n"
	"    00000000: 08061024 2a3f0000 0000007f 00000054 00000064 00000000 00007f2a 5d09c008\n"
	"    00000020: 00007f2b 5d09c011 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00000040: 00000000 00000004 10000142 00000000 00000000 00000000 00000000 00000000\n"
	"  SDMA queue on device 6c2e\n"
	"    00000000: 00861824 f0a0e000 0000007f 00000000 00000000 00000000 00000000 b3d06011\n"
	"    00000020: 00007ff0 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
	"    00000040: 00000000 00002800 00000000 00007ff2 00000000 00000000 00000000 0000000f\n"
	"    00000060: b3d06008 00007ff1 00000000 00000000 00000000 00000000 00000000 00000000\n";

// SDMA of gfx8 and gfx12 [debugfs.mqd-sdma]: halves of addresses are swapped from one to the other.
static void sdma_gfx8_gfx12(void **state)
{
	(void)state;
	parse_str(sdma_gfx8_gfx12_text);

	// The doorbell is 4 x 0x142.
	VALUES(0, GFX8, {MQD_V_WPTR, 0x64}, {MQD_V_WPTR_ADDR, 0x7f2a5d09c008},
	       {MQD_V_RPTR_ADDR, 0x7f2b5d09c010}, {MQD_V_DOORBELL, 0x508});
	assert_int_equal(mqd_guess_gen(m, &m->queues[1]), GFX12);
	VALUES(1, GFX12, {MQD_V_RPTR_ADDR, 0x7ff0b3d06010}, {MQD_V_WPTR_ADDR, 0x7ff1b3d06008},
	       {MQD_V_DOORBELL, 0x2800});
}

// Each line a kernel may print, old and new, one after the other.
static void every_line_shape(void **state)
{
	(void)state;
	parse_str("Process 1 PASID 0x8001:\n"
		  "  Bad user queue type 7 on device a1f4\n"
		  "  Queue node with bad user queue type 9 on device b2\n"
		  "  DIQ on device a1f4\n"
		  "    00000000: c0310800 00000001\n"
		  "  Bad kernel queue type 5 on device a1f4\n"
		  "  Weird: Queue node with neither kernel nor user queue\n"
		  "Process 22 PASID 22:\n"
		  "Process 333 PASID 0x8002:\n");

	assert_int_equal(m->nprocs, 3);
	assert_int_equal(m->count.foreign, 0);
	assert_int_equal(m->nqueues, 5);
	assert_int_equal(m->procs[0].queues, 5);
	assert_int_equal(m->procs[0].pasid, 0x8001);
	assert_int_equal(m->procs[1].pasid, -1);
	assert_int_equal(m->procs[1].queues, 0);
	assert_int_equal(m->queues[0].kind, MQD_BAD_USER);
	assert_int_equal(m->queues[0].gpu_id, 0xa1f4);
	assert_int_equal(m->queues[1].gpu_id, 0xb2);
	assert_int_equal(m->queues[2].kind, MQD_DIQ);
	assert_int_equal(m->queues[2].dumps, 1);
	assert_int_equal(m->queues[3].kind, MQD_OTHER);
	assert_int_equal(m->queues[4].kind, MQD_OTHER);
	assert_true(mqd_is_user(&m->queues[0]));
	assert_false(mqd_is_user(&m->queues[2]));
}

// Four XCCs without a separator; then the kernel bug that prints an SDMA queue four times.
static void xccs_and_repeated_sdma(void **state)
{
	(void)state;
	char *text = malloc(1 << 20), *p = text;

	assert_non_null(text);
	p += sprintf(p, "Process 5 PASID 0x9:\n  Compute queue on device f7bc\n");
	for (unsigned x = 0; x < 4; x++)
		p += put_dump(p, 64, x << 16);
	p += sprintf(p, "  SDMA queue on device f7bc\n");
	for (unsigned x = 0; x < 4; x++)
		p += put_dump(p, 16, 0x70000 + x);

	parse_str(text);

	assert_int_equal(m->nqueues, 2);
	assert_int_equal(m->queues[0].dumps, 4);
	for (unsigned x = 0; x < 4; x++)
		for (unsigned dw = 0; dw < 512; dw++) {
			expect_word(0, x, dw, (x << 16) + dw);
		}
	assert_true(no_word(0, 4, 0));
	assert_true(no_word(0, 0, 512));
	assert_int_equal(m->queues[1].dumps, 1);
	expect_word(1, 0, 127, 0x70000 + 127); // of the first dump, not of its neighbours
	assert_true(no_word(1, 0, 128));
	expect_all_understood();
	free(text);
}

static void gfx10_sdma_is_longer(void **state)
{
	(void)state;
	char text[4096], *p = text;

	p += sprintf(p, "Process 5 PASID 0x9:\n  SDMA queue on device 12\n");
	p += put_dump(p, 16, 0);
	sprintf(p, "    00000200: 00000001 00000003\n");

	parse_str(text);

	assert_int_equal(mqd_guess_gen(m, &m->queues[0]), GFX10);
	VALUES(0, GFX10, {MQD_V_SDMA_ENGINE, 1}, {MQD_V_SDMA_RLC, 3});
}

// A capture cut anywhere: what is whole is right, what is not is missing, nothing is invented.
static void cut_anywhere(void **state)
{
	(void)state;
	char text[8192], *p = text;

	p += sprintf(p, "Process 41207 PASID 0x3:\n  Compute queue on device a1f4\n");
	p += put_dump(p, 64, 0x1000);
	size_t len = (size_t)(p - text), header = len - 64 * 86;

	for (size_t cut = 0; cut <= len; cut++) {
		parse(text, cut);
		size_t words = 0, whole = 0;
		uint32_t w;
		for (size_t pos = header; pos < cut;
		     pos++) { // words wholly inside: count their last digits
			size_t col = (pos - header) % 86;

			whole += col >= 14 + 7 && (col - 14 - 7) % 9 == 0;
		}
		for (unsigned dw = 0; m->nqueues && dw < 520; dw++)
			if (mqd_word(m, &m->queues[0], 0, dw, &w)) {
				assert_int_equal(w, 0x1000 + dw);
				words++;
			}
		assert_int_equal(words, whole);
		if (m->nqueues) {
			assert_int_equal(m->cut, cut < len - 1);
			assert_int_equal(m->queues[0].gpu_id, cut < header ? 0 : 0xa1f4);
		}
		if (m->nprocs)
			assert_int_equal(m->procs[0].pid, 41207);
	}
}

static void wrong_hex_is_missing(void **state)
{
	(void)state;
	static const char *const wrong[] = {"0000000g", "0x000001",  "-0000001", "0000 001",
					    "0000001",  "000000001", "+0000001", "\3770000001",
					    "@0000001", "`0000001"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[512];
		sprintf(text,
			"Process 1 PASID 0x1:\n  SDMA queue on device 1\n"
			"    00000000: 11111111 %s 22222222\n",
			wrong[i]);
		parse_str(text);

		expect_word(0, 0, 0, 0x11111111);
		assert_true(no_word(0, 0, 1));
		// One of 8 characters spoils itself; another length all that follow, too.
		assert_int_equal(m->bad_words, strchr(wrong[i], ' ')   ? 3
					       : strlen(wrong[i]) == 8 ? 1
								       : 2);
	}
}

// Any byte of a line replaced by any other: each word is what it was, what it says now, or missing;
// never a neighbour's.
static void one_byte_replaced(void **state)
{
	(void)state;
	static const char bytes[] = " 07fFgG:\t\r\xff";
	char text[4096], *p = text;
	const unsigned row = 3;

	p += sprintf(p, "Process 1 PASID 0x1:\n  SDMA queue on device 1\n");
	char *line = p + row * 86;

	put_dump(p, 16, 0xabc00000);
	for (unsigned col = 0; col < 85; col++)
		for (const char *c = bytes; c < bytes + sizeof(bytes) - 1; c++) {
			char before = line[col];
			line[col] = *c;
			parse_str(text);
			unsigned missing_words = 0;

			for (unsigned dw = 0; dw < 128; dw++) {
				uint32_t w, want = 0xabc00000 + dw;
				unsigned first = 14 + 9 * (dw % 8); // column of its first digit
				if (dw / 8 == row && col >= first && col < first + 8) {
					char digits[9] = "";
					memcpy(digits, line + first, 8);
					want = (uint32_t)strtoul(digits, NULL, 16);
				}
				if (mqd_word(m, &m->queues[0], 0, dw, &w))
					assert_int_equal(w, want);
				else
					missing_words++;
			}
			if (*c == before)
				assert_int_equal(missing_words, 0);
			if (col >= 14 && (col - 14) % 9 < 8 && strchr("gG:\xff", *c))
				assert_int_equal(missing_words, 1);
			line[col] = before;
		}
}

// Every byte value in every digit of a word: accepted exactly when it is a hex digit.
static void every_byte_as_digit(void **state)
{
	(void)state;
	for (unsigned pos = 0; pos < 8; pos++)
		for (unsigned c = 0; c < 256; c++) {
			char word[9] = "00000000";
			uint32_t got = 0;
			word[pos] = (char)c;
			bool hex = c && strchr("0123456789abcdefABCDEF", (int)c);

			assert_int_equal(dump_hex8(word, &got), hex);
			if (hex)
				assert_int_equal(got, strtoul(word, NULL, 16));
		}
}

static void foreign_text(void **state)
{
	(void)state;
	parse_str("\r\n"
		  ">cat /sys/kernel/debug/kfd/mqds\r\n"
		  "    00000000: 00000001\r\n" // no queue yet
		  "Process 7 PASID 0x1:\r\n"
		  "  SDMA queue on device A1F4\r\n"
		  "    00000000: 00000001 ABCDEF01 00000003 00000004 00000005 "
		  "00000006 00000007 00000008\r\n"
		  "dmesg: something else: 12\r\n"
		  "    00000020: 00000009\r\n"
		  "    00000020: 0000000a\r\n" // again
		  "    00000024: 0000000b\r\n" // no row begins there
		  "    ffffffe0: 0000000c\r\n"
		  "  SDMA queue on device\r\n");

	assert_int_equal(m->nprocs, 1);
	assert_int_equal(m->nqueues, 1);
	assert_int_equal(m->queues[0].gpu_id, 0xa1f4);
	assert_int_equal(m->count.foreign, 7);
	assert_int_equal(m->count.first_foreign, 2);
	expect_word(0, 0, 1, 0xabcdef01);
	expect_word(0, 0, 8, 9);
	assert_true(no_word(0, 0, 9));
}

// Numbers of lines with as many bits as they have, and one more.
static void line_limits(void **state)
{
	static const struct {
		const char *text;
		unsigned procs, foreign;
		int64_t pid, pasid;
	} procs[] = {
		{"Process 2147483647 PASID 0xffffffff:\n", 1, 0, INT32_MAX, UINT32_MAX},
		{"Process 2147483648 PASID 0x1:\n", 0, 1, 0, 0},
		{"Process 1 PASID 0x100000000:\n", 0, 1, 0, 0},
		{"Process 1 PASID 4294967295:\n", 1, 0, 1, -1},
		{"Process 1 PASID 0x1\n", 0, 1, 0, 0},
		{"Process 1 PASID 1\n", 0, 1, 0, 0},
		{"Process 1 PASID 0x1:", 1, 0, 1, 1},
		{" \t \nProcess 0 PASID 0x0:\r\n\n", 1, 0, 0, 0},
	};
	static const struct {
		const char *text;
		uint32_t gpu;
		enum mqd_kind kind;
		unsigned no_gpu;
	} queues[] = {
		{"Compute queue on device ffffffff\n", UINT32_MAX, MQD_COMPUTE, 0},
		{"Compute queue on device 100000000\n", 0, MQD_COMPUTE, 1},
		{"SDMA queue on device a1f4", 0, MQD_SDMA, 1}, // may be torn
		{"SDMA queue on device a1f4\r\n", 0xa1f4, MQD_SDMA, 0},
		{"DIQ on device a1f4 x\n", 0xa1f4, MQD_DIQ, 0},
		{"DIQ on device a1f4x\n", 0, MQD_DIQ, 1},
		{"DIQ on device \n", 0, MQD_DIQ, 1},
		{"Bad user queue type 4294967295 on device 7\n", 7, MQD_BAD_USER, 0},
		{"Bad user queue type 7\n", 0, MQD_BAD_USER, 1},
		{"Queue node with bad user queue type 7 on device 8\n", 8, MQD_BAD_USER, 0},
		{"Bad kernel queue type 7 on device 9\n", 9, MQD_OTHER, 0},
		{"Bad kernel queue type 7\n", 0, MQD_OTHER, 0},
		{"Weird: Queue node with neither kernel nor user queue\n", 0, MQD_OTHER, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(procs) / sizeof(procs[0]); i++) {
		parse_str(procs[i].text);
		assert_int_equal(m->nprocs, procs[i].procs);
		assert_int_equal(m->count.foreign, procs[i].foreign);
		if (!m->nprocs)
			continue;
		assert_int_equal(m->procs[0].pid, procs[i].pid);
		assert_true(m->procs[0].pasid == procs[i].pasid);
	}
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		parse_str(queues[i].text);
		assert_int_equal(m->nqueues, 1);
		assert_int_equal(m->queues[0].gpu_id, queues[i].gpu);
		assert_int_equal(m->queues[0].kind, queues[i].kind);
		assert_int_equal(m->no_gpu, queues[i].no_gpu);
		assert_int_equal(m->cut, queues[i].kind <= MQD_SDMA || queues[i].kind == MQD_DIQ);
		assert_int_equal(mqd_is_user(&m->queues[0]), queues[i].kind <= MQD_BAD_USER);
	}
}

// Rows of a dump: the last that one may have, gaps between two, a row twice, and how many make it
// whole.
static void row_limits(void **state)
{
	static const struct {
		const char *queue;
		unsigned rows[4]; // offsets / 32, after row 0; 0 ends them
		unsigned foreign, lost, kept;
	} cases[] = {
		{"Compute", {17, 0}, 0, 16, 18},
		{"Compute", {18, 0}, 1, 0, 1},
		{"Compute", {1, 1, 0}, 1, 0, 2},
		{"Compute", {2, 1, 0}, 1, 1, 3},
		{"SDMA", {16, 33, 50, 0}, 0, 15 + 16 + 16, 51},
	};
	static const struct {
		unsigned kind_is_sdma, rows, cut;
	} whole[] = {{0, 63, 1}, {0, 64, 0}, {0, 65, 0}, {1, 15, 1}, {1, 16, 0}, {1, 17, 0}};
	static char text[20000];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *p = text;
		p += sprintf(p,
			     "Process 5 PASID 0x9:\n  %s queue on device 1\n00000000: 00000000\n",
			     cases[i].queue);
		for (const unsigned *row = cases[i].rows; *row; row++)
			p += sprintf(p, "%08x: 1 %08x\n", *row * 32, *row);
		parse_str(text);
		assert_int_equal(m->count.foreign, cases[i].foreign);
		assert_int_equal(m->lost_lines, cases[i].lost);
		assert_int_equal(m->dumps[0].rows, cases[i].kept);
		assert_int_equal(m->nrows, cases[i].kept);
		assert_int_equal(m->queues[0].dumps, 1);
		assert_true(no_word(0, 0, 8 * cases[i].kept));
		assert_true(no_word(0, 0, 1));
	}
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		char *p = text;
		p += sprintf(p, "Process 5 PASID 0x9:\n  %s queue on device 1\n",
			     whole[i].kind_is_sdma ? "SDMA" : "Compute");
		put_dump(p, whole[i].rows, 7);
		parse_str(text);
		assert_int_equal(m->cut, whole[i].cut);
		assert_int_equal(m->count.lines, 2 + whole[i].rows);
		assert_int_equal(m->dumps[0].rows, whole[i].rows);
		expect_word(0, 0, 8 * whole[i].rows - 1, 8 * whole[i].rows + 6);
		assert_true(no_word(0, 0, 8 * whole[i].rows));
	}
	// 128 rows, each one blank less than the kernel's: the last may be there, one more is
	// foreign.
	char *p = text;
	p += sprintf(p, "Process 5 PASID 0x9:\n  Compute queue on device 1\n");
	for (unsigned row = 0; row <= 128; row++)
		p += sprintf(p, "%08x: %08x\n", row * 32, row);
	parse_str(text);
	assert_int_equal(m->dumps[0].rows, 128);
	assert_int_equal(m->count.foreign, 1);
	expect_word(0, 0, 127 * 8, 127);
	// A dump that begins behind its beginning.
	parse_str("Compute queue on device 1\n00000200: 00000007\n");
	assert_int_equal(m->lost_lines, 16);
	expect_word(0, 0, 128, 7);
	assert_true(no_word(0, 0, 0));
	parse_str("Compute queue on device 1\n00000220: 00000007\n");
	assert_int_equal(m->count.foreign, 1);
	assert_true(no_word(0, 0, 136));
}

// Two processes, queues of both kinds and a dump of its own for each: nothing is the neighbour's.
static void belongs_to(void **state)
{
	static char text[60000];
	char *p = text;
	(void)state;
	p += sprintf(p, "Process 11 PASID 0x1:\n  Compute queue on device a\n");
	p += put_dump(p, 64, 0x1000);
	p += put_dump(p, 64, 0x2000);
	p += sprintf(p, "  SDMA queue on device b\n");
	p += put_dump(p, 16, 0x3000);
	p += sprintf(p, "Process 22 PASID 0x2:\n00000000: 00000001\n  Compute queue on device c\n");
	put_dump(p, 64, 0x4000);
	parse_str(text);
	assert_int_equal(m->count.foreign, 1); // the dump of no queue
	static const struct {
		uint32_t proc, gpu, dumps, first;
	} want[] = {{0, 0xa, 2, 0x1000}, {0, 0xb, 1, 0x3000}, {1, 0xc, 1, 0x4000}};
	assert_int_equal(m->nqueues, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(m->queues[i].proc, want[i].proc);
		assert_int_equal(m->queues[i].gpu_id, want[i].gpu);
		assert_int_equal(m->queues[i].dumps, want[i].dumps);
		expect_word(i, 0, 0, want[i].first);
		assert_true(no_word(i, want[i].dumps, 0));
	}
	expect_word(0, 1, 5, 0x2005);
	assert_true(m->procs[0].first == 0 && m->procs[0].queues == 2);
	assert_true(m->procs[1].first == 2 && m->procs[1].queues == 1);
}

static void no_header_no_text(void **state)
{
	(void)state;
	parse_str("  Compute queue on device a1f4\n    00000000: c0310800\n");

	assert_int_equal(m->nprocs, 1);
	assert_int_equal(m->procs[0].pid, -1);
	assert_int_equal(m->procs[0].queues, 1);

	parse("", 0);
	assert_int_equal(m->nprocs + m->nqueues + m->count.lines, 0);

	char zeros[4096] = {0};

	parse(zeros, sizeof(zeros));
	assert_int_equal(m->nprocs, 0);
	assert_int_equal(m->count.foreign, 1);
}

static void parser_is_reusable(void **state)
{
	(void)state;
	struct mqds same = {0};
	static const char one[] =
		"Process 1 PASID 0x1:\n  SDMA queue on device 1\n    00000000: 00000001\n";
	for (int i = 0; i < 3; i++) {
		mqds_parse(&same, one, sizeof(one) - 1);
		assert_int_equal(same.nqueues, 1);
		assert_int_equal(same.nrows, 1); // not a full line
		assert_int_equal(same.cut, 1);
	}
	mqds_fini(&same);
}

static void generations(void **state)
{
	(void)state;
	static const struct {
		unsigned version;
		enum gfx_gen gen;
	} versions[] = {
		{80003, GFX8},        {90000, GFX9},         {90010, GFX9},    {90402, GFX940},
		{79999, GFX_UNKNOWN}, {80000, GFX8},         {89999, GFX8},    {90399, GFX9},
		{90400, GFX940},      {99999, GFX940},       {100000, GFX10},  {119999, GFX11},
		{129999, GFX12},      {130000, GFX_UNKNOWN}, {90500, GFX940},  {100300, GFX10},
		{110000, GFX11},      {120001, GFX12},       {0, GFX_UNKNOWN}, {70001, GFX_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		assert_int_equal(gfx_gen_of(versions[i].version), versions[i].gen);
}

// --- each value of each layout, places by offsetof() in the kernel's vi_structs.h and
// v9_structs.h to v12_structs.h: [debugfs.mqd-compute], [debugfs.mqd-sdma] ---

struct bits { // of an MQD whose dwords all differ
	uint32_t flip;
	unsigned lacks; // a dword that the dump has not
};

static uint32_t dword(const struct bits *b, unsigned dw)
{
	return ((dw + 1) * 0x9e3779b1u) ^ b->flip;
}

static bool bits_word(const void *from, unsigned dw, uint32_t *out)
{
	const struct bits *b = from;
	*out = dword(b, dw);
	return dw != b->lacks;
}

struct place {
	enum mqd_value what;
	unsigned lo, hi; // dwords; ONE: there is no high half
	uint64_t mask;
	unsigned left; // shifted so far, behind the mask
};

#define ONE 9999u
#define D   0xffffffffull
#define Q   UINT64_MAX

#define COMPUTE_PLACES                                                                        \
	{MQD_V_BASE, 128, 129, Q, 0}, {MQD_V_ACTIVE, 130, ONE, 1, 0},                         \
		{MQD_V_VMID, 131, ONE, 15, 0}, {MQD_V_PIPE_PRIO, 133, ONE, 3, 0},             \
		{MQD_V_QUEUE_PRIO, 134, ONE, 15, 0}, {MQD_V_RING, 136, 137, Q >> 8, 8},       \
		{MQD_V_RPTR, 138, ONE, D, 0}, {MQD_V_RPTR_ADDR, 139, 140, Q, 0},              \
		{MQD_V_WPTR_ADDR, 141, 142, Q, 0}, {MQD_V_DOORBELL, 143, ONE, 0x0ffffffc, 0}, \
		{MQD_V_CTX_BASE, 171, 172, Q, 0}, {MQD_V_STACK_OFFSET, 174, ONE, D, 0},       \
		{MQD_V_STACK_BYTES, 175, ONE, D, 0}, {MQD_V_WAVE_OFFSET, 176, ONE, D, 0},     \
		{MQD_V_CTX_BYTES, 177, ONE, D, 0},                                            \
	{                                                                                     \
		MQD_V_ERROR, 179, ONE, D, 0                                                   \
	}
#define COMPUTE_9UP                                                                    \
	COMPUTE_PLACES, {MQD_V_READ_INDEX, 96, 97, Q, 0}, {MQD_V_AQL, 181, ONE, 1, 0}, \
	{                                                                              \
		MQD_V_WPTR, 182, 183, Q, 0                                             \
	}
#define SDMA_9UP                                                 \
	{MQD_V_RING, 1, 2, Q >> 8, 8}, {MQD_V_RPTR, 3, 4, Q, 0}, \
	{                                                        \
		MQD_V_WPTR, 5, 6, Q, 0                           \
	}
#define SDMA_9_AND_10                                                                 \
	SDMA_9UP, {MQD_V_RPTR_ADDR, 9, 8, ~1ull, 0}, {MQD_V_WPTR_ADDR, 29, 28, Q, 0}, \
	{                                                                             \
		MQD_V_DOORBELL, 22, ONE, 0x0ffffffc, 0                                \
	}

static const struct {
	enum mqd_kind kind;
	enum gfx_gen gen;
	struct place places[MQD_VALUES];
} layouts[] = {
	{MQD_COMPUTE, GFX8, {COMPUTE_PLACES, {MQD_V_WPTR, 144, ONE, D, 0}}},
	{MQD_COMPUTE, GFX9, {COMPUTE_9UP}},
	{MQD_COMPUTE, GFX940, {COMPUTE_9UP}},
	{MQD_COMPUTE, GFX10, {COMPUTE_9UP}},
	{MQD_COMPUTE, GFX11, {COMPUTE_9UP}},
	{MQD_COMPUTE, GFX12, {COMPUTE_9UP}},
	{MQD_DIQ, GFX8, {COMPUTE_PLACES, {MQD_V_WPTR, 144, ONE, D, 0}}},
	{MQD_DIQ, GFX9, {COMPUTE_9UP}},
	{MQD_SDMA,
	 GFX8,
	 {{MQD_V_RING, 1, 2, Q >> 8, 8},
	  {MQD_V_RPTR, 3, ONE, D, 0},
	  {MQD_V_WPTR, 4, ONE, D, 0},
	  {MQD_V_RPTR_ADDR, 9, 8, ~1ull, 0},
	  {MQD_V_WPTR_ADDR, 7, 6, Q, 0},
	  {MQD_V_DOORBELL, 18, ONE, 0x1fffff, 2},
	  {MQD_V_SDMA_ENGINE, 126, ONE, D, 0},
	  {MQD_V_SDMA_RLC, 127, ONE, D, 0}}},
	{MQD_SDMA,
	 GFX9,
	 {SDMA_9_AND_10, {MQD_V_SDMA_ENGINE, 126, ONE, D, 0}, {MQD_V_SDMA_RLC, 127, ONE, D, 0}}},
	{MQD_SDMA,
	 GFX940,
	 {SDMA_9_AND_10, {MQD_V_SDMA_ENGINE, 126, ONE, D, 0}, {MQD_V_SDMA_RLC, 127, ONE, D, 0}}},
	{MQD_SDMA,
	 GFX10,
	 {SDMA_9_AND_10, {MQD_V_SDMA_ENGINE, 128, ONE, D, 0}, {MQD_V_SDMA_RLC, 129, ONE, D, 0}}},
	{MQD_SDMA,
	 GFX11,
	 {SDMA_9UP,
	  {MQD_V_RPTR_ADDR, 8, 7, ~1ull, 0},
	  {MQD_V_WPTR_ADDR, 27, 26, Q, 0},
	  {MQD_V_DOORBELL, 19, ONE, 0x0ffffffc, 0},
	  {MQD_V_SDMA_ENGINE, 126, ONE, D, 0},
	  {MQD_V_SDMA_RLC, 127, ONE, D, 0}}},
	{MQD_SDMA,
	 GFX12,
	 {SDMA_9UP,
	  {MQD_V_RPTR_ADDR, 7, 8, ~1ull, 0},
	  {MQD_V_WPTR_ADDR, 24, 25, Q, 0},
	  {MQD_V_DOORBELL, 17, ONE, 0x0ffffffc, 0},
	  {MQD_V_SDMA_ENGINE, 126, ONE, D, 0},
	  {MQD_V_SDMA_RLC, 127, ONE, D, 0}}},
	// No layout.
	{MQD_COMPUTE, GFX_UNKNOWN, {{0}}},
	{MQD_SDMA, GFX_UNKNOWN, {{0}}},
	{MQD_BAD_USER, GFX9, {{0}}},
	{MQD_OTHER, GFX9, {{0}}},
};

// A dword of a place is asked for: without it there is no value.
static void expect_needed(size_t i, enum mqd_value what, uint32_t flip, unsigned dw)
{
	const struct bits b = {flip, dw};
	uint64_t v;
	if (mqd_value_of(layouts[i].kind, layouts[i].gen, what, bits_word, &b, &v))
		fail_msg("kind %d, gen %d, value %d: known without dword %u", layouts[i].kind,
			 layouts[i].gen, what, dw);
}

static void each_place(void **state)
{
	static const uint32_t flips[] = {0, UINT32_MAX};
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		for (enum mqd_value what = 0; what < MQD_VALUES; what++) {
			const struct place *p = layouts[i].places;
			while (p->mask && p->what != what)
				p++;
			for (unsigned k = 0; k < 2 && what != MQD_V_RING_BYTES; k++) {
				const struct bits b = {flips[k], ONE};
				uint64_t v = 0, want = dword(&b, p->lo);
				const bool is = mqd_value_of(layouts[i].kind, layouts[i].gen, what,
							     bits_word, &b, &v);
				if (p->hi != ONE)
					want |= (uint64_t)dword(&b, p->hi) << 32;
				want = (want & p->mask) << p->left;
				if (is != (p->mask != 0) || (is && v != want))
					fail_msg("kind %d, gen %d, value %d: %d, 0x%jx, wanted "
						 "0x%jx",
						 layouts[i].kind, layouts[i].gen, what, is,
						 (uintmax_t)v, (uintmax_t)want);
				if (is)
					expect_needed(i, what, b.flip, p->lo);
				if (is && p->hi != ONE)
					expect_needed(i, what, b.flip, p->hi);
			}
		}
	}
}

struct one_word {
	unsigned dw;
	uint32_t value;
};

static bool one_word(const void *from, unsigned dw, uint32_t *out)
{
	const struct one_word *w = from;
	*out = w->value;
	return dw == w->dw;
}

// The size of a ring is an exponent: of compute 8 << bits 5:0 of dword 145, of SDMA 4 << bits 5:1
// of dword 0.
static void ring_bytes(void **state)
{
	static const struct {
		enum mqd_kind kind;
		struct one_word word;
		uint64_t bytes; // 0: unknown
	} rows[] = {
		{MQD_COMPUTE, {145, 0}, 8},
		{MQD_COMPUTE, {145, 1}, 16},
		{MQD_COMPUTE, {145, 0x20}, 8ull << 32},
		{MQD_COMPUTE, {145, 0xffffffd1}, 8 << 17},
		{MQD_COMPUTE, {145, 40}, 8ull << 40},
		{MQD_COMPUTE, {145, 41}, 0},
		{MQD_COMPUTE, {145, 63}, 0},
		{MQD_COMPUTE, {145, 64}, 8},
		{MQD_COMPUTE, {144, 1}, 0},
		{MQD_COMPUTE, {146, 1}, 0},
		{MQD_SDMA, {0, 0}, 4},
		{MQD_SDMA, {0, 1}, 4},
		{MQD_SDMA, {0, 2}, 8},
		{MQD_SDMA, {0, 0xffffffe5}, 4 << 18},
		{MQD_SDMA, {0, 0x3e}, 4ull << 31},
		{MQD_SDMA, {0, 0x40}, 4},
		{MQD_SDMA, {1, 2}, 0},
	};
	static const enum gfx_gen gens[] = {GFX8, GFX9, GFX940, GFX10, GFX11, GFX12};
	uint64_t v;
	(void)state;
	for (size_t g = 0; g < sizeof(gens) / sizeof(gens[0]); g++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const bool is = mqd_value_of(rows[i].kind, gens[g], MQD_V_RING_BYTES,
						     one_word, &rows[i].word, &v);
			if (is != (rows[i].bytes != 0) || (is && v != rows[i].bytes))
				fail_msg("gen %d, row %zu: %d, %ju bytes", gens[g], i, is,
					 (uintmax_t)v);
		}
	}
}

// The dummy register of SDMA MQDs tells generations apart by its place; the driver writes 0xf, and
// no more than its low byte is set.
static void dummy_registers(void **state)
{
	static const struct {
		unsigned dw;
		enum gfx_gen gen;
	} places[] = {{22, GFX_UNKNOWN}, {23, GFX12}, {24, GFX_UNKNOWN}, {25, GFX11},
		      {26, GFX_UNKNOWN}, {27, GFX9},  {28, GFX_UNKNOWN}};
	static const struct {
		unsigned value;
		bool is;
	} values[] = {{0, 0},    {0xe, 0},   {0xf, 1},        {0x10, 0},      {0x1f, 1},
		      {0xff, 1}, {0x10f, 0}, {0x8000000f, 0}, {0xffffffff, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
			char text[2000], *p = text;
			p += sprintf(p, "Process 7 PASID 0x1:\n  SDMA queue on device a\n");
			for (unsigned dw = 0; dw < 128; dw++) {
				if (dw % 8 == 0)
					p += sprintf(p, "    %08x:", dw * 4);
				p += sprintf(p, " %08x%s", dw == places[i].dw ? values[k].value : 0,
					     dw % 8 == 7 ? "\n" : "");
			}
			parse_str(text);
			const enum gfx_gen gen = mqd_guess_gen(m, &m->queues[0]);
			if (gen != (values[k].is ? places[i].gen : GFX_UNKNOWN))
				fail_msg("dword %u is 0x%x: %d", places[i].dw, values[k].value,
					 gen);
		}
	}
}

static void capabilities(void **state)
{
	static const struct {
		enum gfx_gen gen;
		bool runlist, mes, active_written, cu_masks, whole_wptr;
	} rows[] = {
		{GFX_UNKNOWN, 0, 0, 0, 0, 1}, {GFX8, 0, 0, 0, 1, 0},     {GFX9, 1, 0, 0, 0, 1},
		{GFX940, 1, 0, 1, 0, 1},      {GFX10, 1, 0, 0, 0, 1},    {GFX11, 0, 1, 0, 0, 1},
		{GFX12, 0, 1, 0, 0, 1},       {GFX_GENS, 0, 0, 0, 0, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gfx_caps *c = gfx_caps(rows[i].gen);
		if (c->runlist != rows[i].runlist || c->mes != rows[i].mes ||
		    c->active_written != rows[i].active_written ||
		    c->cu_masks != rows[i].cu_masks || c->whole_wptr != rows[i].whole_wptr)
			fail_msg("generation %d", rows[i].gen);
	}
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, done)
	const struct CMUnitTest tests[] = {
		T(captured_streams),     T(captured_busy),      T(gfx90a_suspended),
		T(sdma_layouts),         T(every_line_shape),   T(xccs_and_repeated_sdma),
		T(gfx10_sdma_is_longer), T(cut_anywhere),       T(wrong_hex_is_missing),
		T(every_byte_as_digit),  T(one_byte_replaced),  T(foreign_text),
		T(line_limits),          T(row_limits),         T(belongs_to),
		T(no_header_no_text),    T(parser_is_reusable), T(generations),
		T(gfx8_compute),         T(sdma_gfx8_gfx12),    T(each_place),
		T(ring_bytes),           T(capabilities),       T(dummy_registers),
	};
	return cmocka_run_group_tests_name("debugfs mqds", tests, NULL, NULL);
}
