// The holder: a small process per target that keeps its queues suspended, and how to talk to it.
//
// The driver undoes a suspension when the process that requested it dies, so a process has to live
// from `gpq suspend` to `gpq resume`: the holder. It listens on a unix socket named PID-STARTTIME
// in a private directory; its protocol is lines of text (gpq-suspend(1), PROTOCOL; protocol.h).
//
// Each `suspend` request makes a hold, with or without a deadline: a tied one, which ends with its
// connection, or a lasting one, until resume. Queues stay suspended while a hold is about them. A
// client that dies between suspending and confirming thus leaves nothing suspended.
#pragma once

#include "common/holder/failure.h"
#include "common/kfd/procs.h"
#include "common/holder/session.h"
#include "common/holder/target.h"

#define KFD_ANSWER_MS 90000u // limit for one answer: 8 calls (MAX_ROUNDS) of 9 s on a silent GPU
#define KFD_END_MS    5000   // limit for a holder's exit after an answer with `ended`

// A holder's answer; the link owns it until its next request.
struct kfd_answer {
	struct kfd_outcome *queues; // with addresses only if those were asked for
	size_t num, room;
	struct kfd_device_entry *gpus; // GPUs of the target, if they were asked for
	size_t num_gpus, room_gpus;
	pid_t holder, target;
	unsigned held;     // queues suspended now
	uint64_t since_ns; // when the first held queue was suspended (CLOCK_MONOTONIC); 0: none
	uint64_t until_ns; // when all holds have ended (CLOCK_MONOTONIC); 0: no deadline
	struct kfd_rinfo runtime; // answers with addresses only; all 0: unknown
	bool follows;             // queues that appear later are suspended too
	bool kept;                // the holder stays attached without a hold
	bool ended;               // the holder ends now
};

// A connection to a holder.
struct kfd_link {
	int fd; // connected socket; -1: none
	pid_t target;
	pid_t started;       // the holder, if kfd_link_open() started it
	pid_t peer;          // the holder, as the kernel says (tracer, SO_PEERCRED); 0: unknown
	uint64_t peer_start; // the holder's start time, unless it is our child
	bool lost;           // the holder ended before it answered, and the target lives
	bool deaf;           // the holder lives and holds, but takes no requests
	bool silent;         // the last answer did not come in time
	bool may_stay;       // the last request was "hold": its hold may outlive the connection
	struct kfd_answer answer;
	struct buf in; // bytes received and not parsed yet
};

// Connects to the target's holder. If there is none: starts one (`start`), or fails with
// KFD_FAULT_NOT_HELD. Returns 0, or -1 and sets *f.
int kfd_link_open(struct kfd_link *l, const struct kfd_target *t, bool start,
		  struct kfd_failure *f);
void kfd_link_close(struct kfd_link *l);

// Sends a request line (without newline). Returns 0, or -1 and sets *f.
int kfd_link_send(struct kfd_link *l, const char *request, struct kfd_failure *f);

// Waits for the answer to the oldest request sent, at most `timeout_ms`. Returns 0, or -1 and sets
// *f to the holder's own failure, KFD_FAULT_HOLDER_LOST or KFD_FAULT_HOLDER_SILENT.
int kfd_link_receive(struct kfd_link *l, unsigned timeout_ms, struct kfd_failure *f);

// Like kfd_link_receive(), without waiting. Returns 1 if the answer is complete, 0 if not yet, or
// -1 and sets *f.
int kfd_link_take(struct kfd_link *l, struct kfd_failure *f);

// After a failure: closes the connection, which ends the hold tied to it, and waits briefly for the
// end of a holder that this link started. That holder is killed if its answer is overdue, or if it
// is deaf and may have received "hold"; otherwise holds of other clients keep it. Returns true if
// it has ended.
bool kfd_link_abandon(struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f);

// After an answer with `ended`: waits for the end of the holder. Returns true when /proc shows that
// it no longer holds the target.
bool kfd_link_wait_end(struct kfd_link *l);

// Is the link's peer, which holds the target, stopped (SIGSTOP)?
bool kfd_holder_is_stopped(const struct kfd_link *l);

// Ends a holder that does not answer, by SIGKILL: the driver then resumes the queues. Returns false
// when the link's peer does not hold the target or may not be killed; or, with *f set, when it was
// killed and it is unknown whether the queues run.
bool kfd_holder_kill(const struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f);

// A process that is held by a holder, or paused by criu.c without one.
struct kfd_holding {
	pid_t target;
	uid_t uid;                // owner of the holder
	bool paused;              // paused by criu.c: all members below are unknown
	bool answers;             // the holder answered; false: only `answer.holder` is known
	struct kfd_answer answer; // lists the suspended queues, by id
	char *socket;             // path of the holder's socket; NULL: unknown
};

// Lists the processes that holders of this user (for root: of any user) hold, then those that this
// user paused, both by pid. Holders get 2 s to answer. `sweep`: removes stale sockets and records.
// Returns their number; free *list with kfd_holdings_free().
size_t kfd_holdings(struct kfd_holding **list, bool sweep);
void kfd_holdings_free(struct kfd_holding *list, size_t num);

// Returns the entry of `pid` if a holder holds it, or NULL.
const struct kfd_holding *kfd_holding_of(const struct kfd_holding *list, size_t num, pid_t pid);

// ---- contexts.c: queues of secondary KFD contexts, which no debugger reaches
//
// Facts: from KFD interface 1.19 on a process can have further contexts
// (AMDKFD_IOC_CREATE_PROCESS), each with queue ids from 0 on and a folder context_N in sysfs.
// DBG_TRAP sees the primary context alone (kfd_ioctl_set_debug_trap() in kfd_chardev.c): queues of
// the others run on while gpq holds the process.

// Lists the queues of the secondary contexts of `pid` that `sel` chooses (NULL: all), by context
// and id. Returns their number, or -1 with errno EXDEV in a PID namespace: sysfs has PIDs of the
// host. The caller frees *list.
ssize_t kfd_contexts_unreached(pid_t pid, const struct kfd_selection *sel, struct kfd_queue **list);

// Returns how many contexts the list's queues belong to.
size_t kfd_contexts_count(const struct kfd_queue *list, size_t n);

// ---- criu.c: --method criu pauses all queues of a process with the driver's checkpoint interface,
// for kernels without the debug interface
//
// Facts: [kfd.criu]. Only UNPAUSE undoes such a pause, and PROCESS_INFO twice leaves the process
// paused until it dies. So a record, a file in the socket directory, says "intent" before the call
// and "paused" after it.

// A record's file name: this prefix, then the name of a socket (rundir.h).
#define KFD_CRIU_PREFIX "criu-"

// Pauses the process. *already: a record says that it is paused already, and nothing was done.
// Returns 0, or -1 and sets *f.
int kfd_criu_pause(const struct kfd_target *t, bool *already, struct kfd_failure *f);

// Ends a recorded pause. Returns 0, or -1 and sets *f: without a record, to KFD_FAULT_NOT_HELD.
int kfd_criu_resume(const struct kfd_target *t, struct kfd_failure *f);
