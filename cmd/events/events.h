// gpq events: the parts of the command.
//
//   events.c     options, columns, the loop
//   stream.c     what the driver tells: streams of SMI events -> rows
//   poll.c       what sysfs shows: processes and queues that came and went -> rows
//   processes.c  the processes that have KFD open: which one a message means, which are selected
//   record.c     the same written into a file, for gpq trace --live
#ifndef GPQ_CMD_EVENTS_H
#define GPQ_CMD_EVENTS_H

#include "cmd/command.h"

#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/kfd/procs.h"
#include "common/kfd/smi.h"
#include "common/kfd/topology.h"
#include "common/pick/pick.h"

#define EVENTS_INTERVAL_NS 100000000u // between two looks at sysfs, unless given

struct events_opts {
	struct pick_opts pick;
	struct words gpus;
	uint64_t for_ns, count; // UINT64_MAX without the option
	uint64_t interval_ns;   // between two looks at sysfs
};

// One event.
struct event_row {
	uint64_t time_us, time_ns; // CLOCK_MONOTONIC
	char event[32];
	const char *source;   // "driver", "polled", "gpq"
	const char *clock;    // whose time it is: "driver", "read" or "polled"
	uint64_t interval_ns; // polled: since the look before; U64_NULL
	int64_t pid, ns_pid, given_pid;
	char comm[64], container[16], container_id[80];
	uint64_t gpu_id, qid, context, ring_bytes;
	const char *bdf, *type, *trigger;
	char detail[128], text[256];
	struct kfd_smi_event e; // its numbers
	// Not shown:
	size_t order; // of arrival
	bool fits;    // the selector chooses its process
};

// A process with KFD open. The inode of its folder in sysfs tells it from a later one of its PID.
struct known {
	pid_t pid, ns_pid; // ns_pid 0: not to be read; -1: it was gone already
	ino_t folder;
	char comm[64], container[16], container_id[80]; // "" unknown
	bool fits;                                      // the selector chooses it
	bool here;                                      // seen in the present look
	uint64_t looked_ns;                             // when names and `fits` were read
	uint64_t ended_ns;                              // 0: it has KFD open
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
	struct cmd *cmd; // of gpq events
	const struct events_opts *opts;
	struct kfd_topology gpus;
	struct kfd_driver driver;
	struct process_cache cache;
	struct pick pick;
	bool pids_are_host;
	pid_t self; // as sysfs names it; 0 unknown

	struct known *known;
	size_t nknown, cap_known;
	struct queue_seen *queues; // by pid, context, qid
	size_t nqueues;
	struct kfd_procs procs;
	uint64_t looked_ns; // when the last look at sysfs began; 0: none yet
	uint64_t look_ns;   // when the next one is due

	struct stream *streams;
	size_t nstreams;
	struct loop loop;       // of the streams, and of standard output
	uint64_t begin_boot_ns; // CLOCK_BOOTTIME before they were opened

	struct event_row *rows; // of this turn
	size_t nrows, cap_rows;
	bool looked_again; // for the process of a message, in this turn
	size_t unknown;    // rows left out as their process is not known
};

extern const struct out_table events_table;

// Reads the GPUs and the selector. GPQ_OK, or the status after a message. events_close() is called
// in any case.
int events_open(struct events *ev);

// Subscribes to the driver's events, and then reads which queues there are, so that none is lost.
int events_begin(struct events *ev);
void events_close(struct events *ev);

// Reads the driver's events, and sysfs if the next look is due or `look` is set.
void events_read(struct events *ev, bool look);

// Writes the rows of this turn while *shown, which `o` counts, is below --count. GPQ_OK, or the
// exit status.
int events_write(struct events *ev, struct out *o, const size_t *shown);

// Warns how many events were left out because their process is not known.
void events_say_unknown(const struct events *ev);

// Adds a row in which everything else is null.
struct event_row *events_row(struct events *ev, const char *event, const char *source,
			     uint64_t time_ns);

// Set process and GPU of a row. `given`: the PID in the message, 0: none; `k` NULL: not known.
void events_set_process(struct event_row *r, const struct known *k, uint64_t given);
void events_set_gpu(const struct events *ev, struct event_row *r, uint64_t gpu_id);

// GPQ_OK, or the status after a message.
int processes_init(struct events *ev);
void processes_fini(struct events *ev);

// Reads which processes have KFD open. Those that came since the last look get rows (there are none
// in the first look), those that ended get them from processes_end().
void processes_look(struct events *ev);
void processes_end(struct events *ev, uint64_t now);

// The process of this PID or message, among those that have KFD open or had it open a moment ago.
// NULL: none, or several are possible.
const struct known *processes_of_pid(struct events *ev, pid_t pid);
const struct known *processes_of_message(struct events *ev, const struct kfd_smi_event *e);

// May the name of this thread have a newline, so that its rest looks like a message (smi.h)?
bool processes_name_has_newline(const struct events *ev, uint64_t tid);

// Looks at sysfs. The first look makes no rows.
void events_poll(struct events *ev);

// Subscribes to the chosen GPUs, and warns of events that will be missing.
void streams_open(struct events *ev);
void streams_read(struct events *ev); // what has come
void streams_close(struct events *ev);

#endif
