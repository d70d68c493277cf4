// The queues of both sides of the experiment at one moment, with their hardware slots.
#pragma once

#include "common/bench/workload.h"
#include "common/out/members.h"
#include "common/snapshot/run_compare.h"

struct queue_set_entry {
	enum side side;
	bool suspended;       // the queue was suspended when it was read, so `slots` is unknown
	struct queue_row row; // has only pid, gpu_id, gpu.index, qid, context and priorities
	char type[16];
	char slots[96]; // hardware slots, written as in host_state.h; "": unknown
};

struct queue_set {
	struct queue_set_entry *v; // owned
	size_t n, cap;
};

void queue_set_fini(struct queue_set *s);
extern const struct member_type member_queue_set;

// Starts a child that reads the queues of both sides, since reading debugfs would delay the
// measurement. The child prints a line for queue_set_line(). Returns 0, or -1 with errno.
int queue_set_take(struct child *c, const struct workload *online, const struct workload *offline);

// Sets *set from the line; empties it if the line is damaged.
void queue_set_line(void *set, const char *line);

// Queue sets compared as by gpq snapshot --compare, with programs called "online" and "offline".
struct queue_sets {
	struct host_state *moments; // owned; hold nothing but pointers into the queue sets
	struct run_compare runs;
	size_t suspended; // number of sets with suspended queues
};

// Compares the queue sets in `v`, which must outlive *c.
void queue_sets_compare(struct queue_sets *c, struct queue_set *v, size_t n);
void queue_sets_fini(struct queue_sets *c);
