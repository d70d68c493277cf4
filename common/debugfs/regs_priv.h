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

WHOLE(hex, REG_HEX, 0, NULL);
WHOLE(number, REG_NUMBER, 0, NULL);
WHOLE(bytes, REG_BYTES, 0, NULL);
WHOLE(addr_lo, REG_ADDR_LOW, 0, NULL);
WHOLE(addr_hi, REG_ADDR_HIGH, 0, NULL);
WHOLE(addr256_lo, REG_ADDR_LOW, 8, NULL);
WHOLE(addr256_hi, REG_ADDR_HIGH, 8, NULL);

#endif
