// The hardware queue slots of a host, each with what it holds and whose queue that is: what `gpq
// hqd` prints.
//
// Facts: kfd-facts 5.2, 6, 7 and the join of 8: a slot's MQD address is an exact key, on each XCC
// another; where that cannot be read, ring and doorbell together are one. The queue id comes from
// the join of MQDs and sysfs (join.h) and is given only where that is certain.
#ifndef GPQ_STATE_SLOT_ROWS_H
#define GPQ_STATE_SLOT_ROWS_H

#include "common/debugfs/hqds.h"
#include "common/state/queue_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HQDLIST_HQDS "/sys/kernel/debug/kfd/hqds"

// Numbers are UINT64_MAX (pid INT64_MIN), texts NULL, flags -1 where unknown: the output's nulls.
// What a slot holds is told only while it has a queue.
struct hqd_row {
	uint64_t gpu, gpu_id, node; // index in the topology; KFD's number; topology node
	const char *bdf, *gfx;
	const char *kind; // "compute", "hiq" (the scheduler's own queue), "sdma"; of MQDs also
			  // "diq" (the debugger's, on old kernels)
	const char *slot; // "p0q2", "hiq", "e1r0" (SDMA engine and RLC)
	uint64_t xcc, mec;
	uint64_t pipe, queue; // SDMA: engine and RLC
	int64_t pid;
	const char *comm, *user;
	uint64_t qid;
	const char *packets; // "aql", "pm4"
	uint64_t vmid, ring_addr, ring_bytes, mqd_addr, doorbell;
	uint64_t rptr, wptr; // compute: dwords, the first inside the ring; SDMA: bytes
	uint64_t backlog;    // AQL packets, PM4 dwords or SDMA bytes between them
	uint64_t prio, pipe_prio, error;
	uint64_t context;  // as in struct queue_row
	const char *level; // "low", "medium", "high"
	uint64_t rptr_addr, wptr_addr, ctx_addr, ctx_bytes;
	const char *errors; // the bits of `error` by name
	const char *match;  // how the owner was found: "mqd" (address and ring), "ring" (and
			    // doorbell)

	int8_t active;         // it has a queue
	int8_t idle;           // nothing to do and no wave running (CP_HQD_HQ_STATUS0)
	bool hidden;           // for the caller to leave it out
	uint32_t mqd;          // index in hqdlist.queues.mqds.queues; UINT32_MAX: none
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

struct slot_rows {
	const struct slot_rows_how *how;
	struct queue_rows_how queues_how;
	struct queue_rows queues;
	struct process_cache *processes; // not owned
	bool captured;
	bool has_mqds;  // mqds was at hand, even if it was empty
	bool has_prios; // registers hold priorities; elsewhere hqd_row.prio is unknown
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
	bool damaged;     // the text of hqds
};

// Fills `l`, which must be zeroed. GPQ_OK, or the exit status after a message.
int slot_rows_load(struct slot_rows *l, struct process_cache *processes,
		   const struct slot_rows_how *how);

// Parses `text` as the slots, in place of those that `l` has; it must stay. 0, or -1 (ENOMEM).
int slot_rows_reload(struct slot_rows *l, const char *text, size_t len);

// Looks the owner of what a slot holds up once more, among the MQDs of `l`. 0, or -1 (ENOMEM).
int slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r);

void slot_rows_fini(struct slot_rows *l);

// The owner of an MQD by its index.
pid_t slot_rows_pid(const struct slot_rows *l, uint32_t mqd);
// Its queue in l->queues, or NULL where it is not certain which one it is.
const struct queue_row *slot_rows_queue(const struct slot_rows *l, uint32_t mqd);
// Is a queue of a secondary context?
bool slot_rows_has_contexts(const struct slot_rows *l);

// Do levels tell what priorities do not: are these unknown and levels known?
bool slot_rows_needs_level(const struct slot_rows *l);

// Generation of a GPU, by the topology or the look of the dumps.
enum gfx_gen slot_rows_gen(const struct slot_rows *l, uint32_t gpu_id);

// Says which devices are stopped, and with -v why fields are unknown. True: a file that was named
// is damaged.
bool slot_rows_explain(const struct slot_rows *l);

#endif
