// Saves a host; see snapshot.h.
//
// Dumps are joined later, so they must be of the same moment: they are read into memory one after
// the other, again if the list of queues changed meanwhile, and written afterwards.
#include "common/snapshot/snapshot.h"

#include "common/host/clock.h"
#include "common/host/glob.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/driver.h"
#include "common/kfd/procs.h"
#include "common/reader/reader.h"
#include "common/rows/queue_rows.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { MAX_TRIES = 3, MAX_ANCESTORS = 128 };

static struct snapshot_entry *note_entry(struct snapshot *s, const char *path, uint64_t size,
					 int error)
{
	struct snapshot_entry *e = ARRAY_ADD(s->entries, s->cap, s->n);
	*e = (struct snapshot_entry){.path = xstrdup(path), .size = size, .error = error};
	return e;
}

int snapshot_add(struct saver *v, const char *path, const struct buf *b)
{
	if (tree_file(v->t, path, b->len ? b->data : "", b->len))
		return -1;
	note_entry(v->s, path, b->len, 0);
	return 0;
}

// --- saving one path ---

// Is this a file of KFD about a process that is not chosen?
static bool is_path_left_out(const struct saver *v, const char *path)
{
	static const char folder[] = "/kfd/proc/";
	const char *pid = v->only ? strstr(path, folder) : NULL;
	return pid && !pids_has(v->only, (pid_t)strtol(pid + strlen(folder), NULL, 10));
}

static int on_missing(void *arg, const char *path, int error)
{
	struct saver *v = arg;
	const bool absent = error == ENOENT || error == ENOTDIR;
	if ((!absent || !(v->item->flags & SNAP_OPTIONAL)) && !is_path_left_out(v, path))
		note_entry(v->s, path, 0, error);
	return 0;
}

// May reading this file block? For debugfs the driver takes locks; counts of errors are asked of
// the GPU; /proc/PID/cmdline lies in memory of the process.
static bool may_be_silent(const char *path)
{
	return host_is_live() && (strncmp(path, "/sys/kernel/debug/", 18) == 0 ||
				  strstr(path, "/ras/") || strstr(path, "/cmdline"));
}

// Reads a whole file into `b`. Returns 0, 1 if it is a folder, or -1 with errno.
static int read_host_file(const char *path, struct buf *b)
{
	struct stat st;
	SCOPED(close_at) int fd = host_open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	int r = fstat(fd, &st);
	if (r == 0 && S_ISDIR(st.st_mode))
		r = 1;
	else if (r == 0 && S_ISREG(st.st_mode))
		r = (may_be_silent(path) ? reader_read_fd(b, fd, path) : buf_read_fd(b, fd)) < 0
			    ? -1
			    : 0;
	else if (r == 0)
		r = (errno = EINVAL, -1); // a device or a pipe
	return r;
}

static int add_dump(struct saver *v, const char *path)
{
	struct buf b = {0};
	const uint64_t begin = clock_ns();
	const int r = read_host_file(path, &b);
	const int error = r > 0 ? EISDIR : errno;
	const uint64_t end = clock_ns();
	if (r) {
		buf_fini(&b);
		return on_missing(v, path, error);
	}
	struct snapshot_entry *e = note_entry(v->s, path, b.len, 0);
	e->begin_ns = begin;
	e->end_ns = end;
	e->held = b;
	return 0;
}

static int add_host_file(struct saver *v, const char *path)
{
	SCOPED(buf_fini) struct buf b = {0};
	int r = read_host_file(path, &b);
	if (r > 0) {
		r = tree_dir(v->t, path);
	} else if (r < 0) {
		r = on_missing(v, path, errno);
	} else {
		if (v->r && v->item->redact)
			v->item->redact(v->r, &b);
		r = snapshot_add(v, path, &b);
	}
	return r;
}

// Hard-links a file that cannot have changed since the earlier snapshot. Returns false if not.
static bool is_linked(struct saver *v, const char *path)
{
	const int earlier = v->item->flags & SNAP_FIXED ? v->how->earlier : -1;
	const ssize_t size = earlier < 0 ? -1 : tree_same(v->t, path, earlier);
	if (size >= 0)
		note_entry(v->s, path, (uint64_t)size, 0);
	return size >= 0;
}

static int on_found(void *arg, const char *path)
{
	struct saver *v = arg;
	if (v->how->stopped()) {
		errno = EINTR;
		return -1;
	}
	// No link of the kernel leads to "/": somebody else made it.
	if (strcmp(path, "/") == 0 || is_path_left_out(v, path) || is_linked(v, path))
		return 0;
	return v->item->flags & SNAP_DUMP ? add_dump(v, path) : add_host_file(v, path);
}

static int on_link(void *arg, const char *path, const char *target)
{
	struct saver *v = arg;
	if (!(v->item->flags & SNAP_DUMP))
		return tree_link(v->t, path, target);
	note_entry(v->s, path, 0, 0)->target = xstrdup(target);
	return 0;
}

// --- items of the table ---

static int save_flat(struct saver *v)
{
	char target[PATH_MAX];
	const char *path = v->item->path;
	if (!(v->item->flags & SNAP_LINK))
		return add_host_file(v, path);
	if (host_readlink(path, target, sizeof(target)) < 0)
		return on_missing(v, path, errno);
	return tree_link(v->t, path, target);
}

static int save_pattern(struct saver *v, const char *pattern)
{
	const struct glob_visitor visitor = {on_found, on_link, on_missing, v,
					     (v->item->flags & SNAP_LINK) != 0};
	return v->item->flags & SNAP_FLAT ? save_flat(v) : host_glob(pattern, &visitor);
}

static int save_per_process(struct saver *v, const pid_t *pids, size_t n)
{
	const char *path = v->item->path, *mark = strchr(path, '%');
	char pattern[256];
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		snprintf(pattern, sizeof(pattern), "%.*s%d%s", (int)(mark - path), path,
			 (int)pids[i], mark + 1);
		r = save_pattern(v, pattern);
	}
	return r;
}

static bool is_wanted(const struct saver *v)
{
	const unsigned flags = v->item->flags;
	const bool names = v->item->redact && (v->r || (v->how->only && !(flags & SNAP_PROC)));
	return (v->how->add || !(flags & SNAP_ONCE)) &&
	       !(flags & SNAP_COPIED && (host_is_live() || names));
}

// Saves all items with this flag, or with `on` false all without it; but no SNAP_PROC items.
static int save_items(struct saver *v, unsigned flag, bool on)
{
	int r = 0;
	for (v->item = snapshot_items; v->item->path && r == 0; v->item++)
		if (!(v->item->flags & SNAP_PROC) && !(v->item->flags & flag) != on && is_wanted(v))
			r = save_pattern(v, v->item->path);
	return r;
}

// --- reading the dumps ---

static void forget_entries(struct snapshot *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->entries[i].path);
		free(s->entries[i].target);
		buf_fini(&s->entries[i].held);
	}
	s->n = 0;
}

static bool has_same_queues(const struct kfd_procs *a, const struct kfd_procs *b)
{
	bool same = a->nprocs == b->nprocs;
	for (size_t i = 0; same && i < a->nprocs; i++)
		same = a->procs[i].pid == b->procs[i].pid &&
		       kfd_procs_same_queues(a, &a->procs[i], b, &b->procs[i]);
	return same;
}

static bool is_in_pids(const void *only, pid_t pid)
{
	return pids_has(only, pid);
}

static int read_kfd_queues(struct kfd_procs *p, const struct saver *v)
{
	const struct kfd_procs_how how = {.keep = v->only ? is_in_pids : NULL, .arg = v->only};
	int r = kfd_procs_read(p, &how);
	return r && (errno == ENOENT || errno == EACCES) ? 0 : r;
}

// Reads the dumps, at most MAX_TRIES times, until no queue came or went during a reading. Sets
// `after` to the queues after the last reading.
static int read_dumps(struct saver *v, struct kfd_procs *after)
{
	struct snapshot *s = v->s;
	int r = read_kfd_queues(after, v);
	while (r == 0 && !s->settled && s->tries < MAX_TRIES) {
		struct kfd_procs now = {0};
		forget_entries(s);
		s->begin_ns = clock_ns();
		r = save_items(v, SNAP_DUMP, true);
		s->end_ns = clock_ns();
		if (r == 0)
			r = read_kfd_queues(&now, v);
		s->tries++;
		s->settled = r == 0 && has_same_queues(after, &now);
		kfd_procs_fini(after);
		*after = now;
	}
	return r;
}

static int write_dumps(struct saver *v)
{
	int r = 0;
	for (size_t i = 0; i < v->s->n && r == 0; i++) {
		struct snapshot_entry *e = &v->s->entries[i];
		if (e->target)
			r = tree_link(v->t, e->path, e->target);
		else if (!e->error)
			r = tree_file(v->t, e->path, e->size ? e->held.data : "", e->size);
		buf_fini(&e->held);
	}
	return r;
}

// --- what only a running host knows about queues ---

struct created {
	uint64_t when;
	unsigned id;
};

COMPARE_BY(by_creation, struct created, when)

static void write_ids(struct buf *b, struct created *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_creation);
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%u%c", v[i].id, i + 1 < n ? ' ' : '\n');
}

// Writes the ids of a context's queues in order of creation, for the file .order (procs.c reads
// it). Queues of unknown creation time are left out.
static void order_text(const struct kfd_procs *p, const struct kfd_proc *proc, int context,
		       struct buf *b)
{
	SCOPED(free_at) struct created *v = xcalloc(proc->queues + 1u, sizeof(*v));
	size_t n = 0;
	for (uint32_t i = 0; i < proc->queues; i++) {
		const struct kfd_queue *q = &p->queues[proc->queue + i];
		if (q->context == context && q->created != KFD_UNKNOWN)
			v[n++] = (struct created){q->created, q->qid};
	}
	write_ids(b, v, n);
}

// Writes the ids of secondary contexts in order of creation, for the file .contexts; nothing if the
// order is unknown.
static void contexts_text(const struct kfd_procs *p, const struct kfd_proc *proc, struct buf *b)
{
	SCOPED(free_at) struct created *v = xcalloc(proc->contexts + 1u, sizeof(*v));
	bool known = true;
	for (uint32_t i = 1; i < proc->contexts; i++) { // context 0 is the primary one
		const struct kfd_context *c = &p->contexts[proc->context + i];
		v[i - 1] = (struct created){c->created, (unsigned)c->id};
		known &= c->created != KFD_UNKNOWN;
	}
	if (known && proc->contexts)
		write_ids(b, v, proc->contexts - 1);
}

static int save_text(struct tree *t, const char *dir, const char *name, struct buf *b)
{
	SCOPED(free_at) char *path = xasprintf("%s/%s", dir, name);
	int r = b->len ? tree_file(t, path, b->data, b->len) : 0;
	b->len = 0;
	return r;
}

// Saves the present indices and the holder of a queue in its file .now, which queue_rows.c reads.
static int save_now(struct tree *t, const char *dir, const struct queue_row *r)
{
	SCOPED(buf_fini) struct buf b = {0};
	char name[40];
	const bool indices = r->now.read != KFD_UNKNOWN && r->now.write != KFD_UNKNOWN;
	if (indices)
		buf_printf(&b, "%" PRIu64 " %" PRIu64, r->now.read, r->now.write);
	if (r->now.holder >= 0)
		buf_printf(&b, "%s %" PRId64 "\n", indices ? "" : "- -", r->now.holder);
	else if (indices)
		buf_puts(&b, " -\n");
	snprintf(name, sizeof(name), "queues/%u/.now", (unsigned)r->qid);
	return save_text(t, dir, name, &b);
}

// Keeps the path of KFD's folder of processes, links resolved: a tree has no files below a link.
static int keep_procs(void *saver, const char *found)
{
	((struct saver *)saver)->procs = xstrdup(found);
	return 1;
}

static int save_context(struct saver *v, const struct kfd_procs *p, const struct kfd_context *c,
			const struct queue_rows *now)
{
	const struct kfd_proc *proc = &p->procs[c->proc];
	const uint64_t context = c->id < 0 ? KFD_UNKNOWN : (uint64_t)c->id;
	char sub[24] = "";
	SCOPED(buf_fini) struct buf b = {0};
	if (c->id >= 0)
		snprintf(sub, sizeof(sub), "/context_%d", (int)c->id);
	SCOPED(free_at) char *dir = xasprintf("%s/%d%s", v->procs, (int)proc->pid, sub);
	order_text(p, proc, c->id, &b);
	int r = save_text(v->t, dir, "queues/.order", &b);
	for (size_t i = 0; i < now->n && !r; i++) {
		const struct queue_row *row = &now->rows[i];
		if (row->pid == proc->pid && row->context == context && row->qid != KFD_UNKNOWN)
			r = save_now(v->t, dir, row);
	}
	if (!r && c->id < 0) {
		contexts_text(p, proc, &b);
		r = save_text(v->t, dir, ".contexts", &b);
	}
	return r;
}

static int save_queues(struct saver *v, const struct kfd_procs *p, const struct queue_rows *now)
{
	static const struct snapshot_item folder = {.flags = SNAP_OPTIONAL};
	const struct glob_visitor visitor = {keep_procs, on_link, on_missing, v, false};
	v->item = &folder;
	int r = host_glob("/sys/class/kfd/kfd/proc", &visitor) < 0 ? -1 : 0;
	if (!r && v->procs) // also if there is no process: a missing folder means "not recorded"
		r = tree_dir(v->t, v->procs);
	for (size_t i = 0; i < p->ncontexts && !r && v->procs; i++)
		r = save_context(v, p, &p->contexts[i], now);
	free(v->procs);
	return r;
}

// --- files of processes ---

COMPARE_VALUES(by_pid_value, pid_t)

// Adds a process and its ancestors, which --tree needs.
static void add_concerned(struct pids *to, pid_t pid)
{
	struct proc proc;
	for (unsigned k = 0; k < MAX_ANCESTORS && pid > 0 && !pids_has(to, pid); k++) {
		pids_push(to, pid);
		pid = proc_read(&proc, pid) ? 0 : proc.ppid;
	}
}

static int save_processes(struct saver *v, const struct kfd_procs *p)
{
	struct pids all = {0};
	int r = 0;
	for (size_t i = 0; i < p->nprocs; i++)
		add_concerned(&all, p->procs[i].pid);
	for (size_t i = 0; v->only && i < v->only->n; i++) // also if not in sysfs [kfd.proc-life]
		add_concerned(&all, v->only->v[i]);
	ARRAY_SORT(all.v, all.n, by_pid_value);
	for (v->item = snapshot_items; v->item->path && r == 0; v->item++)
		if (v->item->flags & SNAP_PROC && is_wanted(v))
			r = save_per_process(v, all.v, all.n);
	if (r == 0)
		r = snapshot_add_names(v, all.v, all.n);
	free(all.v);
	return r;
}

// Asked after all else, as opening /dev/kfd makes gpq itself a KFD process for a moment.
static void ask_version(struct snapshot *s)
{
	struct kfd_version v;
	SCOPED(close_at) int fd = s->live ? kfd_open() : -1;
	if (fd < 0)
		return;
	if (kfd_ioctl(fd, KFD_GET_VERSION, &v) == 0) {
		s->kfd_major = v.major;
		s->kfd_minor = v.minor;
	}
}

int snapshot_save(struct snapshot *s, struct tree *t, const struct snapshot_how *save)
{
	struct saver v = {.s = s, .t = t, .how = save, .r = save->names, .only = save->only};
	struct kfd_procs queues = {0};
	struct pids recorded = {0};
	if (!v.only && recorded_chosen(&recorded))
		v.only = &recorded;
	const struct queue_rows_how how = {.want = READ_MQD | READ_INDICES | READ_HOLDER,
					   .keep = v.only ? is_in_pids : NULL,
					   .arg = v.only};
	struct process_cache processes = {0};
	struct queue_rows now = {0};
	*s = (struct snapshot){.live = host_is_live()};
	int failed = read_dumps(&v, &queues);
	if (!failed && queues.nqueues)
		queue_rows_load(&now, &processes, &how); // if it fails, there are no files .now
	failed = failed || write_dumps(&v) || (save->add && save->add(save->arg, &v)) ||
		 save_queues(&v, &queues, &now) || save_items(&v, SNAP_DUMP, false) ||
		 save_processes(&v, &queues);
	s->procs = queues.nprocs;
	s->queues = queues.nqueues;
	if (!failed) {
		ask_version(s);
		failed = snapshot_add_manifest(&v);
	}
	int saved = errno;
	free(recorded.v);
	kfd_procs_fini(&queues);
	queue_rows_fini(&now);
	process_cache_fini(&processes);
	errno = saved;
	return failed ? -1 : 0;
}

void snapshot_fini(struct snapshot *s)
{
	forget_entries(s);
	free(s->entries);
	*s = (struct snapshot){0};
}
