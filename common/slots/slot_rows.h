// The room of hardware slots: the queue slots of a host as rows, each with the values of its
// registers and the queue in it. `gpq hqd` prints them. Open this file first. slot_rows.c reads
// slots and finds their queues; slot_summary.c counts how full they are and which queues have none;
// slot_samples.c counts over many readings; runlist.c lists what the schedulers were told to run.
//
// Facts: [debugfs.hqds-slots], [debugfs.mqd-doorbell], [debugfs.join]: a slot's MQD address is an
// exact key, on each XCC another; where that cannot be read, ring and doorbell together are one.
// The queue id comes from the join of MQDs and sysfs (join.h) and is given only where that is
// certain.
#ifndef GPQ_SLOTS_SLOT_ROWS_H
#define GPQ_SLOTS_SLOT_ROWS_H

#include "common/debugfs/mqd_value.h"
#include "common/debugfs/regs.h"
#include "common/rows/queue_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HQDLIST_HQDS "/sys/kernel/debug/kfd/hqds"

// Numbers are UINT64_MAX, texts NULL or empty, flags -1 where unknown: the output's nulls.
struct hqd_row {
	struct queue_row q; // the GPU, "type" of the slot, and, while it has one, its queue; of
			    // compute slots the read pointer is inside the ring
	char slot[24];      // "p0q2", "hiq", "e1r0" (SDMA engine and RLC)
	uint64_t xcc, mec;
	uint64_t pipe, queue;        // SDMA: engine and RLC
	char errors[REG_ERROR_TEXT]; // the bits of MQD_V_ERROR by name
	// How the owner was found: "mqd" (address and ring), "ring" (and doorbell).
	const char *match;

	int8_t active;         // it has a queue
	int8_t idle;           // nothing to do and no wave running (CP_HQD_HQ_STATUS0)
	const struct hqd *hqd; // NULL: the row is an MQD in memory
	enum gfx_gen gen;
};

struct slot_rows_how {
	// Captured text alone, "-" for standard input; NULL: not at hand. With none of them: the
	// host.
	const char *hqds_file, *mqds_file, *rls_file;
	bool likely; // where it is not certain which queue an MQD is, take the likeliest
	bool memory; // rows of the MQDs in memory, one for each XCC, instead of the slots
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
	bool has_mqds;  // mqds was at hand, even if it was empty
	bool has_prios; // registers hold priorities; elsewhere MQD_V_QUEUE_PRIO is unknown
	struct buf text;
	struct hqds hqds;
	enum gfx_gen *gens; // of each of hqds.nodes
	struct hqd_key *keys;
	size_t nkeys;
	uint32_t *row_of_mqd; // index in queues.rows of each MQD; UINT32_MAX
	struct hqd_row *rows; // in the order of the text
	size_t n;
	size_t ownerless; // slots with a queue that mqds does not have
	size_t torn;      // among them: at the address of its MQD there is one with another ring
};

// Fills `l`, which must be zeroed. GPQ_OK, or the exit status after a message.
int slot_rows_load(struct slot_rows *l, struct process_cache *processes,
		   const struct slot_rows_how *how);

// Replaces the slots of `l` by those in `text`, which must outlive them.
void slot_rows_reload(struct slot_rows *l, const char *text, size_t len);

// Looks up the owner of the queue in a slot among the MQDs of `l`, which may be newer than the row.
void slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r);

void slot_rows_fini(struct slot_rows *l);

// The MQD at this GPU address, on any XCC; UINT32_MAX: none.
uint32_t slot_rows_mqd_at(const struct slot_rows *l, uint32_t gpu_id, uint64_t base);

// The owner of an MQD by its index.
pid_t slot_rows_pid(const struct slot_rows *l, uint32_t mqd);
// Its queue in l->queues, or NULL where it is not certain which one it is.
const struct queue_row *slot_rows_queue(const struct slot_rows *l, uint32_t mqd);

// Fills a cleared row with all that is known of the queue of an MQD.
void slot_rows_set_mqd(const struct slot_rows *l, struct queue_row *r, uint32_t mqd);

// Generation of a GPU, by the topology or the look of the dumps.
enum gfx_gen slot_rows_gen(const struct slot_rows *l, uint32_t gpu_id);

// Is it one of the scheduler's slots that MES leaves alone? What they hold means nothing.
bool slot_row_is_unused(const struct hqd_row *r);

// Says which devices are stopped, and with -v why fields are unknown. True: a file that was named
// is damaged.
bool slot_rows_explain(const struct slot_rows *l);

// --- summary (slot_summary.c) ---
//
// Slot occupancy of each XCC; the processes that share a GPU with fewer slots than queues; and the
// queues that have an MQD but no slot, with the likely reason.
//
// Facts: [debugfs.rls-oversubscribed]. The driver calls a runlist over-subscribed, and
// chains it to itself, when there are more processes than VMIDs, more compute queues than slots, or
// several queues with GWS. MES has no
// runlist; there the numbers of queues and slots decide.

enum { HQDSUM_XCCS = 64 };

// Numbers are UINT64_MAX, flags -1, where unknown.
struct hqd_occupancy {      // of one type of slots on one XCC
	struct queue_row q; // GPU and type: "compute", "sdma", "sdma-xgmi"
	uint64_t xcc;       // compute alone
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

// `l` must outlive the result.
void slot_summary_make(struct slot_summary *s, const struct slot_rows *l);
void slot_summary_fini(struct slot_summary *s);

// --- samples (slot_samples.c) ---
//
// Slots over a time: the registers are read again and again, and each queue that was seen in a slot
// gets the share of samples in which it was there and in which its pointers had moved.
//
// Facts: [debugfs.turns]: where queues take turns, one reading shows some of them, and many
// readings show how often each runs. What happens between two samples is not seen.

// A queue in a slot. Positions and `consumed` are UINT64_MAX when unknown.
struct hqd_seen {
	struct hqd_row row;   // as last seen
	size_t slot;          // place of the slot in slot_rows.rows
	uint64_t active;      // samples in which it was there
	uint64_t moved;       // in which a pointer was another than when last seen
	uint64_t busy;        // in which it was there and not idle
	uint64_t first, last; // what the GPU had taken by then: dwords, SDMA bytes
	// From slot_samples_finish(): taken in between, in AQL packets, PM4 dwords, SDMA bytes; and
	// shares of all samples, of `moved` those but the first.
	uint64_t consumed;
	double share, moved_share, busy_share;
};

struct slot_samples {
	struct hqd_seen *seen;
	size_t n, cap;
	uint64_t samples;
};

// Adds what `l` shows now as one more sample.
void slot_samples_add(struct slot_samples *s, const struct slot_rows *l);

// Works out shares and sorts: those that moved most come first. Before it, `seen` may get owners.
void slot_samples_finish(struct slot_samples *s);

void slot_samples_fini(struct slot_samples *s);

// --- runlists (runlist.c) ---
//
// The packets of each GPU's runlist, with the process or queue of each; and the queues that are
// missing from it.
//
// Facts: [debugfs.rls-lines]. The runlist is one per GPU, for all its XCCs. It is the last one
// sent: it stays after the queues have finished their work. MES (gfx11 and later) has none.

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
	size_t damaged; // lists that end inside a packet, or hold other data
};

// `l` must outlive the result.
void runlist_make(struct runlist *r, const struct slot_rows *l);
void runlist_fini(struct runlist *r);

#endif
