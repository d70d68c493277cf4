// Shared by the files of gpq trace --ftrace: run and report (ftrace.c), the join with logs
// (ftrace_join.c), list by time (ftrace_list.c), suspensions in steps (ftrace_breakdown.c), drawing
// (ftrace_draw.c). Reading of the Linux kernel's trace: common/ftrace/ftrace.h.
#pragma once

#include "cmd/trace/trace.h"
#include "common/ftrace/ftrace.h"

struct dispatch_time {
	uint32_t process; // index in the log's processes
	uint64_t time_us;
};

// A run with a trace of the Linux kernel, with or without logs.
struct kernel_side {
	const struct trace_opts *opts;
	struct trace *t; // the logs, and the output of both
	struct buf text; // text of the kernel's trace, into which `f` points
	struct ftrace f;
	const char *clock;       // trace_clock of the trace; NULL: not known
	bool several;            // there are logs, too
	int64_t offset_ns;       // what was added to times of the trace
	bool moved;              // times of the trace were moved onto the log's clock
	bool apart;              // the clocks differ by an unknown offset: times are not compared
	struct logged_row *rows; // --list: records of the log
	size_t nrows, row_cap;
	struct intern apis;               // names of API functions in `rows`
	struct dispatch_time *dispatches; // --breakdown: dispatches of the log
	size_t ndispatches, dispatch_cap;
	struct traceevent *draw; // --perfetto; NULL: not given
};

static inline uint64_t ftrace_us(uint64_t ns)
{
	return ns == FTRACE_UNKNOWN ? U64_NULL : ns / 1000;
}

// Is this record, or what happens to the process at this time, within --since, --until and --pid?
bool ftrace_wanted(const struct kernel_side *k, const struct ftrace_record *r);
bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process);

// Returns the log's pid of a process of the trace; I64_NULL: the log lacks the process.
int64_t ftrace_log_pid(const struct kernel_side *k, const struct ftrace_process *p);

// Appends a text and a NUL. Returns where the text begins in the buffer.
size_t ftrace_string(struct buf *b, struct ftrace_text text);

// Reads --ftrace and the events of a recording into t->kernel. Returns the exit status.
int ftrace_load(struct trace *t);

// gpq trace --list --ftrace, and --breakdown.
extern const struct trace_ask ftrace_list, ftrace_breakdown;

// Finds the log's processes in the trace and moves the trace onto the log's clock, as told or as
// guessed. Returns the exit status. ftrace_join_notes() tells guesses, and what was not found.
int ftrace_join_check(struct kernel_side *k); // of --pid-map and --offset, before
int ftrace_join(struct kernel_side *k);
void ftrace_join_notes(const struct kernel_side *k);

void ftrace_draw(struct kernel_side *k);
