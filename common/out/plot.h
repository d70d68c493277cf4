// SVG plots of steps: each series is a row of its own above a common horizontal axis, so that no
// line covers another. No scripts, no outside fonts or styles; light and dark colours by
// prefers-color-scheme.
//
// Lengths along the axis are percentages and text has a size in pixels: a plot takes any width
// without its text shrinking.
#ifndef GPQ_OUT_PLOT_H
#define GPQ_OUT_PLOT_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum plot_unit { PLOT_NS, PLOT_SHARE, PLOT_RATE, PLOT_SECONDS };

struct plot_axis {
	const char *label;
	enum plot_unit unit;
	double min, max; // of what is shown; widened to whole steps
	bool log;        // min > 0 then
};

struct plot {
	struct plot_axis x;
	const double *bands; // not owned: from, to, from, to ... are shaded in every row to come
	size_t nbands;       // numbers
	// The rest is plot.c's own.
	struct buf head, desc, back, body; // owned until plot_close()
	double top;                        // of the group's rows
	enum plot_unit unit;
	unsigned y, groups; // pixels and groups so far
	double goal;        // of the group; NaN: none
	unsigned goal_y;
};

// A vertical line across a row. The label of the first one is above the row, that of the second one
// below.
struct plot_tick {
	double x;
	char text[40];
};

// `note`: a second line under the title; "": none. An axis whose ends are equal is widened.
void plot_open(struct plot *p, const char *title, const char *note, struct plot_axis x);
// Rows of one scale, from 0 to `top` of `unit`.
void plot_group(struct plot *p, const char *heading, double top, enum plot_unit unit);
void plot_goal(struct plot *p, double x,
	       const char *label); // behind plot_group(): a line through its rows
// Level y[i] from x[i] to x[i + 1], so `x` has n + 1 values; NaN interrupts it. `name`: "": none;
// `ticks`: two, or NULL.
void plot_row(struct plot *p, const char *name, const double *x, const double *y, size_t n,
	      const struct plot_tick *ticks);
void plot_close(struct plot *p, struct buf *out); // appends all of it

#endif
