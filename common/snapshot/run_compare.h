// Repeated runs of the same programs compared (gpq snapshot --compare, gpq bench ab): does each run
// of a program get the same queue ids, number of queues, slots and priorities; do programs that run
// side by side share any; and which of these properties identifies a program's queues?
//
// A run is one moment (host_state.h), taken while the programs run. Queue ids count per process
// [kfd.queue-ids], so different programs usually have the same ones.
#pragma once

#include "common/snapshot/host_state.h"

enum run_compare_by {
	QRUNS_CMDLINE,
	QRUNS_COMM,
	QRUNS_CONTAINER
}; // by what processes of different runs are taken for the same program

enum { QRUNS_IDS = 1024 }; // queue ids of a process are 0 to 1023

struct qset {
	uint64_t bits[QRUNS_IDS / 64];
};

// Properties that are compared with the first run; index of the arrays `same`, whose elements are 1
// (the same), 0 (not the same) or -1 (unknown).
enum { SAME_IDS, SAME_COUNT, SAME_SLOTS, SAME_PRIOS, SAMES };

// Properties that may identify queues. `ids_text` is `ids` in words, and so on.
struct run_compare_traits {
	struct qset ids; // queue ids of the primary context
	uint64_t gpus;   // bit N: has a queue on the GPU of index N; bit 63: of any index above 62
	uint32_t prios;  // bits: priorities or levels of compute queues (run_compare.levels)
	struct buf ids_text, gpus_text, prios_text;
};

// A process that has queues, in one run.
struct run_compare_proc {
	unsigned run;
	const char *run_name;
	const char *program; // NULL: unknown
	const char *comm;
	uint64_t worker; // number among the program's processes in this run, by GPU, then by start
	int64_t pid;
	uint64_t start_ticks;
	uint64_t queues, compute, sdma; // numbers of all, compute and SDMA queues
	struct run_compare_traits has;
	struct buf slots;   // slot of each compute queue id, "0=p0q2 1=p1q2"; empty: unknown
	double overlap;     // overlap of queue ids with those of the program's first run, 0 to 1
	int8_t same[SAMES]; // is each property as in the program's first run?
};

// A program, over all runs.
struct run_compare_program {
	const char *program, *comm;
	uint64_t worker;
	const struct run_compare_proc *first; // the program's process in the first run that has one
	uint64_t seen, missing;               // runs with the program, and without
	uint64_t queues_min, queues_max;
	struct run_compare_traits ever; // properties in any run of the program
	struct qset always;             // queue ids in all runs of the program
	struct buf always_text;
	int8_t same[SAMES]; // same in all of its runs? -1 also if seen only once
	double consistency; // mean overlap of the queue ids of each two of its runs; or NaN
};

// Two programs, or two processes of one program, that ran side by side.
struct run_compare_pair {
	const char *a, *b;
	uint64_t runs;                  // runs that have both
	struct run_compare_traits both; // what the two share in any run
	double overlap;                 // mean overlap of queue ids, over all pairs of processes
	unsigned last_run, processes;   // while counting: last run, pairs of processes
};

enum { QRUNS_FIXED, QRUNS_PRIORITY, QRUNS_PID, QRUNS_STRATEGIES };

struct run_compare_strategy {
	const char *name; // "fixed-ids", "priority", "pid"
	int8_t works;     // 1: finds a program's queues in each run; 0: does not; -1: unknown
	int8_t chosen;    // 1: the first strategy that works
	struct buf evidence;
};

struct run_compare {
	unsigned runs;
	bool levels; // bits 0 to 2 of all `prios` are levels; else bits 0 to 15 are priorities
	struct run_compare_proc *procs; // sorted by run, program and worker
	struct run_compare_program *programs;
	struct run_compare_pair *pairs;
	size_t nprocs, nprograms, npairs, cap_procs, cap_programs, cap_pairs;
	struct run_compare_strategy strategies[QRUNS_STRATEGIES];
};

// Compares `n` runs. `r` points into texts of `moments`, which must outlive it.
void run_compare_compare(struct run_compare *r, const struct host_state *moments, unsigned n,
			 enum run_compare_by by);
void run_compare_fini(struct run_compare *r);

// Is any program in two runs?
bool run_compare_repeated(const struct run_compare *r);

// Appends the ids of a set as "0,1,3" or "0-5,7".
void qset_text(const struct qset *s, struct buf *b);
unsigned qset_count(const struct qset *s);
