// The driver's event stream (AMDKFD_IOC_SMI_EVENTS), one for each GPU, and the text that comes out
// of it. Facts: [kfd.smi], [kfd.smi-formats], [kfd.smi-pids].
//
// Events that a driver does not know never come. Without CAP_SYS_ADMIN only events of one's own
// process come. A full stream (1 KiB on Linux 6.12, 8 KiB on 7.3) drops events silently, so code
// that depends on an event also polls.
#pragma once

#include "common/kfd/driver.h"

enum {                              // numbers of events, as the driver has them
	KFD_SMI_PROCESS_START = 12, // a process has acquired this GPU; not in Linux 6.12
	KFD_SMI_PROCESS_END = 13,
};
#define KFD_SMI_BIT(event) (1ull << ((event)-1))
#define KFD_SMI_ALL        (~0ull)

// Subscribes to the events in `mask` (KFD_SMI_BIT) of all processes on a GPU. Returns -errno
// (-EINVAL: no such GPU), or a close-on-exec descriptor to poll, whose read() never blocks.
int kfd_smi_open(int kfd, uint32_t gpu_id, uint64_t mask);

// kfd_smi_open() for all GPUs. Sets *fds, which the caller frees, and returns how many there are.
size_t kfd_smi_open_all(uint64_t mask, int **fds);

// --- messages, one a line [kfd.smi-formats] ---

// An event's message. Numbers that the message lacks are KFD_UNKNOWN (all bits).
struct kfd_smi_event {
	uint64_t number;      // the driver's number of the event
	const char *name;     // "queue-eviction"; NULL: gpq does not know the number
	bool readable;        // the message has the driver's format of this event
	uint64_t boot_ns;     // time of the event, CLOCK_BOOTTIME
	uint64_t pid;         // process: its PID on the host; newer drivers: in its own namespace
	uint64_t tid;         // thread that faulted, or acquired the GPU: its id on the host
	uint64_t gpu_id;      // GPU of the event; 0: system memory
	uint64_t page, pages; // first page: its address / page size; number of pages
	uint64_t from, to;    // migration: source and target (gpu_id; 0: system memory)
	uint64_t prefetch;  // migration: target the program asked for; gpu_id, or 0: system memory
	uint64_t preferred; // migration: location the program prefers; gpu_id, or 0: system memory
	uint64_t trigger;   // cause of the event, which kfd_smi_trigger() names
	uint64_t sequence;  // GPU reset: number of the reset, counted by the driver
	uint64_t bits, count; // throttling: bits of the reasons, and how often so far
	int64_t error;        // migration: 0 or -errno; INT64_MIN: unknown
	// Page fault: W write, R read; its end: M migrated, U mapped. Queue restore: R rescheduled.
	char mark;
	// Thread name, cause of a reset; in other events all behind the number. No NUL at its end.
	const char *text;
	size_t text_len;
	const char *line; // the whole message; no NUL at its end
	size_t line_len;
	uint64_t name_of; // id of a thread whose name may end in this line: see kfd_smi_take()
};

// Parses one message without its newline, whatever bytes are in it. If no number is at its head,
// the event's number is KFD_UNKNOWN and its text the whole line.
void kfd_smi_parse(struct kfd_smi_event *e, const char *line, size_t len);

// Name of the event's trigger, as "ttm"; NULL: it has no trigger, or an unknown one.
const char *kfd_smi_trigger(const struct kfd_smi_event *e);

enum {
	KFD_SMI_FIFO = 8192, // most bytes that a stream holds (Linux 7.3; 6.12: 1024)
	KFD_SMI_LINE = 96,   // bytes of the longest message (KFD_SMI_EVENT_MSG_SIZE)
};

// Bytes read from one stream, with the beginning of a message whose end was not read yet.
struct kfd_smi_text {
	char data[KFD_SMI_FIFO + 512];
	size_t len;
};

// Takes the messages out of `t` and calls `each` for every line; the event's texts are valid during
// that call. A last line without a newline stays in `t`, unless it is longer than 512 bytes.
//
// A thread's name may have newlines, and its rest then looks like a message. A line that may be
// such a rest has that thread as `name_of`, other lines KFD_UNKNOWN.
void kfd_smi_take(struct kfd_smi_text *t, void (*each)(void *arg, const struct kfd_smi_event *e),
		  void *arg);

// Was a stream that gave `n` bytes too full for another message? `large`: KFD_FACT_SMI_LARGE.
bool kfd_smi_was_full(size_t n, enum kfd_answer3 large);

// A process by its PID on the host and in its innermost PID namespace; ns_pid 0: unknown.
struct kfd_smi_process {
	pid_t pid, ns_pid;
};

// Which process of `list` is a message with this `pid` about? Returns its index, or -1 if none or
// several are possible. `ns`: the answer to KFD_FACT_SMI_NS_PID.
ssize_t kfd_smi_find(const struct kfd_smi_process *list, size_t n, uint64_t pid,
		     enum kfd_answer3 ns);
