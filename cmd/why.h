// Shared by the files of gpq why.
#pragma once

#include "cmd/command.h"
#include "cmd/kernels.h"

#include "common/rows/evictions.h"

#define WHY_NO_PROFILE UINT64_MAX

struct why_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	struct kernels_opts kernels;
	bool attach, folded;
	uint64_t over;    // --over, ns
	uint64_t watch;   // ns, WATCH_OFF without --watch
	uint64_t profile; // ns, WHY_NO_PROFILE without --profile
	const char *perfetto;
	struct evictions *evictions; // known since --watch began; NULL: unknown
};

extern const struct out_table why_profile_table;

// Runs gpq why --profile. Returns the exit status.
int why_profile(struct cmd *c);
