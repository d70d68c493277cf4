// The kernel's function and event trace: text -> records -> processes, queues, holds, events.
//
// The text is what tracefs prints (trace, trace_pipe) or `trace-cmd report` prints.
//
// Facts: kernel/trace/trace_output.c (trace_print_context: "%16s-%-7d (TGID) [CPU] FLAGS
// SECS.USECS: "), trace_kprobe.c (print_kprobe_event, print_kretprobe_event), trace.c
// (print_lat_fmt, "CPU:n [LOST m EVENTS]"), trace-cmd's trace-read.c ("CPU:n [m EVENTS DROPPED]").
// A task's name may hold any byte.
#ifndef GPQ_FTRACE_FTRACE_H
#define GPQ_FTRACE_FTRACE_H

#include "common/amdlog/read/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amdlog_summary;

#define FTRACE_UNKNOWN UINT64_MAX
#define FTRACE_NO_ARG  INT64_MIN  // an argument that the trace does not have (as I64_NULL)
#define FTRACE_NONE    UINT32_MAX // no process, no queue

enum ftrace_kind {
	FTRACE_FUNCTION, // a call that the function tracer saw; args: the caller
	FTRACE_ENTRY,    // a kprobe or fprobe at the entry of a function
	FTRACE_RETURN,   // one at its return
	FTRACE_EVENT,    // any other event
	FTRACE_LOST,     // events of this CPU were overwritten before they were read
	FTRACE_NKINDS
};

const char *ftrace_kind_name(enum ftrace_kind kind); // "entry"

// Bytes of the line, not terminated, not escaped.
struct ftrace_text {
	const char *at;
	uint32_t len;
};

struct ftrace_record {
	enum ftrace_kind kind;
	int32_t cpu;
	uint64_t time_ns; // by the trace's clock; FTRACE_UNKNOWN: that clock counts no nanoseconds
	int64_t tid;      // thread, as the first PID namespace numbers it; -1: none
	int64_t tgid;     // its process; -1: neither this line nor another one says
	uint64_t lost;    // FTRACE_LOST: how many; FTRACE_UNKNOWN: not counted
	struct ftrace_text
		comm; // name of the thread; length 0: the kernel has not kept it ("<...>")
	struct ftrace_text name; // of the function, else of the event
	struct ftrace_text args; // what follows the name
	// Set by ftrace_read():
	uint64_t inside_ns; // of a return: time since its entry; FTRACE_UNKNOWN
	uint32_t process;   // index in `processes`; FTRACE_NONE: the record has no thread
	uint32_t epoch;     // times of different epochs cannot be compared
	uint32_t losses;    // how many FTRACE_LOST are before it
	bool joined;        // of an entry: its return is in the trace
};

// Reads a line, without its newline. False: it is no record.
bool ftrace_line(const char *line, size_t len, struct ftrace_record *r);

// The value of "key=1", "key=-1" or "key=0x1" among the arguments; FTRACE_NO_ARG.
int64_t ftrace_arg(const struct ftrace_record *r, const char *key);

// Is the record of this function, maybe with a suffix that the compiler added (".constprop.0")?
bool ftrace_is(const struct ftrace_record *r, const char *function);

// A thread and its process, as a recording of gpq has them: "# task: TID TGID NSPID".
struct ftrace_task {
	int64_t tid, tgid;
	int64_t ns_pid; // the process in its innermost PID namespace; 0: not known
};

// A process of the trace, or a thread whose process the trace does not tell.
struct ftrace_process {
	int64_t tgid;   // -1: not known
	int64_t tid;    // of a thread whose process is not known; else -1
	int64_t ns_pid; // number in its innermost PID namespace; 0: the trace does not say
	struct ftrace_text comm;
	uint64_t records;
	// Set by ftrace_match():
	uint32_t log;        // the same process in the log; FTRACE_NONE
	const char *matched; // how it was found there: "queue", "namespace", "number"; NULL
};

// A queue that a process created, from the arguments that gpq's own probes fetch.
struct ftrace_queue {
	uint64_t ring, created_ns;
	int64_t gpu, qid;
	uint32_t process;
};

// A debugger, as gpq suspend is, keeps queues of a process off the hardware: from the return of the
// call that suspended the first of them to the return of the call that resumed the last.
struct ftrace_hold {
	uint32_t target, holder; // processes
	int64_t queues;          // held at the end of the trace, or when the hold ended
	int64_t most;            // held at once
	uint64_t begin_ns, end_ns;
	const char *ended;    // "resume", "detach", "exit"; NULL: the end was not seen, end_ns is 0
	uint32_t epoch;       // of its records
	uint32_t before_hold; // index + 1 of the holder's hold before this one; 0: none
};

// The record with which a hold begins or ends.
struct ftrace_mark {
	size_t record;
	uint32_t hold;
	bool end;
	int64_t queues; // of ftrace_hold, then
};

// An event as `gpq events --ndjson` wrote it. U64_NULL, "": null.
struct ftrace_event {
	uint64_t time_ns, pid, ns_pid, gpu, qid;
	char name[32], command[64], clock[8], detail[128], source[8];
	uint32_t process; // FTRACE_NONE: not known
	size_t order;     // its line among the events of the file
};

// A trace. Starts as zeros.
struct ftrace {
	struct ftrace_task *tasks; // by thread
	size_t ntasks, task_cap;
	struct ftrace_record *v; // by time; records point into the text that was read
	size_t n, cap;
	size_t *by_thread; // indices of records that have a thread: thread by thread, each in order
	size_t nby_thread;
	uint64_t lines;       // neither blank nor a comment
	uint64_t odd;         // lines of these that are no records
	uint64_t untimed;     // records whose clock counts no nanoseconds
	uint64_t losses;      // places where events were lost
	uint64_t lost;        // events that were lost there, where the trace counts them
	uint64_t overwritten; // events that the buffer lost before it was printed
	uint32_t epochs;      // how often the clock of a CPU went backwards
	uint64_t unpaired;    // returns whose entry is not in the trace
	char clock[16];       // "mono" of "# clock: mono", which gpq writes; "": not known

	struct ftrace_process *processes; // in the order in which they appear
	size_t nprocesses, process_cap;
	struct intern numbers;       // pairs (is it a process, its number) -> index in `processes`
	struct ftrace_queue *queues; // by ring address, then time
	size_t nqueues, queue_cap;
	struct ftrace_hold *holds; // in the order of their begin
	size_t nholds, hold_cap;
	struct ftrace_mark *marks; // in the order of the records
	size_t nmarks, mark_cap;

	struct ftrace_event *events; // ftrace_read_events(): by time
	size_t nevents, event_cap;
	uint64_t odd_events; // lines of that text that are no events

	uint32_t *of_log, *of_queue; // ftrace_match(): process, queue; by the log's process, queue
};

// Reads all of a text, sorts its records by time, finds each thread's process, pairs entries with
// returns, and finds queues and holds. `text` must stay until ftrace_fini(). A pair is of one
// thread, without lost events or a step of the clock between its records.
void ftrace_read(struct ftrace *f, const char *text, size_t len);

// After ftrace_read(): adds events that `gpq events --ndjson` wrote, and their processes.
void ftrace_read_events(struct ftrace *f, const char *text, size_t len);

// After both: finds the processes and queues of a log among those of the trace.
void ftrace_match(struct ftrace *f, const struct amdlog_summary *log);

void ftrace_fini(struct ftrace *f);

// After ftrace_match(): the process or queue of the trace that is this one of the log. NULL: not
// known, or several could be it.
const struct ftrace_process *ftrace_of_log(const struct ftrace *f, uint32_t log);
const struct ftrace_queue *ftrace_queue_of(const struct ftrace *f, uint32_t queue);

// The process of this number, as the kernel numbers it; FTRACE_NONE.
uint32_t ftrace_numbered(const struct ftrace *f, int64_t pid);

// The number of the process, or of the thread where the process is not known.
int64_t ftrace_pid(const struct ftrace_process *p);

// --- suspensions of queues in steps ---

enum ftrace_step {
	STEP_ENTER, // from the ioctl's begin to the call: the target is found and locked
	STEP_UNMAP, // the runlist is unmapped, without the wait for it
	STEP_SAVE,  // wait until the waves are saved
	STEP_MAP,   // the other queues are mapped again
	STEP_REST,  // all else in suspend_queues
	STEP_LEAVE, // from the end of the call to that of the ioctl
	STEP_TOTAL, // the whole ioctl
	STEPS
};

// A call of suspend_queues within an ioctl.
struct ftrace_suspension {
	uint64_t begin_ns, end_ns; // of the ioctl, or of the call where the ioctl is not traced
	uint64_t ns[STEPS];        // FTRACE_UNKNOWN
	// FTRACE_NO_ARG: not known. Pid of the target, as the caller numbers it; first queue and
	// number of queues that were asked for; number that was suspended, or an error below 0.
	int64_t target, queue, count, result;
	uint32_t process; // the caller
};

struct ftrace_suspensions {
	struct ftrace_suspension *v; // to be freed
	size_t n, cap;
};

// The suspensions of a trace, by begin.
struct ftrace_suspensions ftrace_suspensions(const struct ftrace *f);

#endif
