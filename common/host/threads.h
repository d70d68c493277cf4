// Threads of a process, as the kernel schedules them: can the process go on by itself?
//
// Facts: proc(5), /proc/PID/task/TID/stat; Documentation/admin-guide/cgroup-v2.rst (cgroup.events)
// and cgroup-v1/freezer-subsystem.rst (freezer.state) of the kernel.
#pragma once

#include "common/host/std.h"

#define PROC_THREADS_MOST 4096u // threads that are looked at

struct proc_threads {
	unsigned n;       // threads whose state is known; 0: unknown
	unsigned running; // of them run, or want to and have no processor (state R)
	unsigned stopped; // of them are stopped by a signal or a debugger (states T and t)
	unsigned traced;  // of these by a debugger
	bool frozen;      // a control group of the process is frozen, or (recorded) was
};

// Looks at the threads of a process. On a host that was recorded without them, the process counts
// as one thread.
void proc_threads_read(struct proc_threads *t, pid_t pid);

// Appends where the threads stand, the kernel functions in which they sleep
// (/proc/PID/task/TID/wchan): "the first thread: kfd_wait_on_events, 11 others: futex_wait_queue,
// 2: run"; for root also the function of the driver from which they do (TID/stack): "msleep in
// pqm_destroy_queue". Nothing if the threads are unknown. Functions are known to those who may
// trace the process.
void proc_threads_tell(struct buf *to, pid_t pid);

// Do all threads stand still until somebody lets them go on?
bool proc_threads_stand(const struct proc_threads *t);
