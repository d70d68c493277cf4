// Finds the processes and queues that the options select; suspend.h.
#include "cmd/suspend/suspend.h"

#include "common/host/proc.h"
#include "common/out/out.h"
#include "common/rows/queue_rows.h"
#include "common/kfd/topology.h"

// Tells of a missing driver before lists of its processes or GPUs are read.
static int need_driver(void)
{
	struct kfd_failure f;
	if (host_access("/sys/class/kfd/kfd", F_OK) == 0)
		return 0;
	kfd_fail(&f, KFD_FAULT_NO_DRIVER);
	return err_fail((enum gpq_exit)f.status, NULL, "%s", f.text);
}

static void add_target(struct group *g, pid_t pid)
{
	if (group_has(g, pid))
		return;
	struct kfd_selection *all = xmalloc(sizeof(*all)); // not zeroed: lists are long
	all->num_ids = all->num_gpus = 0;
	group_add(g, pid, all);
}

void targets_find_held(struct pids *pids)
{
	struct kfd_holding *list;
	size_t num = kfd_holdings(&list, true);
	for (int silent = 0; silent < 2; silent++)
		for (size_t i = 0; i < num; i++)
			if (silent == (!list[i].answers && !list[i].paused))
				pids_push(pids, list[i].target);
	kfd_holdings_free(list, num);
}

// Lists the processes that have KFD open, other than gpq's own, for options to choose from.
static int find_open(struct pids *among, struct process_cache *processes)
{
	const struct kfd_procs_how how = {0};
	SCOPED(kfd_procs_fini) struct kfd_procs procs = {0};
	int status = 0;
	if (!pids_are_host())
		return err_fail(GPQ_UNSUPPORTED, "run gpq on the host, or name them with -p",
				"only -p chooses processes in a PID namespace of its own");
	if (kfd_procs_read(&procs, &how) < 0)
		status = err_sys(errno, NULL, "list the KFD processes");
	for (size_t i = 0; i < procs.nprocs; i++)
		if (!pick_is_ours(procs.procs[i].pid, processes))
			pids_push(among, procs.procs[i].pid);
	return status;
}

// Says why the options, with at most one PID, choose nothing.
static int chose_none(const struct pick_opts *o, bool held)
{
	const char *what = held ? "is held by gpq" : "has opened /dev/kfd";
	const char *next = held ? "gpq suspend --list lists those that are"
				: "gpq queues lists those that own queues";
	struct proc p;
	if (o->pids.n && !o->ns_pid && proc_read(&p, o->pids.v[0]))
		return err_fail(GPQ_NOTFOUND, next, "pid %d: no such process", (int)o->pids.v[0]);
	if (o->pids.n && o->tree)
		return err_fail(GPQ_NOTFOUND, next, "pid %d: neither it nor a descendant %s",
				(int)o->pids.v[0], what);
	if (o->pids.n)
		return err_fail(
			GPQ_NOTFOUND, next,
			"pid %d: the other options do not choose it, or it is not one that %s",
			(int)o->pids.v[0], what);
	if (o->containers.n == 1 && !o->comms.n && !o->cmdlines.n)
		return err_fail(GPQ_NOTFOUND, next, "container %s: no process in it %s",
				o->containers.v[0], what);
	return err_fail(GPQ_NOTFOUND, next, "no process that the options choose %s", what);
}

// Adds those of `among` that the options choose. Fails if there is none, unless `from` is
// AMONG_HELD_IF_ANY.
static int add_chosen(struct group *g, const struct pick_opts *o, const struct pids *among,
		      enum targets_among from, struct process_cache *processes)
{
	SCOPED(pick_fini) struct pick pick;
	size_t chosen = 0;
	int status = pick_init(&pick, o, processes);
	for (size_t i = 0; i < among->n && !status; i++)
		if (pick_keeps(&pick, among->v[i])) {
			add_target(g, among->v[i]);
			chosen++;
		}
	return status || chosen || from == AMONG_HELD_IF_ANY ? status
							     : chose_none(o, from != AMONG_OPEN);
}

static int seek_processes(struct group *g, const struct pick_opts *o, enum targets_among from)
{
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	struct pick_opts one = *o;
	struct pids among = {0};
	int status = from == AMONG_OPEN ? need_driver() : 0;
	if (!status && from != AMONG_OPEN)
		targets_find_held(&among);
	else if (!status)
		status = find_open(&among, &processes);
	if (!status && !o->pids.n)
		status = add_chosen(g, o, &among, from, &processes);
	one.pids.n = 1;
	for (size_t i = 0; i < o->pids.n && !status; i++) { // each PID must choose a process
		one.pids.v = &o->pids.v[i];
		status = add_chosen(g, &one, &among, from, &processes);
	}
	among.n = 0;
	for (size_t i = 0; i < g->n && !status; i++)
		pids_push(&among, g->v[i]->target.pid);
	pick_name_unused(o, &among, &processes);
	free(among.v);
	return status;
}

static int find_processes(struct group *g, const struct pick_opts *o, enum targets_among from)
{
	if (!pick_asks(o))
		return err_fail(GPQ_USAGE,
				from == AMONG_OPEN ? "-p PID, or --container ID; gpq ps shows them"
						   : "-p PID, or --all",
				"no process named");
	if (o->pids.given && !o->pids.n)
		return err_fail(GPQ_NOTFOUND, NULL, "standard input names no process");
	if (pick_needs_host(o))
		return seek_processes(g, o, from);
	for (size_t i = 0; i < o->pids.n; i++)
		add_target(g, o->pids.v[i]);
	return 0;
}

static bool has_named_queue(const struct group_member *m, const void *arg)
{
	(void)arg;
	return m->sel->num_ids;
}

// --queue and --gpu. With --queue, a process of which no queue is named is left out: a selection
// without ids means all queues.
static int select_queues(struct group *g, const struct pick_queues *p)
{
	SCOPED(kfd_topology_fini) struct kfd_topology topology;
	struct pids pids = {0};
	int status = pick_queues_load_gpus(p, &topology);
	for (size_t i = 0; i < g->n; i++)
		pids_push(&pids, g->v[i]->target.pid);
	if (!status)
		status = pick_queues_check(p, &pids);
	for (size_t i = 0; i < g->n && !status; i++)
		pick_queues_select(p, g->v[i]->target.pid, &topology, g->v[i]->sel);
	if (!status && p->n)
		group_keep(g, has_named_queue, NULL);
	free(pids.v);
	return status;
}

// ---- queues by their rows: --prio and --type

static int type_of(const char *name)
{
	int type = 0;
	while (kfd_queue_type_name(type) && (!name || strcmp(kfd_queue_type_name(type), name) != 0))
		type++;
	return kfd_queue_type_name(type) ? type : KFD_QUEUE_TYPE_UNKNOWN;
}

// Only queues of the primary context can be suspended; ids of other contexts begin at 0 again.
static void select_row(struct group_member *m, const struct kfd_selection *gpus,
		       const struct queue_row *r)
{
	const struct kfd_queue_entry e = {.gpu_id = (uint32_t)r->gpu_id};
	if (r->context == U64_NULL) {
		if (m->sel->num_ids < KFD_MAX_QUEUES)
			m->sel->ids[m->sel->num_ids++] = (uint32_t)r->qid;
		return;
	}
	if (!kfd_selected(gpus, &e))
		return;
	m->unreached = xreallocarray(m->unreached, m->num_unreached + 1, sizeof(*m->unreached));
	m->unreached[m->num_unreached++] = (struct kfd_queue){.context = (int32_t)r->context,
							      .qid = (uint32_t)r->qid,
							      .gpu_id = (uint32_t)r->gpu_id,
							      .type = type_of(r->type)};
}

static void choose_queue(struct group_member *m, const struct kfd_selection *gpus,
			 const struct queue_row *r, const struct pick_queues *p)
{
	enum kfd_answer3 fits = pick_queues_keeps(p, r);
	if (p->opts->prio && type_of(r->type) != KFD_QUEUE_COMPUTE)
		err_note("pid %d: queue %u: SDMA queues have no priority, left out",
			 (int)m->target.pid, (unsigned)r->qid);
	else if (fits == KFD_ANSWER_UNKNOWN)
		err_warn("name it with -Q",
			 "pid %d: queue %u: its priority is not known for certain, left out",
			 (int)m->target.pid, (unsigned)r->qid);
	else if (fits == KFD_ANSWER_YES)
		select_row(m, gpus, r);
}

static void choose_queues(struct group *g, const struct queue_rows *q, const struct pick_queues *p)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		const struct kfd_selection gpus = *m->sel;
		const pid_t pid = m->target.pid;
		struct proc one;
		m->looked_unreached = true;
		m->sel->num_ids = 0;
		for (size_t k = 0; k < q->n; k++)
			if (q->rows[k].pid == pid && q->rows[k].qid != U64_NULL)
				choose_queue(m, &gpus, &q->rows[k], p);
		if (!m->sel->num_ids) {
			member_set_failed(m, true);
			kfd_fail(&m->failure, m->num_unreached           ? KFD_FAULT_UNREACHED
					      : proc_read(&one, pid) < 0 ? KFD_FAULT_NO_PROCESS
									 : KFD_FAULT_NO_QUEUE);
		}
	}
}

static int choose_by_rows(struct group *g, const struct pick_queues *p)
{
	const struct queue_rows_how how = {.want = READ_TYPE | READ_GPU |
						   (p->opts->prio ? READ_MQD : 0)};
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	SCOPED(queue_rows_fini) struct queue_rows q = {0};
	int status = needs_check(p->opts->prio ? NEED_DEBUGFS : NEED_KFD);
	if (status)
		return status;
	status = queue_rows_load(&q, &processes, &how);
	if (!status && p->opts->prio && q.mqds_error)
		status = err_sys(q.mqds_error, "priorities are in debugfs, which is for root",
				 "read the queue priorities");
	if (!status && p->opts->prio)
		status = prio_check(&p->prio, q.prio_written);
	if (!status)
		choose_queues(g, &q, p);
	return status;
}

static bool has_not_failed(const struct group_member *m, const void *arg)
{
	(void)arg;
	return m->state != MEMBER_FAILED;
}

// Drops members without a queue that fits, unless no member has one.
static void pass_over(struct group *g)
{
	bool any = false;
	for (size_t i = 0; i < g->n; i++)
		any |= has_not_failed(g->v[i], NULL);
	if (any)
		group_keep(g, has_not_failed, NULL);
}

int targets_find(struct group *g, const struct pick_opts *pick,
		 const struct pick_queues_opts *queues, enum targets_among among)
{
	const bool by_rows = queues->prio || queues->types.n;
	SCOPED(pick_queues_fini) struct pick_queues p;
	int status = pick_queues_init(&p, queues);
	*g = (struct group){.dry = true};
	if (!status && queues->prio && queues->ids.n)
		status = err_fail(GPQ_USAGE, "choose one", "--queue and --prio exclude each other");
	if (!status && (queues->gpus.n || by_rows))
		status = need_driver();
	if (!status)
		status = find_processes(g, pick, among);
	if (!status)
		status = select_queues(g, &p);
	if (!status && by_rows)
		status = choose_by_rows(g, &p);
	if (!status && pick_needs_host(pick))
		pass_over(g);
	return status;
}

void targets_find_unreached(struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		if (m->looked_unreached)
			continue;
		m->looked_unreached = true;
		const pid_t pid = m->target.pid;
		const ssize_t n = kfd_contexts_unreached(pid, m->sel, &m->unreached);
		if (n < 0)
			err_note(
				"pid %d: secondary contexts cannot be seen from this PID namespace",
				(int)pid);
		m->num_unreached = n < 0 ? 0 : (size_t)n;
	}
}

// A sentence of failure.h has the advice behind its last semicolon.
static void report_failure(const struct group_member *m)
{
	const char *text = m->failure.text, *next = NULL;
	for (const char *p = text; (p = strstr(p, "; ")); p += 2)
		next = p + 2;
	err_fail((enum gpq_exit)m->failure.status, next, "pid %d: %.*s", (int)m->target.pid,
		 next ? (int)(next - text) - 2 : (int)strlen(text), text);
}

int targets_report(const struct group *g)
{
	size_t failed = 0;
	int first = 0;
	for (size_t i = 0; i < g->n; i++) {
		if (has_not_failed(g->v[i], NULL))
			continue;
		report_failure(g->v[i]);
		if (failed++ == 0)
			first = g->v[i]->failure.status;
	}
	return failed && failed < g->n ? GPQ_PARTIAL : first;
}
