// The hardware queue slots of a host, each with what it holds and whose queue that is: what `gpq
// hqd` prints.
//
// Facts: kfd-facts 5.2, 6, 7 and the join of 8: a slot's MQD address is an exact key, on each XCC
// another; where that cannot be read, ring and doorbell together are one. The queue id comes from
// the join of MQDs and sysfs (join.h) and is given only where that is certain.
#ifndef GPQ_STATE_SLOT_ROWS_H
#define GPQ_STATE_SLOT_ROWS_H

#include "common/debugfs/hqd_value.h"
#include "common/state/queue_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HQDLIST_HQDS "/sys/kernel/debug/kfd/hqds"

// Numbers are UINT64_MAX, texts NULL, flags -1 where unknown: the output's nulls.
struct hqd_row {
	struct queue_row q; // the GPU, "type" of the slot, and, while it has one, its queue; of
			    // compute slots the read pointer is inside the ring
	const char *slot;   // "p0q2", "hiq", "e1r0" (SDMA engine and RLC)
	uint64_t xcc, mec;
	uint64_t pipe, queue; // SDMA: engine and RLC
	const char *errors;   // the bits of MQD_V_ERROR by name
	const char *match;    // how the owner was found: "mqd" (address and ring), "ring" (and
			   // doorbell)

	int8_t active;         // it has a queue
	int8_t idle;           // nothing to do and no wave running (CP_HQD_HQ_STATUS0)
	const struct hqd *hqd; // NULL: the row is an MQD in memory
	enum gfx_gen gen;
	char slot_text[24];
	char *errors_text; // owned
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

// Parses `text` as the slots, in place of those that `l` has; it must stay. 0, or -1 (ENOMEM).
int slot_rows_reload(struct slot_rows *l, const char *text, size_t len);

// Looks the owner of what a slot holds up once more, among the MQDs of `l`. 0, or -1 (ENOMEM).
int slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r);

void slot_rows_fini(struct slot_rows *l);

// The MQD at this GPU address, on any XCC; UINT32_MAX: none.
uint32_t slot_rows_mqd_at(const struct slot_rows *l, uint32_t gpu_id, uint64_t base);

// The owner of an MQD by its index.
pid_t slot_rows_pid(const struct slot_rows *l, uint32_t mqd);
// Its queue in l->queues, or NULL where it is not certain which one it is.
const struct queue_row *slot_rows_queue(const struct slot_rows *l, uint32_t mqd);

// Fills a cleared row with all that is known of the queue of an MQD. 0, or -1 (ENOMEM).
int slot_rows_set_mqd(const struct slot_rows *l, struct queue_row *r, uint32_t mqd);

// Is a queue of a secondary context?
bool slot_rows_has_contexts(const struct slot_rows *l);

// Do levels tell what priorities do not: are these unknown and levels known?
bool slot_rows_needs_level(const struct slot_rows *l);

// Generation of a GPU, by the topology or the look of the dumps.
enum gfx_gen slot_rows_gen(const struct slot_rows *l, uint32_t gpu_id);

// Says which devices are stopped, and with -v why fields are unknown. True: a file that was named
// is damaged.
bool slot_rows_explain(const struct slot_rows *l);

// Makes the rows (slot_rows_fill.c), and frees them. 0, or -1 (ENOMEM).
int slot_rows_fill(struct slot_rows *l);
void slot_rows_free_rows(struct slot_rows *l);

#endif
