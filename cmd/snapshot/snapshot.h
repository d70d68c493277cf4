// Shared by the files of gpq snapshot; and the tables of repeated runs (run_compare.h), which gpq
// bench ab prints too.
#pragma once

#include "cmd/command.h"
#include "common/host/redact.h"
#include "common/pick/host_choice.h"
#include "common/snapshot/run_compare.h"
#include "common/snapshot/snapshot.h"

struct snapshot_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	bool redact, diff, compare, all, exit_code;
	int match;                       // enum run_compare_by; -1: not given
	uint64_t every, duration, count; // ns, ns, snapshots; WATCH_OFF without the option
};

static inline struct host_choice snapshot_choice(const struct snapshot_opts *o)
{
	return (struct host_choice){&o->pick, &o->queues};
}

extern const struct out_table snapshot_saved_table, snapshot_diff_table;
extern const struct schema snapshot_saved_schema, snapshot_diff_schema, snapshot_compare_schema;

// The forms of gpq snapshot. They return the exit status.
int snapshot_one(struct cmd *c);     // gpq snapshot DIR
int snapshot_series(struct cmd *c);  // gpq snapshot --every T DIR
int snapshot_diff(struct cmd *c);    // gpq snapshot --diff A B
int snapshot_compare(struct cmd *c); // gpq snapshot --compare DIR...

// --- saving (save.c) ---

struct saved_row {
	const char *path;
	struct snapshot s;
	uint64_t window_ns, unreadable;
	uint64_t missed; // times of --every that passed before this snapshot; else U64_NULL
	int8_t dumps, settled;
};

// Adds the processes that the options choose now to `chosen`. Returns GPQ_OK, or the exit status
// after a message.
int snapshot_choose(const struct snapshot_opts *o, struct pids *chosen);

// Saves the host as a tree or archive; *s is all zero before. Returns 0, or -1 with errno (EINTR:
// an end was requested), and leaves nothing at `path` then.
int snapshot_make(struct snapshot *s, const char *path, const struct snapshot_how *how);

// Returns the row of a snapshot; with -v, notes the files that could not be read.
struct saved_row snapshot_row(const struct snapshot *s, const char *path);
void snapshot_warn(const struct saved_row *row); // warns of dumps that are missing or do not agree

// Reports why `path` cannot be made. Returns the exit status.
int snapshot_refused(const char *path, int error);

// snapshot_make() for a command whose only snapshot it is: a hangup ends it, too, and a failure is
// reported; a request to end ends the program by its signal, behind the document of --json. Returns
// the exit status.
int snapshot_try(const struct cmd *c, struct snapshot *s, const char *path,
		 const struct snapshot_how *how);

// Can `path` be made, as far as its name tells? Returns GPQ_OK, or GPQ_USAGE after a message.
int snapshot_check_name(const char *path);

// Is the path an archive's name, or "-"?
bool snapshot_is_archive(const char *path);

// --- reading several snapshots ---

// Adds the paths of the snapshots that the operands name; a series stands for all of its snapshots.
// Returns GPQ_OK, or the exit status after a message. words_fini() frees `to`.
int snapshot_expand(struct words *to, const struct cmd *c);

enum { RUN_PROCESSES, RUN_PROGRAMS, RUN_OVERLAPS, RUN_STRATEGIES, RUN_TABLES };
extern const struct out_table run_compare_tables[RUN_TABLES];

// Prints one table (RUN_...). Returns GPQ_OK, or GPQ_USAGE after a message if -o names a column
// that the table does not have.
int run_compare_print(struct out *o, const struct run_compare *r, int table);
