// Waves that stand at the same place, counted over looks; and whether they get on.
//
// A look takes all waves of some queues at one moment. Between two looks the queues run. A wave is
// known again by its dispatch, workgroup and place in it, if those are known (wave.placed): where
// its record lies says nothing [waves.again].
#pragma once

#include "common/waves/area.h"

// A wave of a look.
struct wave_seen {
	struct wave w;
	size_t queue;      // number of its queue, as the caller counts
	uint64_t dispatch; // dispatch id; UINT64_MAX: unknown. Its packet tells dispatches apart
	uint64_t read;     // read index of its queue
	enum wave_at at;
	unsigned xcc;
	size_t record; // number of its registers from 1 on, as the caller counts; 0: not kept
};

// What the waves of a dispatch do over the looks.
enum wave_progress {
	WAVES_SEEN_ONCE, // not known
	WAVES_MOVE,      // some began or ended
	WAVES_LOOP,      // the same waves, at other instructions
	WAVES_STAND,     // the same waves, at the same instructions
	WAVES_GO_ON,     // as WAVES_LOOP or WAVES_MOVE: which waves these are is not known
};

// Waves of one dispatch (of one queue, where dispatches are not known) at one instruction.
struct wave_group {
	struct wave_seen
		one; // one of them, of the last look that had any, if possible with `record`
	enum wave_progress progress;
	uint64_t pc_low, pc_high;   // where all waves of its dispatch were, in all looks
	uint64_t waves, workgroups; // in the last look; workgroups UINT64_MAX: unknown
	uint64_t looks, seen;       // looks with such waves, and waves of all these looks
	uint64_t lanes;             // lanes that were active in any of them
	// At a barrier: how many waves of their workgroups are elsewhere, and where one of them is.
	uint64_t missing, missing_pc;
};

struct wave_groups {
	struct wave_group *v; // sorted by queue, dispatch, PC
	size_t n, cap;
	struct wave_cluster *clusters; // one for each dispatch
	size_t nclusters, clusters_cap;
	// Set by the caller:
	const unsigned *looks; // by queue: how many looks have read it, with the one that is added
	// A profile counts all dispatches of a queue together, and forgets no group. Else groups
	// are forgotten that two looks in a row had no waves of.
	bool profile;
};

// Adds a look. Sorts `v`.
void wave_groups_add(struct wave_groups *g, struct wave_seen *v, size_t n);
void wave_groups_fini(struct wave_groups *g);
