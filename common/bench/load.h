// Raw samples from files, run by run.
#ifndef GPQ_BENCH_LOAD_H
#define GPQ_BENCH_LOAD_H

#include "common/bench/ab.h"
#include "common/bench/result.h"

#define LOAD_TIMELINE 2000 // cycles kept one by one, for the plot over time

// Which samples of a run were met, by their numbers.
struct load_seen {
	uint8_t *bits; // owned
	size_t size;
};

struct load_run {
	struct result result;
	struct load_seen seen;
	struct cycle *timeline; // owned: the first cycles, in the order they ran
	size_t ntimeline;
};

struct load {
	struct load_run **run; // owned; in the order they were met
	size_t n;
	struct ab_result **ab;     // likewise: runs of gpq bench ab
	struct load_seen *ab_seen; // owned: of each of them
	size_t nab;
	uint64_t lines, bad_lines;
	uint64_t repeated;   // samples met again, as when a file is named twice: they count once
	char first_bad[160]; // "FILE line 7: not JSON"
};

// Adds a file, all *.ndjson files of a folder (by name), or standard input ("-"). Lines that are no
// samples are counted, not added. 0, or -1 with errno.
int load_add(struct load *l, const char *path);
void load_fini(struct load *l);

#endif
