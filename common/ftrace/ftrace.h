// Text of the kernel's function and event trace -> records: what tracefs prints (trace, trace_pipe)
// and what `trace-cmd report` prints.
//
// Facts: kernel/trace/trace_output.c (trace_print_context: "%16s-%-7d (TGID) [CPU] FLAGS
// SECS.USECS: "), trace_kprobe.c (print_kprobe_event, print_kretprobe_event), trace.c
// (print_lat_fmt, "CPU:n [LOST m EVENTS]"), trace-cmd's trace-read.c ("CPU:n [m EVENTS DROPPED]").
// A task's name may hold any byte.
#ifndef GPQ_FTRACE_FTRACE_H
#define GPQ_FTRACE_FTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FTRACE_UNKNOWN UINT64_MAX

enum ftrace_kind {
	FTRACE_FUNCTION, // the function tracer: was called; args: its caller
	FTRACE_ENTRY,    // a kprobe or fprobe at the begin of a function
	FTRACE_RETURN,   // and at its return
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
	uint64_t time_ns;        // of the trace's clock; FTRACE_UNKNOWN: it counts something else
	int64_t tid;             // of the kernel: a thread in the first PID namespace
	int64_t tgid;            // its process; -1: neither this line nor another one says
	uint64_t lost;           // FTRACE_LOST: how many; FTRACE_UNKNOWN: not counted
	uint64_t inside_ns;      // set by ftrace_read on a return: since its entry; FTRACE_UNKNOWN
	bool joined;             // set by ftrace_read on an entry: its return is there
	uint32_t epoch;          // set by ftrace_read: times of different epochs cannot be compared
	struct ftrace_text comm; // length 0: the kernel did not keep it ("<...>")
	struct ftrace_text name; // function, else the event
	struct ftrace_text args; // behind the name
};

// Reads a line, without its newline. False: it is no record.
bool ftrace_line(const char *line, size_t len, struct ftrace_record *r);

// The value of "key=1", "key=-1" or "key=0x1" among the arguments. False: there is no such number.
bool ftrace_arg(const struct ftrace_record *r, const char *key, int64_t *value);

// A thread and its process, as gpq writes them into what it records: "# task: TID TGID NSPID".
struct ftrace_task {
	int64_t tid, tgid,
		ns_pid; // ns_pid: the process in its innermost PID namespace; 0: not known
};

// A trace. Starts as zeros.
struct ftrace {
	struct ftrace_task *tasks; // by thread
	size_t ntasks, task_cap;
	struct ftrace_record *v; // by time; records point into the text that was read
	size_t n, cap;
	uint64_t lines;       // that are neither blank nor a comment
	uint64_t odd;         // of these: not understood
	uint64_t untimed;     // records whose clock counts no nanoseconds
	uint64_t losses;      // places where events were lost
	uint64_t lost;        // events that the trace says were lost, as far as it counts them
	uint64_t overwritten; // written into the buffer, and overwritten before it was printed
	uint32_t epochs;      // times that the clock of one CPU went backwards
	uint64_t unpaired;    // returns whose entry is not known
	char clock[16];       // "# clock: mono", which gpq writes; "": the text does not say
};

// Reads all of a text, sorts its records by time, finds each thread's process and joins returns to
// entries. `text` must stay until ftrace_fini. Pairs are made within a thread, never across lost
// events or a step of the clock.
void ftrace_read(struct ftrace *f, const char *text, size_t len);
void ftrace_fini(struct ftrace *f);

#endif
