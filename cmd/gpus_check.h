// gpq gpus --check: the preflight as a table (cmd/gpus.c has the list).
#ifndef GPQ_CMD_GPUS_CHECK_H
#define GPQ_CMD_GPUS_CHECK_H

#include "cmd/command.h"

extern const struct out_table gpus_check_table;

// Exit status: GPQ_OK when the report could be written, whatever it says.
int gpus_check(struct cmd *c);

#endif
