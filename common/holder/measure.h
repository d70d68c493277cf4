// Reads queue state from the target's memory: indices and saved waves of one queue; or indices of
// many, fast enough for use right before and after a measured ioctl.
//
// Facts: [kfd.queue-entry], [kfd.save-header], [kfd.save-header-written], [kfd.indices]. Addresses
// come from the queue snapshot, and hold for suspended queues, too. Needs the right to trace the
// target. A child reads the memory (reader/memory.h), except during a measurement, where it would
// take longer than what is measured.
#pragma once

#include "common/holder/holder.h"
#include "common/holder/session.h"
#include "common/reader/memory.h"

struct kfd_quiesce {
	bool has_indices;
	bool has_saved;
	uint64_t read_index; // AQL: packets taken by the GPU; SDMA: bytes; PM4: dwords
	uint64_t write_index;
	// Saved state of a suspended queue; that of a running queue is out of date:
	uint64_t saved_bytes;       // control stack and wave state, all XCCs
	uint64_t saved_waves_bytes; // wave state alone; > 0: waves ran at the suspend
};

// Reads what can be read of a queue. Only compute queues have saved waves.
void kfd_quiesce_read(pid_t pid, const struct kfd_queue_entry *q, unsigned xccs,
		      struct kfd_quiesce *p);

// ---- the indices of many queues

#define KFD_WATCH_MAX 256 // most queues watched at once
#define KFD_XCC_MAX   16

struct kfd_watch {
	struct memory memory;
	unsigned n;
	struct kfd_queue_entry *queue; // owned array of the watched queues
	unsigned *xccs;                // owned; XCCs of each queue's GPU
};

// Read and write index of each queue, as the target's memory has them.
struct kfd_indices {
	uint64_t read[KFD_WATCH_MAX];
	uint64_t write[KFD_WATCH_MAX];
};

// Opens the memory of `pid`. Returns 0, or -1 with errno: no right to trace it, or no such process.
int kfd_watch_init(struct kfd_watch *w, pid_t pid);
void kfd_watch_fini(struct kfd_watch *w);

// Watches no queue any more; the memory stays open.
void kfd_watch_clear(struct kfd_watch *w);

// Is the address space gone, because the process ended or called exec (mem_rw() in fs/proc/base.c)?
bool kfd_watch_is_over(const struct kfd_watch *w);

// kfd_watch_choose() watches the queues of an answer with "addresses", at most KFD_WATCH_MAX; *w
// must not watch any. kfd_watch_keep() drops those whose indices were not read into `v`, the ranges
// of kfd_watch_ranges() with `write`.
void kfd_watch_choose(struct kfd_watch *w, const struct kfd_answer *a);
void kfd_watch_keep(struct kfd_watch *w, const struct memory_range *v);

// Writes to `v` the memory ranges of a look, at most 2 * KFD_WATCH_MAX. Returns their number.
unsigned kfd_watch_ranges(const struct kfd_watch *w, struct kfd_indices *i, bool write,
			  struct memory_range *v);

// Reads all read indices; with `write` also the write indices. Returns false if memory cannot be
// read.
bool kfd_watch_look(const struct kfd_watch *w, struct kfd_indices *i, bool write);

// Did any read index move between two readings?
bool kfd_watch_moved(const struct kfd_watch *w, const struct kfd_indices *a,
		     const struct kfd_indices *b);

// Returns the AQL packets that all watched queues consumed between two readings. Other queues,
// which count in other units, are left out.
uint64_t kfd_watch_packets(const struct kfd_watch *w, const struct kfd_indices *a,
			   const struct kfd_indices *b);

// Returns the AQL packets that are not consumed yet. `i` must have write indices. Queues of other
// types count as 1 if they have work.
uint64_t kfd_watch_backlog(const struct kfd_watch *w, const struct kfd_indices *i);

// Adds to bytes[], by XCC, the wave state saved of queue number `i`, which must be suspended.
// Returns its number of XCCs; 0: no context headers, or they cannot be read.
unsigned kfd_watch_saved(const struct kfd_watch *w, unsigned i, uint64_t bytes[KFD_XCC_MAX]);
