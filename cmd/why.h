// Shared by the files of gpq why.
#pragma once

#include "cmd/command.h"
#include "cmd/kernels.h"

#include "common/out/plot.h"
#include "common/why/why.h"

#define WHY_NO_PROFILE UINT64_MAX

struct why_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	struct kernels_opts kernels;
	bool attach, folded, stacks, waves, registers, force;
	uint64_t sample, every, max_hold; // of --waves; every and max_hold in ns
	uint64_t over;                    // --over, ns
	uint64_t watch;                   // ns, WATCH_OFF without --watch
	uint64_t profile;                 // ns, WHY_NO_PROFILE without --profile
	const char *perfetto, *flame, *core;
	const char *dmesg;           // --dmesg
	const struct klog *log;      // what it has; NULL: the host's own
	uint64_t stuck_after;        // --stuck-after, ns; 0: not given
	struct evictions *evictions; // known since --watch began; NULL: unknown
	struct why_heads *heads;     // of the looks before
};

extern const struct out_table why_process_table, why_profile_table, why_wave_table,
	why_register_table;

// Prints the table of processes. Returns GPQ_STUCK if a process that is printed is stuck, else
// GPQ_OK, or a failure.
int why_print_processes(struct out *o, const struct why *w);

// Is the table of processes written as lines beside the main table? So it is for people who chose
// neither a table nor columns.
bool why_says_verdicts(const struct out_opts *form);

// Appends what the table of queues is headed with, to an empty `to`: of each process its verdict,
// where its threads stand, and what to do. `last`: for a screen, where the worst stands last and
// what to do once for the processes before.
void why_say(struct buf *to, const struct why *w, bool last);

// Appends "WHAT TEXT" in lines as wide as the screen, those behind the first indented; names in it
// are the program's own, and are made safe. Does nothing if `text` is NULL.
void why_say_line(struct buf *to, size_t indent, const char *what, const char *text);

// Appends a frame of --folded: escapes semicolons, as these separate frames.
void why_put_frame(struct buf *to, const char *text);

// Draws a frame of a flame graph that ends at `end` of `total` and has `n` of them: "samples".
struct why_share {
	uint64_t end, n, total;
	const char *what;
};
void why_flame_frame(struct plot *p, unsigned level, struct why_share share, const char *class,
		     const char *name);

// The name of a kernel for people (why_how.name). `kernels`: a struct kernels.
const char *why_kernel_name(void *kernels, const struct ring_queue *q, uint64_t object);

// Refuses processes with queues on a GPU that, by the kernel's log, does not let go of queues: the
// driver then resets it, and with it the work of all. Asked before a holder attaches, as that takes
// queues off, too. Returns GPQ_OK, or GPQ_FAILED after a message.
struct group;
int why_refuse_lost(const struct group *g);

// Looks at the recorded hosts `roots` but the last, which is the one that is read then. Returns
// GPQ_OK, or the exit status after a message: one cannot be read, or they are no moments of one
// host.
int why_look_before(const struct words *roots, struct why_heads *heads);

// Reads a file of --dmesg. Returns GPQ_OK, or the exit status after a message.
int why_read_log(struct klog *log, const char *file);

// Runs gpq why --profile. Returns the exit status.
int why_profile(struct cmd *c);

// Runs gpq why --waves. Returns the exit status.
int why_waves(struct cmd *c);
