// The triggers of present evictions, from the driver's events (kernel: kfd_smi_events.c, events 9
// and 10). Evictions that began before evictions_open() are not known. Without CAP_SYS_ADMIN, the
// driver sends a process only events of its own.
#ifndef GPQ_ROWS_EVICTIONS_H
#define GPQ_ROWS_EVICTIONS_H

#include "common/rows/queue_rows.h"

struct evictions;

// NULL: the driver's events cannot be read.
struct evictions *evictions_open(void);
void evictions_close(struct evictions *e); // NULL: nothing

// Reads the events that have come since the last call.
void evictions_read(struct evictions *e);

// The trigger ("userptr") of the present eviction of the process of `q` on its GPU; "?": a trigger
// without a name. NULL: none is known, or the event may be about another process in `all`.
const char *evictions_trigger(const struct evictions *e, const struct queue_rows *all,
			      const struct queue_row *q);

#endif
