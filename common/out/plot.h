// SVG plots of steps: each series is a row of its own above a common horizontal axis, so that no
// line covers another. No scripts, no outside fonts or styles; light and dark colours by
// prefers-color-scheme.
//
// Lengths along the axis are percentages and text has a size in pixels: a plot takes any width
// without its text shrinking.
#pragma once

#include "common/host/std.h"

enum plot_unit { PLOT_NS, PLOT_SHARE, PLOT_RATE, PLOT_SECONDS };

struct plot_axis {
	const char *label;
	enum plot_unit unit;
	double min, max; // range shown; plot_open() widens it to whole ticks
	bool log;        // logarithmic: min must be above 0
};

struct plot {
	struct plot_axis x;
	const double *bands; // from, to, from, to ...: shaded in every later row; not owned
	size_t nbands;       // numbers in `bands`, two for each band
	// The rest is plot.c's own.
	struct buf head, desc, back, body; // owned until plot_close()
	double top;                        // end of the scale of the group's rows
	enum plot_unit unit;
	unsigned y, groups; // height so far in pixels; number of groups so far
	double goal;        // where plot_goal() of the group draws its line; NaN: no line
	unsigned goal_y;
};

// A vertical line across a row. plot_row() puts the label of the first tick above the row, that of
// the second one below.
struct plot_tick {
	double x;
	char text[40];
};

// `note`: a second line under the title; "": none. An axis whose ends are equal is widened.
void plot_open(struct plot *p, const char *title, const char *note, struct plot_axis x);
// Begins a group of rows that have one scale, from 0 to `top` in `unit`.
void plot_group(struct plot *p, const char *heading, double top, enum plot_unit unit);
void plot_goal(struct plot *p, double x,
	       const char *label); // after plot_group(): a line at `x` through the group's rows
// Adds a row: level y[i] from x[i] to x[i + 1], so `x` has n + 1 values; a NaN level leaves a gap.
// `name` may be "". `ticks`: array of two vertical lines to draw, or NULL.
void plot_row(struct plot *p, const char *name, const double *x, const double *y, size_t n,
	      const struct plot_tick *ticks);
void plot_close(struct plot *p, struct buf *out); // appends the SVG to `out`
