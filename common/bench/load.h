// Runs with their samples: from files, or as they are measured.
#ifndef GPQ_BENCH_LOAD_H
#define GPQ_BENCH_LOAD_H

#include "common/bench/ab.h"
#include "common/bench/result.h"

#define LOAD_TIMELINE 2000 // cycles kept one by one, for the plot over time

// A run of gpq bench preempt or of gpq bench ab.
struct load_run {
	bool is_ab;
	struct bench_context context;
	uint8_t *seen; // owned: bits, of the numbers of samples that were met
	size_t seen_size;
	struct load_run *sum; // has its samples added up: itself, or the run it is pooled in
	struct result result; // of preempt
	struct cycle timeline[LOAD_TIMELINE]; // the first cycles, in the order they ran
	size_t ntimeline;
	struct ab_result ab; // of ab
};

struct load_run *load_run_new(bool is_ab);
void load_run_free(struct load_run *r);

struct load {
	bool pool;             // all runs of a kind are added up in the first one
	struct load_run **run; // owned; in the order they were met
	size_t n, cap;
	uint64_t bad_lines;
	uint64_t repeated;   // samples met again, as when a file is named twice: they count once
	char first_bad[160]; // "FILE line 7: not JSON"
};

// Adds a file, all *.ndjson files of a folder (by name), or standard input ("-"). Lines that are no
// samples are counted, not added. 0, or -1 with errno.
int load_add(struct load *l, const char *path);

// The first run of the kind, or NULL.
struct load_run *load_first(const struct load *l, bool is_ab);
void load_fini(struct load *l);

#endif
