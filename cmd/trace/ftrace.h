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

// A trace of the kernel, with or without logs.
struct kernel_side {
	const struct trace_opts *opts;
	struct trace *t; // the logs, and the output of both
	struct buf text; // of the trace
	struct ftrace f;
	const char *clock;       // of the trace; NULL: nobody says
	bool several;            // there are logs
	struct logged_row *rows; // --list: records of the log
	size_t nrows, row_cap;
	struct intern apis;
	struct dispatch_time *dispatches; // --breakdown: in the log
	size_t ndispatches, dispatch_cap;
	struct traceevent *draw; // --perfetto; NULL
};

static inline uint64_t ftrace_us(uint64_t ns)
{
	return ns == FTRACE_UNKNOWN ? U64_NULL : ns / 1000;
}

// Is this record, or what happens to the process at this time, within --since, --until and --pid?
bool ftrace_wanted(const struct kernel_side *k, const struct ftrace_record *r);
bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process);

// The process's pid in the log; I64_NULL: the log does not tell of the process.
int64_t ftrace_log_pid(const struct kernel_side *k, const struct ftrace_process *p);

// Appends a text and a NUL. Returns where the text begins in the buffer.
size_t ftrace_string(struct buf *b, struct ftrace_text text);

// Reads the trace and the events, into t->kernel. Exit status.
int ftrace_load(struct trace *t);

// --list, --breakdown
extern const struct trace_ask ftrace_list, ftrace_breakdown;

void ftrace_draw(struct kernel_side *k);

#endif
