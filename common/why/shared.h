// Memory that processes share, by what they have mapped; why.h finds the places of signals in it.
#pragma once

#include "common/cli/opts.h"
#include "common/host/std.h"

// What a process has mapped that others may have mapped, too. Zeroed before it is read.
struct shared_maps {
	struct shared_mapping *v;
	size_t n, cap;
	bool read;
};

void shared_maps_fini(struct shared_maps *m);

// Appends the maps as lines of /proc/PID/maps without names, for the file /proc/PID/shared of a
// recorded host, which serves instead.
void shared_maps_text(const struct shared_maps *m, struct buf *to);

// Adds to `to` those of `others` that have a file mapped which one of `of` has mapped, too. What
// devices have and what each ROCm process has mapped does not count.
void shared_maps_with(const struct pids *of, const struct pids *others, struct pids *to);
