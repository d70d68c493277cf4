// A child process that runs a command, or a function, in a session of its own beside a measurement.
// Its output is read line by line.
#pragma once

#include "common/host/std.h"

struct child {
	pid_t pid; // pid of the child, and id of its process group; 0: none
	int out;   // pipe from the child's standard output and error; -1: closed
	bool ended;
	int status;      // exit status, encoded as by wait(2)
	struct buf line; // output that is no whole line yet, without NUL
	struct buf last; // the last line of output that was not empty, for messages
};

// Called with each line of output, without line end.
typedef void child_line_fn(void *arg, const char *line);

// Starts a child that calls run(arg) and exits with what that returns. Returns 0, or -1 with errno.
int child_fork(struct child *c, int (*run)(const void *arg), const void *arg);

// Starts a command by sh -c. `setting` is what its environment has more: "NAME=VALUE", or
// "". `log` becomes its AMD_LOG_LEVEL_FILE (level 4 unless there is one); NULL: it has none.
// Returns 0, or -1 with errno.
int child_start(struct child *c, const char *command, const char *setting, const char *log);

// Calls `fn` for each line that the child wrote, and notes whether it has ended. Never waits.
void child_tick(struct child *c, child_line_fn *fn, void *arg);

// Ends the process group: SIGTERM, after `grace_ns` SIGKILL. Calls `tick`, which is to call
// child_tick(), until the child is reaped: its tracer has to notice its end first.
void child_end(struct child *c, uint64_t grace_ns, void (*tick)(void *arg), void *arg);

// Kills the child if it has not ended, and frees *c.
void child_fini(struct child *c);
