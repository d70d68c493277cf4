// Shared by session.c and session_queues.c.
#ifndef GPQ_KFD_SESSION_PRIV_H
#define GPQ_KFD_SESSION_PRIV_H

#include "common/kfd/session.h"

// One DBG_TRAP call for the session's target. Result (>= 0) or -errno.
int session_trap(struct kfd_session *s, enum kfd_dbg_op op, struct kfd_dbg *a);

// Fills s->gpus once.
void session_load_gpus(struct kfd_session *s);

// Before SUSPEND_QUEUES of these ids: refuses what a driver of KFD_FACT_SUSPEND_CRASH would crash
// on, unless it is proved safe. 0, or -1 and *f.
int session_guard(struct kfd_session *s, const uint32_t *ids, unsigned n, struct kfd_failure *f);

// Keeps the books of what is suspended.
void session_hold(struct kfd_session *s, uint32_t id, uint64_t now_ns);
void session_unhold(struct kfd_session *s, uint32_t id);
void session_unhold_all(struct kfd_session *s);

#endif
