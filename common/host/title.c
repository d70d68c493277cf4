// The kernel reads a command line from the process's own memory, from arg_start on (proc(5),
// /proc/PID/stat fields 48 to 51); writing there changes what others see.
#include "common/host/title.h"

#include "common/host/root.h"
#include "common/host/xalloc.h"

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

static void find_title(struct title *t)
{
	struct buf b = {0};
	if (host_read(&b, "/proc/self/stat") > 0) {
		unsigned long start = stat_field(b.data, 48);
		unsigned long end = stat_field(b.data, 51); // of the environment
		if (start && end > start && stat_field(b.data, 49) == stat_field(b.data, 50)) {
			t->at = (char *)start;
			t->size = t->len = end - start;
		}
	}
	buf_fini(&b);
}

void title_set(struct title *t, const char *text)
{
	if (!t->sought)
		find_title(t);
	t->sought = true;
	if (!t->size)
		return;
	size_t len = strnlen(text, t->size - 1);
	memcpy(t->at, text, len);
	if (t->len > len)
		memset(t->at + len, 0, t->len - len);
	t->len = len;
}

void title_keep_environment(void)
{
	size_t n = 0;
	while (environ && environ[n])
		n++;
	char **copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(environ[i]);
	environ = copy;
}
