// Names of kernels in listings of packets, by kernel object; demangled where --demangle says so.
#pragma once

#include "cmd/command.h"
#include "common/reader/whose.h"
#include "common/why/rings.h"

struct kernels_opts {
	bool demangle, no_demangle;
};

// --demangle and --no-demangle as rows of a command's table. `type`: its options struct, with a
// member `kernels`.
#define KERNELS_OPTS(type)                                                     \
	OPT(type, kernels.demangle, "demangle", 0, OPT_FLAG, "",               \
	    "\nreadable names of kernels\n(default on a terminal)"),           \
		OPT(type, kernels.no_demangle, "no-demangle", 0, OPT_FLAG, "", \
		    "\nnames of kernels as the code objects have them")

#define KERNELS_RULE RULE_CHOOSE("demangle no-demangle")

// A rule of commands that have both --attach (RINGS_ATTACH_OPT) and --watch.
#define ATTACH_RULE                                                  \
	RULE_EXCLUDES(                                               \
		"attach", "watch", "as root nothing is attached to", \
		"--attach and --watch exclude each other: each listing would take queues off")

// The first columns of all listings about rings: they name the queue. ROW must have a member `q`
// (struct queue_row). `shown`: flags of column COMMAND.
#define RING_OWNER_COLS(shown)                                                                \
	COL(q.pid, "PID", "pid", I64, D, "process, as the host numbers it"),                  \
		COL(q.process.comm, "COMMAND", "command", STR, (shown) | T,                   \
		    "command name, up to 15 bytes"),                                          \
		WHOSE_COLS(q.process, M),                                                     \
		COL(q.gpu_id, "GPU", "gpu_id", U64, M, "GPU as KFD numbers it (its gpu_id)"), \
		COL(q.qid, "QID", "qid", U64, D, "queue id, within the process"),             \
		COL(q.context, "CONTEXT_ID", "context_id", U64, M,                            \
		    "secondary KFD context that owns the queue; null: the process itself")

struct kernels {
	const struct rings *rings;
	struct code_names **of; // kernels of each of rings->processes; NULL: not read yet
	struct demangler *demangler;
	bool demangles, begun;
	const char *last; // the name that was demangled last
	char *text;       // readable form of `last`, owned; NULL: none
};

// Sets c->out.demangle by the options: without them, only for tables on a terminal.
void kernels_choose(struct cmd *c, const struct kernels_opts *o);

// Begins to name kernels of the processes of `r`, which must outlive `k`. `o` says whether names
// are demangled; NULL: no.
void kernels_begin(struct kernels *k, const struct rings *r, const struct out *o);

// Returns the mangled name of the kernel with this kernel object in the process of `q`, or NULL:
// unknown. The name is valid until kernels_end() or kernels_move().
const char *kernels_name(struct kernels *k, const struct ring_queue *q, uint64_t kernel_object);

// Returns the same for a row: people see the kernel object as "0x5000" where the name is unknown.
const char *kernels_shown(struct kernels *k, const struct ring_queue *q, uint64_t kernel_object,
			  const struct out *o, char text[24]);

// Reads the kernel names of all processes whose names were not read yet.
void kernels_load(struct kernels *k);

// Replaces the rings by `r`, which must outlive `k`. What was read of a process is kept, and only
// its new code objects are read. Names that kernels_name() returned before become invalid.
void kernels_move(struct kernels *k, const struct rings *r);

// Returns the readable form of a name, or the name if it has none; valid until the next call. NULL:
// the output does not show readable names.
const char *kernels_readable(struct kernels *k, const char *name);

void kernels_end(struct kernels *k);
