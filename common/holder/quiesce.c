// Reading queue indices and context headers of another process. Facts: kfd-facts.md 2.1, 8.
#include "common/holder/quiesce.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

// Buffers that the GPU driver mapped are "PFN maps": process_vm_readv() refuses them, while
// /proc/PID/mem asks the driver, which can read them.
static bool read_target(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	char path[32];
	ssize_t n;
	int fd;

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = pread(fd, to, size, (off_t)address);
	close(fd);
	return n == (ssize_t)size;
}

static bool is_compute(const struct kfd_queue_entry *q)
{
	return q->queue_type == KFD_SNAPSHOT_COMPUTE || q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL;
}

static bool read_saved(pid_t pid, const struct kfd_queue_entry *q, unsigned xccs,
		       struct kfd_quiesce *p)
{
	struct kfd_ctx_header h;

	if (!is_compute(q) || !q->ctx_save_restore_address)
		return false;
	for (unsigned i = 0; i < xccs; i++) {
		uint64_t at =
			q->ctx_save_restore_address + (uint64_t)i * q->ctx_save_restore_area_size;

		if (!read_target(pid, at, &h, sizeof(h)))
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

bool kfd_quiesce_has_work(const struct kfd_quiesce *p)
{
	return (p->has_indices && p->read_index != p->write_index) ||
	       (p->has_saved && p->saved_waves_bytes > 0);
}
