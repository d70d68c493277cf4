// Shared by the files of queue_rows.h.
#ifndef GPQ_STATE_QUEUE_ROWS_PRIV_H
#define GPQ_STATE_QUEUE_ROWS_PRIV_H

#include "common/state/queue_rows.h"

// A new row with everything unknown but the pid (below 0: that too). NULL: out of memory.
struct qrow *qlist_add_row(struct qlist *q, pid_t pid);

// Reads and joins mqds. GPQ_OK also when it cannot be read on a host: q->mqds_error tells.
int qlist_load_mqds(struct qlist *q);

// What the MQD of sysfs queue `index` says, as far as the join is certain.
void qlist_fill_joined(const struct qlist *q, struct qrow *r, size_t index);

// What MQD `mqd` says.
void qlist_fill_mqd(const struct qlist *q, struct qrow *r, size_t mqd);

// Says for -v which sysfs files gave nothing.
void qlist_explain_sysfs(const struct qlist *q);

// --- queue_rows_live.c ---

// Asks the holders of this host what they hold, if that is wanted. GPQ_OK, or the status after a
// message.
int qlist_load_holdings(struct qlist *q);

// Indices now, holder, and the state that follows from all of the row.
void qlist_fill_live(const struct qlist *q, struct qrow *r);
// Tells evicted queues from those that are off for another reason, when all rows are there.
void qlist_find_evicted(struct qlist *q);

#endif
