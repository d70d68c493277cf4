// A goal for the latency of online requests, and the part of contended time that lower classes get
// while it is kept.
//
// Requests are counted in windows, each long enough for two requests to be over the goal: 200 of
// p99, at least 20. When more are over it than the goal allows, the part is halved, at once; below
// a quarter of what the goal allows it is 0: strict. Else it grows by a quarter at the end of the
// window, up to 90 %. So a part that is too large lasts for few requests, and one that keeps the
// goal is found from below. Requests that began before the part last changed say nothing of it, and
// are not counted. Where only the requests beside offline work are late, about four fifths as many
// are as the goal allows.
#pragma once

#include "common/sched/policy.h"

struct goal {
	double percent;    // so many of 100 requests may be no longer than limit_ns; 0: no goal
	uint64_t limit_ns; // at least 1
	unsigned n, over;  // requests of this window
	uint64_t since_ns; // when the part changed last
};

// Reads "p99 < 50ms": a percentile from 50 to 99.99, and a time. Returns false if it is
// something else.
bool goal_parse(struct goal *g, const char *text);

// Counts a request that ends at `now_ns` and took `ns`, and sets p->kind and p->part.
void goal_count(struct goal *g, struct policy *p, uint64_t now_ns, uint64_t ns);
