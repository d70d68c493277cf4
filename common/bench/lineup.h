// Which queues both sides of the experiment had at one moment, and where in the hardware: what
// answers the queue-id question over many runs (kfd/qruns.h, as gpq snapshot --compare does).
//
// Taken by a process of its own: reading the dumps takes long beside what is measured.
#ifndef GPQ_BENCH_LINEUP_H
#define GPQ_BENCH_LINEUP_H

#include "common/cli/json.h"
#include "common/cli/jsonin.h"
#include "common/state/run_compare.h"

#include <stdbool.h>
#include <sys/types.h>

struct lineup_queue {
	bool offline;   // side
	bool suspended; // at some time while one looked: it then has no slots
	int64_t pid;
	uint64_t gpu_id, gpu, qid; // gpu: index; KFD_UNKNOWN
	uint64_t context;          // likewise
	uint64_t prio, pipe_prio;  // as in struct qrow
	char type[16];
	char slots[96]; // as in host_state.h; "" unknown
};

struct lineup {
	struct lineup_queue *v; // owned
	size_t n, cap;
};

void lineup_fini(struct lineup *l);
void lineup_write(struct json *j, const char *key, const struct lineup *l);
bool lineup_read(const struct jsonin_value *v, struct lineup *l);

// Taking one.
struct lineup_taking {
	int fd; // -1: none is being taken
	pid_t pid;
	struct buf text;
};

// Starts one of the queues of these processes. 0, or -1 with errno.
int lineup_take(struct lineup_taking *t, const pid_t *online, unsigned nonline,
		const pid_t *offline, unsigned noffline);

// Takes what is there. 1: *l is complete; 0: not yet, or none is being taken; -1: it failed.
int lineup_poll(struct lineup_taking *t, struct lineup *l);
void lineup_stop(struct lineup_taking *t);

// Many of them compared: the programs are called "online" and "offline".
struct lineups {
	struct moment *moments; // owned; hold nothing but pointers into the lineups
	struct qrow *rows;      // owned
	struct qruns runs;
};

// How many of them found queues suspended, so that their slots are unknown.
size_t lineups_suspended(const struct lineup *v, size_t n);

// The lineups must outlive it. 0, or -1 with errno ENOMEM.
int lineups_compare(struct lineups *c, const struct lineup *v, size_t n);
void lineups_fini(struct lineups *c);

#endif
