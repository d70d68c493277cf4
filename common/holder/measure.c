// Looks at a target's queues that are cheap enough to be made beside what is measured; measure.h.
#include "common/holder/measure.h"

#include "common/holder/session_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int kfd_watch_init(struct kfd_watch *w, pid_t pid)
{
	char path[32];

	w->pid = pid;
	w->n = 0;
	w->by_file = false;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	w->mem = open(path, O_RDONLY | O_CLOEXEC);
	return w->mem < 0 ? -1 : 0;
}

void kfd_watch_fini(struct kfd_watch *w)
{
	if (w->mem >= 0)
		close(w->mem);
	w->mem = -1;
}

static bool read_mem(const struct kfd_watch *w, uint64_t address, void *to, size_t size)
{
	return pread(w->mem, to, size, (off_t)address) == (ssize_t)size;
}

// All of them in one system call. It refuses what is mapped from a device (quiesce.c).
static bool read_by_call(const struct kfd_watch *w, uint64_t *to, bool write)
{
	struct iovec local = {to, w->n * sizeof(*to)};
	struct iovec remote[KFD_WATCH_MAX];

	for (unsigned i = 0; i < w->n; i++) {
		const struct kfd_queue_entry *q = &w->queue[i];
		uint64_t at = write ? q->write_pointer_address : q->read_pointer_address;

		remote[i] = (struct iovec){(void *)(uintptr_t)at, sizeof(*to)};
	}
	return process_vm_readv(w->pid, &local, 1, remote, w->n, 0) == (ssize_t)local.iov_len;
}

static bool read_by_file(const struct kfd_watch *w, uint64_t *to, bool write)
{
	for (unsigned i = 0; i < w->n; i++) {
		const struct kfd_queue_entry *q = &w->queue[i];
		uint64_t at = write ? q->write_pointer_address : q->read_pointer_address;

		if (!read_mem(w, at, &to[i], sizeof(*to)))
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
static void watch_queue(struct kfd_watch *w, const struct kfd_queue_entry *q)
{
	uint64_t any;

	if (w->n < KFD_WATCH_MAX && read_mem(w, q->read_pointer_address, &any, 8) &&
	    read_mem(w, q->write_pointer_address, &any, 8))
		w->queue[w->n++] = *q;
}

static unsigned choose_way(struct kfd_watch *w)
{
	struct kfd_indices i;

	w->by_file = false;
	w->by_file = w->n && !kfd_watch_look(w, &i, true);
	return w->n;
}

unsigned kfd_watch_queues(struct kfd_watch *w, const struct kfd_answer *a)
{
	w->n = 0;
	for (size_t i = 0; i < a->num; i++)
		watch_queue(w, &a->queues[i].queue);
	return choose_way(w);
}

unsigned kfd_watch_choose(struct kfd_watch *w, const struct kfd_session *s,
			  const struct kfd_selection *sel)
{
	w->n = 0;
	for (unsigned k = 0; k < s->num; k++)
		if (kfd_selected(sel, &s->queues[k]))
			watch_queue(w, &s->queues[k]);
	return choose_way(w);
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

bool kfd_watch_saved(const struct kfd_watch *w, unsigned i, unsigned xccs,
		     uint64_t bytes[KFD_XCC_MAX])
{
	const struct kfd_queue_entry *q = &w->queue[i];
	struct kfd_ctx_header h;

	if (!q->ctx_save_restore_address || xccs > KFD_XCC_MAX)
		return false;
	for (unsigned x = 0; x < xccs; x++) {
		uint64_t at =
			q->ctx_save_restore_address + (uint64_t)x * q->ctx_save_restore_area_size;

		if (!read_mem(w, at, &h, sizeof(h)))
			return false;
		bytes[x] += h.wave_state_size;
	}
	return true;
}

// The list is not NULL: some kernels would follow it even when it is empty.
int kfd_session_suspend_nothing(struct kfd_session *s)
{
	uint32_t none = 0;
	struct kfd_dbg a = {.suspend = {.queue_array_ptr = (uintptr_t)&none, .num_queues = 0}};
	int r = session_trap(s, KFD_DBG_SUSPEND_QUEUES, &a);

	return r < 0 ? r : 0;
}
