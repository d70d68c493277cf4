// The kernel reads a command line from the process's own memory, from arg_start on (proc(5),
// /proc/PID/stat fields 48 to 51); writing there changes what others see.
#include "common/host/title.h"

#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void find_title(struct title *t)
{
	struct buf b = {0};
	if (host_read(&b, "/proc/self/stat") > 0) {
		uint64_t at[4] = {0}; // where arguments and environment begin and end
		for (unsigned i = 0; i < COUNT(at); i++)
			proc_stat_number(b.data, 48 + i, &at[i]);
		const uint64_t start = at[0], end = at[3];
		if (start && end > start && at[1] == at[2]) {
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
