// Whether a queue is in a hardware slot, as far as memory shows it, without reading registers.
//
// Facts: kfd-facts 5.3, 6 and 8. Two witnesses: the runlist, which lists exactly the queues that
// the scheduler was told to run (gfx9, gfx10), and dword 130 of the MQD, which the firmware of
// gfx942 sets and clears. That other firmware does so was not observed: a 0 counts only on a GPU
// where the dword is 1 somewhere, so that it is written at all.
//
// An over-subscribed GPU (its runlist is chained) takes queues off and on by turns, many times a
// second: a 0 in dword 130 then says nothing but that it was not this queue's turn. Of MES, which
// has no runlists, only the numbers of processes and queues tell that there may be turns.
#ifndef GPQ_STATE_RESIDENCY_H
#define GPQ_STATE_RESIDENCY_H

#include "common/debugfs/gfx.h"
#include "common/debugfs/mqds.h"
#include "common/debugfs/rls.h"
#include "common/kfd/topology.h"

#include <stdint.h>

enum residency {
	RESIDENCY_OFF = 0,
	RESIDENCY_ON = 1,
	RESIDENCY_UNKNOWN = 2, // no witness
	RESIDENCY_SILENT,      // only a dword 130 of 0 that the firmware may never have written
	RESIDENCY_TURNS,       // mapped, but the GPU is over-subscribed, so queues take turns
	RESIDENCY_MAY_TURN, // dword 130 is 0, and the GPU may be over-subscribed: there is no list
	RESIDENCY_CONTRADICT, // the runlist and dword 130 say opposite things: it changed between
			      // two reads
};

// The verdict of each of m->queues; anything from RESIDENCY_UNKNOWN on means unknown. `gens` has
// the generation of each of them; `rls` and `gpus` may be empty.
void residency_judge(uint8_t *verdicts, const struct mqds *m, const enum gfx_gen *gens,
		     const struct rls *rls, const struct kfd_topology *gpus);

// Why it is unknown, for people; NULL for RESIDENCY_OFF, RESIDENCY_ON.
const char *residency_text(enum residency o);

#endif
