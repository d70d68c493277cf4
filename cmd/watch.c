// --watch: repeats a listing at an interval; see command.h.
#include "cmd/command.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_NS = 10000000 };

int watch_run(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c))
{
	static const char clear[] = "\033[H\033[2J\033[3J";
	bool terminal = isatty(STDOUT_FILENO) && c->out.mode == OUT_TABLE;
	if (every_ns == WATCH_OFF)
		return list(c);
	if (every_ns < LEAST_NS)
		return err_fail(GPQ_USAGE, "for example --watch 0.5",
				"--watch: the least interval is 10ms");
	if (c->out.mode == OUT_JSON)
		return err_fail(GPQ_USAGE, "use --ndjson",
				"--watch has no end, so it cannot be one JSON document");
	if (c->out.mode == OUT_TABLE && !terminal)
		c->out.mode = OUT_NDJSON;
	for (;;) {
		if (terminal && write(STDOUT_FILENO, clear, sizeof(clear) - 1) < 0)
			return err_sys(errno, NULL, "standard output");
		int status = list(c);
		if (status && status != GPQ_PARTIAL)
			return status;
		c->out.noheadings = !terminal;
		struct timespec t = {(time_t)(every_ns / 1000000000),
				     (long)(every_ns % 1000000000)};
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
			;
	}
}
