// Native stacks of the threads of a process that sleep. Nothing is stopped for them.
//
// Facts: proc(5): /proc/PID/task/TID/syscall has the stack pointer and the program counter of a
// thread that sleeps, for those who may trace it. Callers are found from these two by the tables
// for unwinding in the files that the process has mapped (libdwfl.h of elfutils). x86-64 only.
#pragma once

#include "common/host/std.h"

#define STACKS_THREADS_MOST 256u // threads that are looked at
#define STACKS_FRAMES_MOST  64u  // innermost frames of a thread that are told

// Appends a line for each stack, the innermost function first, and the file of a function where
// that of its caller differs:
//
//	threads 4712, 4713: ioctl (libc.so.6) < hsaKmtWaitOnEvent (libhsa-runtime64.so.1) < main
//	(train)
//
// A thread that runs, or moved meanwhile, is left out; "?" is a function without a name; " <~ "
// stands in front of callers that are guessed, as the frame pointer is not known. On a recorded
// host the lines are those that were recorded. Returns 0, or -1 with errno: ENOPKG libdw is
// missing; EACCES or EPERM no right to trace the process; ENOENT no such process, or (recorded) no
// stacks; ETIMEDOUT its files or memory are silent; ENOTSUP not this machine.
//
// `waits` (NULL: none) gets a line for each of these lines, none on a recorded host: the function
// of ROCr in which these threads wait for a signal, the innermost one that has a name:
// "rocr::core::InterruptSignal::WaitRelaxed". Where the library has no such symbols, its file.
// Empty: they do not wait for one, or are those of the runtime itself, which always wait.
int stacks_read(struct buf *to, struct buf *waits, pid_t pid);
