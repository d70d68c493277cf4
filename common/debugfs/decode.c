// Decoding registers; see decode.h. Facts: [debugfs.mqd-compute], [debugfs.sdma-slot].
#include "common/debugfs/decode.h"

// On gfx8, where hqds prints CU masks first: number of a CU mask's register minus its MQD dword.
#define CU_MASKS 0x2dffu
enum { MIDCMD_RUN = 0x40, IMAGE = 128 };

static const struct reg *reg_of(const struct mqd_source *d, unsigned dw)
{
	return d->sdma ? reg_sdma(d->gen, dw) : reg_compute(d->gen, dw);
}

// --- registers of slots ---

struct slot_walk {
	struct mqd_source from;
	decode_reg_fn fn;
	void *arg;
	// Numbers of registers: byte address / 4.
	uint32_t first; // the slot's first register
	uint32_t base;  // CP_MQD_BASE_ADDR; without one, `first`
	uint32_t last;  // the slot's last register
};

static uint32_t compute_dword(const struct slot_walk *w, uint32_t reg)
{
	if (reg >= w->base && reg - w->base < 256)
		return reg - w->base + IMAGE;
	return gfx_caps(w->from.gen)->cu_masks && reg - CU_MASKS < IMAGE ? reg - CU_MASKS
									 : DECODE_NONE;
}

static uint32_t sdma_dword(const struct slot_walk *w, uint32_t reg)
{
	uint32_t offset = reg - w->first;
	// MIDCMD_CNTL is the last register, behind MIDCMD_DATA registers whose number varies.
	int dw = reg == w->last && offset > MIDCMD_RUN
			 ? reg_sdma_dword(w->from.gen, "sdmax_rlcx_midcmd_cntl")
			 : sdma_mqd_dword(w->from.gen, offset);
	return dw < 0 ? DECODE_NONE : (uint32_t)dw;
}

static void slot_register(const struct slot_walk *w, uint32_t address, bool known, uint32_t value)
{
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
	const struct dump_line *last = &h->regs[s->line + s->lines - 1];
	w.first = h->regs[s->line].addr / 4;
	w.last = last->addr / 4 + (last->count ? last->count - 1u : 0);
	if (w.from.sdma || !hqd_cp_base(h, s, &w.base))
		w.base = w.first;
	for (const struct dump_line *l = &h->regs[s->line]; l <= last; l++)
		for (unsigned i = 0; i < l->count; i++)
			slot_register(&w, l->addr + 4 * i, l->valid >> i & 1, l->words[i]);
}

// --- registers in MQDs ---

void decode_source(const struct mqd_source *from, decode_reg_fn fn, void *arg)
{
	if (from->s)
		decode_slot(from->h, from->s, from->gen, fn, arg);
	for (unsigned dw = 0; !from->s && dw < REG_MQD_DWORDS; dw++) {
		struct decoded_reg r = {
			.reg = reg_of(from, dw), .dw = dw, .address = DECODE_NONE, .from = from};
		if (!r.reg)
			continue;
		r.known = mqd_source_word(from, dw, &r.value);
		fn(arg, &r);
	}
}

// --- pairs of registers ---

// Are these the registers "x_lo" (or "x") and "x_hi"?
static bool are_pair(const struct reg *low, const struct reg *high)
{
	size_t n = strlen(low->name), k = strlen(high->name);
	if (n > 3 && strcmp(low->name + n - 3, "_lo") == 0)
		n -= 3;
	return k == n + 3 && strcmp(high->name + n, "_hi") == 0 &&
	       strncmp(low->name, high->name, n) == 0;
}

// The adjacent dword with a number's other half, or DECODE_NONE. Sets *low if r is the low half.
static uint32_t other_half(const struct decoded_reg *r, bool *low)
{
	const uint32_t around[] = {r->dw - 1, r->dw + 1};
	for (unsigned i = 0; i < 2; i++) {
		const struct reg *other = reg_of(r->from, around[i]);
		*low = other && are_pair(r->reg, other);
		if (*low || (other && are_pair(other, r->reg)))
			return around[i];
	}
	return DECODE_NONE;
}

// --- fields of registers ---

// Writes a size as "64K" or "1M", in the largest unit that divides it, else as "1000B".
static void size_text(char text[48], uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned u = 0;
	for (; bytes && bytes % 1024 == 0 && units[u + 1]; u++)
		bytes /= 1024;
	snprintf(text, 48, "%llu%c", (unsigned long long)bytes, units[u]);
}

static const char *field_meaning(const struct reg_field *f)
{
	const char *meaning = text_part(f->name, 1);
	return *meaning ? meaning : NULL;
}

// The word of REG_WORDS for this value, or NULL.
static const char *field_word(const struct reg_field *f, uint32_t value)
{
	const char *word = text_part(f->name, 2);
	while (*word && value--)
		word = text_part(word, 1);
	return *word ? word : NULL;
}

// Names of units by enum reg_unit; NULL: none.
static const char *const unit_names[] = {
	[REG_BYTES] = "bytes",      [REG_POWER] = "bytes",       [REG_DWORDS] = "dwords",
	[REG_ADDR_LOW] = "address", [REG_ADDR_HIGH] = "address", [REG_FLAG] = "flag",
	[REG_ONES] = "units"};

static bool is_decimal(uint8_t unit)
{
	return unit == REG_NUMBER || unit == REG_DWORDS || unit == REG_BYTES || unit == REG_WORDS;
}

static uint64_t field_number(const struct reg_field *f, uint64_t bits)
{
	switch (f->unit) {
	case REG_BYTES:
	case REG_ADDR_LOW: return bits << f->shift;
	case REG_POWER: return bits + f->shift < 64 ? 1ull << (bits + f->shift) : 0;
	case REG_ONES: return (uint64_t)__builtin_popcountll(bits);
	default: return bits;
	}
}

char *reg_field_text(char text[48], const struct reg_field *f, uint32_t bits)
{
	const char *word = f->unit == REG_WORDS ? field_word(f, bits) : NULL;
	if (word || f->unit == REG_FLAG)
		snprintf(text, 48, "%s", word ? word : bits ? "yes" : "no");
	else if (f->unit == REG_BYTES || (f->unit == REG_POWER && bits + f->shift < 60))
		size_text(text, field_number(f, bits));
	else if (f->unit == REG_POWER)
		snprintf(text, 48, "2^%u", bits + f->shift);
	else if (f->unit == REG_ONES)
		snprintf(text, 48, "%d of %u", __builtin_popcount(bits), f->width);
	else
		snprintf(text, 48, is_decimal(f->unit) ? "%" PRIu64 : "0x%" PRIx64,
			 field_number(f, bits));
	return text;
}

static void emit_pair(const struct decoded_reg *r, uint32_t high, decode_field_fn fn, void *arg)
{
	const struct reg_field *f = &r->reg->fields[0];
	struct decoded_field out = {
		.name = "", .unit = unit_names[f->unit], .meaning = field_meaning(f), .width = 64};
	// The field's lsb is 1 where the lowest bit of an address is a flag.
	out.number = field_number(f, ((uint64_t)high << 32 | r->value) >> f->lsb);
	snprintf(out.text, sizeof(out.text), is_decimal(f->unit) ? "%" PRIu64 : "0x%" PRIx64,
		 out.number);
	fn(arg, r, &out);
}

void decode_fields(const struct decoded_reg *r, decode_field_fn fn, void *arg)
{
	bool low = false;
	uint32_t half;
	if (!r->reg || !r->known)
		return;
	uint32_t other = other_half(r, &low);
	if (other != DECODE_NONE && mqd_source_word(r->from, other, &half)) {
		if (low)
			emit_pair(r, half, fn, arg);
		return;
	}
	for (unsigned i = 0; i < r->reg->nfields; i++) {
		const struct reg_field *f = &r->reg->fields[i];
		uint32_t bits = reg_field_bits(f, r->value);
		struct decoded_field out = {.name = f->name,
					    .number = field_number(f, bits),
					    .unit = unit_names[f->unit],
					    .meaning = field_meaning(f),
					    .lsb = f->lsb,
					    .width = f->width};
		reg_field_text(out.text, f, bits);
		fn(arg, r, &out);
	}
}
