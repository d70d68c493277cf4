// Shared by the tables of regs.h: rows, and fields that are a whole register without a name.
#ifndef GPQ_DEBUGFS_REGS_PRIV_H
#define GPQ_DEBUGFS_REGS_PRIV_H

#include "common/debugfs/regs.h"

#define REG(name, fields)                                          \
	{                                                          \
		name, fields, sizeof(fields) / sizeof((fields)[0]) \
	}
#define WHOLE(id, unit, shift, meaning) \
	static const struct reg_field id[] = {{"", 0, 32, unit, shift, NULL, meaning}}
// Fields for the low and the high half of an address.
#define WHOLE_PAIR(id, shift, meaning)                \
	WHOLE(id##_lo, REG_ADDR_LOW, shift, meaning); \
	WHOLE(id##_hi, REG_ADDR_HIGH, shift, meaning)

WHOLE(hex, REG_HEX, 0, NULL);
WHOLE(number, REG_NUMBER, 0, NULL);
WHOLE(bytes, REG_BYTES, 0, NULL);
WHOLE_PAIR(addr, 0, NULL);
WHOLE_PAIR(addr256, 8, NULL);

#endif
