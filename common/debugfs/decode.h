// Decodes the registers of a slot, or the dwords of an MQD: names, values and bit fields (regs.h).
#pragma once

#include "common/debugfs/mqd_value.h"
#include "common/debugfs/regs.h"

#define DECODE_NONE UINT32_MAX

struct decoded_reg {
	const struct reg *reg; // name and fields; NULL: unknown
	uint32_t dw;           // the MQD dword that has the register's image; DECODE_NONE: none
	uint32_t address;      // byte address as hqds prints it; DECODE_NONE: an MQD in memory
	uint32_t value;
	bool known; // false: the dump does not have the value
	const struct mqd_source *from;
};

struct decoded_field {
	const char *name;    // "QUEUE_SIZE"; "" when the field is the whole register or pair
	uint64_t number;     // the value in `unit`
	const char *unit;    // "bytes", "dwords", "address", "flag", "units"; NULL: none
	const char *meaning; // what the field means; NULL: its name says it
	uint8_t lsb, width;  // lowest bit and number of bits (64: a pair of registers)
	char text[48];       // the value for people: "1M", "yes", "0x7f6155000000"
};

typedef void (*decode_reg_fn)(void *arg, const struct decoded_reg *r);
typedef void (*decode_field_fn)(void *arg, const struct decoded_reg *r,
				const struct decoded_field *f);

// Calls `fn` for all registers of a slot, in the order of the dump.
void decode_slot(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, decode_reg_fn fn,
		 void *arg);

// Calls `fn` for all registers of a slot, or for all named dwords of an MQD.
void decode_source(const struct mqd_source *from, decode_reg_fn fn, void *arg);

// Calls `fn` for the fields of a register. Of two registers that are the halves of one number, the
// low one has one field, which is the whole number, and the high one has none.
void decode_fields(const struct decoded_reg *r, decode_field_fn fn, void *arg);

// Writes what the bits of a field mean to `text`, for people: "1M", "yes", "medium", "0x7f".
char *reg_field_text(char text[48], const struct reg_field *f, uint32_t bits);
