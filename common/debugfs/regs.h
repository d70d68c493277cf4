// Names and bit fields of a queue's registers, by generation and dword of the MQD.
//
// Facts: [debugfs.mqd-compute], [debugfs.mqd-sdma], [debugfs.hqd-error]. The register of a compute
// slot at index i of its dump (hqds.h) is dword 128 + i; for SDMA slots sdma_mqd_dword() tells it.
#pragma once

#include "common/debugfs/gfx.h"

enum reg_unit {
	REG_HEX, // bits without a better unit
	REG_NUMBER,
	REG_FLAG,      // one bit: set or not
	REG_BYTES,     // value << shift bytes
	REG_POWER,     // 2^value << shift bytes
	REG_DWORDS,    // offsets and pointers in 32-bit words
	REG_ADDR_LOW,  // low part of an address in units of 1 << shift bytes
	REG_ADDR_HIGH, // high part of an address
	REG_WORDS,     // number of a word in reg_field.name
	REG_ONES,      // mask whose set bits are counted
};

struct reg_field {
	// "SIZE"; "": the whole register. Behind the NUL of the name its meaning ("": the name says
	// it) and, for REG_WORDS, the words of the values 0, 1 ..., ended by "".
	const char *name;
	uint8_t lsb, width;
	uint8_t unit; // enum reg_unit
	uint8_t shift;
};

struct reg {
	const char *name; // the driver's name for the register in lower case, "cp_hqd_active"
	const struct reg_field *fields;
	uint8_t nfields;
};

#define REG_MQD_DWORDS 512u // length of the longest MQD

// The register at dword `dw` of a compute or SDMA MQD, NULL where none is known.
const struct reg *reg_compute(enum gfx_gen gen, unsigned dw);
const struct reg *reg_sdma(enum gfx_gen gen, unsigned dw);

// The MQD dword of an SDMA register by name; -1: the generation has no such register.
int reg_sdma_dword(enum gfx_gen gen, const char *name);

// The MQD dword of the register at `offset` dwords from the first one of an SDMA slot; -1: none.
int sdma_mqd_dword(enum gfx_gen gen, unsigned offset);

// The offset in an SDMA slot of the register at this MQD dword; -1: hqds does not have it.
int sdma_reg_offset(enum gfx_gen gen, unsigned dw);

static inline uint32_t reg_field_bits(const struct reg_field *f, uint32_t word)
{
	return word >> f->lsb & (uint32_t)((1ull << f->width) - 1);
}

// Names of cp_hqd_error's bits, "AQL_ERROR PQ_UTCL1_ERROR", or "none". REG_ERROR_TEXT holds all.
enum { REG_ERROR_TEXT = 320 };
char *reg_error_text(char text[REG_ERROR_TEXT], uint32_t error);
