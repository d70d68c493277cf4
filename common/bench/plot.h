// SVG plots, drawn from nothing but numbers: axes, lines, steps, bands, a legend. No scripts, no
// outside fonts or styles; colours that people with colour-blindness can tell apart, and dashes.
#ifndef GPQ_BENCH_PLOT_H
#define GPQ_BENCH_PLOT_H

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
	struct buf *out; // not owned
	struct plot_axis x, y;
	unsigned lines; // so far: chooses colour and dashes
};

// Draws frame, grid and labels. Axes without extent are given some.
void plot_open(struct plot *p, struct buf *out, const char *title, struct plot_axis x,
	       struct plot_axis y);
void plot_band(struct plot *p, double x0, double x1);        // shaded over the whole height
void plot_mark(struct plot *p, double x, const char *label); // a vertical line
// Level from each point until the next one; NaN interrupts it. Also an entry in the legend.
void plot_line(struct plot *p, const double *x, const double *y, size_t n, const char *name);
// Bars side by side: number i from x[i] to x[i + 1], as high as y[i]. An entry in the legend, too.
void plot_bars(struct plot *p, const double *x, const double *y, size_t n, const char *name);
void plot_close(struct plot *p);

// Text made safe for HTML and SVG.
void plot_text(struct buf *out, const char *text);

#endif
