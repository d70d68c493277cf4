// Raw samples: NDJSON, one line for each cycle of gpq bench preempt or run of gpq bench ab. Each
// line can be understood alone. Tables of struct member write and read the lines.
#pragma once

#include "common/bench/ab.h"
#include "common/bench/context.h"
#include "common/bench/result.h"
#include "common/stats/hist.h"

// Appends a cycle as a line with its newline. ab_write() does so for runs of gpq bench ab.
void raw_write(struct buf *out, const struct bench_context *context, const struct cycle *c);

// Reads a cycle from a line. False if the line is no cycle, or of another schema.
bool raw_read(const char *line, size_t len, struct bench_context *context, struct cycle *c);

// ---- a file that samples are written to as they come

struct raw_file {
	int fd; // -1: there is no file
	const char *path;
	uint64_t lines;
	off_t size;      // bytes of the whole lines in the file
	struct buf line; // the next line to write
	// Beside it, FILE.part: what the run that goes on has measured. -1: there is none.
	int part;
	char *part_path; // owned
	off_t part_size; // bytes of its whole lines
	bool part_full;  // a line of this run could not be written: no more follow
};

// Creates or empties the file `path`; NULL: lines are dropped. Returns 0, or -1 with errno.
int raw_file_open(struct raw_file *f, const char *path);

// Writes f->line and empties it, then FILE.part. Returns 0, or -1 with errno; the file then ends
// with a whole line.
int raw_file_put(struct raw_file *f);

// Makes FILE.part anew, beside a regular file. Returns 0, or -1 with errno.
int raw_file_open_part(struct raw_file *f);

// Appends f->line to FILE.part, as far as there is room, and empties it.
void raw_file_put_part(struct raw_file *f);

// Closes the file, and removes an empty FILE.part. Returns 0, or -1 with errno if what was written
// may not be on disk.
int raw_file_close(struct raw_file *f);

// ---- runs with their samples: from files, or as they are measured

struct raw_seen {
	uint8_t *bits; // owned: a bit for each number of a sample that was read
	size_t size;   // bytes
};

#define LOAD_TIMELINE 2000 // cycles that are kept one by one, for the plot over time

struct load_run {
	bool is_ab; // a run of gpq bench ab, else of preempt
	struct bench_context context;
	struct raw_seen seen;
	struct result result;                 // if it is a run of gpq bench preempt
	struct cycle timeline[LOAD_TIMELINE]; // the first cycles, in the order they ran
	size_t ntimeline;
	struct ab_result ab; // if it is a run of gpq bench ab
};

struct load {
	struct load_run **run; // owned; in the order of their first samples
	size_t n, cap;
	uint64_t bad_lines;
	uint64_t repeated;   // samples read twice, as when a file is named twice: they count once
	char first_bad[160]; // the first bad line: "FILE line 7: not JSON"
};

// Adds a file, all *.ndjson files of a folder (by name), or standard input ("-"). Lines that are no
// samples are counted and left out. Returns 0, or -1 with errno.
int load_add(struct load *l, const char *path);

// Adds a run without samples.
struct load_run *load_new_run(struct load *l, bool is_ab, const struct bench_context *c);

// The first run of gpq bench ab (`is_ab`) or of preempt, or NULL.
struct load_run *load_first(const struct load *l, bool is_ab);
void load_fini(struct load *l);

// ---- sums: a histogram for each time, setting and kind of host, over many runs and hosts
//
// Sums can be written, read and added again, in any order and grouping, with the same result
// (stats/hist.h).

// Samples with equal keys are added up in one histogram.
struct sum_key {
	char setting[512]; // of gpq bench ab --sweep-env
	char metric[32];   // "suspend", of a group "group_suspend", of gpq bench ab "online_alone"
	struct cycle_setting set; // all members CYCLE_NONE for gpq bench ab
	char source[32], scheduler[32], kernel[96], gpus[512];
	char dropped[128]; // members that sum_drop() made unknown, by their names in JSON
};

#define SUM_OFFLINE "offline_" // begins the metric of a row of offline work: "offline_alone"

struct sum_row {
	struct sum_key key;
	char *order;               // owned; `key` as JSON, which sorts the rows
	uint64_t samples;          // sum of the hashes of all samples added, which tells sums apart
	struct hist hist;          // of times
	struct ab_offline offline; // of offline work, whose `hist` is empty
};

struct sum {
	struct sum_row **row; // owned
	size_t n, cap;
	uint64_t bad_lines;
	char first_bad[160];
	uint64_t drop;         // members of keys that are dropped: a bit for each
	uint64_t runs;         // measurements that the sums are of
	uint64_t hash;         // of the sample that was read last: its run and number
	void *seen;            // owned, tsearch(3): which samples of each run were added, and sums
	struct seen_run *last; // the run in `seen` of the sample that was read last
	uint64_t repeated[2];  // samples, and sums, that were added before
};

// Adds up, from now on, what differs in the member of struct sum_key at `offset` alone. Returns
// false if there is no such member, or if it is the metric or the source, which stay apart.
bool sum_drop(struct sum *s, size_t offset);

// Adds a line (without its newline): a raw sample or a sum, unless it was added before, or the name
// of a run that sums are of. Other lines are counted in bad_lines.
void sum_add_line(struct sum *s, const char *path, uint64_t number, const char *line, size_t len);

// Returns the mode of a row of offline work; NULL: the row has times.
const char *sum_mode(const struct sum_row *r);

// Returns the rate of mode alone, of which LOSS% is counted, with the other keys of `r`; NaN: none.
double sum_rate_alone(const struct sum *s, const struct sum_row *r);

// Appends lines that sum_add_line() reads: the rows, and the names of the runs.
void sum_write(struct buf *out, const struct sum *s);
void sum_fini(struct sum *s);
