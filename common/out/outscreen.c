// What a report shows on one screen; see out_opts.fits.
//
// Tables are gathered as text; at the end of the output the longest are cut to the rows for which
// there is room.
#include "common/cli/width.h"
#include "common/out/out_priv.h"

enum { LEAST_ROWS = 3 };

static size_t lines_of(const char *s, size_t len)
{
	size_t n = 0;
	for (const char *end = s + len; (s = memchr(s, '\n', (size_t)(end - s))); s++)
		n++;
	return n;
}

bool out_is_on_screen(const struct out *o)
{
	return o->opts.mode == OUT_TABLE && !o->opts.to && o->fd == STDOUT_FILENO && isatty(o->fd);
}

bool out_fits(const struct out *o)
{
	return o->opts.fits && out_is_on_screen(o);
}

void outscreen_rows(struct out *o, size_t from)
{
	if (o->buf.len > from && o->nscreen < COUNT(o->screen))
		o->screen[o->nscreen++] = (struct outscreen_rows){
			from, o->buf.len, lines_of(o->buf.data + from, o->buf.len - from)};
}

// Returns the lines of the output if tables have at most `most` rows, and a line for the others.
static size_t lines_with(const struct out *o, size_t most)
{
	size_t n = lines_of(o->buf.data, o->buf.len);
	for (unsigned i = 0; i < o->nscreen; i++)
		n -= o->screen[i].n > most + 1 ? o->screen[i].n - most - 1 : 0;
	return n;
}

void outscreen_cut(struct out *o)
{
	if (!o->nscreen)
		return;
	const size_t rows = terminal_size().rows, said = err_lines() + 1; // and the prompt
	SCOPED(buf_fini) struct buf all = o->buf;
	size_t most = rows, at = 0;
	while (most > LEAST_ROWS && lines_with(o, most) + said > rows)
		most--;
	o->buf = (struct buf){0};
	for (unsigned i = 0; i < o->nscreen; i++) {
		const struct outscreen_rows *t = &o->screen[i];
		if (t->n <= most + 1)
			continue;
		const char *end = all.data + t->from;
		for (size_t k = 0; k < most; k++)
			end = strchr(end, '\n') + 1;
		buf_append(&o->buf, all.data + at, (size_t)(end - all.data) - at);
		buf_printf(&o->buf, "... %zu more rows: | less shows them\n", t->n - most);
		at = t->to;
	}
	buf_append(&o->buf, all.data + at, all.len - at);
	o->nscreen = 0;
}
