// gpq events: the parts of the command.
//
//   events.c     options, columns, the loop
//   stream.c     what the driver tells: streams of SMI events -> rows
//   log.c        what the kernel's log tells of the driver: lines of trouble -> rows
//   poll.c       what sysfs shows: processes and queues that came and went -> rows
//   processes.c  the processes that have KFD open: which one a message means, which are selected
//   record.c     writes the events into a file, for gpq trace --live
#pragma once

#include "cmd/command.h"

#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/kfd/procs.h"
#include "common/kfd/smi.h"
#include "common/kfd/topology.h"
#include "common/pick/pick.h"

#define EVENTS_INTERVAL_NS 100000000u // time between two looks at sysfs, without --interval

struct events_opts {
	struct pick_opts pick;
	struct words gpus;
	uint64_t for_ns, count; // --for, --count; UINT64_MAX: not given
	uint64_t interval_ns;   // time between two looks at sysfs
};

struct event_row {
	uint64_t time_us, time_ns; // CLOCK_MONOTONIC
	char event[32];
	const char *source;   // "driver", "log", "polled", "gpq"
	const char *clock;    // "driver": the driver's time; "read", "polled": when gpq read it
	uint64_t interval_ns; // if "polled": time since the look before; else U64_NULL
	int64_t pid, ns_pid, given_pid;
	char comm[64], container[16], container_id[80], pod[320], job[24];
	const char *user;
	uint64_t gpu_id, qid, context, ring_bytes;
	const char *bdf, *type, *trigger, *meaning, *remedy;
	char detail[128], text[256];
	struct kfd_smi_event e; // the message of the driver, for its numbers
	// Not shown:
	size_t order; // place in the order of arrival in a turn
	bool fits;    // the selector chooses the process
};

// A process that has KFD open or had it a moment ago. A later process with the same PID has another
// inode (`folder`) in sysfs.
struct known {
	pid_t pid, ns_pid; // ns_pid 0: cannot be read; -1: the process had ended already
	ino_t folder;
	char comm[64], container[16], container_id[80], pod[320], job[24]; // "": not known
	uint64_t uid;       // effective; UINT64_MAX: not known
	bool fits;          // the selector chooses the process
	bool here;          // the last look found the process
	uint64_t looked_ns; // when names and `fits` were read
	uint64_t ended_ns;  // when the process was found gone; 0: it has KFD open
};

struct queue_seen {
	struct kfd_queue q;
	pid_t pid;
};

struct stream {
	int fd; // -1: closed
	uint32_t gpu_id;
	struct kfd_smi_text text;
};

struct events {
	struct cmd *cmd; // NULL in gpq trace --live
	const struct events_opts *opts;
	struct kfd_topology gpus;
	struct kfd_driver driver;
	struct process_cache cache;
	struct pick pick;
	bool pids_are_host;
	pid_t self; // gpq's own PID in sysfs; 0: not known

	struct known *known;
	size_t nknown, cap_known;
	struct queue_seen *queues; // queues at the last look; sorted by pid, context, qid
	size_t nqueues;
	struct kfd_procs procs;
	uint64_t looked_ns; // when the last look at sysfs began; 0: none yet
	uint64_t look_ns;   // when the next look is due

	struct stream *streams;
	size_t nstreams;
	int log_fd;             // the kernel's log; -1: it is not read
	struct loop loop;       // polls the streams, the log and standard output
	uint64_t begin_boot_ns; // CLOCK_BOOTTIME before the streams were opened

	struct event_row *rows; // rows of this turn, until events_write()
	size_t nrows, cap_rows;
	bool looked_again; // sysfs was read again in this turn, for the process of a message
	size_t unknown;    // number of rows left out as their process is not known
};

extern const struct out_table events_table;

// Reads the GPUs and sets up the selector. Returns GPQ_OK, or the exit status after a message; call
// events_close() in both cases.
int events_open(struct events *ev);

// Subscribes to the driver's events, then reads which processes and queues there are, so that none
// is lost. Returns GPQ_OK or the exit status.
int events_begin(struct events *ev);
void events_close(struct events *ev);

// Reads the driver's events, and sysfs if the next look is due or `look` is set.
void events_read(struct events *ev, bool look);

// Writes and removes the rows of this turn. *shown, which `o` counts, does not exceed --count.
// Returns GPQ_OK, or the exit status.
int events_write(struct events *ev, struct out *o, const size_t *shown);

// Warns how many events were left out because their process is not known.
void events_say_unknown(const struct events *ev);

// Adds and returns a row in which all that is not an argument is null.
struct event_row *events_row(struct events *ev, const char *event, const char *source,
			     uint64_t time_ns);

// Set process and GPU of a row. `given`: PID or TID in the message, 0: none; `k`: the process that
// the message means, NULL: not known.
void events_set_process(struct event_row *r, const struct known *k, uint64_t given);
void events_set_gpu(const struct events *ev, struct event_row *r, uint64_t gpu_id);

// Sets up the selector. Returns GPQ_OK or the exit status.
int processes_init(struct events *ev);
void processes_fini(struct events *ev);

// Reads which processes have KFD open, and makes rows of those that opened it since the last look.
// processes_end() makes rows of those that closed it. The first look makes none.
void processes_look(struct events *ev);
void processes_end(struct events *ev, uint64_t now);

// Return the process of a PID or a message, among those that have KFD open or had it open a moment
// ago. NULL: none, or several are possible.
const struct known *processes_of_pid(struct events *ev, pid_t pid);
const struct known *processes_of_message(struct events *ev, const struct kfd_smi_event *e);

// May the name of this thread have a newline, so that its rest looks like a message (smi.h)?
bool processes_name_has_newline(const struct events *ev, uint64_t tid);

// Reads sysfs, and makes rows of what came and went since the last look; the first look makes none.
void events_poll(struct events *ev);

// Subscribes to events of the chosen GPUs, and warns of events that will be missing.
void streams_open(struct events *ev);
void streams_read(struct events *ev); // makes rows of the messages that have come
void streams_close(struct events *ev);

// Follows the kernel's log, if that may be read, and makes rows of its lines about the driver.
void log_open(struct events *ev);
void log_read(struct events *ev);
