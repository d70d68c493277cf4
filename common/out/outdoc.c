// Documents for people: Markdown, or one HTML page that needs no other file; see out.h.
//
// Times are in milliseconds with three decimals, other fractions have two, so that readers can
// recompute sums and ratios.
#include "common/out/out_priv.h"

#include "common/cli/width.h"
#include "common/out/schema.h"

#include <fcntl.h>

// A table that is wider than the screen scrolls in its own box, so the page never scrolls sideways.
static const char style[] =
	":root{color-scheme:light dark;--ink:#222;--paper:#fff;--line:#ccc;--shade:#f3f3f3}"
	"@media(prefers-color-scheme:dark){"
	":root{--ink:#e6e6e6;--paper:#16181d;--line:#4a4f59;--shade:#24272e}}"
	"body{font:16px/1.45 sans-serif;margin:auto;padding:0 1em 2em;"
	"color:var(--ink);background:var(--paper);overflow-wrap:anywhere}"
	"h1{font-size:1.5em}h2{font-size:1.25em;margin-top:2em}h3{font-size:1.05em}"
	"div{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:85%;"
	"overflow-wrap:normal}th,td{border:1px solid var(--line);text-align:left;"
	"padding:.25em .6em}th{background:var(--shade)}.n{text-align:right;white-space:nowrap}"
	"p{max-width:50em}figure{margin:1.5em 0;break-inside:avoid}"
	"figure>svg{display:block;width:100%;max-width:32em}"
	".verdict,.warn{border-left:.4em solid #8a8f99;background:var(--shade);padding:.6em 1em}"
	".verdict{font-size:115%}.ok{border-color:#009e73}.failed,.warn{border-color:#d55e00}";

bool out_is_document(const struct out *o)
{
	return o->opts.mode == OUT_MARKDOWN || o->opts.mode == OUT_HTML;
}

struct buf *out_html(struct out *o)
{
	return o->opts.mode == OUT_HTML ? &o->buf : NULL;
}

// Appends text of others to Markdown. Escapes control characters and what ends a cell or begins
// markup.
static void outdoc_markdown(struct buf *out, const char *text, size_t len)
{
	SCOPED(buf_fini) struct buf safe = {0};
	text_escape(&safe, text, len);
	for (const char *s = safe.data ? safe.data : ""; *s; s++) {
		if (strchr("|<*_`[~&\\", *s))
			buf_puts(out, "\\");
		buf_append(out, s, 1);
	}
}

void outdoc_open(struct out *o)
{
	struct buf *b = &o->buf;
	if (!out_html(o)) {
		buf_printf(b, "# %s\n", o->opts.title);
		return;
	}
	buf_puts(
		b,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
	text_html(b, o->opts.title, strlen(o->opts.title));
	buf_printf(b, "</title>\n<style>%s</style></head>\n<body>\n<h1>", style);
	text_html(b, o->opts.title, strlen(o->opts.title));
	buf_puts(b, "</h1>\n");
}

void outdoc_close(struct out *o)
{
	if (out_html(o))
		buf_puts(&o->buf, "</body></html>\n");
}

static const struct {
	const char *markdown, *html, *end;
} blocks[] = {
	[OUT_SECTION] = {"\n## ", "<h2>", "</h2>\n"},
	[OUT_HEADING] = {"\n### ", "<h3>", "</h3>\n"},
	[OUT_NOTE] = {"\n", "<p>", "</p>\n"},
	[OUT_WARNING] = {"\n> ", "<p class=\"warn\">", "</p>\n"},
	[OUT_MET] = {"\n> ", "<p class=\"verdict ok\">", "</p>\n"},
	[OUT_UNMET] = {"\n> ", "<p class=\"verdict failed\">", "</p>\n"},
	[OUT_UNKNOWN] = {"\n> ", "<p class=\"verdict unknown\">", "</p>\n"},
};

void out_say(struct out *o, enum out_block block, const char *fmt, ...)
{
	SCOPED(buf_fini) struct buf text = {0};
	va_list ap;
	if (o->opts.only)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	const char *s = text.data ? text.data : "";
	if (out_html(o)) {
		buf_puts(&o->buf, blocks[block].html);
		text_html(&o->buf, s, text.len);
		buf_puts(&o->buf, blocks[block].end);
	} else if (out_is_document(o)) {
		buf_puts(&o->buf, blocks[block].markdown);
		outdoc_markdown(&o->buf, s, text.len);
		buf_puts(&o->buf, "\n");
	} else if (o->opts.mode == OUT_TABLE && block != OUT_SECTION && block != OUT_NOTE) {
		buf_puts(&o->buf, o->buf.len ? "\n" : "");
		if (out_fits(o) && !strchr(s, '\n'))
			text_wrap_to(&o->buf, terminal_size().columns, 0, 0, s, text.len);
		else
			buf_printf(&o->buf, "%s\n", s);
	}
}

static void outdoc_cell(struct out *o, const struct out_col *c, const void *record, const char *tag)
{
	const bool html = out_html(o);
	outfmt_escape *escape = html ? text_html : outdoc_markdown;
	struct buf *b = &o->buf;
	long double v;
	if (html)
		buf_printf(b, "<%s%s>", tag,
			   record && outfmt_types[c->type].number ? " class=\"n\"" : "");
	else
		buf_puts(b, "| ");
	if (!record) {
		escape(b, c->name, strlen(c->name));
		buf_puts(b, c->type == OUT_NS ? " ms" : c->type == OUT_SIZE ? " bytes" : "");
	} else if (out_is_null(c, record)) {
		buf_puts(b, "-");
	} else if ((c->type == OUT_NS || c->type == OUT_F64) && outfmt_number(c, record, &v)) {
		buf_printf(b, c->type == OUT_NS ? "%.3f" : "%.2f",
			   (double)v / (c->type == OUT_NS ? 1e6 : 1));
	} else {
		outfmt_text(b, c, record, true, true, escape);
	}
	if (html)
		buf_printf(b, "</%.2s>", tag);
	else
		buf_puts(b, " ");
}

static void outdoc_begin_table(struct out *o)
{
	buf_puts(&o->buf, out_html(o) ? "<div tabindex=\"0\"><table>\n" : "\n");
}

void outdoc_row(struct out *o, const void *record)
{
	const bool html = out_html(o);
	buf_puts(&o->buf, html ? "<tr>" : "");
	for (unsigned i = 0; i < o->ncells; i++)
		outdoc_cell(o, out_column(o, i), record, record ? "td" : "th scope=\"col\"");
	buf_puts(&o->buf, html ? "</tr>\n" : "|\n");
}

void outdoc_begin(struct out *o)
{
	outdoc_begin_table(o);
	outdoc_row(o, NULL);
	for (unsigned i = 0; i < o->ncells && !out_html(o); i++)
		buf_puts(&o->buf, outfmt_types[out_column(o, i)->type].number ? "|---:" : "|:---");
	buf_puts(&o->buf, out_html(o) ? "" : "|\n");
}

void outdoc_end(struct out *o)
{
	buf_puts(&o->buf, out_html(o) ? "</table></div>\n" : "");
}

void outdoc_object(struct out *o, const void *record)
{
	outdoc_begin_table(o);
	buf_puts(&o->buf, out_html(o) ? "" : "| | |\n|:---|:---|\n");
	for (unsigned i = 0; i < o->nshown; i++) {
		buf_puts(&o->buf, out_html(o) ? "<tr>" : "");
		outdoc_cell(o, out_column(o, i), NULL, "th scope=\"row\"");
		outdoc_cell(o, out_column(o, i), record, "td");
		buf_puts(&o->buf, out_html(o) ? "</tr>\n" : "|\n");
	}
	outdoc_end(o);
}

// --- text that is no table ---

int out_text(struct buf *text)
{
	int failed = write_fully(STDOUT_FILENO, text->data, text->len);
	buf_fini(text);
	if (!failed)
		return GPQ_OK;
	return errno == EPIPE ? GPQ_PIPE : err_sys(errno, NULL, "standard output");
}

static bool document_opened;
static struct buf bare_document; // one that has no row, which out_close() leaves to out_last()

void outdoc_last(struct buf *bare)
{
	document_opened = !bare;
	buf_fini(&bare_document);
	if (bare) {
		bare_document = *bare;
		*bare = (struct buf){0};
	}
}

int out_last(int status)
{
	const bool failed = err_has_failed();
	if (document_opened || !(status || failed || bare_document.len))
		return status;
	if (failed || !bare_document.len) {
		schema_print_failure(status);
		return status;
	}
	const int written = out_text(&bare_document);
	document_opened = true;
	return status ? status : written;
}

int out_file(const char *option, const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	int status = GPQ_OK;
	if (fd < 0 || write_fully(fd, text->data, text->len))
		status = err_sys(errno, NULL, "%s%s", option, path);
	if (fd >= 0 && close(fd) && !status)
		status = err_sys(errno, NULL, "%s%s", option, path);
	return status;
}

int out_file_or_stdout(const char *option, const char *path, struct buf *text)
{
	return strcmp(path, "-") == 0 ? out_text(text) : out_file(option, path, text);
}
