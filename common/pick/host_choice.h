// The selector of processes (pick.h) and of queues (pick_queues.h), applied to the queues of a
// host.
#pragma once

#include "common/cli/opts.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"
#include "common/rows/queue_rows.h"

struct host_choice {
	const struct pick_opts *processes;
	const struct pick_queues_opts *queues;
};

// The queues of the chosen processes of a host. Zeroed before picked_init().
struct picked {
	// Called once the chosen processes are known: adds to `more` other processes whose queues
	// picked_load() is to read as well. picked_keeps() keeps none of these. NULL: none are
	// added.
	void (*find_more)(struct picked *p);
	struct pids more;
	struct host_choice by;
	struct process_cache cache;
	struct pick pick;
	struct pick_queues queues;
	struct queue_rows_how how;
	struct queue_rows rows;
};

// Parses the options that choose queues. Returns GPQ_OK, or GPQ_USAGE after a message.
int picked_init(struct picked *p, struct host_choice by);

// Reads the rows of the chosen processes, with `how` but for keep and arg. GPUs of --gpu are not
// looked up if how->mqds_file is set. Returns GPQ_OK, or the exit status after a message.
int picked_load(struct picked *p, const struct queue_rows_how *how);

// Reports why there is no row: no queue or no process is chosen, or the processes own no queue, or
// these cannot be read. Returns the exit status.
int picked_report_none(const struct picked *p);

// Checks -Q against the processes that have queues. Returns GPQ_OK, or GPQ_USAGE after a message.
int picked_check_ids(const struct picked *p);

// Is the row of a chosen process, and do --gpu, -Q, --type, --prio choose it? KFD_ANSWER_UNKNOWN:
// its priority is not known.
enum kfd_answer3 picked_keeps(const struct picked *p, const struct queue_row *r);

// Checks -Q and --prio, then hides the rows that the options do not choose. Returns GPQ_OK, or the
// exit status after a message.
int picked_hide(struct picked *p);
void picked_fini(struct picked *p);

// Checks the words of PICK_OPTS and PICK_QUEUES_OPTS, where the tables of `sets` have them, without
// a look at the host. Returns GPQ_OK, or the exit status after a message.
int host_choice_check(const struct opt_set *sets);

// Is any option of the selector given?
bool host_choice_asks(const struct host_choice *by);

// The READ_... bits that these options need in queue_rows_how.want.
unsigned host_choice_reads(const struct host_choice *by);

// Hides rows that the options do not choose, and with options about queues also processes without
// queues. The sysroot must be that of the host (root.h). Returns GPQ_OK, also if no row is left, or
// the exit status after a message: a wrong word, no such GPU, -Q of several processes, unknown
// priorities.
int host_choose(struct queue_rows *q, const struct host_choice *by);

// Adds to `to` the processes of all rows that are not hidden.
void host_chosen(const struct queue_rows *q, struct pids *to);

// Reports what was not found, after all hosts were read. `found`: processes that were chosen in any
// host; `where`: "the snapshots". Returns GPQ_OK, or after messages GPQ_PARTIAL if some PIDs of -p
// were not found, GPQ_NOTFOUND if nothing was.
int host_choice_found(const struct host_choice *by, const struct pids *found, const char *where);
