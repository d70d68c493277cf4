// Private directories and the sockets in them. Facts: unix(7), XDG base directory specification.
#include "common/holder/rundir.h"

#include "common/host/clock.h"
#include "common/host/secure.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define LOCK_MS 2000 // longest wait for the lock; a starter holds it for less

static bool is_own_dir(const char *path)
{
	struct stat st;
	return path && path[0] == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid();
}

// Writes the path of one's own directory. Returns false if it is too long.
static bool own_path(char *path, size_t size)
{
	const char *xdg = host_getenv("XDG_RUNTIME_DIR");
	char run_user[32];
	int n;
	snprintf(run_user, sizeof(run_user), "/run/user/%u", (unsigned)geteuid());
	if (is_own_dir(xdg))
		n = snprintf(path, size, "%s/gpq", xdg);
	else if (geteuid() == 0 && is_own_dir("/run"))
		n = snprintf(path, size, "/run/gpq");
	else if (is_own_dir(run_user))
		n = snprintf(path, size, "%s/gpq", run_user);
	else
		n = snprintf(path, size, "/tmp/gpq-%u", (unsigned)geteuid());
	return n > 0 && (size_t)n < size;
}

// Opens the directory `path` if it is closed to all but its owner, and sets *owner. Returns a
// descriptor or -errno.
static int open_private(const char *path, uid_t *owner)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || (st.st_mode & 077)) {
		close(fd);
		return -EPERM;
	}
	*owner = st.st_uid;
	return fd;
}

int kfd_rundir_open(struct kfd_failure *f)
{
	char path[4096], what[300];
	uid_t owner = 0;
	if (!own_path(path, sizeof(path)))
		return kfd_fail(f, KFD_FAULT_SYSTEM, "XDG_RUNTIME_DIR", strerror(ENAMETOOLONG));
	int fd = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : open_private(path, &owner);
	if (fd >= 0 && owner != geteuid()) {
		close(fd);
		fd = -EPERM;
	}
	if (fd >= 0)
		return fd;
	snprintf(what, sizeof(what), "socket directory %.200s", path);
	return kfd_fail(f, KFD_FAULT_SYSTEM, what,
			fd == -EPERM ? "must belong to you and be closed to others; chmod 700"
				     : strerror(-fd));
}

static bool visit(const char *path, bool (*each)(int, void *), void *arg)
{
	uid_t owner = 0;
	SCOPED(close_at) int fd = open_private(path, &owner);
	if (fd < 0)
		return false;
	return owner == geteuid() && each(fd, arg);
}

bool kfd_rundir_each(bool (*each)(int dir, void *arg), void *arg)
{
	char own[4096], others[3][64];
	if (own_path(own, sizeof(own)) && visit(own, each, arg))
		return true;
	snprintf(others[0], sizeof(others[0]), "/run/user/%u/gpq", (unsigned)geteuid());
	snprintf(others[1], sizeof(others[1]), "/tmp/gpq-%u", (unsigned)geteuid());
	snprintf(others[2], sizeof(others[2]), "/run/gpq"); // root's directory
	for (size_t i = 0; i < 3; i++)
		if (strcmp(own, others[i]) != 0 && visit(others[i], each, arg))
			return true;
	return false;
}

void kfd_socket_name(char name[KFD_SOCKET_NAME_SIZE], pid_t pid, uint64_t start)
{
	snprintf(name, KFD_SOCKET_NAME_SIZE, "%d-%llu", (int)pid, (unsigned long long)start);
}

bool kfd_socket_parse(const char *name, pid_t *pid, uint64_t *start)
{
	char again[KFD_SOCKET_NAME_SIZE], *end;
	*pid = (pid_t)strtol(name, &end, 10);
	if (*end != '-' || *pid <= 0)
		return false;
	*start = strtoull(end + 1, &end, 10);
	kfd_socket_name(again, *pid, *start);
	return strcmp(name, again) == 0;
}

static int close_failed(int fd)
{
	int error = errno;
	close(fd);
	return -error;
}

// Makes a socket, and an address through /proc/self/fd, since the path itself may be too long for
// one. Returns the socket or -errno.
static int make_socket(struct sockaddr_un *a, const char *format, int dir, const char *name)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	const int n = snprintf(a->sun_path, sizeof(a->sun_path), format, dir, name);
	if (n < 0 || (size_t)n >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return fd < 0 ? -errno : fd;
}

// Returns an O_PATH descriptor of the socket `name`, or -errno. Connecting through it reaches the
// file that was checked.
static int open_socket(int dir, const char *name)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
		return fd;
	errno = ENOTSOCK;
	return close_failed(fd);
}

int kfd_socket_connect(int dir, const char *name, unsigned timeout_ms)
{
	uint64_t deadline = clock_ns() + timeout_ms * UINT64_C(1000000);
	int at = open_socket(dir, name), fd, r;
	struct sockaddr_un a;
	if (at < 0)
		return at;
	fd = make_socket(&a, "/proc/self/fd/%d%s", at, "");
	// Nothing reports when a full backlog has room again.
	for (r = fd < 0 ? fd : -EAGAIN; r == -EAGAIN;) {
		r = connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : 0;
		if (r != -EAGAIN || clock_ns() >= deadline)
			break;
		usleep(2000);
	}
	close(at);
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

int kfd_socket_listen(int dir, const char *name)
{
	struct sockaddr_un a;
	int fd = make_socket(&a, "/proc/self/fd/%d/%s", dir, name);
	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 128) < 0)
		return close_failed(fd);
	return fd;
}

static bool credentials(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0;
}

bool kfd_socket_trusts(int fd)
{
	struct ucred peer;
	return credentials(fd, &peer) && (peer.uid == geteuid() || peer.uid == 0);
}

pid_t kfd_socket_peer(int fd)
{
	struct ucred peer;
	return credentials(fd, &peer) ? peer.pid : 0;
}

int kfd_rundir_lock(int dir, struct kfd_failure *f)
{
	uint64_t deadline = clock_ns() + LOCK_MS * UINT64_C(1000000);
	while (flock(dir, LOCK_EX | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || clock_ns() >= deadline)
			return kfd_fail(f, KFD_FAULT_SYSTEM, "lock the socket directory",
					errno == EWOULDBLOCK ? "somebody holds a lock on it"
							     : strerror(errno));
		usleep(1000);
	}
	return 0;
}

void kfd_rundir_unlock(int dir)
{
	flock(dir, LOCK_UN);
}
