// Repeated runs of the same programs compared (gpq snapshot --compare, gpq bench ab): does each run
// of a program get the same queue ids, number of queues, slots and priorities; do programs that run
// side by side share any; and which of these properties identifies a program's queues?
//
// A run is one moment (host_state.h), taken while the programs run. Queue ids count per process
// [kfd.queue-ids], so different programs usually have the same ones.
#ifndef GPQ_SNAPSHOT_RUN_COMPARE_H
#define GPQ_SNAPSHOT_RUN_COMPARE_H

#include "common/host/buf.h"
#include "common/snapshot/host_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum run_compare_by {
	QRUNS_CMDLINE,
	QRUNS_COMM,
	QRUNS_CONTAINER
}; // what makes a program the same one

enum { QRUNS_IDS = 1024 }; // queue ids of a process: 0 .. 1023

struct qset {
	uint64_t bits[QRUNS_IDS / 64];
};

// What is compared between runs: 1 the same, 0 not, -1 unknown.
enum { SAME_IDS, SAME_COUNT, SAME_SLOTS, SAME_PRIOS, SAMES };

// Properties that may identify queues. X_text is X in words.
struct run_compare_traits {
	struct qset ids; // of the primary context
	uint64_t gpus;   // bit: index of a GPU, 63: that one and all above
	uint32_t prios;  // of compute queues, see run_compare.levels; 0: none is known
	struct buf ids_text, gpus_text, prios_text;
};

// A process that has queues, in one run.
struct run_compare_proc {
	unsigned run;
	const char *run_name;
	const char *program; // NULL: unknown
	const char *comm;
	uint64_t worker; // number among processes of the program in a run, by GPU, then by start
	int64_t pid;
	uint64_t start_ticks;
	uint64_t queues, compute, sdma; // queues; of them of these types
	struct run_compare_traits has;
	struct buf slots;   // "0=p0q2 1=p1q2"; empty: unknown
	double overlap;     // of its ids with those of the first run that has it, 0 to 1
	int8_t same[SAMES]; // as in that run
};

// A program, over all runs.
struct run_compare_program {
	const char *program, *comm;
	uint64_t worker;
	const struct run_compare_proc *first; // the program's process in the first run that has one
	uint64_t seen, missing;               // runs with and without it
	uint64_t queues_min, queues_max;
	struct run_compare_traits ever; // of any of these runs
	struct qset always;             // ids in all of them
	struct buf always_text;
	int8_t same[SAMES]; // -1 also if seen once
	double consistency; // of ids: mean overlap of all pairs of its runs
};

// Two programs, or two processes of one, side by side.
struct run_compare_pair {
	const char *a, *b;
	uint64_t runs;                  // in which both were there
	struct run_compare_traits both; // what they share in any run
	double overlap;                 // of ids, mean over all such pairs of processes
	unsigned last_run, processes;   // while counting
};

enum { QRUNS_FIXED, QRUNS_PRIORITY, QRUNS_PID, QRUNS_STRATEGIES };

struct run_compare_strategy {
	const char *name; // "fixed-ids", "priority", "pid"
	int8_t works;     // -1: these runs do not show it
	int8_t chosen;    // the first that works
	struct buf evidence;
};

struct run_compare {
	unsigned runs;
	bool levels; // prios: bits 0 to 2 are levels; else bits 0 to 15 are priorities
	struct run_compare_proc *procs; // by run, program, worker
	struct run_compare_program *programs;
	struct run_compare_pair *pairs;
	size_t nprocs, nprograms, npairs, cap_procs, cap_programs, cap_pairs;
	struct run_compare_strategy strategies[QRUNS_STRATEGIES];
};

// Texts of the moments are used, not copied.
void run_compare_compare(struct run_compare *r, const struct host_state *moments, unsigned n,
			 enum run_compare_by by);
void run_compare_fini(struct run_compare *r);

// Is any program in two runs?
bool run_compare_repeated(const struct run_compare *r);

// "0,1,3" or "0-5,7" of a set of ids.
void qset_text(const struct qset *s, struct buf *b);
unsigned qset_count(const struct qset *s);

#endif
