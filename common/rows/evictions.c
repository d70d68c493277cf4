// The triggers of present evictions; see evictions.h.
#include "common/rows/evictions.h"

#include "common/kfd/driver.h"
#include "common/kfd/smi.h"

enum { EVICTION = 9, RESTORE = 10, KEPT_MAX = 4096, READS_MAX = 16 };

struct stream {
	int fd;
	struct kfd_smi_text text;
};

struct eviction {
	uint64_t pid, gpu_id; // as in the driver's message
	const char *trigger;
};

struct evictions {
	struct kfd_driver driver;
	struct stream *streams; // one stream of events for each GPU
	size_t nstreams;
	struct eviction *v;
	size_t n, cap;
};

struct evictions *evictions_open(void)
{
	int *fds;
	const size_t n = kfd_smi_open_all(KFD_SMI_BIT(EVICTION) | KFD_SMI_BIT(RESTORE), &fds);
	struct evictions *e = n ? xcalloc(1, sizeof(*e)) : NULL;
	if (e) {
		kfd_driver_read(&e->driver, 0);
		e->streams = xcalloc(n, sizeof(*e->streams));
	}
	for (; e && e->nstreams < n; e->nstreams++)
		e->streams[e->nstreams].fd = fds[e->nstreams];
	free(fds);
	return e;
}

void evictions_close(struct evictions *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->nstreams; i++)
		close(e->streams[i].fd);
	free(e->streams);
	free(e->v);
	free(e);
}

static void take_eviction(void *arg, const struct kfd_smi_event *m)
{
	struct evictions *e = arg;
	size_t i = 0;
	// Mark 'R': the restore failed, so the queues stay evicted until the driver tries again.
	if (!m->readable || m->name_of != KFD_UNKNOWN || (m->number == RESTORE && m->mark == 'R') ||
	    (m->number != EVICTION && m->number != RESTORE))
		return;
	while (i < e->n && (e->v[i].pid != m->pid || e->v[i].gpu_id != m->gpu_id))
		i++;
	if (m->number == RESTORE) {
		if (i < e->n)
			e->v[i] = e->v[--e->n];
		return;
	}
	if (i == KEPT_MAX)
		return;
	ARRAY_GROW(e->v, e->cap, e->n);
	e->n += i == e->n;
	const char *trigger = kfd_smi_trigger(m);
	e->v[i] = (struct eviction){m->pid, m->gpu_id, trigger ? trigger : "?"};
}

void evictions_read(struct evictions *e)
{
	for (size_t i = 0; i < e->nstreams; i++) {
		struct kfd_smi_text *t = &e->streams[i].text;
		ssize_t n = 1;
		for (int k = 0; k < READS_MAX && n > 0; k++) {
			n = read(e->streams[i].fd, t->data + t->len, sizeof(t->data) - t->len);
			t->len += n > 0 ? (size_t)n : 0;
			kfd_smi_take(t, take_eviction, e);
		}
	}
}

// Does `pid` in a driver's message mean the process of `q`? Some drivers write the PID that the
// process has in its container.
static bool is_process_named(const struct evictions *e, const struct queue_rows *all,
			     const struct queue_row *q, uint64_t pid)
{
	SCOPED(free_at) struct kfd_smi_process *list = xcalloc(all->n + 1, sizeof(*list));
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct queue_row *r = &all->rows[i];
		size_t k = 0;
		while (k < n && list[k].pid != r->pid)
			k++;
		list[k] = (struct kfd_smi_process){
			(pid_t)r->pid, r->process.ns_pid > 0 ? (pid_t)r->process.ns_pid : 0};
		n += k == n;
	}
	const ssize_t found =
		kfd_smi_find(list, n, pid, kfd_driver_fact(&e->driver, KFD_FACT_SMI_NS_PID));
	return found >= 0 && list[found].pid == q->pid;
}

const char *evictions_trigger(const struct evictions *e, const struct queue_rows *all,
			      const struct queue_row *q)
{
	for (size_t i = 0; e && i < e->n; i++)
		if (e->v[i].gpu_id == q->gpu_id && is_process_named(e, all, q, e->v[i].pid))
			return e->v[i].trigger;
	return NULL;
}
