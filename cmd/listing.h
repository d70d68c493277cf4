// What listings of queues and of processes have in common: what to read for their columns, and the
// messages about what they do not show.
#pragma once

#include "common/out/filter.h"
#include "common/pick/host_choice.h"

struct listing {
	// Set by the command.
	const struct out_table *table;
	const unsigned *reads; // READ_ bits that each column of the table needs
	struct host_choice by;
	// Adds the rows to show, made of those of `p` that are not hidden, and calls
	// listing_print().
	int (*print)(struct listing *l, const struct picked *p);
	bool only_new; // for `print` of gpq queues: --new

	// Set by listing_run() and listing_add().
	struct out *out;
	const char *columns; // -o; NULL: not given
	bool whole;          // no option leaves rows or columns out, so totals may follow
	const void **rows;   // the rows that are shown; each begins with a struct queue_row
	size_t n, cap;
	struct pids pids; // processes of these rows
};

// Reads what the shown columns need of the chosen processes, and what how->want adds; hides the
// rows of queues that are not chosen, then calls l->print. Returns the exit status.
int listing_run(struct listing *l, const struct out_opts *opts, const struct queue_rows_how *how);

// gpq queues --summary (cmd/totals.c): a row for each GPU, and of several a total.
extern const struct out_table totals_table;
extern const struct schema totals_schema;
int totals_print(struct listing *l, const struct picked *p);
// Says, for people, how many processes and queues there are and how many slots; nothing if less
// than all is shown.
void totals_say(const struct listing *l, const struct queue_rows *q, size_t processes);

// gpq ps (cmd/ps.c): lists the chosen processes, once. `all`: also those without queues and memory.
extern const struct out_table processes_table;
extern const struct schema processes_schema;
int list_processes(const struct out_opts *form, struct host_choice by, bool all);

// Adds a row, which is borrowed until listing_print() returns, and its process.
void listing_add(struct listing *l, const struct queue_row *row);

// Writes the rows. Then reports, if wanted, why columns are empty (with --watch once), what in the
// dumps is damaged, and which processes that the options choose have no row. Returns GPQ_OK;
// GPQ_PARTIAL: some are shown; else the exit status after the last message.
int listing_print(const struct listing *l, const struct picked *p);
