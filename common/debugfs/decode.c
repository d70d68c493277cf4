// Decoding registers; see decode.h. Facts: kfd-facts 6 and 7.
#include "common/debugfs/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// CU masks that gfx8 prints before the others: their register less their MQD dword.
#define GFX8_MASKS 0x2dffu
enum { MIDCMD_RUN = 0x40, IMAGE = 128 };

static const struct reg *reg_of(const struct decode *d, unsigned dw)
{
	return d->sdma ? reg_sdma(d->gen, dw) : reg_compute(d->gen, dw);
}

static bool word_of(const struct decode *d, unsigned dw, uint32_t *out)
{
	return d->s ? hqd_word(d->h, d->s, d->gen, dw, out) : mqd_word(d->m, d->q, d->xcc, dw, out);
}

// --- slots ---

struct slot_walk {
	struct decode from;
	decode_reg_fn fn;
	void *arg;
	uint32_t first; // register of the slot's first line
	uint32_t base;  // CP_MQD_BASE_ADDR
	uint32_t last;  // the slot's last register
};

static uint32_t compute_dword(const struct slot_walk *w, uint32_t reg)
{
	if (reg >= w->base && reg - w->base < 256)
		return reg - w->base + IMAGE;
	return w->from.gen == GFX8 && reg - GFX8_MASKS < IMAGE ? reg - GFX8_MASKS : DECODE_NONE;
}

static uint32_t sdma_dword(const struct slot_walk *w, uint32_t reg)
{
	uint32_t offset = reg - w->first;
	// How many MIDCMD_DATA a slot has differs, MIDCMD_CNTL follows them.
	if (reg == w->last && offset > MIDCMD_RUN) {
		const struct reg *cntl = reg_sdma_named(w->from.gen, "sdmax_rlcx_midcmd_cntl");
		return cntl ? cntl->dw : DECODE_NONE;
	}
	int dw = offset < 256 ? sdma_mqd_dword(w->from.gen, offset) : -1;
	return dw < 0 ? DECODE_NONE : (uint32_t)dw;
}

static void slot_register(void *arg, uint32_t address, bool known, uint32_t value)
{
	const struct slot_walk *w = arg;
	struct decoded_reg r = {
		.address = address, .value = value, .known = known, .from = &w->from};
	uint32_t reg = address / 4;
	r.dw = w->from.sdma ? sdma_dword(w, reg) : compute_dword(w, reg);
	if (r.dw != DECODE_NONE)
		r.reg = reg_of(&w->from, r.dw);
	w->fn(w->arg, &r);
}

void decode_slot(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, decode_reg_fn fn,
		 void *arg)
{
	struct slot_walk w = {.from = {.h = h, .s = s, .gen = gen, .sdma = s->kind == HQD_SDMA},
			      .fn = fn,
			      .arg = arg};
	if (!s->lines)
		return;
	const struct hqd_line *last = &h->regs[s->line + s->lines - 1];
	w.first = h->regs[s->line].addr / 4;
	w.last = last->addr / 4 + (last->count ? last->count - 1u : 0);
	if (w.from.sdma || !hqd_cp_base(h, s, &w.base))
		w.base = w.first;
	hqd_each(h, s, slot_register, &w);
}

// --- MQDs ---

void decode_mqd(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, unsigned xcc,
		decode_reg_fn fn, void *arg)
{
	const struct decode from = {
		.m = m, .q = q, .gen = gen, .xcc = xcc, .sdma = q->kind == MQD_SDMA};
	for (unsigned dw = 0; dw < 512; dw++) {
		struct decoded_reg r = {
			.reg = reg_of(&from, dw), .dw = dw, .address = DECODE_NONE, .from = &from};
		if (!r.reg)
			continue;
		r.known = mqd_word(m, q, xcc, dw, &r.value);
		fn(arg, &r);
	}
}

// --- pairs ---

// "x_lo" or "x" and "x_hi".
static bool are_pair(const struct reg *low, const struct reg *high)
{
	size_t n = strlen(low->name), k = strlen(high->name);
	if (n > 3 && strcmp(low->name + n - 3, "_lo") == 0)
		n -= 3;
	return k == n + 3 && strcmp(high->name + n, "_hi") == 0 &&
	       strncmp(low->name, high->name, n) == 0;
}

// The other half, which stands next to it; *low: which of them is the low one.
static const struct reg *partner(const struct decoded_reg *r, bool *low)
{
	for (unsigned i = 0; i < 2; i++) {
		if (r->dw == 0 && i == 0)
			continue;
		const struct reg *other = reg_of(r->from, r->dw - 1 + 2 * i);
		*low = other && are_pair(r->reg, other);
		if (*low || (other && are_pair(other, r->reg)))
			return other;
	}
	return NULL;
}

// --- fields ---

static const char *unit_of(const struct reg_field *f)
{
	switch (f->unit) {
	case REG_BYTES:
	case REG_POWER: return "bytes";
	case REG_DWORDS: return "dwords";
	case REG_ADDR_LOW:
	case REG_ADDR_HIGH: return "address";
	case REG_FLAG: return "flag";
	case REG_ONES: return "units";
	default: return NULL;
	}
}

static uint64_t number_of(const struct reg_field *f, uint64_t bits)
{
	switch (f->unit) {
	case REG_BYTES:
	case REG_ADDR_LOW: return bits << f->shift;
	case REG_POWER: return bits + f->shift < 64 ? 1ull << (bits + f->shift) : 0;
	case REG_ONES: return (uint64_t)__builtin_popcountll(bits);
	default: return bits;
	}
}

static void pair_text(struct decoded_field *out, uint8_t unit)
{
	bool decimal = unit == REG_NUMBER || unit == REG_DWORDS || unit == REG_BYTES;
	snprintf(out->text, sizeof(out->text), decimal ? "%" PRIu64 : "0x%" PRIx64, out->number);
}

static void emit_pair(const struct decoded_reg *r, uint32_t high, decode_field_fn fn, void *arg)
{
	const struct reg_field *f = &r->reg->fields[0];
	struct decoded_field out = {
		.name = "", .unit = unit_of(f), .meaning = f->meaning, .width = 64};
	// Of some addresses the lowest bit is a flag.
	out.number = number_of(f, ((uint64_t)high << 32 | r->value) >> f->lsb);
	pair_text(&out, f->unit);
	fn(arg, r, &out);
}

void decode_fields(const struct decoded_reg *r, decode_field_fn fn, void *arg)
{
	bool low = false;
	uint32_t half;
	if (!r->reg || !r->known)
		return;
	const struct reg *other = partner(r, &low);
	if (other && word_of(r->from, other->dw, &half)) {
		if (low)
			emit_pair(r, half, fn, arg);
		return;
	}
	for (unsigned i = 0; i < r->reg->nfields; i++) {
		const struct reg_field *f = &r->reg->fields[i];
		uint32_t bits = reg_field_bits(f, r->value);
		struct decoded_field out = {.name = f->name,
					    .number = number_of(f, bits),
					    .unit = unit_of(f),
					    .meaning = f->meaning,
					    .lsb = f->lsb,
					    .width = f->width};
		reg_field_text(out.text, f, bits);
		fn(arg, r, &out);
	}
}
