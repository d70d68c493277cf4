// The parser of debugfs mqds and the meaning of MQD dwords: real captures when they are at hand
// (never part of the project), and hand-made text for every shape of [debugfs.mqds-lines].
//
// Counts of real files come from a plain search for words, expected values from the text of the
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

// --- helpers
// ----------------------------------------------------------------------------------------

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0, n;
	*len = 0;
	if (!f)
		return NULL;
	do {
		cap += 1 << 20;
		char *more = realloc(text, cap);

		assert_non_null(more);
		text = more;
		n = fread(text + *len, 1, cap - *len - 1, f);
		*len += n;
	} while (n);
	text[*len] = 0;
	fclose(f);
	return text;
}

static char *sample(const char *name, size_t *len)
{
	const char *dir = getenv("GPQ_SAMPLES");
	char path[4096];
	snprintf(path, sizeof(path), "%s/kfd/%s", dir ? dir : "../shared/samples", name);
	char *text = slurp(path, len);

	if (!text)
		print_message("# skipped: no real samples (%s)\n", path);
	return text;
}

// Occurrences of a word: what grep would count, since the word stands at most once on a line.
static size_t count_word(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
		n++;
	return n;
}

static size_t count_kind(const struct mqds *m, enum mqd_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < m->nqueues; i++)
		n += m->queues[i].kind == kind;
	return n;
}

static char *kept; // the text of the mqds at hand, which needs it

static struct mqds *parse(const char *text, size_t len)
{
	struct mqds *m = malloc(sizeof(*m));
	char *copy = malloc(
		len ? len : 1); // no byte beyond the end, so that a sanitizer sees a step too far
	assert_non_null(m);
	assert_non_null(copy);
	memcpy(copy, text, len);
	*m = (struct mqds){0};
	mqds_parse(m, copy, len);
	kept = copy;
	return m;
}

static struct mqds *parse_str(const char *text)
{
	return parse(text, strlen(text));
}

static void done(struct mqds *m)
{
	mqds_fini(m);
	free(m);
	free(kept);
	kept = NULL;
}

static uint64_t value(const struct mqds *m, size_t queue, enum gfx_gen gen, unsigned xcc,
		      enum mqd_value what)
{
	uint64_t v = 0;
	if (!mqd_get(m, &m->queues[queue], gen, xcc, what, &v))
		fail_msg("queue %zu xcc %u has no value %d", queue, xcc, what);
	return v;
}

static bool missing(const struct mqds *m, size_t queue, enum gfx_gen gen, enum mqd_value what)
{
	uint64_t v;
	return !mqd_get(m, &m->queues[queue], gen, 0, what, &v);
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

// --- real captures
// ----------------------------------------------------------------------------------

static void real_16streams(void **state)
{
	(void)state;
	size_t len;
	char *text = sample("mqds-16streams.txt", &len);

	if (!text) {
		skip();
		return;
	}
	struct mqds *m = parse(text, len);

	assert_int_equal(m->nprocs, count_word(text, "Process "));
	assert_int_equal(count_kind(m, MQD_COMPUTE), count_word(text, "Compute queue on device"));
	assert_int_equal(m->ndumps, count_word(text, "    00000000: "));
	assert_int_equal(m->count.lines, count_word(text, "\n"));
	assert_int_equal(m->procs[0].pid, 94314);
	assert_int_equal(m->procs[0].pasid, -1); // this driver prints the pid there
	assert_int_equal(m->count.foreign + m->bad_words + m->lost_lines + m->cut, 0);

	// Newest queue first; values read off the file by hand.
	assert_int_equal(m->queues[0].gpu_id, 0xf7bc);
	assert_int_equal(m->queues[0].dumps, 4);
	assert_int_equal(value(m, 0, GFX940, 0, MQD_V_BASE), 0x17ba000);
	assert_int_equal(value(m, 0, GFX940, 3, MQD_V_BASE), 0x17ba000 + 3 * 0x3000);
	assert_int_equal(value(m, 0, GFX940, 0, MQD_V_DOORBELL), 0x4020);
	assert_int_equal(value(m, 0, GFX940, 0, MQD_V_RING_BYTES), 1 << 20);
	assert_int_equal(value(m, 4, GFX940, 0, MQD_V_BASE), 0x6ed000);
	assert_int_equal(value(m, 4, GFX940, 0, MQD_V_DOORBELL), 0x4000);
	assert_int_equal(value(m, 4, GFX940, 0, MQD_V_RING_BYTES), 4096);
	assert_int_equal(value(m, 4, GFX940, 0, MQD_V_RPTR), 0x10);
	assert_int_equal(value(m, 4, GFX940, 0, MQD_V_WPTR), 0x10);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(value(m, i, GFX940, 0, MQD_V_ACTIVE), 1);
	assert_int_equal(mqd_guess_gen(m, &m->queues[4]), GFX9);
	done(m);
	free(text);
}

// The 8-GPU host: 40 queues on hardware and the 3 of process 3658041 off [debugfs.mqd-active].
static void real_8gpu(void **state)
{
	(void)state;
	size_t len, off = 0, with_queues = 0;
	char *text = sample("mqds-8gpu-sdma.txt", &len);

	if (!text) {
		skip();
		return;
	}
	struct mqds *m = parse(text, len);

	assert_int_equal(m->nprocs, 21);
	assert_int_equal(count_kind(m, MQD_COMPUTE), 43);
	assert_int_equal(count_kind(m, MQD_SDMA), 16);
	assert_int_equal(m->ndumps, count_word(text, "    00000000: "));
	assert_int_equal(m->count.foreign + m->bad_words + m->lost_lines + m->cut, 0);
	for (size_t i = 0; i < m->nprocs; i++) {
		assert_in_range(m->procs[i].pasid, 0x8008, 0x8052);
		with_queues += m->procs[i].queues > 0;
	}
	assert_int_equal(with_queues, 9);

	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		struct mqd_summary s;
		if (q->kind == MQD_SDMA) {
			assert_int_equal(mqd_guess_gen(m, q), GFX9);
			assert_int_equal(value(m, i, GFX940, 0, MQD_V_RING_BYTES),
					 8 << 20); // rb_cntl 0x..2a: 4 << 21
			continue;
		}
		uint64_t active = value(m, i, GFX940, 0, MQD_V_ACTIVE);

		off += !active;
		assert_int_equal(active, m->procs[q->proc].pid != 3658041);
		mqd_summarize(&s, m, q, GFX940, 0);
		assert_int_equal(s.v[MQD_D_BACKLOG], 0); // every captured queue is drained
		assert_int_equal(value(m, i, GFX940, 0, MQD_V_AQL), 1);
	}
	assert_int_equal(off, 3);
	done(m);
	free(text);
}

// --- shapes
// -----------------------------------------------------------------------------------------

// From [debugfs.examples]: the suspended gfx90a queue.
static void gfx90a_suspended(void **state)
{
	(void)state;
	struct mqds *m = parse_str("Process 41207 PASID 0x3:\n"
				   "  Compute queue on device a1f4\n"
				   "    00000000: c0310800 00000000 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    000001e0: 00000000 00000000 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    00000200: 013ae000 00000000 00000000 00000808 40005301 "
				   "00000001 00000007 00000111\n"
				   "    00000220: 2a402000 0000007f 0000d1b0 5d0b2080 00007f2a "
				   "5d0b2038 00007f2a 6000400a\n"
				   "    00000240: 00000000 1c014511 00000000 00000000 00000000 "
				   "00b00000 00000000 00000000\n"
				   "    00000280: 00004000 00000000 00000100 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    000002a0: 40000000 007f8000 00000000 14000000 00007f2a "
				   "00000000 00008ac0 00009000\n"
				   "    000002c0: 001b2000 03c91000 00000000 00000000 00000000 "
				   "00000001 0024d1c0 00000000\n");

	assert_int_equal(m->nqueues, 1);
	assert_int_equal(m->procs[0].pid, 41207);
	assert_int_equal(m->procs[0].pasid, 3);
	assert_int_equal(m->queues[0].gpu_id, 41460);
	assert_int_equal(m->lost_lines, 15 - 1 + 1); // 0x20..0x1c0, and 0x260
	assert_int_equal(m->cut, 1);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_BASE), 0x13ae000);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_ACTIVE), 0);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_VMID), 8);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_PIPE_PRIO), 1);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_QUEUE_PRIO), 7);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RING), 0x7f2a40200000);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RING_BYTES), 1 << 20);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RPTR), 0xd1b0);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_WPTR), 0x24d1c0);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RPTR_ADDR), 0x7f2a5d0b2080);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_WPTR_ADDR), 0x7f2a5d0b2038);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_DOORBELL), 0x4008);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_AQL), 1);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_CTX_BASE), 0x7f2a14000000);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_CTX_BYTES), 0x3c91000);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_STACK_BYTES), 0x9000);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_WAVE_OFFSET), 0x1b2000); // waves are parked
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_ERROR), 0);

	struct mqd_summary s;

	mqd_summarize(&s, m, &m->queues[0], GFX9, 0);
	assert_int_equal(s.v[MQD_D_BACKLOG], 1);
	assert_int_equal(mqd_guess_gen(m, &m->queues[0]), GFX9);
	assert_true(missing(m, 0, GFX_UNKNOWN, MQD_V_RING));
	assert_true(missing(m, 0, GFX9, MQD_V_SDMA_ENGINE));
	done(m);
}

// SDMA of [debugfs.examples], gfx90a and gfx11: the same fields in other places [debugfs.mqd-sdma].
static void sdma_layouts(void **state)
{
	(void)state;
	struct mqds *m = parse_str("Process 41207 PASID 0x3:\n"
				   "  SDMA queue on device a1f4\n"
				   "    00000000: 08061024 2a3f0000 0000007f 00003b78 00000000 "
				   "00003b78 00000000 00000000\n"
				   "    00000020: 00007f2a 5d09c011 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    00000040: 00000000 00000004 00000000 00000000 00000000 "
				   "00000000 00004850 00000000\n"
				   "    00000060: 00000000 00000000 00000000 0000002f 00000000 "
				   "00000000 00000000 00000000\n"
				   "    000001e0: 00000000 00000000 00000000 00000000 00000000 "
				   "00000000 00000001 00000000\n"
				   "Process 7311 PASID 0x2:\n"
				   "  SDMA queue on device 6c2e\n"
				   "    00000000: 00861824 f0a0e000 0000007f 00000000 00000000 "
				   "00000000 00000000 00007ff0\n"
				   "    00000020: b3d06010 00000000 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    00000040: 00000004 00000000 00000000 00002800 00000000 "
				   "00000000 00000000 00000000\n"
				   "    00000060: 00000000 0000000f 00007ff0 b3d06008 00000000 "
				   "00000000 00000000 00000000\n"
				   "    000001e0: 00000000 00000000 00000000 00000000 00000000 "
				   "00000000 00000000 00000002\n");

	assert_int_equal(m->nqueues, 2);
	assert_int_equal(m->cut, 0);
	assert_int_equal(mqd_guess_gen(m, &m->queues[0]), GFX9);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RING), 0x7f2a3f000000);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RING_BYTES), 1 << 20);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RPTR), 0x3b78);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_RPTR_ADDR), 0x7f2a5d09c010);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_DOORBELL), 0x4850);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_SDMA_ENGINE), 1);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_SDMA_RLC), 0);
	assert_true(missing(m, 0, GFX9, MQD_V_ACTIVE));

	assert_int_equal(mqd_guess_gen(m, &m->queues[1]), GFX11);
	assert_int_equal(value(m, 1, GFX11, 0, MQD_V_RING), 0x7ff0a0e00000);
	assert_int_equal(value(m, 1, GFX11, 0, MQD_V_RING_BYTES), 1 << 20);
	assert_int_equal(value(m, 1, GFX11, 0, MQD_V_RPTR_ADDR), 0x7ff0b3d06010);
	assert_int_equal(value(m, 1, GFX11, 0, MQD_V_WPTR_ADDR), 0x7ff0b3d06008);
	assert_int_equal(value(m, 1, GFX11, 0, MQD_V_DOORBELL), 0x2800);
	assert_int_equal(value(m, 1, GFX11, 0, MQD_V_SDMA_RLC), 2);
	done(m);
}

// gfx8: the write pointer has no high half and is dword 144, and no word tells AQL
// [debugfs.mqd-image]. Offsets of saved waves that contradict each other (dwords 174 to 176) say
// nothing.
static void gfx8_compute(void **state)
{
	(void)state;
	struct mqds *m = parse_str("Process 7 PASID 0x1:\n"
				   "  Compute queue on device a1f4\n"
				   "    00000200: 013ae000 00000000 00000000 00000808 40005301 "
				   "00000001 00000007 00000111\n"
				   "    00000220: 2a402000 0000007f 0000d1b0 5d0b2080 00007f2a "
				   "5d0b2038 00007f2a 6000400a\n"
				   "    00000240: 0000d1c0 1c014511 00000000 00000000 00000000 "
				   "00b00000 00000000 00000000\n"
				   "    000002a0: 40000000 007f8000 00000000 14000000 00007f2a "
				   "00000000 0000a000 00009000\n"
				   "    000002c0: 0000b000 03c91000 00000000 00000000 00000000 "
				   "00000001 11111111 22222222\n");
	struct mqd_summary s;

	assert_int_equal(value(m, 0, GFX8, 0, MQD_V_WPTR), 0xd1c0);
	assert_int_equal(value(m, 0, GFX9, 0, MQD_V_WPTR), 0x2222222211111111);
	assert_true(missing(m, 0, GFX8, MQD_V_AQL));
	mqd_summarize(&s, m, &m->queues[0], GFX9, 0);
	assert_true(s.v[MQD_D_SAVED_BYTES] == MQD_UNKNOWN);
	done(m);
}

// SDMA of gfx8 and gfx12 [debugfs.mqd-sdma]: halves of addresses are swapped from one to the other.
static void sdma_gfx8_gfx12(void **state)
{
	(void)state;
	struct mqds *m = parse_str("Process 7 PASID 0x1:\n"
				   "  SDMA queue on device a1f4\n"
				   "    00000000: 08061024 2a3f0000 0000007f 00000054 00000064 "
				   "00000000 00007f2a 5d09c008\n"
				   "    00000020: 00007f2b 5d09c011 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    00000040: 00000000 00000004 10000142 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "  SDMA queue on device 6c2e\n"
				   "    00000000: 00861824 f0a0e000 0000007f 00000000 00000000 "
				   "00000000 00000000 b3d06011\n"
				   "    00000020: 00007ff0 00000000 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n"
				   "    00000040: 00000000 00002800 00000000 00007ff2 00000000 "
				   "00000000 00000000 0000000f\n"
				   "    00000060: b3d06008 00007ff1 00000000 00000000 00000000 "
				   "00000000 00000000 00000000\n");

	assert_int_equal(value(m, 0, GFX8, 0, MQD_V_WPTR), 0x64);
	assert_int_equal(value(m, 0, GFX8, 0, MQD_V_WPTR_ADDR), 0x7f2a5d09c008);
	assert_int_equal(value(m, 0, GFX8, 0, MQD_V_RPTR_ADDR), 0x7f2b5d09c010);
	assert_int_equal(value(m, 0, GFX8, 0, MQD_V_DOORBELL), 0x508); // 4 x 0x142
	assert_int_equal(mqd_guess_gen(m, &m->queues[1]), GFX12);
	assert_int_equal(value(m, 1, GFX12, 0, MQD_V_RPTR_ADDR), 0x7ff0b3d06010);
	assert_int_equal(value(m, 1, GFX12, 0, MQD_V_WPTR_ADDR), 0x7ff1b3d06008);
	assert_int_equal(value(m, 1, GFX12, 0, MQD_V_DOORBELL), 0x2800);
	done(m);
}

// Each line a kernel may print, old and new, one after the other.
static void every_line_shape(void **state)
{
	(void)state;
	struct mqds *m = parse_str("Process 1 PASID 0x8001:\n"
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
	done(m);
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

	struct mqds *m = parse_str(text);
	uint32_t w;

	assert_int_equal(m->nqueues, 2);
	assert_int_equal(m->queues[0].dumps, 4);
	for (unsigned x = 0; x < 4; x++)
		for (unsigned dw = 0; dw < 512; dw++) {
			assert_true(mqd_word(m, &m->queues[0], x, dw, &w));
			assert_int_equal(w, (x << 16) + dw);
		}
	assert_false(mqd_word(m, &m->queues[0], 4, 0, &w));
	assert_false(mqd_word(m, &m->queues[0], 0, 512, &w));
	assert_int_equal(m->queues[1].dumps, 1);
	assert_true(mqd_word(m, &m->queues[1], 0, 127, &w));
	assert_int_equal(w, 0x70000 + 127); // of the first dump, not of its neighbours
	assert_false(mqd_word(m, &m->queues[1], 0, 128, &w));
	assert_int_equal(m->cut + m->count.foreign + m->lost_lines, 0);
	done(m);
	free(text);
}

static void gfx10_sdma_is_longer(void **state)
{
	(void)state;
	char text[4096], *p = text;

	p += sprintf(p, "Process 5 PASID 0x9:\n  SDMA queue on device 12\n");
	p += put_dump(p, 16, 0);
	sprintf(p, "    00000200: 00000001 00000003\n");

	struct mqds *m = parse_str(text);

	assert_int_equal(mqd_guess_gen(m, &m->queues[0]), GFX10);
	assert_int_equal(value(m, 0, GFX10, 0, MQD_V_SDMA_ENGINE), 1);
	assert_int_equal(value(m, 0, GFX10, 0, MQD_V_SDMA_RLC), 3);
	done(m);
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
		struct mqds *m = parse(text, cut);
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
		done(m);
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
		uint32_t w;
		sprintf(text,
			"Process 1 PASID 0x1:\n  SDMA queue on device 1\n"
			"    00000000: 11111111 %s 22222222\n",
			wrong[i]);
		struct mqds *m = parse_str(text);

		assert_true(mqd_word(m, &m->queues[0], 0, 0, &w));
		assert_int_equal(w, 0x11111111);
		assert_false(mqd_word(m, &m->queues[0], 0, 1, &w));
		// One of 8 characters spoils itself; another length all that follow, too.
		assert_int_equal(m->bad_words, strchr(wrong[i], ' ')   ? 3
					       : strlen(wrong[i]) == 8 ? 1
								       : 2);
		done(m);
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
			struct mqds *m = parse_str(text);
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
			done(m);
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
	struct mqds *m = parse_str("\r\n"
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
	uint32_t w;

	assert_int_equal(m->nprocs, 1);
	assert_int_equal(m->nqueues, 1);
	assert_int_equal(m->queues[0].gpu_id, 0xa1f4);
	assert_int_equal(m->count.foreign, 7);
	assert_int_equal(m->count.first_foreign, 2);
	assert_true(mqd_word(m, &m->queues[0], 0, 1, &w));
	assert_int_equal(w, 0xabcdef01);
	assert_true(mqd_word(m, &m->queues[0], 0, 8, &w));
	assert_int_equal(w, 9);
	assert_false(mqd_word(m, &m->queues[0], 0, 9, &w));
	done(m);
}

static void no_header_no_text(void **state)
{
	(void)state;
	struct mqds *m = parse_str("  Compute queue on device a1f4\n    00000000: c0310800\n");

	assert_int_equal(m->nprocs, 1);
	assert_int_equal(m->procs[0].pid, -1);
	assert_int_equal(m->procs[0].queues, 1);
	done(m);

	m = parse("", 0);
	assert_int_equal(m->nprocs + m->nqueues + m->count.lines, 0);
	done(m);

	char zeros[4096] = {0};

	m = parse(zeros, sizeof(zeros));
	assert_int_equal(m->nprocs, 0);
	assert_int_equal(m->count.foreign, 1);
	done(m);
}

static void parser_is_reusable(void **state)
{
	(void)state;
	struct mqds m;
	static const char one[] =
		"Process 1 PASID 0x1:\n  SDMA queue on device 1\n    00000000: 00000001\n";

	m = (struct mqds){0};
	for (int i = 0; i < 3; i++) {
		mqds_parse(&m, one, sizeof(one) - 1);
		assert_int_equal(m.nqueues, 1);
		assert_int_equal(m.nrows, 1); // not a full line
		assert_int_equal(m.cut, 1);
	}
	mqds_fini(&m);
}

static void generations(void **state)
{
	(void)state;
	assert_int_equal(gfx_gen_of(80003), GFX8);
	assert_int_equal(gfx_gen_of(90000), GFX9);
	assert_int_equal(gfx_gen_of(90010), GFX9);
	assert_int_equal(gfx_gen_of(90402), GFX940);
	assert_int_equal(gfx_gen_of(90500), GFX940);
	assert_int_equal(gfx_gen_of(100300), GFX10);
	assert_int_equal(gfx_gen_of(110000), GFX11);
	assert_int_equal(gfx_gen_of(120001), GFX12);
	assert_int_equal(gfx_gen_of(0), GFX_UNKNOWN);
	assert_int_equal(gfx_gen_of(70001), GFX_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_16streams),       cmocka_unit_test(real_8gpu),
		cmocka_unit_test(gfx90a_suspended),     cmocka_unit_test(sdma_layouts),
		cmocka_unit_test(every_line_shape),     cmocka_unit_test(xccs_and_repeated_sdma),
		cmocka_unit_test(gfx10_sdma_is_longer), cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(wrong_hex_is_missing), cmocka_unit_test(every_byte_as_digit),
		cmocka_unit_test(one_byte_replaced),    cmocka_unit_test(foreign_text),
		cmocka_unit_test(no_header_no_text),    cmocka_unit_test(parser_is_reusable),
		cmocka_unit_test(generations),          cmocka_unit_test(gfx8_compute),
		cmocka_unit_test(sdma_gfx8_gfx12),
	};
	return cmocka_run_group_tests_name("debugfs mqds", tests, NULL, NULL);
}
