// What the scheduler of each GPU was told to run, packet by packet, with the processes and queues
// that the packets are about; and the queues that are missing from it.
//
// Facts: kfd-facts 5.3, 8. The runlist is one per GPU, for all its XCCs. It is the last one sent:
// it stays after the queues have finished their work. MES (gfx11 and later) has none.
#ifndef GPQ_STATE_RUNLIST_H
#define GPQ_STATE_RUNLIST_H

#include "common/state/slot_rows.h"

// Numbers are UINT64_MAX, texts NULL, flags -1 where unknown or of another packet.
struct runlist_row {
	struct queue_row q; // the queue, or the process, that the packet is about
	const char *packet; // "MAP_PROCESS", "MAP_QUEUES", "RUN_LIST" (back to the start: more is
			    // mapped than can run at a time), "none": a queue without a packet
	uint64_t announced; // queues that the process has on the GPU, mapped or not
	uint64_t mapped;    // of them mapped here
	uint64_t quantum, gws, page_table;
	int8_t sdma; // the process may use SDMA
};

struct runlist {
	struct runlist_row *rows;
	size_t n, cap;
	size_t damaged; // lists that end inside a packet, or hold what is none
};

// 0, or -1 (ENOMEM). `l` must outlive the result.
int runlist_make(struct runlist *r, const struct slot_rows *l);
void runlist_fini(struct runlist *r);

#endif
