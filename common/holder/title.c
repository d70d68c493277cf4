// The command line of a holder as `ps` shows it: target pid and deadline.
#include "common/holder/holder_priv.h"

// "until 4711.250 s", or the text for no deadline.
static void put_until(char *p, uint64_t until)
{
	uint64_t ms = until / 1000000;
	char *dot;
	if (until == 0 || until == FOREVER) {
		line_put(p, until ? "until resume" : "resumed");
		return;
	}
	// The point goes where the leading digit of 1000 + milliseconds is.
	dot = line_put_number(p, "until ", ms / 1000, 10);
	p = line_put_number(dot, "", 1000 + ms % 1000, 10);
	*dot = '.';
	line_put(p, " s");
}

void holder_title(struct holder *h)
{
	char text[160], *p;
	p = line_put_number(text, KFD_HOLDER_COMM ": pid ", (uint64_t)h->target.pid, 10);
	p = line_put_number(p, ": ", h->session.num_held, 10);
	put_until(line_put(p, " queues suspended, "), hold_until(h));
	title_set(&h->title, text);
}
