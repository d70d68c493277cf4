// Messages for people, on stderr: what, where, why, and what to do next; one line, one write.
//
//   gpq: suspend: pid 4711: not permitted: ptrace_scope is 1 and the target is not a child; run as
//   root
//
// In JSON modes the same message is one JSON object a line.
#ifndef GPQ_CLI_ERR_H
#define GPQ_CLI_ERR_H

#include <stdbool.h>

enum gpq_exit {
	GPQ_OK = 0,
	GPQ_FAILED = 1,
	GPQ_USAGE = 2,
	GPQ_PARTIAL = 3,     // done for some of what was asked
	GPQ_DENIED = 4,      // not permitted
	GPQ_NOTFOUND = 5,    // no such process, queue, GPU, file
	GPQ_UNSUPPORTED = 6, // this host, driver or GPU cannot
	GPQ_DEADLINE = 124,  // as timeout(1)
	GPQ_STOPPED = 130,   // by Ctrl-C, after what was known so far was printed (stop.h)
	GPQ_PIPE = 141,      // the reader went away: what a shell reports for SIGPIPE
};

// Called once the command and its flags are known. verbose: -1 quiet, 0 usual, 1 and more -v.
void err_setup(const char *command, bool json, int verbose);
int err_verbose(void);

// Reports a failure and returns `status`, so that `return err_fail(...)` is the way out of a
// command. `next` says what to do about it (NULL: nothing sensible). Never suppressed.
int err_fail(enum gpq_exit status, const char *next, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// The same with the text of `error` (an errno value) behind the message and the status that fits
// it.
int err_sys(int error, const char *next, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// Something is missing or doubtful but the command goes on. Silent with -q.
void err_warn(const char *next, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Explanations for -v: why a field is null, what was left out.
void err_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// A progress bar stands on the terminal (common/cli/progress.h): the next message wipes it. `shown`
// false wipes it now.
void err_bar(bool shown);

#endif
