// Values of hardware slots; see hqd_value.h.
#include "common/debugfs/hqd_value.h"

#include "common/debugfs/regs.h"

enum { IMAGE = 128, IMAGE_END = 184 }; // MQD dwords that are the registers of a compute slot
enum { SDMA_DOORBELL_ENABLE = 1u << 28 };

bool hqd_word(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, unsigned dw,
	      uint32_t *out)
{
	if (s->kind != HQD_SDMA)
		return dw >= IMAGE && dw < IMAGE_END && hqd_cp_reg(h, s, dw - IMAGE, out);
	int offset = sdma_reg_offset(gen, dw);

	return offset >= 0 && hqd_sdma_reg(h, s, (unsigned)offset, out);
}

struct slot_words {
	const struct hqds *h;
	const struct hqd *s;
	enum gfx_gen gen;
};

static bool slot_word(const void *from, unsigned dw, uint32_t *out)
{
	const struct slot_words *w = from;

	return hqd_word(w->h, w->s, w->gen, dw, out);
}

bool hqd_get(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, enum mqd_value what,
	     uint64_t *out)
{
	const struct slot_words words = {h, s, gen};
	enum mqd_kind kind = s->kind == HQD_SDMA ? MQD_SDMA : MQD_COMPUTE;
	uint32_t rb_cntl;

	// Here the MQD says nothing, but RB_CNTL has it in bits 27:24.
	if (s->kind == HQD_SDMA && what == MQD_V_VMID) {
		if (!hqd_word(h, s, gen, 0, &rb_cntl))
			return false;
		*out = rb_cntl >> 24 & 0xf;
		return true;
	}
	return mqd_value_of(kind, gen, what, slot_word, &words, out);
}

int hqd_in_use(const struct hqds *h, const struct hqd *s, enum gfx_gen gen)
{
	const struct reg *r = reg_sdma_named(gen, "sdmax_rlcx_doorbell");
	uint32_t v;

	if (s->kind != HQD_SDMA)
		return hqd_cp_reg(h, s, 2, &v) ? (int)(v & 1) : -1;
	if (!r || !hqd_word(h, s, gen, r->dw, &v))
		return -1;
	return (v & SDMA_DOORBELL_ENABLE) != 0;
}

enum gfx_gen hqd_guess_gen(const struct hqds *h, const struct hqds_node *n)
{
	enum gfx_gen gen = GFX_UNKNOWN;

	for (uint32_t i = n->first; i < n->first + n->slots; i++) {
		const struct hqd *s = &h->slots[i];
		uint32_t state;

		if (s->kind == HQD_SDMA || !s->lines)
			continue;
		if (s->xcc > 0)
			return GFX940;
		if (s->kind != HQD_CP || gen != GFX_UNKNOWN)
			continue;
		uint32_t first = h->regs[s->line].addr;

		// gfx8 prints CU masks before the others. From gfx10 on the block is elsewhere, and
		// bits 15:0 of PERSISTENT_STATE keep their reset value.
		if (first == 0xb858)
			gen = GFX8;
		else if ((first >> 2 & 0xffff) == 0x3245)
			gen = GFX9;
		else if (hqd_cp_reg(h, s, 4, &state))
			gen = (state & 0xffff) == 0x5501 ? GFX11 : GFX10;
	}
	return gen;
}
