// SVG plots; plot.h.
#include "common/out/plot.h"

#include "common/cli/text.h"
#include "common/host/maths.h"

// In pixels: height of a text line and of a row's area, width of the SVG as a file of its own and
// of the narrowest screen on which labels must fit. TICKS is the most ticks of the axis; of more
// than LABELS, narrow screens label every other one.
enum { LINE = 16, AREA = 56, WIDTH = 480, NARROW = 340, TICKS = 39, LABELS = 6 };

// Groups have colours that colour-blind people can tell apart, lighter ones on a dark background.
// Text has a border in the colour of the background, so that lines do not cross it.
static const char style[] =
	"<style>svg{max-width:100%}"
	"svg text{font:12px sans-serif;stroke-width:3px;paint-order:stroke}"
	"svg .strong{font-weight:bold}svg .title{font-size:14px}"
	".grid,.tick,.goal{stroke-width:1px}.tick.strong{stroke-width:2.5px}"
	".goal{stroke-dasharray:4,3}.band{fill-opacity:.5}"
	".c0,.c1,.c2{fill:currentColor;stroke:currentColor;fill-opacity:.3}"
	"@media(max-width:480px){.odd{display:none}}\n"
	"svg{background:#fff}.paper{fill:#fff}svg text{fill:#222;stroke:#fff}"
	".grid{stroke:#ddd}.tick{stroke:#222}"
	".goal{stroke:#b34700}svg .goal-text{fill:#b34700}.band{fill:#f2c14e;stroke:#f2c14e}"
	".c0{color:#0072b2}.c1{color:#00815e}.c2{color:#a3418f}\n"
	"@media(prefers-color-scheme:dark){"
	"svg{background:#16181d}.paper{fill:#16181d}svg text{fill:#e6e6e6;stroke:#16181d}"
	".grid{stroke:#3c4048}"
	".tick{stroke:#fff}.goal{stroke:#ff9f5a}svg .goal-text{fill:#ff9f5a}"
	".band{fill:#7a5c14;stroke:#7a5c14}"
	".c0{color:#5ab4f0}.c1{color:#3fcf9e}.c2{color:#e39ad0}}</style>\n";

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

// Returns the distance of ticks: 1, 2 or 5 times a power of ten, for three to seven steps.
static double nice_step(double extent)
{
	double power = maths()->pow(10, floor(maths()->log10(extent / 3)));
	double n = extent / 3 / power;
	return power * (n < 2 ? 1 : n < 5 ? 2 : 5);
}

static double next_tick(const struct plot_axis *a, double v)
{
	if (!a->log)
		return v + nice_step(a->max - a->min);
	double lead = v / maths()->pow(10, floor(maths()->log10(v) + 1e-9));
	if (a->max / a->min > 100) // more than two decades: a tick for each decade only
		return v * 10;
	return lead < 1.5 ? v * 2 : lead < 3 ? v * 2.5 : v * 2;
}

// Widens the bounds of the axis to whole ticks.
static void axis_widen(struct plot_axis *a)
{
	if (!(a->max > a->min))
		a->max = a->log ? a->min * 10 : a->min + 1;
	if (!a->log) {
		double step = nice_step(a->max - a->min);
		a->min = floor(a->min / step + 1e-9) * step;
		a->max = ceil(a->max / step - 1e-9) * step;
		return;
	}
	double v = maths()->pow(10, floor(maths()->log10(a->min) + 1e-9)), next;
	while ((next = next_tick(a, v)) <= a->min)
		v = next;
	double begin = v;
	while (v < a->max * (1 - 1e-9))
		v = next_tick(a, v);
	a->min = begin;
	a->max = v;
}

// Where a value lies along the axis: 0 to 1.
static double place_on_axis(const struct plot_axis *a, double v)
{
	double at = a->log ? maths()->log(v / a->min) / maths()->log(a->max / a->min)
			   : (v - a->min) / (a->max - a->min);
	return at < 0 ? 0 : at > 1 ? 1 : at;
}

// Writes a label, centred at its place unless it would leave a narrow screen.
static void plot_label(struct buf *out, double at, unsigned y, const char *class, const char *text)
{
	double reach = 3.3 * (double)strlen(text) / NARROW;
	buf_printf(out, "<text x=\"%.2f%%\" y=\"%u\" class=\"%s\" text-anchor=\"%s\">", 100 * at, y,
		   class,
		   at < reach       ? "start"
		   : at > 1 - reach ? "end"
				    : "middle");
	text_html(out, text, strlen(text));
	buf_puts(out, "</text>\n");
}

// Writes a text on a line of its own; returns where the next line begins.
static unsigned plot_line(struct buf *out, unsigned y, const char *class, const char *text)
{
	if (!*text)
		return y;
	plot_label(out, 0, y + 12, class, text);
	return y + LINE;
}

static void plot_upright(struct buf *out, double at, unsigned from, unsigned to, const char *class)
{
	buf_printf(out, "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%u\" y2=\"%u\" class=\"%s\"/>\n",
		   100 * at, 100 * at, from, to, class);
}

void plot_open(struct plot *p, const char *title, const char *note, struct plot_axis x)
{
	*p = (struct plot){.x = x, .goal = NAN};
	axis_widen(&p->x);
	buf_puts(&p->head, "<title>");
	text_html(&p->head, title, strlen(title));
	buf_puts(&p->head, "</title>\n<desc>");
	buf_printf(&p->desc, "%s. ", *note ? note : title);
	p->y = plot_line(&p->body, plot_line(&p->body, 4, "strong title", title), "", note);
}

static void plot_end_group(struct plot *p)
{
	if (!isnan(p->goal))
		plot_upright(&p->back, place_on_axis(&p->x, p->goal), p->goal_y, p->y, "goal");
	p->goal = NAN;
}

void plot_group(struct plot *p, const char *heading, double top, enum plot_unit unit)
{
	struct plot_axis y = {.max = top};
	plot_end_group(p);
	axis_widen(&y);
	p->top = y.max;
	p->unit = unit;
	p->groups++;
	p->y = plot_line(&p->body, p->y + 6, "strong", heading);
	buf_printf(&p->desc, "%s%s", heading, *heading ? ". " : "");
}

void plot_goal(struct plot *p, double x, const char *text)
{
	p->goal = x;
	p->goal_y = p->y + LINE;
	plot_label(&p->body, place_on_axis(&p->x, x), p->y + 12, "goal-text", text);
	buf_printf(&p->desc, "%s. ", text);
	p->y += LINE;
}

// Draws the area below the steps, in an inner <svg> of 1000 x AREA units that is stretched to any
// width.
static void plot_area(struct plot *p, const double *x, const double *y, size_t n)
{
	buf_printf(&p->body,
		   "<svg y=\"%u\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 1000 %d\" "
		   "preserveAspectRatio=\"none\" overflow=\"visible\">"
		   "<path class=\"c%u\" vector-effect=\"non-scaling-stroke\" d=\"M0 %d",
		   p->y, AREA, AREA, (p->groups - 1) % 3, AREA);
	bool on = false;
	for (size_t i = 0; i < n; on = !isnan(y[i++])) {
		if (isnan(y[i])) {
			if (on)
				buf_printf(&p->body, "V%d", AREA);
			continue;
		}
		if (!on)
			buf_printf(&p->body, "M%.1f %d", 1000 * place_on_axis(&p->x, x[i]), AREA);
		buf_printf(&p->body, "V%.1fH%.1f", AREA * (1 - y[i] / p->top),
			   1000 * place_on_axis(&p->x, x[i + 1]));
	}
	if (on)
		buf_printf(&p->body, "V%d", AREA);
	buf_puts(&p->body, "\"/></svg>\n");
}

void plot_row(struct plot *p, const char *name, const double *x, const double *y, size_t n,
	      const struct plot_tick *ticks)
{
	struct buf *b = &p->body;
	char text[32];
	p->y = plot_line(b, p->y, "", name) + (ticks ? LINE : 4);
	for (size_t i = 0; i + 1 < p->nbands; i += 2)
		buf_printf(b,
			   "<rect x=\"%.2f%%\" y=\"%u\" width=\"%.2f%%\" height=\"%d\" "
			   "class=\"band\"/>\n",
			   100 * place_on_axis(&p->x, p->bands[i]), p->y,
			   100 * (place_on_axis(&p->x, p->bands[i + 1]) -
				  place_on_axis(&p->x, p->bands[i])),
			   AREA);
	for (unsigned k = 0; k < 2; k++)
		buf_printf(b, "<line x2=\"100%%\" y1=\"%u\" y2=\"%u\" class=\"grid\"/>\n",
			   p->y + k * AREA, p->y + k * AREA);
	plot_area(p, x, y, n);
	for (unsigned k = 0; ticks && k < 2; k++) {
		double at = place_on_axis(&p->x, ticks[k].x);
		const char *class = k ? "" : "strong";
		plot_upright(b, at, p->y - (k ? 0 : 3), p->y + AREA + (k ? 3 : 0),
			     k ? "tick" : "tick strong");
		plot_label(b, at, k ? p->y + AREA + 14 : p->y - 5, class, ticks[k].text);
	}
	tick_text(text, p->unit, p->top);
	plot_label(b, !ticks, ticks ? p->y + 13 : p->y - 8, "", text);
	if (ticks)
		buf_printf(&p->desc, "%s: %s, %s. ", name, ticks[0].text, ticks[1].text);
	p->y += AREA + (ticks ? LINE + 6 : 8);
}

static void plot_bottom(struct plot *p, struct buf *out)
{
	double at[TICKS], v = p->x.min;
	unsigned n = 0;
	char text[32];
	for (; n < TICKS && v <= p->x.max * (1 + 1e-9); v = next_tick(&p->x, v))
		at[n++] = v;
	for (unsigned i = 0; i < n; i++) {
		plot_upright(out, place_on_axis(&p->x, at[i]), 2 * LINE + 6, p->y, "grid");
		tick_text(text, p->x.unit, at[i]);
		plot_label(out, place_on_axis(&p->x, at[i]), p->y + 14,
			   n > LABELS && i % 2 ? "odd" : "", text);
	}
	plot_label(out, 0.5, p->y + LINE + 14, "", p->x.label);
}

void plot_close(struct plot *p, struct buf *out)
{
	plot_end_group(p);
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		   "role=\"img\">\n",
		   WIDTH, p->y + 2 * LINE + 4);
	buf_puts(out, p->head.data ? p->head.data : "");
	text_html(out, p->desc.data, p->desc.len);
	buf_printf(out, "</desc>\n%s<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n",
		   style);
	buf_puts(out, "<svg x=\"1.5%\" width=\"97%\" overflow=\"visible\">\n");
	plot_bottom(p, out);
	buf_puts(out, p->back.data ? p->back.data : "");
	buf_puts(out, p->body.data ? p->body.data : "");
	buf_puts(out, "</svg>");
	buf_puts(out, "</svg>\n");
	buf_fini(&p->head);
	buf_fini(&p->desc);
	buf_fini(&p->back);
	buf_fini(&p->body);
}
