// Reads indices and saved waves from a target's memory; measure.h. Facts: kfd-facts.md 2.1, 8.
#include "common/holder/measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

static bool read_at(int mem, uint64_t address, void *to, size_t size)
{
	return pread(mem, to, size, (off_t)address) == (ssize_t)size;
}

static int open_memory(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

// ---- one queue

// Buffers that the GPU driver mapped are "PFN maps": process_vm_readv() refuses them, while
// /proc/PID/mem asks the driver, which can read them.
static bool read_target(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	bool ok;
	int fd;

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size)
		return true;
	fd = open_memory(pid);
	ok = fd >= 0 && read_at(fd, address, to, size);
	if (fd >= 0)
		close(fd);
	return ok;
}

static uint64_t header_of(const struct kfd_queue_entry *q, unsigned xcc)
{
	return q->ctx_save_restore_address + (uint64_t)xcc * q->ctx_save_restore_area_size;
}

// Others have no context header.
static bool is_compute(const struct kfd_queue_entry *q)
{
	return (q->queue_type == KFD_SNAPSHOT_COMPUTE ||
		q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL) &&
	       q->ctx_save_restore_address;
}

static bool read_saved(pid_t pid, const struct kfd_queue_entry *q, unsigned xccs,
		       struct kfd_quiesce *p)
{
	struct kfd_ctx_header h;

	if (!is_compute(q))
		return false;
	for (unsigned i = 0; i < xccs; i++) {
		if (!read_target(pid, header_of(q, i), &h, sizeof(h)))
			return false;
		p->saved_bytes += (uint64_t)h.control_stack_size + h.wave_state_size;
		p->saved_waves_bytes += h.wave_state_size;
	}
	return true;
}

void kfd_quiesce_read(pid_t pid, const struct kfd_queue_entry *q, unsigned xccs,
		      struct kfd_quiesce *p)
{
	*p = (struct kfd_quiesce){0};
	p->has_indices =
		read_target(pid, q->read_pointer_address, &p->read_index, sizeof(p->read_index)) &&
		read_target(pid, q->write_pointer_address, &p->write_index, sizeof(p->write_index));
	p->has_saved = read_saved(pid, q, xccs, p);
}

// ---- many queues

int kfd_watch_init(struct kfd_watch *w, pid_t pid)
{
	w->pid = pid;
	w->n = 0;
	w->by_file = false;
	w->mem = open_memory(pid);
	return w->mem < 0 ? -1 : 0;
}

void kfd_watch_fini(struct kfd_watch *w)
{
	if (w->mem >= 0)
		close(w->mem);
	w->mem = -1;
}

// Of an address space without users nothing is read, which is no error.
bool kfd_watch_is_over(const struct kfd_watch *w)
{
	char any;

	return w->n && pread(w->mem, &any, 1, (off_t)w->queue[0].read_pointer_address) == 0;
}

static uint64_t index_of(const struct kfd_queue_entry *q, bool write)
{
	return write ? q->write_pointer_address : q->read_pointer_address;
}

// All of them in one system call. See read_target() for what it refuses.
static bool read_by_call(const struct kfd_watch *w, uint64_t *to, bool write)
{
	struct iovec local = {to, w->n * sizeof(*to)};
	struct iovec remote[KFD_WATCH_MAX];

	for (unsigned i = 0; i < w->n; i++) {
		uint64_t at = index_of(&w->queue[i], write);

		remote[i] = (struct iovec){(void *)(uintptr_t)at, sizeof(*to)};
	}
	return process_vm_readv(w->pid, &local, 1, remote, w->n, 0) == (ssize_t)local.iov_len;
}

static bool read_by_file(const struct kfd_watch *w, uint64_t *to, bool write)
{
	for (unsigned i = 0; i < w->n; i++) {
		uint64_t at = index_of(&w->queue[i], write);

		if (!read_at(w->mem, at, &to[i], sizeof(*to)))
			return false;
	}
	return true;
}

static bool look_at(const struct kfd_watch *w, uint64_t *to, bool write)
{
	return w->by_file ? read_by_file(w, to, write) : read_by_call(w, to, write);
}

bool kfd_watch_look(const struct kfd_watch *w, struct kfd_indices *i, bool write)
{
	return look_at(w, i->read, false) && (!write || look_at(w, i->write, true));
}

// Those whose indices cannot be read are left out.
static void watch_queue(struct kfd_watch *w, const struct kfd_outcome *q)
{
	uint64_t any;

	if (w->n == KFD_WATCH_MAX || !read_at(w->mem, q->queue.read_pointer_address, &any, 8) ||
	    !read_at(w->mem, q->queue.write_pointer_address, &any, 8))
		return;
	w->xccs[w->n] = q->xccs;
	w->queue[w->n++] = q->queue;
}

unsigned kfd_watch_queues(struct kfd_watch *w, const struct kfd_answer *a)
{
	struct kfd_indices any;

	w->n = 0;
	for (size_t i = 0; i < a->num; i++)
		watch_queue(w, &a->queues[i]);
	w->by_file = false;
	w->by_file = w->n && !kfd_watch_look(w, &any, true);
	return w->n;
}

static bool is_aql(const struct kfd_queue_entry *q)
{
	return q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL;
}

bool kfd_watch_moved(const struct kfd_watch *w, const struct kfd_indices *a,
		     const struct kfd_indices *b)
{
	for (unsigned i = 0; i < w->n; i++)
		if (a->read[i] != b->read[i])
			return true;
	return false;
}

uint64_t kfd_watch_packets(const struct kfd_watch *w, const struct kfd_indices *a,
			   const struct kfd_indices *b)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < w->n; i++)
		if (is_aql(&w->queue[i]))
			sum += b->read[i] - a->read[i];
	return sum;
}

uint64_t kfd_watch_backlog(const struct kfd_watch *w, const struct kfd_indices *i)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < w->n; k++) {
		uint64_t behind = i->write[k] - i->read[k];

		sum += is_aql(&w->queue[k]) ? behind : behind != 0;
	}
	return sum;
}

unsigned kfd_watch_saved(const struct kfd_watch *w, unsigned i, uint64_t bytes[KFD_XCC_MAX])
{
	const struct kfd_queue_entry *q = &w->queue[i];
	struct kfd_ctx_header h;

	if (!is_compute(q) || w->xccs[i] > KFD_XCC_MAX)
		return 0;
	for (unsigned x = 0; x < w->xccs[i]; x++) {
		if (!read_at(w->mem, header_of(q, x), &h, sizeof(h)))
			return 0;
		bytes[x] += h.wave_state_size;
	}
	return w->xccs[i];
}
