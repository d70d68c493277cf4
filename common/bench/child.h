// A command under measurement: started with a shell in a session of its own, its output read line
// by line, its process tree ended at the end. Likewise a function that runs beside the measurement.
#ifndef GPQ_BENCH_CHILD_H
#define GPQ_BENCH_CHILD_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid; // of the shell or function; also its process group; 0: none
	int out;   // its output, standard error too; -1 at its end
	bool ended;
	int status;      // as wait gives it
	struct buf line; // not ended yet; not terminated
	struct buf last; // the last line that was not empty, for messages
};

// Called with each line of output, without line end.
typedef void child_line_fn(void *arg, const char *line);

// Runs `run` in a process of its own, which ends with what it returns. 0, or -1 with errno.
int child_fork(struct child *c, int (*run)(const void *arg), const void *arg);

// The same of a command, for sh -c.
// `log`: AMD_LOG_LEVEL_FILE for its HIP runtime; NULL: that of the environment.
int child_start(struct child *c, const char *command, const char *log);

// Takes what it wrote and whether it ended, without waiting.
void child_tick(struct child *c, child_line_fn *fn, void *arg);

// Ends the whole group: SIGTERM, after `grace_ns` SIGKILL. Returns when it is gone. `tick` is
// called meanwhile: members that are traced are gone only when their tracer has noticed.
void child_end(struct child *c, uint64_t grace_ns, void (*tick)(void *arg), void *arg);

// Frees it; a process that did not end yet is killed.
void child_fini(struct child *c);

#endif
