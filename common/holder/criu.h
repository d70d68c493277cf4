// Pausing all queues of a process with the driver's checkpoint interface: for kernels that cannot
// do better, and only when asked for by name.
//
// Facts: kfd-facts.md 3.1. Nothing undoes such a pause but UNPAUSE, and PROCESS_INFO twice leaves
// the process paused until it dies. So a record is written before the deed, as a file in the socket
// directory: "intent" before the call, "paused" behind it.
#ifndef GPQ_HOLDER_CRIU_H
#define GPQ_HOLDER_CRIU_H

#include "common/holder/failure.h"
#include "common/holder/target.h"

#include <stdbool.h>

// Name of a record: this, then as a socket (rundir.h). kfd_holdings() lists the records.
#define KFD_CRIU_PREFIX "criu-"

// Pauses. *already: a record says that it was paused before, and nothing was done. 0, or -1 and *f.
int kfd_criu_pause(const struct kfd_target *t, bool *already, struct kfd_failure *f);

// Ends the pause that a record tells of. 0; -1 and *f: KFD_FAULT_NOT_HELD without a record.
int kfd_criu_resume(const struct kfd_target *t, struct kfd_failure *f);

#endif
