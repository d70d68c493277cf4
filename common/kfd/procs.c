// Processes and queues from sysfs; see procs.h. Facts: [kfd.proc-files], [kfd.queue-order],
// [kfd.contexts].
//
// Thousands of one-line files are read here, with three system calls each: paths are relative to
// the folder at hand, and one read is enough, as sysfs gives an attribute in one piece.
#include "common/kfd/procs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "common/host/number.h"
#include "common/host/root.h"

#define PROC_DIR     "/sys/class/kfd/kfd/proc"
#define DEBUGFS_PROC "/sys/kernel/debug/kfd/proc"

struct reader {
	struct kfd_procs *p; // the process and context that are being read are its last ones
	const struct kfd_procs_how *how;
	unsigned want; // enum kfd_want: values to read of the current process
};

const char *kfd_queue_type_name(int type)
{
	static const char *const names[] = {"compute", "sdma", "sdma-xgmi"};
	return type >= 0 && type < (int)(COUNT(names)) ? names[type] : NULL;
}

// Numbers of sysfs (enum kfd_queue_type in kfd_priv.h): up to 6.12 at least, 2 is the HIQ, 3 the
// DIQ, 4 SDMA-XGMI; in 7.3 there is no DIQ, and 3 is SDMA-XGMI. Only queues of programs are in
// sysfs, never HIQ or DIQ, so 3 and 4 are the same type. Queues for a given SDMA engine are shown
// as one of these types, too (allocate_sdma_queue() in kfd_device_queue_manager.c).
static int32_t type_of_sysfs(uint32_t number)
{
	static const int8_t types[] = {KFD_QUEUE_COMPUTE, KFD_QUEUE_SDMA, KFD_QUEUE_TYPE_UNKNOWN,
				       KFD_QUEUE_SDMA_XGMI, KFD_QUEUE_SDMA_XGMI};
	return number < COUNT(types) ? types[number] : KFD_QUEUE_TYPE_UNKNOWN;
}

// The number in a file of `dir`; KFD_UNKNOWN: it cannot be read, or is no number.
static uint64_t read_number(int dir, const char *name)
{
	char text[64];
	uint64_t v;
	// Links are refused: a recorded host may come from a stranger, and sysfs has none here.
	SCOPED(close_at) int fd = host_open_file(dir, name);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (n < 0)
		host_trouble(name, errno);
	return n > 0 && n < (ssize_t)sizeof(text) && kfd_parse_number(text, text + n, &v)
		       ? v
		       : KFD_UNKNOWN;
}

static uint32_t read_file_u32(int dir, const char *name, uint32_t unknown)
{
	uint64_t v = read_number(dir, name);
	return v > UINT32_MAX ? unknown : (uint32_t)v;
}

static DIR *open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		host_trouble(name, errno);
	if (!d && fd >= 0)
		close_quietly(fd);
	return d;
}

// --- reading queues ---

// Writes the name of a queue's file, "<qid>/<file>", to `out` and returns it.
static const char *queue_file(char out[64], const char *qid, const char *file)
{
	char *end = stpcpy(out, qid);
	*end++ = '/';
	stpcpy(end, file);
	return out;
}

static void add_sysfs_queue(struct reader *r, int dir, const struct dirent *e, uint32_t qid)
{
	struct kfd_procs *p = r->p;
	unsigned want = r->want;
	char name[64];
	struct kfd_queue *q = ARRAY_ADD(p->queues, p->cap_queues, p->nqueues);
	*q = (struct kfd_queue){.proc = (uint32_t)p->nprocs - 1,
				.owner = (uint32_t)p->ncontexts - 1,
				.qid = qid,
				.context = p->contexts[p->ncontexts - 1].id,
				.type = KFD_QUEUE_TYPE_UNKNOWN,
				.bytes = KFD_UNKNOWN,
				.created = p->sysfs ? e->d_ino : KFD_UNKNOWN};
	if (want & KFD_WANT_GPU)
		q->gpu_id = read_file_u32(dir, queue_file(name, e->d_name, "gpuid"), 0);
	if (want & KFD_WANT_TYPE)
		q->type = type_of_sysfs(
			read_file_u32(dir, queue_file(name, e->d_name, "type"), UINT32_MAX));
	if (want & KFD_WANT_SIZE)
		q->bytes = read_number(dir, queue_file(name, e->d_name, "size"));
}

// Reads a recorded host's list of ids, oldest first, and sets `created` to ranks from 1: of the
// contexts of the current process, or of the queues of its last context.
static void read_order_file(struct kfd_procs *p, int dir, const char *name, bool contexts)
{
	SCOPED(buf_fini) struct buf text = {0};
	uint64_t rank = 0, id;
	const ssize_t n = buf_read_at(&text, dir, name);
	if (n < 0)
		host_trouble(name, errno);
	const char *s = n > 0 ? text.data : "";
	while (*(s += strspn(s, " \n")) && (s = number_read(s, NULL, 10, KFD_UNKNOWN - 1, &id)) &&
	       strchr(" \n", *s)) {
		rank++;
		for (size_t i = p->procs[p->nprocs - 1].context; contexts && i < p->ncontexts; i++)
			if ((uint64_t)p->contexts[i].id == id)
				p->contexts[i].created = rank;
		for (size_t i = p->contexts[p->ncontexts - 1].queue; !contexts && i < p->nqueues;
		     i++)
			if (p->queues[i].qid == id)
				p->queues[i].created = rank;
	}
}

COMPARE_BY(by_qid, struct kfd_queue, qid)

// Reads the queues of the context added last. Returns 0 or an errno.
static int read_queues(struct reader *r, int parent)
{
	struct kfd_procs *p = r->p;
	size_t first = p->nqueues;
	SCOPED(closedir_at) DIR *d = open_dir(parent, "queues");
	bool order = false;
	if (!d)
		return errno == ENOENT ? 0 : errno;
	for (struct dirent *e; (e = host_readdir(d));) {
		uint32_t qid;
		if (kfd_parse_id(e->d_name, &qid) && e->d_type != DT_LNK)
			add_sysfs_queue(r, dirfd(d), e, qid);
		else
			order |= strcmp(e->d_name, ".order") == 0;
	}
	if (order && !p->sysfs)
		read_order_file(p, dirfd(d), ".order", false);
	ARRAY_SORT(p->queues + first, p->nqueues - first, by_qid);
	return 0;
}

// --- reading counters of usage ---

// The PASID of a context on a GPU; KFD_UNKNOWN until the process acquires the GPU (debugfs: 0).
static uint64_t read_pasid(const struct kfd_proc *proc, int32_t context, uint32_t gpu)
{
	char name[32] = "";
	SCOPED(buf_fini) struct buf text = {0};
	uint64_t v = 0;
	if (proc->pasid != KFD_UNKNOWN)
		return proc->pasid;
	if (context >= 0)
		snprintf(name, sizeof(name), "context_%d/", (int)context);
	if (host_read(&text, PATH(DEBUGFS_PROC "/%d/%spasid_%u", (int)proc->pid, name, gpu)) <= 0 ||
	    !kfd_parse_number(text.data, text.data + text.len, &v))
		v = 0;
	return v ? v : KFD_UNKNOWN;
}

// Adds the current context's counters on a GPU, unless they are there already.
static void add_usage(struct reader *r, int dir, uint32_t gpu)
{
	static const struct {
		unsigned want, unit;
		const char *name;
		size_t member;
	} files[] = {{KFD_WANT_VRAM, 1, "vram_%u", offsetof(struct kfd_usage, vram_bytes)},
		     {KFD_WANT_SDMA, 1000, "sdma_%u", offsetof(struct kfd_usage, sdma_ns)},
		     {KFD_WANT_EVICTED, 1000000, "stats_%u/evicted_ms",
		      offsetof(struct kfd_usage, evicted_ns)},
		     {KFD_WANT_CU, 1, "stats_%u/cu_occupancy",
		      offsetof(struct kfd_usage, cu_occupancy)}};
	struct kfd_procs *p = r->p;
	struct kfd_context *c = &p->contexts[p->ncontexts - 1];
	char name[64];
	if (!gpu || kfd_procs_usage(p, c, gpu))
		return;
	struct kfd_usage *u = ARRAY_ADD(p->usages, p->cap_usages, p->nusages);
	c->usages++;
	memset(u, 0xff, sizeof(*u)); // all numbers KFD_UNKNOWN
	u->context = (uint32_t)p->ncontexts - 1;
	u->gpu_id = gpu;
	for (size_t i = 0; i < COUNT(files); i++) {
		if (!(r->want & files[i].want))
			continue;
		snprintf(name, sizeof(name), files[i].name, gpu);
		uint64_t *to = (uint64_t *)(void *)((char *)u + files[i].member);
		if (__builtin_mul_overflow(read_number(dir, name), files[i].unit, to))
			*to = KFD_UNKNOWN;
	}
	if (r->want & KFD_WANT_PASID)
		u->pasid = read_pasid(&p->procs[p->nprocs - 1], c->id, gpu);
}

const struct kfd_usage *kfd_procs_usage(const struct kfd_procs *p, const struct kfd_context *c,
					uint32_t gpu_id)
{
	for (uint32_t i = 0; i < c->usages; i++)
		if (p->usages[c->usage + i].gpu_id == gpu_id)
			return &p->usages[c->usage + i];
	return NULL;
}

// --- reading contexts ---

COMPARE_BY(by_id, struct kfd_context, id)

// Adds counters on all GPUs of the process, even without queues; files vram_<gpuid> name the GPUs.
static void read_idle_gpus(struct reader *r, int dir)
{
	SCOPED(closedir_at) DIR *d = open_dir(dir, ".");
	for (struct dirent *e; d && (e = host_readdir(d));) {
		uint32_t gpu;
		if (strncmp(e->d_name, "vram_", 5) == 0 && kfd_parse_id(e->d_name + 5, &gpu))
			add_usage(r, dirfd(d), gpu);
	}
}

static void read_context(struct reader *r, int dir)
{
	const unsigned usage =
		KFD_WANT_VRAM | KFD_WANT_SDMA | KFD_WANT_EVICTED | KFD_WANT_CU | KFD_WANT_PASID;
	struct kfd_procs *p = r->p;
	struct kfd_context *c = &p->contexts[p->ncontexts - 1];
	int err = read_queues(r, dir);
	if (err && c->id < 0)
		p->procs[p->nprocs - 1].error = err;
	c->queues = (uint32_t)p->nqueues - c->queue;
	if (r->want & KFD_WANT_IDLE_GPUS)
		read_idle_gpus(r, dir);
	for (uint32_t i = 0; (r->want & usage) && i < c->queues; i++)
		add_usage(r, dir, p->queues[c->queue + i].gpu_id);
}

static void add_context(struct reader *r, int32_t id, uint64_t created)
{
	struct kfd_procs *p = r->p;
	*ARRAY_ADD(p->contexts, p->cap_contexts, p->ncontexts) =
		(struct kfd_context){.proc = (uint32_t)p->nprocs - 1,
				     .id = id,
				     .created = created,
				     .queue = (uint32_t)p->nqueues,
				     .usage = (uint32_t)p->nusages};
	p->procs[p->nprocs - 1].contexts++;
}

// Adds the primary context, then the secondary ones by id. Their queues are read later.
static void find_contexts(struct reader *r, DIR *d)
{
	struct kfd_procs *p = r->p;
	const size_t first = p->ncontexts;
	bool order = false;
	add_context(r, -1, 0);
	for (struct dirent *e; (e = host_readdir(d));) {
		uint32_t id;
		if (strncmp(e->d_name, "context_", 8) == 0 && kfd_parse_id(e->d_name + 8, &id))
			add_context(r, (int32_t)id, p->sysfs ? e->d_ino : KFD_UNKNOWN);
		else
			order |= strcmp(e->d_name, ".contexts") == 0;
	}
	qsort(p->contexts + first, p->ncontexts - first, sizeof(*p->contexts), by_id);
	if (order && !p->sysfs)
		read_order_file(p, dirfd(d), ".contexts", true);
}

// Reads the contexts one after the other, as the queues of each must be adjacent in the array.
static void read_contexts(struct reader *r, DIR *d)
{
	struct kfd_procs *p = r->p;
	struct kfd_proc *proc = &p->procs[p->nprocs - 1];
	const uint32_t first = (uint32_t)p->ncontexts;
	find_contexts(r, d);
	const uint32_t n = (uint32_t)p->ncontexts - first;
	r->want = r->how->want;
	if (n > 1 && r->want & KFD_WANT_JOIN)
		r->want |= KFD_WANT_PASID;
	if (r->want & KFD_WANT_PASID)
		proc->pasid = read_number(dirfd(d), "pasid");
	if (!proc->pasid) // newer kernels: a PASID on each GPU, 0 here
		proc->pasid = KFD_UNKNOWN;

	for (uint32_t i = 0; i < n; i++) {
		struct kfd_context *c = &p->contexts[first + i];
		char name[32];
		DIR *own = NULL;
		p->ncontexts = first + i + 1;
		c->queue = (uint32_t)p->nqueues;
		c->usage = (uint32_t)p->nusages;
		snprintf(name, sizeof(name), "context_%d", (int)c->id);
		if (c->id >= 0 && !(own = open_dir(dirfd(d), name)))
			continue; // the context ended meanwhile
		read_context(r, dirfd(own ? own : d));
		if (own)
			closedir(own);
	}
}

// --- reading processes ---

static int read_proc(struct reader *r, int parent, const char *name, pid_t pid)
{
	struct kfd_procs *p = r->p;
	SCOPED(closedir_at) DIR *d = open_dir(parent, name);
	if (!d)
		return errno == ENOMEM || errno == EMFILE ? -1 : 0; // 0: the process ended
	struct kfd_proc *proc = ARRAY_ADD(p->procs, p->cap_procs, p->nprocs);
	*proc = (struct kfd_proc){.pid = pid,
				  .pasid = KFD_UNKNOWN,
				  .context = (uint32_t)p->ncontexts,
				  .queue = (uint32_t)p->nqueues,
				  .usage = (uint32_t)p->nusages};
	read_contexts(r, d);
	proc->queues = (uint32_t)p->nqueues - proc->queue;
	proc->usages = (uint32_t)p->nusages - proc->usage;
	return 0;
}

// Order of kfd_procs.procs alone: queues and counters stay where the processes' indices say.
COMPARE_BY(by_pid, struct kfd_proc, pid)

static void sort_procs(struct kfd_procs *p)
{
	if (!p->nprocs)
		return;
	qsort(p->procs, p->nprocs, sizeof(*p->procs), by_pid);
	for (size_t i = 0; i < p->nprocs; i++) {
		for (uint32_t k = 0; k < p->procs[i].queues; k++)
			p->queues[p->procs[i].queue + k].proc = (uint32_t)i;
		for (uint32_t k = 0; k < p->procs[i].contexts; k++)
			p->contexts[p->procs[i].context + k].proc = (uint32_t)i;
	}
}

int kfd_procs_read(struct kfd_procs *p, const struct kfd_procs_how *how)
{
	struct reader r = {.p = p, .how = how};
	struct statfs fs;
	DIR *d = host_opendir(PROC_DIR);
	int err = 0;
	p->nprocs = p->ncontexts = p->nqueues = p->nusages = 0;
	if (!d)
		return -1;
	p->sysfs = fstatfs(dirfd(d), &fs) == 0 && fs.f_type == SYSFS_MAGIC;
	for (struct dirent *e; !err && (e = host_readdir(d));) {
		uint32_t pid;
		if (kfd_parse_id(e->d_name, &pid) &&
		    (!how->keep || how->keep(how->arg, (pid_t)pid)))
			err = read_proc(&r, dirfd(d), e->d_name, (pid_t)pid);
	}
	int saved = errno;
	closedir(d);
	sort_procs(p);
	errno = saved;
	return err;
}

// --- did anything change meanwhile? ---

const struct kfd_proc *kfd_procs_find(const struct kfd_procs *p, pid_t pid)
{
	const struct kfd_proc key = {.pid = pid};
	return p->nprocs ? bsearch(&key, p->procs, p->nprocs, sizeof(key), by_pid) : NULL;
}

// True if the process's order of creation matters: it does not for one queue in one context.
static bool has_order(const void *procs, pid_t pid)
{
	const struct kfd_proc *proc = kfd_procs_find(procs, pid);
	return proc && (proc->queues > 1 || proc->contexts > 1);
}

bool kfd_procs_same_queues(const struct kfd_procs *a, const struct kfd_proc *x,
			   const struct kfd_procs *b, const struct kfd_proc *y)
{
	bool same = x->contexts == y->contexts && x->queues == y->queues;
	for (uint32_t i = 0; same && i < x->contexts; i++) {
		const struct kfd_context *c = &a->contexts[x->context + i];
		const struct kfd_context *d = &b->contexts[y->context + i];
		same = c->id == d->id && c->created == d->created && c->queues == d->queues;
	}
	for (uint32_t i = 0; same && i < x->queues; i++) {
		const struct kfd_queue *q = &a->queues[x->queue + i], *r = &b->queues[y->queue + i];
		same = q->qid == r->qid && q->created == r->created;
	}
	return same;
}

void kfd_procs_confirm(struct kfd_procs *p)
{
	const struct kfd_procs_how how = {.keep = has_order, .arg = p};
	SCOPED(kfd_procs_fini) struct kfd_procs now = {0};
	if (!p->sysfs)
		return;
	kfd_procs_read(&now, &how); // on failure, has what was read before
	for (size_t i = 0; i < p->nprocs; i++) {
		struct kfd_proc *proc = &p->procs[i];
		const struct kfd_proc *again = kfd_procs_find(&now, proc->pid);
		if (!has_order(p, proc->pid) ||
		    (again && kfd_procs_same_queues(p, proc, &now, again)))
			continue;
		proc->changed = true;
		for (uint32_t k = 0; k < proc->queues; k++)
			p->queues[proc->queue + k].created = KFD_UNKNOWN;
		for (uint32_t k = 1; k < proc->contexts; k++)
			p->contexts[proc->context + k].created = KFD_UNKNOWN;
	}
}

void kfd_procs_fini(struct kfd_procs *p)
{
	free(p->procs);
	free(p->contexts);
	free(p->queues);
	free(p->usages);
	*p = (struct kfd_procs){0};
}
