// Finds the holders of this host and their sockets by /proc and SO_PEERCRED, not by file names.
//
// The rule of trust. A file name proves nothing, because any user can make a socket of that name.
// The holder of a process is its tracer, if the tracer is named gpq-holder. A holder that does not
// trace (option --no-trace) counts if it runs as root or as the target's user, who could stop the
// target anyway. A socket counts if SO_PEERCRED names the holder as the process that listens on it.
// gpq looks for it in the user's own directories, then in the directory that the holder keeps open,
// and never by name in the directory of another user.
#include "common/holder/holder_priv.h"

#include "common/host/root.h"
#include "common/reader/reader.h"

#include <fcntl.h>
#include <sys/file.h>

// ---- the socket of a holder

struct search {
	char name[KFD_SOCKET_NAME_SIZE];
	pid_t holder; // holder to connect to; 0: any in this user's directories
	unsigned timeout_ms;
	int fd;     // a connection, or -errno
	char *path; // path of the socket, or NULL; owned
};

// The path of file `name` in the directory `fd`; NULL: unknown.
static char *path_of(int fd, const char *name)
{
	char path[4096];
	const ssize_t n = readlink(PATH("/proc/self/fd/%d", fd), path, sizeof(path));
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
	close_quietly(s->fd);
	s->fd = fd;
	free(s->path);
	s->path = path_of(dir, s->name);
	return fd >= 0;
}

// Is mount `id` of `pid`'s mount namespace a local file system? Others (FUSE, network) can block
// for ever.
static bool mount_is_local(pid_t pid, long id)
{
	static const char *const local[] = {"tmpfs", "ramfs", "rootfs", "ext2",    "ext3", "ext4",
					    "xfs",   "btrfs", "f2fs",   "overlay", "zfs",  NULL};
	char kind[16] = "";
	struct buf b = {0};
	if (buf_read_at(&b, AT_FDCWD, PATH("/proc/%d/mountinfo", (int)pid)) > 0)
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

// Opens the directory that `pid` has open as descriptor `name` (in `fds`, /proc/PID/fd). Returns -1
// if that is no directory, or not on a local file system.
static int open_folder(pid_t pid, int fds, const char *name)
{
	char to[8] = "";
	SCOPED(buf_fini) struct buf b = {0};
	const char *id;
	int fd = -1;
	if (readlinkat(fds, name, to, sizeof(to) - 1) < 1 || to[0] != '/')
		return -1;
	if (buf_read_at(&b, AT_FDCWD, PATH("/proc/%d/fdinfo/%s", (int)pid, name)) > 0 &&
	    (id = strstr(b.data, "mnt_id:")) &&
	    mount_is_local(pid, strtol(id + strlen("mnt_id:"), NULL, 10)))
		fd = openat(fds, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

// Without a holder there is no folder: no process has the pid 0.
static void try_holder(struct search *s)
{
	SCOPED(closedir_at) DIR *d = opendir(PATH("/proc/%d/fd", (int)s->holder));
	for (struct dirent *e; s->fd < 0 && d && (e = readdir(d));) {
		int dir = e->d_name[0] == '.' ? -1 : open_folder(s->holder, dirfd(d), e->d_name);
		if (dir < 0)
			continue;
		try_folder(dir, s);
		close(dir);
	}
}

int holder_connect(pid_t holder, const struct kfd_target *t, unsigned timeout_ms, char **path)
{
	struct search s = {.holder = holder, .timeout_ms = timeout_ms, .fd = -ENOENT};
	kfd_socket_name(s.name, t->pid, t->start);
	if (!kfd_rundir_each(try_folder, &s))
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

struct holdings {
	struct kfd_holding *v; // owned array
	size_t num, cap;
	bool sweep; // remove stale sockets and records
};

// Adds a process that `holder` holds or, if `holder` is 0, that criu.c paused.
static void add_holding(struct holdings *l, pid_t target, uid_t owner, pid_t holder)
{
	*ARRAY_ADD(l->v, l->cap, l->num) = (struct kfd_holding){
		.target = target, .uid = owner, .paused = !holder, .answer.holder = holder};
}

// Adds the processes that holders of this user, for root of any user, hold.
static void find_holders(struct holdings *l)
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
				add_holding(l, t->pid, (uid_t)p->uid, p->pid);
		const pid_t target = l->num == before ? titled_target(p->pid) : 0;
		if (may_hold(p, target))
			add_holding(l, target, (uid_t)p->uid, p->pid);
	}
	free(all);
}

pid_t holder_untraced(pid_t target)
{
	struct holdings found = {0};
	find_holders(&found);
	const struct kfd_holding *h = kfd_holding_of(found.v, found.num, target);
	const pid_t holder = h ? h->answer.holder : 0;
	free(found.v);
	return holder;
}

// ---- listing: `status` requests to all holders, and the records of criu.c

#define ASK_MS 2000u // time for the answers of all holders together

// Adds the process that a record says is paused. If it has ended, the record is stale.
static void list_record(struct holdings *l, int dir, const char *name)
{
	uint64_t start;
	pid_t pid;
	if (!kfd_socket_parse(name + strlen(KFD_CRIU_PREFIX), &pid, &start))
		return;
	if (kfd_target_start(pid) == start)
		add_holding(l, pid, geteuid(), 0);
	else if (l->sweep)
		unlinkat(dir, name, 0);
}

// Removes a socket without a listener. The caller has the folder's lock, so no starter is between
// bind() and listen(): such a socket belongs to a killed holder.
static void remove_stale(int dir, const char *name)
{
	uint64_t start;
	pid_t pid;
	int fd = kfd_socket_parse(name, &pid, &start) ? kfd_socket_connect(dir, name, 0) : -EINVAL;
	if (fd == -ECONNREFUSED)
		unlinkat(dir, name, 0);
	close_quietly(fd);
}

// Adds the processes that are paused by the records in a folder. Removes stale sockets, too, unless
// a starter has the folder's lock.
static bool list_dir(int dir, void *arg)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPED(closedir_at) DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool sweep = ((struct holdings *)arg)->sweep && flock(dir, LOCK_EX | LOCK_NB) == 0;
	for (struct dirent *e; d && (e = readdir(d));)
		if (strncmp(e->d_name, KFD_CRIU_PREFIX, strlen(KFD_CRIU_PREFIX)) == 0)
			list_record(arg, dir, e->d_name);
		else if (sweep)
			remove_stale(dir, e->d_name);
	if (sweep)
		kfd_rundir_unlock(dir);
	return false;
}

static void ask_status(struct kfd_holding *h, struct kfd_link *l)
{
	const struct kfd_target t = {.pid = h->target, .start = kfd_target_start(h->target)};
	struct kfd_failure f;
	*l = (struct kfd_link){.target = t.pid};
	l->fd = holder_connect(h->answer.holder, &t, 0, &h->socket);
	if (l->fd >= 0)
		kfd_link_send(l, "status", &f);
}

static void take_status(struct kfd_holding *h, struct kfd_link *l, uint64_t deadline)
{
	uint64_t now = clock_ns();
	unsigned left = now < deadline ? (unsigned)((deadline - now) / 1000000) : 0;
	pid_t holder = h->answer.holder;
	struct kfd_failure f;
	h->answers = l->fd >= 0 && kfd_link_receive(l, left + 1, &f) == 0 &&
		     l->answer.target == h->target;
	if (h->answers) {
		h->answer = l->answer;
		h->answer.holder = holder;
		l->answer.queues = NULL;
	}
	kfd_link_close(l);
}

static void list_holders(struct holdings *l)
{
	const uint64_t deadline = clock_in_ms(ASK_MS);
	find_holders(l);
	SCOPED(free_at) struct kfd_link *links = xcalloc(l->num, sizeof(*links));
	for (size_t i = 0; i < l->num; i++)
		ask_status(&l->v[i], &links[i]);
	for (size_t i = 0; i < l->num; i++)
		take_status(&l->v[i], &links[i], deadline);
}

static int by_target(const void *a, const void *b)
{
	const struct kfd_holding *x = a, *y = b;
	return x->paused != y->paused ? x->paused - y->paused : ORDER(x->target, y->target);
}

size_t kfd_holdings(struct kfd_holding **list, bool sweep)
{
	struct holdings l = {.sweep = sweep};
	list_holders(&l);
	kfd_rundir_each(list_dir, &l);
	*list = l.v;
	ARRAY_SORT(*list, l.num, by_target);
	return l.num;
}

void kfd_holdings_free(struct kfd_holding *list, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		free(list[i].answer.queues);
		free(list[i].socket);
	}
	free(list);
}

const struct kfd_holding *kfd_holding_of(const struct kfd_holding *list, size_t num, pid_t pid)
{
	for (size_t i = 0; i < num; i++)
		if (list[i].target == pid && !list[i].paused)
			return &list[i];
	return NULL;
}
