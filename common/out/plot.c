// SVG plots; plot.h.
#include "common/out/plot.h"

#include "common/cli/text.h"
#include "common/cli/width.h"
#include "common/host/maths.h"

// In units of the picture, which is WIDTH of them wide: height of a text line, of a row's area, of
// a frame and of a mark; where the horizontal axis begins, and its length. Text is so large that a
// picture 358 pixels wide, as on a phone, shows 10 pixels of it. TICKS is the most ticks of the
// axis; of more than LABELS every other one has a label.
enum {
	LINE = 19,
	AREA = 56,
	FRAME = 22,
	MARK = 8,
	WIDTH = 480,
	LEFT = 58,
	SPAN = 410,
	TICKS = 39,
	LABELS = 9
};

// Groups have colours that colour-blind people can tell apart, lighter ones on a dark background.
static const char style[] =
	"<style>svg{max-width:100%;height:auto}"
	"svg text{font:14px sans-serif}svg .strong{font-weight:bold}svg .title{font-size:16px}"
	".grid,.tick,.goal{fill:none;stroke-width:1px}.tick.strong{stroke-width:2.5px}"
	".goal{stroke-dasharray:4,3}.band{fill-opacity:.4}"
	".c0,.c1,.c2,.c3,.c4,.c5{fill:currentColor;stroke:currentColor;fill-opacity:.3}\n"
	".paper{fill:#fff}svg text{fill:#222}.grid{stroke:#ccc}.tick{stroke:#222}"
	".goal{stroke:#b34700}svg .goal-text{fill:#b34700}.band{fill:#f2c14e;stroke:#a86f00}"
	".frame{fill:#eee;stroke:#888}"
	".c0{color:#0072b2}.c1{color:#00815e}.c2{color:#a3418f}.c3{color:#b35900}.c4{color:#666}"
	".c5{color:#b3261e}\n"
	"@media(prefers-color-scheme:dark){"
	".paper{fill:#16181d}svg text{fill:#e6e6e6}.grid{stroke:#4a4f59}.tick{stroke:#fff}"
	".goal{stroke:#ff9f5a}svg .goal-text{fill:#ff9f5a}.band{fill:#a37b1f;stroke:#d9a83a}"
	".frame{fill:#2b2f38;stroke:#8a8f99}"
	".c0{color:#5ab4f0}.c1{color:#3fcf9e}.c2{color:#e39ad0}.c3{color:#ffb35a}.c4{color:#a0a4ab}"
	".c5{color:#ff8a80}}</style>\n";

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

// Where a value lies along the axis: 0 to 1. What is below it, as an open end, has no logarithm.
static double place_on_axis(const struct plot_axis *a, double v)
{
	if (!(v > a->min))
		return 0;
	double at = a->log ? maths()->log(v / a->min) / maths()->log(a->max / a->min)
			   : (v - a->min) / (a->max - a->min);
	return at > 1 ? 1 : at;
}

static double plot_x(const struct plot *p, double v)
{
	return LEFT + SPAN * place_on_axis(&p->x, v);
}

static void plot_text(struct buf *out, double x, unsigned y, const char *anchor, const char *class,
		      const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%u\" class=\"%s\" text-anchor=\"%s\">", x, y, class,
		   anchor);
	text_html(out, text, strlen(text));
	buf_puts(out, "</text>\n");
}

// Writes a label, centred unless it would then leave the picture.
static void plot_label(struct buf *out, double x, unsigned y, const char *class, const char *text)
{
	const double reach = 3.9 * (double)strlen(text);
	if (x < reach)
		plot_text(out, 4, y, "start", class, text);
	else if (x > WIDTH - reach)
		plot_text(out, WIDTH - 4, y, "end", class, text);
	else
		plot_text(out, x, y, "middle", class, text);
}

// Writes a text on a line of its own; returns where the next line begins.
static unsigned plot_line(struct buf *out, unsigned x, unsigned y, const char *class,
			  const char *text)
{
	if (!*text)
		return y;
	plot_text(out, x, y + 14, "start", class, text);
	return y + LINE;
}

static void plot_upright(struct buf *out, double x, unsigned from, unsigned to, const char *class)
{
	buf_printf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%u\" y2=\"%u\" class=\"%s\"/>\n", x, x,
		   from, to, class);
}

void plot_legend(struct plot *p, const char *class, const char *text)
{
	const bool line = *class == 't' || *class == 'g'; // tick, goal
	const double width = 36 + 7.2 * (double)strlen(text);
	SCOPED(buf_fini) struct buf label = {0};
	buf_puts(&label, ">");
	text_html(&label, text, strlen(text));
	buf_puts(&label, "<");
	if (p->legend.len && strstr(p->legend.data, label.data))
		return;
	if (p->legend_x + width > WIDTH - 4) {
		p->legend_x = 0;
		p->legend_y += LINE;
	}
	buf_printf(&p->legend, "<path class=\"%s\" d=\"M%.1f %u%s\"/>\n", class,
		   p->legend_x + (line ? 10 : 4), p->legend_y + 3, line ? "v12" : "h12v12h-12z");
	plot_text(&p->legend, p->legend_x + 22, p->legend_y + 14, "start", "", text);
	p->legend_x += width;
}

void plot_open(struct plot *p, const char *title, const char *note, struct plot_axis x)
{
	*p = (struct plot){.x = x, .goal = NAN};
	axis_widen(&p->x);
	buf_puts(&p->head, "<title>");
	text_html(&p->head, title, strlen(title));
	buf_puts(&p->head, "</title>\n<desc>");
	buf_printf(&p->desc, "%s. ", *note ? note : title);
	p->y = plot_line(&p->body, 4, 4, "strong title", title);
	p->y = plot_line(&p->body, 4, p->y, "", note);
}

void plot_group(struct plot *p, const char *heading, double top, enum plot_unit unit)
{
	struct plot_axis y = {.max = top};
	char class[8];
	axis_widen(&y);
	p->top = y.max;
	p->unit = unit;
	p->goal = NAN;
	snprintf(class, sizeof(class), "c%u", p->groups++ % 6);
	plot_legend(p, class, heading);
	p->y = plot_line(&p->body, 4, p->y + 6, "strong", heading);
	buf_printf(&p->desc, "%s. ", heading);
}

void plot_goal(struct plot *p, double x, const char *text)
{
	p->goal = x;
	plot_label(&p->body, plot_x(p, x), p->y + 14, "goal-text", text);
	plot_legend(p, "goal", "goal");
	buf_printf(&p->desc, "%s. ", text);
	p->y += LINE;
}

// Draws the area below the steps.
static void plot_area(struct plot *p, const double *x, const double *y, size_t n)
{
	const double bottom = p->y + AREA;
	buf_printf(&p->body, "<path class=\"c%u\" d=\"M%d %.1f", (p->groups - 1) % 6, LEFT, bottom);
	bool on = false;
	for (size_t i = 0; i < n; on = !isnan(y[i++])) {
		if (isnan(y[i])) {
			if (on)
				buf_printf(&p->body, "V%.1f", bottom);
			continue;
		}
		if (!on)
			buf_printf(&p->body, "M%.1f %.1f", plot_x(p, x[i]), bottom);
		buf_printf(&p->body, "V%.1fH%.1f", bottom - AREA * maths()->fmin(y[i] / p->top, 1),
			   plot_x(p, x[i + 1]));
	}
	if (on)
		buf_printf(&p->body, "V%.1f", bottom);
	buf_puts(&p->body, "\"/>\n");
}

// Lists the ticks of the horizontal axis. Returns how many there are.
static unsigned plot_ticks(const struct plot_axis *a, double at[TICKS])
{
	unsigned n = 0;
	for (double v = a->min; n < TICKS && v <= a->max * (1 + 1e-9); v = next_tick(a, v))
		at[n++] = v;
	return n;
}

// Draws the frame of a row, the lines at the ticks of the axis, and bands.
static void plot_back(struct plot *p)
{
	struct buf *b = &p->body;
	double at[TICKS];
	for (size_t i = 0; i + 1 < p->nbands; i += 2) {
		const double from = plot_x(p, p->bands[i]), to = plot_x(p, p->bands[i + 1]);
		buf_printf(b,
			   "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
			   "class=\"band\"/>\n",
			   from, p->y, to - from, AREA);
		plot_legend(p, "band", p->band_name);
	}
	buf_printf(b, "<path class=\"grid\" d=\"M%d %uh%dm0 %dh-%d", LEFT, p->y, SPAN, AREA, SPAN);
	for (unsigned i = 0, n = plot_ticks(&p->x, at); i < n; i++)
		buf_printf(b, "M%.1f %uv%d", plot_x(p, at[i]), p->y, AREA);
	buf_puts(b, "\"/>\n");
}

void plot_row(struct plot *p, const char *name, const double *x, const double *y, size_t n,
	      const struct plot_tick *ticks)
{
	struct buf *b = &p->body;
	char text[32];
	p->y = plot_line(b, LEFT, p->y, "", name) + (ticks ? LINE : 4);
	plot_back(p);
	plot_area(p, x, y, n);
	if (!isnan(p->goal))
		plot_upright(b, plot_x(p, p->goal), p->y, p->y + AREA, "goal");
	for (unsigned k = 0; ticks && k < 2; k++) {
		const double at = plot_x(p, ticks[k].x);
		const char *class = k ? "tick" : "tick strong";
		plot_upright(b, at, p->y - (k ? 0 : 3), p->y + AREA + (k ? 3 : 0), class);
		plot_label(b, at, k ? p->y + AREA + 16 : p->y - 6, k ? "" : "strong",
			   ticks[k].text);
		plot_legend(p, class, ticks[k].name);
	}
	tick_text(text, p->unit, p->top);
	plot_text(b, LEFT - 6, p->y + 10, "end", "", text);
	plot_text(b, LEFT - 6, p->y + AREA, "end", "", "0");
	if (ticks)
		buf_printf(&p->desc, "%s: %s, %s. ", name, ticks[0].text, ticks[1].text);
	p->y += AREA + (ticks ? LINE + 4 : 8);
}

void plot_marks(struct plot *p, const char *name, const struct plot_mark *v, unsigned n)
{
	struct buf *b = &p->body;
	p->y = plot_line(b, LEFT, p->y, "", name) + 2;
	buf_printf(&p->desc, "%s: ", name);
	buf_printf(b, "<path class=\"grid\" d=\"M%d %uh%dm0 %dh-%d\"/>\n", LEFT, p->y, SPAN, MARK,
		   SPAN);
	if (!isnan(p->goal))
		plot_upright(b, plot_x(p, p->goal), p->y, p->y + MARK, "goal");
	for (unsigned k = 0; k < n; k++) {
		const char *class = k ? "tick" : "tick strong";
		const double from = plot_x(p, v[k].low), to = plot_x(p, v[k].high);
		char text[32];
		buf_printf(b,
			   "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
			   "class=\"c%u\"/>\n",
			   from, p->y, to - from, MARK, (p->groups - 1) % 6);
		plot_upright(b, plot_x(p, v[k].at), p->y - 2, p->y + MARK + 2, class);
		plot_legend(p, class, v[k].name);
		tick_text(text, p->x.unit, v[k].at);
		buf_printf(&p->desc, "%s%s %s", k ? ", " : "", v[k].name, text);
	}
	buf_puts(&p->desc, ". ");
	p->y += MARK + 6;
}

void plot_levels(struct plot *p, const char *const *names, unsigned n)
{
	p->y += 6 + n * FRAME;
	for (unsigned i = 0; i < n; i++)
		buf_printf(&p->body, // small enough for the margin in any font
			   "<text x=\"%d\" y=\"%u\" text-anchor=\"end\" style=\"font-size:12px\">"
			   "%s</text>\n",
			   LEFT - 6, p->y - i * FRAME - 6, names[i]);
}

void plot_frame(struct plot *p, unsigned level, double from, double to, const char *class,
		const char *name, const char *note)
{
	const double x = plot_x(p, from), width = plot_x(p, to) - x;
	const unsigned y = p->y - (level + 1) * FRAME;
	const size_t room = width > 8 ? (size_t)((width - 8) / 7.7) : 0;
	struct buf *b = &p->body;
	SCOPED(buf_fini) struct buf cut = {0};
	buf_puts(b, "<g><title>");
	text_html(b, name, strlen(name));
	buf_printf(b,
		   "%s</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
		   "class=\"%s\"/>",
		   note, x, y, width, FRAME, class);
	text_cut(&cut, name, strlen(name), room);
	if (room > 2)
		plot_text(b, x + 4, y + 16, "start", "", cut.data);
	buf_puts(b, "</g>\n");
}

static void plot_bottom(struct plot *p)
{
	double at[TICKS];
	char text[32];
	const unsigned n = plot_ticks(&p->x, at), step = n > LABELS ? 2 : 1;
	for (unsigned i = 0; i < n; i += step) {
		tick_text(text, p->x.unit, at[i]);
		plot_label(&p->body, plot_x(p, at[i]), p->y + 16, "", text);
	}
	plot_label(&p->body, LEFT + SPAN / 2.0, p->y + LINE + 16, "", p->x.label);
	p->y += 2 * LINE + 6;
}

void plot_close(struct plot *p, struct buf *out)
{
	plot_bottom(p);
	const unsigned height = p->y + p->legend_y + LINE + 6;
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" "
		   "width=\"%d\" height=\"%u\" role=\"img\">\n",
		   WIDTH, height, WIDTH, height);
	buf_append(out, p->head.data, p->head.len);
	text_html(out, p->desc.data, p->desc.len);
	buf_printf(out, "</desc>\n%s<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n",
		   style);
	buf_append(out, p->body.data, p->body.len);
	buf_printf(out, "<g class=\"legend\" transform=\"translate(0 %u)\">\n", p->y);
	buf_puts(out, p->legend.len ? p->legend.data : "");
	buf_puts(out, "</g></svg>\n");
	buf_fini(&p->head);
	buf_fini(&p->desc);
	buf_fini(&p->body);
	buf_fini(&p->legend);
}
