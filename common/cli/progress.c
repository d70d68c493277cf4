// The progress bar; progress.h.
#include "common/cli/progress.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/clock.h"

#include <math.h>

#define SECOND UINT64_C(1000000000)
#define QUIET  (SECOND / 2) // a command that ends sooner shows nothing
#define REDRAW (SECOND / 4)
#define WIDTH  20

void progress_init(struct progress *p, bool wanted, bool rows)
{
	bool terminal = isatty(STDERR_FILENO);
	bool in_the_way = rows && isatty(STDOUT_FILENO);
	*p = (struct progress){.on = wanted || (terminal && !in_the_way && err_verbose() >= 0),
			       .bar = terminal,
			       .begin_ns = clock_ns()};
}

// Is it time to draw again?
static bool is_due(const struct progress *p)
{
	uint64_t now = p->on ? clock_ns() : 0;
	return p->on && now - p->begin_ns >= QUIET &&
	       now - p->drawn_ns >= (p->bar ? REDRAW : SECOND);
}

static void put_share(struct buf *b, double share)
{
	static const char done[] = "####################", rest[] = "--------------------";
	int full = (int)(share * WIDTH);
	buf_printf(b, "[%.*s%.*s] %3d %%, ", full, done, WIDTH - full, rest, (int)(share * 100));
}

static void put_time_left(struct buf *b, const struct progress *p, double share)
{
	double spent = (double)(p->drawn_ns - p->begin_ns), left = spent * (1 - share) / share;
	char text[24];
	if (left < 1e15) // an estimate from so small a share is useless
		buf_printf(b, ", %s left", text_ns(text, (uint64_t)left));
}

void progress_show(struct progress *p, double share, const char *fmt, ...)
{
	SCOPED(buf_fini) struct buf line = {0};
	va_list ap;
	ssize_t ignored;
	if (!is_due(p))
		return;
	p->drawn_ns = clock_ns();
	share = share > 1 ? 1 : share;
	buf_puts(&line, p->bar ? "\r\033[Kgpq: " : "gpq: ");
	if (!isnan(share))
		put_share(&line, share);
	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	if (share > 0)
		put_time_left(&line, p, share);
	if (!p->bar)
		buf_puts(&line, "\n");
	err_bar(p->bar);
	ignored = write(STDERR_FILENO, line.data, line.len);
	(void)ignored;
}

void progress_bytes(struct progress *p, uint64_t done, uint64_t total)
{
	char have[16], all[16], rate[16];
	double spent;
	if (!is_due(p))
		return;
	spent = (double)(clock_ns() - p->begin_ns) / (double)SECOND;
	text_size(have, done);
	text_size(rate, (uint64_t)((double)done / spent));
	if (total)
		progress_show(p, (double)done / (double)total, "%s of %s, %s/s", have,
			      text_size(all, total), rate);
	else
		progress_show(p, NAN, "%s, %s/s", have, rate);
}

void progress_end(struct progress *p)
{
	p->on = false;
	err_bar(false);
}
