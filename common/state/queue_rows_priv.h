// Shared by the files of queue_rows.h.
#ifndef GPQ_STATE_QUEUE_ROWS_PRIV_H
#define GPQ_STATE_QUEUE_ROWS_PRIV_H

#include "common/state/queue_rows.h"

// A new row with everything unknown but the pid (below 0: that too). NULL: out of memory.
struct queue_row *queue_rows_add_row(struct queue_rows *q, pid_t pid);

// Reads and joins mqds. GPQ_OK also when it cannot be read on a host: q->mqds_error tells.
int queue_rows_load_mqds(struct queue_rows *q);

// What the MQD of sysfs queue `index` says, as far as the join is certain.
void queue_rows_fill_joined(const struct queue_rows *q, struct queue_row *r, size_t index);

// What MQD `mqd` says.
void queue_rows_fill_mqd(const struct queue_rows *q, struct queue_row *r, size_t mqd);

// Says for -v which sysfs files gave nothing.
void queue_rows_explain_sysfs(const struct queue_rows *q);

// --- queue_rows_live.c ---

// Asks the holders of this host what they hold, if that is wanted. GPQ_OK, or the status after a
// message.
int queue_rows_load_holdings(struct queue_rows *q);

// Indices now, holder, and the state that follows from all of the row.
void queue_rows_fill_live(const struct queue_rows *q, struct queue_row *r);
// Tells evicted queues from those that are off for another reason, when all rows are there.
void queue_rows_find_evicted(struct queue_rows *q);

#endif
