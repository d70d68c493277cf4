// Reading a host and writing it down; see snapshot.h.
//
// The dumps are joined later by what they say, so they must speak of the same moment: they are read
// into memory one after the other and written afterwards, and read again when the list of queues
// was another behind them than before.
#include "common/state/snapshot_priv.h"

#include "common/host/glob.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/driver.h"
#include "common/kfd/procs.h"
#include "common/state/queue_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TRIES = 3, MAX_ANCESTORS = 128 };

// A dump that waits to be written, or a link met on the way to it (`target`).
struct held {
	char *path;
	char *target; // NULL: a file
	struct buf data;
};

struct walk {
	struct saver *v;
	const struct snapshot_item *item;
	const struct kfd_procs *queues; // for SNAP_ORDER
	const struct queue_rows *now;   // likewise
	struct held *held;
	size_t nheld;
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct snapshot_entry *snapshot_note(struct snapshot *s, const char *path, uint64_t size, int error)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 256;
		struct snapshot_entry *e = reallocarray(s->entries, cap, sizeof(*e));
		if (!e)
			return NULL;
		s->entries = e;
		s->cap = cap;
	}
	struct snapshot_entry *e = &s->entries[s->n];
	*e = (struct snapshot_entry){.path = strdup(path), .size = size, .error = error};
	if (!e->path)
		return NULL;
	s->n++;
	if (!error) {
		s->files++;
		s->bytes += size;
	}
	return e;
}

int snapshot_add(struct saver *v, const char *path, const struct buf *b)
{
	if (tree_file(v->t, path, b->len ? b->data : "", b->len))
		return -1;
	return snapshot_note(v->s, path, b->len, 0) ? 0 : -1;
}

// --- one path ---

static struct held *hold(struct walk *w, const char *path, const char *target)
{
	struct held *h = reallocarray(w->held, w->nheld + 1, sizeof(*h));
	if (!h)
		return NULL;
	w->held = h;
	h += w->nheld;
	*h = (struct held){.path = strdup(path), .target = target ? strdup(target) : NULL};
	if (h->path && (!target || h->target)) {
		w->nheld++;
		return h;
	}
	free(h->path);
	return NULL;
}

static void release(struct walk *w)
{
	for (size_t i = 0; i < w->nheld; i++) {
		free(w->held[i].path);
		free(w->held[i].target);
		buf_fini(&w->held[i].data);
	}
	free(w->held);
	w->held = NULL;
	w->nheld = 0;
}

static int on_missing(void *arg, const char *path, int error)
{
	struct walk *w = arg;
	const bool absent = error == ENOENT || error == ENOTDIR;
	if (error == ENOMEM || (absent && w->item->flags & SNAP_OPTIONAL))
		return error == ENOMEM ? -1 : 0;
	return snapshot_note(w->v->s, path, 0, error) ? 0 : -1;
}

static int by_creation(const void *a, const void *b)
{
	const struct kfd_queue *x = a, *y = b;
	return (x->created > y->created) - (x->created < y->created);
}

// Queue ids, oldest first, as procs.c reads them back. Nothing where the order is not known.
static int order_text(const struct kfd_procs *p, const struct kfd_proc *proc, int context,
		      struct buf *b)
{
	struct kfd_queue *q = calloc(proc->queues + 1u, sizeof(*q));
	size_t n = 0;
	if (!q)
		return -1;
	for (uint32_t i = 0; i < proc->queues; i++) {
		const struct kfd_queue *one = &p->queues[proc->queue + i];
		if (one->context == context && one->created != KFD_UNKNOWN)
			q[n++] = *one;
	}
	qsort(q, n, sizeof(*q), by_creation);
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++)
		r = buf_printf(b, "%u%c", q[i].qid, i + 1 < n ? ' ' : '\n');
	free(q);
	return r;
}

static int by_age(const void *a, const void *b)
{
	const struct kfd_context *x = a, *y = b;
	return (x->created > y->created) - (x->created < y->created);
}

// Ids of secondary contexts, oldest first, likewise.
static int contexts_text(const struct kfd_procs *p, const struct kfd_proc *proc, struct buf *b)
{
	const size_t n = proc->contexts;
	struct kfd_context *c = calloc(n + 1, sizeof(*c));
	if (!c)
		return -1;
	memcpy(c, p->contexts + proc->context, n * sizeof(*c));
	qsort(c, n, sizeof(*c), by_age); // the primary one comes first
	int r = 0;
	for (size_t i = 1; i < n && r == 0 && c[n - 1].created != KFD_UNKNOWN; i++)
		r = buf_printf(b, "%d%c", (int)c[i].id, i + 1 < n ? ' ' : '\n');
	free(c);
	return r;
}

// The number behind `mark` in `path`, -1: none.
static long number_behind(const char *path, const char *mark)
{
	const char *s = strstr(path, mark);
	char *end = NULL;
	long v = s ? strtol(s + strlen(mark), &end, 10) : -1;
	return s && end > s + strlen(mark) ? v : -1;
}

static const struct kfd_proc *proc_of(const struct kfd_procs *p, long pid)
{
	for (size_t i = 0; i < p->nprocs; i++)
		if (p->procs[i].pid == pid)
			return &p->procs[i];
	return NULL;
}

static int add_text(struct walk *w, const char *dir, const char *name, struct buf *b)
{
	char path[PATH_MAX];
	int r = 0;
	if (b->len && snprintf(path, sizeof(path), "%s/%s", dir, name) < PATH_MAX)
		r = tree_file(w->v->t, path, b->data, b->len);
	b->len = 0;
	return r;
}

// `dir` is ".../proc/PID/queues" or ".../proc/PID/context_N/queues".
static int add_order(struct walk *w, const char *dir)
{
	const long context = number_behind(dir, "/context_");
	const struct kfd_proc *proc = proc_of(w->queues, number_behind(dir, "/proc/"));
	struct buf b = {0};
	if (!proc)
		return 0;
	int r = order_text(w->queues, proc, (int)context, &b) || add_text(w, dir, ".order", &b);
	if (!r && context < 0 && !contexts_text(w->queues, proc, &b)) {
		char parent[PATH_MAX];
		snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(dir, '/') - dir), dir);
		r = add_text(w, parent, ".contexts", &b);
	}
	buf_fini(&b);
	return r ? -1 : 0;
}

static int put_number(struct buf *b, bool known, uint64_t v, char end)
{
	return known ? buf_printf(b, "%llu%c", (unsigned long long)v, end)
		     : buf_printf(b, "-%c", end);
}

// What only a running host tells of a queue, as queue_rows_live.c reads it back: its indices in the
// process, and who holds it.
static int add_now_of(struct walk *w, const char *dir, const struct queue_row *r)
{
	char path[PATH_MAX];
	struct buf b = {0};
	const bool indices = r->read_now != KFD_UNKNOWN && r->write_now != KFD_UNKNOWN;
	const bool held = r->holder >= 0;
	if (!indices && !held)
		return 0;
	int n = snprintf(path, sizeof(path), "%s/%u/.now", dir, (unsigned)r->qid);
	int failed = n >= PATH_MAX || put_number(&b, indices, r->read_now, ' ') ||
		     put_number(&b, indices, r->write_now, ' ') ||
		     put_number(&b, held, (uint64_t)r->holder, '\n') ||
		     tree_file(w->v->t, path, b.data, b.len);
	int saved = errno;
	buf_fini(&b);
	errno = saved;
	return failed ? -1 : 0;
}

static int add_now(struct walk *w, const char *dir)
{
	const long pid = number_behind(dir, "/proc/"), context = number_behind(dir, "/context_");
	const uint64_t wanted = context < 0 ? KFD_UNKNOWN : (uint64_t)context;
	int r = 0;
	for (size_t i = 0; i < w->now->n && r == 0; i++) {
		const struct queue_row *row = &w->now->rows[i];
		if (row->pid == pid && row->context == wanted && row->qid != KFD_UNKNOWN)
			r = add_now_of(w, dir, row);
	}
	return r;
}

static int add_dir(struct walk *w, const char *path)
{
	if (tree_dir(w->v->t, path))
		return -1;
	if (!(w->item->flags & SNAP_ORDER))
		return 0;
	return add_order(w, path) || add_now(w, path) ? -1 : 0;
}

// Whole file into `b`. 1: it is a folder; -1 with errno.
static int read_file(const char *path, struct buf *b)
{
	struct stat st;
	int fd = host_open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	int r = fstat(fd, &st);
	if (r == 0 && S_ISDIR(st.st_mode))
		r = 1;
	else if (r == 0 && S_ISREG(st.st_mode))
		r = buf_read_fd(b, fd) < 0 ? -1 : 0;
	else if (r == 0)
		r = (errno = EINVAL, -1); // a device or a pipe has no place here
	int saved = errno;
	close(fd);
	errno = saved;
	return r;
}

static int add_dump(struct walk *w, const char *path)
{
	struct held *h = hold(w, path, NULL);
	const uint64_t begin = now_ns();
	if (!h)
		return -1;
	int r = read_file(path, &h->data);
	if (r) {
		int error = r > 0 ? EISDIR : errno;
		free(h->path);
		buf_fini(&h->data);
		w->nheld--;
		return on_missing(w, path, error);
	}
	struct snapshot_entry *e = snapshot_note(w->v->s, path, h->data.len, 0);
	if (!e)
		return -1;
	e->begin_ns = begin;
	e->end_ns = now_ns();
	return 0;
}

static int add_file(struct walk *w, const char *path)
{
	struct buf b = {0};
	int r = read_file(path, &b);
	if (r > 0)
		r = add_dir(w, path);
	else if (r < 0)
		r = on_missing(w, path, errno);
	else if (w->v->r && w->item->redact && w->item->redact(w->v->r, &b))
		r = -1;
	else
		r = snapshot_add(w->v, path, &b);
	int saved = errno;
	buf_fini(&b);
	errno = saved;
	return r;
}

static int on_found(void *arg, const char *path)
{
	struct walk *w = arg;
	if (*w->v->stop) {
		errno = EINTR;
		return -1;
	}
	if (strcmp(path, "/") == 0) // where only a stranger's link can lead
		return 0;
	return w->item->flags & SNAP_DUMP ? add_dump(w, path) : add_file(w, path);
}

static int on_link(void *arg, const char *path, const char *target)
{
	struct walk *w = arg;
	if (w->item->flags & SNAP_DUMP)
		return hold(w, path, target) ? 0 : -1;
	return tree_link(w->v->t, path, target);
}

// --- items ---

static int save_flat(struct walk *w)
{
	char target[PATH_MAX];
	const char *path = w->item->path;
	if (!(w->item->flags & SNAP_LINK))
		return add_file(w, path);
	if (host_readlink(path, target, sizeof(target)) < 0)
		return on_missing(w, path, errno);
	return tree_link(w->v->t, path, target);
}

static int save_pattern(struct walk *w, const char *pattern)
{
	const struct glob_visitor v = {on_found, on_link, on_missing, w,
				       (w->item->flags & SNAP_LINK) != 0};
	return w->item->flags & SNAP_FLAT ? save_flat(w) : host_glob(pattern, &v);
}

static int save_per_process(struct walk *w, const pid_t *pids, size_t n)
{
	const char *path = w->item->path, *mark = strchr(path, '%');
	char pattern[256];
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		snprintf(pattern, sizeof(pattern), "%.*s%d%s", (int)(mark - path), path,
			 (int)pids[i], mark + 1);
		r = save_pattern(w, pattern);
	}
	return r;
}

// All items that have this flag (`on`), or have it not.
static int save_items(struct walk *w, unsigned flag, bool on)
{
	int r = 0;
	for (w->item = snapshot_items; w->item->path && r == 0; w->item++)
		if (!(w->item->flags & SNAP_PROC) && !(w->item->flags & flag) != on)
			r = save_pattern(w, w->item->path);
	return r;
}

// --- the dumps ---

static void forget_entries(struct snapshot *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->entries[i].path);
	s->n = s->files = 0;
	s->bytes = 0;
}

static bool same_queues(const struct kfd_procs *a, const struct kfd_procs *b)
{
	if (a->nqueues != b->nqueues || a->nprocs != b->nprocs || a->ncontexts != b->ncontexts)
		return false;
	for (size_t i = 0; i < a->ncontexts; i++) {
		const struct kfd_context *x = &a->contexts[i], *y = &b->contexts[i];
		if (x->id != y->id || x->created != y->created)
			return false;
	}
	for (size_t i = 0; i < a->nqueues; i++) {
		const struct kfd_queue *x = &a->queues[i], *y = &b->queues[i];
		if (a->procs[x->proc].pid != b->procs[y->proc].pid || x->qid != y->qid ||
		    x->context != y->context || x->created != y->created)
			return false;
	}
	return true;
}

static int list_queues(struct kfd_procs *p)
{
	const struct kfd_procs_how how = {0};
	int r = kfd_procs_read(p, &how);
	return r && (errno == ENOENT || errno == EACCES) ? 0 : r;
}

// Reads the dumps until the queues stay the same meanwhile; `after` are these queues.
static int read_dumps(struct walk *w, struct kfd_procs *after)
{
	struct snapshot *s = w->v->s;
	struct kfd_procs before = {0};
	int r = list_queues(&before);
	while (r == 0 && !s->settled && s->tries < MAX_TRIES) {
		forget_entries(s);
		release(w);
		s->begin_ns = now_ns();
		r = save_items(w, SNAP_DUMP, true);
		s->end_ns = now_ns();
		if (r == 0)
			r = list_queues(after);
		s->tries++;
		s->settled = r == 0 && same_queues(&before, after);
		struct kfd_procs swap = before;
		before = *after;
		*after = swap;
	}
	kfd_procs_fini(after);
	*after = before; // the last list
	return r;
}

static int write_dumps(struct walk *w)
{
	int r = 0;
	for (size_t i = 0; i < w->nheld && r == 0; i++) {
		const struct held *h = &w->held[i];
		r = h->target ? tree_link(w->v->t, h->path, h->target)
			      : tree_file(w->v->t, h->path, h->data.len ? h->data.data : "",
					  h->data.len);
	}
	release(w);
	return r;
}

// --- processes ---

static bool has_pid(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

// KFD's processes and all their ancestors, which --tree needs. The list, sorted; NULL with ENOMEM.
static pid_t *concerned(const struct kfd_procs *p, size_t *n)
{
	size_t have = 0;
	pid_t *pids = NULL;
	for (size_t i = 0; i < p->nprocs; i++) {
		pid_t pid = p->procs[i].pid;
		for (unsigned k = 0; k < MAX_ANCESTORS && pid > 0 && !has_pid(pids, have, pid);
		     k++) {
			pid_t *more = reallocarray(pids, have + 1, sizeof(*pids));
			if (!more) {
				free(pids);
				return NULL;
			}
			pids = more;
			pids[have++] = pid;
			struct proc proc;
			pid = proc_read(&proc, pid) ? 0 : proc.ppid;
		}
	}
	*n = have;
	if (have)
		qsort(pids, have, sizeof(*pids), by_pid);
	return pids ? pids : calloc(1, sizeof(*pids));
}

static int save_processes(struct walk *w)
{
	size_t n = 0;
	pid_t *pids = concerned(w->queues, &n);
	int r = pids ? 0 : -1;
	for (w->item = snapshot_items; w->item->path && r == 0; w->item++)
		if (w->item->flags & SNAP_PROC)
			r = save_per_process(w, pids, n);
	if (r == 0)
		r = snapshot_add_names(w->v, pids, n);
	int saved = errno;
	free(pids);
	errno = saved;
	return r;
}

// Opening /dev/kfd makes gpq a KFD process for a moment, so it comes last.
static void ask_version(struct snapshot *s)
{
	struct kfd_version v;
	int fd = s->live ? kfd_open() : -1;
	if (fd < 0)
		return;
	if (kfd_ioctl(fd, KFD_GET_VERSION, &v) == 0) {
		s->kfd_major = v.major;
		s->kfd_minor = v.minor;
	}
	close(fd);
}

int snapshot_save(struct snapshot *s, struct tree *t, struct redact *r, const volatile int *stop)
{
	struct saver v = {s, t, r, stop};
	struct kfd_procs queues = {0};
	const struct queue_rows_how how = {.want = READ_MQD | READ_INDICES | READ_HOLDER};
	struct process_cache processes = {0};
	struct queue_rows now = {0};
	struct walk w = {.v = &v, .queues = &queues, .now = &now};
	*s = (struct snapshot){.live = host_is_live()};
	int failed = read_dumps(&w, &queues);
	if (!failed && queues.nqueues)
		queue_rows_load(&now, &processes, &how); // without it, no .now
	failed =
		failed || write_dumps(&w) || save_items(&w, SNAP_DUMP, false) || save_processes(&w);
	s->procs = queues.nprocs;
	s->queues = queues.nqueues;
	if (!failed) {
		ask_version(s);
		failed = snapshot_add_manifest(&v);
	}
	int saved = errno;
	release(&w);
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
