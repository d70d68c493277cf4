// Selection of processes by -p (with --ns-pid and --tree), --container, --comm.
//
// Words of one option add up, different options narrow each other down.
#ifndef GPQ_STATE_PICK_H
#define GPQ_STATE_PICK_H

#include "common/cli/opts.h"
#include "common/cli/grep.h"
#include "common/host/process_cache.h"
#include "common/kfd/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pick_opts {
	struct pids pids;
	bool ns_pid; // the pids are as seen inside containers
	bool tree;   // and their descendants
	struct words containers;
	const char *comm; // regular expression
};

// The options as rows of a command's table; `type` is its options struct with a member `pick`.
#define PICK_OPTS(type)                                                                        \
	OPT(type, pick.pids, "pid", 'p', OPT_PIDS, "PID[,PID...]",                             \
	    "only these processes;\n- reads PIDs from standard input"),                        \
		OPT(type, pick.ns_pid, "ns-pid", 0, OPT_FLAG, NULL,                            \
		    "-p takes PIDs as seen inside a container"),                               \
		OPT(type, pick.tree, "tree", 0, OPT_FLAG, NULL, "also all descendants of -p"), \
		OPT(type, pick.containers, "container", 0, OPT_WORDS, "ID|NAME",               \
		    "only processes of these containers"),                                     \
		OPT(type, pick.comm, "comm", 0, OPT_STR, "REGEX",                              \
		    "only processes with a matching command name")

struct pick {
	const struct pick_opts *opts;
	struct process_cache *processes; // not owned
	pid_t *pids;                     // sorted, what -p comes to; meaningless without -p
	size_t n;
	struct regex *regex; // NULL without --comm
	pid_t self;
};

// GPQ_OK, or the exit status after a message: a wrong REGEX, no such PID inside any container.
int pick_init(struct pick *p, const struct pick_opts *opts, struct process_cache *processes);
void pick_fini(struct pick *p);

// Do the options select this process? `arg` is a struct pick. Reads /proc as far as needed.
bool pick_keeps(const void *arg, pid_t pid);

// Is any of these options given, so that an empty result is an error?
bool pick_asks(const struct pick *p);

// --gpu, by the GPUs of a host as kfd_topology_select() says: GPQ_OK, or GPQ_NOTFOUND after a
// message; then whether a GPU is chosen. `t` NULL: of captured text, which comes without a
// topology; there the words are numbers (gpu_id), decimal or hexadecimal.
int pick_select_gpus(struct kfd_topology *t, const struct words *w);
bool pick_has_gpu(const struct kfd_topology *t, const struct words *w, uint64_t gpu_id);

#endif
