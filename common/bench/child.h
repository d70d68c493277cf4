// A child that runs beside a measurement, in a session of its own: a command, or a function. Its
// output is read line by line, and its process group is ended at the end.
#ifndef GPQ_BENCH_CHILD_H
#define GPQ_BENCH_CHILD_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid; // of the shell or function; also its process group; 0: none
	int out;   // its standard output and error; -1: closed
	bool ended;
	int status;      // as of wait(2)
	struct buf line; // the present line, without NUL
	struct buf last; // the last line that was not empty, for messages
};

// Called with each line of output, without line end.
typedef void child_line_fn(void *arg, const char *line);

// Runs `run` in the child, which exits with what it returns. 0, or -1 with errno.
int child_fork(struct child *c, int (*run)(const void *arg), const void *arg);

// Runs a command by sh -c. `log`: AMD_LOG_LEVEL_FILE for its HIP runtime; NULL: as it is.
int child_start(struct child *c, const char *command, const char *log);

// Reads what the child wrote, and whether it has ended; never waits.
void child_tick(struct child *c, child_line_fn *fn, void *arg);

// Ends the process group: SIGTERM, after `grace_ns` SIGKILL. Calls `tick` until the child is gone,
// since it is reaped only after its tracer has noticed its end.
void child_end(struct child *c, uint64_t grace_ns, void (*tick)(void *arg), void *arg);

// Kills the child if it has not ended, and frees all.
void child_fini(struct child *c);

#endif
