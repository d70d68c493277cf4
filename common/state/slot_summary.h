// How full the hardware slots are: occupancy of each XCC, who shares a GPU that has fewer slots
// than queues, and which queues have an MQD but no slot, with what may be the reason.
//
// Facts: kfd-facts 5.3 (over-subscription), 8. The driver calls a runlist over-subscribed, and
// chains it to itself, when there are more processes than VMIDs, more compute queues than slots, or
// several queues with GWS (kernel: pm_calc_rlib_size() in kfd_packet_manager.c). MES has no
// runlist; there only the numbers of queues and slots tell.
#ifndef GPQ_STATE_SLOT_SUMMARY_H
#define GPQ_STATE_SLOT_SUMMARY_H

#include "common/state/slot_rows.h"

enum { HQDSUM_XCCS = 64 };

// Numbers are UINT64_MAX, flags -1, where unknown.
struct hqd_occupancy { // of one kind of slots on one XCC
	uint64_t gpu, gpu_id;
	const char *kind; // "compute", "sdma"
	uint64_t xcc;     // compute alone
	uint64_t slots, used, free;
	double rate;     // used of slots, 0 to 1
	uint64_t queues; // mapped ones: those that want a slot
	int8_t over;     // there are more of them than can run at a time
	const char *why; // "compute queues", "processes", "gws"; NULL
};

struct hqd_sharer {         // a process with compute queues on an over-subscribed GPU
	struct queue_row q; // GPU and process
	uint64_t queues;    // mapped compute queues
	uint64_t slots;     // of them in a slot now
};

struct hqd_waiting { // a queue that is not in a slot, or not on all XCCs
	struct queue_row q;
	uint64_t xccs, missing; // XCCs it belongs on; those of them it is not on
	const char *why;        // "suspended", "off", "turns", "moving", "unknown", "no-slots"
	const char *reason;     // the same in a sentence
};

struct slot_summary {
	struct hqd_occupancy *xccs;
	struct hqd_sharer *sharers; // by GPU, most queues first
	struct hqd_waiting *waiting;
	size_t nxccs, nsharers, nwaiting;
	size_t cap_xccs, cap_sharers, cap_waiting;
	uint64_t *on; // of each MQD: bit per XCC that has it in a slot
};

// 0, or -1 (ENOMEM). `l` must outlive the result.
int slot_summary_make(struct slot_summary *s, const struct slot_rows *l);
void slot_summary_fini(struct slot_summary *s);

#endif
