// The selector: options that choose processes and queues, the same for every command. Open this
// file first: it chooses processes, pick_queues.h chooses among their queues, host_choice.h applies
// both to the rows of a host. spec_set.h holds selectors that are written as one word, and looks
// for processes that fit them; newcomers.h finds processes that have just opened KFD.
//
// Words of one option add up, different options narrow each other down.
//
// -p can name any process. The other options never choose gpq itself or an ancestor of it: the
// shell that runs `gpq suspend --cmdline train` has "train" in its command line.
#pragma once

#include "common/cli/opts.h"
#include "common/cli/grep.h"
#include "common/reader/process_cache.h"
#include "common/kfd/topology.h"

struct pick_opts {
	struct pids pids;
	bool ns_pid; // the PIDs are as seen inside containers
	bool tree;   // also the descendants of these PIDs
	struct words containers, cgroups, pods, jobs, users;
	struct words comms, cmdlines; // regular expressions
};

// The options as rows of a command's table; `type` is its options struct with a member `pick`.
#define PICK_OPTS(type)                                                 \
	OPT(type, pick.pids, "pid", 'p', OPT_PIDS, "PID[,PID...]",      \
	    "only these processes;\n- reads PIDs from standard input"), \
		PICK_OTHER_OPTS(type, "", "\n")

// All options but -p. The help of options that are often used begins with `usual`, that of others
// with `rare`: "\n" leaves them out of the brief help.
#define PICK_OTHER_OPTS(type, usual, rare)                                                         \
	OPT(type, pick.ns_pid, "ns-pid", 0, OPT_FLAG, "",                                          \
	    rare "-p takes PIDs as seen inside a container"),                                      \
		OPT(type, pick.tree, "tree", 0, OPT_FLAG, "", usual "also all descendants of -p"), \
		OPT(type, pick.containers, "container", 0, OPT_WORDS, "ID|NAME",                   \
		    usual "only processes of these containers"),                                   \
		OPT(type, pick.cgroups, "cgroup", 0, OPT_LIST, "PATH",                             \
		    rare "only processes of this control group or below"),                         \
		OPT(type, pick.pods, "pod", 0, OPT_WORDS, "NAME|UID",                              \
		    rare "only processes of these kubernetes pods"),                               \
		OPT(type, pick.jobs, "job", 0, OPT_WORDS, "JOB[.STEP]",                            \
		    rare "only processes of these jobs of Slurm"),                                 \
		OPT(type, pick.users, "user", 0, OPT_WORDS, "USER",                                \
		    rare "only processes of these users"),                                         \
		OPT(type, pick.comms, "comm", 0, OPT_LIST, "REGEX",                                \
		    usual "only processes with a matching command name"),                          \
		OPT(type, pick.cmdlines, "cmdline", 0, OPT_LIST, "REGEX",                          \
		    rare "only processes with a matching command line")

// Names of the options, for rules: those that need the /proc of a host, and all.
#define PICK_HOST_NAMES "ns-pid tree container cgroup pod job user comm cmdline"
#define PICK_NAMES      "pid " PICK_HOST_NAMES

struct pick {
	const struct pick_opts *opts;
	struct process_cache *processes; // not owned
	struct pids pids;             // the host's PIDs that -p, --ns-pid and --tree select, sorted
	struct pids own;              // gpq and its ancestors, on a running host
	struct regex *comm, *cmdline; // NULL without the option
};

// Checks the words of the options, without a look at the host. Returns GPQ_OK, or the exit status
// after a message.
int pick_check(const struct pick_opts *opts);

// Returns GPQ_OK, or the exit status after a message: a wrong REGEX, no container has such a PID.
int pick_init(struct pick *p, const struct pick_opts *opts, struct process_cache *processes);
void pick_fini(struct pick *p);

// pick_init() for a command that watches a running host. Also returns GPQ_NOTFOUND if no process of
// -p is alive, and GPQ_UNSUPPORTED if `opts` need the host's PIDs and /proc has others.
int pick_init_watch(struct pick *p, const struct pick_opts *opts, struct process_cache *processes);

// Looks up the PIDs of --tree and --ns-pid again, as processes start. On errors the old ones stay.
void pick_renew(struct pick *p);

// Do the options select this process? `arg` is a struct pick. Reads /proc as far as needed.
bool pick_keeps(const void *arg, pid_t pid);

// Is the process a part of gpq, such as a holder, that has KFD open and no queue?
bool pick_is_ours(pid_t pid, struct process_cache *processes);

// Is any of these options given, so that an empty result is an error?
bool pick_asks(const struct pick_opts *o);

// Appends the options as they would be typed, in the order of PICK_OPTS: " -p 4711 --tree --comm
// train". The same options give the same text.
void pick_text(struct buf *b, const struct pick_opts *o);

// Says which words of an option with several choose none of the processes that all options chose.
void pick_name_unused(const struct pick_opts *o, const struct pids *chosen,
		      struct process_cache *processes);

// Is any option given that needs the /proc of a host, and not only PIDs?
bool pick_needs_host(const struct pick_opts *o);

// Selects the GPUs that the words of --gpu name. Returns GPQ_OK, or GPQ_NOTFOUND after a message.
int pick_select_gpus(struct kfd_topology *t, const struct words *w);

// Does --gpu choose this GPU? `t` is NULL for captured text, which has no topology: words are then
// gpu_ids, decimal or hexadecimal.
bool pick_has_gpu(const struct kfd_topology *t, const struct words *w, uint64_t gpu_id);
