// Markdown and HTML side by side; report.h.
#include "common/bench/report.h"

#include "common/cli/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Tables that are wider than a narrow screen scroll in their box; the page never does.
static const char style[] =
	":root{color-scheme:light dark;--ink:#222;--paper:#fff;--line:#ccc;--shade:#f3f3f3}"
	"@media(prefers-color-scheme:dark){"
	":root{--ink:#e6e6e6;--paper:#16181d;--line:#4a4f59;--shade:#24272e}}"
	"body{font:16px/1.45 sans-serif;max-width:50em;margin:auto;padding:0 1em 2em;"
	"color:var(--ink);background:var(--paper);overflow-wrap:anywhere}"
	"h1{font-size:1.5em}h2{font-size:1.25em;margin-top:2em}h3{font-size:1.05em}"
	"div{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:85%;"
	"overflow-wrap:normal}th,td{border:1px solid var(--line);text-align:left;"
	"padding:.25em .6em}th{background:var(--shade)}.n{text-align:right;white-space:nowrap}"
	"figure{margin:1.5em 0;break-inside:avoid}figure>svg{display:block;width:100%}"
	".verdict,.warn{border-left:.4em solid #8a8f99;background:var(--shade);padding:.6em 1em}"
	".verdict{font-size:115%}.ok{border-color:#009e73}.failed,.warn{border-color:#d55e00}";

void doc_init(struct doc *d, const char *title)
{
	*d = (struct doc){0};
	buf_printf(&d->md, "# %s\n", title);
	buf_puts(
		&d->html,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
	plot_text(&d->html, title);
	buf_printf(&d->html, "</title>\n<style>%s</style></head>\n<body>\n<h1>", style);
	plot_text(&d->html, title);
	buf_puts(&d->html, "</h1>\n");
}

// Text of others in Markdown: no control characters, and nothing that ends a cell or begins markup.
static void md_text(struct buf *out, const char *text)
{
	struct buf safe = {0};
	text_escape(&safe, text, strlen(text));
	for (const char *s = safe.data ? safe.data : ""; *s; s++) {
		if (strchr("|<*_`[\\", *s))
			buf_puts(out, "\\");
		buf_append(out, s, 1);
	}
	buf_fini(&safe);
}

static void end_table(struct doc *d)
{
	if (d->columns)
		buf_puts(&d->html, "</table></div>\n");
	d->columns = 0;
}

// A block of text, as Markdown between `md` and a line end, as HTML between `html` and `end`.
static void block(struct doc *d, const char *md, const char *html, const char *text,
		  const char *end)
{
	end_table(d);
	buf_puts(&d->md, md);
	md_text(&d->md, text);
	buf_puts(&d->md, "\n");
	buf_puts(&d->html, html);
	plot_text(&d->html, text);
	buf_puts(&d->html, end);
}

void doc_heading(struct doc *d, unsigned level, const char *text)
{
	block(d, level == 2 ? "\n## " : "\n### ", level == 2 ? "<h2>" : "<h3>", text,
	      level == 2 ? "</h2>\n" : "</h3>\n");
}

void doc_verdict(struct doc *d, const char *result, const char *text)
{
	char html[48];
	snprintf(html, sizeof(html), "<p class=\"verdict %s\">", result);
	block(d, "\n> ", html, text, "</p>\n");
}

void doc_say(struct doc *d, const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	block(d, "\n", "<p>", b.data, "</p>\n");
	va_end(ap);
	buf_fini(&b);
}

void doc_warn(struct doc *d, const char *text)
{
	block(d, "\n> ", "<p class=\"warn\">", text, "</p>\n");
}

void doc_table(struct doc *d, const char *headings)
{
	unsigned n = 0;
	end_table(d);
	buf_puts(&d->md, "\n");
	buf_puts(&d->html, "<div tabindex=\"0\"><table><tr>");
	for (const char *h = headings; *h; n++) {
		size_t len = strcspn(h, "|");
		buf_printf(&d->md, "| %.*s ", (int)len, h);
		buf_printf(&d->html, "<th scope=\"col\">%.*s</th>", (int)len, h);
		h += len + (h[len] == '|');
	}
	buf_puts(&d->md, "|\n");
	for (unsigned i = 0; i < n; i++)
		buf_puts(&d->md, i ? "|---:" : "|:---");
	buf_puts(&d->md, "|\n");
	buf_puts(&d->html, "</tr>\n");
	d->column = 0;
	d->columns = n;
}

void doc_cell(struct doc *d, const char *text)
{
	text = *text ? text : "-";
	buf_puts(&d->md, "| ");
	md_text(&d->md, text);
	buf_puts(&d->md, " ");
	// Two columns are a name and its value, numbers or not.
	bool number = d->columns > 2 && strspn(text, "-.0123456789") == strlen(text);
	buf_printf(&d->html, "%s<td%s>", d->column ? "" : "<tr>", number ? " class=\"n\"" : "");
	plot_text(&d->html, text);
	buf_puts(&d->html, "</td>");
	if (++d->column < d->columns)
		return;
	buf_puts(&d->md, "|\n");
	buf_puts(&d->html, "</tr>\n");
	d->column = 0;
}

void doc_cells(struct doc *d, const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	for (char *at = b.data, *text; (text = strsep(&at, "|"));)
		doc_cell(d, strcmp(text + (*text == '-'), "nan") == 0 ? "" : text);
	buf_fini(&b);
}

static const char plot_begin[] = "<figure>", plot_end[] = "</figure>\n";

void doc_plot(struct doc *d, struct plot *p)
{
	end_table(d);
	buf_puts(&d->html, plot_begin);
	plot_close(p, &d->html);
	buf_puts(&d->html, plot_end);
}

const char *doc_next_plot(const char *at, size_t *len)
{
	at = strstr(at, plot_begin);
	if (!at)
		return NULL;
	at += strlen(plot_begin);
	*len = (size_t)(strstr(at, plot_end) - at);
	return at;
}

void doc_end(struct doc *d)
{
	end_table(d);
	buf_puts(&d->html, "</body></html>\n");
}

void doc_fini(struct doc *d)
{
	buf_fini(&d->md);
	buf_fini(&d->html);
}
