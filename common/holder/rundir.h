// The private directories where holders have their sockets.
//
// One's own is $XDG_RUNTIME_DIR/gpq when that variable names a directory of ours, else /run/gpq for
// root (where there is a /run), /run/user/UID/gpq, or /tmp/gpq-UID. It must belong to us and be
// closed to others (0700).
#ifndef GPQ_HOLDER_RUNDIR_H
#define GPQ_HOLDER_RUNDIR_H

#include "common/holder/failure.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// A descriptor of one's own directory, made when it does not exist. -1 and *f on failure.
int kfd_rundir_open(struct kfd_failure *f);

// Calls `each` with a descriptor of every directory of one's own that may hold sockets:
// XDG_RUNTIME_DIR may have been set for one command and not for the other. Never those of other
// users. Stops when `each` returns true; then returns true.
bool kfd_rundir_each(bool (*each)(int dir, void *arg), void *arg);

// Name of the socket of a target, and back. False when `name` is no such name.
#define KFD_SOCKET_NAME_SIZE 48
void kfd_socket_name(char name[KFD_SOCKET_NAME_SIZE], pid_t pid, uint64_t start);
bool kfd_socket_parse(const char *name, pid_t *pid, uint64_t *start);

// Connects to the socket `name` in the directory `dir`, which may be an O_PATH descriptor. No link
// is followed. A nonblocking descriptor, or -errno: -ENOENT no such socket; -ECONNREFUSED it was a
// killed holder's; -EAGAIN its backlog is full, and stayed so for `timeout_ms`.
int kfd_socket_connect(int dir, const char *name, unsigned timeout_ms);

// Binds and listens. Descriptor or -errno (-EADDRINUSE: there is a socket of that name already,
// maybe of a holder that was killed).
int kfd_socket_listen(int dir, const char *name);

// ---- trust: the only functions that check the peer of a connection (SO_PEERCRED)

// Does the peer run as this user or as root, so that its requests are accepted? The mode of the
// directory keeps other users out already; this is a second check.
bool kfd_socket_trusts(int fd);

// The process that had called listen() when this connection was made; 0: it is in another PID
// namespace.
pid_t kfd_socket_peer(int fd);

// Locks the directory against other starters: until it is unlocked through this descriptor or one
// that a child inherited, or until all of these are closed. Waits for 2 s at most. 0, or -1 and *f.
int kfd_rundir_lock(int dir, struct kfd_failure *f);
void kfd_rundir_unlock(int dir);

#endif
