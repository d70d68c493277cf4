// Shared by the files of regs.h.
#ifndef GPQ_DEBUGFS_REGS_PRIV_H
#define GPQ_DEBUGFS_REGS_PRIV_H

#include "common/debugfs/regs.h"

// Rows are sorted by dword.
const struct reg *reg_at(const struct reg *regs, size_t n, enum gfx_gen gen, unsigned dw);
const struct reg *reg_named(const struct reg *regs, size_t n, enum gfx_gen gen, const char *name);

// Names of the fields that are not 0, "none" when all are.
char *reg_flags_text(char *text, size_t size, const struct reg_field *fields, size_t n,
		     uint32_t word);

#endif
