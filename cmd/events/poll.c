// Queues and processes that came and went, as sysfs shows them; see events.h.
#include "cmd/events/events.h"

static int queues_seen_by_place(const void *a, const void *b)
{
	const struct queue_seen *x = a, *y = b;
	int order = ORDER(x->pid, y->pid);
	if (!order)
		order = ORDER(x->q.context, y->q.context);
	return order ? order : ORDER(x->q.qid, y->q.qid);
}

// Finds a queue in a list. An older or a newer queue with the same id does not count. NULL: the
// list lacks the queue.
static const struct queue_seen *same_queue_seen(const struct queue_seen *list, size_t n,
						const struct queue_seen *q)
{
	const struct queue_seen *s =
		n ? bsearch(q, list, n, sizeof(*q), queues_seen_by_place) : NULL;
	return s && s->q.created == q->q.created ? s : NULL;
}

static size_t list_queues_seen(const struct kfd_procs *p, struct queue_seen **list)
{
	*list = xreallocarray(NULL, p->nqueues + 1, sizeof(**list));
	for (size_t i = 0; i < p->nqueues; i++)
		(*list)[i] = (struct queue_seen){p->queues[i], p->procs[p->queues[i].proc].pid};
	ARRAY_SORT(*list, p->nqueues, queues_seen_by_place);
	return p->nqueues;
}

static bool is_fresh_process(const void *arg, pid_t pid)
{
	return pids_has(arg, pid);
}

// Reads GPU, type and size of new queues, whose processes are in `fresh`. Returns false if some
// could not be read.
static bool read_details(struct queue_seen *list, size_t n, const struct pids *fresh)
{
	const struct kfd_procs_how how = {.want = KFD_WANT_GPU | KFD_WANT_TYPE | KFD_WANT_SIZE,
					  .keep = is_fresh_process,
					  .arg = fresh};
	SCOPED(kfd_procs_fini) struct kfd_procs procs = {0};
	struct queue_seen *with;
	bool all = true;
	size_t nwith;
	if (!fresh->n)
		return true;
	if (kfd_procs_read(&procs, &how) < 0)
		procs.nqueues = 0;
	nwith = list_queues_seen(&procs, &with);
	for (size_t i = 0; i < n; i++) {
		const struct queue_seen *q = same_queue_seen(with, nwith, &list[i]);
		if (q && !list[i].q.gpu_id)
			list[i] = *q;
		all &= list[i].q.gpu_id != 0;
	}
	free(with);
	return all;
}

static void add_queue_event(struct events *ev, const char *event, const struct queue_seen *s,
			    uint64_t now)
{
	struct event_row *r = events_row(ev, event, "polled", now);
	events_set_process(r, processes_of_pid(ev, s->pid), 0);
	r->pid = s->pid;
	if (s->q.gpu_id)
		events_set_gpu(ev, r, s->q.gpu_id);
	r->qid = s->q.qid;
	r->context = s->q.context < 0 ? U64_NULL : (uint64_t)s->q.context;
	r->type = kfd_queue_type_name(s->q.type);
	r->ring_bytes = s->q.bytes;
}

// Makes rows of the queues that went, then of those that came.
static void compare_queues_seen(struct events *ev, struct queue_seen *now, size_t n, uint64_t at)
{
	struct pids fresh = {0};
	for (size_t i = 0; i < n; i++) {
		const struct queue_seen *before = same_queue_seen(ev->queues, ev->nqueues, &now[i]);
		if (before)
			now[i] = *before;
		if (!now[i].q.gpu_id)
			pids_push(&fresh, now[i].pid);
	}
	// At most twice, as the Linux kernel makes a queue's folder first, then the files in it.
	if (!read_details(now, n, &fresh))
		read_details(now, n, &fresh);
	free(fresh.v);
	for (size_t i = 0; i < ev->nqueues && ev->looked_ns; i++)
		if (!same_queue_seen(now, n, &ev->queues[i]))
			add_queue_event(ev, "queue-destroyed", &ev->queues[i], at);
	for (size_t i = 0; i < n && ev->looked_ns; i++)
		if (!same_queue_seen(ev->queues, ev->nqueues, &now[i]))
			add_queue_event(ev, "queue-created", &now[i], at);
}

void events_poll(struct events *ev)
{
	const struct kfd_procs_how how = {0};
	const uint64_t begin = clock_ns();
	const size_t first = ev->nrows;
	struct queue_seen *list;
	size_t n;
	uint64_t at;
	processes_look(ev);
	if (kfd_procs_read(&ev->procs, &how) < 0) // else all queues would seem to be gone
		return;
	n = list_queues_seen(&ev->procs, &list);
	at = clock_ns();
	compare_queues_seen(ev, list, n, at);
	processes_end(ev, at);
	free(ev->queues);
	ev->queues = list;
	ev->nqueues = n;
	for (size_t i = first; i < ev->nrows; i++) {
		ev->rows[i].time_ns = at;
		ev->rows[i].interval_ns = at - ev->looked_ns;
	}
	ev->looked_ns = begin;
}
