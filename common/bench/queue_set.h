// Which queues both sides of the experiment had at one moment, and where in the hardware: what
// answers the queue-id question over many runs (kfd/qruns.h, as gpq snapshot --compare does).
//
// Taken by a process of its own: reading the dumps takes long beside what is measured.
#ifndef GPQ_BENCH_QUEUE_SET_H
#define GPQ_BENCH_QUEUE_SET_H

#include "common/cli/json.h"
#include "common/cli/jsonin.h"
#include "common/state/run_compare.h"

#include <stdbool.h>
#include <sys/types.h>

struct queue_set_entry {
	bool offline;   // side
	bool suspended; // at some time while one looked: it then has no slots
	int64_t pid;
	uint64_t gpu_id, gpu, qid; // gpu: index; KFD_UNKNOWN
	uint64_t context;          // likewise
	uint64_t prio, pipe_prio;  // as in struct queue_row
	char type[16];
	char slots[96]; // as in host_state.h; "" unknown
};

struct queue_set {
	struct queue_set_entry *v; // owned
	size_t n, cap;
};

void queue_set_fini(struct queue_set *l);
void queue_set_write(struct json *j, const char *key, const struct queue_set *l);
bool queue_set_read(const struct jsonin_value *v, struct queue_set *l);

// Taking one.
struct queue_set_taking {
	int fd; // -1: none is being taken
	pid_t pid;
	struct buf text;
};

// Starts one of the queues of these processes. 0, or -1 with errno.
int queue_set_take(struct queue_set_taking *t, const pid_t *online, unsigned nonline,
		   const pid_t *offline, unsigned noffline);

// Takes what is there. 1: *l is complete; 0: not yet, or none is being taken; -1: it failed.
int queue_set_poll(struct queue_set_taking *t, struct queue_set *l);
void queue_set_stop(struct queue_set_taking *t);

// Many of them compared: the programs are called "online" and "offline".
struct lineups {
	struct host_state *moments; // owned; hold nothing but pointers into the lineups
	struct queue_row *rows;     // owned
	struct run_compare runs;
};

// How many of them found queues suspended, so that their slots are unknown.
size_t queue_sets_suspended(const struct queue_set *v, size_t n);

// The lineups must outlive it. 0, or -1 with errno ENOMEM.
int queue_sets_compare(struct lineups *c, const struct queue_set *v, size_t n);
void queue_sets_fini(struct lineups *c);

#endif
