// What `gpq snapshot` adds to a recorded host: of which processes it is, and what only a living
// process or its holder tells of a queue. Written by common/snapshot, read here.
#ifndef GPQ_ROWS_RECORDED_H
#define GPQ_ROWS_RECORDED_H

#include "common/cli/opts.h"

#include <stdbool.h>
#include <stdint.h>

// The line of /MANIFEST with the chosen processes, behind which their PIDs stand.
#define RECORDED_CHOSEN "chosen "

// Was this recorded host made of chosen processes only? Then their PIDs are added to `to`.
bool recorded_chosen(struct pids *to);

// The file of a queue, "READ WRITE HOLDER", each a number or "-".
struct recorded_queue {
	bool has_indices;
	uint64_t read_index, write_index; // packets
	int64_t holder;                   // PID; INT64_MIN: none
};

// `folder`: that of the queue in sysfs. Unknown values where there is no such file.
void recorded_queue(struct recorded_queue *to, const char *folder);

#endif
