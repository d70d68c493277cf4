// Tables that `gpq suspend` and `gpq resume` share: queues with what became of them, and holders.
#ifndef GPQ_CMD_SUSPEND_HOLD_TABLE_H
#define GPQ_CMD_SUSPEND_HOLD_TABLE_H

#include "cmd/command.h"
#include "cmd/suspend/targets.h"

// One queue, and the result of its suspend or resume.
struct held_row {
	uint64_t pid, gpu, qid, context;
	const char *type, *packets, *result, *proof;
	uint64_t latency_ns;
	uint64_t saved_bytes, backlog;
	uint64_t holder;
	uint64_t at_ns, until_ns; // CLOCK_MONOTONIC
};

extern const struct out_table held_table;    // struct held_row
extern const struct out_table holders_table; // gpq suspend --list
extern const struct schema holders_schema;

// The row of a queue in a holder's answer, without proof; NULL: with pid and at_ns alone.
struct held_row held_row_of(const struct group_member *m, const struct kfd_outcome *q);

// Is a selected queue of this id one of a secondary context, which cannot be held?
bool held_is_unreached(const struct group_member *m, uint32_t qid);

// Warns that there is no queue of this id.
void held_unknown(const struct group_member *m, const struct kfd_outcome *q);

// The exit status of a result. GPQ_OK: the queue is as requested.
int held_status(enum kfd_result r);

// Adds up exit statuses of queues. The sum is 0 if all are; GPQ_PARTIAL if some are; else the
// first.
struct held_sum {
	size_t done, failed;
	int first;
};
void held_count(struct held_sum *s, int status);
int held_sum_status(const struct held_sum *s);

// Counts the selected queues that cannot be held as failed, warns of them, and writes a row for
// each unless `o` is NULL.
void held_unreached(struct out *o, const struct group_member *m, struct held_sum *sum);

// gpq suspend --list.
int held_list(struct cmd *c, const struct pids *only);

#endif
