// The triggers of evictions that are going on, from the events of the driver (kernel:
// kfd_smi_events.c, events 9 and 10). Evictions that began before evictions_open() are not known.
//
// This takes CAP_SYS_ADMIN: without it, the driver sends a process only events of its own.
#ifndef GPQ_ROWS_EVICTIONS_H
#define GPQ_ROWS_EVICTIONS_H

#include "common/rows/queue_rows.h"

struct evictions;

// NULL: the driver's events cannot be had.
struct evictions *evictions_open(void);
void evictions_close(struct evictions *e); // NULL: nothing

// Reads the events that have come since the last call.
void evictions_read(struct evictions *e);

// The trigger ("userptr") of the eviction that the process of `q` is under on its GPU; "?": one
// without a name. NULL: none is known, or several of `all` may be the process that was named.
const char *evictions_trigger(const struct evictions *e, const struct queue_rows *all,
			      const struct queue_row *q);

#endif
