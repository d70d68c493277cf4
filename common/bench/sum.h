// Latencies of many runs and hosts added up: a histogram for each time, setting and kind of host.
//
// Sums can be written, read and added again, in any order and grouping, with the same result
// (stats/hist.h).
#ifndef GPQ_BENCH_SUM_H
#define GPQ_BENCH_SUM_H

#include "common/bench/cycle.h"
#include "common/host/buf.h"
#include "common/stats/hist.h"

// What must be equal for samples to be added up.
struct sum_key {
	char metric[32];          // "suspend"; "online_preempt": of gpq bench ab;
				  // "group_suspend", "member_suspend": of a group and its processes
	struct cycle_setting set; // CYCLE_NONE throughout for those of ab
	char source[32], scheduler[32], kernel[96], gpus[512];
};

struct sum_row {
	struct sum_key key;
	char *order; // owned; rows are sorted by it
	struct hist hist;
};

struct sum {
	struct sum_row **row; // owned
	size_t n, cap;
	uint64_t bad_lines;
	char first_bad[160];
};

// Adds a line without its end: a raw sample of gpq bench, or a sum. Other lines are counted.
void sum_add_line(struct sum *s, const char *path, uint64_t number, const char *line, size_t len);

// The row as a line that sum_add_line takes.
void sum_write(struct buf *out, const struct sum_row *r);
void sum_fini(struct sum *s);

#endif
