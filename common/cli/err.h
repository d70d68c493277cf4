// Messages for people, on stderr: what, where, why, and what to do next; one line, one write.
//
//   gpq: suspend: pid 4711: not permitted: ptrace_scope is 1 and it is no child; run as root
//
// In JSON modes the same message is one JSON object a line.
#pragma once

#include "common/host/std.h"

enum gpq_exit {
	GPQ_OK = 0,
	GPQ_FAILED = 1,
	GPQ_USAGE = 2,
	GPQ_PARTIAL = 3,     // done for some of what was asked
	GPQ_DENIED = 4,      // not permitted
	GPQ_NOTFOUND = 5,    // no such process, queue, GPU, file
	GPQ_UNSUPPORTED = 6, // not possible with this host, driver or GPU
	GPQ_STUCK = 7,       // what was looked at is stuck (gpq why)
	GPQ_UNSHOWN = 8,     // too few samples to tell (gpq bench --require)
	GPQ_DEADLINE = 124,  // time is over, as of timeout(1)
	GPQ_STOPPED = 130,   // by Ctrl-C, after what was known so far was printed (stop.h)
	GPQ_PIPE = 141,      // the reader went away: what a shell reports for SIGPIPE
};

// Called once the command and its flags are known. verbose: -1 quiet, 0 usual, 1 and more -v.
void err_setup(const char *command, bool json, int verbose);
int err_verbose(void);

// Writes one message. `next` says what to do about it (NULL: nothing sensible). Returns the exit
// status: `number` or, for ERR_SYS, the one that fits the errno value `number`.
enum err_kind { ERR_FAIL, ERR_SYS, ERR_WARN, ERR_HINT, ERR_NOTE };
int err_report(enum err_kind kind, int number, const char *next, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

// err_fail(status, next, fmt, ...): a failure. `return err_fail(...)` is the way out of a command.
// Never suppressed.
#define err_fail(status, ...) err_report(ERR_FAIL, (int)(status), __VA_ARGS__)

// err_sys(error, next, fmt, ...): a failure, with the text of an errno value behind the message.
#define err_sys(error, ...) err_report(ERR_SYS, (error), __VA_ARGS__)

// err_warn(next, fmt, ...): something is missing or doubtful but the command goes on. Silent with
// -q.
#define err_warn(...) ((void)err_report(ERR_WARN, 0, __VA_ARGS__))

// err_hint(next, fmt, ...): nothing is wrong, but more can be had. Silent with -q.
#define err_hint(...) ((void)err_report(ERR_HINT, 0, __VA_ARGS__))

// err_note(fmt, ...): explanations for -v: why a field is null, what was left out.
#define err_note(...) ((void)err_report(ERR_NOTE, 0, NULL, __VA_ARGS__))

// Returns how many lines the messages took on a terminal of 80 columns; 0 if stderr is none.
size_t err_lines(void);

// Is there such a failure?
bool err_has_failed(void);

// From now on messages are appended to `to`, whose owner shows them (common/cli/screen.h); NULL:
// they are written to stderr again.
struct buf;
void err_gather(struct buf *to);

// From now on messages begin with this place, as "FILE: line 3"; borrowed. NULL: with none.
void err_at(const char *where);

// Writes the last failure as a member of the current JSON object, as it was written to stderr, with
// the exit status. Only in JSON modes, and once.
struct json;
void err_failure(struct json *j, const char *key, int status);

// `shown`: a progress bar is on the terminal (common/cli/progress.h), and the next message erases
// it. Otherwise the bar is erased now.
void err_bar(bool shown);
