// Comparison of two logs, A and B: queues, kernels, rates, backlog, gaps.
//
// A queue is the same in both only when process id and address are: other processes may well have
// the same address. Kernels are matched by name.
#ifndef GPQ_AMDLOG_ANALYSIS_COMPARE_H
#define GPQ_AMDLOG_ANALYSIS_COMPARE_H

#include "common/amdlog/analysis/gaps.h"
#include "common/amdlog/model/summary.h"
#include "common/host/buf.h"

// One of the two. Starts as zeros, `sum` set.
struct amdlog_side {
	struct amdlog_summary *sum; // not owned
	struct amdlog_gaps gaps;
	struct keyed_histogram grids;    // work-items of dispatches, key 0
	struct keyed_histogram backlogs; // packets in front of a packet, key 0
};

// A record that amdlog_summary_add placed.
void amdlog_side_add(struct amdlog_side *s, const struct amdlog_event *e);
void amdlog_side_fini(struct amdlog_side *s);

enum amdlog_same { AMDLOG_DIFFERENT, AMDLOG_MAYBE_SAME, AMDLOG_SAME };

struct amdlog_match {
	uint32_t in[2]; // the kernel's number in A and in B; AMDLOG_NONE: not in that one
};

struct amdlog_comparison {
	struct amdlog_side *side;     // two of them, their summaries finished
	bool by_launches;             // one has no packets: kernels are counted by launches
	uint32_t queues[2];           // that were dispatched to; without packets: known ones
	uint32_t shared, unsure;      // queues of A that are, or may be, in B
	struct amdlog_match *kernels; // all of A's, then those of B alone
	uint32_t nkernels, both, only[2];
	struct intern addresses[2]; // of the queues of either side
};

void amdlog_compare(struct amdlog_comparison *c, struct amdlog_side side[2]);
void amdlog_compare_fini(struct amdlog_comparison *c);

// Is queue `q` of side `which` in the other log too?
enum amdlog_same amdlog_queue_in_other(const struct amdlog_comparison *c, unsigned which,
				       uint32_t q);

// Did it do work there: dispatches, or without packets any record?
bool amdlog_queue_used(const struct amdlog_comparison *c, unsigned which, uint32_t q);

// Dispatches (or launches) of a kernel of that side.
uint64_t amdlog_kernel_uses(const struct amdlog_comparison *c, unsigned which, uint32_t kernel);

// Events of a span each second; NaN when it has no length.
double amdlog_per_second(uint64_t events, const struct amdlog_span *span);

// What is to be said of the two, a sentence a line: queues first.
void amdlog_compare_text(const struct amdlog_comparison *c, struct buf *out);

#endif
