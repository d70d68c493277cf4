// The queues of a host at one moment, live or recorded, each with its hardware slots and positions;
// and the comparison of two moments.
//
// Facts: [debugfs.mqd-stale], [debugfs.mqd-image], [debugfs.join].
#ifndef GPQ_SNAPSHOT_HOST_STATE_H
#define GPQ_SNAPSHOT_HOST_STATE_H

#include "common/reader/process_cache.h"
#include "common/pick/host_choice.h"
#include "common/rows/queue_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct state_queue {
	struct queue_row row; // its texts are of host_state.list; row.hidden: not chosen
	uint64_t start_ticks; // of its process; KFD_UNKNOWN
	char slots[96];       // "p0q2", "0:p0q2,1:p1q2" where XCCs differ, "none"; "" unknown
	int8_t on_hw;         // row.on_hw, and 1 where it is seen in a slot
	// Source of the positions: "live" (registers of its slot), "saved" (its MQD, exact while it
	// is off hardware), "process" (indices in memory, read shortly after the dumps), "stale"
	// (its MQD as of the last unmap; progress since is not known). NULL: unknown.
	const char *pointers;
	uint64_t consumed, submitted; // since its creation, in `unit`; KFD_UNKNOWN
	const char *unit;             // "packets" (AQL), "dwords" (PM4), "bytes" (SDMA); NULL
};

struct host_state {
	const char *name; // as it was loaded by; not owned
	struct process_cache processes;
	struct queue_rows list;
	struct queue_rows_how how;
	struct state_queue *queues; // by pid, context, qid
	size_t n;
	char host[65], boot_id[40]; // "" unknown
	uint64_t uptime_cs;         // 1/100 s since boot; KFD_UNKNOWN
	bool has_slots;             // hqds was read
};

// Reads the recorded host `dir`, or the live one for "/". Queues that the options do not choose are
// hidden (host_choice.h); `by` NULL: none. GPQ_OK, or the exit status after a message. The sysroot
// is the live host afterwards.
int host_state_load(struct host_state *m, const char *dir, const struct host_choice *by);
void host_state_fini(struct host_state *m);

// Takes the hidden queues out of the list.
void host_state_drop_hidden(struct host_state *m);

static inline bool host_state_is_stale(const struct state_queue *q)
{
	return q->pointers && strcmp(q->pointers, "stale") == 0;
}

// The active compute slot whose MQD is at this address, or NULL. (SDMA slots have no MQD address,
// and keep values of queues that are gone.) A slot without doorbell or pointers in the text is left
// out.
const struct hqd *host_state_find_slot(const struct hqds *h, uint64_t gpu_id, uint64_t mqd);

// --- what happened between two moments ---

// A queue of both moments is the same if process, start time of the process, KFD context and queue
// id agree. The driver gives a free id out again, so GPU and type must agree too, and the MQD's
// address where both are certain.
struct qdiff {
	// Words: came, went; off (suspended or evicted, which look the same in dumps), on; moved
	// (to other slots), ring (address or size), priority (of queue or pipe), evicted (an
	// eviction of its process ended), progress (packets were consumed or submitted), suspended
	// (by gpq), resumed. NULL: no change.
	const char *changes;
	const struct state_queue *before, *after; // NULL: it was not there
	uint64_t consumed, submitted, evicted_ns; // between the two; KFD_UNKNOWN
	const char *unit;                         // of consumed and submitted; NULL
};

// Calls `each` for every queue of both moments, by process, context and id.
void qdiff_run(const struct host_state *before, const struct host_state *after,
	       void (*each)(void *arg, const struct qdiff *d), void *arg);

#endif
