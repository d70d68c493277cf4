// Queues of secondary contexts, from sysfs; see contexts.h.
#include "common/holder/contexts.h"

#include "common/host/buf.h"
#include "common/host/process_cache.h"
#include "common/host/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROC_DIR "/sys/class/kfd/kfd/proc/%d"

struct unreached_list {
	struct kfd_unreached *v;
	size_t n, cap;
};

static bool only(const void *pid, pid_t other)
{
	return *(const pid_t *)pid == other;
}

// One folder is read in most cases: few processes have contexts.
static bool has_context(pid_t pid)
{
	DIR *d = host_opendirf(PROC_DIR, (int)pid);
	bool found = false;

	for (struct dirent *e; d && !found && (e = readdir(d));)
		found = strncmp(e->d_name, "context_", strlen("context_")) == 0;
	if (d)
		closedir(d);
	return found;
}

static bool chosen(const struct kfd_selection *sel, const struct kfd_queue *q)
{
	const struct kfd_queue_entry e = {.queue_id = q->qid, .gpu_id = q->gpu_id};

	return q->context >= 0 && (!sel || kfd_selected(sel, &e));
}

static int collect(struct unreached_list *l, const struct kfd_procs *p,
		   const struct kfd_selection *sel)
{
	for (size_t i = 0; i < p->nqueues; i++) {
		const struct kfd_queue *q = &p->queues[i];

		if (!chosen(sel, q))
			continue;
		if (ARRAY_GROW(l->v, l->cap, l->n))
			return -1;
		l->v[l->n++] =
			(struct kfd_unreached){(uint32_t)q->context, q->qid, q->gpu_id, q->type};
	}
	return 0;
}

static int by_context(const void *a, const void *b)
{
	const struct kfd_unreached *x = a, *y = b;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return (x->qid > y->qid) - (x->qid < y->qid);
}

ssize_t kfd_contexts_unreached(pid_t pid, const struct kfd_selection *sel,
			       struct kfd_unreached **list)
{
	const struct kfd_procs_how how = {KFD_WANT_GPU | KFD_WANT_TYPE, only, &pid};
	struct unreached_list l = {0};
	struct kfd_procs procs = {0};
	int err = 0;

	*list = NULL;
	if (!pids_are_host()) {
		errno = EXDEV;
		return -1;
	}
	if (!has_context(pid))
		return 0;
	if (kfd_procs_read(&procs, &how) == 0)
		err = collect(&l, &procs, sel);
	else
		err = errno == ENOMEM ? -1 : 0;
	kfd_procs_fini(&procs);
	if (err) {
		free(l.v);
		errno = ENOMEM;
		return -1;
	}
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), by_context);
	*list = l.v;
	return (ssize_t)l.n;
}

size_t kfd_contexts_count(const struct kfd_unreached *list, size_t n)
{
	size_t contexts = 0;

	for (size_t i = 0; i < n; i++)
		contexts += !i || list[i].context != list[i - 1].context;
	return contexts;
}
