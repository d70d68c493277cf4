// Progress of a long command: a bar with rate and time left on a terminal's standard error, redrawn
// in place; with --progress and no terminal there, a line every second.
//
// Nothing is shown in the first half second. A message on standard error (err.h) wipes the bar.
#pragma once

#include "common/host/std.h"

struct progress {
	bool on, bar;      // progress is shown; it is shown as a bar drawn in place
	uint64_t begin_ns; // when the work began, CLOCK_MONOTONIC
	uint64_t drawn_ns; // when progress was last drawn, CLOCK_MONOTONIC; 0: never
};

// `wanted`: --progress was given. `rows`: rows go to standard output as they come, so that a bar on
// the same terminal would be in their way.
void progress_init(struct progress *p, bool wanted, bool rows);

// Draws the bar if the last drawing is old enough. `share` is 0 to 1, NAN when the end is not
// known.
void progress_show(struct progress *p, double share, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// Shows `done` of `total` bytes (0: not known) as "1.2G of 1.6G, 540M/s".
void progress_bytes(struct progress *p, uint64_t done, uint64_t total);

// Wipes the bar and shows no more progress.
void progress_end(struct progress *p);
