// Looking up and reading registers; see regs.h. The tables are in regs_compute.c and regs_sdma.c.
#include "common/debugfs/regs_priv.h"

#include <stdio.h>
#include <string.h>

const struct reg *reg_at(const struct reg *regs, size_t n, enum gfx_gen gen, unsigned dw)
{
	size_t lo = 0, hi = n;

	while (lo < hi) { // the first row of this dword
		size_t mid = (lo + hi) / 2;

		if (regs[mid].dw < dw)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && regs[lo].dw == dw; lo++)
		if (regs[lo].gens & REG_GEN(gen))
			return &regs[lo];
	return NULL;
}

const struct reg *reg_named(const struct reg *regs, size_t n, enum gfx_gen gen, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if ((regs[i].gens & REG_GEN(gen)) && strcmp(regs[i].name, name) == 0)
			return &regs[i];
	return NULL;
}

// "64K", "1M"; what is no round number, in bytes.
static char *size_text(char text[48], uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned u = 0;

	for (; bytes && bytes % 1024 == 0 && units[u + 1]; u++)
		bytes /= 1024;
	snprintf(text, 48, "%llu%c", (unsigned long long)bytes, units[u]);
	return text;
}

static const char *word_of(const char *const *words, uint32_t i)
{
	while (*words && i--)
		words++;
	return *words;
}

char *reg_field_text(char text[48], const struct reg_field *f, uint32_t bits)
{
	const char *word = f->unit == REG_WORDS ? word_of(f->words, bits) : NULL;

	switch (f->unit) {
	case REG_NUMBER:
	case REG_DWORDS: snprintf(text, 48, "%u", bits); break;
	case REG_FLAG: snprintf(text, 48, "%s", bits ? "yes" : "no"); break;
	case REG_BYTES: return size_text(text, (uint64_t)bits << f->shift);
	case REG_POWER:
		if (bits + f->shift < 60)
			return size_text(text, 1ull << (bits + f->shift));
		snprintf(text, 48, "2^%u", bits + f->shift);
		break;
	case REG_WORDS:
		if (word)
			snprintf(text, 48, "%s", word);
		else
			snprintf(text, 48, "%u", bits);
		break;
	case REG_ONES: snprintf(text, 48, "%d of %u", __builtin_popcount(bits), f->width); break;
	default: snprintf(text, 48, "0x%x", bits); break;
	}
	return text;
}

char *reg_flags_text(char *text, size_t size, const struct reg_field *fields, size_t n,
		     uint32_t word)
{
	size_t len = 0;
	uint32_t unnamed = word;

	snprintf(text, size, "none");
	for (size_t i = 0; i < n && len < size; i++) {
		uint32_t bits = reg_field_bits(&fields[i], word);
		unnamed &= ~(bits << fields[i].lsb);
		if (bits)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? " " : "",
						fields[i].name);
	}
	if (unnamed && len < size)
		snprintf(text + len, size - len, "%s0x%x", len ? " " : "", unnamed);
	return text;
}
