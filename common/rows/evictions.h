// Why processes are evicted, as far as the driver's events tell: of evictions that began, and have
// not ended, since these were opened (kernel: kfd_smi_events.c, events 9 and 10).
//
// For CAP_SYS_ADMIN alone: others are told of their own process only.
#ifndef GPQ_ROWS_EVICTIONS_H
#define GPQ_ROWS_EVICTIONS_H

#include "common/rows/queue_rows.h"

struct evictions;

// NULL: the driver's events cannot be had.
struct evictions *evictions_open(void);
void evictions_close(struct evictions *e); // NULL: nothing

// Takes what the driver has said since.
void evictions_read(struct evictions *e);

// The trigger ("userptr") of the eviction that the process of `q` is under on its GPU; "?": one
// without a name. NULL: none is known, or several of `all` may be the process that was named.
const char *evictions_trigger(const struct evictions *e, const struct queue_rows *all,
			      const struct queue_row *q);

#endif
