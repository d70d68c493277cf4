// SVG pictures in one style: rows of steps above a common horizontal axis, so that no line covers
// another, and frames of a flame graph. No scripts, no outside fonts or styles; light and dark
// colours by prefers-color-scheme; a legend at the bottom names what was drawn.
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
	const double *bands;   // from, to, from, to ...: shaded in every later row; not owned
	size_t nbands;         // numbers in `bands`, two for each band
	const char *band_name; // what they are, for the legend; with bands only
	// The rest is plot.c's own.
	struct buf head, desc, body, legend; // owned until plot_close()
	double top;                          // end of the scale of the group's rows
	enum plot_unit unit;
	unsigned y, groups; // height so far; number of groups so far
	double goal;        // where plot_row() draws the goal's line; NaN: no line
	double legend_x;    // where the next entry of the legend stands
	unsigned legend_y;
};

// A vertical line across a row. plot_row() puts the label of the first tick above the row, that of
// the second one below.
struct plot_tick {
	double x;
	char text[40];
	const char *name; // for the legend
};

// `note`: a second line under the title; "": none. An axis whose ends are equal is widened.
void plot_open(struct plot *p, const char *title, const char *note, struct plot_axis x);
// Begins a group of rows that have one scale, from 0 to `top` in `unit`. `heading`: the quantity.
void plot_group(struct plot *p, const char *heading, double top, enum plot_unit unit);
void plot_goal(struct plot *p, double x,
	       const char *label); // after plot_group(): a line at `x` in each of the group's rows
// Adds a row: level y[i] from x[i] to x[i + 1], so `x` has n + 1 values; a NaN level leaves a gap.
// `name` may be "". `ticks`: array of two vertical lines to draw, or NULL.
void plot_row(struct plot *p, const char *name, const double *x, const double *y, size_t n,
	      const struct plot_tick *ticks);

// A value and the ends of its interval; not finite: the interval is open there.
struct plot_mark {
	double low, at, high;
	const char *name; // for the legend
};
// Adds a flat row with the values of `v`, without levels, after plot_group().
void plot_marks(struct plot *p, const char *name, const struct plot_mark *v, unsigned n);

// Makes room for the frames of a flame graph; names[0] is the name of the lowest level, 0.
void plot_levels(struct plot *p, const char *const *names, unsigned n);
// Draws a frame of these levels; `note` stands behind its name in the text that a pointer over it
// shows. `class`: "frame", or a colour, "c0" to "c5".
void plot_frame(struct plot *p, unsigned level, double from, double to, const char *class,
		const char *name, const char *note);
// Names a colour, or what is drawn with this class. The same entry twice stands there once.
void plot_legend(struct plot *p, const char *class, const char *text);
void plot_close(struct plot *p, struct buf *out); // appends the SVG to `out`
