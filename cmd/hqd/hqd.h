// Shared by the files of gpq hqd: hqd.c has the options, filters and the listing of slots; the
// other files are named after the form of output that each prints.
#pragma once

#include "cmd/command.h"

#include "common/slots/slot_rows.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"
#include "common/reader/whose.h"

// Columns that several tables have, of member `q` of their rows, a struct queue_row.
// NOLINTBEGIN(bugprone-macro-parentheses): names of members take none
#define QUEUE_COLS(q)                                                                \
	COL(q.qid, "QID", "qid", U64, D, "queue id, within the process or context"), \
		COL(q.context, "CONTEXT_ID", "context_id", U64, M | OUT_RARE,        \
		    "secondary KFD context that owns the queue; null: the process itself")
#define OWNER_COLS(q)                                                                      \
	COL(q.pid, "PID", "pid", I64, D, "process that owns the queue"),                   \
		COL(q.process.comm, "COMMAND", "command", STR, D | T, "its command name"), \
		WHOSE_COLS(q.process, M), QUEUE_COLS(q)
#define PRIO_COLS(q)                                                             \
	COL(q.v[MQD_V_QUEUE_PRIO], "PRIO", "prio", U64, D, "priority, 0 to 15"), \
		COL(q.level, "LEVEL", "level", STR, M | OUT_RARE,                \
		    "level of priority: low (0 to 6), medium (7 to 10), high (11 to 15)")
// NOLINTEND(bugprone-macro-parentheses)

struct hqd_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	struct words xccs;
	const char *hqds, *mqds, *rls;
	bool active, all, sdma, hiq, likely;
	bool mqd, regs, fields, raw_regs, summary, runlist;
	int by;                    // --summary: 0 by GPU, 1 by XCC
	uint64_t sample, interval; // number of samples, ns from one to the next
	uint64_t watch;            // ns between readings; WATCH_OFF without --watch
};

// One reading of the host or of files, and what of it the options choose.
struct hqd_view {
	struct cmd *cmd;
	const struct hqd_opts *opts;
	struct process_cache processes;
	struct pick pick;
	struct pick_queues queues;
	struct slot_rows_how how;
	struct slot_rows list;
	struct slot_summary summary; // of the list, once it was asked for
	size_t shown;                // number of rows that the filters leave
	size_t nameless;       // of these, slots whose process is known and whose queue id is not
	size_t empty, unclear; // rows left out: without a queue, and where that is unknown
};

extern const struct out_table hqd_runlist_table, hqd_sample_table;
extern const struct out_table hqd_regs_table, hqd_raw_table, hqd_fields_table;

enum { HQD_SUMMARY_TABLES = 3 };
extern const struct out_table hqd_summary_tables[HQD_SUMMARY_TABLES];

// Do the options choose this GPU, XCC, process?
bool hqd_gpu_chosen(const struct hqd_view *v, uint64_t gpu_id);
bool hqd_xcc_chosen(const struct hqd_view *v, uint64_t xcc);
bool hqd_pid_chosen(const struct hqd_view *v, int64_t pid);
// Do the options choose the queue, by GPU, process, id, type and priority?
bool hqd_queue_chosen(const struct hqd_view *v, const struct queue_row *q);

// Hides the rows that the options do not select.
void hqd_apply_filter(struct hqd_view *v);

// out_begin() without the columns LEVEL and CONTEXT_ID where no row has a value there.
int hqd_begin(const struct hqd_view *v, struct out *o, const struct out_table *t);

// Each prints one form of output, into a table that was begun (the summary begins its own), and
// returns GPQ_OK, or the exit status after a message.
int hqd_print_regs(struct hqd_view *v, struct out *o); // --regs, --fields, --raw-regs
int hqd_print_runlist(struct hqd_view *v, struct out *o);
int hqd_print_sample(struct hqd_view *v, struct out *o);
int hqd_print_summary(struct hqd_view *v, struct out *o);

// Hints at the first chosen queue that waits while one of lower priority is in a slot, if any.
void hqd_tell_inversion(struct hqd_view *v);
