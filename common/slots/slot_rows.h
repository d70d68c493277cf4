// Hardware queue slots (HQDs) as rows, each with the values of its registers and the queue in it,
// as `gpq hqd` prints them. slot_rows.c reads slots and finds their queues; slot_summary.c counts
// how full they are and which queues have none; slot_inversion.c finds a queue of lower priority in
// a slot while another waits; slot_samples.c counts over many readings; runlist.c lists what the
// schedulers were told to run.
//
// Facts: [debugfs.hqds-slots], [debugfs.mqd-doorbell], [debugfs.join]. A slot's queue is found by
// the address of its MQD, which differs between XCCs, or by ring and doorbell together. Queue ids
// come from the join of MQDs and sysfs (join.h) and are given only where that is certain.
#pragma once

#include "common/debugfs/mqd_value.h"
#include "common/debugfs/regs.h"
#include "common/rows/queue_rows.h"

// A slot, or an MQD in memory. Unknown numbers are UINT64_MAX, texts NULL or "", flags -1.
struct hqd_row {
	struct queue_row q; // GPU, slot type, queue; compute read pointers wrap at the ring's end
	char slot[24];      // "p0q2", "hiq", "e1r0" (SDMA engine and RLC)
	uint64_t xcc, mec;
	uint64_t pipe, queue;        // pipe and queue of the slot; SDMA: engine and RLC
	char errors[REG_ERROR_TEXT]; // the bits of MQD_V_ERROR by name
	const char
		*match; // how the owner was found: "mqd" (address and ring), "ring" (and doorbell)
	int8_t active;  // the slot has a queue; of an MQD: the queue is in a slot
	int8_t idle;    // the queue has no packet and no wave (CP_HQD_HQ_STATUS0)
	struct mqd_source from; // if its member s is NULL, the row is an MQD in memory
};

struct slot_rows_how {
	const char *hqds_file, *mqds_file, *rls_file; // captures; all NULL: the host is read
	bool likely; // takes the likeliest queue of an MQD where none is certain
	bool memory; // make rows of MQDs in memory, one for each XCC, instead of slots
};

// An MQD's address on one XCC.
struct hqd_key {
	uint64_t base;
	uint32_t gpu_id;
	uint32_t mqd; // index in mqds.queues
};

struct slot_rows {
	const struct slot_rows_how *how;
	struct queue_rows_how queues_how;
	struct queue_rows queues;
	bool captured;
	bool has_mqds;  // debugfs mqds or a copy was read, even if it was empty
	bool has_prios; // registers hold priorities; if not, MQD_V_QUEUE_PRIO is unknown
	struct buf text;
	struct hqds hqds;
	enum gfx_gen *gens; // generation of each of hqds.nodes
	struct hqd_key *keys;
	size_t nkeys;
	uint32_t *row_of_mqd; // for each MQD the index in queues.rows; UINT32_MAX: none
	struct hqd_row *rows; // in the order of the dump
	size_t n;
	size_t ownerless; // slots with a queue that mqds does not have
	size_t torn;      // of `ownerless`: mqds has another queue at the slot's MQD address
};

// Fills `l`, which must be zeroed. Returns GPQ_OK, or the exit status after a message.
int slot_rows_load(struct slot_rows *l, struct process_cache *processes,
		   const struct slot_rows_how *how);
void slot_rows_fini(struct slot_rows *l);

// Replaces the slots by those in `text`, another dump of hqds.
void slot_rows_reload(struct slot_rows *l, const char *text, size_t len);

// Looks up the owner of a row's queue among the MQDs of `l`, which may be newer than the row.
void slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r);

// Index in mqds.queues of the MQD at this GPU address, on any XCC; UINT32_MAX: none.
uint32_t slot_rows_mqd_at(const struct slot_rows *l, uint32_t gpu_id, uint64_t base);

// Process of the MQD with this index, and its queue in l->queues (NULL: not certain which).
pid_t slot_rows_pid(const struct slot_rows *l, uint32_t mqd);
const struct queue_row *slot_rows_queue(const struct slot_rows *l, uint32_t mqd);

// Fills a cleared row with all that is known of the queue of an MQD.
void slot_rows_set_mqd(const struct slot_rows *l, struct queue_row *r, uint32_t mqd);

// Generation of a GPU, by the topology or else guessed from the dumps.
enum gfx_gen slot_rows_gen(const struct slot_rows *l, uint32_t gpu_id);

// True for an HIQ slot where MES maps queues: what it holds means nothing.
bool slot_row_is_unused(const struct hqd_row *r);

// Warns of stopped devices, and with -v tells why fields are unknown. Returns true if a file that
// the user named is damaged.
bool slot_rows_explain(const struct slot_rows *l);

// --- priority inversion (slot_inversion.c) ---
//
// Facts: [kfd.priority], [debugfs.turns]. Slots and MQDs are read one after the other; that the
// firmware should put the queue of higher priority on first is assumed.

struct slot_inversion {
	char text[160]; // "queue 5 of pid 4711 (priority 11) waits while queue 3 of pid 99
			// (priority 3) is in slot p1q2 of XCC 0"; "": there is no inversion
	int64_t pid;    // process of the queue in the slot
};

// Finds the queue of the lowest priority in the compute slots of the GPU of `q`, if it is lower
// than that of `q`: a compute queue that has work and is in no slot. Slots whose owner is unknown
// do not count.
void slot_rows_find_inversion(struct slot_inversion *to, const struct slot_rows *l,
			      const struct queue_row *q);

// --- summary of slots (slot_summary.c) ---
//
// Facts: [debugfs.rls-oversubscribed]. A GPU is over-subscribed if its runlist is chained to
// itself: it has more processes than VMIDs, more compute queues than slots, or several queues with
// GWS. MES has no runlist; there the numbers of queues and slots decide.

enum { HQDSUM_XCCS = 64 };

// Unknown integers are UINT64_MAX, rates NaN, flags -1.
struct hqd_occupancy {      // how full the slots of one type on one XCC are
	struct queue_row q; // GPU and type: "compute", "sdma", "sdma-xgmi"
	uint64_t xcc;       // unknown for SDMA
	uint64_t slots, used, free;
	double rate;     // used / slots
	uint64_t queues; // mapped queues, each of which wants a slot
	int8_t over;     // over-subscribed: more is mapped than can run at a time
	const char *why; // what is over-subscribed: "compute queues", "processes", "gws"; or NULL
};

struct hqd_sharer {         // a process with compute queues on an over-subscribed GPU
	struct queue_row q; // GPU and process
	uint64_t queues;    // compute queues that are, or may be, mapped
	uint64_t slots;     // compute queues that are in a slot now
};

struct hqd_waiting { // a queue that is not in a slot, or not on all XCCs
	struct queue_row q;
	uint64_t xccs, missing; // XCCs that the queue belongs on, and those of them without it
	const char *why;        // "suspended", "off", "turns", "moving", "unknown", "no-slots"
	const char *reason;     // `why` as a sentence
	struct slot_inversion inversion;
};

struct slot_summary {
	struct hqd_occupancy *xccs;
	struct hqd_sharer *sharers; // by GPU, and those with most queues first
	struct hqd_waiting *waiting;
	size_t nxccs, nsharers, nwaiting;
	size_t cap_xccs, cap_sharers, cap_waiting;
	uint64_t *on; // for each MQD: bit per XCC that has the queue in a slot
};

// `l` must outlive the result.
void slot_summary_make(struct slot_summary *s, const struct slot_rows *l);
void slot_summary_fini(struct slot_summary *s);

// --- samples of slots (slot_samples.c) ---
//
// Facts: [debugfs.turns]. Where queues take turns, one reading shows some of them; many readings
// show how often each is in a slot and moves. What happens between two samples is not seen.

// A queue in a slot, over all samples. Unknown integers are UINT64_MAX, shares NaN.
struct hqd_seen {
	struct hqd_row row;   // as in the last sample that had the queue in the slot
	size_t slot;          // index of the slot in slot_rows.rows
	uint64_t active;      // number of samples in which the queue was in the slot
	uint64_t moved;       // number of samples that saw a ring pointer of the queue moved
	uint64_t busy;        // number of samples in which the queue was in the slot and not idle
	uint64_t first, last; // read positions in the first and last sample: dwords, SDMA: bytes
	// Set by slot_samples_finish().
	uint64_t consumed; // last - first, in AQL packets, PM4 dwords, SDMA bytes
	double share, moved_share, busy_share; // 0 to 1 of the samples; moved: of all but the first
};

struct slot_samples {
	struct hqd_seen *seen;
	size_t n, cap;
	uint64_t samples;
};

// Adds the slots that `l` has now as one more sample.
void slot_samples_add(struct slot_samples *s, const struct slot_rows *l);

// Computes shares and `consumed`, and sorts: queues that moved most often come first.
void slot_samples_finish(struct slot_samples *s);

void slot_samples_fini(struct slot_samples *s);

// --- runlists (runlist.c) ---
//
// Facts: [debugfs.rls-lines]. A GPU has one runlist for all its XCCs, the last one that was sent:
// it stays after the queues have finished their work. MES (gfx11 and later) has none.

// A packet of a runlist. What is unknown, or not in this kind of packet, is UINT64_MAX, NULL or -1.
struct runlist_row {
	struct queue_row q; // the queue, or the process, that the packet is about
	// "MAP_PROCESS", "MAP_QUEUES", "RUN_LIST" (the GPU is over-subscribed), "none": no packet
	const char *packet;
	uint64_t announced; // queues that the process has on the GPU, mapped or not
	uint64_t mapped;    // queues of the process that this runlist maps
	uint64_t quantum, gws, page_table;
	int8_t sdma; // the process may use SDMA
};

struct runlist {
	struct runlist_row *rows;
	size_t n, cap;
	size_t damaged; // number of runlists that end inside a packet, or hold other data
};

// `l` must outlive the result.
void runlist_make(struct runlist *r, const struct slot_rows *l);
void runlist_fini(struct runlist *r);
