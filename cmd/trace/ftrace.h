// Shared by the files of the kernel's trace: run and report (ftrace.c), list by time
// (ftrace_list.c), suspensions in steps (ftrace_breakdown.c), drawing (ftrace_draw.c). What a trace
// holds is in common/ftrace/ftrace.h.
#ifndef GPQ_CMD_TRACE_FTRACE_H
#define GPQ_CMD_TRACE_FTRACE_H

#include "cmd/trace/trace.h"
#include "common/ftrace/ftrace.h"

struct dispatch_time {
	uint32_t process; // of the log
	uint64_t time_us;
};

// One run: a trace, with or without logs.
struct kernel_side {
	const struct trace_opts *opts;
	struct trace *t; // of the logs; its output is that of all
	struct buf text;
	struct ftrace f;
	const char *clock;       // of the trace; NULL: nobody says
	bool several;            // with logs
	struct logged_row *rows; // --list: of the log
	size_t nrows, row_cap;
	struct intern apis;
	struct dispatch_time *dispatches; // --breakdown: of the log
	size_t ndispatches, dispatch_cap;
	struct traceevent *draw; // --perfetto; NULL
};

// Is the record, or what happened then to this process, within --since, --until and --pid?
bool ftrace_wanted(const struct kernel_side *k, const struct ftrace_record *r);
bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process);

// The pid as the log numbers the process; I64_NULL: the log does not tell of it.
int64_t ftrace_log_pid(const struct kernel_side *k, const struct ftrace_process *p);

// Appends a text and its NUL. Where it begins in the buffer.
size_t ftrace_string(struct buf *b, struct ftrace_text text);

void ftrace_list_event(struct kernel_side *k, const struct amdlog_event *e);
void ftrace_list(struct kernel_side *k);

// --breakdown: gathers; the tables, and GPQ_NOTFOUND after a message.
void ftrace_breakdown_event(struct kernel_side *k, const struct amdlog_event *e);
int ftrace_breakdown(struct kernel_side *k);

void ftrace_draw(struct kernel_side *k);

#endif
