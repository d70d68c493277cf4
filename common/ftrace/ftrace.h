// The Linux kernel's function and event trace: text -> records -> processes, queues, holds, events.
//
// The text is that of tracefs (trace, trace_pipe) or of `trace-cmd report`.
//
// Facts: kernel/trace/trace_output.c (trace_print_context: "%16s-%-7d (TGID) [CPU] FLAGS
// SECS.USECS: "), trace_kprobe.c (print_kprobe_event, print_kretprobe_event), trace.c
// (print_lat_fmt, "CPU:n [LOST m EVENTS]"), trace-cmd's trace-read.c ("CPU:n [m EVENTS DROPPED]").
// A task's name may hold any byte.
#pragma once

#include "common/amdlog/read/intern.h"

struct amdlog_summary;

#define FTRACE_UNKNOWN UINT64_MAX
#define FTRACE_NO_ARG  INT64_MIN  // value of an argument that the record lacks (as I64_NULL)
#define FTRACE_NONE    UINT32_MAX // index of no process or queue

enum ftrace_kind {
	FTRACE_FUNCTION, // a call seen by the function tracer; args: the caller
	FTRACE_ENTRY,    // a kprobe or fprobe at the entry of a function
	FTRACE_RETURN,   // a kprobe or fprobe at the return of a function
	FTRACE_EVENT,    // any other event
	FTRACE_LOST,     // events of this CPU were overwritten before they were read
	FTRACE_NKINDS
};

const char *ftrace_kind_name(enum ftrace_kind kind); // "entry"

// Bytes of the trace's text, neither terminated nor escaped.
struct ftrace_text {
	const char *at;
	uint32_t len;
};

struct ftrace_record {
	enum ftrace_kind kind;
	int32_t cpu;
	uint64_t time_ns; // by the trace's clock; FTRACE_UNKNOWN: that clock counts no nanoseconds
	int64_t tid;      // thread, as the initial PID namespace numbers it; -1: none
	int64_t tgid;     // process of the thread; -1: not known
	uint64_t lost;    // for FTRACE_LOST: number of lost events; FTRACE_UNKNOWN: not counted
	struct ftrace_text comm; // name of the thread; length 0: the kernel has lost it ("<...>")
	struct ftrace_text name; // name of the function or event
	struct ftrace_text args; // text behind the name
	// Set by ftrace_read():
	uint64_t inside_ns; // for a return: time since the entry; FTRACE_UNKNOWN: no entry
	uint32_t process;   // index in `processes`; FTRACE_NONE: the record has no thread
	uint32_t epoch;     // the clock was set back between epochs: their times cannot be compared
	uint32_t losses;    // number of FTRACE_LOST records up to this one
	bool joined;        // for an entry: the return is in the trace, too
	const struct ftrace_record *entry; // of a return: the call's entry; NULL: not in the trace
};

// Reads a line, given without its newline. Returns false if the line is no record.
bool ftrace_line(const char *line, size_t len, struct ftrace_record *r);

// Returns the value of "key=1", "key=-1" or "key=0x1" among the arguments; FTRACE_NO_ARG: none.
int64_t ftrace_arg(const struct ftrace_record *r, const char *key);

// The same of a call: a return that lacks the argument has that of its entry, as kernels before 6.9
// fetch no arguments at a return.
int64_t ftrace_call_arg(const struct ftrace_record *r, const char *key);

// Returns KFD's number of the queue that a record is about: "queue_id=" or "qid=", of a probe also
// "queue=". In a driver's own text (trace_printk) "queue=" is a hardware slot, as beside "pipe=".
int64_t ftrace_qid(const struct ftrace_record *r);

// Is the record's name that of this function, maybe with a suffix of the compiler (".constprop.0")?
bool ftrace_is(const struct ftrace_record *r, const char *function);

// A thread and its process, from a comment "# task: TID TGID NSPID" in a recording of gpq.
struct ftrace_task {
	int64_t tid, tgid;
	int64_t ns_pid; // number of the process in its innermost PID namespace; 0: not known
};

// A process of the trace, or a thread whose process the trace does not tell.
struct ftrace_process {
	int64_t tgid;   // -1: not known
	int64_t tid;    // tid of a thread whose process is not known; else -1
	int64_t ns_pid; // pid in the innermost PID namespace of the process; 0: not known
	struct ftrace_text comm;
	uint64_t records;
	// Set by ftrace_match():
	uint32_t log; // process in the log; FTRACE_NONE: not found there
	// Found in the log by "queue", "namespace", "number", "given", "guess"; NULL: not found.
	const char *matched;
	const char *why; // reason for a guess
};

// A queue that a process created, from the arguments that gpq's own probes fetch.
struct ftrace_queue {
	uint64_t ring, created_ns;
	int64_t gpu, qid; // qid: FTRACE_NO_ARG where the return has no arguments
	uint32_t process; // index of the process
};

// A hold: a debugger, as gpq suspend is, keeps queues of a process off the hardware: from the
// return of the call that suspended the first of them to the return of the call that resumed the
// last.
struct ftrace_hold {
	uint32_t target, holder; // indices of processes
	int64_t queues;          // queues held at the end of the hold, or of the trace
	int64_t most;            // greatest number of queues held at once
	uint64_t begin_ns, end_ns;
	const char *ended;    // "resume", "detach", "exit"; NULL: the end was not seen, end_ns is 0
	uint32_t epoch;       // epoch of the records
	uint32_t before_hold; // index + 1 of the holder's hold before this one; 0: none
};

// The record with which a hold begins or ends.
struct ftrace_mark {
	size_t record;
	uint32_t hold;
	bool end;
	int64_t queues; // ftrace_hold.queues at that record
};

// An event that `gpq events --ndjson` wrote. Members that are null there are U64_NULL or "".
struct ftrace_event {
	uint64_t time_ns, pid, ns_pid, gpu, qid;
	char name[32], command[64], clock[8], detail[128], source[8];
	uint32_t process; // index of the process; FTRACE_NONE: not known
	size_t order;     // events before this one in the file
};

// All that was read from a trace. Starts as zeros.
struct ftrace {
	struct ftrace_task *tasks; // sorted by thread
	size_t ntasks, task_cap;
	struct ftrace_record *v; // by epoch and time; records point into the text
	size_t n, cap;
	size_t *by_thread; // indices of records that have a thread: thread by thread, each in order
	size_t nby_thread;
	uint64_t lines;       // lines that are neither blank nor a comment
	uint64_t odd;         // lines that should be records, but are not
	uint64_t untimed;     // records whose clock counts no nanoseconds
	uint64_t losses;      // places where events were lost (FTRACE_LOST)
	uint64_t lost;        // lost events, as far as the trace counts them
	uint64_t overwritten; // events overwritten in the buffer before it was printed
	uint32_t epochs;      // how often the clock of a CPU went backwards
	uint64_t unpaired;    // returns whose entry is not in the trace
	char clock[16];       // "mono" of "# clock: mono", which gpq writes; "": not known

	struct ftrace_process *processes; // in the order of their first records
	size_t nprocesses, process_cap;
	struct intern numbers;       // (1: tgid, 0: tid; number) -> index in `processes`
	struct ftrace_queue *queues; // by ring address, then time
	size_t nqueues, queue_cap;
	struct ftrace_hold *holds; // in the order of their begin
	size_t nholds, hold_cap;
	struct ftrace_mark *marks; // in the order of the records
	size_t nmarks, mark_cap;

	struct ftrace_event *events; // ftrace_read_events(): by time
	size_t nevents, event_cap;
	uint64_t odd_events; // lines of the events file that are no events

	// Set by ftrace_match(): for each process or queue of the log, its index in the trace.
	uint32_t *of_log, *of_queue;
	int64_t offset_ns; // ftrace_tie(), ftrace_move(): the log's clock less the trace's
};

// Reads all of a text, sorts its records by time, finds each thread's process, pairs entries with
// returns, and finds queues and holds. `text` must stay until ftrace_fini(). A pair is of one
// thread, without lost events or a step of the clock between its records.
void ftrace_read(struct ftrace *f, const char *text, size_t len);

// After ftrace_read(): adds events that `gpq events --ndjson` wrote, and their processes.
void ftrace_read_events(struct ftrace *f, const char *text, size_t len);

// After ftrace_read() and ftrace_read_events(): finds the processes and queues of a log in the
// trace.
void ftrace_match(struct ftrace *f, const struct amdlog_summary *log);

// Before ftrace_match(): matches `pid` of the trace with `log_pid` of the log. False: there is no
// such process, or one of the two is matched with another.
bool ftrace_give(struct ftrace *f, const struct amdlog_summary *log, int64_t log_pid, int64_t pid);

// After ftrace_match(): guesses which processes of the trace those of the log are that were not
// found, by when they create queues or open /dev/kfd. Unless both have one clock, finds
// f->offset_ns, too. Returns whether it did.
bool ftrace_tie(struct ftrace *f, const struct amdlog_summary *log, bool one_clock);

// Adds `by`, which becomes f->offset_ns, to all times of the trace; none gets below 0.
void ftrace_move(struct ftrace *f, int64_t by);

void ftrace_fini(struct ftrace *f);

// After ftrace_match(): return the trace's process or queue for an index in the log. NULL: not
// found, or several match.
const struct ftrace_process *ftrace_of_log(const struct ftrace *f, uint32_t log);
const struct ftrace_queue *ftrace_queue_of(const struct ftrace *f, uint32_t queue);

// Returns the process with this pid or, where only threads are known, tid. FTRACE_NONE: none.
uint32_t ftrace_numbered(const struct ftrace *f, int64_t pid);

// Returns the pid of a process, or the tid of a thread whose process is not known.
int64_t ftrace_pid(const struct ftrace_process *p);

// --- suspensions of queues in steps ---

enum ftrace_step {
	STEP_ENTER, // from the ioctl's begin to suspend_queues: finding and locking the target
	STEP_UNMAP, // unmapping the runlist, without the wait for the hardware
	STEP_SAVE,  // wait until the hardware has saved the waves
	STEP_MAP,   // mapping the other queues again
	STEP_REST,  // all else in suspend_queues
	STEP_LEAVE, // from the end of suspend_queues to that of the ioctl
	STEP_TOTAL, // the whole ioctl
	STEPS
};

// A call of suspend_queues within an ioctl.
struct ftrace_suspension {
	uint64_t begin_ns, end_ns; // time of the ioctl; if that is not traced, of suspend_queues
	uint64_t ns[STEPS];        // length of each step; FTRACE_UNKNOWN: not traced
	// `target`: pid in the caller's PID namespace. `queue`, `count`: first id and number of the
	// queues asked for. `result`: queues suspended, or -errno. FTRACE_NO_ARG: not known.
	int64_t target, queue, count, result;
	uint32_t process; // index of the caller
};

struct ftrace_suspensions {
	struct ftrace_suspension *v; // to be freed
	size_t n, cap;
};

// Returns the suspensions in a trace, sorted by begin.
struct ftrace_suspensions ftrace_suspensions(const struct ftrace *f);
