// libFuzzer target: debugfs hqds (common/debugfs/hqds.c, dump.c).
//
// As with mqds, the fast way and the slow way (a blank more before each line) must agree.
#include "common/debugfs/decode.h"
#include "common/debugfs/hqds.h"
#include "tests/fuzz/indent.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shape(const struct hqds *h)
{
	uint32_t slots = 0, lines = 0;
	for (size_t i = 0; i < h->nnodes; i++) {
		require(h->nodes[i].first == slots);
		slots += h->nodes[i].slots;
	}
	require(slots == h->nslots);
	for (size_t i = 0; i < h->nslots; i++) {
		require(h->slots[i].node < h->nnodes && h->slots[i].line == lines);
		lines += h->slots[i].lines;
	}
	require(lines == h->nregs);
}

static void compare(const struct hqds *a, const struct hqds *b)
{
	require(a->nnodes == b->nnodes && a->nslots == b->nslots && a->nregs == b->nregs &&
		a->count.lines == b->count.lines && a->count.foreign == b->count.foreign &&
		a->bad_words == b->bad_words);
	for (size_t i = 0; i < a->nslots; i++)
		for (unsigned r = 0; r < 0x110; r++) {
			uint32_t v = 0, w = 0;
			bool have = hqd_cp_reg(a, &a->slots[i], r, &v);
			require(have == hqd_cp_reg(b, &b->slots[i], r, &w) && (!have || v == w));
			have = hqd_sdma_reg(a, &a->slots[i], r, &v);
			require(have == hqd_sdma_reg(b, &b->slots[i], r, &w) && (!have || v == w));
		}
}

// What people see of it must come out whatever the text: texts end, registers are counted.
static void see_field(void *arg, const struct decoded_reg *r, const struct decoded_field *f)
{
	(void)arg;
	require(r->reg && f->name && memchr(f->text, 0, sizeof(f->text)));
}

static void see_reg(void *arg, const struct decoded_reg *r)
{
	++*(size_t *)arg;
	decode_fields(r, see_field, arg);
}

static void decode(const struct hqds *h)
{
	for (size_t i = 0; i < h->nnodes; i++)
		require(hqd_guess_gen(h, &h->nodes[i]) < GFX_GENS);
	for (size_t i = 0; i < h->nslots; i++)
		for (int gen = GFX_UNKNOWN; gen < GFX_GENS; gen++) {
			const struct hqd *s = &h->slots[i];
			size_t seen = 0, there = 0;
			uint64_t v;
			for (uint32_t l = s->line; l < s->line + s->lines; l++)
				there += h->regs[l].count;
			decode_slot(h, s, (enum gfx_gen)gen, see_reg, &seen);
			require(seen == there);
			for (int what = 0; what < MQD_VALUES; what++)
				hqd_get(h, s, (enum gfx_gen)gen, (enum mqd_value)what, &v);
			hqd_in_use(h, s, (enum gfx_gen)gen);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hqds fast, slow;
	size_t len;
	char *text = malloc(size + 1), *moved;
	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	moved = indent(text, size, &len);
	fast = (struct hqds){0};
	slow = (struct hqds){0};
	hqds_parse(&fast, text, size);
	hqds_parse(&slow, moved, len);
	check_shape(&fast);
	compare(&fast, &slow);
	decode(&fast);
	hqds_fini(&fast);
	hqds_fini(&slow);
	free(text);
	free(moved);
	return 0;
}
