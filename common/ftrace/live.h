// A kernel trace while it is recorded: the tracefs instance and its end (tracefs.c), what is traced
// (probes.c), whose records are kept (threads.c).
#ifndef GPQ_FTRACE_LIVE_H
#define GPQ_FTRACE_LIVE_H

#include "common/amdlog/read/intern.h"
#include "common/pick/pick.h"

#include <sys/types.h>

// A function of the driver, and what kprobe events fetch at its entry and its return; NULL:
// nothing. Facts: kernel/trace/trace_kprobe.c; [kfd.trace-functions]; layouts:
// include/uapi/linux/kfd_ioctl.h.
struct live_probe {
	const char *function, *entry, *result;
};
extern const struct live_probe live_probes[];
extern const size_t live_nprobes;

// Events that the driver defines itself: "amdgpu/amdgpu_bo_move", "amdkfd" (all of them).
extern const char *const live_events[];
extern const size_t live_nevents;

// The kernel's trace while it is recorded. What gpq makes in tracefs has a random number in the
// name, and is removed by a process of its own (the guard), whatever ends gpq.
struct live_trace {
	char dir[64];   // of tracefs
	char name[32];  // "gpq-0123456789abcdef": the instance
	char group[32]; // "gpq_0123456789abcdef": the kprobe events
	int lock;       // on the instance's folder: held by gpq and the guard
	int pipe;       // trace_pipe of the instance
	int guard_end;  // the guard begins when it is closed
	pid_t guard;
	unsigned probes, functions, events; // made; found by name; of the driver
	int defined;                        // what the instance has in events/GROUP
};

// Removes what killed gpqs left; makes the instance and its events, and turns them on. Exit status
// after a message; then nothing is left.
int live_trace_open(struct live_trace *t);

// Turns recording off. What is in the buffer can still be read.
void live_trace_stop(struct live_trace *t);

// Says what was lost and returns when all that gpq made is gone. After a message GPQ_FAILED: it is
// not; GPQ_PARTIAL: another took probes away.
int live_trace_close(struct live_trace *t);

// The threads of the trace, and which of them are of chosen processes.
struct live_threads {
	struct pick pick;
	struct process_cache cache;
	struct kfd_topology gpus; // with --gpu
	const struct words *gpu_words;
	bool asks; // any option but --gpu chooses
	pid_t own; // gpq itself, whose calls are left out
	struct intern numbers;
	struct live_thread *v; // by the numbers' index
	size_t n, cap;
	uint64_t unknown; // records left out as their process is not known
};

// Chooses by `pick` and, where a record names one, by GPU; both must stay. GPQ_OK, or the status
// after a message: no such process or GPU.
int live_threads_init(struct live_threads *t, const struct pick_opts *pick,
		      const struct words *gpus);

// Is this line to be kept? Then comments that tell a new thread's process are appended to `tasks`,
// and go before it.
bool live_threads_keep(struct live_threads *t, const char *text, size_t len, struct buf *tasks);

// Warns if records were left out.
void live_threads_fini(struct live_threads *t);

// --cleanup: removes what killed gpqs left. Exit status.
int live_cleanup(void);

#endif
