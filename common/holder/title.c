// What `ps` shows of a holder: whom it holds, and until when.
//
// The kernel reads a command line from the process's own memory, from arg_start on (proc(5),
// /proc/PID/stat fields 48 to 51); writing there changes what others see.
#include "common/holder/holder_priv.h"

#include "common/holder/ptrace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	unsigned long start, end;
	char text[1024];
	ssize_t n;
	int fd;

	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	start = stat_field(text, 48);
	end = stat_field(text, 51); // end of the environment, which lies behind the arguments
	if (!start || end <= start || stat_field(text, 49) != stat_field(text, 50))
		return;
	// The holder reads no environment variable after this.
	h->title = (char *)start;
	h->title_size = h->title_len = end - start;
}

// "until 4711.250 s", or the word for no such time.
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
