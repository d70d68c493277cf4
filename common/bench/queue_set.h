// The queues of both sides of the experiment at one moment, with their hardware slots.
#ifndef GPQ_BENCH_QUEUE_SET_H
#define GPQ_BENCH_QUEUE_SET_H

#include "common/bench/workload.h"
#include "common/out/members.h"
#include "common/snapshot/run_compare.h"

#include <stdbool.h>

struct queue_set_entry {
	enum side side;
	bool suspended;       // while it was read, so that its slots are unknown
	struct queue_row row; // pid, gpu_id, gpu, qid, context, prio, pipe_prio
	char type[16];
	char slots[96]; // as in host_state.h; "" unknown
};

struct queue_set {
	struct queue_set_entry *v; // owned
	size_t n, cap;
};

void queue_set_fini(struct queue_set *s);
extern const struct member_type member_queue_set;

// Starts a child that reads the queues of both sides, since reading the dumps would delay the
// measurement. It prints a line for queue_set_line(). 0, or -1 with errno.
int queue_set_take(struct child *c, const struct workload *online, const struct workload *offline);
void queue_set_line(void *set, const char *line);

// Many sets, compared as by gpq snapshot --compare; the programs are called "online" and "offline".
struct queue_sets {
	struct host_state *moments; // owned; hold nothing but pointers into the queue sets
	struct run_compare runs;
	size_t suspended; // number of sets with suspended queues
};

// The queue sets must outlive it.
void queue_sets_compare(struct queue_sets *c, struct queue_set *v, size_t n);
void queue_sets_fini(struct queue_sets *c);

#endif
