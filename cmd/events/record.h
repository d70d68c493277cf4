// Events of the driver, and of sysfs, written into a file as `gpq events --ndjson` prints them.
#ifndef GPQ_CMD_EVENTS_RECORD_H
#define GPQ_CMD_EVENTS_RECORD_H

#include "common/pick/pick.h"

#include <stdbool.h>

struct events_recording;

// Subscribes: what happens from now on is recorded. NULL after a message: there is nothing to
// record from. `fd` is borrowed; `path` is what messages call it.
struct events_recording *events_recording_new(const struct pick_opts *pick,
					      const struct words *gpus, int fd, const char *path);

// A descriptor that polls readable when there are events.
int events_recording_fd(const struct events_recording *r);

// Writes what has come; sysfs is looked at every 100 ms, and at the `end`. False after a message:
// it could not be written.
bool events_recording_turn(struct events_recording *r, bool end);
void events_recording_free(struct events_recording *r);

#endif
