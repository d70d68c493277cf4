// Shared by session.c and session_queues.c.
#ifndef GPQ_KFD_SESSION_PRIV_H
#define GPQ_KFD_SESSION_PRIV_H

#include "common/kfd/session.h"

// One DBG_TRAP call for the session's target. Result (>= 0) or -errno.
int session_trap(struct kfd_session *s, enum kfd_dbg_op op, struct kfd_dbg *a);

// Keeps the books of what is suspended.
void session_hold(struct kfd_session *s, uint32_t id, uint64_t now_ns);
void session_unhold(struct kfd_session *s, uint32_t id);
void session_unhold_all(struct kfd_session *s);

#endif
