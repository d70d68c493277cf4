// Recording a trace of the Linux kernel: the tracefs instance (tracefs.c), what is traced
// (probes.c), whose records are kept (threads.c).
#pragma once

#include "common/amdlog/read/intern.h"
#include "common/pick/pick.h"

// A function of the driver, and the arguments that kprobe events fetch at its entry and its return;
// `result` NULL: the return is not traced. `step`: ftrace_suspensions() needs it. Facts:
// kernel/trace/trace_kprobe.c, [kfd.trace-functions], layouts of include/uapi/linux/kfd_ioctl.h.
struct live_probe {
	const char *function, *entry, *result;
	bool step;
};
extern const struct live_probe live_probes[];
extern const size_t live_nprobes;

// Events that the driver defines itself: "amdgpu/amdgpu_bo_move", "amdkfd" (all of them).
extern const char *const live_events[];
extern const size_t live_nevents;

// A recording. What gpq makes in tracefs has a random number in its name, and a child process (the
// guard) removes it, whatever ends gpq.
struct live_trace {
	const char *option; // "--live", for messages
	bool steps;         // only functions with `step` are traced
	char dir[64];       // where tracefs is mounted
	char name[32];      // name of the instance: "gpq-0123456789abcdef"
	char group[32];     // name of the group of kprobe events: "gpq_0123456789abcdef"
	int lock;           // lock (flock) on the instance's folder; gpq and the guard hold it
	int pipe;           // trace_pipe of the instance
	int guard_end;      // end of a pipe: when gpq closes it, the guard removes the instance
	pid_t guard;
	unsigned functions; // live_probes whose function this kernel has
	unsigned probes;    // live_probes with kprobe events
	unsigned events;    // live_events that were turned on
	int defined;        // entries of the instance's folder events/GROUP
};

// Removes instances that killed gpqs left, makes one and turns its events on. Returns GPQ_OK, or an
// exit status after a message: then the instance is removed again. `steps`: trace only the
// functions of live_probes[] that ftrace_suspensions() needs, and none of the live_events.
int live_trace_open(struct live_trace *t, bool steps);

// Turns tracing off. The rest of the buffer can still be read from t->pipe.
void live_trace_stop(struct live_trace *t);

// Warns of missed returns, and waits until the guard has removed the instance. Returns GPQ_OK or,
// after a message, GPQ_FAILED: something is left; GPQ_PARTIAL: another program removed or disabled
// probes.
int live_trace_close(struct live_trace *t);

// The threads of a trace, to keep the records of chosen processes.
struct live_threads {
	struct pick pick;
	struct process_cache cache;
	struct kfd_topology gpus; // topology, read if --gpu is given
	const struct words *gpu_words;
	bool asks;             // options choose processes
	pid_t own;             // pid of gpq itself, whose records are left out
	struct intern numbers; // tid -> index in `v`
	struct live_thread *v;
	size_t n, cap;
	uint64_t unknown; // records left out, as their process is not known
};

// Keeps records of processes that `pick` chooses and, where a record names a GPU, of `gpus`; both
// must outlive `t`. Returns GPQ_OK, or an exit status after a message: no such process or GPU.
int live_threads_init(struct live_threads *t, const struct pick_opts *pick,
		      const struct words *gpus);

// Is this line to be kept? If so, and its thread is new, appends a comment "# task: ..." to
// `tasks`, which goes before the line.
bool live_threads_keep(struct live_threads *t, const char *text, size_t len, struct buf *tasks);

// Warns if records were left out.
void live_threads_fini(struct live_threads *t);

// --cleanup: removes what killed gpqs left in tracefs. Returns the exit status.
int live_cleanup(void);
