// The driver's event stream (AMDKFD_IOC_SMI_EVENTS), one for each GPU, and the text that comes out
// of it. Facts: [kfd.smi], [kfd.smi-formats], [kfd.smi-pids].
//
// Events that a driver does not know never come. Without CAP_SYS_ADMIN only events of one's own
// process come. A full stream (1 KiB on Linux 6.12, 8 KiB on 7.3) drops events silently, so code
// that depends on an event also polls.
#ifndef GPQ_KFD_SMI_H
#define GPQ_KFD_SMI_H

#include "common/kfd/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {                              // numbers of the driver
	KFD_SMI_PROCESS_START = 12, // later than Linux 6.12: a process has acquired this GPU
	KFD_SMI_PROCESS_END = 13,
};
#define KFD_SMI_BIT(event) (1ull << ((event)-1))
#define KFD_SMI_ALL        (~0ull)

// Subscribes to the events of `mask` (KFD_SMI_BIT) of all processes. A descriptor that polls
// readable and whose read() never blocks, close-on-exec; or -errno (-EINVAL: no such GPU).
int kfd_smi_open(int kfd, uint32_t gpu_id, uint64_t mask);

// The same of all GPUs that allow it: sets *fds, which the caller frees, and returns their number.
size_t kfd_smi_open_all(uint64_t mask, int **fds);

// --- messages, one a line [kfd.smi-formats] ---

// KFD_UNKNOWN (all bits) where the message has no such value.
struct kfd_smi_event {
	uint64_t number;      // of the event
	const char *name;     // the driver's, as "queue-eviction"; NULL: a number without a name
	bool readable;        // the message is as the driver's format for the number says
	uint64_t boot_ns;     // CLOCK_BOOTTIME
	uint64_t pid;         // process: of the host; newer drivers: of its own PID namespace
	uint64_t tid;         // thread that acquired the GPU, of the host
	uint64_t gpu_id;      // 0: system memory
	uint64_t page, pages; // address / size of a page, and number of pages
	uint64_t from, to;    // migration: gpu_id, 0: system memory
	uint64_t prefetch;    // and what the program asked for
	uint64_t preferred;   // likewise
	uint64_t trigger;     // its meaning: kfd_smi_trigger()
	uint64_t sequence;    // counts resets of the GPU
	uint64_t bits, count; // throttling: reasons, and how often so far
	int64_t error;        // of a migration: 0 or -errno; INT64_MIN unknown
	// W, R: write or read fault; M, U: migrated, or only mapped; R of a restore: rescheduled.
	char mark;
	// Name of the thread, cause of a reset; else what follows the number. Not terminated.
	const char *text;
	size_t text_len;
	const char *line; // all of the message; not terminated
	size_t line_len;
	uint64_t name_of; // see kfd_smi_take()
};

// Parses one message without its newline. Any bytes may be in it. Without a number at its head the
// event's number is KFD_UNKNOWN and its text the whole line.
void kfd_smi_parse(struct kfd_smi_event *e, const char *line, size_t len);

// "ttm"; NULL: no trigger, or one without a name.
const char *kfd_smi_trigger(const struct kfd_smi_event *e);

enum {
	KFD_SMI_FIFO = 8192, // the most that a stream holds (7.3; 6.12: 1024)
	KFD_SMI_LINE = 96,   // the longest message (KFD_SMI_EVENT_MSG_SIZE)
};

// What is read from one stream, and the beginning of a message whose end is not read yet.
struct kfd_smi_text {
	char data[KFD_SMI_FIFO + 512];
	size_t len;
};

// Takes the messages out of `t`: calls `each` for every line, whose text is valid meanwhile. A line
// without its newline stays, up to 512 bytes.
//
// A thread may have newlines in its name, so that the rest of the name looks like a message. A line
// that may be such a rest has that thread as `name_of`, others KFD_UNKNOWN.
void kfd_smi_take(struct kfd_smi_text *t, void (*each)(void *arg, const struct kfd_smi_event *e),
		  void *arg);

// Was the stream, of which `n` bytes were read, too full for another message? `large`:
// KFD_FACT_SMI_LARGE.
bool kfd_smi_was_full(size_t n, enum kfd_answer3 large);

// A process by its PID on the host and in its innermost PID namespace; ns_pid 0: unknown.
struct kfd_smi_process {
	pid_t pid, ns_pid;
};

// Which process of `list` a message with this `pid` is about: its index, or -1 if none, or if
// several are possible. `ns`: KFD_FACT_SMI_NS_PID.
ssize_t kfd_smi_find(const struct kfd_smi_process *list, size_t n, uint64_t pid,
		     enum kfd_answer3 ns);

#endif
