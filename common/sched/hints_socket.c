// The file of the hint socket: its place and rights, and how an older one is replaced. Facts:
// unix(7), renameat2(2), XDG base directory specification.
#include "common/sched/hints_priv.h"

#include "common/cli/err.h"
#include "common/holder/rundir.h"
#include "common/host/secure.h"
#include "common/host/number.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define NO_GROUP ((gid_t)-1)

// Sets s->path and s->name, from --socket or the default place.
static int find_socket_path(struct hints_socket *s, const char *path)
{
	const char *run = geteuid() == 0 ? "/run" : host_getenv("XDG_RUNTIME_DIR"), *slash;
	if (!path && (!run || run[0] != '/'))
		return err_fail(GPQ_NOTFOUND, "set it, or name a socket with --socket",
				"no directory for the socket: XDG_RUNTIME_DIR is not set");
	int n = path ? snprintf(s->path, sizeof(s->path), "%s", path)
		     : snprintf(s->path, sizeof(s->path), "%s/gpq-sched/socket", run);
	if (n < 0 || (size_t)n >= sizeof(s->path))
		return err_fail(GPQ_USAGE, "choose a shorter path with --socket",
				"%s%s: socket path of over %zu bytes", path ? path : run,
				path ? "" : "/gpq-sched/socket", sizeof(s->path) - 1);
	slash = strrchr(s->path, '/');
	s->name = slash ? slash + 1 : s->path;
	if (!s->name[0])
		return err_fail(GPQ_USAGE, "name a file in it", "%s: socket path of a directory",
				s->path);
	return 0;
}

// Refuses a directory where others could replace our socket by theirs, and get our clients.
static int check_directory(const char *path, int dir)
{
	struct stat st;
	if (fstat(dir, &st) < 0)
		return err_sys(errno, NULL, "%s", path);
	if (st.st_mode & S_IWOTH)
		return err_fail(GPQ_DENIED, "choose a directory of your own with --socket",
				"%s: everybody may write to this directory", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_fail(GPQ_DENIED, "choose a directory of your own with --socket",
				"%s: this directory belongs to user %u", path, (unsigned)st.st_uid);
	return 0;
}

static int open_socket_directory(struct hints_socket *s)
{
	size_t len = (size_t)(s->name - s->path);
	char path[sizeof(s->path) + 1];
	snprintf(path, sizeof(path), "%.*s", len ? (int)len : 1, len ? s->path : ".");
	bool made = mkdir(path, 0755) == 0;
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return err_sys(errno, "make it first, or name another socket with --socket", "%s",
			       path);
	if (made && fchmod(s->dir, 0755) < 0) // mkdir() applied the umask
		return err_sys(errno, NULL, "%s", path);
	return check_directory(path, s->dir);
}

static int find_group(const char *name, gid_t *gid)
{
	uint64_t number;
	if (number_whole(name, 10, UINT32_MAX - 1, &number)) {
		*gid = (gid_t)number;
		return 0;
	}
	const struct group *g = getgrnam(name);
	if (!g)
		return err_fail(GPQ_NOTFOUND, "see getent group", "--group %s: no such group",
				name);
	*gid = g->gr_gid;
	return 0;
}

static int fail_at_socket(const struct hints_socket *s, const char *what)
{
	return err_sys(errno, NULL, "%s: %s", s->path, what);
}

// Listens at the temporary `name`, so that the rights are set before clients can find the socket.
static int listen_at(struct hints_socket *s, const char *name, gid_t gid)
{
	mode_t mode = gid == NO_GROUP ? 0600 : 0660;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;
	unlinkat(s->dir, name, 0); // left by a scheduler that was killed as it started
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", s->dir, name);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || fchmod(s->fd, 0600) < 0 ||
	    bind(s->fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return fail_at_socket(s, "make a socket");
	if (fchownat(s->dir, name, (uid_t)-1, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(errno, "be a member of it, or be root", "--group: %s", s->path);
	if (fchmodat(s->dir, name, mode, 0) < 0 || listen(s->fd, 64) < 0 ||
	    fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail_at_socket(s, "make a socket");
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

// Returns 0 if `name` is missing or a dead listener's socket; else an exit status after a message.
static int check_dead(const struct hints_socket *s, const char *name)
{
	int fd = kfd_socket_connect(s->dir, name, 0);
	int pid = fd < 0 ? 0 : (int)kfd_socket_peer(fd);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return 0;
	if (fd == -ENOTSOCK)
		return err_fail(GPQ_USAGE, "name another with --socket",
				"%s: a file that is not a socket", s->path);
	if (fd < 0 && fd != -EAGAIN)
		return err_sys(-fd, "name another with --socket", "%s", s->path);
	close_quietly(fd);
	return err_fail(GPQ_FAILED, "end that one, or name another with --socket",
			"%s: a scheduler listens there already (pid %d)", s->path, pid);
}

// Renames the socket at `temporary` to the name that clients know. If another scheduler has put its
// own socket there meanwhile, exchanging the two shows that, and is undone.
static int take_name(const struct hints_socket *s, const char *temporary)
{
	int status = check_dead(s, s->name);
	if (status || renameat2(s->dir, temporary, s->dir, s->name, RENAME_NOREPLACE) == 0)
		return status;
	if (errno != EEXIST || renameat2(s->dir, temporary, s->dir, s->name, RENAME_EXCHANGE) < 0)
		return fail_at_socket(s, "put the socket in its place");
	status = check_dead(s, temporary);
	if (status)
		renameat2(s->dir, temporary, s->dir, s->name, RENAME_EXCHANGE);
	return status;
}

static int place_socket(struct hints_socket *s, const char *group)
{
	gid_t gid = NO_GROUP;
	char temporary[32];
	int status = group ? find_group(group, &gid) : 0;
	status = status ? status : open_socket_directory(s);
	if (status)
		return status;
	snprintf(temporary, sizeof(temporary), ".gpq-sched-%d", (int)getpid());
	status = listen_at(s, temporary, gid);
	status = status ? status : take_name(s, temporary);
	unlinkat(s->dir, temporary, 0); // after an exchange this is the dead socket
	return status;
}

int hints_socket_open(struct hints_socket *s, const char *path, const char *group)
{
	s->fd = s->dir = -1;
	int status = find_socket_path(s, path);
	status = status ? status : place_socket(s, group);
	if (status && s->fd >= 0)
		close(s->fd);
	if (status && s->dir >= 0)
		close(s->dir);
	return status;
}

void hints_socket_close(struct hints_socket *s)
{
	struct stat st;
	if (fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == s->dev &&
	    st.st_ino == s->ino)
		unlinkat(s->dir, s->name, 0);
	close(s->fd);
	close(s->dir);
}
