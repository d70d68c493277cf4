/* Client of gpq sched: tells the scheduler when online work comes and when it is over, so that
 * offline queues are off the GPU meanwhile. gpq-client(3); link with -lgpqclient.
 *
 * A handle may be used by several threads; their calls go one after the other. No call raises
 * SIGPIPE, starts a thread or, but for gpq_connect(), allocates. Results below 0 are -errno: the
 * work itself may go on whatever they are.
 */
#ifndef GPQ_CLIENT_H
#define GPQ_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpq_client;

/* A handle for the scheduler's socket `path`. NULL: $GPQ_SCHED_SOCKET, else the first of
 * $XDG_RUNTIME_DIR/gpq-sched/socket and /run/gpq-sched/socket where a scheduler listens. There need
 * be none: each call looks for it again, at most once a second, and after a connection was lost the
 * next call begins the active hints again. After fork() the child has a connection of its own, and
 * no hints. NULL with errno: ENOMEM; ENAMETOOLONG, over 107 bytes. */
struct gpq_client *gpq_connect(const char *path);

/* Online work comes: a hint `id` (of the caller's choice) until gpq_end() or the end of the
 * process; at most 32 at a time. Begun again it is renewed.
 *
 * timeout_ns: 0 sends the hint and does not wait. Else it returns when the offline queues are off
 * the GPU, after so many nanoseconds at the latest; below 0: without limit.
 *
 * 0: they are off (or, not waited for, the hint was sent). Above 0: so many offline processes could
 * not be held and run on. Below 0:
 *   -ENOENT, -ECONNREFUSED   no scheduler listens; the hint counts from when one does
 *   -ECONNRESET              it has ended, or was lost less than a second ago; likewise
 *   -EACCES                  the socket is not for this user; likewise
 *   -ETIMEDOUT               the time is over; the hint is in force
 *   -ESTALE                  the scheduler let the hint expire: it lasted too long
 *   -EPROTO                  an answer that is none of gpq's
 *   -EDQUOT                  too many hints, or too many connections of this user
 *   -EAGAIN                  requests came faster than the scheduler reads them
 * With the last two the hint is not begun; in all other cases gpq_end() is due.
 */
int gpq_begin(struct gpq_client *client, uint64_t id, int64_t timeout_ns);

/* The work of the hint `id` is over. Does not wait. 0; -EINVAL: no such hint; else as above, and
 * the hint has ended. */
int gpq_end(struct gpq_client *client, uint64_t id);

/* The scheduler's statistics: lines of text, into text[size], always with a NUL. The number of
 * bytes that all of it has, as snprintf(3), or -errno. timeout_ns: as above; not 0. */
ssize_t gpq_status(struct gpq_client *client, char *text, size_t size, int64_t timeout_ns);

/* Ends all hints and frees the handle; NULL is allowed. No other thread may be using it. */
void gpq_close(struct gpq_client *client);

#ifdef __cplusplus
}
#endif

#endif
