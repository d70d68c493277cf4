// Processes and queues from sysfs; see procs.h. Formats: kfd-facts 4.1.
//
// Thousands of one-line files are read here, and nothing else takes time: three system calls each,
// paths relative to the directory at hand, no second read (sysfs gives an attribute in one piece),
// no stdio.
#include "common/kfd/procs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/host/array.h"
#include "common/host/root.h"

#define PROC_DIR "/sys/class/kfd/kfd/proc"

struct reader {
	struct kfd_procs *p;
	const struct kfd_procs_how *how;
	bool sysfs; // inode numbers are kernfs's own
};

const char *kfd_queue_type_name(int type)
{
	static const char *const names[] = {"compute", "sdma",      "hiq",
					    "diq",     "sdma-xgmi", "sdma-by-engine"};

	return type >= 0 && type < (int)(sizeof(names) / sizeof(names[0])) ? names[type] : NULL;
}

// --- small things ---

// A whole decimal number, up to 64 bits, ended by a newline or the end of the text.
static bool number(const char *s, const char *end, uint64_t *out)
{
	uint64_t v = 0;
	const char *p = s;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	*out = v;
	return p > s && (p == end || *p == '\n');
}

// A directory entry that is a number below 2^31 as the kernel writes it, and nothing else: a
// recorded host may hold "000...5", which is as long as a name can be.
static bool id_name(const char *name, uint32_t *out)
{
	size_t len = strlen(name);
	uint64_t v;

	if (len > 10 || (len > 1 && name[0] == '0') || !number(name, name + len, &v) ||
	    v > INT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

// The number a file holds, KFD_UNKNOWN when there is none to be had.
static uint64_t read_number(int dir, const char *name)
{
	char text[64];
	uint64_t v;
	// Links are refused: a recorded host may come from a stranger, and sysfs has none here.
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return KFD_UNKNOWN;
	ssize_t n = read(fd, text, sizeof(text));

	close(fd);
	return n > 0 && n < (ssize_t)sizeof(text) && number(text, text + n, &v) ? v : KFD_UNKNOWN;
}

static uint32_t read_u32(int dir, const char *name, uint32_t unknown)
{
	uint64_t v = read_number(dir, name);

	return v > UINT32_MAX ? unknown : (uint32_t)v;
}

static DIR *open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

// --- queues ---

// The name of a queue's file, "<qid>/<file>"; qids come as text already.
static const char *queue_file(char out[64], const char *qid, const char *file)
{
	char *end = stpcpy(out, qid);

	*end++ = '/';
	stpcpy(end, file);
	return out;
}

static int add_queue(struct reader *r, int dir, const struct dirent *e, uint32_t qid,
		     int32_t context)
{
	struct kfd_procs *p = r->p;
	unsigned want = r->how->want;
	char name[64];

	if (ARRAY_GROW(p->queues, p->cap_queues, p->nqueues))
		return -1;
	struct kfd_queue *q = &p->queues[p->nqueues++];

	*q = (struct kfd_queue){.proc = (uint32_t)p->nprocs - 1,
				.qid = qid,
				.context = context,
				.type = KFD_QUEUE_TYPE_UNKNOWN,
				.bytes = KFD_UNKNOWN,
				.created = r->sysfs ? e->d_ino : KFD_UNKNOWN};
	if (want & KFD_WANT_GPU)
		q->gpu_id = read_u32(dir, queue_file(name, e->d_name, "gpuid"), 0);
	if (want & KFD_WANT_TYPE)
		q->type = (int32_t)read_u32(dir, queue_file(name, e->d_name, "type"), UINT32_MAX);
	if (want & KFD_WANT_SIZE)
		q->bytes = read_number(dir, queue_file(name, e->d_name, "size"));
	return 0;
}

// Creation order of a recorded host: qids, oldest first, in a file beside the queues.
static void read_order(struct reader *r, int dir, size_t first)
{
	struct buf text = {0};
	uint64_t rank = 0, qid;

	if (buf_read_at(&text, dir, ".order") > 0) {
		for (char *save, *word = strtok_r(text.data, " \n", &save); word;
		     word = strtok_r(NULL, " \n", &save)) {
			if (!number(word, word + strlen(word), &qid))
				break;
			rank++;
			for (size_t i = first; i < r->p->nqueues; i++)
				if (r->p->queues[i].qid == qid)
					r->p->queues[i].created = rank;
		}
	}
	buf_fini(&text);
}

static int by_qid(const void *a, const void *b)
{
	const struct kfd_queue *x = a, *y = b;

	return (x->qid > y->qid) - (x->qid < y->qid);
}

static int read_queues(struct reader *r, int parent, const char *name, int32_t context)
{
	size_t first = r->p->nqueues;
	DIR *d = open_dir(parent, name);
	bool order = false;
	int err = 0;

	if (!d)
		return errno == ENOENT ? 0 : -1;
	for (struct dirent *e; !err && (e = readdir(d));) {
		uint32_t qid;

		if (id_name(e->d_name, &qid) && e->d_type != DT_LNK)
			err = add_queue(r, dirfd(d), e, qid, context);
		else
			order |= strcmp(e->d_name, ".order") == 0;
	}
	if (order && !r->sysfs)
		read_order(r, dirfd(d), first);
	closedir(d);
	if (r->p->nqueues > first)
		qsort(r->p->queues + first, r->p->nqueues - first, sizeof(*r->p->queues), by_qid);
	return err;
}

// --- usage ---

static int add_usage(struct reader *r, int dir, uint32_t gpu)
{
	struct kfd_procs *p = r->p;
	unsigned want = r->how->want;
	char name[64];

	if (ARRAY_GROW(p->usages, p->cap_usages, p->nusages))
		return -1;
	struct kfd_usage *u = &p->usages[p->nusages++];

	*u = (struct kfd_usage){
		(uint32_t)p->nprocs - 1, gpu, KFD_UNKNOWN, KFD_UNKNOWN, KFD_UNKNOWN, KFD_UNKNOWN};
	if (want & KFD_WANT_VRAM && snprintf(name, sizeof(name), "vram_%u", gpu) > 0)
		u->vram_bytes = read_number(dir, name);
	if (want & KFD_WANT_SDMA && snprintf(name, sizeof(name), "sdma_%u", gpu) > 0)
		u->sdma_us = read_number(dir, name);
	if (want & KFD_WANT_EVICTED && snprintf(name, sizeof(name), "stats_%u/evicted_ms", gpu) > 0)
		u->evicted_ms = read_number(dir, name);
	if (want & KFD_WANT_CU && snprintf(name, sizeof(name), "stats_%u/cu_occupancy", gpu) > 0)
		u->cu_occupancy = read_number(dir, name);
	return 0;
}

static int want_usage(struct reader *r, int dir, uint32_t gpu)
{
	const struct kfd_procs *p = r->p;

	if (!gpu || kfd_procs_usage(p, &p->procs[p->nprocs - 1], gpu))
		return 0;
	if (add_usage(r, dir, gpu))
		return -1;
	r->p->procs[p->nprocs - 1].usages++;
	return 0;
}

const struct kfd_usage *kfd_procs_usage(const struct kfd_procs *p, const struct kfd_proc *proc,
					uint32_t gpu_id)
{
	for (uint32_t i = 0; i < proc->usages; i++)
		if (p->usages[proc->usage + i].gpu_id == gpu_id)
			return &p->usages[proc->usage + i];
	return NULL;
}

// --- processes ---

// What the process's directory has besides its own queues: contexts of KFD 1.19, and GPUs by name
// of vram_<gpuid>.
static int read_entries(struct reader *r, DIR *d, bool idle_gpus)
{
	for (struct dirent *e; (e = readdir(d));) {
		uint32_t id;
		char name[sizeof(e->d_name) + sizeof("/queues")];

		if (strncmp(e->d_name, "context_", 8) == 0 && id_name(e->d_name + 8, &id)) {
			snprintf(name, sizeof(name), "%s/queues", e->d_name);
			if (read_queues(r, dirfd(d), name, (int32_t)id) && errno == ENOMEM)
				return -1;
		} else if (idle_gpus && strncmp(e->d_name, "vram_", 5) == 0 &&
			   id_name(e->d_name + 5, &id)) {
			if (want_usage(r, dirfd(d), id))
				return -1;
		}
	}
	return 0;
}

static int read_proc(struct reader *r, int parent, const char *name, pid_t pid)
{
	const unsigned usage = KFD_WANT_VRAM | KFD_WANT_SDMA | KFD_WANT_EVICTED | KFD_WANT_CU;
	struct kfd_procs *p = r->p;
	unsigned want = r->how->want;
	DIR *d = open_dir(parent, name);

	if (!d)
		return errno == ENOMEM || errno == EMFILE ? -1 : 0; // it ended meanwhile
	if (ARRAY_GROW(p->procs, p->cap_procs, p->nprocs)) {
		closedir(d);
		return -1;
	}
	struct kfd_proc *proc = &p->procs[p->nprocs++];
	int err;

	*proc = (struct kfd_proc){.pid = pid,
				  .pasid = KFD_UNKNOWN,
				  .queue = (uint32_t)p->nqueues,
				  .usage = (uint32_t)p->nusages};
	if (want & KFD_WANT_PASID)
		proc->pasid = read_number(dirfd(d), "pasid");
	err = read_queues(r, dirfd(d), "queues", -1);
	if (err && errno != ENOMEM) {
		proc->error = errno;
		err = 0;
	}
	if (!err)
		err = read_entries(r, d, want & KFD_WANT_IDLE_GPUS);
	proc->queues = (uint32_t)p->nqueues - proc->queue;
	for (uint32_t i = 0; !err && (want & usage) && i < proc->queues; i++)
		err = want_usage(r, dirfd(d), p->queues[proc->queue + i].gpu_id);
	closedir(d);
	return err;
}

// A process's queues and counters keep their places; only the processes are put in order.
static int by_pid(const void *a, const void *b)
{
	const struct kfd_proc *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void sort_procs(struct kfd_procs *p)
{
	if (!p->nprocs)
		return;
	qsort(p->procs, p->nprocs, sizeof(*p->procs), by_pid);
	for (size_t i = 0; i < p->nprocs; i++) {
		for (uint32_t k = 0; k < p->procs[i].queues; k++)
			p->queues[p->procs[i].queue + k].proc = (uint32_t)i;
		for (uint32_t k = 0; k < p->procs[i].usages; k++)
			p->usages[p->procs[i].usage + k].proc = (uint32_t)i;
	}
}

int kfd_procs_read(struct kfd_procs *p, const struct kfd_procs_how *how)
{
	struct reader r = {.p = p, .how = how};
	struct statfs fs;
	DIR *d = host_opendir(PROC_DIR);
	int err = 0;

	p->nprocs = p->nqueues = p->nusages = 0;
	if (!d)
		return -1;
	r.sysfs = p->sysfs = fstatfs(dirfd(d), &fs) == 0 && fs.f_type == SYSFS_MAGIC;
	for (struct dirent *e; !err && (e = readdir(d));) {
		uint32_t pid;

		if (id_name(e->d_name, &pid) && (!how->keep || how->keep(how->arg, (pid_t)pid)))
			err = read_proc(&r, dirfd(d), e->d_name, (pid_t)pid);
	}
	int saved = errno;

	closedir(d);
	sort_procs(p);
	errno = saved;
	return err;
}

// --- did anything change meanwhile? ---

static bool is_known(const struct kfd_queue *queues, uint32_t n, uint32_t qid, uint64_t created)
{
	for (uint32_t i = 0; i < n; i++)
		if (queues[i].qid == qid && queues[i].created == created)
			return true;
	return false;
}

// An inode number is never given out again, so the same numbers mean the same queues all the time
// in between.
static bool unchanged(const struct kfd_procs *p, const struct kfd_proc *proc)
{
	DIR *d = host_opendirf(PROC_DIR "/%d/queues", (int)proc->pid);
	uint32_t found = 0, qid;
	bool same = d != NULL;

	for (struct dirent *e; same && (e = readdir(d));) {
		if (!id_name(e->d_name, &qid))
			continue;
		same = is_known(p->queues + proc->queue, proc->queues, qid, e->d_ino);
		found++;
	}
	if (d)
		closedir(d);
	return same && found == proc->queues;
}

void kfd_procs_confirm(struct kfd_procs *p)
{
	for (size_t i = 0; p->sysfs && i < p->nprocs; i++) {
		const struct kfd_proc *proc = &p->procs[i];

		if (proc->queues < 2 || unchanged(p, proc))
			continue; // one queue needs no order
		for (uint32_t k = 0; k < proc->queues; k++)
			p->queues[proc->queue + k].created = KFD_UNKNOWN;
	}
}

void kfd_procs_fini(struct kfd_procs *p)
{
	free(p->procs);
	free(p->queues);
	free(p->usages);
	*p = (struct kfd_procs){0};
}
