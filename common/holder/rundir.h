// The private directories where holders have their sockets.
//
// A user's own directory is $XDG_RUNTIME_DIR/gpq if that variable names a directory of the user,
// else /run/gpq for root (if there is a /run), /run/user/UID/gpq, or /tmp/gpq-UID. It must belong
// to the user and be closed to others (0700).
#pragma once

#include "common/holder/failure.h"

// Opens one's own directory, and makes it if there is none. Returns a descriptor, or -1 and sets
// *f.
int kfd_rundir_open(struct kfd_failure *f);

// Calls `each` with a descriptor of every directory of this user that may have sockets, as
// XDG_RUNTIME_DIR may have been set for one command and not for another. Stops and returns true
// when `each` returns true.
bool kfd_rundir_each(bool (*each)(int dir, void *arg), void *arg);

// kfd_socket_name() writes the name of a target's socket, PID-STARTTIME. kfd_socket_parse() returns
// false if `name` is not such a name.
#define KFD_SOCKET_NAME_SIZE 48
void kfd_socket_name(char name[KFD_SOCKET_NAME_SIZE], pid_t pid, uint64_t start);
bool kfd_socket_parse(const char *name, pid_t *pid, uint64_t *start);

// Connects to the socket `name` in the directory `dir` (O_PATH will do). Follows no link. Returns a
// nonblocking descriptor, or -errno: -ENOENT there is no such socket; -ECONNREFUSED its holder was
// killed; -EAGAIN its backlog was full for `timeout_ms`.
int kfd_socket_connect(int dir, const char *name, unsigned timeout_ms);

// Makes the socket `name` in `dir`, and listens on it. Returns a descriptor, or -errno: -EADDRINUSE
// there is a socket of that name, perhaps of a holder that was killed.
int kfd_socket_listen(int dir, const char *name);

// ---- trust: the only functions that check the peer of a connection (SO_PEERCRED)

// May the peer send requests, as this user or root? A second check: the directory's mode keeps
// other users out.
bool kfd_socket_trusts(int fd);

// Returns the process that called listen() last before this connection was made; 0: unknown, or a
// process of another PID namespace.
pid_t kfd_socket_peer(int fd);

// Locks the directory against other starters, until this descriptor or one that a child inherited
// is unlocked, or all of them are closed. Waits for 2 s at most. Returns 0, or -1 and sets *f.
int kfd_rundir_lock(int dir, struct kfd_failure *f);
void kfd_rundir_unlock(int dir);
