// The ptrace side of holding a process: seize it, handle its stops and signals, let it go.
//
// Only the thread group leader is seized: the driver requires no more [kfd.tracer], and
// nothing is stopped for it, but for tracee_hold(). Signals to the process that another thread
// takes, and signals to other threads, never come here; those that the leader takes are handed on
// unchanged. There is no detach: when the tracing thread ends, the kernel lets the leader go
// without stopping it, whereas PTRACE_DETACH needs a stop and so would interrupt a system call of
// the target.
#ifndef GPQ_HOLDER_PTRACE_H
#define GPQ_HOLDER_PTRACE_H

#include "common/holder/target.h"

#include <sys/types.h>

enum tracee_state {
	TRACEE_RUNS, // nothing left to do for now
	TRACEE_GONE, // it ended, or another of its threads called exec: no longer ours
};

// Traces the leader `pid` without stopping it. A holder that is just ending is waited for.
// Must be called by the thread that will issue the debug trap calls. 0, or -1 and *f.
int tracee_seize(pid_t pid, struct kfd_failure *f);

// Says why a process that `holder` traces can be neither suspended nor resumed from here. -1, *f.
int tracee_explain_holder(pid_t holder, struct kfd_failure *f);

// Handles everything the tracee reported (call it at SIGCHLD): hands signals on, keeps group stops.
enum tracee_state tracee_serve(pid_t pid);

// Keeps the leader `pid`, which this thread traces, from leaving its address space by exit, death
// or exec until tracee_release(), provided that it is the only thread. It is stopped meanwhile,
// which interrupts a system call as SIGSTOP and SIGCONT do: most are restarted, some return EINTR
// (signal(7)). 0; -ESRCH: it ended; -ETIME: it did not stop within a second.
int tracee_hold(pid_t pid);
void tracee_release(pid_t pid);

// Wakes threads of `pid` that sleep in RUNTIME_ENABLE because a holder died before it answered
// them [kfd.runtime-handshake]: the call then returns EINTR and the runtime repeats it. Best
// effort.
void tracee_rescue(pid_t pid);

#endif
