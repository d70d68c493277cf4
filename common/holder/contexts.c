// Queues of secondary contexts, from sysfs; see holder.h.
#include "common/holder/holder.h"

#include "common/reader/process_cache.h"
#include "common/host/root.h"

#include <fcntl.h>

#define PROC_DIR "/sys/class/kfd/kfd/proc/%d"

static bool is_this_process(const void *pid, pid_t other)
{
	return *(const pid_t *)pid == other;
}

// Has the process a secondary context? Few have, so its folder in sysfs alone is read first;
// without readdir(3), whose buffer would cost a first suspend page faults.
static bool has_context(pid_t pid)
{
	union {
		struct dirent64 align;
		char bytes[2048];
	} names;
	char path[48];
	ssize_t n = 0;
	bool found = false;
	snprintf(path, sizeof(path), PROC_DIR, (int)pid);
	SCOPED(close_at) const int fd = host_open(path, O_RDONLY | O_DIRECTORY);
	while (fd >= 0 && !found && (n = getdents64(fd, &names, sizeof(names))) > 0) {
		const struct dirent64 *e;
		for (ssize_t at = 0; at < n && !found; at += e->d_reclen) {
			e = (const void *)(names.bytes + at);
			found = strncmp(e->d_name, "context_", strlen("context_")) == 0;
		}
	}
	if (n < 0)
		host_trouble(path, errno);
	return found;
}

static bool is_unreached(const struct kfd_selection *sel, const struct kfd_queue *q)
{
	const struct kfd_queue_entry e = {.queue_id = q->qid, .gpu_id = q->gpu_id};
	return q->context >= 0 && (!sel || kfd_selected(sel, &e));
}

ssize_t kfd_contexts_unreached(pid_t pid, const struct kfd_selection *sel, struct kfd_queue **list)
{
	const struct kfd_procs_how how = {KFD_WANT_GPU | KFD_WANT_TYPE, is_this_process, &pid};
	SCOPED(kfd_procs_fini) struct kfd_procs procs = {0};
	ssize_t n = 0;
	*list = NULL;
	if (!pids_are_host()) {
		errno = EXDEV;
		return -1;
	}
	if (!has_context(pid))
		return 0;
	if (kfd_procs_read(&procs, &how) == 0) {
		for (size_t i = 0; i < procs.nqueues; i++) // in the order of context and id
			if (is_unreached(sel, &procs.queues[i]))
				procs.queues[n++] = procs.queues[i];
		*list = procs.queues;
		procs.queues = NULL;
	}
	return n;
}

size_t kfd_contexts_count(const struct kfd_queue *list, size_t n)
{
	size_t contexts = 0;
	for (size_t i = 0; i < n; i++)
		contexts += !i || list[i].context != list[i - 1].context;
	return contexts;
}
