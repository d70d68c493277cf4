// --watch: the same listing again and again.
#ifndef GPQ_CMD_WATCH_H
#define GPQ_CMD_WATCH_H

#include "cmd/command.h"

#define WATCH_OFF UINT64_MAX // of an option that was not given

// GPQ_OK, or GPQ_USAGE after a message: an interval that is too short.
int watch_check(uint64_t every_ns);

// Calls `list` until it fails, this long apart; GPQ_PARTIAL is no failure. A terminal is cleared
// before each list, in a pipe NDJSON follows unless another form is asked for.
int watch_run(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c, void *arg), void *arg);

#endif
