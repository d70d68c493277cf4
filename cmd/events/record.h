// Writes events of the driver and of sysfs into a file, as `gpq events --ndjson` prints them.
#pragma once

#include "common/pick/pick.h"

struct events_recording;

// Subscribes: events are recorded into `fd` from now on. `fd` is borrowed; messages call it `path`.
// Returns NULL after a message if events cannot be had.
struct events_recording *events_recording_new(const struct pick_opts *pick,
					      const struct words *gpus, int fd, const char *path);

// Returns a descriptor that polls readable when the driver has events.
int events_recording_fd(const struct events_recording *r);

// Writes the events that have come. Reads sysfs every 100 ms, and at the `end`. Returns false after
// a message if the file cannot be written.
bool events_recording_turn(struct events_recording *r, bool end);
void events_recording_free(struct events_recording *r);
