// Shared by the files of the scheduler.
#ifndef GPQ_SCHED_SCHED_PRIV_H
#define GPQ_SCHED_SCHED_PRIV_H

#include "common/sched/sched.h"

void classes_fini(struct sched *s);

#endif
