// The ptrace side of holding a process: seize it, handle its stops and signals, let it go.
//
// Only the thread group leader is seized: the driver requires no more [kfd.tracer]. Nothing but
// tracee_hold() stops it. Signals that the leader takes are handed on unchanged; those of other
// threads never come here. There is no detach: when the tracing thread ends, the kernel lets the
// leader go without stopping it. PTRACE_DETACH needs a stop, and so would interrupt a system call
// of the target.
#pragma once

#include "common/holder/target.h"

// Traces the leader `pid` without stopping it, if need be after the end of a holder that is ending.
// From then on the leader stops at the end of each exec, for tracee_serve() or tracee_hold(). Must
// be called by the thread that will issue the debug trap calls. Returns 0, or -1 and sets *f.
int tracee_seize(pid_t pid, struct kfd_failure *f);

// Sets *f to why a process that `holder` traces can be neither suspended nor resumed from here.
// Returns -1.
int tracee_explain_holder(pid_t holder, struct kfd_failure *f);

// To be called at SIGCHLD: hands the tracee's signals on, and keeps it in group stops (SIGSTOP).
// Returns false if the tracee ended, or is no longer traced since another of its threads called
// exec.
bool tracee_serve(pid_t pid);

// Stops the leader `pid`, which this thread traces, until tracee_release(). If it is the only
// thread, it cannot leave its address space meanwhile by exit, death or exec. The stop interrupts a
// system call as SIGSTOP and SIGCONT do: most are restarted, some return EINTR (signal(7)). Returns
// 0; 1 if the process called exec since tracee_seize() and tracee_serve() has not seen that; -ESRCH
// if it ended; -ETIME if it did not stop within a second.
int tracee_hold(pid_t pid);
void tracee_release(pid_t pid);

// Wakes threads of `pid` that sleep in RUNTIME_ENABLE because a holder died before it answered them
// [kfd.runtime-handshake]: the call returns EINTR, and the runtime repeats it. May fail silently.
void tracee_rescue(pid_t pid);
