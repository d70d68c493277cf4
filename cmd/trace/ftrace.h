// Shared by the files of `gpq trace --ftrace`: run and report (ftrace.c), processes and queues of
// both sides (ftrace_join.c), holds (ftrace_holds.c), what gpq events wrote beside it
// (ftrace_events.c), the merged list (ftrace_list.c), suspensions in steps (ftrace_breakdown.c),
// the drawing (ftrace_draw.c).
#ifndef GPQ_CMD_TRACE_FTRACE_H
#define GPQ_CMD_TRACE_FTRACE_H

#include "cmd/trace/trace.h"
#include "common/ftrace/ftrace.h"

// A process of the kernel's trace; a thread by itself where the trace does not tell its process.
struct kernel_process {
	int64_t tgid;   // -1: not known
	int64_t tid;    // that thread then, else -1
	int64_t ns_pid; // in its innermost PID namespace, as the trace says; 0: it does not
	struct ftrace_text comm;
	uint64_t records;
	uint32_t log;        // the same process in the log; AMDLOG_NONE
	const char *matched; // by what: "queue", "namespace", "number"; NULL
};

// A queue that a process created, as gpq's own probes tell (ring, gpu, queue).
struct kernel_queue {
	uint64_t ring, created_ns;
	int64_t gpu, qid;
	uint32_t process; // of the kernel's
};

struct dispatch_time {
	uint32_t process; // of the log
	uint64_t time_us;
};

// Queues of a process that a debugger, as gpq suspend, keeps off the hardware: from the return of
// the first call that suspended any to that of the call which resumed the last.
struct kernel_hold {
	uint32_t target, holder; // processes
	int64_t queues, most;    // that are held, as far as was read; the most at once
	uint64_t begin_ns, end_ns;
	const char *ended; // by what: "resume", "detach", "exit"; NULL: not seen, then end_ns is 0
	uint32_t epoch, last; // last: the holder's one before, + 1; 0: none
};

// Where a hold begins or ends: with this record.
struct hold_mark {
	size_t record;
	uint32_t hold;
	bool end;
	int64_t queues; // that this call suspended or resumed
};

// An event as `gpq events --ndjson` wrote it. U64_NULL, "": null.
struct kernel_event {
	uint64_t time_ns, pid, ns_pid, gpu, qid;
	char name[32], command[64], clock[8], detail[128], source[8];
	uint32_t process; // AMDLOG_NONE: not known
	size_t order;     // of the file
};

struct kernel_side {
	const struct trace_opts *opts;
	struct trace *t;
	struct buf text;
	struct ftrace f;
	const char *clock; // of the trace; NULL: nobody says
	bool several;      // with logs
	struct kernel_process *processes;
	size_t nprocesses, process_cap;
	struct intern keys;          // whether its process is known, and its number -> process
	uint32_t *process_of;        // by record; AMDLOG_NONE: of none
	struct kernel_queue *queues; // by ring address
	size_t nqueues, queue_cap;
	struct kernel_hold *holds; // in the order of their begin
	size_t nholds, hold_cap;
	struct hold_mark *marks; // in the order of the trace
	size_t nmarks, mark_cap;
	struct kernel_event *events; // by time
	size_t nevents, event_cap;
	uint64_t events_odd;         // lines of the file that are none
	uint32_t *of_log, *of_queue; // by the log's process, queue: the kernel's; AMDLOG_NONE
	struct logged_row *rows;     // --list: of the log
	size_t nrows, row_cap;
	struct intern apis;
	struct dispatch_time *dispatches; // --breakdown: of the log
	size_t ndispatches, dispatch_cap;
	struct traceevent *draw; // --perfetto; NULL
};

// Finds the processes and queues of the trace; ftrace_match() those of the log among them.
void ftrace_find(struct kernel_side *k);
void ftrace_match(struct kernel_side *k);

// The queue of the kernel's that a queue of the log is; NULL: not known, or more than one.
const struct kernel_queue *ftrace_queue_of(const struct kernel_side *k, uint32_t queue);

// The kernel's process that a process of the log is; NULL: not known.
const struct kernel_process *ftrace_process_of(const struct kernel_side *k, uint32_t log);

// The process of this number, as the kernel numbers it; AMDLOG_NONE.
uint32_t ftrace_numbered(const struct kernel_side *k, int64_t pid);

// The same; a new one where there is none.
uint32_t ftrace_process(struct kernel_side *k, int64_t pid);

// Is the record, or what happened then to this process, within --since, --until and --pid?
bool ftrace_wanted(const struct kernel_side *k, size_t record);
bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process);

// Is it this function, but for a suffix of the compiler's?
bool ftrace_is(const struct ftrace_record *r, const char *function);

// The records' numbers thread by thread, each thread's in order; those of no thread are left out.
// To be freed. *n: how many.
size_t *ftrace_by_thread(const struct kernel_side *k, size_t *n);

// After ftrace_find(): finds the holds.
void ftrace_find_holds(struct kernel_side *k);

// Reads the events of k->opts->events. Exit status.
int ftrace_read_events(struct kernel_side *k);

// The process's number: in the log where it is known there, else the kernel's. -1: not known.
int64_t ftrace_log_pid(const struct kernel_side *k, const struct kernel_process *p);

// Appends a text and its NUL. Where it begins in the buffer.
size_t ftrace_string(struct buf *b, struct ftrace_text text);

void ftrace_list_event(struct kernel_side *k, const struct amdlog_event *e);
void ftrace_list(struct kernel_side *k);

// --breakdown: is the argument one; gathers; the tables, and GPQ_NOTFOUND after a message.
int ftrace_breakdown_check(const char *arg);
void ftrace_breakdown_event(struct kernel_side *k, const struct amdlog_event *e);
int ftrace_breakdown(struct kernel_side *k);

void ftrace_draw(struct kernel_side *k);

extern const struct out_table trace_timeline_table, trace_function_table, trace_kernel_queue_table,
	trace_kernel_process_table, trace_suspension_table, trace_step_table;
extern const struct schema trace_ftrace_schema, trace_timeline_schema, trace_breakdown_schema;

#endif
