// The command line of a holder as `ps` shows it: target pid and deadline.
//
// The kernel reads a command line from the process's own memory, from arg_start on (proc(5),
// /proc/PID/stat fields 48 to 51); writing there changes what others see.
#include "common/holder/holder_priv.h"

#include "common/host/root.h"

#include <stdlib.h>
#include <string.h>

// Field `n` of /proc/self/stat, counted as proc(5) does; the name (2) may hold blanks.
static unsigned long stat_field(const char *text, int n)
{
	const char *p = strrchr(text, ')');

	for (int i = 2; p && i < n; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoul(p, NULL, 10) : 0;
}

static void find_title(struct holder *h)
{
	struct buf b = {0};

	if (host_read(&b, "/proc/self/stat") > 0) {
		unsigned long start = stat_field(b.data, 48);
		// The end of the environment, which lies behind the arguments; the holder reads no
		// environment variable after this.
		unsigned long end = stat_field(b.data, 51);

		if (start && end > start && stat_field(b.data, 49) == stat_field(b.data, 50)) {
			h->title = (char *)start;
			h->title_size = h->title_len = end - start;
		}
	}
	buf_fini(&b);
}

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
	size_t len;

	if (!h->titled)
		find_title(h);
	h->titled = true;
	if (!h->title_size)
		return;
	p = line_put_number(text, KFD_HOLDER_COMM ": pid ", (uint64_t)h->target.pid, 10);
	p = line_put_number(p, ": ", h->session.num_held, 10);
	put_until(line_put(p, " queues suspended, "), hold_until(h));
	len = strnlen(text, h->title_size - 1);
	memcpy(h->title, text, len);
	if (h->title_len > len)
		memset(h->title + len, 0, h->title_len - len);
	h->title_len = len;
}
