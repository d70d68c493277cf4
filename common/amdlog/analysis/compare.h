// Comparison of two logs, A and B: queues, kernels, rates, backlog, gaps.
//
// Two queues are the same if process id and address are: processes may use equal addresses. Kernels
// are matched by name.
#pragma once

#include "common/amdlog/analysis/gaps.h"
#include "common/amdlog/model/summary.h"

// One of the two logs. The caller zeroes it and sets `sum`.
struct amdlog_side {
	struct amdlog_summary *sum; // not owned
	struct amdlog_gaps gaps;
	struct keyed_histogram grids;    // work-items of each dispatch, all under key 0
	struct keyed_histogram backlogs; // packets in front of a packet, all under key 0
};

// Adds a record, of which amdlog_summary_add made the event `e`.
void amdlog_side_add(struct amdlog_side *s, const struct amdlog_event *e);
void amdlog_side_fini(struct amdlog_side *s);

enum amdlog_same { AMDLOG_DIFFERENT, AMDLOG_MAYBE_SAME, AMDLOG_SAME };

struct amdlog_match {
	uint32_t in[2]; // the kernel's number in A and in B; AMDLOG_NONE: not in that log
};

struct amdlog_comparison {
	struct amdlog_side *side;     // array of two (A, B), whose summaries are finished
	bool by_launches;             // one log has no packets: count launches, not dispatches
	uint32_t queues[2];           // queues in use of A and of B (amdlog_queue_used)
	uint32_t shared, unsure;      // queues of A that are, or may be, in B
	struct amdlog_match *kernels; // kernels used in A, then those used in B alone
	uint32_t nkernels, both, only[2];
	struct intern addresses[2]; // addresses of queues of A and of B (compare.c)
};

void amdlog_compare(struct amdlog_comparison *c, struct amdlog_side side[2]);
void amdlog_compare_fini(struct amdlog_comparison *c);

// Is queue `q` of the log `which` in the other log too?
enum amdlog_same amdlog_queue_in_other(const struct amdlog_comparison *c, unsigned which,
				       uint32_t q);

// True if the queue got dispatches or, with by_launches, has any record.
bool amdlog_queue_used(const struct amdlog_comparison *c, unsigned which, uint32_t q);

// Dispatches of a kernel in the log `which` or, with by_launches, its launches.
uint64_t amdlog_kernel_uses(const struct amdlog_comparison *c, unsigned which, uint32_t kernel);

// Events per second of a span; NaN if the span has no length.
double amdlog_per_second(uint64_t events, const struct amdlog_span *span);

// Appends the findings as sentences, one on each line, queues first.
void amdlog_compare_text(const struct amdlog_comparison *c, struct buf *out);
