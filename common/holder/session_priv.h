// Shared by session*.c.
#ifndef GPQ_HOLDER_SESSION_PRIV_H
#define GPQ_HOLDER_SESSION_PRIV_H

#include "common/holder/session.h"

// One DBG_TRAP call. Result (>= 0) or -errno.
int session_call(int kfd, pid_t target, enum kfd_dbg_op op, struct kfd_dbg *a);

// A snapshot of 0 queues: shows without any effect whether the driver accepts calls for `target`.
int session_try(int kfd, pid_t target);

// ENABLE by the tracer of `target`, which must be a KFD process. -ESRCH: the target ended or
// replaced itself; -ETIME: its only thread could not be stopped (session_enable.c). `probed`: since
// tracee_seize(), session_try() has shown that it is a KFD process.
int session_enable(int kfd, pid_t target, struct kfd_dbg *a, bool probed);

// session_call() for the session's target. Takes an untraced session back if it was taken.
int session_trap(struct kfd_session *s, enum kfd_dbg_op op, struct kfd_dbg *a);

// What a call's -errno means for the session. -1 and *f.
int session_fail(const struct kfd_session *s, enum kfd_step step, int r, struct kfd_failure *f);

// Seizes the target and enables the session, whose kfd is open. Steps 2 to 5. 0, or -1 and *f.
int session_attach(struct kfd_session *s, struct kfd_failure *f);

// The same, then lets the target go (session_untraced.c).
int session_attach_untraced(struct kfd_session *s, struct kfd_failure *f);

// Fills s->gpus once.
void session_load_gpus(struct kfd_session *s);

// The queues run again: notes that none is suspended.
void session_unhold_all(struct kfd_session *s);

#endif
