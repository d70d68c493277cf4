/* Client of gpq sched: tells the scheduler when online work comes and when it is over, so that
 * offline queues are off the GPU meanwhile. gpq-client(3); link with -lgpqclient.
 *
 * Several threads may use a handle; their calls go one after the other. No call raises SIGPIPE or
 * starts a thread, and only gpq_connect() allocates. Results below 0 are -errno; a failure is no
 * reason to hold up the work itself.
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

/* Makes a handle for the scheduler's socket `path`. A NULL path means $GPQ_SCHED_SOCKET, else the
 * first of $XDG_RUNTIME_DIR/gpq-sched/socket and /run/gpq-sched/socket where a scheduler listens.
 * Without a scheduler, each call looks for one again, at most once a second; after a connection was
 * lost, the next call begins the active hints again. After fork() the child has a connection of its
 * own, and no hints. Returns NULL with errno ENOMEM, or ENAMETOOLONG: a path over 107 bytes. */
struct gpq_client *gpq_connect(const char *path);

/* Online work comes: begins the hint `id`, which the caller chooses, until gpq_end() or the end of
 * the process; at most 32 at a time. A hint that is begun again is renewed.
 *
 * timeout_ns: 0 sends the hint and does not wait. Else the call returns when the offline queues are
 * off the GPU, or after so many nanoseconds; below 0: without limit.
 *
 * Returns 0 when the offline queues are off (timeout_ns 0: when the hint was sent). Above 0: so
 * many offline processes could not be held and run on. Below 0:
 * - -ENOENT, -ECONNREFUSED: no scheduler listens; the hint counts once one does
 * - -ECONNRESET: the scheduler has ended, or the connection was lost less than a second ago; the
 *   hint counts once there is a connection
 * - -EACCES: the socket is not for this user; the hint counts once it is
 * - -ETIMEDOUT: the queues are not off yet after timeout_ns; the hint is in force. Until the
 *   scheduler has answered, the time since then counts as a part of later timeouts
 * - -ECANCELED: the scheduler says that the hint was ended meanwhile; no call of this library does
 *   that, as gpq_end() waits for gpq_begin()
 * - -ESTALE: the scheduler let the hint expire: it lasted too long
 * - -EPROTO: an answer that is not gpq's
 * - -EDQUOT: too many hints, or too many connections of this user
 * - -EAGAIN: requests came faster than the scheduler reads them
 *
 * With -EDQUOT and -EAGAIN the hint is not begun; after all other results gpq_end() is due.
 */
int gpq_begin(struct gpq_client *client, uint64_t id, int64_t timeout_ns);

/* The same with words about the work, "gpu=0,1 for=30s", each at most once; NULL: none. Without
 * gpu= and class= it is that of this process: on the GPUs of its queues, or on any if it has none.
 *
 * gpu=GPU,...    the GPUs that the work needs: index, gpu_id or PCI address
 * class=NAME     the class of gpq sched that it belongs to
 * for=TIME       how long the hint may last, up to 1h; else the scheduler's --lease
 * deadline=TIME  the work has time until then, up to 1h: offline work is held as late as possible
 *
 * Also returns -EINVAL: more than 160 bytes, a line break, or the scheduler knows no such GPU or
 * class, or does not know the words; the hint is not begun. */
int gpq_begin_with(struct gpq_client *client, uint64_t id, const char *words, int64_t timeout_ns);

/* Ends the hint `id`, as its work is over. Does not wait. Returns 0; -EINVAL: no such hint; else an
 * error of gpq_begin(), and the hint has ended all the same. */
int gpq_end(struct gpq_client *client, uint64_t id);

/* Writes the scheduler's statistics, lines of text, to text[size], always with a NUL. Returns their
 * whole length, as snprintf(3) does, or -errno. timeout_ns: as in gpq_begin(), but not 0. */
ssize_t gpq_status(struct gpq_client *client, char *text, size_t size, int64_t timeout_ns);

/* Ends all hints and frees the handle; NULL is allowed. No other thread may be using it. */
void gpq_close(struct gpq_client *client);

#ifdef __cplusplus
}
#endif

#endif
