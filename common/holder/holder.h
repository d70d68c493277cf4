// The holder: a small process per target that keeps its queues suspended, and how to talk to it.
//
// The driver undoes a suspension when the process that requested it dies, so a process has to live
// from `gpq suspend` to `gpq resume`: the holder. It listens on a unix socket named PID-STARTTIME
// in a private directory; its protocol is lines of text (gpq-suspend(1), PROTOCOL; protocol.h).
//
// Holds. Each `suspend` request makes a hold: tied to its connection, or lasting until resume;
// with or without a deadline. Queues stay suspended while there is a hold. A tied hold ends with
// its connection, so a client that dies between suspending and confirming leaves nothing suspended.
#ifndef GPQ_HOLDER_HOLDER_H
#define GPQ_HOLDER_HOLDER_H

#include "common/host/buf.h"
#include "common/holder/failure.h"
#include "common/kfd/procs.h"
#include "common/holder/session.h"
#include "common/holder/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// How long one answer may take: eight rounds of a GPU that does not answer (9 s each) at worst.
#define KFD_ANSWER_MS 90000u

// How long a holder may take, after an answer with `ended`, to exit and so to end tracing.
#define KFD_END_MS 5000

// An answer: its queues and its last line. Owned by the link; valid until the next request.
struct kfd_answer {
	struct kfd_outcome *queues; // with addresses only when asked for
	size_t num, room;
	pid_t holder, target;
	unsigned held;     // queues suspended now
	uint64_t since_ns; // CLOCK_MONOTONIC; 0: nothing is suspended
	uint64_t until_ns; // 0: no deadline
	bool follows;      // queues that appear later are suspended too
	bool kept;         // stays attached without a hold
	bool ended;        // the holder ends now
};

// A connection to a holder.
struct kfd_link {
	int fd; // -1: none
	pid_t target;
	pid_t started;       // the holder, when kfd_link_open() started it
	pid_t peer;          // the holder, as the kernel says (tracer, SO_PEERCRED); 0: not known
	uint64_t peer_start; // its start time, unless it is our child
	bool lost;           // it ended before it answered, and the target lives
	bool deaf;           // it lives and holds, but cannot be talked to
	bool silent;         // the last answer did not come in time
	bool may_stay;       // "hold" was sent last
	struct kfd_answer answer;
	struct buf in; // what was read and not used yet
};

// Connects to the target's holder. `start`: if there is none, starts one; otherwise the failure is
// KFD_FAULT_NOT_HELD. 0, or -1 and *f.
int kfd_link_open(struct kfd_link *l, const struct kfd_target *t, bool start,
		  struct kfd_failure *f);
void kfd_link_close(struct kfd_link *l);

// Sends a request line (without newline). 0, or -1 and *f.
int kfd_link_send(struct kfd_link *l, const char *request, struct kfd_failure *f);

// Waits for the answer to the oldest request sent, at most `timeout_ms`. 0, or -1 and *f, which is
// the holder's own failure or KFD_FAULT_HOLDER_LOST or KFD_FAULT_HOLDER_SILENT.
int kfd_link_receive(struct kfd_link *l, unsigned timeout_ms, struct kfd_failure *f);

// The same without waiting. 1: the answer is complete; 0: not yet; -1 and *f as above.
int kfd_link_take(struct kfd_link *l, struct kfd_failure *f);

// After a failure: closes the connection, which ends what is tied to it, and, if this link started
// the holder, waits briefly for its end. A holder that lives on is killed if it is stopped or may
// have received "hold"; else others' holds keep it. True: it has ended, and *f says so where it
// said that the holder does not answer.
bool kfd_link_abandon(struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f);

// After an answer with `ended`: waits until the holder is gone and the target untraced. True when
// /proc shows that; the answer alone is no proof.
bool kfd_link_wait_end(struct kfd_link *l);

// Is the link's peer, which holds the target, stopped (SIGSTOP)?
bool kfd_holder_is_stopped(const struct kfd_link *l);

// Ends a holder that does not answer, by SIGKILL: the kernel then resumes. False when the link's
// peer does not hold the target (any more) or may not be killed, or, with *f, when it was killed
// and it is unknown whether the queues run.
bool kfd_holder_kill(const struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f);

// A process that is held: by a holder, or paused by criu.c, which needs none.
struct kfd_holding {
	pid_t target;
	uid_t uid;                // owner of the holder
	bool paused;              // by criu.c: nothing else is known
	bool answers;             // false: of the answer only the holder is known
	struct kfd_answer answer; // its queues are the suspended ones, by id; the holder: 0 unknown
	char *socket;             // path
};

// Lists holders, then processes paused from here, both by pid; root sees the holders of all users.
// All get their request at the same time; one without an answer within 2 s is listed with answers =
// false. `sweep` removes stale sockets and records. Returns their number; free *list with
// kfd_holdings_free().
size_t kfd_holdings(struct kfd_holding **list, bool sweep);
void kfd_holdings_free(struct kfd_holding *list, size_t num);

// The holder of `pid`, or NULL.
const struct kfd_holding *kfd_holding_of(const struct kfd_holding *list, size_t num, pid_t pid);

// ---- contexts.c: queues of secondary KFD contexts, which no debugger reaches
//
// Facts: from KFD interface 1.19 on a process can have further contexts
// (AMDKFD_IOC_CREATE_PROCESS), each with queues, ids from 0 on, and a folder context_N in sysfs.
// DBG_TRAP sees those of the primary context alone (kfd_ioctl_set_debug_trap() in kfd_chardev.c):
// the others run on while gpq holds the process.

// The queues of the secondary contexts of `pid` that `sel` chooses (NULL: all), by context and id.
// Their number, or -1 with errno EXDEV where /proc has other PIDs than sysfs, which has those of
// the host. *list is the caller's to free. A process that is gone has none.
ssize_t kfd_contexts_unreached(pid_t pid, const struct kfd_selection *sel, struct kfd_queue **list);

// How many different contexts the list has.
size_t kfd_contexts_count(const struct kfd_queue *list, size_t n);

// ---- criu.c: --method criu pauses all queues of a process with the driver's checkpoint interface,
// for kernels without the debug interface
//
// Facts: [kfd.criu]. Nothing undoes such a pause but UNPAUSE, and PROCESS_INFO twice leaves
// the process paused until it dies. So a record is written before the call, as a file in the socket
// directory: "intent" before the call, "paused" behind it.

// Name of a record: this, then as a socket (rundir.h). kfd_holdings() lists the records.
#define KFD_CRIU_PREFIX "criu-"

// Pauses. *already: by a record it was paused before, and nothing was done. 0, or -1 and *f.
int kfd_criu_pause(const struct kfd_target *t, bool *already, struct kfd_failure *f);

// Ends the pause of a record. 0; -1 and *f: KFD_FAULT_NOT_HELD without a record.
int kfd_criu_resume(const struct kfd_target *t, struct kfd_failure *f);

#endif
