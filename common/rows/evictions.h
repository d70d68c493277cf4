// The triggers of present evictions, from the driver's events 9 (eviction) and 10 (restore)
// (kernel: kfd_smi_events.c). Evictions that began before evictions_open() are not known. Without
// CAP_SYS_ADMIN, the driver sends gpq only events about gpq itself.
#pragma once

#include "common/rows/queue_rows.h"

struct evictions;

// Begins to listen to the events of all GPUs. Returns NULL if they cannot be read.
struct evictions *evictions_open(void);
void evictions_close(struct evictions *e); // does nothing for NULL

// Reads the events that have come since the last call.
void evictions_read(struct evictions *e);

// Returns what triggered the present eviction of the process of `q` on its GPU ("userptr"; "?": a
// trigger without a name), or NULL: no eviction is known, `e` is NULL, or the event may be about
// another process in `all`.
const char *evictions_trigger(const struct evictions *e, const struct queue_rows *all,
			      const struct queue_row *q);
