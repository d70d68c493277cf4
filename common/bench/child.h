// A command under measurement: started with a shell in a session of its own, its output read line
// by line, its process tree ended at the end.
#ifndef GPQ_BENCH_CHILD_H
#define GPQ_BENCH_CHILD_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid; // of the shell; also its process group; 0: none
	int out;   // its output, standard error too; -1 at its end
	bool ended;
	int status; // as wait gives it
	struct buf line;
	struct buf tail; // the last of its output, for messages
};

// Called with each line of output, without line end.
typedef void child_line_fn(void *arg, const char *line);

// What the HIP runtime of the command is to write: AMD_LOG_LEVEL_FILE.
struct child_log {
	const char *file;  // NULL: as the environment says
	const char *level; // unless the environment has AMD_LOG_LEVEL
};

// `log` may be NULL. 0, or -1 with errno.
int child_start(struct child *c, const char *command, const struct child_log *log);

// Takes what it wrote and whether it ended, without waiting. `fn` may be NULL.
void child_tick(struct child *c, child_line_fn *fn, void *arg);

// Ends the whole group: SIGTERM, after `grace_ns` SIGKILL. Returns when it is gone. `tick` is
// called meanwhile: members that are traced are gone only when their tracer has noticed.
void child_end(struct child *c, uint64_t grace_ns, void (*tick)(void *arg), void *arg);
void child_fini(struct child *c);

// "status 3", "signal 9"
void child_status_text(const struct child *c, char text[32]);

enum { CHILD_PIDS_MAX = 256 };

// Members of its tree that are KFD processes with queues, by sysfs. At most `max`; their number.
unsigned child_kfd_processes(const struct child *c, pid_t *pids, unsigned max);

#endif
