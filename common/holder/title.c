// What `ps` shows of a holder: whom it holds, and until when.
//
// The kernel reads a command line from the process's own memory, from arg_start on (proc(5),
// /proc/PID/stat fields 48 to 51); writing there changes what others see.
#include "common/holder/holder_priv.h"

#include "common/host/root.h"

#include <stdio.h>
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

void holder_title(struct holder *h)
{
	uint64_t until = hold_until(h), ms = until / 1000000;
	char text[160];
	size_t len;
	int n;

	if (!h->titled)
		find_title(h);
	h->titled = true;
	if (!h->title_size)
		return;
	n = snprintf(text, sizeof(text), KFD_HOLDER_COMM ": pid %d: %u queues suspended, ",
		     (int)h->target.pid, h->session.num_held);
	if (until && until != FOREVER)
		snprintf(text + n, sizeof(text) - (size_t)n, "until %llu.%03llu s",
			 (unsigned long long)ms / 1000, (unsigned long long)ms % 1000);
	else
		snprintf(text + n, sizeof(text) - (size_t)n, "%s",
			 until ? "until resume" : "resumed");
	len = strnlen(text, h->title_size - 1);
	memcpy(h->title, text, len);
	if (h->title_len > len)
		memset(h->title + len, 0, h->title_len - len);
	h->title_len = len;
}
