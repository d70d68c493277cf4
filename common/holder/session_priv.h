// Shared by session*.c.
#pragma once

#include "common/holder/session.h"

// Makes one call of DBG_TRAP. Returns its result (>= 0) or -errno.
int session_call(int kfd, pid_t target, enum kfd_dbg_op op, struct kfd_dbg *a);

// Takes a snapshot of 0 queues, which shows without any effect whether the driver accepts calls for
// `target`. Returns as session_call().
int session_try(int kfd, pid_t target);

// Calls ENABLE as the tracer of `target`, which must be a KFD process. `probed`: session_try() has
// shown that since tracee_seize(). Returns as session_call(); -ESRCH if the target ended or
// replaced itself, -ETIME if its only thread could not be stopped (session_enable.c).
int session_enable(int kfd, pid_t target, struct kfd_dbg *a, bool probed);

// session_call() for the session's target. Takes an untraced session back if it was taken.
int session_trap(struct kfd_session *s, enum kfd_dbg_op op, struct kfd_dbg *a);

// Sets *f to what the -errno `r` of a call at this step means for the session. Returns -1.
int session_fail(const struct kfd_session *s, enum kfd_step step, int r, struct kfd_failure *f);

// Seizes the target and enables the session, whose kfd is open. Passes kfd_step() 2 to 5. Returns
// 0, or -1 and sets *f.
int session_attach(struct kfd_session *s, struct kfd_failure *f);

// session_attach(), then lets the target go (session_untraced.c).
int session_attach_untraced(struct kfd_session *s, struct kfd_failure *f);

void session_unhold_all(struct kfd_session *s);
