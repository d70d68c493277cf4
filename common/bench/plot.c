// SVG plots; plot.h.
#include "common/bench/plot.h"

#include "common/cli/text.h"
#include "common/stats/maths.h"

#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 760,
	HEIGHT = 356,
	LEFT = 70,
	RIGHT = 740,
	TOP = 40,
	BOTTOM = 280,
	STYLES = 7,
	TICKS = 39 // at most on an axis
};

// Okabe and Ito's palette without its yellow, which is faint on white.
static const char *const colors[STYLES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
					   "#000000", "#56b4e9", "#e69f00"};
static const char *const dashes[STYLES] = {"", "7 3", "2 2", "9 3 2 3", "4 4", "1 3", "12 4"};

void plot_text(struct buf *out, const char *text)
{
	struct buf safe = {0};
	text_escape(&safe, text, strlen(text));
	for (const char *s = safe.data ? safe.data : ""; *s; s++) {
		const char *name = *s == '<'   ? "&lt;"
				   : *s == '>' ? "&gt;"
				   : *s == '&' ? "&amp;"
				   : *s == '"' ? "&quot;"
					       : NULL;
		name ? buf_puts(out, name) : buf_append(out, s, 1);
	}
	buf_fini(&safe);
}

static void tick_text(char text[32], enum plot_unit unit, double v)
{
	switch (unit) {
	case PLOT_NS: text_ns(text, (uint64_t)maths()->llround(v > 0 ? v : 0)); break;
	case PLOT_SHARE: snprintf(text, 32, "%.0f%%", 100 * v); break;
	case PLOT_SECONDS: snprintf(text, 32, "%.4gs", v); break;
	case PLOT_RATE:
		snprintf(text, 32, "%.4g%s",
			 v >= 1e6   ? v / 1e6
			 : v >= 1e3 ? v / 1e3
				    : v,
			 v >= 1e6   ? "M"
			 : v >= 1e3 ? "k"
				    : "");
		break;
	}
}

// 1, 2 or 5 times a power of ten, so that there are four to nine steps.
static double nice_step(double extent)
{
	double power = maths()->pow(10, floor(maths()->log10(extent / 4)));
	double n = extent / 4 / power;
	return power * (n < 2 ? 1 : n < 5 ? 2 : 5);
}

static double next_tick(const struct plot_axis *a, double v)
{
	if (!a->log)
		return v + nice_step(a->max - a->min);
	double lead = v / maths()->pow(10, floor(maths()->log10(v) + 1e-9));
	if (a->max / a->min > 300) // too many decades for ticks between
		return v * 10;
	return lead < 1.5 ? v * 2 : lead < 3 ? v * 2.5 : v * 2;
}

// Bounds at whole ticks.
static void widen(struct plot_axis *a)
{
	if (!(a->max > a->min))
		a->max = a->log ? a->min * 10 : a->min + 1;
	if (!a->log) {
		double step = nice_step(a->max - a->min);
		a->min = floor(a->min / step + 1e-9) * step;
		a->max = ceil(a->max / step - 1e-9) * step;
		return;
	}
	double v = maths()->pow(10, floor(maths()->log10(a->min) + 1e-9)), end = a->max;
	a->min = v;
	while (v < end * (1 - 1e-9))
		v = next_tick(a, v);
	a->max = v;
}

static double place(const struct plot_axis *a, double v, double from, double to)
{
	double at = a->log ? maths()->log(v / a->min) / maths()->log(a->max / a->min)
			   : (v - a->min) / (a->max - a->min);
	return from + (at < 0 ? 0 : at > 1 ? 1 : at) * (to - from);
}

static double px(const struct plot *p, double x)
{
	return place(&p->x, x, LEFT, RIGHT);
}

static double py(const struct plot *p, double y)
{
	return place(&p->y, y, BOTTOM, TOP);
}

static void label(struct buf *out, double x, double y, const char *more, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
	plot_text(out, text);
	buf_puts(out, "</text>\n");
}

static void grid(struct plot *p)
{
	static const char line[] = " stroke=\"#ddd\" stroke-width=\"1\"/>\n";
	const struct plot_axis *x = &p->x, *y = &p->y;
	char text[32];
	double v = x->min;
	for (unsigned i = 0; i < TICKS && v <= x->max * (1 + 1e-9); i++, v = next_tick(x, v)) {
		buf_printf(p->out, "<path d=\"M%.1f %dV%d\"%s", px(p, v), TOP, BOTTOM, line);
		tick_text(text, x->unit, v);
		label(p->out, px(p, v), BOTTOM + 16, " text-anchor=\"middle\"", text);
	}
	v = y->min;
	for (unsigned i = 0; i < TICKS && v <= y->max * (1 + 1e-9); i++, v = next_tick(y, v)) {
		buf_printf(p->out, "<path d=\"M%d %.1fH%d\"%s", LEFT, py(p, v), RIGHT, line);
		tick_text(text, y->unit, v);
		label(p->out, LEFT - 6, py(p, v) + 4, " text-anchor=\"end\"", text);
	}
}

void plot_open(struct plot *p, struct buf *out, const char *title, struct plot_axis x,
	       struct plot_axis y)
{
	char turn[96];
	*p = (struct plot){.out = out, .x = x, .y = y};
	widen(&p->x);
	widen(&p->y);
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		   "width=\"%d\" height=\"%d\" role=\"img\" font-family=\"sans-serif\" "
		   "font-size=\"12\" fill=\"#222\">\n<title>",
		   WIDTH, HEIGHT, WIDTH, HEIGHT);
	plot_text(out, title);
	buf_printf(out, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH,
		   HEIGHT);
	label(out, LEFT, 22, " font-size=\"14\" font-weight=\"bold\"", title);
	grid(p);
	label(out, (LEFT + RIGHT) / 2.0, BOTTOM + 34, " text-anchor=\"middle\"", x.label);
	snprintf(turn, sizeof(turn), " text-anchor=\"middle\" transform=\"rotate(-90 14 %d)\"",
		 (TOP + BOTTOM) / 2);
	label(out, 14, (TOP + BOTTOM) / 2.0, turn, y.label);
}

void plot_band(struct plot *p, double x0, double x1)
{
	buf_printf(p->out,
		   "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"#f2c14e\" "
		   "fill-opacity=\"0.45\"/>\n",
		   px(p, x0), TOP, px(p, x1) - px(p, x0), BOTTOM - TOP);
}

void plot_mark(struct plot *p, double x, const char *text)
{
	if (x < p->x.min || x > p->x.max)
		return;
	buf_printf(p->out,
		   "<path d=\"M%.1f %dV%d\" stroke=\"#c00\" stroke-width=\"1\" "
		   "stroke-dasharray=\"3 3\"/>\n",
		   px(p, x), TOP, BOTTOM);
	label(p->out, px(p, x) + 4, BOTTOM - 8, " fill=\"#c00\"", text);
}

// The entry of the line or bars just drawn.
static void legend(struct plot *p, const char *name)
{
	enum { COLUMNS = 3 };
	double x = LEFT + (p->lines % COLUMNS) * (RIGHT - LEFT) / (double)COLUMNS;
	unsigned row = p->lines / COLUMNS, style = p->lines++ % STYLES;
	double y = BOTTOM + 50 + 14.0 * row;
	if (row > 1) // no room below for more
		return;
	buf_printf(p->out,
		   "<path d=\"M%.1f %.1fh26\" stroke=\"%s\" stroke-width=\"2\" "
		   "stroke-dasharray=\"%s\"/>\n",
		   x, y - 4, colors[style], dashes[style]);
	label(p->out, x + 32, y, " font-size=\"11\"", name);
}

void plot_line(struct plot *p, const double *x, const double *y, size_t n, const char *name)
{
	unsigned style = p->lines % STYLES;
	if (!n)
		return;
	buf_printf(p->out,
		   "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
		   "stroke-dasharray=\"%s\" d=\"",
		   colors[style], dashes[style]);
	for (size_t i = 0; i < n; i++) {
		bool on = i && !isnan(y[i - 1]);
		if (on)
			buf_printf(p->out, "H%.1f", px(p, x[i]));
		if (!isnan(y[i]))
			buf_printf(p->out, "%c%.1f %.1f", on ? 'L' : 'M', px(p, x[i]), py(p, y[i]));
	}
	buf_puts(p->out, "\"/>\n");
	legend(p, name);
}

void plot_bars(struct plot *p, const double *x, const double *y, size_t n, const char *name)
{
	unsigned style = p->lines % STYLES;
	if (!n)
		return;
	buf_printf(p->out,
		   "<path fill=\"%s\" fill-opacity=\"0.22\" stroke=\"%s\" "
		   "stroke-dasharray=\"%s\" d=\"M%.1f %d",
		   colors[style], colors[style], dashes[style], px(p, x[0]), BOTTOM);
	for (size_t i = 0; i < n; i++)
		buf_printf(p->out, "V%.1fH%.1f", py(p, y[i]), px(p, x[i + 1]));
	buf_printf(p->out, "V%d\"/>\n", BOTTOM);
	legend(p, name);
}

void plot_close(struct plot *p)
{
	buf_puts(p->out, "</svg>\n");
}
