// Names of kernels in listings of packets: by address, and demangled where --demangle says so.
#ifndef GPQ_CMD_KERNELS_H
#define GPQ_CMD_KERNELS_H

#include "cmd/command.h"
#include "common/why/rings.h"

struct kernels_opts {
	bool demangle, no_demangle;
};

// As rows of a command's table; `type` is its options struct with a member `kernels`.
#define KERNELS_OPTS(type)                                                     \
	OPT(type, kernels.demangle, "demangle", 0, OPT_FLAG, "",               \
	    "\nreadable names of kernels\n(default on a terminal)"),           \
		OPT(type, kernels.no_demangle, "no-demangle", 0, OPT_FLAG, "", \
		    "\nnames of kernels as the code objects have them")

#define KERNELS_RULE RULE_CHOOSE("demangle no-demangle")

// Of commands with --attach (RINGS_ATTACH_OPT) and --watch.
#define ATTACH_RULE                                                  \
	RULE_EXCLUDES(                                               \
		"attach", "watch", "as root nothing is attached to", \
		"--attach and --watch exclude each other: each listing would take queues off")

// The first columns of all listings about rings: which queue, by the member `q` of their rows
// (struct queue_row). `shown` are the flags of the process's name.
#define RING_OWNER_COLS(shown)                                                                \
	COL(q.pid, "PID", "pid", I64, D, "process, as the host numbers it"),                  \
		COL(q.process.comm, "COMMAND", "command", STR, (shown) | T,                   \
		    "command name, up to 15 bytes"),                                          \
		COL(q.gpu_id, "GPU", "gpu_id", U64, M, "GPU as KFD numbers it (its gpu_id)"), \
		COL(q.qid, "QID", "qid", U64, D, "queue id, within the process"),             \
		COL(q.context, "CONTEXT", "context", U64, M,                                  \
		    "secondary KFD context that owns the queue; null: the process itself")

struct kernels {
	const struct rings *rings;
	struct code_names **of; // of each of rings->processes; NULL: not read yet
	struct demangler *demangler;
	bool demangles, begun;
	const char *last; // the name that was demangled last,
	char *text;       // and its readable form, NULL if it has none; owned
};

// Sets c->out.demangle.
void kernels_choose(struct cmd *c, const struct kernels_opts *o);

// `r` must outlive it. `o` NULL: no table.
void kernels_begin(struct kernels *k, const struct rings *r, const struct out *o);

// The name of the kernel with this object in the process of `q`; NULL: unknown. Valid until the
// end, or kernels_move().
const char *kernels_name(struct kernels *k, const struct ring_queue *q, uint64_t kernel_object);

// Reads the names of all processes that have none yet.
void kernels_load(struct kernels *k);

// Replaces the rings by `r`, which must outlive it. What was read of a process is kept, and only
// its new code objects are read. Names got before become invalid.
void kernels_move(struct kernels *k, const struct rings *r);

// The readable form of a name, valid until the next call; NULL where the output does not want it.
const char *kernels_readable(struct kernels *k, const char *name);

void kernels_end(struct kernels *k);

#endif
