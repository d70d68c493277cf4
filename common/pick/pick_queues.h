// Selects among the queues of the chosen processes (pick.h), by -Q, --gpu, --type and --prio.
#pragma once

#include "common/cli/opts.h"
#include "common/holder/session.h"
#include "common/rows/queue_rows.h"

struct pick_queues_opts {
	struct words ids, gpus, types;
	const char *prio; // "high,medium", "MIN[:MAX]"
};

// The options as rows of a command's table; `type` is its options struct with a member `queues`.
#define PICK_QUEUES_OPTS(type)                                                            \
	OPT(type, queues.ids, "queue", 'Q', OPT_WORDS, "[PID:]ID,...",                    \
	    "only these queues;\nof several processes with the PID before the id"),       \
		OPT(type, queues.gpus, "gpu", 0, OPT_WORDS, "GPU[,GPU...]",               \
		    "only queues on these GPUs:\nindex, gpu_id or PCI address"),          \
		OPT(type, queues.types, "type", 0, OPT_WORDS, "TYPE[,TYPE...]",           \
		    "\nonly queues of these types: compute, sdma, sdma-xgmi"),            \
		OPT(type, queues.prio, "prio", 0, OPT_EXPR, "LEVEL[,LEVEL...]|MIN[:MAX]", \
		    "\nonly queues of these levels (low, medium, high) or priorities (0 to 15)")

#define PICK_QUEUES_NAMES "queue gpu type prio" // names of these options, for rules

struct pick_queues {
	const struct pick_queues_opts *opts;
	struct prio_choice prio;
	struct named_queue {
		pid_t pid; // process of the queue; 0: any process
		uint32_t id;
	} * named;
	size_t n;
};

// Parses the options. Returns GPQ_OK, or GPQ_USAGE after a message; then nothing is to be freed.
int pick_queues_init(struct pick_queues *p, const struct pick_queues_opts *opts);
void pick_queues_fini(struct pick_queues *p);

// Is any of these options given?
bool pick_queues_asks(const struct pick_queues_opts *o);

// Queue ids count per process [kfd.queue-ids]: -Q ID needs a single process in `pids`, and the PID
// of -Q PID:ID must be one of `pids`. Returns GPQ_OK, or GPQ_USAGE after a message.
int pick_queues_check(const struct pick_queues *p, const struct pids *pids);

// Do -Q, --type and --prio choose this queue? (--gpu: pick_has_gpu().) KFD_ANSWER_UNKNOWN: --prio
// is given, and the priority of the queue is not known.
enum kfd_answer3 pick_queues_keeps(const struct pick_queues *p, const struct queue_row *r);

// Can --prio be judged on this host? Returns GPQ_OK, also without --prio, or the exit status after
// a message: debugfs's mqds cannot be read, or shows levels but no priorities.
int pick_queues_check_prio(const struct pick_queues *p, const struct queue_rows *q);

// Reads the topology into `t`, with the GPUs of --gpu selected; without --gpu it only zeroes `t`.
// Returns GPQ_OK, or the exit status after a message: there is no such GPU.
int pick_queues_load_gpus(const struct pick_queues *p, struct kfd_topology *t);

// Sets which queues of a process -Q and --gpu select; `t` is from pick_queues_load_gpus().
void pick_queues_select(const struct pick_queues *p, pid_t pid, const struct kfd_topology *t,
			struct kfd_selection *sel);
