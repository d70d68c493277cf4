// Flight recorders of PyTorch's collectives: which one a rank has called, and has not ended.
//
// Facts: FlightRecorder.hpp of PyTorch (torch/csrc/distributed/c10d): "entries", each with the
// process group, the number of the collective in it, its name, its state and Python frames;
// "pg_status" has the last number that each group enqueued. Dumps are pickles, or JSON.
#pragma once

#include "common/host/std.h"

struct flight_call {
	char group[16]; // id of the process group
	char about[40]; // its description
	char name[80];  // "all_reduce"
	char state[16]; // "scheduled", "started", "completed"
	char where[96]; // "train.py:11", the innermost Python frame outside of PyTorch; "": unknown
	uint64_t number;
	bool ended;
};

struct flight_group {
	char group[16];
	uint64_t enqueued; // number of the last collective that was called
};

// A dump; owns its arrays.
struct flight {
	const char *file;
	uint64_t rank; // the number at the end of the file's name; UINT64_MAX: none
	struct flight_call *calls;
	size_t ncalls, calls_cap;
	struct flight_group *groups;
	size_t ngroups, groups_cap;
};

// Reads the dump. Returns an exit status, after a message. flight_fini() frees `f` in any case.
int flight_read(struct flight *f, const char *file);
void flight_fini(struct flight *f);

// Returns the oldest call that has not ended; NULL: all have.
const struct flight_call *flight_pending(const struct flight *f);

// Appends a line for each group in which a rank has called less than another one:
// "default_pg: rank 1 has not called all_reduce 4, which rank 0 has (train.py:11)".
void flight_compare(struct buf *to, const struct flight *v, size_t n);
