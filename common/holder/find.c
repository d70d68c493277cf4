// Finds the holders of this host and their sockets by /proc and SO_PEERCRED, not by file names.
//
// The rule of trust. A file name proves nothing, because any user can make a socket of that name.
// The holder of a process is its tracer, if the tracer is named gpq-holder. A holder that does not
// trace (option --no-trace) counts if it runs as root or as the target's user, who could stop the
// target anyway. A socket counts if SO_PEERCRED names the holder as the process that listens on it.
// gpq looks for it in the user's own directories, then in the directory that the holder keeps open,
// and never by name in the directory of another user.
#include "common/holder/holder_priv.h"
#include "common/reader/reader.h"

#include "common/host/buf.h"
#include "common/host/proc.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the socket of a holder

struct search {
	char name[KFD_SOCKET_NAME_SIZE];
	pid_t holder; // 0: any, for folders of one's own
	unsigned timeout_ms;
	int fd;     // a connection, or -errno
	char *path; // of the socket
};

// The path of `name` in the directory `fd`; NULL: not known.
static char *path_of(int fd, const char *name)
{
	char link[32], path[4096];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(link, path, sizeof(path));
	return n > 0 ? xasprintf("%.*s/%s", (int)n, path, name) : NULL;
}

static bool try_folder(int dir, void *arg)
{
	struct search *s = arg;
	int fd = kfd_socket_connect(dir, s->name, s->timeout_ms);
	if (fd >= 0 && s->holder && kfd_socket_peer(fd) != s->holder) {
		close(fd);
		fd = -ESTALE;
	}
	if (fd == -ENOENT)
		return false;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = fd;
	free(s->path);
	s->path = path_of(dir, s->name);
	return fd >= 0;
}

// Is mount `id` in the mount namespace of `pid` a local file system? Others (FUSE, network) can
// block for ever.
static bool mount_is_local(pid_t pid, long id)
{
	static const char *const local[] = {"tmpfs", "ramfs", "rootfs", "ext2",    "ext3", "ext4",
					    "xfs",   "btrfs", "f2fs",   "overlay", "zfs",  NULL};
	char path[48], kind[16] = "";
	struct buf b = {0};

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	if (buf_read_at(&b, AT_FDCWD, path) > 0)
		for (char *line = b.data; line && *line; line = strchr(line, '\n')) {
			const char *dash = NULL;
			line += *line == '\n';
			if (strtol(line, NULL, 10) != id || !(dash = strstr(line, " - ")))
				continue;
			sscanf(dash + 3, "%15[^ \n]", kind);
			break;
		}
	buf_fini(&b);
	for (size_t i = 0; local[i]; i++)
		if (strcmp(local[i], kind) == 0)
			return true;
	return false;
}

// Opens the directory that `pid` has open as descriptor `name`; -1: no directory, or no local
// mount.
static int open_folder(pid_t pid, int fds, const char *name)
{
	char path[288], to[8] = "";
	struct buf b = {0};
	const char *id;
	int fd = -1;
	if (readlinkat(fds, name, to, sizeof(to) - 1) < 1 || to[0] != '/')
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, name);
	if (buf_read_at(&b, AT_FDCWD, path) > 0 && (id = strstr(b.data, "mnt_id:")) &&
	    mount_is_local(pid, strtol(id + strlen("mnt_id:"), NULL, 10)))
		fd = openat(fds, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	buf_fini(&b);
	return fd;
}

// Tries every directory that the holder has open.
static void try_holder(struct search *s)
{
	char path[32];
	DIR *d;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)s->holder);
	d = opendir(path);
	for (struct dirent *e; s->fd < 0 && d && (e = readdir(d));) {
		int dir = e->d_name[0] == '.' ? -1 : open_folder(s->holder, dirfd(d), e->d_name);
		if (dir < 0)
			continue;
		try_folder(dir, s);
		close(dir);
	}
	if (d)
		closedir(d);
}

int holder_connect(pid_t holder, const struct kfd_target *t, unsigned timeout_ms, char **path)
{
	struct search s = {.holder = holder, .timeout_ms = timeout_ms, .fd = -ENOENT};
	kfd_socket_name(s.name, t->pid, t->start);
	if (!kfd_rundir_each(try_folder, &s) && holder)
		try_holder(&s);
	if (path)
		*path = s.path;
	else
		free(s.path);
	return s.fd;
}

// ---- the holders of this host

// The target that the holder's command line names (holder_title()); 0: none.
static pid_t titled_target(pid_t holder)
{
	static const char title[] = KFD_HOLDER_COMM ": pid ";
	char text[64];
	if (proc_cmdline(holder, text, sizeof(text)) <= 0 ||
	    strncmp(text, title, strlen(title)) != 0)
		return 0;
	return (pid_t)strtol(text + strlen(title), NULL, 10);
}

// May this holder hold `target` without tracing it (rule of trust)? A debugger that traces the
// target does not contradict that; another holder does.
static bool may_hold(const struct proc *holder, pid_t target)
{
	struct proc p;
	return target > 0 && proc_read(&p, target) == 0 && !kfd_holder_of(target) &&
	       (holder->uid == 0 || holder->uid == p.uid);
}

void holdings_add(struct holdings *l, pid_t target, uid_t owner, pid_t holder)
{
	*ARRAY_ADD(l->v, l->cap, l->num) = (struct kfd_holding){
		.target = target, .uid = owner, .paused = !holder, .answer.holder = holder};
}

void holders_find(struct holdings *l)
{
	struct proc *all;
	ssize_t num = proc_list(&all);
	const struct proc *end = all + (num > 0 ? num : 0);
	for (const struct proc *p = all; p < end; p++) {
		const size_t before = l->num;
		if (strcmp(p->comm, KFD_HOLDER_COMM) != 0 || (geteuid() && p->uid != geteuid()))
			continue;
		for (const struct proc *t = all; t < end; t++)
			if (t->tracer == p->pid)
				holdings_add(l, t->pid, (uid_t)p->uid, p->pid);
		const pid_t target = l->num == before ? titled_target(p->pid) : 0;
		if (may_hold(p, target))
			holdings_add(l, target, (uid_t)p->uid, p->pid);
	}
	free(all);
}

pid_t holder_untraced(pid_t target)
{
	struct holdings found = {0};
	holders_find(&found);
	const struct kfd_holding *h = kfd_holding_of(found.v, found.num, target);
	const pid_t holder = h ? h->answer.holder : 0;
	free(found.v);
	return holder;
}
